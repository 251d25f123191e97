#include "host/result_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "host/child.h"
#include "host/descriptor.h"
#include "host/live.h"
#include "host/path.h"

namespace goldenv::host {

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

namespace {

/// Where a result goes: a path whose links were followed by us, none of them one that another user
/// planted.
struct Target {
  std::string path;
  /// A pipe or device, which the kernel leads to: /dev/stdout is a link into /proc/self/fd, whose
  /// links name no file.
  bool by_kernel = false;
};

/// Waits for a reader of a pipe, which open(2) alone would do for ever and in silence.
int open_special(const Target& target, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kStep{20};
  const auto begin = std::chrono::steady_clock::now();
  const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  for (;;) {
    const int fd = ::open(target.path.c_str(), target.by_kernel ? flags : flags | O_NOFOLLOW);
    if (fd >= 0 || errno != ENXIO || std::chrono::steady_clock::now() - begin >= patience) {
      return fd;
    }
    std::this_thread::sleep_for(kStep);
  }
}

constexpr int kNobodyReads = -1;

/// 0, the errno of what failed, or kNobodyReads.
int write_special(const Target& target, std::string_view text, std::chrono::milliseconds patience) {
  const Descriptor fd(open_special(target, patience));
  if (!fd && errno == ENXIO && patience.count() != 0) {
    return kNobodyReads;
  }
  // A reader may take its time.
  if (!fd || ::fcntl(fd.get(), F_SETFL, O_WRONLY) != 0) {
    return errno;
  }
  return write_all(fd.get(), text) ? 0 : errno;
}

int write_by_rename(const std::string& path, mode_t mode, std::string_view text) {
  std::string temporary = path + ".XXXXXX";
  const Descriptor fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) {
    return errno;
  }
  if (::fchmod(fd.get(), mode) != 0 || !write_all(fd.get(), text) || ::fsync(fd.get()) != 0 ||
      ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int number = errno;
    ::unlink(temporary.c_str());
    return number;
  }
  return 0;
}

int write_here(const Target& target, std::string_view text, std::chrono::milliseconds patience) {
  struct stat status {};
  const char* path = target.path.c_str();
  const bool there = (target.by_kernel ? ::stat(path, &status) : ::lstat(path, &status)) == 0;
  const bool link = there && S_ISLNK(status.st_mode);  // to nothing: a file takes its place
  if (there && !link && !S_ISREG(status.st_mode)) {
    return write_special(target, text,
                         S_ISFIFO(status.st_mode) ? patience : std::chrono::milliseconds(0));
  }
  // mkostemp makes 0600; a new result is as any file that its user makes, an old one keeps its
  // mode.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return write_by_rename(target.path, there && !link ? status.st_mode & 07777 : 0666 & ~mask, text);
}

Error cannot_write(Errc code, const std::string& path, std::string_view why) {
  return {code, "cannot write " + path + ": " + std::string(why), {}};
}

Error no_answer(const std::string& path, const LiveOptions& options) {
  return cannot_write(
      Errc::timed_out, path,
      "its file system did not answer within " + std::to_string(options.deadline.count()) + " ms");
}

struct Place {
  Target target;
  bool may_hang = false;  ///< it lies on a mount that can
};

/// Whether a path leads to something through links whose text names no file (/proc/self/fd/1).
bool is_open_file(const std::string& path) {
  struct stat status {};
  struct stat link {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
         ::lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode) &&
         (link.st_uid == 0 || link.st_uid == ::geteuid());
}

/// Follows the links of a path as Host does: none that another user planted in a folder open to
/// all, where one could have any file of ours replaced. Errors: timed_out, where a mount on the way
/// does not answer; denied.
Result<Place> place_of(const std::string& path, const LiveOptions& options) {
  std::error_code none;
  const std::string absolute = std::filesystem::absolute(path, none).string();
  const Result<std::string> clean = clean_path(absolute);
  if (none || !clean) {
    return Place{{path, false}, false};
  }
  const std::unique_ptr<Host> host = live_host(options);
  const std::string folder(folder_of(*clean));
  Place place{{*clean, false}, false};
  Result<std::string> real = host->real_path(*clean);
  if (!real && real.error().code == Errc::absent) {
    // The file is yet to be, or a link leads to none.
    const Result<std::string> above = host->real_path(folder);
    real = above ? Result<std::string>(joined(*above, name_of(*clean))) : above;
    place.target.by_kernel = above && is_open_file(*real);
  }
  if (!real) {
    if (real.error().code == Errc::timed_out || real.error().code == Errc::denied) {
      return real.error();
    }
    return place;  // what is wrong with it the write will say
  }
  place.target.path = *real;
  std::vector<Mount> mounts = host->mounts();
  mounts.insert(mounts.end(), options.more_mounts.begin(), options.more_mounts.end());
  const Mount* mount = mount_of(mounts, *real);
  place.may_hang = mount != nullptr && mount->point != "/" && can_hang(mount->type);
  return place;
}

std::string words_for(int number, std::chrono::milliseconds patience) {
  return number == kNobodyReads
             ? "nobody read this pipe within " + std::to_string(patience.count()) + " ms"
             : std::string(std::strerror(number));
}

}  // namespace

Result<void> write_result(const std::string& path, std::string_view text, LiveOptions options) {
  const Result<Place> place = place_of(path, options);
  if (!place) {
    const std::string& said = place.error().message;  // "PATH: what"
    return place.error().code == Errc::denied
               ? cannot_write(Errc::failed, path, said.substr(said.rfind(": ") + 2))
               : no_answer(path, options);
  }
  const std::chrono::milliseconds patience = std::min(options.deadline, kReaderDeadline);
  int number = 0;
  if (place->may_hang) {
    Child child([&](std::string_view, const Child::Announce&) {
      return std::to_string(write_here(place->target, text, 2 * options.deadline));
    });
    const Child::Reply reply = child.ask({}, options.deadline);
    if (reply.end == Child::End::timed_out) {
      return no_answer(path, options);
    }
    if (reply.end != Child::End::answered) {
      return cannot_write(Errc::failed, path, "the child that was to write it failed");
    }
    number = std::atoi(reply.bytes.c_str());
  } else {
    number = write_here(place->target, text, patience);
  }
  return number == 0 ? Result<void>()
                     : cannot_write(number == kNobodyReads ? Errc::timed_out : Errc::failed, path,
                                    words_for(number, patience));
}

}  // namespace goldenv::host

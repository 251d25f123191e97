#include "host/disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "host/path.h"
#include "host/status.h"
#include "host/wire.h"

namespace goldenv::host {
namespace {

/// Most files of /proc and /sys fit one page, and a first buffer of 1 MiB costs six times as much.
constexpr std::size_t kFirstReadBytes = 4096;
constexpr std::size_t kLargestReadBytes = 1u << 20;

std::string_view words_for(FileStatus::Kind kind) {
  switch (kind) {
    case FileStatus::Kind::folder:
      return "is a folder";
    case FileStatus::Kind::fifo:
      return "is a FIFO";
    case FileStatus::Kind::socket:
      return "is a socket";
    case FileStatus::Kind::device:
      return "is a device";
    case FileStatus::Kind::file:
    case FileStatus::Kind::link:
    case FileStatus::Kind::other:
      break;
  }
  return "is no regular file";
}

FileStatus::Kind kind_of(unsigned char type) {
  switch (type) {
    case DT_REG:
      return FileStatus::Kind::file;
    case DT_DIR:
      return FileStatus::Kind::folder;
    case DT_LNK:
      return FileStatus::Kind::link;
    case DT_FIFO:
      return FileStatus::Kind::fifo;
    case DT_SOCK:
      return FileStatus::Kind::socket;
    case DT_CHR:
    case DT_BLK:
      return FileStatus::Kind::device;
    default:
      return FileStatus::Kind::other;
  }
}

/// Asks for the pages of a large room at once: each that is touched alone costs a trap, and 200 of
/// them more than all else about reading a file of 800 KB. Kernels before 5.14 refuse, which does
/// no harm.
void take_pages(char* room, std::size_t size) {
#ifdef MADV_POPULATE_WRITE
  constexpr std::size_t kWorthIt = 128u << 10;
  constexpr std::uintptr_t kPage = 4096;
  if (size >= kWorthIt) {
    const std::uintptr_t start = (reinterpret_cast<std::uintptr_t>(room) + kPage - 1) / kPage;
    const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(room) + size) / kPage;
    static_cast<void>(madvise(reinterpret_cast<void*>(start * kPage), (end - start) * kPage,
                              MADV_POPULATE_WRITE));
  }
#endif
}

Result<std::string> read_to_end(int fd, std::uint64_t stated_bytes, std::size_t limit,
                                std::string_view path) {
  std::string bytes;
  std::size_t done = 0;
  // A file of a size that is true is read at once, and the end seen by one byte more; sizes in
  // /proc and /sys are 0 or 4096 and say nothing. No size is trusted: the end is where read says.
  std::size_t step = kFirstReadBytes;
  if (stated_bytes >= kFirstReadBytes) {
    const std::size_t most = std::min(limit, kLargestReadBytes);
    step = (stated_bytes < most ? static_cast<std::size_t>(stated_bytes) : most) + 1;
  }
  while (true) {
    if (bytes.size() == done) {
      bytes.reserve(done + step);
      take_pages(bytes.data() + done, step);
      bytes.resize(done + step);
      step = std::clamp(step * 4, kFirstReadBytes, kLargestReadBytes);
    }
    const ssize_t got = read(fd, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return error_of(errno, path);
    }
    if (got == 0) {
      bytes.resize(done);
      return bytes;
    }
    done += static_cast<std::size_t>(got);
    if (done > limit) {
      return error_at(Errc::too_large, path, "larger than " + std::to_string(limit) + " bytes");
    }
  }
}

}  // namespace

Disk::Disk(Options options) : options_(std::move(options)) {
  if (options_.root == "/") {
    options_.root.clear();
  }
  for (const Mount& mount : options_.mounts) {
    // The root itself is left out: on a diskless node whose server is gone goldenv's own pages
    // would not come either.
    if (mount.point != "/" && can_hang(mount.type)) {
      hanging_.insert(mount.point);
    }
  }
  for (const std::string& point : hanging_) {
    if (!options_.root.empty() && is_within(options_.root, point)) {
      root_hangs_ = point;  // sorted, so that the innermost comes last
    }
  }
}

Disk::~Disk() = default;

Result<Descriptor> Disk::open_file(std::string_view path, Look& look,
                                   std::uint64_t* stated_bytes) const {
  GOLDENV_TRY(const Place place, find(path, Links::follow, look));
  // Asked before it is opened: to open a watchdog or a tape is to move it.
  if (place.status.kind != FileStatus::Kind::file) {
    return error_at(Errc::unreadable, path, words_for(place.status.kind));
  }
  Descriptor fd(open_at(place.folder->get(), place.name.c_str(),
                        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    return error_of(errno, path);
  }
  struct stat s;
  if (fstat(fd.get(), &s) != 0) {
    return error_of(errno, path);
  }
  if (!S_ISREG(s.st_mode)) {
    return error_at(Errc::unreadable, path, words_for(status_from(s).kind));
  }
  if (stated_bytes != nullptr) {
    *stated_bytes = static_cast<std::uint64_t>(s.st_size);
  }
  return fd;
}

Result<std::string> Disk::do_read_file(std::string_view path, std::size_t limit, Look& look) const {
  std::uint64_t stated_bytes = 0;
  GOLDENV_TRY(const Descriptor fd, open_file(path, look, &stated_bytes));
  return read_to_end(fd.get(), stated_bytes, limit, path);
}

Result<std::string> Disk::do_read_link(std::string_view path, Look& look) const {
  GOLDENV_TRY(const Place place, find(path, Links::stop_at_last, look));
  if (place.status.kind != FileStatus::Kind::link) {
    return error_at(Errc::unreadable, path, "is no link");
  }
  std::string text;
  if (const int number = link_text(place.folder->get(), place.name.c_str(), text); number != 0) {
    return error_of(number, path);
  }
  return text;
}

Result<std::vector<DirEntry>> Disk::do_list(std::string_view path, Look& look) const {
  GOLDENV_TRY(const Place place, find(path, Links::follow, look));
  if (place.status.kind != FileStatus::Kind::folder) {
    return error_at(Errc::unreadable, path, "is no folder");
  }
  const Descriptor fd(open_at(place.folder->get(), place.name.c_str(),
                              O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) {
    return error_of(errno, path);
  }
  std::vector<DirEntry> entries;
  // Not by opendir(3), which asks the kernel three things more of each folder.
  alignas(dirent64) std::array<char, 32u << 10> room;
  while (true) {
    const ssize_t got = getdents64(fd.get(), room.data(), room.size());
    if (got < 0) {
      return error_of(errno, path);
    }
    if (got == 0) {
      break;
    }
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      const auto* entry = reinterpret_cast<const dirent64*>(room.data() + at);
      at += entry->d_reclen;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") {
        continue;
      }
      if (entries.size() == options_.folder_limit) {
        return error_at(Errc::too_large, path,
                        "more than " + std::to_string(options_.folder_limit) + " entries");
      }
      FileStatus::Kind kind = kind_of(entry->d_type);
      if (entry->d_type == DT_UNKNOWN) {  // some file systems do not say
        const std::string full = options_.root + joined(place.path, name);
        struct stat s;
        if (hanging_.contains(full)) {
          kind = FileStatus::Kind::folder;
        } else if (fstatat(fd.get(), entry->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0) {
          kind = status_from(s).kind;
        }
      }
      entries.push_back(DirEntry{std::string(name), kind});
    }
  }
  std::ranges::sort(entries, {}, &DirEntry::name);
  return entries;
}

Result<FileStatus> Disk::do_status(std::string_view path, Look& look) const {
  GOLDENV_TRY(const Place place, find(path, Links::follow, look));
  return place.status;
}

Result<std::string> Disk::do_real_path(std::string_view path, Look& look) const {
  // A folder that is held open is known by its path without links. Probes ask of each library in a
  // folder where that folder is.
  if (const Result<std::string> clean = clean_path(path); clean && *clean != "/") {
    const auto above = resolved_.find(std::string(folder_of(*clean)));
    if (above != resolved_.end()) {
      std::string found = joined(above->second, name_of(*clean));
      if (folders_.contains(found)) {
        return found;
      }
    }
  }
  GOLDENV_TRY(Place place, find(path, Links::follow, look));
  return std::move(place.path);
}

Result<std::vector<std::string>> Disk::do_hops(std::string_view path, Look& look) const {
  // Followed to the end first: a loop ends here.
  GOLDENV_TRY(std::string end, do_real_path(path, look));
  GOLDENV_TRY(std::string step, clean_path(path));
  std::vector<std::string> steps{step};
  while (true) {
    GOLDENV_TRY(const Place place, find(step, Links::stop_at_last, look));
    if (steps.size() > 1) {
      steps.back() = place.path;
    }
    if (place.status.kind != FileStatus::Kind::link) {
      break;
    }
    std::string text;
    if (const int number = link_text(place.folder->get(), place.name.c_str(), text); number != 0) {
      return error_of(number, path);
    }
    if (steps.size() > 64) {  // somebody changes the links while we look
      return error_of(ELOOP, path);
    }
    step = text.starts_with('/') ? text : joined(folder_of(place.path), text);
    steps.push_back(step);
  }
  if (steps.back() != end) {
    steps.push_back(std::move(end));
  }
  return steps;
}

Result<Space> Disk::do_space(std::string_view path, Look& look) const {
  GOLDENV_TRY(const Place place, find(path, Links::follow, look));
  const Descriptor fd(open_at(place.folder->get(), place.name.c_str(), O_PATH | O_NOFOLLOW));
  struct statvfs s;
  if (!fd || fstatvfs(fd.get(), &s) != 0) {
    return error_of(errno, path);
  }
  return Space{std::uint64_t{s.f_blocks} * s.f_frsize, std::uint64_t{s.f_bavail} * s.f_frsize};
}

// The child's side.

void Disk::become_child() const {
  if (!in_child_) {
    // These descriptors were closed at the start of the child; nothing else is open yet.
    folders_.clear();
    resolved_.clear();
    links_.clear();  // /proc/self is another one
    in_child_ = true;
  }
}

std::string Disk::serve(std::string_view request, const Child::Announce& announce) const {
  become_child();
  Decoder in(request);
  const auto verb = static_cast<Verb>(in.number());
  const std::size_t limit = in.number();
  const std::string path = in.text();
  Look look{&announce, in.text()};
  switch (verb) {
    case Verb::read_file:
      return encode(do_read_file(path, limit, look));
    case Verb::read_link:
      return encode(do_read_link(path, look));
    case Verb::list:
      return encode(do_list(path, look));
    case Verb::status:
      return encode(do_status(path, look));
    case Verb::real_path:
      return encode(do_real_path(path, look));
    case Verb::hops:
      return encode(do_hops(path, look));
    case Verb::space:
      return encode(do_space(path, look));
  }
  return {};
}

// Our side.

template <typename T>
Result<T> Disk::answer_of(Child& child, std::string_view request, std::string_view path,
                          const std::string& hangs) const {
  const Child::Reply reply = child.ask(request, options_.deadline);
  switch (reply.end) {
    case Child::End::answered:
      return decode<T>(reply.bytes);
    case Child::End::timed_out:
      dead_.insert(reply.announced.empty() ? hangs : reply.announced);
      return error_at(Errc::timed_out, path,
                      "no answer within " + std::to_string(options_.deadline.count()) + " ms");
    case Child::End::died:
      return error_at(Errc::failed, path, "the child that looked at it died");
    case Child::End::not_started:
      break;
  }
  return error_at(Errc::failed, path, "no child to look at it could be started");
}

template <typename T>
Result<T> Disk::by_child(Verb verb, std::string_view path, std::size_t limit,
                         const std::string& hangs) const {
  if (dead_.contains(hangs)) {
    return error_at(Errc::timed_out, path, "no answer from " + hangs + " before");
  }
  if (!child_) {
    child_ =
        std::make_unique<Child>([this](std::string_view request, const Child::Announce& announce) {
          return serve(request, announce);
        });
  }
  Encoder out;
  out.number(static_cast<std::uint64_t>(verb));
  out.number(limit);
  out.text(path);
  out.text(hangs);
  return answer_of<T>(*child_, out.take(), path, hangs);
}

Result<std::string> Disk::read_file(std::string_view path, std::size_t limit) const {
  Look look;
  Result<std::string> answer = do_read_file(path, limit, look);
  return look.hangs.empty() ? std::move(answer)
                            : by_child<std::string>(Verb::read_file, path, limit, look.hangs);
}

Result<std::string> Disk::read_link(std::string_view path) const {
  Look look;
  Result<std::string> answer = do_read_link(path, look);
  return look.hangs.empty() ? std::move(answer)
                            : by_child<std::string>(Verb::read_link, path, 0, look.hangs);
}

Result<std::vector<DirEntry>> Disk::list(std::string_view path) const {
  Look look;
  Result<std::vector<DirEntry>> answer = do_list(path, look);
  return look.hangs.empty() ? std::move(answer)
                            : by_child<std::vector<DirEntry>>(Verb::list, path, 0, look.hangs);
}

Result<FileStatus> Disk::status(std::string_view path) const {
  Look look;
  Result<FileStatus> answer = do_status(path, look);
  return look.hangs.empty() ? std::move(answer)
                            : by_child<FileStatus>(Verb::status, path, 0, look.hangs);
}

Result<std::string> Disk::real_path(std::string_view path) const {
  Look look;
  Result<std::string> answer = do_real_path(path, look);
  return look.hangs.empty() ? std::move(answer)
                            : by_child<std::string>(Verb::real_path, path, 0, look.hangs);
}

Result<std::vector<std::string>> Disk::hops(std::string_view path) const {
  Look look;
  Result<std::vector<std::string>> answer = do_hops(path, look);
  return look.hangs.empty() ? std::move(answer)
                            : by_child<std::vector<std::string>>(Verb::hops, path, 0, look.hangs);
}

Result<Space> Disk::space(std::string_view path) const {
  Look look;
  Result<Space> answer = do_space(path, look);
  return look.hangs.empty() ? std::move(answer) : by_child<Space>(Verb::space, path, 0, look.hangs);
}

Result<std::string> Disk::inspect(std::string_view path,
                                  const std::function<Result<std::string>(int fd)>& look_at) const {
  Look look;
  const Result<Descriptor> fd = open_file(path, look);
  if (fd) {
    return look_at(fd->get());
  }
  if (look.hangs.empty()) {
    return fd.error();
  }
  if (dead_.contains(look.hangs)) {
    return error_at(Errc::timed_out, path, "no answer from " + look.hangs + " before");
  }
  // What `look_at` is cannot be told to a child that already runs: one of its own.
  Child child([&](std::string_view, const Child::Announce& announce) {
    become_child();
    Look inner{&announce, look.hangs};
    const Result<Descriptor> theirs = open_file(path, inner);
    return encode(theirs ? look_at(theirs->get()) : Result<std::string>(theirs.error()));
  });
  return answer_of<std::string>(child, {}, path, look.hangs);
}

}  // namespace goldenv::host

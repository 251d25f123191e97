#include "source/text_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "host/host.h"

namespace goldenv::source {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ > 2) {
      ::close(fd_);
    }
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

Error problem(const std::string& name, int number) {
  const Errc code = number == ENOENT || number == ENOTDIR ? Errc::usage : Errc::failed;
  return {code,
          code == Errc::usage ? "no such file: " + name : name + ": " + std::strerror(number),
          {}};
}

/// How long a file may give nothing. Those of /proc that wait for events (kmsg, trace_pipe) would
/// hold us for ever; for a pipe or a terminal somebody may take his time.
constexpr int kPatienceMs = 2000;

/// Whether a descriptor is of a kind that is always ready, but for such files.
bool should_be_ready(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 &&
         (S_ISREG(status.st_mode) || (S_ISCHR(status.st_mode) && ::isatty(fd) == 0));
}

Result<void> wait_for(int fd, const std::string& name, bool ready) {
  pollfd waiting{fd, POLLIN, 0};
  const int count = ::poll(&waiting, 1, ready ? kPatienceMs : -1);
  if (count == 0) {
    return Error{Errc::usage,
                 name + " has no end: it waits for events; expected a snapshot or a manifest",
                 {}};
  }
  return count > 0 || errno == EINTR ? Result<void>() : problem(name, errno);
}

Result<std::string> drain(int fd, const std::string& name) {
  const bool ready = should_be_ready(fd);
  std::string text;
  std::size_t room = 64u << 10;
  for (;;) {
    if (ready) {
      if (const Result<void> waited = wait_for(fd, name, ready); !waited) {
        return waited.error();
      }
    }
    const std::size_t used = text.size();
    text.resize(used + room);
    const ssize_t got = ::read(fd, text.data() + used, room);
    const int number = errno;
    text.resize(used + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) {
      return text;
    }
    if (got < 0) {
      if (number == EAGAIN) {
        if (const Result<void> waited = wait_for(fd, name, ready); !waited) {
          return waited.error();
        }
      } else if (number != EINTR) {
        return problem(name, number);
      }
    }
    if (text.size() > kTextLimitBytes) {
      return Error{Errc::too_large,
                   name + ": larger than " + std::to_string(kTextLimitBytes >> 20) +
                       " MiB; expected a snapshot or a manifest",
                   {}};
    }
  }
}

}  // namespace

Result<std::string> read_path(const std::string& path) {
  // Looked at first by the host, which does not wait for a mount that never answers.
  std::error_code none;
  const std::filesystem::path whole = std::filesystem::absolute(path, none);
  const auto seen = host::live_host()->status(whole.string());
  if (!seen && seen.error().code == Errc::timed_out) {
    return Error{Errc::failed, path + ": its file system does not answer", {}};
  }
  // Without O_NONBLOCK a FIFO that nobody writes would hold us at the open.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.get() < 0) {
    return problem(path, errno);
  }
  // What we may open and the host would not: a link that somebody laid where all may lay one.
  if (!seen && seen.error().code == Errc::denied) {
    return Error{Errc::failed, seen.error().message, {}};
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    return problem(path, errno);
  }
  if (S_ISDIR(status.st_mode)) {
    return Error{
        Errc::usage, path + " is a folder; a root file system is written root:" + path, {}};
  }
  if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode)) {
    return Error{Errc::usage, path + " is no regular file", {}};
  }
  return drain(file.get(), path);
}

Result<std::string> read_standard_input() { return drain(STDIN_FILENO, "standard input"); }

}  // namespace goldenv::source

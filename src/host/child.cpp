#include "host/child.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace goldenv::host {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kRequest = 'R';
constexpr char kAnnouncement = 'M';
constexpr char kAnswer = 'A';
constexpr std::size_t kHeaderBytes = 1 + sizeof(std::uint64_t);
constexpr std::uint64_t kFrameLimitBytes = 1u << 30;

/// Children that were killed and not yet collected. Their end is not ours to wait for.
std::vector<pid_t>& left_behind() {
  static std::vector<pid_t> pids;
  return pids;
}

void collect() {
  std::erase_if(left_behind(), [](pid_t pid) { return waitpid(pid, nullptr, WNOHANG) != 0; });
}

std::string frame(char kind, std::string_view bytes) {
  std::string out(kHeaderBytes, kind);
  const std::uint64_t size = bytes.size();
  std::memcpy(out.data() + 1, &size, sizeof size);
  out += bytes;
  return out;
}

/// Milliseconds for poll(2), rounded up.
int left_until(Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

enum class Moved { all, late, broken };

/// Sends or receives until done. Without an end (in the child) it waits for ever.
template <typename Step>
Moved move_bytes(int fd, short events, std::size_t size, std::optional<Clock::time_point> end,
                 Step step) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t moved = step(done);
    if (moved > 0) {
      done += static_cast<std::size_t>(moved);
      continue;
    }
    if (moved == 0) {
      return Moved::broken;
    }
    if (errno == EINTR) {
      continue;
    }
    if (errno != EAGAIN) {
      return Moved::broken;
    }
    pollfd wait{fd, events, 0};
    const int left = end ? left_until(*end) : -1;
    if (left == 0 || (poll(&wait, 1, left) == 0)) {
      return Moved::late;
    }
  }
  return Moved::all;
}

Moved send_all(int fd, std::string_view bytes, std::optional<Clock::time_point> end) {
  return move_bytes(fd, POLLOUT, bytes.size(), end, [&](std::size_t done) {
    return send(fd, bytes.data() + done, bytes.size() - done,
                MSG_NOSIGNAL | (end ? MSG_DONTWAIT : 0));
  });
}

Moved receive_all(int fd, char* out, std::size_t size, std::optional<Clock::time_point> end) {
  return move_bytes(fd, POLLIN, size, end, [&](std::size_t done) {
    return recv(fd, out + done, size - done, end ? MSG_DONTWAIT : 0);
  });
}

struct Frame {
  char kind = 0;
  std::string bytes;
};

Moved receive(int fd, Frame& out, std::optional<Clock::time_point> end) {
  char header[kHeaderBytes];
  if (const Moved moved = receive_all(fd, header, sizeof header, end); moved != Moved::all) {
    return moved;
  }
  std::uint64_t size = 0;
  std::memcpy(&size, header + 1, sizeof size);
  if (size > kFrameLimitBytes) {
    return Moved::broken;
  }
  out.kind = header[0];
  out.bytes.resize(size);
  return receive_all(fd, out.bytes.data(), size, end);
}

/// close_range(2) is in Linux 5.9; before it, what /proc names.
void close_all_but(int keep) {
#ifdef SYS_close_range
  const auto from = static_cast<unsigned>(keep);
  if ((keep == 0 || syscall(SYS_close_range, 0u, from - 1, 0u) == 0) &&
      syscall(SYS_close_range, from + 1, ~0u, 0u) == 0) {
    return;
  }
#endif
  std::vector<int> open_ones;
  DIR* folder = opendir("/proc/self/fd");
  if (folder != nullptr) {
    while (const dirent* entry = readdir(folder)) {
      const int fd = std::atoi(entry->d_name);
      if (entry->d_name[0] != '.' && fd != keep && fd != dirfd(folder)) {
        open_ones.push_back(fd);
      }
    }
    closedir(folder);
  } else {
    for (int fd = 0; fd < 4096; ++fd) {
      if (fd != keep) {
        open_ones.push_back(fd);
      }
    }
  }
  for (const int fd : open_ones) {
    close(fd);
  }
}

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) {
    signal(number, SIG_DFL);  // fails for SIGKILL and SIGSTOP, as it should
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// noexcept: what is thrown here must not unwind into the copy of our caller's frames.
[[noreturn]] void serve_until_closed(int fd, const Child::Serve& serve) noexcept {
  const Child::Announce announce = [fd](std::string_view where) {
    if (send_all(fd, frame(kAnnouncement, where), {}) != Moved::all) {
      _exit(1);
    }
  };
  Frame request;
  while (receive(fd, request, {}) == Moved::all) {
    const std::string answer = serve(request.bytes, announce);
    if (send_all(fd, frame(kAnswer, answer), {}) != Moved::all) {
      break;
    }
  }
  _exit(0);
}

}  // namespace

bool Child::start() {
  collect();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return false;
  }
  Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) {
    return false;
  }
  if (pid == 0) {
    reset_signals();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
      _exit(0);
    }
    close_all_but(theirs.get());
    serve_until_closed(theirs.get(), serve_);
  }
  socket_ = std::move(ours);
  pid_ = pid;
  owner_ = parent;
  return true;
}

void Child::leave() {
  socket_.reset();
  if (pid_ > 0 && owner_ == getpid()) {
    kill(pid_, SIGKILL);
    left_behind().push_back(pid_);
    collect();
  }
  pid_ = -1;
}

Child::Reply Child::ask(std::string_view request, std::chrono::milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  if (owner_ != getpid()) {
    leave();
  }
  Reply reply;
  if (pid_ < 0 && !start()) {
    return reply;
  }
  Moved moved = send_all(socket_.get(), frame(kRequest, request), end);
  Frame answer;
  while (moved == Moved::all) {
    moved = receive(socket_.get(), answer, end);
    if (moved == Moved::all && answer.kind != kAnnouncement) {
      reply.end = End::answered;
      reply.bytes = std::move(answer.bytes);
      return reply;
    }
    if (moved == Moved::all) {
      reply.announced = std::move(answer.bytes);
    }
  }
  reply.end = moved == Moved::late ? End::timed_out : End::died;
  leave();
  return reply;
}

}  // namespace goldenv::host

#include "source/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "host/descriptor.h"
#include "source/process_tree.h"

namespace goldenv::source {
namespace {

using Clock = std::chrono::steady_clock;
using host::Descriptor;

constexpr std::size_t kErrorLimitBytes = 64u << 10;
/// For what is still in the pipes when the program has ended, whose other ends one that it started
/// may hold open.
constexpr std::chrono::milliseconds kDrain{200};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

bool make(Pipe& pipe) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return false;
  }
  pipe.read = Descriptor(ends[0]);
  pipe.write = Descriptor(ends[1]);
  return true;
}

ino_t inode(const Pipe& pipe) {
  struct stat status {};
  return fstat(pipe.read.get(), &status) == 0 ? status.st_ino : 0;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) {
    all.push_back(const_cast<char*>(text.c_str()));  // execve(2) does not write to them
  }
  all.push_back(nullptr);
  return all;
}

/// In the child, between fork and exec: nothing that could wait for a lock.
[[noreturn]] void become(char* const* words, char* const* environment, pid_t parent, int input,
                         int output, int error) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(127);
  }
  for (int number = 1; number < NSIG; ++number) {
    signal(number, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // Above the standard ones first, lest one overwrite another that stands at 0, 1 or 2.
  const int in = fcntl(input, F_DUPFD, 3);
  const int out = fcntl(output, F_DUPFD, 3);
  const int err = fcntl(error, F_DUPFD, 3);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  close(in);
  close(out);
  close(err);
  execve(words[0], words, environment);
  _exit(127);
}

/// What is there, up to a limit; false at the end of the pipe.
bool drain(int fd, std::string& text, std::size_t limit, bool& over) {
  std::array<char, 64u << 10> block{};
  const ssize_t got = read(fd, block.data(), block.size());
  if (got < 0) {
    return errno == EINTR || errno == EAGAIN;
  }
  const std::size_t room = limit - std::min(limit, text.size());
  text.append(block.data(), std::min(room, static_cast<std::size_t>(got)));
  over = over || static_cast<std::size_t>(got) > room;
  return got > 0;
}

/// A started program, which does not outlive this object, nor does what it started.
class Running {
 public:
  /// `pipes` are where it writes.
  Running(pid_t pid, std::vector<ino_t> pipes) : pid_(pid), pipes_(std::move(pipes)) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (!ended_) {
      end_with_descendants(pid_, pipes_);
      has_ended(0);
    }
  }
  [[nodiscard]] bool has_ended() { return has_ended(WNOHANG); }
  [[nodiscard]] int status() const { return status_; }

 private:
  bool has_ended(int flag) {
    siginfo_t about{};
    while (!ended_ &&
           waitid(P_PID, static_cast<id_t>(pid_), &about, WEXITED | WNOWAIT | flag) != 0) {
      ended_ = errno != EINTR;
    }
    if (!ended_ && about.si_pid == pid_) {
      // Before it is reaped: until then its number is nobody else's.
      kill(-pid_, SIGKILL);
      ended_ = waitpid(pid_, &status_, 0) == pid_;
    }
    return ended_;
  }

  pid_t pid_;
  std::vector<ino_t> pipes_;
  int status_ = 0;
  bool ended_ = false;
};

int left(Clock::time_point end) {
  const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(rest.count(), 0, 1'000'000));
}

}  // namespace

Ended run(const Program& program) {
  Ended ended;
  Pipe output;
  Pipe error;
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (program.words.empty() || !make(output) || !make(error) || !nothing) {
    return ended;
  }
  const std::vector<char*> words = pointers(program.words);
  const std::vector<char*> environment = pointers(program.environment);
  const pid_t parent = getpid();
  const int input = program.input >= 0 ? program.input : nothing.get();
  const pid_t pid = fork();
  if (pid < 0) {
    return ended;
  }
  if (pid == 0) {
    become(words.data(), environment.data(), parent, input, output.write.get(), error.write.get());
  }
  setpgid(pid, pid);  // also here: the child may not have come to it yet
  Running running(pid, {inode(output), inode(error)});
  output.write.reset();
  error.write.reset();
  const auto deadline = Clock::now() + program.deadline;
  auto end = deadline;
  bool over = false;
  bool has_ended = false;
  while (output.read || error.read) {
    std::array<pollfd, 2> waiting{{{output.read.get(), POLLIN, 0}, {error.read.get(), POLLIN, 0}}};
    // Short steps: that it has ended is not to be seen in a pipe that another holds open.
    const int step = std::min(left(end), 50);
    if (poll(waiting.data(), waiting.size(), step) < 0 && errno != EINTR) {
      break;
    }
    bool over_error = false;
    if (waiting[0].revents != 0 &&
        !drain(output.read.get(), ended.output, program.output_limit_bytes, over)) {
      output.read.reset();
    }
    if (waiting[1].revents != 0 &&
        !drain(error.read.get(), ended.error, kErrorLimitBytes, over_error)) {
      error.read.reset();
    }
    if (over || Clock::now() >= end) {
      break;
    }
    if (!has_ended && running.has_ended()) {
      has_ended = true;
      end = std::min(end, Clock::now() + kDrain);
    }
  }
  if (over) {
    ended.how = Ended::How::too_much;
    return ended;
  }
  // Its pipes are closed; itself it may still be ending.
  while (!running.has_ended()) {
    if (Clock::now() >= deadline) {
      ended.how = Ended::How::timed_out;
      return ended;
    }
    usleep(1000);
  }
  const int status = running.status();
  ended.how = WIFSIGNALED(status) ? Ended::How::by_signal : Ended::How::by_itself;
  ended.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return ended;
}

Result<std::string> program_beside(std::string_view name) {
  std::string self(4096, '\0');
  const ssize_t size = readlink("/proc/self/exe", self.data(), self.size());
  if (size > 0 && static_cast<std::size_t>(size) < self.size()) {
    self.resize(static_cast<std::size_t>(size));
    const std::string folder = self.substr(0, self.rfind('/'));
    for (const std::string_view place : {"/", "/../libexec/goldenv/"}) {
      const std::string path = folder + std::string(place) + std::string(name);
      if (access(path.c_str(), X_OK) == 0) {
        return path;
      }
    }
  }
  return Error{Errc::failed, std::string(name) + " is not installed beside goldenv", {}};
}

Result<std::string> program_on_path(std::string_view name) {
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "/usr/bin:/bin" : path;
  for (const std::string_view folder : split(folders, ':')) {
    const std::string file = std::string(folder) + "/" + std::string(name);
    if (folder.starts_with('/') && access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return Error{Errc::failed, "there is no " + std::string(name) + " on PATH", {}};
}

std::string last_words(std::string_view error) {
  std::string last;
  for (const std::string_view line : lines(error)) {
    if (!trim(line).empty()) {
      last = trim(line);
    }
  }
  return last;
}

}  // namespace goldenv::source

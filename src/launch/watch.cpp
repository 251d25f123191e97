#include "launch/watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "host/descriptor.h"
#include "host/result_file.h"

namespace goldenv::launch {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// maps of a process with 100,000 mappings; more is cut, and the rest not seen.
constexpr std::size_t kMapsLimitBytes = 64u << 20;

/// How long to wait for the next look, so long after the start. Programs load most of what they
/// load in their first second; a look at a large process takes about a millisecond.
milliseconds pause_after(Clock::duration age) {
  constexpr milliseconds kShortest{1};
  constexpr milliseconds kFirst{50};
  constexpr milliseconds kLater{500};
  if (age < std::chrono::seconds(20)) {
    const auto tenth = std::chrono::duration_cast<milliseconds>(age) / 10;
    return std::clamp(tenth, kShortest, kFirst);
  }
  return kLater;
}

/// All of a file of /proc, which has no size; "" where it cannot be read, with errno set.
std::string read_proc(const std::string& file) {
  const host::Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  if (!fd) {
    return text;
  }
  std::size_t used = 0;
  while (used < kMapsLimitBytes) {
    text.resize(std::max<std::size_t>(used * 2, 64u << 10));
    const ssize_t got = ::read(fd.get(), text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      const int error = got < 0 ? errno : 0;
      text.resize(used);
      errno = error;
      return text;
    }
    used += static_cast<std::size_t>(got);
  }
  text.resize(used);
  return text;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

/// The children of all threads of a process. Source: proc(5), /proc/PID/task/TID/children, since
/// Linux 3.5 with CONFIG_PROC_CHILDREN; on a kernel without it nothing is found.
std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(tasks.c_str()));
  while (const dirent* task = folder ? ::readdir(folder.get()) : nullptr) {
    if (task->d_name[0] != '.') {
      const std::string text = read_proc(tasks + "/" + task->d_name + "/children");
      for (const std::string_view word : words(text)) {
        children.push_back(static_cast<pid_t>(to_number(word).value_or(0)));
      }
    }
  }
  return children;
}

/// Looks at all processes below this one, again and again.
class Looker {
 public:
  Looker(const Look& look, Watched& watched) : look_(look), watched_(watched) {}

  void look() {
    // All that is below us: whoever loses its parent becomes our child (PR_SET_CHILD_SUBREAPER).
    std::vector<pid_t> rest = children_of(::getpid());
    std::set<pid_t> met;
    bool seen = false;
    while (!rest.empty()) {
      const pid_t process = rest.back();
      rest.pop_back();
      if (process <= 0 || !met.insert(process).second) {
        continue;
      }
      seen = look_at(process) || seen;
      const std::vector<pid_t> children = children_of(process);
      rest.insert(rest.end(), children.begin(), children.end());
    }
    watched_.looks += seen ? 1 : 0;
    watched_.processes = known_.size();
    watched_.denied = denied_.size();
  }

 private:
  bool look_at(pid_t process) {
    const std::string maps = read_proc("/proc/" + std::to_string(process) + "/maps");
    if (maps.empty()) {  // of a process that has ended it is empty, too
      if (errno == EACCES || errno == EPERM) {
        denied_.insert(process);
      }
      return false;
    }
    const std::size_t mark = std::hash<std::string>()(maps);
    const auto [known, fresh] = known_.try_emplace(process, mark);
    if (fresh || known->second != mark) {
      known->second = mark;
      look_(process, maps);
    }
    return true;
  }

  const Look& look_;
  Watched& watched_;
  std::map<pid_t, std::size_t> known_;
  std::set<pid_t> denied_;
};

/// What a child that could not become the program wrote: its status, then the message.
std::optional<Refusal> read_refusal(int pipe) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(pipe, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    text.append(buffer, static_cast<std::size_t>(got));
  }
  if (text.empty()) {
    return std::nullopt;
  }
  return Refusal{static_cast<unsigned char>(text.front()), text.substr(1)};
}

[[noreturn]] void begin(const Program& program, const sigset_t& mask, pid_t parent, int pipe) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(kFailed);
  }
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  const Refusal refusal = become(program);
  host::write_all(pipe, std::string(1, static_cast<char>(refusal.status)) + refusal.message);
  ::_exit(refusal.status);
}

/// Takes what SIGCHLD told; true once the program has ended.
bool has_ended(pid_t child, Watched& watched) {
  int status = 0;
  for (pid_t process = 0; (process = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
    if (process != child) {
      continue;  // one that lost its parent
    }
    if (WIFSTOPPED(status)) {
      ::kill(::getpid(), SIGSTOP);  // so that a shell sees that its job has stopped
    } else if (WIFEXITED(status)) {
      watched.status = WEXITSTATUS(status);
      return true;
    } else if (WIFSIGNALED(status)) {
      watched.signal = WTERMSIG(status);
      watched.status = 128 + watched.signal;
      return true;
    }
  }
  return false;
}

/// Waits for its end, looking at it.
void attend(pid_t child, const sigset_t& all, Looker& looker, Watched& watched) {
  const Clock::time_point start = Clock::now();
  Clock::time_point next = start;
  for (;;) {
    if (Clock::now() >= next) {
      looker.look();
      next = Clock::now() + pause_after(Clock::now() - start);
    }
    const auto rest = std::max<Clock::duration>(next - Clock::now(), Clock::duration::zero());
    const auto rest_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(rest).count();
    const timespec pause{static_cast<time_t>(rest_ns / 1'000'000'000), rest_ns % 1'000'000'000};
    siginfo_t info{};
    const int signal = ::sigtimedwait(&all, &info, &pause);
    if (signal == SIGCHLD) {
      if (has_ended(child, watched)) {
        return;
      }
    } else if (signal > 0 && info.si_code != SI_KERNEL) {
      ::kill(child, signal);  // of the terminal's signals it has its own
    }
  }
}

}  // namespace

Result<Watched> watch(const Program& program, const Look& look) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Error{Errc::failed, std::string("cannot make a pipe: ") + std::strerror(errno), {}};
  }
  host::Descriptor reading(ends[0]);
  host::Descriptor writing(ends[1]);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  // Where it is ignored there would be no status to wait for. The program has it as it was.
  const auto children = std::signal(SIGCHLD, SIG_DFL);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    const int error = errno;
    std::signal(SIGCHLD, children);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return Error{Errc::failed, std::string("cannot start a process: ") + std::strerror(error), {}};
  }
  if (child == 0) {
    std::signal(SIGCHLD, children);
    begin(program, before, parent, writing.get());
  }
  writing.reset();
  Watched watched;
  watched.refusal = read_refusal(reading.get());
  Looker looker(look, watched);
  if (watched.refusal) {
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    watched.status = watched.refusal->status;
  } else {
    attend(child, all, looker, watched);
  }
  std::signal(SIGCHLD, children);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  return watched;
}

void end_as(const Watched& watched) {
  if (watched.signal != 0) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);  // the program has left its own
    std::signal(watched.signal, SIG_DFL);
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, watched.signal);
    ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
    ::raise(watched.signal);
  }
  std::_Exit(watched.status);
}

}  // namespace goldenv::launch

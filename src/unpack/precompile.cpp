#include "unpack/precompile.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace goldenv::unpack {
namespace {

// A source of a few MiB needs a few hundred MiB.
constexpr rlim_t kMemoryBytes = rlim_t{4} << 30;
// Starting an interpreter costs as much as compiling ten files or so.
constexpr std::size_t kFilesAtOnce = 200;

/// Runs in the child, between fork and exec: system calls only.
[[noreturn]] void become(const char* const* words, const char* folder, int input, int output,
                         pid_t parent) {
  static const char* const kEnvironment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8",
                                             "PYTHONHASHSEED=0", nullptr};
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit memory{kMemoryBytes, kMemoryBytes};
  setrlimit(RLIMIT_AS, &memory);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  sigset_t all;
  sigemptyset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  if (getppid() == parent && chdir(folder) == 0 && dup2(input, 0) == 0 && dup2(output, 1) == 1 &&
      dup2(output, 2) == 2) {
    execve(words[0], const_cast<char* const*>(words), const_cast<char* const*>(kEnvironment));
  }
  _exit(127);
}

Error failed(const Compiler& compiler, std::string_view what) {
  return Error{Errc::failed, compiler.interpreter + ": " + std::string(what), {}};
}

Result<void> compile(const Compiler& compiler, const std::string& folder, std::string_view names,
                     const Crew& crew) {
  int input[2] = {-1, -1};
  int output[2] = {-1, -1};
  if (pipe2(input, O_CLOEXEC) != 0) {
    return failed(compiler, std::strerror(errno));
  }
  if (pipe2(output, O_CLOEXEC) != 0) {
    close(input[0]);
    close(input[1]);
    return failed(compiler, std::strerror(errno));
  }
  const char* const words[] = {compiler.interpreter.c_str(),
                               "-I",
                               "-S",
                               "-m",
                               "compileall",
                               "-qq",
                               "--invalidation-mode",
                               "unchecked-hash",
                               "-i",
                               "-",
                               nullptr};
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    become(words, folder.c_str(), input[0], output[1], parent);
  }
  close(input[0]);
  close(output[1]);
  fcntl(input[1], F_SETFL, O_NONBLOCK);
  const auto end = std::chrono::steady_clock::now() + compiler.deadline;
  bool in_time = child > 0;
  // What it says is read and forgotten; its end is the end of its output.
  bool is_open = true;
  while (child > 0 && is_open) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0 || crew.is_interrupted()) {
      in_time = false;
      break;
    }
    pollfd both[2] = {{output[0], POLLIN, 0}, {names.empty() ? -1 : input[1], POLLOUT, 0}};
    poll(both, 2, static_cast<int>(std::min<std::chrono::milliseconds::rep>(left.count(), 200)));
    if (both[1].revents != 0) {
      const ssize_t done = write(input[1], names.data(), names.size());
      names.remove_prefix(done > 0 ? static_cast<std::size_t>(done) : 0);
      if (names.empty() || (done < 0 && errno != EAGAIN && errno != EINTR)) {
        names = {};
        close(input[1]);
        input[1] = -1;
      }
    }
    if (both[0].revents != 0) {
      char said[4096];
      const ssize_t got = read(output[0], said, sizeof said);
      is_open = got > 0 || (got < 0 && errno == EINTR);
    }
  }
  close(input[1]);
  close(output[0]);
  if (child < 0) {
    return failed(compiler, "cannot be started");
  }
  if (!in_time) {
    kill(-child, SIGKILL);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) {
    return failed(compiler, "compiling took longer than " +
                                std::to_string(compiler.deadline.count()) + " seconds");
  }
  // 1: some source is of another syntax.
  if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 1)) {
    return failed(compiler, "cannot compile Python sources");
  }
  return {};
}

}  // namespace

std::string cache_tag(const std::string& tag) {
  return tag.starts_with("cp") ? "cpython-" + tag.substr(2) : tag;
}

Result<void> precompile(const Compiler& compiler, const std::string& folder,
                        const std::vector<std::string>& files, Crew& crew) {
  if (compiler.interpreter.empty() || files.empty()) {
    return {};
  }
  const std::size_t parts = std::clamp<std::size_t>(files.size() / kFilesAtOnce, 1, crew.size());
  std::vector<std::string> names(parts);
  for (std::size_t i = 0; i < files.size(); ++i) {
    names[i * parts / files.size()] += files[i] + "\n";
  }
  return crew.each(parts,
                   [&](std::size_t part) { return compile(compiler, folder, names[part], crew); });
}

}  // namespace goldenv::unpack

#include "cli/root_shell.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/text.h"
#include "privileged/privileged.h"

namespace goldenv::cli {
namespace {

Error failed(const std::string& what) {
  return {Errc::failed, what + ": " + std::strerror(errno), {}};
}

/// What a script of root's gets of our variables: proxies for apt, the terminal, its own switch.
std::vector<std::string> few_variables() {
  constexpr std::array<const char*, 8> kNames = {"http_proxy", "https_proxy",    "no_proxy",
                                                 "HTTP_PROXY", "HTTPS_PROXY",    "NO_PROXY",
                                                 "TERM",       "GOLDENV_ONE_WAY"};
  std::vector<std::string> variables = {"HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                                        "LC_ALL=C"};
  for (const char* const name : kNames) {
    if (const char* const value = std::getenv(name)) {
      variables.push_back(std::string(name) + "=" + value);
    }
  }
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) {
    all.push_back(text.data());
  }
  all.push_back(nullptr);
  return all;
}

/// Errors: denied, where anybody but root could have put something there; a folder that is not
/// there is nobody's.
Result<bool> is_there(const std::string& folder) {
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0) {
    if (errno == ENOENT) {
      return false;
    }
    return failed(folder);
  }
  if (!S_ISDIR(status.st_mode) || status.st_uid != 0 || (status.st_mode & 022) != 0) {
    return Error{Errc::denied, folder + " is not a folder that only root may change", {}};
  }
  return true;
}

}  // namespace

Result<int> run_script_file(const std::string& file) {
  std::vector<std::string> words = {"/bin/sh", file};
  std::vector<std::string> variables = few_variables();
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> envp = pointers(variables);
  // ^C is for the script, which says how far it came.
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  std::array<struct sigaction, 2> before{};
  sigaction(SIGINT, &ignore, before.data());
  sigaction(SIGQUIT, &ignore, before.data() + 1);
  const pid_t child = fork();
  if (child == 0) {
    sigaction(SIGINT, before.data(), nullptr);
    sigaction(SIGQUIT, before.data() + 1, nullptr);
    execve(argv.front(), argv.data(), envp.data());
    _exit(127);
  }
  int status = 0;
  pid_t ended = child;
  if (child > 0) {
    do {
      ended = waitpid(child, &status, 0);
    } while (ended < 0 && errno == EINTR);
  }
  const int error = errno;
  sigaction(SIGINT, before.data(), nullptr);
  sigaction(SIGQUIT, before.data() + 1, nullptr);
  if (ended < 0) {
    errno = error;
    return failed("/bin/sh");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<int> run_script(const std::string& script) {
  // Not closed at exec: the shell opens it by its number, and copies it to where it keeps things.
  const int fd = memfd_create("goldenv-apply", 0);
  if (fd < 0) {
    return failed("memfd_create");
  }
  for (std::size_t at = 0; at < script.size();) {
    const ssize_t wrote = write(fd, script.data() + at, script.size() - at);
    if (wrote <= 0) {
      const Error error = failed("memfd");
      close(fd);
      return error;
    }
    at += static_cast<std::size_t>(wrote);
  }
  const Result<int> ended = run_script_file("/proc/self/fd/" + std::to_string(fd));
  close(fd);
  return ended;
}

Result<std::optional<Applied>> last_applied() {
  namespace fs = std::filesystem;
  const std::string base(privileged::kFolder);
  for (const std::string& folder : {base.substr(0, base.rfind('/')), base}) {
    GOLDENV_TRY(const bool there, is_there(folder));
    if (!there) {
      return std::optional<Applied>{};
    }
  }
  std::optional<Applied> last;
  std::error_code failure;
  for (fs::directory_iterator it(base, failure), end; !failure && it != end;
       it.increment(failure)) {
    const auto number = to_number(it->path().filename().string());
    std::error_code unread;
    if (!number || (last && last->number > *number) || !fs::exists(it->path() / "ready", unread) ||
        fs::exists(it->path() / "undone", unread)) {
      continue;
    }
    last = Applied{*number, it->path().string(), fs::exists(it->path() / "done", unread)};
  }
  if (failure) {
    return Error{Errc::failed, base + ": " + failure.message(), {}};
  }
  return last;
}

}  // namespace goldenv::cli

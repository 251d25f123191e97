#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include "cli/command.h"
#include "cli/environment.h"
#include "host/result_file.h"
#include "launch/format.h"
#include "launch/program.h"

namespace goldenv::cli {
namespace {

constexpr std::array<OptionSpec, 7> kOptions = {
    {kEnvOption,
     {"--shell", "PROGRAM", "the shell; default: $SHELL, else /bin/sh", false, ""},
     kSetOption,
     kKeepOption,
     kDropOption,
     kCleanOption,
     kQuietOption}};

/// A file without a name that bash reads in place of ~/.bashrc: that first, since it often sets
/// PATH, then the environment's variables once more, and its name in the prompt. -1 on failure.
int start_up_file(const launch::Environment& environment, const launch::Plan& plan) {
  const Result<std::string> lines = launch::write(launch::Format::sh, environment, plan);
  const int fd = lines ? ::memfd_create("goldenv", 0) : -1;
  if (fd < 0) {
    return -1;
  }
  const std::string text = "[ -r ~/.bashrc ] && . ~/.bashrc\n" + *lines +
                           "PS1=" + launch::shell_quoted("(" + environment.name + ") ") +
                           "\"$PS1\"\nexec " + std::to_string(fd) + "<&-\n";
  if (!host::write_all(fd, text) || ::lseek(fd, 0, SEEK_SET) != 0) {
    ::close(fd);
    return -1;
  }
  return fd;
}

int run_shell(const Invocation& invocation) {
  const Result<launch::Choices> choices = choices_of(invocation);
  if (!choices) {
    fail(choices.error());
    return kNotRun;
  }
  const Result<InUse> used = open_environment(invocation);
  if (!used) {
    fail(used.error());
    return kNotRun;
  }
  Result<launch::Plan> plan = launch::plan(used->environment, own_variables(), *choices);
  if (!plan) {
    fail(plan.error());
    return kNotRun;
  }
  say_decisions(invocation, *plan);
  const char* own = std::getenv("SHELL");  // NOLINT(concurrency-mt-unsafe)
  const std::string shell =
      invocation.value("--shell", own != nullptr && *own != '\0' ? own : "/bin/sh");
  launch::Program program{{shell}, {}};
  if (invocation.program.empty() && ::isatty(STDIN_FILENO) == 1) {
    const int fd =
        shell.substr(shell.rfind('/') + 1) == "bash" ? start_up_file(used->environment, *plan) : -1;
    if (fd >= 0) {
      program.arguments.insert(program.arguments.end(),
                               {"--rcfile", "/proc/self/fd/" + std::to_string(fd), "-i"});
    }
  }
  program.arguments.insert(program.arguments.end(), invocation.program.begin(),
                           invocation.program.end());
  program.variables = std::move(plan->variables);
  const launch::Refusal refusal = launch::become(program);
  say(refusal.message);
  return refusal.status;
}

}  // namespace

extern const Command shell{"shell",
                           "[MANIFEST]",
                           0,
                           1,
                           "a shell in an environment",
                           "goldenv shell train.yaml",
                           kOptions,
                           run_shell,
                           "[ARG..]",
                           false};

}  // namespace goldenv::cli

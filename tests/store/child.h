#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>

namespace goldenv::test {

/// The exit status of a child that does something, 1 where it throws; 128 + the signal that ended
/// it.
inline int in_child(const std::function<void()>& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      act();
      ::_exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      ::_exit(1);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace goldenv::test

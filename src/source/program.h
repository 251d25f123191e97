#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace goldenv::source {

/// Another program, to be run to its end in a process group of its own.
struct Program {
  std::vector<std::string> words;        ///< the first is its path; no shell sees them
  std::vector<std::string> environment;  ///< "NAME=VALUE", the whole of it
  int input = -1;                        ///< its standard input; -1: none
  std::chrono::milliseconds deadline{10'000};
  std::size_t output_limit_bytes = 32u << 20;
};

/// How it went.
struct Ended {
  enum class How {
    by_itself,  ///< `status` is its own
    by_signal,  ///< `status` is the signal's number
    /// Killed at the deadline with all that it started, in sessions of their own, too. Only what
    /// was made a daemon before, without a pipe of ours, is not to be found.
    timed_out,
    too_much,  ///< killed since it wrote more than the limit
    not_started
  };
  How how = How::not_started;
  int status = 0;
  std::string output;  ///< standard output
  std::string error;   ///< standard error, its first 64 KiB
};

/// Never takes much longer than the deadline. The program dies with us.
Ended run(const Program& program);

/// Where a program of ours stands: beside the running one, or in ../libexec/goldenv of it.
/// Errors: failed, where it is in neither.
Result<std::string> program_beside(std::string_view name);

/// A command on PATH, in folders with absolute names alone. Errors: failed.
Result<std::string> program_on_path(std::string_view name);

/// The last line of what a program wrote to its standard error that says something; "" where none.
std::string last_words(std::string_view error);

}  // namespace goldenv::source

#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace goldenv::cli {

/// One option of a subcommand.
struct OptionSpec {
  std::string_view names;  ///< "-o,--output"
  std::string_view value;  ///< what it takes, "FILE"; empty: a flag
  std::string_view help;
  bool repeats = false;
  std::string_view choices;  ///< "must|should|info"; empty: any text
};

/// What a user typed behind a subcommand, checked against its options.
struct Invocation {
  std::vector<std::string> words;
  std::vector<std::string> program;  ///< what stands behind "--", of a command that runs another
  std::map<std::string, std::vector<std::string>, std::less<>> options;  ///< by long name, "--all"

  [[nodiscard]] bool has(std::string_view name) const { return options.contains(name); }
  /// The last value of an option, or `fallback`.
  [[nodiscard]] std::string value(std::string_view name, std::string_view fallback = "") const;
  [[nodiscard]] std::vector<std::string> values(std::string_view name) const;
};

/// A subcommand: one file that defines it, one line in registry.cpp.
struct Command {
  std::string_view name;   ///< empty: what runs without a subcommand
  std::string_view words;  ///< "[MANIFEST] [SOURCE..]"
  std::size_t least_words = 0;
  std::size_t most_words = 0;
  std::string_view summary;             ///< one line
  std::string_view example;             ///< a command line that works
  std::span<const OptionSpec> options;  ///< beside those of `output_options`
  int (*run)(const Invocation& invocation) = nullptr;
  /// What stands behind "--", of a command that becomes another program: "CMD.."; "[ARG..]" where
  /// that may be nothing. Every failure of such a command's own is status 125.
  std::string_view program = {};
  bool has_output_options = true;
};

/// All subcommands in the order of the help.
std::span<const Command* const> commands();

/// Exit statuses; the first that holds counts.
inline constexpr int kWell = 0;
inline constexpr int kDiffers = 1;
inline constexpr int kUsage = 2;
inline constexpr int kUndecided = 3;
inline constexpr int kStepFailed = 4;
/// Of a command that runs another: it did not come to that. 126 and 127 are of the program.
inline constexpr int kNotRun = 125;

/// Says an error on standard error and gives its exit status: 2 for bad usage or input, 4 for a
/// step that failed.
int fail(const Error& error);
/// The status of an error without saying it.
int status_of(const Error& error);
/// A line on standard error, escaped.
void say(std::string_view text);

/// The whole program. `arguments` without the program's name.
int run(const std::vector<std::string>& arguments);

}  // namespace goldenv::cli

#pragma once

#include <functional>
#include <span>
#include <string>

#include "cli/command.h"
#include "doc/node.h"
#include "report/text.h"

namespace goldenv::cli {

/// A result in all its forms; each is made only when it is asked for.
struct Rendering {
  std::function<std::string(report::Colour)> text;
  std::function<doc::Node()> data;
  std::string own_yaml;  ///< YAML text of a form of its own (a manifest); empty: of `data`
};

/// --format, -o, --report: every command has them.
std::span<const OptionSpec> output_options();

/// Errors: usage, where a --report is not FORMAT=FILE.
Result<void> check_output_options(const Invocation& invocation);

/// Writes a result where the options say: standard output, -o FILE (its ending names the format),
/// and each --report FORMAT=FILE. `file_format` is the format of -o where neither --format nor the
/// ending says. Files come into being whole or not at all. Returns `status`, or 4 where something
/// could not be written. The options have passed check_output_options.
int deliver(const Invocation& invocation, const Rendering& rendering, int status,
            std::string_view file_format = "text", std::string_view screen_format = "text");

/// All of `text` to standard output; false on failure (said).
bool print(std::string_view text);

}  // namespace goldenv::cli

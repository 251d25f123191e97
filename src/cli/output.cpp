#include "cli/output.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "host/result_file.h"

namespace goldenv::cli {
namespace {

constexpr std::array<OptionSpec, 3> kOptions = {{
    {"--format", "FORMAT", "form of the result", false, "text|json|yaml"},
    {"-o,--output", "FILE", "write it there; .json and .yaml name the format", false, ""},
    {"--report", "FORMAT=FILE", "write it there as well", true, ""},
}};

int write_file(const std::string& name, std::string_view text) {
  if (name == "-") {
    return print(text) ? kWell : kStepFailed;
  }
  const Result<void> written = host::write_result(name, text);
  if (!written) {
    say(written.error().message);
    return kStepFailed;
  }
  return kWell;
}

report::Colour colour_of_screen() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool refused = (no_color != nullptr && *no_color != '\0') || term == nullptr ||
                       std::string_view(term) == "dumb";
  return !refused && ::isatty(STDOUT_FILENO) == 1 ? report::Colour::ansi : report::Colour::none;
}

std::string render(const Rendering& rendering, std::string_view format, report::Colour colour) {
  if (format == "json") {
    return doc::render_json(rendering.data()) + "\n";
  }
  if (format == "yaml") {
    return rendering.own_yaml.empty() ? doc::render_yaml(rendering.data(), true)
                                      : rendering.own_yaml;
  }
  return rendering.text(colour);
}

std::string_view format_of_name(std::string_view file, std::string_view fallback) {
  if (file.ends_with(".json")) {
    return "json";
  }
  return file.ends_with(".yaml") || file.ends_with(".yml") ? "yaml" : fallback;
}

}  // namespace

std::span<const OptionSpec> output_options() { return kOptions; }

bool print(std::string_view text) {
  if (host::write_all(STDOUT_FILENO, text)) {
    return true;
  }
  if (errno != EPIPE) {
    say(std::string("cannot write standard output: ") + std::strerror(errno));
  }
  return false;
}

Result<void> check_output_options(const Invocation& invocation) {
  for (const std::string& report : invocation.values("--report")) {
    const std::size_t equals = report.find('=');
    const std::string format = report.substr(0, equals);
    if (equals == std::string::npos || equals + 1 == report.size() ||
        (format != "text" && format != "json" && format != "yaml")) {
      return Error{Errc::usage,
                   "--report is FORMAT=FILE with text, json or yaml, not \"" + report + "\"",
                   {}};
    }
  }
  return {};
}

int deliver(const Invocation& invocation, const Rendering& rendering, int status,
            std::string_view file_format, std::string_view screen_format) {
  const std::vector<std::string> reports = invocation.values("--report");
  const std::string file = invocation.value("--output", "-");
  int failed = kWell;
  if (file == "-") {
    const std::string format = invocation.value("--format", screen_format);
    if (!print(render(rendering, format, colour_of_screen()))) {
      failed = kStepFailed;
    }
  } else {
    const std::string format = invocation.value("--format", format_of_name(file, file_format));
    failed = write_file(file, render(rendering, format, report::Colour::none));
  }
  for (const std::string& report : reports) {
    const std::size_t equals = report.find('=');
    const int written = write_file(
        report.substr(equals + 1),
        render(rendering, std::string_view(report).substr(0, equals), report::Colour::none));
    failed = failed != kWell ? failed : written;
  }
  return failed != kWell ? failed : status;
}

}  // namespace goldenv::cli

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/environment.h"
#include "cli/output.h"
#include "host/result_file.h"
#include "launch/format.h"

namespace goldenv::cli {
namespace {

constexpr std::array<OptionSpec, 8> kOptions = {
    {{"--format", "FORMAT", "who reads it; default: sh", false, "sh|systemd|docker|slurm|json"},
     {"-o,--output", "FILE", "write it there", false, ""},
     kEnvOption,
     kSetOption,
     kKeepOption,
     kDropOption,
     kCleanOption,
     kQuietOption}};

constexpr std::array<std::pair<std::string_view, launch::Format>, 5> kFormats = {
    {{"sh", launch::Format::sh},
     {"systemd", launch::Format::systemd},
     {"docker", launch::Format::docker},
     {"slurm", launch::Format::slurm},
     {"json", launch::Format::json}}};

launch::Format format_of(std::string_view name) {
  for (const auto& [known, format] : kFormats) {
    if (known == name) {
      return format;
    }
  }
  return launch::Format::sh;  // the option's choices let no other name through
}

Result<std::string> text_of(const Invocation& invocation) {
  const launch::Format format = format_of(invocation.value("--format", "sh"));
  GOLDENV_TRY(launch::Choices choices, choices_of(invocation));
  GOLDENV_TRY(const InUse used, open_environment(invocation));
  std::vector<launch::Variable> ambient;
  if (launch::is_elsewhere(format)) {
    choices.clean = true;
  } else {
    ambient = own_variables();
  }
  GOLDENV_TRY(const launch::Plan plan, launch::plan(used.environment, ambient, choices));
  GOLDENV_TRY(std::string text, launch::write(format, used.environment, plan));
  say_decisions(invocation, plan);
  return text;
}

int run_env(const Invocation& invocation) {
  const Result<std::string> text = text_of(invocation);
  if (!text) {
    return fail(text.error());
  }
  const std::string file = invocation.value("--output", "-");
  if (file == "-") {
    return print(*text) ? kWell : kStepFailed;
  }
  const Result<void> written = host::write_result(file, *text);
  return written ? kWell : fail(written.error());
}

}  // namespace

extern const Command env{"env",
                         "[MANIFEST]",
                         0,
                         1,
                         "the variables of an environment, for shells, services, containers, jobs",
                         "goldenv env train.yaml --format systemd -o goldenv.conf",
                         kOptions,
                         run_env,
                         "",
                         false};

}  // namespace goldenv::cli

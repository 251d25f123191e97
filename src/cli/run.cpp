#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "base/url.h"
#include "cli/answer.h"
#include "cli/command.h"
#include "cli/heap.h"
#include "cli/options.h"
#include "cli/output.h"
#include "report/text.h"

namespace goldenv::cli {

std::string Invocation::value(std::string_view name, std::string_view fallback) const {
  const auto found = options.find(name);
  return found == options.end() || found->second.empty() ? std::string(fallback)
                                                         : found->second.back();
}

std::vector<std::string> Invocation::values(std::string_view name) const {
  const auto found = options.find(name);
  return found == options.end() ? std::vector<std::string>{} : found->second;
}

namespace {

void put_line(const std::string& line) {
  // Where even this cannot be written there is nobody to tell.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

/// Without secrets that a user wrote, and without the megabytes that a file can hold in one word.
std::string fit_for_people(std::string_view text) {
  return report::printable(shortened_sentence(mask_users(text)));
}

}  // namespace

void say(std::string_view text) { put_line("goldenv: " + fit_for_people(text) + "\n"); }

int status_of(const Error& error) {
  switch (error.code) {
    case Errc::usage:
    case Errc::malformed:
    case Errc::too_large:
      return kUsage;
    default:
      return kStepFailed;
  }
}

int fail(const Error& error) {
  std::string text = error.message;
  for (const std::string& step : error.trail) {
    text += "; while " + step;
  }
  if (error.code == Errc::malformed || error.code == Errc::too_large) {
    put_line(fit_for_people(text) + "\n");  // begins with FILE:LINE:COLUMN or FILE
  } else {
    say(text);
  }
  return status_of(error);
}

int run(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.front() == kAnswerWord) {
    return answer({arguments.begin() + 1, arguments.end()});
  }
  const auto asked = parse_command_line(arguments);
  if (!asked) {
    const int status = fail(asked.error());
    const bool becomes_another = std::ranges::any_of(commands(), [&](const Command* command) {
      return !command->program.empty() && !arguments.empty() && command->name == arguments.front();
    });
    return becomes_another ? kNotRun : status;
  }
  if (const auto* text = std::get_if<Print>(&*asked)) {
    return print(text->text) ? kWell : kStepFailed;
  }
  const Run& command = std::get<Run>(*asked);
  if (const Result<void> fit = check_output_options(command.invocation); !fit) {
    return fail(fit.error());
  }
  prepare_heap();
  return command.command->run(command.invocation);
}

}  // namespace goldenv::cli

#include "cli/answer.h"

#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "source/far_look.h"
#include "source/text_file.h"

namespace goldenv::cli {

int answer(const std::vector<std::string>& words) {
  constexpr std::uint64_t kLongestSeconds = 86'400;
  const auto seconds = words.size() == 2 ? to_number(words[1]) : std::nullopt;
  if (!seconds || *seconds == 0 || *seconds > kLongestSeconds) {
    return fail({Errc::usage, "@answer needs the file of a request and a number of seconds", {}});
  }
  const Result<std::string> request = source::read_path(words[0]);
  if (!request) {
    return fail(request.error());
  }
  const Result<std::string> text = source::answer_request(*request, std::chrono::seconds(*seconds));
  if (!text) {
    return fail(text.error());
  }
  return print(*text + "\n") ? kWell : kStepFailed;
}

}  // namespace goldenv::cli

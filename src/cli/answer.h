#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace goldenv::cli {

/// The word by which one goldenv starts another at the far end of ssh: no command for people.
inline constexpr std::string_view kAnswerWord = "@answer";

/// Answers the request in a file, `words` being that and the seconds it may take, with a snapshot
/// on standard output. Returns the exit status.
int answer(const std::vector<std::string>& words);

}  // namespace goldenv::cli

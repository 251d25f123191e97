#pragma once

#include <string>
#include <string_view>

namespace goldenv::doc {

/// What libyaml found wrong, in the words of a message of ours.
struct YamlProblem {
  std::string says;         ///< what is wrong, what was expected
  bool at_context = false;  ///< where the construct begins tells more than where reading ended
};

/// `problem` and `context` as libyaml 0.2 words them; `next` is the byte that reading stopped at,
/// or NUL at the end of the text.
YamlProblem explain_yaml(std::string_view problem, std::string_view context, char next);

}  // namespace goldenv::doc

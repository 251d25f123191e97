#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probe/python_target.h"

namespace goldenv::probe {

/// A sentence with the home folder of each path in it written `~`.
std::string tilde_within(const Survey& survey, std::string_view text);

/// What could not be looked at, as notes beside a count that is therefore unknown.
facts::Evidence unseen_evidence(const Survey& survey, const std::vector<Error>& unseen);

/// PythonScene::why, fit for evidence notes.
std::vector<std::string> why_of(const Survey& survey, const PythonScene& scene);

}  // namespace goldenv::probe

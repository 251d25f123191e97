#pragma once

#include <atomic>
#include <functional>
#include <string_view>

#include "realise/request.h"

namespace goldenv::realise {

/// Takes one line of the answer, without its line end; false where nobody reads any more.
using Put = std::function<bool(std::string_view line)>;

/// Does what a request asks for, transfers and unpacking side by side, and reports it.
/// `interrupted` ends it early. True when all was done or reported as an error: the last line is
/// `done` then.
bool run(Request request, const Put& put, const std::atomic<bool>& interrupted);

}  // namespace goldenv::realise

#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "facts/snapshot.h"
#include "probe/probe.h"

// What one goldenv asks of another on a host far away, and how that answers.
namespace goldenv::source {

/// A request as one line of text. What only this machine could mean (what was remembered of its
/// files, a selection that is made of the answer all the same) stays here.
std::string render_request(const probe::Request& request);
/// The way back. Errors: malformed.
Result<probe::Request> parse_request(std::string_view text, const std::string& name);

/// The far side: looks at its machine as a request asks and gives the snapshot as text. Remembers
/// and writes nothing. The process ends at the deadline, whatever it waits for.
/// Errors: malformed.
Result<std::string> answer_request(std::string_view request, std::chrono::seconds deadline);

}  // namespace goldenv::source

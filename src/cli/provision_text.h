#pragma once

#include <string>

#include "doc/node.h"
#include "provision/provision.h"

namespace goldenv::cli {

/// What a plan comes to, for people.
std::string plan_text(const provision::Plan& plan);
/// The same as data: docs/OUTPUT.md.
doc::Node plan_data(const provision::Plan& plan);

/// "217.9 MB", "99.1 kB", "12 bytes".
std::string bytes_text(std::uint64_t bytes);

/// Requirements that nothing pins, a line each: "torch 2.2.1 requires sympy, which nothing pins".
std::string unmet_text(const std::vector<provision::Unmet>& unmet);

}  // namespace goldenv::cli

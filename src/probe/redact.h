#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "facts/reading.h"

namespace goldenv::probe {

/// What stands in the place of a secret.
inline constexpr std::string_view kMask = "***";

/// `text` with every secret that can be told by its shape replaced by ***, the rest kept:
/// user parts of URLs (scheme://user:pass@ becomes scheme://***@), passwords of user:pass@host,
/// values of `name=value`,
/// `name: value` and `"name": "value"` whose name is that of a secret (URL queries, option lists),
/// `Bearer X`, PEM blocks, JSON web tokens, and tokens with well-known beginnings (ghp_, hf_,
/// AKIA). Takes time in proportion to the length of the text.
std::string redact(std::string_view text);

/// The words of a kernel command line, likewise. Besides: values of all parameters with a secret's
/// name, up to the end of the word; what systemd.setenv and systemd.set_credential set;
/// user:pass@ without a scheme (netroot=iscsi:user:pass@host); the word after `--token`.
std::vector<std::string> redact_cmdline(std::vector<std::string> parameters);

/// Redacts all text in a reading, and in what stands beside it.
void redact(facts::Reading& reading);
void redact(facts::Evidence& evidence);

}  // namespace goldenv::probe

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "facts/reading.h"
#include "facts/snapshot.h"

namespace goldenv::probe {

/// What stands in the place of a secret.
inline constexpr std::string_view kMask = facts::kMask;

/// `text` with every secret that can be told by its shape replaced by ***, the rest kept:
/// user parts of URLs (scheme://user:pass@ becomes scheme://***@), passwords of user:pass@host,
/// values of `name=value`,
/// `name: value` and `"name": "value"` whose name is that of a secret (URL queries, option lists),
/// the word behind `--password`, `sshpass -p` and `curl -u user:`, `Bearer X`, PEM blocks, JSON web
/// tokens, and tokens with well-known beginnings (ghp_, hf_, AKIA). A second pass changes nothing.
/// What was masked can be told from no other secret: facts::same takes two equal values with a mask
/// for not comparable. (A digest in its place would tell two apart, and weak passwords to whoever
/// tries a word list.) Takes time in proportion to the length of the text.
std::string redact(std::string_view text);
/// The same; a text without secrets, as nearly all are, is not copied.
void redact_in_place(std::string& text);

/// The words of a kernel command line, likewise. Besides: values of all parameters with a secret's
/// name, up to the end of the word; what systemd.setenv and systemd.set_credential set;
/// user:pass@ without a scheme (netroot=iscsi:user:pass@host); the word after `--token`.
std::vector<std::string> redact_cmdline(std::vector<std::string> parameters);

/// Redacts all text in a reading, and in what stands beside it.
void redact(facts::Reading& reading);
void redact(facts::Evidence& evidence);

/// The same for facts that another program or a person wrote: what a snapshot file shows has passed
/// the same gate. Variables off the list have their digests for values, as where they are probed.
void redact(facts::Snapshot& snapshot);

}  // namespace goldenv::probe

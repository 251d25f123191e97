#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"

namespace goldenv::wheel {

/// A line of RECORD: a file of the wheel.
struct RecordEntry {
  std::string path;              ///< below the wheel's root, '/' between folders
  std::optional<Sha256> sha256;  ///< none for RECORD itself and its signatures
  std::optional<std::uint64_t> size_bytes;

  friend bool operator==(const RecordEntry&, const RecordEntry&) = default;
};

/// `<dist-info>/RECORD` of a wheel (PEP 376, 427, 627): CSV with the digest in base64 for URLs
/// without padding, and the size, which may be missing. Sample:
/// numpy/__init__.py,sha256=Brk0eSpwYLB3mpFgO7DVVVJrbPEgQKsIuyYr9H0jxSg,17995
/// `own` is RECORD's own path; it, own.jws and own.p7s have no digest, every other file has. The
/// digest is SHA-256: older kinds are refused, and a newer one could not be checked. Errors:
/// malformed ("RECORD line 3: ..."): absolute paths, "..", twice the same path, a lone quote,
/// more than three fields; too_large (more than a million lines).
Result<std::vector<RecordEntry>> parse_record(std::string_view text, std::string_view own);

/// RECORD as an installer leaves it: paths may lead out of site-packages ("../../../bin/f2py"), and
/// what is made anew for each machine (compiled modules) has no digest. One of another kind than
/// SHA-256 is as none. Errors: malformed, too_large.
Result<std::vector<RecordEntry>> parse_installed_record(std::string_view text);

/// The same text for the same entries, quoted where CSV asks for it; inverse of parse_record.
std::string render_record(const std::vector<RecordEntry>& entries);

/// A digest as RECORD has it: 43 characters of base64 for URLs.
std::string url_base64(const Sha256& digest);
std::optional<Sha256> from_url_base64(std::string_view text);

/// What is wrong with a path inside a wheel; empty where nothing is: no absolute path, no "." or
/// ".." or empty part, no backslash, no control character, UTF-8.
std::string path_fault(std::string_view path);

}  // namespace goldenv::wheel

#include "probe/secret_shapes.h"

#include <algorithm>
#include <array>

namespace goldenv::probe {
namespace {

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// A token is known by how it begins; `least` further characters make it one.
struct TokenShape {
  std::string_view start;
  std::size_t least;
  bool dashes;  ///< '-' and '_' may follow too
};

constexpr auto kTokenShapes = std::to_array<TokenShape>({
    {"ghp_", 16, false},
    {"gho_", 16, false},
    {"ghu_", 16, false},
    {"ghs_", 16, false},
    {"ghr_", 16, false},
    {"github_pat_", 16, true},
    {"glpat-", 12, true},
    {"gldt-", 12, true},
    {"glrt-", 12, true},
    {"glcbt-", 12, true},
    {"hf_", 20, false},
    {"sk-", 16, true},
    {"sk_live_", 12, true},
    {"sk_test_", 12, true},
    {"rk_live_", 12, true},
    {"pk_live_", 12, true},
    {"AKIA", 16, false},
    {"ASIA", 16, false},
    {"xoxa-", 8, true},
    {"xoxb-", 8, true},
    {"xoxp-", 8, true},
    {"xoxe-", 8, true},
    {"xoxr-", 8, true},
    {"xoxs-", 8, true},
    {"xapp-", 8, true},
    {"AIza", 30, true},
    {"ya29.", 16, true},
    {"npm_", 30, false},
    {"pypi-AgE", 16, true},
    {"dckr_pat_", 16, true},
    {"nvapi-", 16, true},
    {"gsk_", 20, false},
    {"hvs.", 16, true},
    {"dop_v1_", 20, false},
    {"AGE-SECRET-KEY-", 16, true},
    {"ATATT3", 16, true},
    {"shpat_", 16, false},
    {"SG.", 20, true},
    {"lsv2_pt_", 16, true},
    {"pypi-Ag", 14, true},  // and not pypi-attestations, a package
});

constexpr std::size_t kShortest = [] {
  std::size_t least = std::string_view::npos;
  for (const TokenShape& shape : kTokenShapes) {
    least = std::min(least, shape.start.size() + shape.least);
  }
  return least;
}();

}  // namespace

std::size_t token_length(std::string_view text, std::size_t at) {
  if (at > 0 && (is_alnum(text[at - 1]) || text[at - 1] == '_')) {
    return 0;
  }
  const std::string_view rest = text.substr(at);
  // The parts of paths and versions, nearly all that is asked about, are shorter.
  if (rest.size() < kShortest || rest.substr(0, kShortest).find('/') != std::string_view::npos) {
    return 0;
  }
  for (const TokenShape& shape : kTokenShapes) {
    if (shape.start.front() != rest.front() || !rest.starts_with(shape.start)) {
      continue;
    }
    std::size_t end = shape.start.size();
    while (end < rest.size() &&
           (is_alnum(rest[end]) ||
            (shape.dashes && (rest[end] == '-' || rest[end] == '_' || rest[end] == '.')))) {
      ++end;
    }
    if (end - shape.start.size() >= shape.least) {
      return end;
    }
  }
  return 0;
}

std::size_t jwt_length(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.front() != 'e' || !rest.starts_with("eyJ") || (at > 0 && is_alnum(text[at - 1]))) {
    return 0;
  }
  std::size_t end = 0;
  while (end < rest.size() && (is_alnum(rest[end]) || rest[end] == '-' || rest[end] == '_' ||
                               rest[end] == '.' || rest[end] == '=')) {
    ++end;
  }
  constexpr std::size_t kLeast = 16;
  return end >= kLeast ? end : 0;
}

std::size_t pem_length(std::string_view text, std::size_t at) {
  constexpr std::string_view kBegin = "-----BEGIN";
  constexpr std::string_view kEnd = "-----END";
  if (!text.substr(at).starts_with(kBegin)) {
    return 0;
  }
  const std::size_t end = text.find(kEnd, at);
  if (end == std::string_view::npos) {
    return text.size() - at;
  }
  const std::size_t close = text.find("-----", end + kEnd.size());
  return (close == std::string_view::npos ? text.size() : close + 5) - at;
}

}  // namespace goldenv::probe

#include <array>
#include <cassert>
#include <string>
#include <utility>

#include "version/conda.h"
#include "version/debian.h"
#include "version/dotted.h"
#include "version/kernel.h"
#include "version/number.h"
#include "version/pep440.h"
#include "version/rpm.h"
#include "version/version.h"

namespace goldenv::version {
namespace {

/// Longer than any version seen, and short enough for a line of output.
constexpr std::size_t kMaxVersionBytes = 256;

constexpr std::array<std::pair<Scheme, std::string_view>, 6> kNames{{
    {Scheme::dotted, "dotted"},
    {Scheme::kernel, "kernel"},
    {Scheme::debian, "debian"},
    {Scheme::rpm, "rpm"},
    {Scheme::pep440, "pep440"},
    {Scheme::conda, "conda"},
}};

Result<void> validate(Scheme scheme, std::string_view text) {
  if (text.empty()) return no_version(text, "it is empty");
  if (text.size() > kMaxVersionBytes) {
    return no_version(text, "it has " + std::to_string(text.size()) + " bytes, more than " +
                                std::to_string(kMaxVersionBytes));
  }
  switch (scheme) {
    case Scheme::dotted:
      return dotted::validate(text);
    case Scheme::kernel:
      return kernel::validate(text);
    case Scheme::debian:
      return debian::validate(text);
    case Scheme::rpm:
      return rpm::validate(text);
    case Scheme::pep440: {
      auto parts = pep440::parse(text);
      return parts ? Result<void>() : std::move(parts).error();
    }
    case Scheme::conda:
      return conda::validate(text);
  }
  return no_version(text, "of an unknown scheme");
}

/// Text that is no version (a Version built past parse) stands before all that is, by its bytes.
std::strong_ordering order_pep440(std::string_view a, std::string_view b) {
  const auto left = pep440::parse(a);
  const auto right = pep440::parse(b);
  if (left && right) return pep440::order(*left, *right);
  if (!left && !right) return a.compare(b) <=> 0;
  return left.has_value() <=> right.has_value();
}

}  // namespace

std::string_view name(Scheme scheme) {
  for (const auto& [value, text] : kNames) {
    if (value == scheme) return text;
  }
  return "";
}

Result<Scheme> parse_scheme(std::string_view name) {
  for (const auto& [value, text] : kNames) {
    if (text == name) return value;
  }
  return Error{Errc::malformed,
               quoted(name) + " is no version scheme: dotted, kernel, debian, rpm, pep440 or conda",
               {}};
}

Result<Version> parse(Scheme scheme, std::string_view text) {
  if (Result<void> valid = validate(scheme, text); !valid) return std::move(valid).error();
  return Version{scheme, std::string(text)};
}

std::strong_ordering order(const Version& a, const Version& b) {
  assert(a.scheme == b.scheme);
  switch (a.scheme) {
    case Scheme::dotted:
      return dotted::order(a.text, b.text);
    case Scheme::kernel:
      return kernel::order(a.text, b.text);
    case Scheme::debian:
      return debian::order(a.text, b.text);
    case Scheme::rpm:
      return rpm::order(a.text, b.text);
    case Scheme::pep440:
      return order_pep440(a.text, b.text);
    case Scheme::conda:
      return conda::order(a.text, b.text);
  }
  return std::strong_ordering::equal;
}

}  // namespace goldenv::version

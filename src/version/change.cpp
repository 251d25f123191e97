#include <array>
#include <string>
#include <vector>

#include "version/debian.h"
#include "version/number.h"
#include "version/pep440.h"
#include "version/rpm.h"
#include "version/version.h"

namespace goldenv::version {
namespace {

/// What change looks at: an epoch and the numbers of the release.
struct Numbers {
  std::string_view epoch;
  std::vector<std::string_view> release;
};

Numbers numbers_of(const Version& version) {
  const std::string_view text = version.text;
  switch (version.scheme) {
    case Scheme::dotted:
    case Scheme::kernel:
      return {{}, leading_numbers(text)};
    case Scheme::debian: {
      const debian::Parts parts = debian::parts_of(text);
      return {parts.epoch, leading_numbers(parts.upstream)};
    }
    case Scheme::rpm: {
      const rpm::Parts parts = rpm::parts_of(text);
      return {parts.epoch, leading_numbers(parts.version)};
    }
    case Scheme::pep440: {
      const auto parts = pep440::parse(text);
      return parts ? Numbers{parts->epoch, parts->release} : Numbers{};
    }
    case Scheme::conda: {
      const std::size_t bang = text.find('!');
      if (bang == std::string_view::npos) return {{}, leading_numbers(text)};
      return {text.substr(0, bang), leading_numbers(text.substr(bang + 1))};
    }
  }
  return {};
}

/// Whether a missing number and 0 are the same release.
bool pads_with_zeros(Scheme scheme) {
  return scheme == Scheme::pep440 || scheme == Scheme::conda || scheme == Scheme::kernel;
}

Part part_that_differs(const Version& a, const Version& b) {
  const Numbers left = numbers_of(a);
  const Numbers right = numbers_of(b);
  if (compare_numbers(left.epoch, right.epoch) != 0) return Part::epoch;
  constexpr std::array<Part, 3> kParts{Part::major, Part::minor, Part::patch};
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    const bool in_left = i < left.release.size();
    const bool in_right = i < right.release.size();
    if (in_left != in_right && !pads_with_zeros(a.scheme)) return kParts[i];
    const std::string_view zero;
    if (compare_numbers(in_left ? left.release[i] : zero, in_right ? right.release[i] : zero) !=
        0) {
      return kParts[i];
    }
  }
  return Part::build;
}

}  // namespace

Change change(const Version& a, const Version& b) {
  const auto seen = order(a, b);
  if (seen == 0) return {Direction::same, a.text == b.text ? Part::none : Part::build};
  return {seen < 0 ? Direction::newer : Direction::older, part_that_differs(a, b)};
}

std::string_view name(Part part) {
  switch (part) {
    case Part::none:
      return "none";
    case Part::epoch:
      return "epoch";
    case Part::major:
      return "major";
    case Part::minor:
      return "minor";
    case Part::patch:
      return "patch";
    case Part::build:
      return "build";
  }
  return "";
}

std::string_view name(Direction direction) {
  switch (direction) {
    case Direction::same:
      return "same";
    case Direction::newer:
      return "newer";
    case Direction::older:
      return "older";
  }
  return "";
}

}  // namespace goldenv::version

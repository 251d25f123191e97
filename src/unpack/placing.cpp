#include "unpack/placing.h"

#include <algorithm>

#include "base/text.h"

namespace goldenv::unpack {
namespace {

constexpr std::size_t kTargetBytes = 1024;

Error wrong(std::string what) { return Error{Errc::malformed, std::move(what), {}}; }

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(path, '/')) {
    if (!part.empty() && part != ".") {
      parts.emplace_back(part);
    }
  }
  return parts;
}

bool has_odd_byte(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

}  // namespace

Result<std::string> Placing::cleaned(std::string_view member) {
  if (member.starts_with('/')) {
    return wrong("has an absolute path");
  }
  if (!is_utf8(member)) {
    return wrong("has a name that is no UTF-8");
  }
  if (has_odd_byte(member)) {
    return wrong("has a backslash or a control character in its name");
  }
  while (member.starts_with("./")) {
    member.remove_prefix(2);
  }
  if (member.ends_with('/')) {
    member.remove_suffix(1);
  }
  if (member.empty() || member == ".") {
    return std::string();
  }
  for (const std::string_view part : split(member, '/')) {
    if (part == "..") {
      return wrong("leads out by \"..\"");
    }
    if (part.empty() || part == ".") {
      return wrong("has an empty part in its path");
    }
  }
  return std::string(member);
}

std::optional<std::string> Placing::target(std::string_view path) const {
  std::vector<std::string> parts = parts_of(path);
  if (parts.size() <= strip_) {
    return std::nullopt;
  }
  parts.erase(parts.begin(), parts.begin() + strip_);
  if (place_.empty()) {
    if (parts.front() == "lib64") {  // lib64 of an environment is a link to its lib
      parts.front() = "lib";
    }
    return join(parts, "/");
  }
  std::optional<std::string> best;
  std::size_t longest = 0;
  for (const Placement& placement : place_) {
    const std::vector<std::string> from = parts_of(placement.from);
    if (from.size() > parts.size() || (best && from.size() <= longest) ||
        !std::equal(from.begin(), from.end(), parts.begin())) {
      continue;
    }
    std::vector<std::string> to = parts_of(placement.to);
    to.insert(to.end(), parts.begin() + static_cast<std::ptrdiff_t>(from.size()), parts.end());
    if (to.empty()) {
      continue;
    }
    best = join(to, "/");
    longest = from.size();
  }
  return best;
}

Result<std::string> Placing::link(std::string_view path, std::string_view to, bool has_root) const {
  if (to.empty() || to.size() > kTargetBytes || !is_utf8(to) || has_odd_byte(to)) {
    return wrong("is a link with an odd text");
  }
  const bool is_absolute = to.starts_with('/');
  if (is_absolute && !has_root) {
    return wrong("is a link to the absolute path " + shortened(to));
  }
  std::vector<std::string> at = is_absolute ? std::vector<std::string>() : parts_of(path);
  if (!is_absolute) {
    at.pop_back();
  }
  for (const std::string& part : parts_of(to)) {
    if (part != "..") {
      at.push_back(part);
    } else if (at.empty()) {
      return wrong("is a link that leads out: " + shortened(to));
    } else {
      at.pop_back();
    }
  }
  const auto from = target(path);
  const auto target_path = target(join(at, "/"));
  if (!target_path || !from) {
    return wrong("is a link to " + shortened(to) + ", which is left out by strip or place");
  }
  std::vector<std::string> here = parts_of(*from);
  here.pop_back();
  const std::vector<std::string> there = parts_of(*target_path);
  std::size_t same = 0;
  while (same < here.size() && same + 1 < there.size() && here[same] == there[same]) {
    ++same;
  }
  std::vector<std::string> text(here.size() - same, "..");
  text.insert(text.end(), there.begin() + static_cast<std::ptrdiff_t>(same), there.end());
  return join(text, "/");
}

}  // namespace goldenv::unpack

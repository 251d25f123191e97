#include "probe/kernel_names.h"

#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace goldenv::probe {
namespace {

constexpr std::string_view kProcVersion = "/proc/version";

std::string third_word(std::string_view text) {
  const auto parts = words(text);
  return parts.size() > 2 && parts[0] == "Linux" && parts[1] == "version" ? std::string(parts[2])
                                                                          : std::string();
}

/// The build's words stand last; a compiler's may hold a '#', but not behind a blank and before a
/// digit.
std::string from_hash(std::string_view text) {
  for (std::size_t at = text.rfind(" #"); at != std::string_view::npos && at != 0;
       at = text.rfind(" #", at - 1)) {
    const std::string_view build = trim(text.substr(at));
    if (build.size() > 1 && build[1] >= '0' && build[1] <= '9') {
      return std::string(build);
    }
  }
  return {};
}

/// hostname(5): the first line that is neither empty nor a comment.
std::string first_name(std::string_view text) {
  for (const std::string_view line : lines(text)) {
    if (const std::string_view name = trim(line); !name.empty() && !name.starts_with('#')) {
      return std::string(name);
    }
  }
  return {};
}

std::string whole(std::string_view text) { return std::string(trim(text)); }

struct Place {
  std::string_view path;
  std::string (*read)(std::string_view text);
};

/// The first place that states the name.
KernelName name_in(const host::Host& host, std::string host::SystemName::*part,
                   std::string_view from, std::initializer_list<Place> places) {
  const Result<host::SystemName> uname = host.system_name();
  if (uname && !((*uname).*part).empty()) {
    return {(*uname).*part, std::string(from)};
  }
  std::optional<Error> first;
  for (const Place& place : places) {
    const Result<std::string> text = host.read_file(place.path, 4096);
    std::string name = text ? place.read(*text) : std::string();
    if (!name.empty()) {
      return {std::move(name), std::string(place.path)};
    }
    if (!text && text.error().code != Errc::absent && !first) {
      first = text.error();
    }
  }
  if (!first) {
    first = Error{Errc::not_collected, "the source does not state the " + std::string(from), {}};
  }
  return {*std::move(first), std::string(from)};
}

}  // namespace

KernelName kernel_release(const host::Host& host) {
  return name_in(host, &host::SystemName::release, "uname release",
                 {{"/proc/sys/kernel/osrelease", whole}, {kProcVersion, third_word}});
}

KernelName kernel_build(const host::Host& host) {
  return name_in(host, &host::SystemName::version, "uname version",
                 {{"/proc/sys/kernel/version", whole}, {kProcVersion, from_hash}});
}

KernelName node_name(const host::Host& host) {
  constexpr std::string_view kFrom = "uname nodename";
  constexpr Place kRunning{"/proc/sys/kernel/hostname", whole};
  return host.live() ? name_in(host, &host::SystemName::node, kFrom, {kRunning})
                     : name_in(host, &host::SystemName::node, kFrom,
                               {kRunning, {"/etc/hostname", first_name}});
}

}  // namespace goldenv::probe

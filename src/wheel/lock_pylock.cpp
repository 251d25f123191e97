#include "wheel/lock.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "doc/node.h"
#include "version/number.h"
#include "wheel/lock_builder.h"
#include "wheel/name.h"
#include "wheel/toml.h"

namespace goldenv::wheel {
namespace {

using doc::Node;

constexpr doc::Limits kLimits{.bytes = std::size_t{32} << 20, .depth = 32, .nodes = 4U << 20U};

/// A wheel with its digest.
Result<LockedWheel> locked_wheel(const Node& entry, const LockBuilder& builder) {
  LockedWheel wheel = wheel_of(entry);
  if (const Node* hashes = entry.find("hashes")) {
    if (const std::string text = text_under(*hashes, "sha256"); !text.empty()) {
      const auto digest = Sha256::parse(text);
      if (!digest) {
        return builder.fault(entry.mark.line,
                             "the sha256 of " + version::quoted(wheel.file) + " is no digest");
      }
      wheel.sha256 = *digest;
    }
  }
  const auto name = parse_wheel_name(wheel.file);
  if (!name) return builder.fault(entry.mark.line, name.error().message);
  return wheel;
}

/// Why a package without wheels is not taken.
std::string other_origin(const Node& entry) {
  if (entry.find("vcs") != nullptr) return "from version control, no wheel";
  if (entry.find("directory") != nullptr) return "a folder, no wheel";
  if (entry.find("archive") != nullptr) return "an archive, no wheel";
  return entry.find("sdist") != nullptr ? "only a source distribution" : "no wheel";
}

Result<void> take_package(const Node& entry, LockBuilder& builder) {
  const std::string written = text_under(entry, "name");
  if (!is_name(written)) {
    return builder.fault(entry.mark.line, version::quoted(written) + " names no package");
  }
  LockedPackage package;
  package.line = entry.mark.line;
  package.name = normalised_name(written);
  package.version = text_under(entry, "version");
  package.index = text_under(entry, "index");
  package.marker = text_under(entry, "marker");
  GOLDENV_TRY(const bool taken, builder.holds(entry.mark.line, package.marker));
  if (!taken) {
    builder.leave(package.name, "its marker does not hold: " + package.marker);
    return {};
  }
  const auto fits = builder.check_python(entry.mark.line, text_under(entry, "requires-python"));
  if (!fits) return fits;
  if (const Node* wheels = entry.find("wheels")) {
    for (const Node& item : wheels->items) {
      GOLDENV_TRY(LockedWheel wheel, locked_wheel(item, builder));
      package.wheels.push_back(std::move(wheel));
    }
  }
  if (const Node* archive = entry.find("archive");
      archive != nullptr && wheel_of(*archive).file.ends_with(".whl")) {
    GOLDENV_TRY(LockedWheel wheel, locked_wheel(*archive, builder));
    package.wheels.push_back(std::move(wheel));
  }
  if (package.wheels.empty()) {
    builder.leave(package.name, other_origin(entry));
    return {};
  }
  for (const LockedWheel& wheel : package.wheels) {
    const auto name = parse_wheel_name(wheel.file);
    if (name && name->name != package.name) {
      return builder.fault(entry.mark.line,
                           version::quoted(wheel.file) + " is no wheel of " + package.name);
    }
    if (name && package.version.empty()) package.version = name->version;
  }
  return builder.add(std::move(package));
}

/// Whether one of the environments that the lock was made for is this one.
Result<void> check_environments(const Node& root, std::string_view name,
                                const LockBuilder& builder) {
  const Node* environments = root.find("environments");
  if (environments == nullptr || environments->items.empty()) return {};
  for (const Node& item : environments->items) {
    GOLDENV_TRY(const bool holds, builder.holds(item.mark.line, item.text));
    if (holds) return {};
  }
  return Error{Errc::failed,
               std::string(name) + ": the lock is for other environments: " +
                   shortened(environments->items.front().text, 80) +
                   (environments->items.size() > 1 ? ", ..." : ""),
               {}};
}

}  // namespace

Result<LockedSet> parse_pylock(std::string_view text, std::string_view name,
                               const MarkerEnvironment& environment) {
  GOLDENV_TRY(const Node root, parse_toml(text, name, kLimits));
  MarkerEnvironment asked = environment;
  if (const Node* groups = root.find("default-groups");
      groups != nullptr && asked.dependency_groups.empty()) {
    for (const Node& group : groups->items) asked.dependency_groups.push_back(group.text);
  }
  LockBuilder builder(name, asked);
  const std::string version = text_under(root, "lock-version");
  if (version.substr(0, version.find('.')) != "1") {
    return builder.fault(1, "lock-version " + version::quoted(version) + ", expected 1.x");
  }
  builder.set.requires_python = text_under(root, "requires-python");
  if (const auto fits = builder.check_python(1, builder.set.requires_python); !fits) {
    return fits.error();
  }
  if (const auto fits = check_environments(root, name, builder); !fits) return fits.error();
  const Node* packages = root.find("packages");
  if (packages == nullptr || !packages->is_sequence()) {
    return builder.fault(1, "no list of packages");
  }
  for (const Node& entry : packages->items) {
    if (const auto taken = take_package(entry, builder); !taken) return taken.error();
  }
  return builder.finish();
}

}  // namespace goldenv::wheel

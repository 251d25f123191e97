#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "doc/node.h"
#include "wheel/lock.h"

// What the readers of lock files share; others include lock.h.
namespace goldenv::wheel {

/// Collects the packages of a lock for one environment.
class LockBuilder {
 public:
  LockBuilder(std::string_view name, const MarkerEnvironment& environment)
      : environment_(environment), name_(name) {}

  /// "NAME:LINE: WHAT".
  [[nodiscard]] Error fault(std::size_t line, const std::string& what) const;

  /// Whether a marker holds; without one it does. Errors: malformed, also where that cannot be
  /// told.
  [[nodiscard]] Result<bool> holds(std::size_t line, std::string_view marker) const;

  /// Whether the lock is for this Python. Errors: malformed, failed.
  [[nodiscard]] Result<void> check_python(std::size_t line, std::string_view specifiers) const;

  /// Errors: malformed, where another version of the package is there.
  Result<void> add(LockedPackage package);
  void leave(std::string_view name, std::string why);
  [[nodiscard]] LockedSet finish();

  [[nodiscard]] const MarkerEnvironment& environment() const { return environment_; }
  LockedSet set;

 private:
  const MarkerEnvironment& environment_;
  std::string name_;
  std::map<std::string, LockedPackage> packages_;
};

/// The text under a key; empty where there is none or it is no string.
std::string text_under(const doc::Node& node, std::string_view key);

/// A wheel of an entry with url or path, name or filename, and size; its digest is the caller's.
LockedWheel wheel_of(const doc::Node& entry);

}  // namespace goldenv::wheel

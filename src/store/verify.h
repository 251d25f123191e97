#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/store.h"

namespace goldenv::store {

/// One way in which a store is not what it was made as.
struct Difference {
  enum class Kind {
    changed,  ///< other bytes, or a link that leads elsewhere
    missing,
    stray,       ///< nothing put it there; bytecode that Python wrote, too
    mode,        ///< its permissions
    unreadable,  ///< it could not be looked at
  };
  Kind kind = Kind::changed;
  std::string path;  ///< below the store
  std::string says;  ///< "sha256 is 01ab.., wanted 23cd.."
};

std::string_view name(Difference::Kind kind);

struct Verified {
  std::size_t objects = 0;
  std::size_t artifacts = 0;
  std::size_t files = 0;  ///< of all objects
  std::uint64_t size_bytes = 0;
  std::size_t differences = 0;  ///< of which `unreadable` could not be looked at
  std::size_t unreadable = 0;
};

/// Reads every byte of every object and artifact, and looks at every name and mode; `report` is
/// called for each difference, in the order of names. What is in tmp/ and trash/ is of nobody.
/// Errors: failed, denied, where not even the folders can be listed.
Result<Verified> verify(const Store& store, const std::function<void(const Difference&)>& report);

}  // namespace goldenv::store

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compose/maps.h"

namespace goldenv::launch {

/// What a program must have loaded from nowhere else: the libraries of its environment.
struct Expected {
  compose::MapSetting setting;
  std::string prefix;             ///< the environment's
  std::set<std::string> objects;  ///< the ids of what it is composed of
  /// By soname ("libnccl.so.2"), the object that has it.
  std::map<std::string, std::string, std::less<>> libraries;
};

/// A library that a process has from elsewhere though its environment has it.
struct Miss {
  std::string soname;
  std::string path;      ///< what was mapped
  std::string expected;  ///< the object that has it
  bool deleted = false;  ///< the file is no longer there
  friend auto operator<=>(const Miss&, const Miss&) = default;
};

/// What the processes of a program have mapped, taken together.
class Proof {
 public:
  explicit Proof(Expected expected) : expected_(std::move(expected)) {}

  /// Adds the text of a /proc/PID/maps.
  void add(std::string_view maps);

  /// Libraries of the environment's objects: by path, the object. "(deleted)" is not behind it.
  [[nodiscard]] const std::map<std::string, std::string>& own() const { return own_; }
  /// All others: the system's and foreign ones.
  [[nodiscard]] const std::map<std::string, compose::Provenance>& others() const { return others_; }
  /// Sorted, each once.
  [[nodiscard]] const std::set<Miss>& misses() const { return misses_; }

 private:
  Expected expected_;
  std::map<std::string, std::string> own_;
  std::map<std::string, compose::Provenance> others_;
  std::set<Miss> misses_;
};

}  // namespace goldenv::launch

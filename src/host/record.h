#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::host {

/// What record.yaml at the top of a recorded machine says; docs/RECORD.md has its format. Paths are
/// as the machine itself would write them.
struct Record {
  std::optional<std::string> node;
  std::optional<std::string> release;
  std::optional<std::string> version;
  std::optional<std::string> machine;
  std::map<std::string, Space> spaces;
  std::map<std::string, Errc> answers;   ///< of a path and all below it, in place of the tree
  std::map<std::string, Errc> contents;  ///< of a file's bytes or a folder's names alone
  std::set<std::string> complete;        ///< folders all of whose names stand in the tree
  std::set<std::string> complete_below;  ///< the same of all folders below too
  /// Folders of which the tree holds only what was looked at.
  std::vector<std::string> partial{"/proc", "/sys", "/dev"};
  bool partial_given = false;         ///< whether the record itself says so
  std::vector<std::string> withheld;  ///< variables that were set, without their values

  /// Errors: malformed, too_large; the message begins "NAME:LINE:COLUMN: ".
  static Result<Record> parse(std::string_view text, std::string_view name);

  /// What the record says of a path or of a folder above it.
  [[nodiscard]] std::optional<Errc> answer(std::string_view path) const;
  [[nodiscard]] bool is_complete(std::string_view folder) const;
  [[nodiscard]] bool is_partial(std::string_view path) const;
  /// Of the nearest path above that has one.
  [[nodiscard]] std::optional<Space> space(std::string_view path) const;
};

}  // namespace goldenv::host

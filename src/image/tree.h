#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/tar.h"
#include "base/result.h"
#include "host/host.h"

namespace goldenv::image {

/// The files of an image: its layers laid over one another, without their contents. Source of the
/// rules: opencontainers image-spec, "Applying changesets".
///
/// A flat table of nodes and not nodes that own one another: a path of ten thousand folders would
/// otherwise be as many calls deep at the end.
class Tree {
 public:
  using Kind = host::FileStatus::Kind;
  using Names = std::map<std::string, std::uint32_t, std::less<>>;

  /// Where a file's content stands.
  struct Content {
    std::size_t layer = 0;
    std::uint64_t member = 0;             ///< the number of the entry in its layer, from 0
    std::optional<std::uint64_t> offset;  ///< in the layer, where nothing is compressed
    std::uint64_t size_bytes = 0;
  };
  struct Node {
    host::FileStatus status;
    std::string target;            ///< of a link
    Content content;               ///< of a file
    std::size_t layer = 0;         ///< the last that wrote it
    std::unique_ptr<Names> names;  ///< of a folder
  };

  Tree();

  /// Lays the entries of one more layer over what is there; the number of an entry is its place in
  /// the list. Whiteouts take away what lies below this layer, whatever their place among its
  /// entries. Parents that are links are followed, inside the root.
  /// Errors: malformed (a path that leads out of the image, a loop of links, a hard link to what is
  /// not there, a path or link text longer than the kernel takes), too_large (more files than any
  /// image has, or a maze of links).
  Result<void> add_layer(const std::vector<archive::Member>& members, const std::string& name);

  /// Where a path leads. Errors: absent, unreadable (too many links; no absolute path).
  enum class Last { follow, keep };
  struct Found {
    std::string path;  ///< without links
    const Node* node = nullptr;
  };
  [[nodiscard]] Result<Found> find(std::string_view path, Last last) const;
  /// As Host::hops.
  [[nodiscard]] Result<std::vector<std::string>> hops(std::string_view path) const;

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const Node& node(std::uint32_t number) const { return nodes_[number]; }

 private:
  Result<std::uint32_t> parent_of(const std::vector<std::string_view>& parts,
                                  const std::string& name, bool make);
  Result<void> add(const archive::Member& member, std::uint64_t number, const std::string& name);
  Result<void> whiteout(const archive::Member& member, const std::string& name);
  Result<std::uint32_t> make(std::uint32_t folder, std::string_view name, Kind kind);
  void take_away_lower(std::uint32_t folder);

  std::vector<Node> nodes_;  ///< the first is the root
  std::size_t layers_ = 0;
  std::uint64_t steps_ = 0;  ///< of all walks to the parents of entries
};

}  // namespace goldenv::image

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "host/descriptor.h"
#include "image/choice.h"
#include "image/tree.h"

namespace goldenv::image {

/// The contents of an image's files, in memory and never on disk. One in a layer that is not
/// compressed is read where it stands; the others cost a pass over their layer, so what is missing
/// is noted and fetched together.
class Contents {
 public:
  explicit Contents(std::vector<Layer> layers) : layers_(std::move(layers)) {}

  /// A file of which this much at most is looked at: more memory than that no library is worth.
  static constexpr std::uint64_t kFileLimitBytes = std::uint64_t{4} << 30;

  /// The whole layer, once: its entries, and its digests, as it stands and unpacked, against those
  /// that are stated. Small files that every look asks for are kept. Errors: as archive::Tar's;
  /// malformed (another digest).
  Result<std::vector<archive::Member>> read_layer(std::size_t number);

  /// Runs `look` on a descriptor of the content, or gives nothing where it is not there yet.
  std::optional<Result<std::string>> inspect(
      const Tree::Content& content, std::string_view path,
      const std::function<Result<std::string>(int fd)>& look);
  /// Its bytes, or nothing where it is not there yet. Errors: too_large.
  std::optional<Result<std::string>> read(const Tree::Content& content, std::string_view path,
                                          std::size_t limit_bytes);
  /// Says that a content will be asked for soon: it is fetched with what is missing, if there is
  /// room.
  void expect(const Tree::Content& content);
  /// Fetches what was asked for since, and drops large files that were fetched before. False where
  /// nothing was asked for. Errors: as archive::Tar's.
  Result<bool> fetch();

 private:
  using Place = std::pair<std::size_t, std::uint64_t>;  // layer, number of the entry
  struct Held {
    std::string bytes;      ///< of a small file
    host::Descriptor file;  ///< of a large one
  };

  [[nodiscard]] Result<host::Descriptor> copy(const Tree::Content& content,
                                              std::string_view path) const;
  Result<void> fetch_layer(std::size_t number, const std::set<std::uint64_t>& wanted,
                           std::uint64_t& room);
  Result<Held> take(archive::Tar& tar, std::uint64_t size_bytes, const std::string& name) const;

  std::vector<Layer> layers_;
  archive::TarBudget budget_;
  std::map<Place, Held> held_;
  std::uint64_t small_bytes_ = 0;            ///< held in all, of small files
  std::map<Place, std::uint64_t> missed_;    ///< with their sizes
  std::map<Place, std::uint64_t> expected_;  ///< likewise
};

}  // namespace goldenv::image

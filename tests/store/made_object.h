#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "store/store.h"

namespace goldenv::test {

/// An object in the making, as whoever unpacks artifacts makes one.
class MadeObject {
 public:
  MadeObject(std::string name, std::string version) {
    object.name = std::move(name);
    object.version = std::move(version);
    object.kind = "wheel";
    object.key = Sha256::of(object.name + " " + object.version).hex();
  }

  MadeObject& file(const std::string& path, std::string bytes, bool executable = false) {
    files.push_back({path, bytes.size(), Sha256::of(bytes), executable, ""});
    contents.push_back(std::move(bytes));
    return *this;
  }
  MadeObject& link(const std::string& path, const std::string& target) {
    files.push_back({path, 0, {}, false, target});
    contents.emplace_back();
    return *this;
  }
  MadeObject& root(const std::string& folder, const std::string& place) {
    object.roots.push_back({folder, place});
    return *this;
  }
  MadeObject& of(const std::string& artifact_bytes) {
    object.artifact = {object.name + ".whl", Sha256::of(artifact_bytes).hex(),
                       artifact_bytes.size(), "https://example.org/" + object.name + ".whl"};
    return *this;
  }

  [[nodiscard]] std::string id() const { return object.id(); }

  /// Writes the tree and publishes it.
  [[nodiscard]] Result<store::Published> publish(const store::Store& store) const {
    GOLDENV_TRY(store::Building building, store.begin(object.name));
    const std::filesystem::path tree = building.folder() + "/tree";
    std::error_code failed;
    std::filesystem::create_directories(tree, failed);
    for (std::size_t i = 0; i < files.size() && !failed; ++i) {
      const std::filesystem::path path = tree / files[i].path;
      std::filesystem::create_directories(path.parent_path(), failed);
      if (!files[i].link.empty()) {
        std::filesystem::create_symlink(files[i].link, path, failed);
        continue;
      }
      std::ofstream out(path, std::ios::binary);
      out << contents[i];
      out.close();
      if (!out) {
        return Error{Errc::failed, path.string() + ": cannot be written", {}};
      }
    }
    if (failed) {
      return Error{Errc::failed, tree.string() + ": " + failed.message(), {}};
    }
    return store.publish(std::move(building), object, files);
  }

  store::Object object;
  std::vector<store::File> files;
  std::vector<std::string> contents;
};

/// The value; a test without it cannot go on.
template <typename T>
T must(Result<T> result) {
  if (!result) {
    throw std::runtime_error(result.error().message);
  }
  return *std::move(result);
}

inline void must(const Result<void>& result) {
  if (!result) {
    throw std::runtime_error(result.error().message);
  }
}

}  // namespace goldenv::test

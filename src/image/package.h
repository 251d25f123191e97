#pragma once

#include <map>
#include <string>
#include <string_view>

#include "archive/tar.h"
#include "base/result.h"
#include "host/descriptor.h"

namespace goldenv::image {

/// The file or folder in which images are handed about: a plain tar (of `docker save`, `podman
/// save`, `skopeo copy ... oci-archive:`), or the folder of an OCI image layout. Its members are
/// read where they stand.
class Package {
 public:
  /// Errors: usage (no such file, no archive), failed (permission, its file system does not
  /// answer), malformed, too_large.
  static Result<Package> open(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool has(const std::string& member) const;
  /// Where a member stands: "index.json", "blobs/sha256/9f86...". Valid as long as the package.
  /// Errors: malformed (not there, no regular file), failed.
  [[nodiscard]] Result<archive::Part> find(const std::string& member) const;
  /// Its bytes. Errors: too_large also.
  [[nodiscard]] Result<std::string> text(const std::string& member, std::size_t limit_bytes) const;

 private:
  Result<void> read_members();

  std::string path_;
  host::Descriptor file_;  ///< the tar, or the folder
  bool is_folder_ = false;
  std::map<std::string, archive::Part> members_;          ///< of a tar
  std::map<std::string, std::string> links_;              ///< of a tar: `docker save` before 25
  mutable std::map<std::string, host::Descriptor> open_;  ///< of a folder
};

}  // namespace goldenv::image

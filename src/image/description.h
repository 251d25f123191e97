#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// The texts that describe images. Formats: opencontainers image-spec 1.1 (image index, image
// manifest, image configuration), and what Docker's are beside them: the manifest list, image
// manifest version 2 schema 2, and the manifest.json of `docker save` (moby, image/tarexport).
// Fields that are not asked for are passed over, whatever they hold.
namespace goldenv::image {

/// Which machines an image is for.
struct Platform {
  std::string os;            ///< "linux"
  std::string architecture;  ///< "amd64", as Go names it
  std::string variant;       ///< "v8", mostly ""

  /// "linux/amd64", "linux/arm/v7"; "" where nothing is stated.
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Platform&, const Platform&) = default;
};

/// What points at a blob.
struct Reference {
  std::string media_type;
  std::string digest;  ///< "sha256:" and 64 hexadecimal digits
  std::uint64_t size_bytes = 0;
  Platform platform;
  std::vector<std::string> names;  ///< from the annotations: "ubuntu:22.04", "22.04"
  bool is_attestation = false;     ///< what a builder says about an image, and no image
};

/// An image index, or a manifest: which of both a blob is, its fields say.
struct Description {
  enum class Kind { index, manifest };
  Kind kind = Kind::index;
  std::vector<Reference> manifests;  ///< of an index
  Reference config;                  ///< of a manifest
  std::vector<Reference> layers;     ///< of a manifest, lowest first
};
/// Errors: malformed, too_large; the message begins "NAME:LINE:COLUMN: ".
Result<Description> parse_description(std::string_view text, const std::string& name);

/// The configuration of an image.
struct Config {
  Platform platform;
  std::vector<std::string> environment;  ///< "NAME=VALUE"
  std::map<std::string, std::string> labels;
  std::vector<std::string> diff_ids;  ///< digests of the layers as plain tars, lowest first
};
Result<Config> parse_config(std::string_view text, const std::string& name);

/// One image of a `docker save`.
struct SavedImage {
  std::string config;               ///< a member of the archive
  std::vector<std::string> names;   ///< "ubuntu:22.04"
  std::vector<std::string> layers;  ///< members of the archive, lowest first
};
Result<std::vector<SavedImage>> parse_saved(std::string_view text, const std::string& name);

/// Whether this is a digest with which bytes are compared, and so part of a file's name that leads
/// nowhere else. That is sha256 alone: one of another algorithm would be believed.
bool is_digest(std::string_view text);

}  // namespace goldenv::image

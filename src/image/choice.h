#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "archive/tar.h"
#include "base/result.h"
#include "image/description.h"
#include "image/package.h"

namespace goldenv::image {

struct Layer {
  std::string name;  ///< for errors: "app.tar: layer 3"
  archive::Part part;
  std::string digest;   ///< "sha256:..." of the part's bytes; "" where nothing states it
  std::string diff_id;  ///< "sha256:..." of the layer as a plain tar
};

/// One image of a package.
struct Image {
  std::string id;    ///< digest of its configuration, "sha256:..."
  std::string name;  ///< "ubuntu:22.04", "" where it has none
  Config config;
  std::vector<Layer> layers;  ///< lowest first
};

/// The image that is meant: `wanted` is a name of it, the beginning of its digest (of the manifest
/// or of the configuration) or a platform ("linux/arm64"). Without a word, or where several
/// platforms fit, the one for linux/amd64; an image for one platform alone is taken whatever that
/// is. What describes it has the digests that it should have; layers are not looked at.
/// Errors: usage (none fits, several do, with the list of them; another system than Linux),
/// malformed, too_large, failed.
Result<Image> choose(const Package& package, std::string_view wanted);

}  // namespace goldenv::image

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/host.h"
#include "image/choice.h"

// What a machine would be that runs an image: the merged tree of its layers, the variables of its
// configuration; no kernel, no /proc, /sys and /dev, no name of a host (not_live). Nothing is
// unpacked to disk.
//
// A compressed layer can only be read from its beginning. So the entries of all layers are read
// once, and a look that asks for a content is told that it is not there yet, and is made again when
// all that it asked for has been fetched in one pass over the layers that hold it. Two or three
// such rounds are enough, and each costs the unpacking of those layers in memory; a pass for every
// file would be hundreds. Tried and dropped: an index into the compressed stream (a window of
// 32 KiB for every MiB, for gzip alone), and keeping all contents (a CUDA image has 20 GiB).
namespace goldenv::image {

class ImageHost : public host::Host {
 public:
  /// The image that is looked at; its layers have been taken out.
  [[nodiscard]] virtual const Image& image() const = 0;
  /// At the end of a look: fetches what it asked for. True where it is to be made again. After some
  /// rounds what is asked for is fetched at once, whatever it costs, so that there is an end.
  /// Errors: malformed, too_large, failed.
  [[nodiscard]] virtual Result<bool> fetch() = 0;
};

/// The image in a file or the folder of an OCI layout; `wanted` as of choose(). Errors: as
/// Package::open, choose, and of its layers: malformed (damaged, another digest, an entry that
/// leads out of the image), too_large (a bomb).
Result<std::unique_ptr<ImageHost>> open(const std::string& path, std::string_view wanted);

}  // namespace goldenv::image

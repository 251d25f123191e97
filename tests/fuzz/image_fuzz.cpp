// What describes an image, and the layers of one, which may say anything of themselves.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "archive/tar.h"
#include "image/description.h"
#include "image/image_host.h"
#include "image/tree.h"

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

/// Everything that a merged tree says of itself.
void walk(const goldenv::image::Tree& tree, const std::string& folder, int depth) {
  using goldenv::image::Tree;
  const auto found = tree.find(folder, Tree::Last::follow);
  if (!found || found->node->status.kind != Tree::Kind::folder || depth > 8) {
    return;
  }
  require(found->path.starts_with('/'));
  for (const auto& [name, number] : *found->node->names) {
    require(!name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos);
    const std::string path = (folder == "/" ? "" : folder) + "/" + name;
    const auto there = tree.find(path, Tree::Last::keep);
    require(bool(there) || there.error().code == goldenv::Errc::unreadable);
    static_cast<void>(tree.hops(path));
    walk(tree, path, depth + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace goldenv;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);

  if (const auto description = image::parse_description(text, "fuzz")) {
    for (const image::Reference& reference : description->manifests) {
      require(image::is_digest(reference.digest) &&
              reference.digest.find('/') == std::string::npos);
    }
  }
  static_cast<void>(image::parse_config(text, "fuzz"));
  static_cast<void>(image::parse_saved(text, "fuzz"));

  static const int fd = memfd_create("image_fuzz", MFD_CLOEXEC);
  require(ftruncate(fd, 0) == 0 && pwrite(fd, bytes, size, 0) == static_cast<ssize_t>(size));
  // The same layer twice: once on nothing, once on itself.
  image::Tree tree;
  for (int round = 0; round < 2; ++round) {
    archive::TarBudget budget;
    budget.bytes = 64u << 20;
    budget.free_bytes = 1u << 20;
    archive::Tar tar({fd, 0, size}, "fuzz", budget);
    std::vector<archive::Member> members;
    while (true) {
      auto member = tar.next();
      if (!member || !*member) {
        break;
      }
      if ((*member)->offset) {
        require(*(*member)->offset + (*member)->size_bytes <= size);
      }
      members.push_back(*std::move(*member));
    }
    static_cast<void>(tree.add_layer(members, "fuzz"));
    walk(tree, "/", 0);
  }
  // The whole as an archive of images.
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  static_cast<void>(image::open(path, ""));
  return 0;
}

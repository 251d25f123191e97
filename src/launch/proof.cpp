#include "launch/proof.h"

#include <utility>

namespace goldenv::launch {
namespace {

/// Whether a file may be a copy of a library: maps shows the file that a soname's link leads to,
/// "libnccl.so.2.18.3" of "libnccl.so.2".
bool is_copy_of(std::string_view soname, std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return file.starts_with(soname) && (file.size() == soname.size() || file[soname.size()] == '.');
}

}  // namespace

void Proof::add(std::string_view maps) {
  for (compose::MappedFile& mapped : compose::mapped_files(maps, expected_.setting)) {
    const bool in_environment = mapped.path.starts_with(expected_.prefix + "/");
    const bool own_object = expected_.objects.contains(mapped.object);
    if (mapped.provenance != compose::Provenance::deleted && (in_environment || own_object)) {
      own_.emplace(std::move(mapped.path), std::move(mapped.object));
      continue;
    }
    if (mapped.provenance != compose::Provenance::system) {
      for (const auto& [soname, object] : expected_.libraries) {
        if (is_copy_of(soname, mapped.path)) {
          misses_.insert(
              {soname, mapped.path, object, mapped.provenance == compose::Provenance::deleted});
        }
      }
    }
    others_.emplace(std::move(mapped.path), mapped.provenance);
  }
}

}  // namespace goldenv::launch

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "compose/maps.h"
#include "store/object.h"
#include "store/processes.h"

// What is read as an object or as a list of files is written as it was read, and no path in it
// leaves a tree; of any text of /proc, each file is judged once.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace goldenv;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (const auto object = store::parse_object(text, "fuzz")) {
    const auto again = store::parse_object(store::write_object(*object), "fuzz");
    if (!again || *again != *object || object->id().find('/') != std::string::npos) {
      std::abort();
    }
    for (const store::ElfFile& elf : object->shape.elf) {
      if (!store::is_tree_path(elf.path)) {
        std::abort();
      }
    }
  }
  if (const auto list = store::parse_files(text, "fuzz")) {
    const auto again = store::parse_files(store::write_files(*list), "fuzz");
    if (!again || *again != *list) {
      std::abort();
    }
  }
  store::InUse in_use;
  store::add_names(text, in_use);
  const auto files = compose::mapped_files(text, {"/s", "/usr"});
  for (std::size_t i = 1; i < files.size(); ++i) {
    if (files[i - 1] == files[i]) {
      std::abort();
    }
  }
  return 0;
}

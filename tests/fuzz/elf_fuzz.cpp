#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "elf/image.h"
#include "elf/text.h"

// A file of any bytes is an image with parts of itself, or malformed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const int fd = memfd_create("elf_fuzz", MFD_CLOEXEC);
  if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  const auto image = goldenv::elf::read_open(fd, "fuzz");
  if (!image && image.error().code != goldenv::Errc::malformed) {
    std::abort();
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (image && !image->soname.empty() && text.find(image->soname) == std::string_view::npos) {
    std::abort();
  }
  const auto found = goldenv::elf::search(fd, "fuzz", "version ", 16, 1u << 20);
  if (found && found->size() > 17) {
    std::abort();
  }
  return 0;
}

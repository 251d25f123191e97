// Libraries: what they take from others, what they define, and for which GPUs they hold code.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "elf/gpu_code.h"
#include "elf/symbols.h"

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace goldenv;
  static const int fd = memfd_create("symbols_fuzz", MFD_CLOEXEC);
  require(ftruncate(fd, 0) == 0 && pwrite(fd, bytes, size, 0) == static_cast<ssize_t>(size));

  const std::vector<std::string> asked = {"memcpy", "goldenv_fixture_text", "_ZN2at5zerosEv"};
  const auto taken = elf::read_demands(fd, "/f.so", {""});
  require(taken || !taken.error().message.empty());
  const auto missing = elf::read_not_defined(fd, "/f.so", asked);
  require(missing || !missing.error().message.empty());
  const auto archs = elf::read_gpu_architectures(fd, "/f.so");
  require(archs || !archs.error().message.empty());
  return 0;
}

// Kernel modules: what they say of themselves, who signed them, and what they are compressed with.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "archive/decompression.h"
#include "elf/modinfo.h"
#include "elf/module_signature.h"

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace goldenv;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  static const int fd = memfd_create("modinfo_fuzz", MFD_CLOEXEC);
  require(ftruncate(fd, 0) == 0 && pwrite(fd, bytes, size, 0) == static_cast<ssize_t>(size));

  for (const auto& [name, value] : elf::parse_modinfo(text)) {
    require(!name.empty() && name.find('=') == std::string::npos &&
            value.find('\0') == std::string::npos);
  }
  if (const auto modinfo = elf::read_modinfo(fd, "fuzz"); !modinfo) {
    require(modinfo.error().code == Errc::malformed);
  }

  // A signer is a text of the signature, printable.
  const auto signature = elf::read_module_signature(fd, "fuzz");
  require(bool(signature) && (signature->is_signed || signature->signer.empty()));
  require(text.find(signature->signer) != std::string_view::npos);
  const std::string signer = elf::signer_of_pkcs7(text);
  require(text.find(signer) != std::string_view::npos && signer.size() <= 256);

  constexpr std::uint64_t kLimitBytes = 1u << 20;
  std::uint64_t out = 0;
  const auto done = archive::decompress(fd, "fuzz", kLimitBytes, [&](std::string_view piece) {
    out += piece.size();
    return Result<void>();
  });
  require(out <= kLimitBytes);
  require(bool(done) || done.error().code == Errc::malformed ||
          done.error().code == Errc::too_large);
  if (archive::compression_of(text) == archive::Compression::none && size <= kLimitBytes) {
    require(bool(done) && out == size);
  }
  return 0;
}

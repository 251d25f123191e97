#include "host/machine.h"

#include <elf.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "base/text.h"
#include "host/path.h"

namespace goldenv::host {
namespace {

/// The machine of an ELF header's first 20 bytes, or "". The room `elf` is above this one.
std::string_view machine_of_header(std::string_view bytes) {
  if (bytes.size() < 20 || !bytes.starts_with(ELFMAG)) {
    return {};
  }
  const bool big = bytes[EI_DATA] == ELFDATA2MSB;
  const bool wide = bytes[EI_CLASS] == ELFCLASS64;
  const auto low = static_cast<unsigned char>(bytes[big ? 19 : 18]);
  const auto high = static_cast<unsigned char>(bytes[big ? 18 : 19]);
  switch (high * 256 + low) {
    case EM_X86_64:
      return "x86_64";
    case EM_AARCH64:
      return "aarch64";
    case EM_PPC64:
      return big ? "ppc64" : "ppc64le";
    case EM_RISCV:
      return wide ? "riscv64" : "riscv32";
    case EM_S390:
      return wide ? "s390x" : "s390";
    case EM_386:
      return "i686";
    case EM_ARM:
      return "armv7l";
    default:
      return {};
  }
}

}  // namespace

Result<std::string> machine_of(const Host& tree) {
  static constexpr std::array<std::string_view, 5> kPrograms{
      "/bin/sh", "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/usr/bin/env",
      "/usr/lib/systemd/systemd"};
  for (const std::string_view program : kPrograms) {
    const auto header = tree.inspect(program, [](int fd) -> Result<std::string> {
      std::string bytes(20, '\0');
      const ssize_t got = pread(fd, bytes.data(), bytes.size(), 0);
      bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
      return bytes;
    });
    const std::string_view machine = header ? machine_of_header(*header) : std::string_view{};
    if (!machine.empty()) {
      return std::string(machine);
    }
  }
  const auto cpus = tree.read_file("/proc/cpuinfo");
  for (const std::string_view line : cpus ? lines(*cpus) : std::vector<std::string_view>{}) {
    if (line.starts_with("vendor_id")) {
      return std::string("x86_64");
    }
    if (line.starts_with("CPU implementer")) {
      return std::string("aarch64");
    }
  }
  return error_at(Errc::not_collected, "uname", "the source does not say of which machine it is");
}

}  // namespace goldenv::host

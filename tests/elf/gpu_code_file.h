#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace goldenv::test {

/// Code for one architecture in a fat binary, as fatbinary of CUDA 13.0 lays it out.
struct GpuCode {
  std::uint16_t kind = 2;  ///< 1: PTX, 2: machine code
  std::uint32_t number = 80;
  std::uint64_t flags = 0x11;
  std::size_t bytes = 1000;
};

template <typename Number>
void put_number(std::string& bytes, std::size_t at, Number value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

inline std::string fat_binary(const std::vector<GpuCode>& codes) {
  std::string all;
  for (const GpuCode& code : codes) {
    std::string head(64, '\0');
    put_number<std::uint16_t>(head, 0, code.kind);
    put_number<std::uint16_t>(head, 2, 0x101);
    put_number<std::uint32_t>(head, 4, 64);
    put_number<std::uint64_t>(head, 8, code.bytes);
    put_number<std::uint32_t>(head, 28, code.number);
    put_number<std::uint64_t>(head, 40, code.flags);
    all += head + std::string(code.bytes, 'c');
  }
  std::string head(16, '\0');
  put_number<std::uint32_t>(head, 0, 0xba55ed50);
  put_number<std::uint16_t>(head, 4, 1);
  put_number<std::uint16_t>(head, 6, 16);
  put_number<std::uint64_t>(head, 8, all.size());
  return head + all;
}

/// An ELF file whose one section with content is .nv_fatbin.
inline std::string gpu_code_file(const std::string& section) {
  std::string bytes(64, '\0');
  bytes.replace(0, 4, ELFMAG);
  bytes[4] = ELFCLASS64;
  bytes[5] = ELFDATA2LSB;
  bytes[6] = EV_CURRENT;
  const std::size_t begin = bytes.size();
  bytes += section;
  bytes.resize((bytes.size() + 7) / 8 * 8);
  const std::size_t names = bytes.size();
  bytes += std::string_view("\0.nv_fatbin\0.shstrtab\0\0\0", 24);
  const std::size_t table = bytes.size();
  bytes.append(3 * sizeof(Elf64_Shdr), '\0');
  Elf64_Shdr header{};
  header.sh_name = 1;
  header.sh_type = SHT_PROGBITS;
  header.sh_offset = begin;
  header.sh_size = section.size();
  header.sh_addralign = 8;
  std::memcpy(bytes.data() + table + sizeof header, &header, sizeof header);
  header.sh_name = 12;
  header.sh_type = SHT_STRTAB;
  header.sh_offset = names;
  header.sh_size = 22;
  header.sh_addralign = 1;
  std::memcpy(bytes.data() + table + 2 * sizeof header, &header, sizeof header);
  Elf64_Ehdr elf{};
  std::memcpy(&elf, bytes.data(), sizeof elf);
  elf.e_type = ET_DYN;
  elf.e_machine = EM_X86_64;
  elf.e_version = EV_CURRENT;
  elf.e_ehsize = sizeof elf;
  elf.e_shoff = table;
  elf.e_shentsize = sizeof header;
  elf.e_shnum = 3;
  elf.e_shstrndx = 2;
  std::memcpy(bytes.data(), &elf, sizeof elf);
  return bytes;
}

}  // namespace goldenv::test

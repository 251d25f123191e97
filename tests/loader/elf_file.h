#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace goldenv::test {

/// What a made shared object says of itself.
struct SharedObject {
  std::string soname = {};
  std::vector<std::string> needed = {};
  std::string rpath = {};
  std::string runpath = {};
  std::uint16_t machine = EM_X86_64;
  std::uint64_t flags_1 = 0;  ///< DF_1_NODEFLIB
};

/// The bytes of a 64-bit shared object with nothing in it but its dynamic section, found by program
/// headers and by section headers; glibc's loader maps it and lists what it needs.
inline std::string elf_file(const SharedObject& object) {
  std::string strings(1, '\0');
  const auto add = [&strings](const std::string& text) {
    const std::uint64_t at = strings.size();
    strings += text;
    strings += '\0';
    return at;
  };
  std::vector<Elf64_Dyn> dynamic;
  const auto entry = [&dynamic](std::int64_t tag, std::uint64_t value) {
    Elf64_Dyn one{};
    one.d_tag = tag;
    one.d_un.d_val = value;
    dynamic.push_back(one);
  };
  for (const std::string& name : object.needed) {
    entry(DT_NEEDED, add(name));
  }
  if (!object.soname.empty()) {
    entry(DT_SONAME, add(object.soname));
  }
  if (!object.rpath.empty()) {
    entry(DT_RPATH, add(object.rpath));
  }
  if (!object.runpath.empty()) {
    entry(DT_RUNPATH, add(object.runpath));
  }
  if (object.flags_1 != 0) {
    entry(DT_FLAGS_1, object.flags_1);
  }
  const std::string names("\0.dynstr\0.dynamic\0.shstrtab\0", 28);

  // Header, program headers, one null symbol, dynamic section, strings, section names, sections.
  const std::uint64_t symbols_at = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
  const std::uint64_t dynamic_at = symbols_at + sizeof(Elf64_Sym);
  const std::uint64_t dynamic_size = (dynamic.size() + 5) * sizeof(Elf64_Dyn);
  const std::uint64_t strings_at = dynamic_at + dynamic_size;
  const std::uint64_t names_at = strings_at + strings.size();
  const std::uint64_t sections_at = (names_at + names.size() + 7) / 8 * 8;
  const std::uint64_t size = sections_at + 4 * sizeof(Elf64_Shdr);
  entry(DT_STRTAB, strings_at);
  entry(DT_STRSZ, strings.size());
  entry(DT_SYMTAB, symbols_at);
  entry(DT_SYMENT, sizeof(Elf64_Sym));
  entry(DT_NULL, 0);

  std::string bytes(size, '\0');
  const auto put = [&bytes](std::uint64_t at, const void* from, std::size_t length) {
    std::memcpy(bytes.data() + at, from, length);
  };
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = object.machine;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_shoff = sections_at;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 3;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  header.e_shstrndx = 3;
  put(0, &header, sizeof header);

  Elf64_Phdr segments[3] = {};
  segments[0].p_type = PT_LOAD;
  segments[0].p_flags = PF_R | PF_W;
  segments[0].p_filesz = segments[0].p_memsz = size;
  segments[0].p_align = 0x1000;
  segments[1].p_type = PT_DYNAMIC;
  segments[1].p_flags = PF_R | PF_W;
  segments[1].p_offset = segments[1].p_vaddr = segments[1].p_paddr = dynamic_at;
  segments[1].p_filesz = segments[1].p_memsz = dynamic_size;
  segments[1].p_align = 8;
  segments[2].p_type = PT_GNU_STACK;
  segments[2].p_flags = PF_R | PF_W;
  segments[2].p_align = 16;
  put(header.e_phoff, segments, sizeof segments);
  put(dynamic_at, dynamic.data(), dynamic_size);
  put(strings_at, strings.data(), strings.size());
  put(names_at, names.data(), names.size());

  Elf64_Shdr sections[4] = {};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_flags = SHF_ALLOC;
  sections[1].sh_addr = sections[1].sh_offset = strings_at;
  sections[1].sh_size = strings.size();
  sections[1].sh_addralign = 1;
  sections[2].sh_name = 9;
  sections[2].sh_type = SHT_DYNAMIC;
  sections[2].sh_flags = SHF_ALLOC | SHF_WRITE;
  sections[2].sh_addr = sections[2].sh_offset = dynamic_at;
  sections[2].sh_size = dynamic_size;
  sections[2].sh_link = 1;
  sections[2].sh_addralign = 8;
  sections[2].sh_entsize = sizeof(Elf64_Dyn);
  sections[3].sh_name = 18;
  sections[3].sh_type = SHT_STRTAB;
  sections[3].sh_offset = names_at;
  sections[3].sh_size = names.size();
  sections[3].sh_addralign = 1;
  put(sections_at, sections, sizeof sections);
  return bytes;
}

}  // namespace goldenv::test

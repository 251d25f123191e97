#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goldenv::test {

/// What library() puts into the file.
struct LibraryParts {
  std::string rpath;
  std::string runpath = "$ORIGIN:$ORIGIN/../lib:";
  std::string rodata = "padding";
  bool big_endian = false;
  bool section_headers = true;
  std::uint16_t version_count = 3;  ///< as stated; three are there
};

/// A small shared library, byte by byte: one loaded segment over the whole file at address 0x10000,
/// a build-id, a dynamic section, symbol versions, a .rodata section.
class LibraryBuilder {
 public:
  explicit LibraryBuilder(LibraryParts parts) : parts_(std::move(parts)) {}

  std::string build() {
    bytes_.assign(sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr), '\0');
    const auto [note, note_end] = add_note();
    const auto versions = add_versions();
    align();
    const std::size_t dynamic = bytes_.size();
    const std::size_t entries =
        7u + (parts_.runpath.empty() ? 0u : 1u) + (parts_.rpath.empty() ? 0u : 1u);
    const std::size_t strings = dynamic + (entries + 1) * 16;
    if (!parts_.rpath.empty()) entry(DT_RPATH, name(parts_.rpath));
    if (!parts_.runpath.empty()) entry(DT_RUNPATH, name(parts_.runpath));
    entry(DT_NEEDED, name("libb.so.2"));
    entry(DT_NEEDED, name("liba.so.1"));
    entry(DT_SONAME, name("libtest.so.1"));
    entry(DT_STRTAB, kBase + strings);
    entry(DT_STRSZ, strings_.size());
    entry(DT_VERDEF, kBase + versions);
    entry(DT_VERDEFNUM, parts_.version_count);
    const std::size_t dynamic_bytes = bytes_.size() + 16 - dynamic;
    entry(DT_NULL, 0);
    bytes_ += strings_;
    const std::size_t rodata = bytes_.size();
    bytes_ += parts_.rodata;
    const std::size_t names = bytes_.size();
    bytes_ += std::string_view("\0.rodata\0.shstrtab\0", 19);
    align();
    const std::size_t sections = bytes_.size();
    if (parts_.section_headers) {
      bytes_.append(64, '\0');
      section(1, SHT_PROGBITS, rodata, parts_.rodata.size());
      section(9, SHT_STRTAB, names, 19);
    }
    std::size_t at = 0;
    const auto put = [&](std::uint64_t value, int size) {
      set(at, value, size);
      at += static_cast<std::size_t>(size);
    };
    bytes_.replace(0, 4, ELFMAG);
    bytes_[4] = ELFCLASS64;
    bytes_[5] = parts_.big_endian ? ELFDATA2MSB : ELFDATA2LSB;
    bytes_[6] = EV_CURRENT;
    at = 16;
    put(ET_DYN, 2), put(EM_X86_64, 2), put(EV_CURRENT, 4), put(0, 8), put(64, 8);
    put(parts_.section_headers ? sections : 0, 8), put(0, 4), put(64, 2), put(56, 2), put(3, 2);
    put(64, 2), put(parts_.section_headers ? 3 : 0, 2), put(parts_.section_headers ? 2 : 0, 2);
    segment(0, PT_LOAD, 0, bytes_.size());
    segment(1, PT_NOTE, note, note_end - note);
    segment(2, PT_DYNAMIC, dynamic, dynamic_bytes);
    return bytes_;
  }

 private:
  static constexpr std::uint64_t kBase = 0x10000;

  void set(std::size_t at, std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) {
      const int shift = 8 * (parts_.big_endian ? size - 1 - i : i);
      bytes_[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> shift);
    }
  }
  void add(std::uint64_t value, int size) {
    bytes_.append(static_cast<std::size_t>(size), '\0');
    set(bytes_.size() - static_cast<std::size_t>(size), value, size);
  }
  void align() { bytes_.resize((bytes_.size() + 7) / 8 * 8); }
  void entry(std::uint64_t tag, std::uint64_t value) { add(tag, 8), add(value, 8); }
  std::uint64_t name(const std::string& text) {
    const std::uint64_t at = strings_.size();
    strings_ += text;
    strings_ += '\0';
    return at;
  }
  void segment(std::size_t index, std::uint64_t type, std::uint64_t offset, std::uint64_t size) {
    const std::size_t at = 64 + 56 * index;
    set(at, type, 4), set(at + 4, PF_R, 4), set(at + 8, offset, 8), set(at + 16, kBase + offset, 8);
    set(at + 24, kBase + offset, 8), set(at + 32, size, 8), set(at + 40, size, 8);
    set(at + 48, 4, 8);
  }
  void section(std::uint64_t name, std::uint64_t type, std::uint64_t offset, std::uint64_t size) {
    add(name, 4), add(type, 4), add(SHF_ALLOC, 8), add(0, 8), add(offset, 8), add(size, 8);
    add(0, 4), add(0, 4), add(1, 8), add(0, 8);
  }
  std::pair<std::size_t, std::size_t> add_note() {
    align();
    const std::size_t begin = bytes_.size();
    add(4, 4), add(8, 4), add(1, 4);  // another note of GNU's before it
    bytes_ += std::string_view("GNU\0 8 bytes", 12);
    add(4, 4), add(20, 4), add(NT_GNU_BUILD_ID, 4);
    bytes_ += std::string_view("GNU\0", 4);
    for (int i = 0; i < 20; ++i) add(static_cast<std::uint64_t>(i % 16 * 17), 1);
    return {begin, bytes_.size()};
  }
  /// The file's own name, TEST_1.0, and TEST_1.1 with TEST_1.0 as its parent.
  std::size_t add_versions() {
    align();
    const std::size_t begin = bytes_.size();
    const std::uint64_t own = name("libtest.so.1");
    const std::uint64_t first = name("TEST_1.0");
    const std::uint64_t second = name("TEST_1.1");
    const auto definition = [&](int flags, int index, int count, std::uint64_t next) {
      add(1, 2), add(static_cast<std::uint64_t>(flags), 2);
      add(static_cast<std::uint64_t>(index), 2), add(static_cast<std::uint64_t>(count), 2);
      add(0, 4), add(20, 4), add(next, 4);
    };
    definition(VER_FLG_BASE, 1, 1, 28), add(own, 4), add(0, 4);
    definition(0, 2, 1, 28), add(first, 4), add(0, 4);
    definition(0, 3, 2, 0), add(second, 4), add(8, 4), add(first, 4), add(0, 4);
    return begin;
  }

  LibraryParts parts_;
  std::string bytes_;
  std::string strings_ = std::string(1, '\0');
};

inline std::string library(const LibraryParts& parts = {}) { return LibraryBuilder(parts).build(); }

}  // namespace goldenv::test

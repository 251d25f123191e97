#pragma once

#include <gelf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace goldenv::elf {

/// A part of a file.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

/// An ELF file open for reading. Every offset and size that the file states is checked against
/// its true size before it is used.
class File {
 public:
  /// Errors: malformed, unreadable.
  static Result<File> open(int fd, std::string_view path);

  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&& other) noexcept;
  File& operator=(File&&) = delete;
  ~File();

  [[nodiscard]] const GElf_Ehdr& header() const { return header_; }
  [[nodiscard]] std::uint64_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] const std::vector<GElf_Phdr>& segments() const { return segments_; }

  struct Section {
    std::string name;
    GElf_Shdr header{};
  };
  /// None where there are no section headers. Errors: malformed.
  [[nodiscard]] Result<std::vector<Section>> sections() const;

  /// Where the bytes at an address of a loaded segment lie, up to the end of that segment's bytes.
  [[nodiscard]] std::optional<Extent> at_address(std::uint64_t address) const;
  /// The bytes of a part in libelf's form of `type`, owned by this File; nullptr where they lie
  /// outside the file or are more than 1 MiB.
  [[nodiscard]] Elf_Data* data(const Extent& extent, Elf_Type type) const;
  /// The text at an offset up to its NUL. Errors: malformed (outside the part, no NUL in 4 KiB).
  [[nodiscard]] Result<std::string> text(const Extent& table, std::uint64_t offset) const;
  /// Reads up to `size` bytes; fewer at the end of the file or at an I/O error.
  std::size_t read_at(std::uint64_t offset, char* out, std::size_t size) const;

  [[nodiscard]] Error malformed(std::string_view what) const;

 private:
  File(int fd, std::string_view path) : fd_(fd), path_(path) {}

  /// The text at a place of the file if it ends within the next few KiB and `most` bytes. The names
  /// of a library stand close together: one read serves most of them.
  [[nodiscard]] std::optional<std::string> near_text(std::uint64_t at, std::uint64_t most) const;

  int fd_;
  std::string path_;
  mutable std::string window_;  ///< bytes of the file
  mutable std::uint64_t window_at_ = 0;
  std::uint64_t size_bytes_ = 0;
  Elf* elf_ = nullptr;
  GElf_Ehdr header_{};
  std::vector<GElf_Phdr> segments_;
};

}  // namespace goldenv::elf

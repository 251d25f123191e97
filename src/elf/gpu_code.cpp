#include "elf/gpu_code.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "base/text.h"
#include "elf/file.h"

namespace goldenv::elf {
namespace {

// A fat binary: magic, version (2 bytes), size of this head (2), bytes that follow (8). Then for
// each architecture: kind (2), version (2), size of this head (4), bytes that follow it (8), and
// at 28 the number of the architecture, at 40 flags. Not documented by NVIDIA; source: what
// fatbinary of CUDA 13.0 writes for sm_80, sm_90, sm_90a, sm_100a, sm_100f and PTX, compared.
constexpr std::uint32_t kMagic = 0xba55ed50;
constexpr std::size_t kHead = 16;
constexpr std::size_t kEntryHead = 48;
constexpr std::uint16_t kPtx = 1;
constexpr std::uint16_t kElf = 2;
constexpr std::uint64_t kChipAlone = 0x100000;
constexpr std::uint64_t kFamily = 0x200000;

constexpr std::size_t kWindow = 512;
/// libtorch_cuda holds some ten thousand.
constexpr std::size_t kMostReads = 2'000'000;

/// Bytes of a section, read in small pieces.
class Window {
 public:
  Window(const File& file, const Extent& part) : file_(file), part_(part) {}

  /// `size` bytes at an offset in the section; nullptr where they lie outside it.
  const char* at(std::uint64_t offset, std::size_t size) {
    if (offset > part_.size_bytes || part_.size_bytes - offset < size) {
      return nullptr;
    }
    if (offset < begin_ || offset + size > begin_ + bytes_.size()) {
      ++reads_;
      bytes_.resize(std::min<std::uint64_t>(kWindow, part_.size_bytes - offset));
      bytes_.resize(file_.read_at(part_.offset + offset, bytes_.data(), bytes_.size()));
      begin_ = offset;
      if (bytes_.size() < size) {
        return nullptr;
      }
    }
    return bytes_.data() + (offset - begin_);
  }
  [[nodiscard]] std::size_t reads() const { return reads_; }

 private:
  const File& file_;
  Extent part_;
  std::string bytes_;
  std::uint64_t begin_ = 0;
  std::size_t reads_ = 0;
};

template <typename Number>
Number number_at(const char* bytes, std::size_t at) {
  Number number{};
  std::memcpy(&number, bytes + at, sizeof number);  // such files are little-endian alone
  return number;
}

std::optional<std::string> architecture(std::uint16_t kind, std::uint32_t number,
                                        std::uint64_t flags) {
  if ((kind != kPtx && kind != kElf) || number == 0 || number > 999) {
    return std::nullopt;  // of a kind that is not known: link-time code, and what is to come
  }
  std::string name = (kind == kPtx ? "compute_" : "sm_") + std::to_string(number);
  if ((flags & kChipAlone) != 0) {
    name += 'a';
  } else if ((flags & kFamily) != 0) {
    name += 'f';
  }
  return name;
}

Result<bool> walk(const File& file, const Extent& part, std::set<std::string>& found) {
  Window window(file, part);
  std::uint64_t at = 0;
  while (at + kHead <= part.size_bytes) {
    if (window.reads() > kMostReads) {
      return Error{Errc::too_large, "more GPU code than any library holds", {}};
    }
    const char* head = window.at(at, kHead);
    if (head == nullptr) {
      return file.malformed("is cut short: its GPU code lies outside it");
    }
    if (number_at<std::uint32_t>(head, 0) != kMagic) {
      at += 8;  // they are aligned, and zeros fill the gaps
      continue;
    }
    const std::uint64_t begin = at + number_at<std::uint16_t>(head, 6);
    const std::uint64_t size = number_at<std::uint64_t>(head, 8);
    if (begin < at + kHead || begin > part.size_bytes || size > part.size_bytes - begin) {
      return file.malformed("holds a fat binary that leads outside it");
    }
    const std::uint64_t end = begin + size;
    std::uint64_t entry = begin;
    while (entry + kEntryHead <= end) {
      const char* bytes = window.at(entry, kEntryHead);
      if (bytes == nullptr || window.reads() > kMostReads) {
        return file.malformed("is cut short: its GPU code lies outside it");
      }
      const std::uint64_t own = number_at<std::uint32_t>(bytes, 4);
      const std::uint64_t behind = number_at<std::uint64_t>(bytes, 8);
      if (own < kEntryHead || own > end - entry || behind > end - entry - own) {
        return file.malformed("holds a fat binary that leads outside it");
      }
      if (auto name =
              architecture(number_at<std::uint16_t>(bytes, 0), number_at<std::uint32_t>(bytes, 28),
                           number_at<std::uint64_t>(bytes, 40))) {
        found.insert(*std::move(name));
      }
      entry += own + behind;
    }
    at = (end + 7) / 8 * 8;
  }
  return true;
}

}  // namespace

Result<std::string> read_gpu_architectures(int fd, std::string_view path) {
  GOLDENV_TRY(const File file, File::open(fd, path));
  GOLDENV_TRY(const std::vector<File::Section> sections, file.sections());
  std::set<std::string> found;
  for (const File::Section& section : sections) {
    const bool holds_code = section.name == ".nv_fatbin" || section.name == "__nv_relfatbin";
    if (!holds_code || section.header.sh_type == SHT_NOBITS) {
      continue;
    }
    const GElf_Shdr& header = section.header;
    if (header.sh_offset > file.size_bytes() ||
        header.sh_size > file.size_bytes() - header.sh_offset) {
      return file.malformed("is cut short: its GPU code lies outside it");
    }
    GOLDENV_TRY(const bool done, walk(file, {header.sh_offset, header.sh_size}, found));
    static_cast<void>(done);
  }
  return join({found.begin(), found.end()}, " ");
}

Result<std::set<std::string>> gpu_architectures(const host::Host& host, std::string_view path,
                                                host::Memory* memory) {
  constexpr std::string_view kQuestion = "gpu architectures 1";
  const auto learn = [&] {
    return host.ask(path, kQuestion, [&](int fd) { return read_gpu_architectures(fd, path); });
  };
  GOLDENV_TRY(const std::string answer,
              memory != nullptr ? memory->recall(host, path, kQuestion, learn) : learn());
  std::set<std::string> found;
  for (const std::string_view word : words(answer)) {
    found.emplace(word);
  }
  return found;
}

}  // namespace goldenv::elf

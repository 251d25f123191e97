#include "elf/text.h"

#include <algorithm>
#include <cstring>

#include "elf/elf.h"
#include "elf/file.h"
#include "host/memory.h"

namespace goldenv::elf {
namespace {

constexpr std::size_t kBlockBytes = 64u << 10;

/// The offset of the marker in a part of the file, which is read in blocks that overlap by one
/// byte less than the marker.
std::optional<std::uint64_t> find(const File& file, const Extent& part, std::string_view marker,
                                  std::string& block) {
  const std::size_t overlap = marker.size() - 1;
  block.resize(std::max(kBlockBytes, 2 * marker.size()));
  std::uint64_t at = part.offset;
  std::uint64_t left = part.size_bytes;
  std::size_t kept = 0;
  while (left > 0) {
    const std::size_t wanted = std::min<std::uint64_t>(block.size() - kept, left);
    const std::size_t got = file.read_at(at, block.data() + kept, wanted);
    const void* hit = memmem(block.data(), kept + got, marker.data(), marker.size());
    if (hit != nullptr) {
      return at - kept + static_cast<std::uint64_t>(static_cast<const char*>(hit) - block.data());
    }
    if (got < wanted) {
      return {};
    }
    at += got;
    left -= got;
    const std::size_t filled = kept + got;
    kept = std::min(overlap, filled);
    std::memmove(block.data(), block.data() + filled - kept, kept);
  }
  return {};
}

/// The parts that hold constants, in the order of the file.
Result<std::vector<Extent>> constants(const File& file) {
  GOLDENV_TRY(const std::vector<File::Section> sections, file.sections());
  std::vector<Extent> parts;
  if (sections.empty()) {
    parts.push_back({0, file.size_bytes()});
    return parts;
  }
  for (const File::Section& section : sections) {
    const GElf_Shdr& header = section.header;
    // .rodata, .rodata.str1.1 of object files, .lrodata of the large code model.
    const bool named = section.name.starts_with(".rodata") || section.name.starts_with(".lrodata");
    if (named && header.sh_type != SHT_NOBITS && header.sh_offset < file.size_bytes()) {
      parts.push_back(
          {header.sh_offset, std::min(header.sh_size, file.size_bytes() - header.sh_offset)});
    }
  }
  // Sections that overlap are searched once, however many a damaged file states.
  std::ranges::sort(parts, {}, &Extent::offset);
  std::vector<Extent> merged;
  for (const Extent& part : parts) {
    const std::uint64_t end = merged.empty() ? 0 : merged.back().offset + merged.back().size_bytes;
    if (!merged.empty() && part.offset < end) {
      merged.back().size_bytes =
          std::max(end, part.offset + part.size_bytes) - merged.back().offset;
    } else {
      merged.push_back(part);
    }
  }
  return merged;
}

}  // namespace

Result<std::string> search(int fd, std::string_view path, std::string_view marker,
                           std::size_t limit_bytes, std::uint64_t search_limit_bytes) {
  GOLDENV_TRY(const File file, File::open(fd, path));
  GOLDENV_TRY(const std::vector<Extent> parts, constants(file));
  std::string block;
  std::uint64_t searched = 0;
  for (const Extent& part : parts) {
    const std::uint64_t size = std::min(part.size_bytes, search_limit_bytes - searched);
    if (const auto found = find(file, {part.offset, size}, marker, block)) {
      std::string text(limit_bytes, '\0');
      text.resize(file.read_at(*found + marker.size(), text.data(), text.size()));
      const auto end = std::ranges::find_if(text, [](char c) { return c < 0x20 || c > 0x7e; });
      text.erase(end, text.end());
      return "f" + text;
    }
    searched += size;
    if (size < part.size_bytes) {
      return Error{
          Errc::too_large, std::string(path) + ": nothing found in its first GiB of constants", {}};
    }
  }
  return std::string();
}

Result<std::optional<std::string>> text_after(const host::Host& host, std::string_view path,
                                              std::string_view marker, std::size_t limit_bytes,
                                              host::Memory* memory) {
  if (marker.empty()) {
    return std::optional<std::string>();
  }
  const std::string question =
      "text " + std::to_string(limit_bytes) + " after " + std::string(marker);
  const auto learn = [&] {
    return host.ask(path, question, [&](int fd) {
      return search(fd, path, marker, limit_bytes, kSearchLimitBytes);
    });
  };
  GOLDENV_TRY(const std::string answer,
              memory != nullptr ? memory->recall(host, path, question, learn) : learn());
  return answer.empty() ? std::nullopt : std::optional(answer.substr(1));
}

}  // namespace goldenv::elf

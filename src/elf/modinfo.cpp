#include "elf/modinfo.h"

#include <algorithm>

#include "elf/file.h"

namespace goldenv::elf {
namespace {

// mlx5_core, with an alias for each device, has 20 KiB.
constexpr std::uint64_t kSectionLimitBytes = 1u << 20;

}  // namespace

Modinfo parse_modinfo(std::string_view section) {
  Modinfo modinfo;
  while (!section.empty()) {
    const std::size_t end = std::min(section.find('\0'), section.size());
    const std::string_view text = section.substr(0, end);
    section.remove_prefix(std::min(end + 1, section.size()));
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && equals > 0) {
      modinfo.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return modinfo;
}

Result<Modinfo> read_modinfo(int fd, std::string_view path) {
  GOLDENV_TRY(const File file, File::open(fd, path));
  GOLDENV_TRY(const std::vector<File::Section> sections, file.sections());
  const auto section = std::ranges::find_if(sections, [](const File::Section& candidate) {
    return candidate.name == ".modinfo" && candidate.header.sh_type != SHT_NOBITS;
  });
  if (section == sections.end()) {
    return file.malformed("is no kernel module: it has no .modinfo");
  }
  if (section->header.sh_size > kSectionLimitBytes) {
    return file.malformed("its .modinfo is larger than that of any module");
  }
  std::string bytes(section->header.sh_size, '\0');
  if (file.read_at(section->header.sh_offset, bytes.data(), bytes.size()) != bytes.size()) {
    return file.malformed("is cut short: its .modinfo lies outside it");
  }
  return parse_modinfo(bytes);
}

std::optional<std::string_view> value_of(const Modinfo& modinfo, std::string_view name) {
  const auto found = std::ranges::find(modinfo, name, &Modinfo::value_type::first);
  return found == modinfo.end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

}  // namespace goldenv::elf

#include "probe/triplet_folders.h"

#include <string_view>

#include "probe/presence.h"

namespace goldenv::probe {

std::vector<std::string> triplet_folders(const host::Host& host, const std::string& base,
                                         std::vector<Error>& unseen) {
  constexpr std::string_view kEnd = "-linux-gnu";
  if (const auto system = host.system_name()) {
    return {base + "/" + system->machine + std::string(kEnd)};
  }
  std::vector<std::string> folders;
  for (const host::DirEntry& entry : entries_or_none(host, base, unseen)) {
    const bool is_32_bit = entry.name.size() > 3 && entry.name[0] == 'i' &&
                           entry.name.compare(2, 2, "86") == 0;  // i386, i686
    if (entry.kind != host::FileStatus::Kind::file && entry.name.ends_with(kEnd) && !is_32_bit) {
      folders.push_back(base + "/" + entry.name);
    }
  }
  return folders;
}

}  // namespace goldenv::probe

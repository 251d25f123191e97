#include "offer/apt_lists.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "archive/decompression.h"

namespace goldenv::offer {
namespace {

constexpr std::uint64_t kListLimitBytes = 1ull << 30;
constexpr std::array<std::string_view, 4> kRead = {"", ".gz", ".xz", ".zst"};
constexpr std::string_view kMark = "_Packages";

}  // namespace

Result<AptLists> apt_lists(const host::Host& host) {
  AptLists lists;
  const auto folder = host.list(kListsFolder);
  if (!folder) {
    return folder.error().code == Errc::absent ? Result<AptLists>(std::move(lists))
                                               : Result<AptLists>(folder.error());
  }
  for (const host::DirEntry& entry : *folder) {
    const std::size_t at = entry.name.rfind(kMark);
    if (at == std::string::npos) {
      continue;
    }
    lists.any = true;
    const std::string ending = entry.name.substr(at + kMark.size());
    if (std::ranges::find(kRead, ending) == kRead.end()) {
      ++lists.other[ending];
    } else {
      lists.names.push_back(entry.name);
    }
  }
  return lists;
}

Result<std::string> read_list(const host::Host& host, const std::string& name,
                              const std::function<void(std::string_view piece)>& take,
                              const std::function<std::string()>& finish) {
  const std::string path = std::string(kListsFolder) + "/" + name;
  return host.inspect(path, [&](int fd) -> Result<std::string> {
    auto read = archive::decompress(fd, path, kListLimitBytes, [&](std::string_view piece) {
      take(piece);
      return Result<void>{};
    });
    if (!read) {
      return std::move(read).error();
    }
    return finish();
  });
}

}  // namespace goldenv::offer

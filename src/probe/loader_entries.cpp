// Boot loader entries, and what names and heads of images say of their release.
#include <fnmatch.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/boot_entries.h"
#include "version/rpm.h"

namespace goldenv::probe {
namespace {

Error undecided(std::string why) { return Error{Errc::malformed, std::move(why), {}}; }

bool begins_with_digit(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

}  // namespace

BootEntry parse_loader_entry(std::string_view text, const std::string& file) {
  BootEntry entry;
  entry.file = file;
  entry.id = file.substr(file.rfind('/') + 1);
  entry.id.resize(entry.id.size() - (entry.id.ends_with(".conf") ? 5 : 0));
  for (std::string_view line : lines(text)) {
    line = trim(line);
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view name = line.substr(0, end);
    const std::string value(trim(line.substr(end)));
    if (name == "linux" || name == "efi") {
      entry.image = value;
    } else if (name == "options") {
      entry.options += (entry.options.empty() ? "" : " ") + value;
    } else if (name == "version") {
      entry.version = value;
    } else if (name == "title") {
      entry.title = value;
    } else if (name == "sort-key") {
      entry.sort_key = value;
    } else if (name == "machine-id") {
      entry.machine_id = value;
    }
  }
  return entry;
}

Result<BootEntry> pick_loader_entry(const std::vector<BootEntry>& entries,
                                    std::string_view wanted) {
  if (wanted.starts_with('@')) {
    return undecided("the default is " + std::string(wanted));
  }
  std::vector<BootEntry> matching;
  for (const BootEntry& entry : entries) {
    if (entry.id.find("+0") != std::string::npos) {
      return undecided("an entry failed as often as it may: " + entry.id);
    }
    const std::string glob(wanted);
    if (fnmatch(glob.c_str(), entry.id.c_str(), 0) == 0 ||
        fnmatch(glob.c_str(), (entry.id + ".conf").c_str(), 0) == 0) {
      matching.push_back(entry);
    }
  }
  if (matching.empty()) {
    matching = entries;
  }
  if (matching.empty()) {
    return undecided("there are no boot loader entries");
  }
  // Entries with a sort key come first, by that and the machine; then the newest version.
  const auto before = [](const BootEntry& a, const BootEntry& b) {
    if (a.sort_key.empty() != b.sort_key.empty()) {
      return b.sort_key.empty();
    }
    if (!a.sort_key.empty()) {
      if (a.sort_key != b.sort_key) {
        return a.sort_key < b.sort_key;
      }
      if (a.machine_id != b.machine_id) {
        return a.machine_id < b.machine_id;
      }
      if (const auto order = version::rpm::compare_runs(a.version, b.version); order != 0) {
        return order > 0;
      }
    }
    return version::rpm::compare_runs(a.id, b.id) > 0;
  };
  const auto first = std::ranges::min_element(matching, before);
  const auto equals = std::ranges::count_if(
      matching, [&](const BootEntry& e) { return !before(*first, e) && !before(e, *first); });
  return equals == 1 ? Result<BootEntry>(*first)
                     : Result<BootEntry>(undecided("two entries stand first alike"));
}

std::string release_in_name(std::string_view image) {
  const std::size_t slash = image.rfind('/');
  const std::string_view file = image.substr(slash == std::string_view::npos ? 0 : slash + 1);
  for (const std::string_view start : {"vmlinuz-", "vmlinux-", "kernel-", "bzImage-"}) {
    if (file.starts_with(start) && begins_with_digit(file.substr(start.size()))) {
      return std::string(file.substr(start.size()));
    }
  }
  // kernel-install's layout: /<machine>/<release>/linux
  if (file == "linux" && slash != std::string_view::npos && slash > 0) {
    const std::string_view folder = image.substr(0, slash);
    const std::string_view name = folder.substr(folder.rfind('/') + 1);
    if (begins_with_digit(name) && name.find('.') != std::string_view::npos) {
      return std::string(name);
    }
  }
  return {};
}

std::string release_in_image(std::string_view head) {
  const auto byte = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(head[at]));
  };
  if (head.size() < 0x210 || head.substr(0x202, 4) != "HdrS") {
    return {};
  }
  const std::size_t offset = byte(0x20e) + byte(0x20f) * 256;
  if (offset == 0 || offset + 0x200 >= head.size()) {
    return {};
  }
  const std::string_view text = head.substr(offset + 0x200, 128);
  const std::string_view release = text.substr(0, text.find_first_of(std::string_view(" \0", 2)));
  const bool is_word = std::ranges::all_of(release, [](char c) { return c > ' ' && c < 0x7f; });
  return is_word && release.size() < 65 && begins_with_digit(release) ? std::string(release) : "";
}

}  // namespace goldenv::probe

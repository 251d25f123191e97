#include <algorithm>

#include "base/text.h"
#include "host/host.h"

namespace goldenv::host {
namespace {

/// The kernel writes blank, tab, line feed, backslash (and '#' since 5.x) as \ooo.
std::string unescape(std::string_view text) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] <= '3' && octal(text[i + 1]) &&
        octal(text[i + 2]) && octal(text[i + 3])) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

void add_options(std::string_view text, std::vector<std::string>& options) {
  for (const std::string_view option : split(text, ',')) {
    if (!option.empty()) {
      options.push_back(unescape(option));
    }
  }
}

}  // namespace

std::vector<Mount> parse_mountinfo(std::string_view text) {
  std::vector<Mount> mounts;
  for (const std::string_view line : lines(text)) {
    // "36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw,errors=continue": any number
    // of optional fields stand before the lone "-". Split at single blanks, since the source may be
    // an empty word.
    const std::vector<std::string_view> fields = split(line, ' ');
    const auto dash = std::find(
        fields.begin() + std::min<std::ptrdiff_t>(6, static_cast<std::ptrdiff_t>(fields.size())),
        fields.end(), "-");
    if (fields.end() - dash < 3 || !to_number(fields[0]) || !fields[4].starts_with('/') ||
        dash[1].empty()) {
      continue;
    }
    Mount mount{unescape(fields[4]), unescape(dash[1]), unescape(dash[2]), {}};
    add_options(fields[5], mount.options);
    if (fields.end() - dash > 3) {
      add_options(dash[3], mount.options);
    }
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path) {
  const Mount* best = nullptr;
  for (const Mount& mount : mounts) {
    const std::string_view point = mount.point;
    const bool holds = point == "/" || (path.starts_with(point) &&
                                        (path.size() == point.size() || path[point.size()] == '/'));
    if (holds && (best == nullptr || point.size() >= best->point.size())) {
      best = &mount;
    }
  }
  return best;
}

bool can_hang(std::string_view type) {
  // Network file systems, cluster file systems (their lock servers can go), what a user process
  // serves, and what is mounted at a first look. 9p and virtiofs are served by the hypervisor's
  // host, which can stall or be killed while the guest lives on.
  static constexpr std::string_view kTypes[] = {
      "9p",     "afs",   "autofs", "beegfs",   "beegfs_nodev", "ceph",      "cifs",
      "coda",   "davfs", "fuse",   "fuseblk",  "gfs2",         "glusterfs", "gpfs",
      "lustre", "ncpfs", "nfs",    "nfs4",     "ocfs2",        "orangefs",  "panfs",
      "pvfs2",  "smb3",  "smbfs",  "virtiofs", "wekafs"};
  return type.starts_with("fuse.") || std::ranges::find(kTypes, type) != std::end(kTypes);
}

}  // namespace goldenv::host

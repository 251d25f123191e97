#include "probe/platform.h"

#include <algorithm>

#include "base/text.h"
#include "probe/kernel_names.h"
#include "probe/presence.h"

namespace goldenv::probe {
namespace {

Platform find_platform(const host::Host& host) {
  Platform platform;
  std::vector<Error> names;  // of looks at what names a kind; one name decides
  std::vector<Error> files;  // of looks at files that are a sign each; two decide
  const std::string version = to_lower(text_or_none(host, "/proc/version", names, 4096));
  const std::string release = to_lower(kernel_release(host).text.value_or(""));
  // Microsoft's kernels for virtual machines on Azure do not name themselves so; WSL 2 ones do:
  // 5.15.167.4-microsoft-standard-WSL2.
  if (release.find("microsoft") != std::string::npos) {
    platform.signs.push_back("kernel release names microsoft");
  } else if (version.find("microsoft-standard") != std::string::npos) {
    platform.signs.push_back("/proc/version names microsoft-standard");
  }
  for (const std::string_view sign :
       {"/dev/dxg", "/usr/lib/wsl/lib/libcuda.so.1", "/proc/sys/fs/binfmt_misc/WSLInterop"}) {
    const auto there = is_there(host, sign);
    if (!there) {
      files.push_back(there.error());
    } else if (*there) {
      platform.signs.push_back(std::string(sign) + " exists");
    }
  }
  // One sign may be a leftover (an image made under WSL): the kernel's name decides, else two.
  if (!platform.signs.empty() &&
      (platform.signs.size() >= 2 || platform.signs.front().find("name") != std::string::npos)) {
    platform.kind = Platform::Kind::wsl2;
    return platform;
  }
  const Result<std::string> tegra = host.read_file("/etc/nv_tegra_release", 4096);
  if (tegra) {
    platform.l4t = parse_l4t(*tegra);
    platform.signs.emplace_back("/etc/nv_tegra_release exists");
    platform.kind = Platform::Kind::jetson;
  } else {
    note_unseen(tegra.error(), names);
  }
  std::erase_if(files, [](const Error& error) { return !leaves_open(error); });
  if (platform.signs.size() + files.size() >= 2) {
    names.insert(names.end(), files.begin(), files.end());
  }
  const std::string model = text_or_none(host, "/proc/device-tree/model", names, 4096);
  const auto open = std::ranges::find_if(names, leaves_open);
  if (open != names.end()) {
    platform.unseen = *open;
  }
  if (model.find("Jetson") != std::string::npos) {
    platform.signs.emplace_back("/proc/device-tree/model names Jetson");
    platform.kind = Platform::Kind::jetson;
  }
  return platform;
}

}  // namespace

const Platform& platform_of(Survey& survey) {
  return survey.shared<Platform>([&] { return find_platform(survey.host()); });
}

std::string parse_l4t(std::string_view text) {
  const auto all = lines(text);
  if (all.empty()) {
    return "";
  }
  const auto parts = words(all.front());
  std::string major;
  std::string revision;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (major.empty() && parts[i].size() > 1 && parts[i][0] == 'R' &&
        to_number(parts[i].substr(1))) {
      major = parts[i].substr(1);
    }
    if (parts[i] == "REVISION:" && i + 1 < parts.size()) {
      revision = parts[i + 1].substr(0, parts[i + 1].find(','));
    }
  }
  return major.empty() || revision.empty() ? "" : major + "." + revision;
}

}  // namespace goldenv::probe

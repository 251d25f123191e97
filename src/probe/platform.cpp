#include "probe/platform.h"

#include "base/text.h"
#include "probe/kernel_names.h"

namespace goldenv::probe {
namespace {

Platform find_platform(const host::Host& host) {
  Platform platform;
  const std::string version = to_lower(host.read_file("/proc/version", 4096).value_or(""));
  const std::string release = to_lower(kernel_release(host).text.value_or(""));
  // Microsoft's kernels for virtual machines on Azure do not name themselves so; WSL 2 ones do:
  // 5.15.167.4-microsoft-standard-WSL2.
  if (release.find("microsoft") != std::string::npos) {
    platform.signs.push_back("kernel release names microsoft");
  } else if (version.find("microsoft-standard") != std::string::npos) {
    platform.signs.push_back("/proc/version names microsoft-standard");
  }
  if (host.exists("/dev/dxg")) {
    platform.signs.emplace_back("/dev/dxg exists");
  }
  if (host.exists("/usr/lib/wsl/lib/libcuda.so.1")) {
    platform.signs.emplace_back("/usr/lib/wsl/lib/libcuda.so.1 exists");
  }
  if (host.exists("/proc/sys/fs/binfmt_misc/WSLInterop")) {
    platform.signs.emplace_back("/proc/sys/fs/binfmt_misc/WSLInterop exists");
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
  }
  const std::string model = host.read_file("/proc/device-tree/model", 4096).value_or("");
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

#include <array>

#include "findings/rule.h"

namespace goldenv::findings {
namespace {

constexpr std::string_view kModule = "module.nvidia.loaded";

struct Part {
  std::string_view key;
  std::string_view name;
  facts::Level level;
  std::string_view means;
  std::string_view remedy;
};

constexpr std::string_view kReload =
    "reboot, or stop what uses the GPUs and load the module anew (modprobe -r nvidia_uvm "
    "nvidia_drm nvidia_modeset nvidia; modprobe nvidia)";

// The parts of one driver release talk to each other by private interfaces: NVIDIA supports them at
// equal versions only. Source: NVIDIA driver README, chapter "Common Problems" (API mismatch), and
// the Fabric Manager User Guide ("must match the driver version").
constexpr std::array<Part, 4> kParts = {{
    {"driver.libcuda", "libcuda", facts::Level::must,
     "CUDA calls fail with error 803 (system has unsupported display driver / cuda driver "
     "combination) unless this libcuda is a compatibility package",
     kReload},
    {"driver.nvml", "libnvidia-ml", facts::Level::must,
     "nvidia-smi and NVML fail with \"Driver/library version mismatch\"", kReload},
    {"driver.gsp", "GSP firmware", facts::Level::must,
     "the module refuses firmware of another release, or runs on without it",
     "install the firmware of the module's release and load the module anew"},
    {"driver.fabricmanager", "fabric manager", facts::Level::must,
     "the fabric manager does not start, and CUDA fails with error 802 (system not yet "
     "initialized) on machines with NVSwitch",
     "install the fabric manager of the driver's version and restart it"},
}};

constexpr std::array<std::string_view, 7> kKeys = {
    kModule,       "driver.numbering", "driver.libcuda",       "driver.libcuda.origin",
    "driver.nvml", "driver.gsp",       "driver.fabricmanager",
};

void look(const View& view, std::vector<Finding>& found) {
  const auto module = view.text(kModule);
  // The Windows driver and its Linux part, and Tegra's, count in numbers of their own.
  if (!module || view.text("driver.numbering").value_or("linux") != "linux") {
    return;
  }
  for (const Part& part : kParts) {
    const facts::Value* value = view.value(part.key);
    if (value == nullptr || !differs(*value, *module)) {
      continue;
    }
    // Forward compatibility is a newer libcuda beside an older module on purpose.
    if (part.key == "driver.libcuda" && view.text("driver.libcuda.origin") == "forward-compat") {
      continue;
    }
    found.push_back(
        {{},
         part.level,
         std::string(part.name) + " " + facts::describe(*value) + " beside module " + *module,
         part.means,
         part.remedy,
         {{std::string(kModule), ""}, {std::string(part.key), ""}}});
  }
}

}  // namespace

extern const Rule driver_userland{"driver-userland", kKeys, look};

}  // namespace goldenv::findings

#include <algorithm>
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
constexpr std::array<Part, 5> kParts = {{
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
    {"driver.smi", "nvidia-smi", facts::Level::should,
     "its package is of another release than the module: an upgrade that was done in part",
     "install one driver release whole"},
}};

// What NVML answers may cost its deadline: that is looked at where a scan has it.
constexpr std::array<std::string_view, 10> kKeys = {
    kModule,       "driver.numbering", "driver.libcuda",     "driver.libcuda.origin",
    "driver.nvml", "driver.gsp",       "driver.gsp.on_disk", "driver.fabricmanager",
    "driver.smi",  "log.api_mismatch",
};

/// Firmware files of other releases alone: those of this one went with an upgrade.
void look_at_firmware(const View& view, const std::string& module, std::vector<Finding>& found) {
  const facts::Value* running = view.value("driver.gsp");
  const facts::Value* files = view.value("driver.gsp.on_disk");
  if (running == nullptr || files == nullptr || files->form != facts::Value::Form::set ||
      files->items.empty() || std::ranges::find(files->items, module) != files->items.end()) {
    return;
  }
  found.push_back(
      {{},
       facts::Level::should,
       "GSP firmware on disk is of " + facts::describe(*files) + ", not of module " + module,
       "the module finds no firmware when it is loaded or a GPU is reset",
       "install the firmware of the module's release, or load the module of the files'",
       {{std::string(kModule), ""}, {"driver.gsp.on_disk", ""}}});
}

/// What the driver itself says of it, where no version shows it: a container brings libraries of
/// its own.
void look_at_answers(const View& view, const std::string& module, std::vector<Finding>& found) {
  if (view.text("driver.nvml.status") == "version mismatch") {
    found.push_back({{},
                     facts::Level::must,
                     "NVML refuses module " + module + ": driver/library version mismatch",
                     "nvidia-smi and NVML fail with \"Driver/library version mismatch\"",
                     kReload,
                     {{std::string(kModule), ""}, {"driver.nvml.status", ""}}});
  }
  const facts::Value* pairs = view.value("log.api_mismatch");
  if (pairs == nullptr || pairs->form != facts::Value::Form::set) {
    return;
  }
  for (const std::string& pair : pairs->items) {
    if (pair.ends_with(" against " + module)) {
      found.push_back({{},
                       facts::Level::should,
                       "the kernel's log tells of a client of another release: " + pair,
                       "a program with libraries of that release found no GPU since the boot",
                       "find who brings them: a container, or a path in LD_LIBRARY_PATH",
                       {{std::string(kModule), ""}, {"log.api_mismatch", ""}}});
    }
  }
}

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
  look_at_firmware(view, *module, found);
  const bool is_told = std::ranges::any_of(
      found, [](const Finding& finding) { return finding.facts.back().name == "driver.nvml"; });
  if (!is_told) {
    look_at_answers(view, *module, found);
  }
}

}  // namespace

extern const Rule driver_userland{"driver-userland", kKeys, look};

}  // namespace goldenv::findings

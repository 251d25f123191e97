#include <array>

#include "findings/rule.h"

namespace goldenv::findings {
namespace {

constexpr std::string_view kLoaded = "module.nvidia.loaded";
constexpr std::string_view kOnDisk = "module.nvidia.on_disk";

/// A file of the driver, and what a machine lacks without it.
struct File {
  std::string_view name;
  std::string_view built_for;
  facts::Level level;
  std::string_view means;
};

constexpr std::array<File, 5> kFiles = {{
    {"nvidia.ko", "module.nvidia.on_disk.built_for", facts::Level::must,
     "that kernel refuses it: no GPU"},
    {"nvidia-uvm.ko", "module.nvidia_uvm.on_disk.built_for", facts::Level::must,
     "that kernel refuses it: no CUDA"},
    {"nvidia-modeset.ko", "module.nvidia_modeset.on_disk.built_for", facts::Level::should,
     "that kernel refuses it: no display on its GPUs"},
    {"nvidia-drm.ko", "module.nvidia_drm.on_disk.built_for", facts::Level::should,
     "that kernel refuses it: no GPU under /dev/dri"},
    {"nvidia-peermem.ko", "module.nvidia_peermem.on_disk.built_for", facts::Level::should,
     "that kernel refuses it: no RDMA into GPU memory by way of it"},
}};
constexpr std::array<std::string_view, 9> kKeys = {
    "kernel",
    "next_boot.kernel",
    kLoaded,
    kOnDisk,
    kFiles[0].built_for,
    kFiles[1].built_for,
    kFiles[2].built_for,
    kFiles[3].built_for,
    kFiles[4].built_for,
};

/// What stands ready for a kernel; `label` is empty for the running one.
void look_at_kernel(const View& view, const std::string& kernel, const std::string& label,
                    std::vector<Finding>& found) {
  const std::string which = label.empty() ? "the running kernel " : "the next kernel ";
  for (const File& file : kFiles) {
    const auto built_for = view.text(file.built_for, label);
    if (!built_for || *built_for == kernel) {
      continue;
    }
    found.push_back(
        {{},
         file.level,
         std::string(file.name) + " for " + which + kernel + " was built for " + *built_for,
         file.means,
         "build the module for that kernel (dkms autoinstall -k RELEASE)",
         {{label.empty() ? "kernel" : "next_boot.kernel", ""},
          {std::string(file.built_for), label}}});
    if (file.name == kFiles.front().name) {
      break;  // the others need nvidia.ko, and were built with it
    }
  }
  // Without one in memory nothing says that this machine is meant to have it.
  if (!label.empty() && view.text(kLoaded) && view.absent(kOnDisk, label)) {
    found.push_back({{},
                     facts::Level::must,
                     "no nvidia.ko for " + which + kernel,
                     "after the next boot there is no GPU",
                     "build or install the module for that kernel before rebooting",
                     {{"next_boot.kernel", ""}, {std::string(kOnDisk), label}}});
  }
}

void look(const View& view, std::vector<Finding>& found) {
  const auto kernel = view.text("kernel");
  const auto next = view.text("next_boot.kernel");
  if (kernel) {
    look_at_kernel(view, *kernel, "", found);
  }
  if (next && next != kernel) {
    look_at_kernel(view, *next, *next, found);
  }
  const auto loaded = view.text(kLoaded);
  const auto on_disk = view.text(kOnDisk);
  if (loaded && on_disk && *loaded != *on_disk) {
    found.push_back({{},
                     facts::Level::should,
                     "nvidia.ko on disk is " + *on_disk + ", in memory is " + *loaded,
                     "the driver was replaced without loading it: the next load brings the other "
                     "one, and its libraries may be in force already",
                     "load the module anew or reboot when the machine is free",
                     {{std::string(kLoaded), ""}, {std::string(kOnDisk), ""}}});
  }
}

}  // namespace

extern const Rule module_files{"module-files", kKeys, look};

}  // namespace goldenv::findings

#include <array>

#include "findings/rule.h"

namespace goldenv::findings {
namespace {

constexpr std::string_view kModule = "module.nvidia.loaded";
constexpr std::array<std::string_view, 4> kOthers = {
    "module.nvidia_drm.loaded", "module.nvidia_modeset.loaded", "module.nvidia_peermem.loaded",
    "module.nvidia_uvm.loaded"};
constexpr std::array<std::string_view, 5> kKeys = {kModule, kOthers[0], kOthers[1], kOthers[2],
                                                   kOthers[3]};

void look(const View& view, std::vector<Finding>& found) {
  const auto module = view.text(kModule);
  if (!module) {
    return;
  }
  for (const std::string_view key : kOthers) {
    const facts::Value* value = view.value(key);
    if (value == nullptr || !differs(*value, *module)) {
      continue;
    }
    const std::string_view name = key.substr(7, key.size() - 7 - 7);  // module.NAME.loaded
    found.push_back(
        {{},
         facts::Level::must,
         std::string(name) + " " + facts::describe(*value) + " beside nvidia " + *module,
         "the modules of one driver release belong together; a pair that was never "
         "tested together can hang or corrupt",
         "install one driver release whole, then load its modules anew or reboot",
         {{std::string(kModule), ""}, {std::string(key), ""}}});
  }
}

}  // namespace

extern const Rule driver_modules{"driver-modules", kKeys, look};

}  // namespace goldenv::findings

#include <array>

#include "findings/rule.h"

namespace goldenv::findings {
namespace {

constexpr std::string_view kSwitches = "nvswitch.count";
constexpr std::string_view kService = "service.nvidia-fabricmanager";
constexpr std::array<std::string_view, 2> kKeys = {kSwitches, kService};

// Source: Fabric Manager User Guide: on machines with NVSwitch the GPUs wait for it, and CUDA
// fails until it has trained the links.
void look(const View& view, std::vector<Finding>& found) {
  const auto switches = view.text(kSwitches);
  const auto state = view.text(kService);
  if (!switches || *switches == "0" || (state != "inactive" && state != "failed")) {
    return;
  }
  found.push_back(
      {{},
       facts::Level::must,
       std::string("the fabric manager ") + (*state == "failed" ? "has failed" : "does not run") +
           " on a machine with " + *switches + " NVSwitches",
       "CUDA fails with error 802 (system not yet initialized)",
       "systemctl status nvidia-fabricmanager says why; its version must be the driver's",
       {{std::string(kSwitches), ""}, {std::string(kService), ""}}});
}

}  // namespace

extern const Rule fabric_manager{"fabric-manager", kKeys, look};

}  // namespace goldenv::findings

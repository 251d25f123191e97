#include <array>

#include "findings/rule.h"

namespace goldenv::findings {
namespace {

constexpr std::string_view kNext = "next_boot.";
constexpr std::array<std::string_view, 3> kKeys = {"next_boot.driver", "driver",
                                                   "next_boot.sysctl"};

std::string_view unit_of(std::string_view name) {
  return name.starts_with("sysctl.") ? name.substr(7) : name;
}

void look(const View& view, std::vector<Finding>& found) {
  const auto driver = view.text("driver");
  const facts::Value* next = view.value("next_boot.driver");
  if (driver && next != nullptr && differs(*next, *driver)) {
    found.push_back(
        {{},
         facts::Level::should,
         "the next boot loads driver " + facts::describe(*next) + ", in memory is " + *driver,
         "the machine will not be the same after a reboot",
         "reboot when it is free, or install the driver that is meant",
         {{"driver", ""}, {"next_boot.driver", ""}}});
  }
  for (const facts::Fact& fact : view.below("next_boot.sysctl.")) {
    const auto* value = std::get_if<facts::Value>(&fact.reading);
    if (value == nullptr || !fact.key.label.empty()) {
      continue;
    }
    const std::string now_key = fact.key.name.substr(kNext.size());
    const facts::Value* now = view.value(now_key);
    if (now == nullptr || *now == *value) {
      continue;
    }
    found.push_back({{},
                     facts::Level::should,
                     std::string(unit_of(now_key)) + " is " + facts::describe(*now) +
                         ", the next boot sets " + facts::describe(*value),
                     "somebody set it by hand, or changed the file without applying it",
                     "sysctl --system applies the files; or write the value that is meant into one",
                     {{now_key, ""}, fact.key}});
  }
}

}  // namespace

extern const Rule next_boot{"next-boot", kKeys, look};

}  // namespace goldenv::findings

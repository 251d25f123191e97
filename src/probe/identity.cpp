// What tells one machine and one boot from another; recorded, and left out of comparisons by class.
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "probe/instances.h"
#include "probe/kernel_names.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

void run(Survey& survey) {
  const host::Host& host = survey.host();
  if (survey.wants("host.name")) {
    const KernelName node = node_name(host);
    survey.add(
        "host.name",
        node.text ? Reading(Value::scalar(*node.text)) : Reading(Unknown::from(node.text.error())),
        seen(node.from));
  }
  for (const auto& [key, path] : std::to_array<std::pair<std::string_view, std::string_view>>(
           {{"host.machine_id", "/etc/machine-id"},
            {"host.boot_id", "/proc/sys/kernel/random/boot_id"}})) {
    if (survey.wants(key)) {
      survey.add(key, one_line(host, path), seen(path));
    }
  }
  if (survey.wants("host.uptime")) {
    constexpr std::string_view kUptime = "/proc/uptime";
    Reading reading = one_line(host, kUptime);
    if (const auto* value = std::get_if<Value>(&reading)) {
      const auto seconds = to_number(value->text.substr(0, value->text.find_first_of(". ")));
      reading = seconds ? Reading(Value::number(*seconds))
                        : Reading(Unknown{Why::unreadable, "no number: " + value->text, ""});
    }
    survey.add("host.uptime", std::move(reading), seen(kUptime));
  }
}

constexpr auto kKeys = std::to_array<std::string_view>(
    {"host.name", "host.machine_id", "host.boot_id", "host.uptime"});

}  // namespace

extern const Probe identity{.name = "identity", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

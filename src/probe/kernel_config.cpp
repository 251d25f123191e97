// Build options of the running kernel; read only when one is asked for.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "probe/instances.h"
#include "probe/kernel_names.h"
#include "probe/kernel_text.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

struct Config {
  std::string path;
  Result<std::string> text = Error{Errc::absent, "no configuration", {}};
};

/// Debian's and Ubuntu's place, Fedora's and openSUSE's, that of the headers; the first that is
/// there.
Config find_config(const host::Host& host) {
  Config config;
  const Result<std::string> release = kernel_release(host).text;
  if (!release) {
    config.path = "uname";
    config.text = release.error();
    return config;
  }
  for (const std::string& path :
       {"/boot/config-" + *release, "/lib/modules/" + *release + "/config",
        "/usr/lib/modules/" + *release + "/config",
        "/lib/modules/" + *release + "/build/.config"}) {
    Result<std::string> text = host.read_file(path);
    if (text) {
      return {path, std::move(text)};
    }
    // A file that is there and closed to us is the answer unless a later one can be read.
    if (text.error().code != Errc::absent && config.path.empty()) {
      config = {path, std::move(text)};
    }
  }
  return config;
}

void run(Survey& survey) {
  constexpr std::string_view kCompressed = "/proc/config.gz";
  const auto names = survey.named_below("kernel.config");
  if (names.empty()) {
    return;
  }
  const host::Host& host = survey.host();
  const Config config = find_config(host);
  for (const std::string& name : names) {
    const std::string key = "kernel.config." + name;
    if (!config.text) {
      const bool compressed = config.path.empty() && host.exists(kCompressed);
      Reading reading =
          config.path.empty()
              ? Reading(Unknown{compressed ? Why::unsupported : Why::not_stated,
                                compressed ? "only the compressed /proc/config.gz is there"
                                           : "no configuration of this kernel is here",
                                ""})
              : Reading(Unknown::from(config.text.error()));
      if (auto* unknown = std::get_if<Unknown>(&reading); unknown->why == Why::denied) {
        unknown->needs = "root";
      }
      survey.add(key, std::move(reading),
                 seen(compressed ? kCompressed : std::string_view(config.path)));
      continue;
    }
    const std::string option = name.starts_with("CONFIG_") ? name : "CONFIG_" + name;
    const std::optional<ConfigLine> line = find_option(*config.text, option);
    survey.add(key,
               line && line->set ? Reading(Value::scalar(line->value)) : Reading(Absent{"not set"}),
               seen(config.path, line ? line->line : 0));
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({"kernel.config.*"});

}  // namespace

extern const Probe kernel_config{.name = "kernel_config", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

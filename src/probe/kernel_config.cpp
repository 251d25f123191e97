// Build options of the running kernel; read only when one is asked for.
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "archive/decompression.h"
#include "base/text.h"
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

constexpr std::string_view kCompressed = "/proc/config.gz";
constexpr std::size_t kLimitBytes = 4u << 20;

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

/// The kernel's own copy, unpacked; a record of the machine keeps the line that was asked for.
Result<std::string> ask_kernel(const host::Host& host, const std::string& option) {
  return host.ask(kCompressed, "option " + option, [&](int fd) -> Result<std::string> {
    std::string text;
    const Result<void> done = archive::decompress(fd, kCompressed, kLimitBytes,
                                                  [&text](std::string_view piece) -> Result<void> {
                                                    text += piece;
                                                    return {};
                                                  });
    if (!done) {
      return done.error();
    }
    if (text.find("CONFIG_") == std::string::npos) {
      return Error{Errc::unreadable, std::string(kCompressed) + " holds no options", {}};
    }
    const std::optional<ConfigLine> line = find_option(text, option);
    return line && line->set ? std::to_string(line->line) + " " + line->value : std::string();
  });
}

void add_from_kernel(Survey& survey, const std::string& key, const std::string& option,
                     const Config& config) {
  const Result<std::string> answer = ask_kernel(survey.host(), option);
  if (!answer) {
    const bool is_none = config.path.empty() && answer.error().code == Errc::absent;
    Unknown unknown =
        is_none ? Unknown{Why::not_stated, "no configuration of this kernel is here", ""}
                : Unknown::from(config.path.empty() ? answer.error() : config.text.error());
    if (unknown.why == Why::denied) {
      unknown.needs = "root";
    }
    survey.add(key, std::move(unknown),
               seen(is_none || config.path.empty() ? kCompressed : std::string_view(config.path)));
    return;
  }
  if (answer->empty()) {
    survey.add(key, Absent{"not set"}, seen(kCompressed));
    return;
  }
  const std::size_t blank = std::min(answer->find(' '), answer->size() - 1);
  const auto line = to_number(std::string_view(*answer).substr(0, blank));
  survey.add(key, Value::scalar(answer->substr(blank + 1)),
             seen(kCompressed, static_cast<std::uint32_t>(line.value_or(0))));
}

void run(Survey& survey) {
  const auto names = survey.named_below("kernel.config");
  if (names.empty()) {
    return;
  }
  const Config config = find_config(survey.host());
  for (const std::string& name : names) {
    const std::string key = "kernel.config." + name;
    const std::string option = name.starts_with("CONFIG_") ? name : "CONFIG_" + name;
    if (!config.text) {
      add_from_kernel(survey, key, option, config);
      continue;
    }
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

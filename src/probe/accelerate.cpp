// What accelerate launches with where no option says otherwise.
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/variable_names.h"
#include "probe/accelerate_config.h"
#include "probe/instances.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kFamily = "accelerate.config";

/// Every setting that was asked for by name.
void add_named(Survey& survey, const Reading& reading, const facts::Evidence& evidence) {
  for (const std::string& name : survey.named_below(kFamily)) {
    survey.add(std::string(kFamily) + "." + name, reading, evidence);
  }
}

/// HF_HOME, else XDG_CACHE_HOME/huggingface, else ~/.cache/huggingface; "" where none is known.
/// Source: accelerate's commands/config/config_args.py.
std::string cache_folder(const host::Host& host) {
  if (const std::string home = host.variable("HF_HOME").value_or(""); !home.empty()) {
    return home;
  }
  if (const std::string cache = host.variable("XDG_CACHE_HOME").value_or(""); !cache.empty()) {
    return cache + "/huggingface";
  }
  const std::string home = host.variable("HOME").value_or("");
  return home.empty() ? "" : home + "/.cache/huggingface";
}

void run(Survey& survey) {
  if (!survey.wants_below(kFamily)) {
    return;
  }
  const host::Host& host = survey.host();
  const std::string folder = cache_folder(host);
  if (!folder.starts_with('/')) {
    add_named(survey, Unknown{Why::not_collected, "the home folder is not known", ""}, {});
    return;
  }
  const std::string path = folder + "/accelerate/default_config.yaml";
  const facts::Evidence evidence = seen(survey.tilde(path));
  const Result<std::string> text = host.read_file(path, 1u << 20);
  if (!text && text.error().code != Errc::absent) {
    add_named(survey, Unknown::from(text.error()), evidence);
    return;
  }
  if (!text) {
    const auto json = host.status(folder + "/accelerate/default_config.json");
    if (json || json.error().code != Errc::absent) {
      add_named(survey,
                json ? Unknown{Why::unsupported, "default_config.json is not looked into", ""}
                     : Unknown::from(json.error()),
                evidence);
      return;
    }
  }
  add_named(survey, Absent{text ? "not set in the file" : "no such file"}, evidence);
  for (const AccelerateSetting& setting :
       text ? parse_accelerate_config(*text) : std::vector<AccelerateSetting>{}) {
    const std::string key = std::string(kFamily) + "." + setting.name;
    const facts::Evidence at = seen(survey.tilde(path), setting.line);
    Reading reading = Value::scalar(setting.value);
    if (!setting.is_readable) {
      reading = Unknown{Why::unsupported, "its form of YAML is not read", ""};
      // It may be a section.
      for (const std::string& name : survey.named_below(key)) {
        survey.add(key + "." + name, reading, at);
      }
    } else if (facts::is_secret_name(setting.name)) {
      reading = Value::scalar(std::string(facts::kMask));
    }
    survey.add(key, std::move(reading), at);
  }
  if (survey.wants(kFamily)) {
    survey.listed(kFamily);
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({"accelerate.config.**"});

}  // namespace

extern const Probe accelerate{.name = "accelerate", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

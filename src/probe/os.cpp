// The distribution, and what kind of system carries it.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "probe/instances.h"
#include "probe/os_release.h"
#include "probe/platform.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

void add_release(Survey& survey) {
  constexpr auto kFields = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"os.name", "PRETTY_NAME"}, {"os.id", "ID"}, {"os.release", "VERSION_ID"}});
  bool wanted = false;
  for (const auto& [key, field] : kFields) {
    wanted = wanted || survey.wants(key);
  }
  if (!wanted) {
    return;
  }
  std::string path = "/etc/os-release";
  Result<std::string> text = survey.host().read_file(path, 64u << 10);
  if (!text && text.error().code == Errc::absent) {
    path = "/usr/lib/os-release";
    text = survey.host().read_file(path, 64u << 10);
  }
  const auto fields = text ? parse_os_release(*text) : decltype(parse_os_release("")){};
  // Each of its fields may be left out, but hardly all of these. Source: os-release(5).
  const bool is_release = std::ranges::any_of(
      std::to_array<std::string_view>({"ID", "NAME", "PRETTY_NAME", "VERSION_ID"}),
      [&](std::string_view field) { return fields.contains(field); });
  for (const auto& [key, field] : kFields) {
    if (!text) {
      survey.add(key, facts::unread(text.error()), seen(path));
      continue;
    }
    if (!is_release) {
      survey.add(key,
                 Unknown{Why::unreadable, "it names no system: cut short, or no os-release", ""},
                 seen(path));
      continue;
    }
    // Rolling distributions have no VERSION_ID: that is an answer.
    const auto found = fields.find(field);
    survey.add(key,
               found == fields.end() ? Reading(Absent{"os-release has no " + std::string(field)})
                                     : Reading(Value::scalar(found->second)),
               seen(path));
  }
}

void add_platform(Survey& survey) {
  if (!survey.wants("host.platform")) {
    return;
  }
  const Platform& platform = platform_of(survey);
  std::string_view name = "linux";
  if (platform.kind == Platform::Kind::wsl2) {
    name = "wsl2";
  } else if (platform.kind == Platform::Kind::jetson) {
    name = "jetson";
  }
  facts::Evidence evidence = seen("/proc/version, /dev, /etc");
  evidence.notes = platform.signs;
  survey.add("host.platform",
             platform.unseen ? Reading(Unknown::from(*platform.unseen))
                             : Reading(Value::scalar(std::string(name))),
             std::move(evidence));
}

void add_jetson(Survey& survey) {
  const host::Host& host = survey.host();
  if (survey.wants("jetson.l4t")) {
    constexpr std::string_view kRelease = "/etc/nv_tegra_release";
    const Result<std::string> text = host.read_file(kRelease, 4096);
    Reading reading;
    if (!text) {
      reading = text.error().code == Errc::absent ? Reading(Absent{"no Jetson Linux"})
                                                  : Reading(Unknown::from(text.error()));
    } else if (std::string release = parse_l4t(*text); !release.empty()) {
      reading = Value::scalar(std::move(release));
    } else {
      reading = Unknown{Why::unreadable, "no release and revision in its first line", ""};
    }
    survey.add("jetson.l4t", std::move(reading), seen(kRelease, 1));
  }
  if (survey.wants("jetson.model")) {
    constexpr std::string_view kModel = "/proc/device-tree/model";
    const Result<std::string> text = host.read_file(kModel, 4096);
    Reading reading = text ? Reading(Value::scalar(text->substr(0, text->find('\0'))))
                           : facts::unread(text.error());
    const Platform& platform = platform_of(survey);
    if (platform.kind != Platform::Kind::jetson && text && platform.unseen) {
      reading = Unknown::from(*platform.unseen);
    } else if (platform.kind != Platform::Kind::jetson && text) {
      reading = Absent{"no Jetson"};
    }
    survey.add("jetson.model", std::move(reading), seen(kModel));
  }
}

void run(Survey& survey) {
  add_release(survey);
  add_platform(survey);
  add_jetson(survey);
}

constexpr auto kKeys =
    std::to_array<std::string_view>({"os.*", "host.platform", "jetson.l4t", "jetson.model"});

}  // namespace

extern const Probe os{.name = "os", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

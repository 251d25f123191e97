#include <algorithm>

#include "base/text.h"
#include "loader/loader.h"
#include "probe/instances.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

constexpr std::string_view kConfiguration = "/etc/ld.so.conf";
constexpr std::string_view kPreload = "/etc/ld.so.preload";

void add_folders(Survey& survey) {
  const auto text = survey.host().read_file(kConfiguration);
  if (!text) {
    survey.add("loader.dirs", facts::unread(text.error()), seen(kConfiguration));
    return;
  }
  loader::Configuration found = loader::configuration(survey.host());
  if (!found.unseen.empty()) {
    // A list that may lack some is no list.
    facts::Unknown unknown = facts::Unknown::from(found.unseen.front());
    if (!found.folders.empty()) {
      unknown.detail += "; named by what could be read: " + join(found.folders, ", ");
    }
    survey.add("loader.dirs", std::move(unknown), seen(kConfiguration));
    return;
  }
  survey.add("loader.dirs", facts::Value::list(std::move(found.folders)), seen(kConfiguration));
}

void add_preload(Survey& survey) {
  const auto text = survey.host().read_file(kPreload);
  if (!text) {
    survey.add("loader.preload", facts::unread(text.error()), seen(kPreload));
    return;
  }
  std::vector<std::string> libraries;
  for (const std::string_view line : lines(*text)) {
    std::string names(line.substr(0, line.find('#')));
    std::ranges::replace(names, ':', ' ');
    for (const std::string_view name : words(names)) {
      libraries.emplace_back(name);
    }
  }
  survey.add("loader.preload",
             libraries.empty() ? facts::Reading(facts::Absent{"the file names none"})
                               : facts::Value::list(std::move(libraries)),
             seen(kPreload));
}

void run(Survey& survey) {
  if (survey.wants("loader.dirs")) {
    add_folders(survey);
  }
  if (survey.wants("loader.preload")) {
    add_preload(survey);
  }
}

constexpr std::string_view kKeys[] = {"loader.dirs", "loader.preload"};

}  // namespace

extern const Probe loader_settings{.name = "loader_settings", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

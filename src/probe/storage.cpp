// File systems under the places that matter, from the mount table alone: a dead server is never
// asked.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probe/instances.h"
#include "probe/path_text.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kMountinfo = "/proc/self/mountinfo";

/// Where goldenv keeps realised components: $GOLDENV_STORE, else below the user's data folder.
std::string store_folder(const host::Host& host, const std::string& home) {
  if (auto store = host.variable("GOLDENV_STORE"); store && store->starts_with('/')) {
    return *store;
  }
  if (auto data = host.variable("XDG_DATA_HOME"); data && data->starts_with('/')) {
    return *data + "/goldenv";
  }
  return home.empty() ? "" : home + "/.local/share/goldenv";
}

/// The path without links as far as it exists; what does not exist yet will lie below what does.
std::string real_or_nearest(const host::Host& host, std::string path,
                            std::vector<std::string>& notes) {
  std::string tail;
  while (path.size() > 1) {
    const Result<std::string> real = host.real_path(path);
    if (real) {
      return (*real == "/" ? "" : *real) + tail;
    }
    if (real.error().code != Errc::absent) {
      // A dead mount does not resolve; the mount table still names it by the path as written.
      notes.push_back(real.error().message);
      return path + tail;
    }
    notes.emplace_back(path + " does not exist yet");
    tail = "/" + std::string(base_name(path)) + tail;
    path = folder_of(path);
  }
  return tail.empty() ? "/" : tail;
}

struct Place {
  Reading type;
  Reading options;
  facts::Evidence evidence;
};

Place look(const Survey& survey, const std::string& path) {
  const host::Host& host = survey.host();
  Place place{Absent{}, Absent{}, seen(kMountinfo)};
  if (host.mounts().empty()) {
    const Result<std::string> text = host.read_file(kMountinfo);
    place.type = text ? Reading(Unknown{Why::unreadable, "it lists no mount", ""})
                      : Reading(Unknown::from(text.error()));
    place.options = place.type;
    return place;
  }
  const std::string real = real_or_nearest(host, path, place.evidence.notes);
  const host::Mount* mount = host::mount_of(host.mounts(), real);
  if (mount == nullptr) {
    place.type = Unknown{Why::not_stated, "no mount holds " + survey.tilde(real), ""};
    place.options = place.type;
    return place;
  }
  place.evidence.notes.push_back(survey.tilde(real) + " is on " + survey.tilde(mount->point));
  place.type = Value::scalar(mount->type);
  place.options = Value::set(mount->options);
  return place;
}

/// The place of a role, or why it has none.
struct Role {
  std::string path;
  Reading otherwise = Absent{};
};

Role find_role(const host::Host& host, std::string_view role) {
  const Result<std::string> home = host.variable("HOME");
  const std::string home_path = home && home->starts_with('/') ? *home : "";
  const Reading no_home = home || home.error().code == Errc::absent
                              ? Reading(Absent{"no home folder is set"})
                              : Reading(Unknown::from(home.error()));
  if (role == "root") {
    return {"/", {}};
  }
  if (role == "tmp") {
    const Result<std::string> tmpdir = host.variable("TMPDIR");
    return {tmpdir && tmpdir->starts_with('/') ? *tmpdir : "/tmp", {}};
  }
  if (role == "shm") {
    return {"/dev/shm", {}};
  }
  if (role == "home") {
    return {home_path, no_home};
  }
  if (role == "store") {
    return {store_folder(host, home_path), no_home};
  }
  if (role == "workdir") {
    if (!host.live()) {
      return {"", Unknown{Why::not_live, "a tree has no working folder", ""}};
    }
    const Result<std::string> link = host.read_link("/proc/self/cwd");
    return link && link->starts_with('/')
               ? Role{*link, {}}
               : Role{"", link ? Reading(Unknown{}) : facts::unread(link.error())};
  }
  return {"", Absent{"no such role"}};
}

void run(Survey& survey) {
  for (const std::string_view role : {"root", "tmp", "home", "shm", "store", "workdir"}) {
    const std::string key = "filesystem." + std::string(role);
    if (!survey.wants(key) && !survey.wants(key + ".options")) {
      continue;
    }
    const Role found = find_role(survey.host(), role);
    if (found.path.empty()) {
      survey.add(key, found.otherwise, seen(kMountinfo));
      survey.add(key + ".options", found.otherwise, seen(kMountinfo));
      continue;
    }
    Place place = look(survey, found.path);
    survey.add(key, std::move(place.type), place.evidence);
    survey.add(key + ".options", std::move(place.options), std::move(place.evidence));
  }
  for (const std::string& label : survey.labels_of("filesystem")) {
    const std::string path = survey.untilde(label);
    if (!path.starts_with('/')) {
      survey.add("filesystem@" + label,
                 Unknown{Why::unsupported, "no absolute path, or the home folder is not known", ""},
                 seen(kMountinfo));
      continue;
    }
    Place place = look(survey, path);
    survey.add("filesystem@" + label, std::move(place.type), std::move(place.evidence));
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({"filesystem", "filesystem.**"});

}  // namespace

extern const Probe storage{.name = "storage", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

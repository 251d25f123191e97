#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/sha256.h"
#include "base/text.h"
#include "facts/variable_names.h"
#include "probe/instances.h"
#include "probe/library_in_force.h"
#include "probe/path_text.h"
#include "probe/probe.h"
#include "probe/redact.h"

namespace goldenv::probe {
namespace {

constexpr std::string_view kSystemFile = "/etc/nccl.conf";
constexpr std::array<std::string_view, 1> kNccl = {"libnccl.so.2"};

struct Setting {
  std::string value;
  std::string file;
  std::uint32_t line = 0;
};

/// What the files set, as NCCL reads them when it starts: the user's file, then the system's; a
/// variable that is set already is left alone, so the first line that names one wins. Source: NCCL,
/// src/misc/param.cc (setEnvFile, initEnv).
struct NcclSettings {
  std::map<std::string, Setting> by_name;
  std::vector<facts::Unknown> unread;  ///< a file that may set more could not be read
};

bool is_variable_name(std::string_view name) {
  return !name.empty() && (name[0] < '0' || name[0] > '9') && std::ranges::all_of(name, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

void read_settings(const host::Host& host, const std::string& path, NcclSettings& settings) {
  const auto text = host.read_file(path, 1u << 20);
  if (!text) {
    if (text.error().code != Errc::absent) {
      settings.unread.push_back(facts::Unknown::from(text.error()));
    }
    return;
  }
  std::uint32_t number = 0;
  for (const std::string_view line : lines(*text)) {
    ++number;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || line.starts_with('#')) {
      continue;
    }
    const std::string_view name = line.substr(0, equals);
    if (is_variable_name(name)) {
      settings.by_name.try_emplace(std::string(name),
                                   Setting{std::string(line.substr(equals + 1)), path, number});
    }
  }
}

NcclSettings settings_of(const host::Host& host) {
  NcclSettings settings;
  const auto named = host.variable("NCCL_CONF_FILE");
  const auto home = host.variable("HOME");
  if (named && !named->empty()) {
    read_settings(host, *named, settings);
  } else if (home && home->starts_with('/')) {
    read_settings(host, *home + "/.nccl.conf", settings);
  } else if (!home && home.error().code != Errc::absent) {
    settings.unread.push_back(facts::Unknown::from(home.error()));
  }
  read_settings(host, std::string(kSystemFile), settings);
  return settings;
}

/// A configuration file may set any variable, so others than NCCL's own are shown as their digest.
facts::Value shown(std::string_view name, const std::string& value) {
  const bool is_open = name.starts_with("NCCL_") && !facts::is_secret_name(name);
  return facts::Value::scalar(is_open ? redact(value) : "sha256:" + Sha256::of(value).hex());
}

void add_settings(Survey& survey, const NcclSettings& settings) {
  if (!survey.wants_below("nccl.conf")) {
    return;
  }
  for (const auto& [name, setting] : settings.by_name) {
    facts::Evidence evidence = seen(survey.tilde(setting.file), setting.line);
    if (survey.host().variable(name)) {
      evidence.notes.emplace_back("the environment sets it too, and wins");
    }
    survey.add("nccl.conf." + name, shown(name, setting.value), evidence);
  }
  if (settings.unread.empty()) {
    survey.listed("nccl.conf");
  }
  for (const std::string& name : survey.named_below("nccl.conf")) {
    if (settings.by_name.contains(name)) {
      continue;
    }
    if (settings.unread.empty()) {
      survey.add("nccl.conf." + name, facts::Absent{"no file of NCCL's sets it"},
                 seen(kSystemFile));
    } else {
      survey.add("nccl.conf." + name, settings.unread.front(), seen(kSystemFile));
    }
  }
}

/// The plugin that NCCL would open. NCCL_<KIND>_PLUGIN names it in full or by its last word
/// ("aws-ofi" is libnccl-net-aws-ofi.so); "none" is none. Source: NCCL, src/plugin/plugin_open.cc.
void add_plugin(Survey& survey, const NcclSettings& settings, std::string_view kind,
                std::string_view variable) {
  const std::string key = "nccl.plugin." + std::string(kind);
  if (!survey.wants(key)) {
    return;
  }
  const LibraryInForce& nccl = library_in_force(survey, "libnccl", kNccl);
  if (std::holds_alternative<facts::Unknown>(nccl.found)) {
    survey.add(key, nccl.found, nccl.evidence);
    return;
  }
  std::string named = survey.host().variable(variable).value_or("");
  std::vector<std::string> notes;
  if (!named.empty()) {
    notes.push_back(std::string(variable) + "=" + redact(named));
  } else if (const auto at = settings.by_name.find(std::string(variable));
             at != settings.by_name.end()) {
    named = at->second.value;
    notes.push_back(survey.tilde(at->second.file) + " sets " + std::string(variable) + "=" + named);
  }
  if (named == "none") {
    facts::Evidence evidence;
    evidence.notes = notes;
    survey.add(key, facts::Absent{"switched off"}, evidence);
    return;
  }
  const std::string stem = "libnccl-" + std::string(kind);
  std::vector<std::string> names;
  if (named.empty()) {
    names = {stem + ".so"};
  } else {
    names = {named, stem + "-" + named + ".so"};
  }
  std::optional<LibraryInForce> last;
  for (const std::string& name : names) {
    if (name.find('/') != std::string::npos && !name.starts_with('/')) {
      continue;  // depends on the folder that the program is started in
    }
    last = resolve_library(survey, name, nccl.loaders);
    last->evidence.notes.insert(last->evidence.notes.begin(), notes.begin(), notes.end());
    if (last->is_found()) {
      survey.add(key, facts::Value::scalar(std::string(base_name(last->real_path))),
                 last->evidence);
      return;
    }
    if (std::holds_alternative<facts::Unknown>(last->found)) {
      survey.add(key, last->found, last->evidence);
      return;
    }
  }
  survey.add(key, facts::Absent{"built-in"}, last ? last->evidence : facts::Evidence{});
}

void run(Survey& survey) {
  const NcclSettings settings = settings_of(survey.host());
  add_settings(survey, settings);
  add_plugin(survey, settings, "net", "NCCL_NET_PLUGIN");
  add_plugin(survey, settings, "tuner", "NCCL_TUNER_PLUGIN");
  add_plugin(survey, settings, "profiler", "NCCL_PROFILER_PLUGIN");
  add_plugin(survey, settings, "env", "NCCL_ENV_PLUGIN");
}

constexpr std::string_view kKeys[] = {"nccl.conf.*", "nccl.plugin.*"};

}  // namespace

extern const Probe nccl_settings{.name = "nccl_settings", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

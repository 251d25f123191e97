#include "probe/unit_state.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "probe/instances.h"
#include "probe/presence.h"
#include "probe/process_table.h"
#include "probe/unit_files.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

std::string template_of(std::string_view unit) {
  const std::size_t at = unit.find('@');
  const std::size_t dot = unit.rfind('.');
  return at == std::string_view::npos || dot == std::string_view::npos || dot < at
             ? ""
             : std::string(unit.substr(0, at + 1)) + std::string(unit.substr(dot));
}

void list_wants(const host::Host& host, const std::string& folder, SystemUnits& units) {
  const auto entries = host.list(folder);
  if (!entries) {
    if (entries.error().code != Errc::absent) {
      units.unseen.push_back(entries.error());
    }
    return;
  }
  for (const host::DirEntry& entry : *entries) {
    units.wanted.try_emplace(entry.name, folder + "/" + entry.name);
  }
}

SystemUnits list_units(const host::Host& host) {
  SystemUnits units;
  std::set<std::string> seen_folders;
  for (const std::string_view folder : system_unit_folders()) {
    const auto real = host.real_path(folder);  // /lib is /usr/lib on most systems
    if (!real) {
      if (real.error().code != Errc::absent) {
        units.unseen.push_back(real.error());
      }
      continue;
    }
    if (!seen_folders.insert(*real).second) {
      continue;
    }
    const auto entries = host.list(*real);
    if (!entries) {
      if (entries.error().code != Errc::absent) {
        units.unseen.push_back(entries.error());
      }
      continue;
    }
    units.is_systemd = true;
    for (const host::DirEntry& entry : *entries) {
      const std::string path = std::string(folder) + "/" + entry.name;
      if (entry.name.ends_with(".wants") || entry.name.ends_with(".requires")) {
        list_wants(host, path, units);
      } else if (!entry.name.ends_with(".d")) {
        units.files.try_emplace(entry.name, path);
      }
    }
  }
  return units;
}

bool is_masked(const host::Host& host, const std::string& file) {
  const auto real = host.real_path(file);
  return real && *real == "/dev/null";
}

/// The mount whose tree holds systemd's groups.
const host::Mount* group_mount(const host::Host& host) {
  const host::Mount* found = nullptr;
  for (const host::Mount& mount : host.mounts()) {
    const bool is_named = mount.type == "cgroup" &&
                          std::ranges::find(mount.options, "name=systemd") != mount.options.end();
    if (is_named) {
      return &mount;  // beside it a v2 tree can be mounted that nothing uses
    }
    if (mount.type == "cgroup2") {
      found = &mount;
    }
  }
  return found;
}

/// "system.slice/system-gpu.slice" of "system-gpu.slice". Source: systemd.slice(5).
std::string slice_path(std::string_view slice) {
  if (!slice.ends_with(".slice") || slice == "-.slice") {
    return "";
  }
  const std::string_view stem = slice.substr(0, slice.rfind('.'));
  std::string path;
  for (std::size_t dash = stem.find('-');; dash = stem.find('-', dash + 1)) {
    path += (path.empty() ? "" : "/") + std::string(stem.substr(0, dash)) + ".slice";
    if (dash == std::string_view::npos) {
      return path;
    }
  }
}

/// The group of a unit: in the slice that its files name, else in system.slice.
Result<std::string> group_of(Survey& survey, const host::Mount& mount, const std::string& unit) {
  const host::Host& host = survey.host();
  std::string folder = mount.point + "/system.slice/" + unit;
  const auto usual = host.status(folder);
  if (usual) {
    return folder;
  }
  if (usual.error().code != Errc::absent) {
    return usual.error();
  }
  std::string slice;
  for (const UnitSetting& setting : read_unit_files(host, unit, "").settings) {
    if (setting.key == "Slice") {
      slice = setting.value;
    }
  }
  if (!slice.empty()) {
    folder = mount.point + "/" + slice_path(slice) + "/" + unit;
    if (const auto other = host.status(folder); other || other.error().code != Errc::absent) {
      return other ? Result<std::string>(folder) : Result<std::string>(other.error());
    }
  }
  return Error{Errc::absent, unit + " has no control group", {}};
}

struct Members {
  bool is_populated = false;
  std::optional<Error> error;
  std::vector<std::uint32_t> pids;
};

Members members_of(const host::Host& host, const std::string& folder) {
  Members members;
  const Result<std::string> procs = host.read_file(folder + "/cgroup.procs", 1u << 20);
  if (procs) {
    for (const std::string_view line : lines(*procs)) {
      const auto pid = to_number(trim(line));
      members.is_populated = members.is_populated || pid.has_value();
      if (pid && *pid != 0 && *pid <= UINT32_MAX) {
        members.pids.push_back(static_cast<std::uint32_t>(*pid));
      }
    }
  } else if (procs.error().code != Errc::absent) {
    members.error = procs.error();
  }
  if (!members.is_populated) {
    // Of v2: also whether groups within it have processes.
    const Result<std::string> events = host.read_file(folder + "/cgroup.events", 4096);
    members.is_populated = events && events->find("populated 1") != std::string::npos;
  }
  return members;
}

}  // namespace

std::string SystemUnits::file_of(std::string_view unit) const {
  auto at = files.find(unit);
  if (at == files.end()) {
    at = files.find(template_of(unit));
  }
  return at == files.end() ? "" : at->second;
}

const SystemUnits& system_units(Survey& survey) {
  return survey.shared<SystemUnits>([&] { return list_units(survey.host()); });
}

std::optional<Reading> without_unit(const SystemUnits& units, std::string_view unit) {
  if (!units.file_of(unit).empty()) {
    return std::nullopt;
  }
  if (!units.unseen.empty()) {
    return Unknown::from(units.unseen.front());
  }
  return Absent{units.is_systemd ? "no such unit" : "no systemd"};
}

UnitEnabled unit_enabled(Survey& survey, const std::string& unit) {
  const SystemUnits& units = system_units(survey);
  const std::string file = units.file_of(unit);
  if (auto none = without_unit(units, unit)) {
    return {*std::move(none), {}};
  }
  if (is_masked(survey.host(), file)) {
    return {Value::boolean(false), seen(file, "masked")};
  }
  if (const auto link = units.wanted.find(unit); link != units.wanted.end()) {
    return {Value::boolean(true), seen(link->second)};
  }
  if (!units.unseen.empty()) {
    return {Unknown::from(units.unseen.front()), seen(file)};
  }
  return {Value::boolean(false), seen(file, "nothing wants it")};
}

UnitRunning unit_running(Survey& survey, const std::string& unit) {
  const host::Host& host = survey.host();
  const host::Mount* mount = group_mount(host);
  if (mount == nullptr) {
    const auto group = host.read_file("/proc/self/cgroup", 64u << 10);
    if (!group && group.error().code != Errc::absent) {
      return {Unknown::from(group.error()), seen("/sys/fs/cgroup")};
    }
    return {Unknown{Why::not_stated, "systemd's control groups are not mounted here", ""},
            seen("/sys/fs/cgroup")};
  }
  const Result<std::string> folder = group_of(survey, *mount, unit);
  if (!folder && folder.error().code != Errc::absent) {
    return {Unknown::from(folder.error()), seen(mount->point)};
  }
  if (!folder) {
    const auto booted = host.status("/run/systemd/system");  // sd_booted(3)
    if (!booted && booted.error().code != Errc::absent) {
      return {Unknown::from(booted.error()), seen("/run/systemd/system")};
    }
    const auto has_run = host.live() ? Result<bool>(true) : is_there(host, "/run");
    if (!booted && !has_run) {
      return {Unknown::from(has_run.error()), seen("/run")};
    }
    if (!booted && !*has_run) {
      return {Unknown{Why::not_collected, "/run was not recorded", ""}, seen("/run")};
    }
    if (!booted) {
      return {Value::scalar("inactive"), seen("/run/systemd/system", "systemd does not run here")};
    }
    return {Value::one_of({"failed", "inactive"}),
            seen(mount->point, unit + " has no control group")};
  }
  const Members members = members_of(host, *folder);
  UnitRunning running{Value::one_of({"failed", "inactive"}), seen(*folder)};
  if (members.is_populated) {
    running.reading = Value::scalar("active");
  } else if (members.error) {
    running.reading = Unknown::from(*members.error);
  }
  std::optional<std::uint64_t> least;
  for (const std::uint32_t pid : members.pids) {
    const auto start = seconds_of_start(host, pid);
    if (start && (!least || *start < *least)) {
      least = start;
      running.oldest_pid = pid;
    }
  }
  if (const auto boot = least ? boot_time(host) : std::nullopt) {
    running.started_s = *boot + *least;
  }
  return running;
}

std::optional<std::uint64_t> seconds_of_start(const host::Host& host, std::uint32_t pid) {
  const std::string text =
      host.read_file("/proc/" + std::to_string(pid) + "/stat", 64u << 10).value_or("");
  const auto stat = parse_process_stat(text);
  return stat ? std::optional(stat->start_s) : std::nullopt;
}

std::optional<std::uint64_t> boot_time(const host::Host& host) {
  const std::string text = host.read_file("/proc/stat", 4u << 20).value_or("");
  constexpr std::string_view kField = "\nbtime ";
  const std::size_t at = text.find(kField);
  if (at == std::string::npos) {
    return std::nullopt;
  }
  const std::string_view rest = std::string_view(text).substr(at + kField.size());
  return to_number(rest.substr(0, rest.find('\n')));
}

}  // namespace goldenv::probe

#include "source/unit.h"

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "base/text.h"
#include "host/process.h"
#include "probe/unit_files.h"

namespace goldenv::source {
namespace {

constexpr std::size_t kFolderLimit = 20'000;  // control groups looked through

constexpr std::string_view kSuffixes[] = {".service", ".scope", ".slice", ".socket",
                                          ".mount",   ".swap",  ".timer", ".target"};

/// A control group of a unit's name.
struct Group {
  std::string folder;
  std::optional<std::uint32_t> user;  ///< whose, below user@1000.service
};

struct Groups {
  std::vector<Group> found;
  bool is_mounted = false;
  std::optional<Error> unseen;
};

/// 1000 of "user@1000.service".
std::optional<std::uint32_t> user_of(std::string_view name) {
  constexpr std::string_view kStart = "user@";
  constexpr std::string_view kEnd = ".service";
  if (!name.starts_with(kStart) || !name.ends_with(kEnd)) {
    return std::nullopt;
  }
  name.remove_prefix(kStart.size());
  name.remove_suffix(kEnd.size());
  const auto number = to_number(name);
  return number && *number <= UINT32_MAX ? std::optional(static_cast<std::uint32_t>(*number))
                                         : std::nullopt;
}

void search(const host::Host& host, const std::string& top, const std::string& unit,
            Groups& groups) {
  std::deque<Group> rest{{top, std::nullopt}};
  std::size_t looked = 0;
  while (!rest.empty() && ++looked <= kFolderLimit) {
    const Group group = std::move(rest.front());
    rest.pop_front();
    const auto entries = host.list(group.folder);
    if (!entries) {
      if (entries.error().code != Errc::absent) {
        groups.unseen = entries.error();
      }
      continue;
    }
    for (const host::DirEntry& entry : *entries) {
      if (entry.kind != host::FileStatus::Kind::folder) {
        continue;
      }
      Group inner{group.folder + "/" + entry.name, group.user};
      // A name that could be a file of the kernel's has '_' before it: systemd's cg_escape().
      if (entry.name == unit || entry.name == "_" + unit) {
        groups.found.push_back(std::move(inner));
        continue;
      }
      if (const auto user = user_of(entry.name)) {
        inner.user = user;
      }
      rest.push_back(std::move(inner));
    }
  }
}

Groups groups_of(const host::Host& host, const std::string& unit) {
  Groups groups;
  for (const std::string_view type : {"cgroup", "cgroup2"}) {
    for (const host::Mount& mount : host.mounts()) {
      const bool is_systemds =
          type == "cgroup2" ||
          std::ranges::find(mount.options, "name=systemd") != mount.options.end();
      if (mount.type == type && is_systemds && groups.found.empty()) {
        groups.is_mounted = true;
        search(host, mount.point, unit, groups);
      }
    }
  }
  return groups;
}

/// The processes of a group; where it has none itself, of the groups in it.
std::vector<std::uint32_t> processes_of(const host::Host& host, const std::string& folder,
                                        std::optional<Error>& unseen) {
  std::vector<std::uint32_t> pids;
  std::deque<std::string> rest{folder};
  std::size_t looked = 0;
  while (!rest.empty() && ++looked <= kFolderLimit) {
    const std::string at = std::move(rest.front());
    rest.pop_front();
    const Result<std::string> text = host.read_file(at + "/cgroup.procs");
    if (!text && text.error().code != Errc::absent) {
      unseen = text.error();
    }
    for (const std::string_view line : text ? lines(*text) : std::vector<std::string_view>{}) {
      const auto pid = to_number(trim(line));
      if (pid && *pid != 0 && *pid <= UINT32_MAX) {  // 0: of another pid namespace
        pids.push_back(static_cast<std::uint32_t>(*pid));
      }
    }
    if (at == folder && !pids.empty()) {
      break;
    }
    const auto entries = host.list(at);
    for (const host::DirEntry& entry : entries ? *entries : std::vector<host::DirEntry>{}) {
      if (entry.kind == host::FileStatus::Kind::folder) {
        rest.push_back(at + "/" + entry.name);
      }
    }
  }
  return pids;
}

/// Field 22 of /proc/PID/stat, counted behind the name, which may hold anything.
std::optional<std::uint64_t> start_of(const host::Host& host, std::uint32_t pid) {
  const std::string text =
      host.read_file("/proc/" + std::to_string(pid) + "/stat", 64u << 10).value_or("");
  const std::size_t close = text.rfind(')');
  if (close == std::string::npos) {
    return std::nullopt;
  }
  const std::string rest = text.substr(close + 1);
  const auto fields = words(rest);
  return fields.size() > 19 ? to_number(fields[19]) : std::nullopt;
}

/// Format: passwd(5).
std::string home_of(const host::Host& host, std::uint32_t user) {
  const Result<std::string> text = host.read_file("/etc/passwd");
  for (const std::string_view line : text ? lines(*text) : std::vector<std::string_view>{}) {
    const auto fields = split(line, ':');
    if (fields.size() >= 7 && to_number(fields[2]) == user) {
      return std::string(fields[5]);
    }
  }
  return "/";  // as systemd takes it for a user that nothing knows
}

std::optional<std::uint32_t> by_pid_file(const host::Host& host, const probe::UnitFiles& files,
                                         const std::vector<std::uint32_t>& pids) {
  std::string path;
  for (const probe::UnitSetting& setting : files.settings) {
    if (setting.key == "PIDFile") {
      path = setting.value.starts_with('/') ? setting.value : "/run/" + setting.value;
    }
  }
  const std::string text = path.empty() ? "" : host.read_file(path, 4096).value_or("");
  const auto pid = to_number(trim(text));
  const auto at = pid ? std::ranges::find(pids, *pid) : pids.end();
  return at == pids.end() ? std::nullopt : std::optional(*at);
}

void choose_process(const host::Host& host, const probe::UnitFiles& files, const Group& group,
                    UnitProcess& process) {
  std::optional<Error> unseen;
  const std::vector<std::uint32_t> pids = processes_of(host, group.folder, unseen);
  std::optional<std::uint64_t> least;
  for (const std::uint32_t pid : pids) {
    const auto start = start_of(host, pid);
    if (start && (!least || *start < *least || (*start == *least && pid < process.pid))) {
      least = start;
      process.pid = pid;
    }
  }
  if (const auto pid = by_pid_file(host, files, pids)) {
    process.pid = *pid;
    process.notes.emplace_back("the process that the unit's PIDFile= names");
  } else if (process.pid != 0 && pids.size() > 1) {
    process.notes.push_back("the oldest of the " + std::to_string(pids.size()) + " processes in " +
                            group.folder);
  } else if (process.pid != 0) {
    process.notes.push_back("the process in " + group.folder);
  }
  if (process.pid == 0) {
    process.why_none = unseen ? "whether it runs is not known: " + unseen->message
                              : "is not running: no process in " + group.folder;
  }
}

}  // namespace

Result<std::string> unit_name(std::string_view word) {
  const bool is_name = !word.empty() && word.size() < 256 && word != "." && word != ".." &&
                       std::ranges::all_of(word, [](char c) {
                         return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                (c >= '0' && c <= '9') ||
                                std::string_view(":-_.\\@").find(c) != std::string_view::npos;
                       });
  if (!is_name) {
    return Error{
        Errc::usage, "unit: needs the name of a unit: unit:jupyter, unit:slurmd.service", {}};
  }
  const bool has_suffix = std::ranges::any_of(
      kSuffixes, [&](std::string_view suffix) { return word.ends_with(suffix); });
  return std::string(word) + (has_suffix ? "" : ".service");
}

Result<UnitProcess> process_of_unit(const host::Host& host, const std::string& unit,
                                    std::uint32_t user) {
  Groups groups = groups_of(host, unit);
  UnitProcess process;
  const auto rank = [&](const Group& group) {
    return !group.user ? 0 : *group.user == user ? 1 : 2;
  };
  std::ranges::stable_sort(groups.found, {}, rank);
  if (!groups.found.empty()) {
    const Group& group = groups.found.front();
    if (groups.found.size() > 1 && rank(group) == 2) {
      return Error{Errc::usage,
                   "several users run " + unit + ": " + groups.found[0].folder + " and " +
                       groups.found[1].folder + "; name the process, pid:N",
                   {}};
    }
    process.is_user_unit = group.user.has_value();
    process.home = group.user ? home_of(host, *group.user) : "";
    choose_process(host, probe::read_unit_files(host, unit, process.home), group, process);
    return process;
  }
  if (!probe::read_unit_files(host, unit, "").is_there()) {
    process.home = home_of(host, user);
    process.is_user_unit =
        process.home.size() > 1 && probe::read_unit_files(host, unit, process.home).is_there();
    if (!process.is_user_unit) {
      return Error{Errc::usage,
                   "no such unit: " + unit +
                       " has neither a control group nor a file in the folders of systemd",
                   {}};
    }
  }
  if (!groups.is_mounted) {
    process.why_none = "whether it runs is not known: systemd's control groups are not mounted";
  } else if (groups.unseen) {
    process.why_none = "whether it runs is not known: " + groups.unseen->message;
  } else {
    process.why_none = "is not running: it has no control group";
  }
  return process;
}

Result<std::unique_ptr<host::Host>> unit_host(std::unique_ptr<host::Host> machine,
                                              const std::string& unit) {
  GOLDENV_TRY(const UnitProcess found, process_of_unit(*machine, unit, geteuid()));
  host::Process about;
  about.unit = unit;
  about.is_user_unit = found.is_user_unit;
  about.home = found.home;
  about.notes = found.notes;
  if (found.pid != 0) {
    return host::process_host(std::move(machine), found.pid, std::move(about));
  }
  about.name = unit;
  return host::host_without_process(std::move(machine), std::move(about), found.why_none);
}

}  // namespace goldenv::source

// Live kernel settings, from /proc/sys and not by sysctl(8), which slim containers lack.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/instances.h"
#include "probe/presence.h"
#include "probe/probe.h"
#include "probe/sysctl_path.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kRoot = "/proc/sys";

/// Settings that decide whether GPU jobs hang, crawl or fail to start; read on every host.
constexpr auto kWatched = std::to_array<std::string_view>({
    "fs.file-max",
    "fs.nr_open",
    "kernel.dmesg_restrict",
    "kernel.hung_task_timeout_secs",
    "kernel.nmi_watchdog",
    "kernel.numa_balancing",
    "kernel.perf_event_paranoid",
    "kernel.pid_max",
    "kernel.randomize_va_space",
    "kernel.sched_rt_runtime_us",
    "kernel.shmall",
    "kernel.shmmax",
    "kernel.soft_watchdog",
    "kernel.threads-max",
    "kernel.watchdog",
    "kernel.watchdog_thresh",
    "kernel.yama.ptrace_scope",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_max",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "vm.compaction_proactiveness",
    "vm.dirty_ratio",
    "vm.max_map_count",
    "vm.min_free_kbytes",
    "vm.nr_hugepages",
    "vm.overcommit_memory",
    "vm.swappiness",
    "vm.zone_reclaim_mode",
});

Reading read_setting(const host::Host& host, std::string_view name, const std::string& path) {
  if (is_secret_sysctl(name)) {
    const auto there = is_there(host, path);
    if (!there) {
      return Unknown::from(there.error());
    }
    return *there ? Reading(Unknown{Why::not_probed, "a secret, not read", ""})
                  : Reading(Absent{"this kernel has no such name"});
  }
  const Result<std::string> text = host.read_file(path, 1u << 20);
  if (text) {
    return Value::scalar(one_blank(*text));
  }
  if (text.error().code == Errc::absent) {
    return Absent{"this kernel has no such name"};
  }
  Unknown unknown = Unknown::from(text.error());
  if (unknown.why == Why::denied) {
    unknown.needs = "root";
  }
  return unknown;
}

bool is_folder(const host::Host& host, const std::string& path) {
  const Result<host::FileStatus> status = host.status(path);
  return status && status->kind == host::FileStatus::Kind::folder;
}

/// Every name that is wanted below a folder of /proc/sys. fs/binfmt_misc is left out: it holds
/// registrations, no settings, and looking at it mounts it.
void collect(const Survey& survey, const std::string& folder, int depth,
             std::set<std::string>& names) {
  constexpr int kDepthLimit = 8;  // net.ipv4.conf.eth0.tag has five
  const auto entries = survey.host().list(folder);
  if (!entries || depth > kDepthLimit) {
    return;
  }
  for (const host::DirEntry& entry : *entries) {
    const std::string path = folder + "/" + entry.name;
    const std::string name = sysctl_name(std::string_view(path).substr(kRoot.size() + 1));
    if (!survey.wants_below("sysctl." + name)) {
      continue;
    }
    if (entry.kind == host::FileStatus::Kind::folder) {
      if (path != "/proc/sys/fs/binfmt_misc") {
        collect(survey, path, depth + 1, names);
      }
    } else {
      names.insert(name);
    }
  }
}

void run(Survey& survey) {
  const host::Host& host = survey.host();
  std::set<std::string> names;
  const auto named = survey.named_below("sysctl");
  names.insert(named.begin(), named.end());
  if (!survey.request().only_named) {
    names.insert(kWatched.begin(), kWatched.end());
    if (survey.request().all) {
      collect(survey, std::string(kRoot), 0, names);
    }
  }
  for (const std::string& name : names) {
    const std::string key = "sysctl." + name;
    if (!survey.wants(key)) {
      continue;
    }
    const std::string path = std::string(kRoot) + "/" + sysctl_path(name);
    Reading reading = read_setting(host, name, path);
    if (std::holds_alternative<Unknown>(reading) && is_folder(host, path)) {
      // As a pattern it names what is below it; as a key, nothing.
      if (!survey.request().selection.empty()) {
        continue;
      }
      reading = Absent{"a folder of settings, and no setting itself"};
    }
    survey.add(key, std::move(reading), seen(path));
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({"sysctl.**"});

}  // namespace

extern const Probe sysctl{.name = "sysctl", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

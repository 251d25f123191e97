// Processes that hold a GPU and that nobody waits for any more.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/instances.h"
#include "probe/probe.h"
#include "probe/process_table.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kKey = "leftover.gpu_processes";

bool is_gpu(std::string_view path) { return path.starts_with("/dev/nvidia") || path == "/dev/kfd"; }

/// "nvidia-persistenced.service" of a process that a service itself consists of; "" of others. The
/// daemon of a service is meant to have no parent but init.
std::string service_of(const host::Host& host, std::uint32_t pid) {
  const std::string text =
      host.read_file("/proc/" + std::to_string(pid) + "/cgroup", 64u << 10).value_or("");
  for (const std::string_view line : lines(text)) {
    const std::string_view path = line.substr(std::min(line.rfind(':') + 1, line.size()));
    const std::string_view last = path.substr(path.rfind('/') + 1);
    const bool is_systemds = line.starts_with("0::") || line.find("name=systemd") != line.npos;
    if (is_systemds && last.ends_with(".service")) {
      return std::string(last);
    }
  }
  return "";
}

/// Whether another process of the same service is older: then this one was left behind in it.
bool is_main(ProcessTable& table, const host::Host& host, const std::string& service,
             std::uint32_t pid, const std::vector<std::uint32_t>& orphans) {
  const auto& own = table.stat(pid);
  return std::ranges::none_of(orphans, [&](std::uint32_t other) {
    const auto& stat = table.stat(other);
    return other != pid && stat && own && stat->start_s < own->start_s &&
           service_of(host, other) == service;
  });
}

void run(Survey& survey) {
  if (!survey.wants(kKey)) {
    return;
  }
  const host::Host& host = survey.host();
  const auto devices = host.list("/dev");
  if (!devices) {
    survey.add(kKey, facts::unread(devices.error()), seen("/dev"));
    return;
  }
  const bool any = std::ranges::any_of(
      *devices, [](const host::DirEntry& entry) { return is_gpu("/dev/" + entry.name); });
  if (!any) {
    survey.add(kKey, Absent{"no device of a GPU"}, seen("/dev"));
    return;
  }
  ProcessTable& table = process_table(survey);
  const auto& all = table.all();
  if (!all) {
    survey.add(kKey, Unknown::from(all.error()), seen("/proc"));
    return;
  }
  const auto& first = table.stat(1);
  if (!first || (first->name != "systemd" && first->name != "init")) {
    survey.add(kKey,
               Unknown{Why::unsupported,
                       "process 1 is " + (first ? first->name : "not shown") +
                           ": what has it as its parent may be meant so",
                       ""},
               seen("/proc/1/stat"));
    return;
  }
  std::vector<std::uint32_t> orphans;
  for (const ProcessTable::Entry& entry : *all) {
    const auto& stat = table.stat(entry.pid);
    if (stat && stat->parent == 1) {
      orphans.push_back(entry.pid);
    }
  }
  std::uint64_t count = 0;
  std::optional<Error> unseen;
  facts::Evidence evidence = seen("/proc/*/fd");
  for (const std::uint32_t pid : orphans) {
    const std::string service = service_of(host, pid);
    if (!service.empty() && is_main(table, host, service, pid, orphans)) {
      continue;
    }
    const auto& files = table.open_files(pid);
    if (!files) {
      if (files.error().code != Errc::absent) {
        unseen = files.error();
      }
      continue;
    }
    if (std::ranges::any_of(*files, is_gpu)) {
      ++count;
      evidence.notes.push_back(std::to_string(pid) + " " + table.stat(pid)->name);
    }
  }
  if (unseen) {
    survey.add(
        kKey,
        Unknown{Why::denied, std::to_string(count) + " among the processes that show their files",
                "ptrace"},
        std::move(evidence));
    return;
  }
  survey.add(kKey, Value::number(count), std::move(evidence));
}

constexpr auto kKeys = std::to_array<std::string_view>({kKey});

}  // namespace

extern const Probe orphans{.name = "orphans", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

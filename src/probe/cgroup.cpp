// What the control groups around the source's process leave it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/bracketed.h"
#include "probe/instances.h"
#include "probe/limits_text.h"
#include "probe/presence.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kCgroup = "/proc/self/cgroup";

/// The folders of one controller that hold this process, innermost first.
struct Chain {
  std::vector<std::string> folders;
  std::string where;  ///< innermost, for evidence
};

/// Errors: those of looking for it.
Result<Chain> chain_below(const host::Host& host, const std::string& root, std::string_view path) {
  Chain chain;
  std::string at(path == "/" ? std::string_view{} : path);
  // In a container the path may be the host's while the mount shows the container's own group.
  if (!at.empty()) {
    GOLDENV_TRY(const bool there, is_there(host, root + at));
    if (!there) {
      at.clear();
    }
  }
  chain.where = root + at;
  while (!at.empty() && at.front() == '/') {
    chain.folders.push_back(root + at);
    at.resize(at.rfind('/'));
  }
  chain.folders.push_back(root);
  return chain;
}

const host::Mount* mount_of_type(const host::Host& host, std::string_view type,
                                 std::string_view option) {
  const auto found = std::ranges::find_if(host.mounts(), [&](const host::Mount& mount) {
    return mount.type == type &&
           (option.empty() || std::ranges::find(mount.options, option) != mount.options.end());
  });
  return found == host.mounts().end() ? nullptr : &*found;
}

class Groups {
 public:
  Groups(const host::Host& host, CgroupPaths paths) : host_(host), paths_(std::move(paths)) {}

  /// Where a controller's files are. Errors: absent where its tree is not mounted here; those of
  /// the look.
  [[nodiscard]] Result<Chain> chain(std::string_view controller) const {
    const auto v1 = std::ranges::find(paths_.controllers, controller,
                                      &std::pair<std::string_view, std::string_view>::first);
    if (v1 != paths_.controllers.end()) {
      const host::Mount* mount = mount_of_type(host_, "cgroup", controller);
      return mount == nullptr ? not_mounted() : chain_below(host_, mount->point, v1->second);
    }
    const host::Mount* mount = mount_of_type(host_, "cgroup2", "");
    return mount == nullptr || paths_.unified.empty()
               ? not_mounted()
               : chain_below(host_, mount->point, paths_.unified);
  }
  [[nodiscard]] bool is_v1(std::string_view controller) const {
    return std::ranges::any_of(paths_.controllers,
                               [&](const auto& one) { return one.first == controller; });
  }
  [[nodiscard]] const host::Host& host() const { return host_; }

 private:
  [[nodiscard]] Result<Chain> not_mounted() const {
    if (const auto known = mounts_known(host_); !known) {
      return known.error();
    }
    return Error{Errc::absent, "its control group tree is not mounted here", {}};
  }

  const host::Host& host_;
  CgroupPaths paths_;
};

struct Answer {
  Reading reading;
  facts::Evidence evidence;
};

Answer without_chain(const Error& error) {
  Unknown unknown = Unknown::from(error);
  if (error.code == Errc::absent) {
    unknown.why = Why::not_stated;
  }
  return {std::move(unknown), seen(kCgroup)};
}

/// The smallest of a whole-number limit over all groups around the process; "max" where none
/// limits.
Answer lowest(const Groups& groups, std::string_view controller, std::string_view v2_file,
              std::string_view v1_file) {
  const auto chain = groups.chain(controller);
  if (!chain) {
    return without_chain(chain.error());
  }
  const std::string_view file = groups.is_v1(controller) ? v1_file : v2_file;
  std::optional<std::uint64_t> least;
  Answer answer{Value::scalar("max"), seen(chain->where + "/" + std::string(file))};
  for (const std::string& folder : chain->folders) {
    const std::string path = folder + "/" + std::string(file);
    const Result<std::string> text = groups.host().read_file(path, 256);
    if (!text) {
      if (text.error().code != Errc::absent) {
        return {Unknown::from(text.error()), seen(path)};
      }
      continue;  // the root group limits nothing and has no such file
    }
    const auto number = to_number(trim(*text));
    // v1 writes "no limit" as the largest multiple of a page.
    constexpr std::uint64_t kNoLimit = (std::uint64_t{1} << 63) - (1u << 16);
    if (number && *number < kNoLimit && (!least || *number < *least)) {
      least = number;
      answer = {Value::number(*number), seen(path)};
    }
  }
  return answer;
}

/// Quota by period in CPUs, two places: "2", "1.5"; none where it is no limit.
std::optional<double> cpus_of(std::string_view quota, std::string_view period) {
  const auto a = to_number(quota);
  const auto b = to_number(period);
  if (!a || !b || *b == 0) {
    return std::nullopt;
  }
  return static_cast<double>(*a) / static_cast<double>(*b);
}

std::string two_places(double number) {
  const auto hundredths = static_cast<std::uint64_t>(number * 100 + 0.5);
  std::string text = std::to_string(hundredths / 100);
  const std::uint64_t rest = hundredths % 100;
  if (rest != 0) {
    text += '.';
    text += static_cast<char>('0' + rest / 10);
    if (rest % 10 != 0) {
      text += static_cast<char>('0' + rest % 10);
    }
  }
  return text;
}

Answer cpu_quota(const Groups& groups) {
  const auto chain = groups.chain("cpu");
  if (!chain) {
    return without_chain(chain.error());
  }
  const bool v1 = groups.is_v1("cpu");
  std::optional<double> least;
  Answer answer{Value::scalar("max"), seen(chain->where + (v1 ? "/cpu.cfs_quota_us" : "/cpu.max"))};
  for (const std::string& folder : chain->folders) {
    const std::string path = folder + (v1 ? "/cpu.cfs_quota_us" : "/cpu.max");
    const Result<std::string> text = groups.host().read_file(path, 256);
    if (!text) {
      if (text.error().code != Errc::absent) {
        return {Unknown::from(text.error()), seen(path)};
      }
      continue;
    }
    auto parts = words(*text);
    std::string period;
    if (v1) {
      std::vector<Error> unseen;
      period = text_or_none(groups.host(), folder + "/cpu.cfs_period_us", unseen, 256);
      if (!unseen.empty()) {
        return {Unknown::from(unseen.front()), seen(path)};
      }
      parts.resize(parts.empty() ? 0 : 1);
      parts.push_back(trim(period));
    }
    const auto cpus = parts.size() >= 2 ? cpus_of(parts[0], parts[1]) : std::nullopt;
    if (cpus && *cpus < 1e6 && (!least || *cpus < *least)) {
      least = cpus;
      answer = {Value::scalar(two_places(*cpus)), seen(path)};
    }
  }
  return answer;
}

Answer cpus(const Groups& groups) {
  const auto chain = groups.chain("cpuset");
  if (!chain && chain.error().code != Errc::absent) {
    return without_chain(chain.error());
  }
  if (chain) {
    const std::string_view file =
        groups.is_v1("cpuset") ? "cpuset.effective_cpus" : "cpuset.cpus.effective";
    for (const std::string& folder : chain->folders) {
      const std::string path = folder + "/" + std::string(file);
      Reading reading = ranges(groups.host(), path);
      if (!std::holds_alternative<Absent>(reading)) {
        return {std::move(reading), seen(path)};
      }
    }
  }
  // What is left where the controller is not in use: the mask of the process itself.
  constexpr std::string_view kStatus = "/proc/self/status";
  const Result<std::string> text = groups.host().read_file(kStatus, 64u << 10);
  if (!text) {
    return {Unknown::from(text.error()), seen(kStatus)};
  }
  for (const std::string_view line : lines(*text)) {
    constexpr std::string_view kField = "Cpus_allowed_list:";
    if (line.starts_with(kField)) {
      std::vector<std::string> items;
      for (const std::string_view item : split(trim(line.substr(kField.size())), ',')) {
        items.emplace_back(item);
      }
      return {Value::list(std::move(items)), seen(kStatus)};
    }
  }
  return {Unknown{Why::unreadable, "no Cpus_allowed_list", ""}, seen(kStatus)};
}

void run(Survey& survey) {
  const host::Host& host = survey.host();
  const Result<std::string> text = host.read_file(kCgroup, 64u << 10);
  constexpr auto kNames = std::to_array<std::string_view>(
      {"cgroup.version", "cgroup.memory_max", "cgroup.cpu_max", "cgroup.pids_max", "cgroup.cpus"});
  if (!text) {
    for (const std::string_view name : kNames) {
      survey.add(name,
                 text.error().code == Errc::absent
                     ? Reading(Absent{"kernel without control groups"})
                     : Reading(Unknown::from(text.error())),
                 seen(kCgroup));
    }
    return;
  }
  const CgroupPaths paths = parse_cgroup(*text);
  survey.add("cgroup.version",
             paths.version.empty() ? Reading(Unknown{Why::unreadable, "no group is named", ""})
                                   : Reading(Value::scalar(std::string(paths.version))),
             seen(kCgroup));
  const Groups groups(host, paths);
  const auto add = [&](std::string_view key, Answer (*ask)(const Groups&)) {
    if (survey.wants(key)) {
      Answer answer = ask(groups);
      survey.add(key, std::move(answer.reading), std::move(answer.evidence));
    }
  };
  add("cgroup.memory_max",
      [](const Groups& g) { return lowest(g, "memory", "memory.max", "memory.limit_in_bytes"); });
  add("cgroup.pids_max", [](const Groups& g) { return lowest(g, "pids", "pids.max", "pids.max"); });
  add("cgroup.cpu_max", cpu_quota);
  add("cgroup.cpus", cpus);
}

constexpr auto kKeys = std::to_array<std::string_view>({"cgroup.*"});

}  // namespace

extern const Probe cgroup{.name = "cgroup", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

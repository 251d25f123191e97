// Resource limits of the source's own process, and the shared memory that it may use.
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "probe/instances.h"
#include "probe/limits_text.h"
#include "probe/mapped_library.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kLimits = "/proc/self/limits";
constexpr std::string_view kShm = "/dev/shm";

constexpr auto kWatched = std::to_array<std::string_view>(
    {"memlock", "stack", "core", "nofile", "nproc", "msgqueue", "rtprio"});

void add_limits(Survey& survey) {
  std::set<std::string> resources;
  if (!survey.request().only_named) {
    resources.insert(kWatched.begin(), kWatched.end());
  }
  for (const std::string& named : survey.named_below("limits")) {
    resources.insert(named.substr(0, named.find('.')));
  }
  if (resources.empty()) {
    return;
  }
  const Result<std::string> text = survey.host().read_file(kLimits, 64u << 10);
  const host::Process* process = survey.host().process();
  const std::string from = process == nullptr ? std::string(kLimits)
                           : process->pid == 0
                               ? process->name
                               : "/proc/" + std::to_string(process->pid) + "/limits";
  for (const std::string& resource : resources) {
    const std::string key = "limits." + resource;
    if (!text) {
      survey.add(key, unseen_of_process(survey, text.error()), seen(from));
      survey.add(key + ".hard", unseen_of_process(survey, text.error()), seen(from));
      continue;
    }
    const std::optional<Limit> limit = find_limit(*text, resource);
    if (!limit) {
      const Reading reading = limit_title(resource).empty()
                                  ? Reading(Absent{"no such resource"})
                                  : Reading(Unknown{Why::unreadable, "no whole line of it", ""});
      survey.add(key, reading, seen(from));
      survey.add(key + ".hard", reading, seen(from));
      continue;
    }
    survey.add(key, Value::scalar(std::string(limit->soft)), seen(from, limit->line));
    survey.add(key + ".hard", Value::scalar(std::string(limit->hard)), seen(from, limit->line));
  }
}

/// The mount on top of /dev/shm: it may be mounted over more than once, and the last one counts.
const host::Mount* shm_mount(const host::Host& host, std::size_t& layers) {
  const host::Mount* top = nullptr;
  for (const host::Mount& mount : host.mounts()) {
    if (mount.point == kShm) {
      top = &mount;
      ++layers;
    }
  }
  return top;
}

void add_shm(Survey& survey) {
  if (!survey.wants("shm.size") && !survey.wants("shm.free")) {
    return;
  }
  const host::Host& host = survey.host();
  std::size_t layers = 0;
  const host::Mount* mount = shm_mount(host, layers);
  facts::Evidence evidence = seen(kShm);
  if (layers > 1) {
    evidence.notes.push_back("mounted " + std::to_string(layers) + " times; the last one counts");
  }
  const Result<host::Space> space = host.space(kShm);
  if (space) {
    survey.add("shm.size", Value::number(space->total_bytes), evidence);
    survey.add("shm.free", Value::number(space->free_bytes), evidence);
    return;
  }
  const Reading unread = facts::unread(space.error());
  survey.add("shm.free", unread, evidence);
  if (mount != nullptr) {
    for (const std::string& option : mount->options) {
      const auto size = option.starts_with("size=") ? mount_size(option.substr(5)) : std::nullopt;
      if (size) {
        evidence.from = "/proc/self/mountinfo";
        survey.add("shm.size", Value::number(*size), evidence);
        return;
      }
    }
  }
  survey.add("shm.size", unread, evidence);
}

void run(Survey& survey) {
  add_limits(survey);
  add_shm(survey);
}

constexpr auto kKeys = std::to_array<std::string_view>({"limits.**", "shm.size", "shm.free"});

}  // namespace

extern const Probe limits{.name = "limits", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

// Kernel modules: what is in memory, and whether there is a file to load.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/instances.h"
#include "probe/kernel_names.h"
#include "probe/module_files.h"
#include "probe/nvidia_proc.h"
#include "probe/presence.h"
#include "probe/probe.h"
#include "probe/watched_modules.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kProcModules = "/proc/modules";
constexpr std::string_view kParams = "/proc/driver/nvidia/params";

/// What answers for all modules at once, read at first use.
class Kernel {
 public:
  explicit Kernel(const host::Host& host) : host_(host) {}

  /// Names in /proc/modules. Absent in kernels without loadable modules.
  const Result<std::set<std::string, std::less<>>>& listed() {
    if (!listed_) {
      Result<std::string> text = host_.read_file(kProcModules);
      // A kernel that has loaded none says so by an empty file; a tree may hold an empty one for
      // any reason.
      if (text && !is_module_list(*text) && !(text->empty() && host_.live())) {
        text = Error{Errc::unreadable, std::string(kProcModules) + " holds no list of modules", {}};
      }
      listed_ = text ? Result<std::set<std::string, std::less<>>>(parse_module_names(*text))
                     : Result<std::set<std::string, std::less<>>>(text.error());
    }
    return *listed_;
  }

  /// Modules of the running kernel on disk, or why they cannot be told.
  const Result<ModuleFiles>& files() {
    if (!files_) {
      files_ = read_files();
    }
    return *files_;
  }

  /// Whether there is a /sys/module.
  const Result<bool>& has_folders() {
    if (!has_folders_) {
      has_folders_ = is_there(host_, "/sys/module");
    }
    return *has_folders_;
  }

 private:
  Result<ModuleFiles> read_files() {
    GOLDENV_TRY(const std::string release, kernel_release(host_).text);
    folder_ = "/lib/modules/" + release;
    GOLDENV_TRY(const std::string dep, host_.read_file(folder_ + "/modules.dep", 16u << 20));
    std::vector<Error> unseen;
    const std::string builtin =
        text_or_none(host_, folder_ + "/modules.builtin", unseen, 16u << 20);
    if (!unseen.empty()) {
      return unseen.front();
    }
    return parse_module_files(dep, builtin);
  }

  const host::Host& host_;
  std::string folder_;
  std::optional<Result<std::set<std::string, std::less<>>>> listed_;
  std::optional<Result<ModuleFiles>> files_;
  std::optional<Result<bool>> has_folders_;
};

struct State {
  Reading reading;
  facts::Evidence evidence;
  [[nodiscard]] bool is(std::string_view text) const {
    const auto* value = std::get_if<Value>(&reading);
    return value != nullptr && value->form == Value::Form::scalar && value->text == text;
  }
  /// Known not to be in memory.
  [[nodiscard]] bool outside() const {
    const auto* value = std::get_if<Value>(&reading);
    return value != nullptr && !is("loaded") && !is("builtin");
  }
};

/// A module that is neither loaded nor seen in /sys: is there a file for it?
State state_on_disk(Kernel& kernel, std::string_view module) {
  const Result<ModuleFiles>& files = kernel.files();
  if (!files) {
    // A container has no /lib/modules of the host's kernel: not loaded, and no more can be said.
    facts::Evidence evidence = seen("/sys/module/" + std::string(module));
    evidence.notes.push_back("whether a file exists cannot be told: " + files.error().message);
    return {Value::one_of({"not installed", "not loaded"}), std::move(evidence)};
  }
  const facts::Evidence evidence = seen("/lib/modules/*/modules.dep");
  if (files->builtin.contains(module)) {
    return {Value::scalar("builtin"), seen("/lib/modules/*/modules.builtin")};
  }
  return {Value::scalar(files->loadable.contains(module) ? "not loaded" : "not installed"),
          evidence};
}

State state_of(const host::Host& host, Kernel& kernel, std::string_view module) {
  const std::string folder = "/sys/module/" + std::string(module);
  const Result<std::string> init = host.read_file(folder + "/initstate", 64);
  if (init) {
    const std::string_view state = trim(*init);
    if (state == "live") {
      return {Value::scalar("loaded"), seen(folder + "/initstate")};
    }
    return {Unknown{Why::ambiguous, "it is " + std::string(state), ""},
            seen(folder + "/initstate")};
  }
  const auto& listed = kernel.listed();
  if (listed && listed->contains(module)) {
    return {Value::scalar("loaded"), seen(kProcModules)};
  }
  if (init.error().code != Errc::absent) {
    return {Unknown::from(init.error()), seen(folder + "/initstate")};
  }
  const Result<host::FileStatus> status = host.status(folder);
  if (status) {
    // Code that is part of the kernel has a folder too, but no initstate.
    return {Value::scalar("builtin"), seen(folder, "no initstate: part of the kernel")};
  }
  if (status.error().code != Errc::absent) {
    return {Unknown::from(status.error()), seen(folder)};
  }
  // Without /sys only /proc/modules tells, and it is silent on what is built in.
  const Result<bool>& has_folders = kernel.has_folders();
  if (!has_folders) {
    return {Unknown::from(has_folders.error()), seen(folder)};
  }
  if (!*has_folders && !listed) {
    return {Unknown::from(listed.error()), seen(folder)};
  }
  return state_on_disk(kernel, module);
}

Reading attribute(const host::Host& host, const State& state, std::string_view module,
                  std::string_view name, std::string_view missing) {
  const std::string path = "/sys/module/" + std::string(module) + "/" + std::string(name);
  Reading reading = one_line(host, path);
  if (!std::holds_alternative<Absent>(reading)) {
    return reading;
  }
  if (const auto* unknown = std::get_if<Unknown>(&state.reading)) {
    return *unknown;
  }
  return Absent{state.outside() ? "not loaded" : std::string(missing)};
}

/// nvidia's own list names each parameter without the NVreg_ that modprobe.d writes before it.
/// Errors: those of reading it.
Result<void> add_listed_parameters(Survey& survey, std::set<std::string>& done) {
  GOLDENV_TRY(const std::string text, survey.host().read_file(kParams));
  std::uint32_t line = 0;
  for (auto& [name, value] : parse_nvidia_lines(text)) {
    ++line;
    const std::string key = "module.nvidia.param." + name;
    done.insert(key);
    survey.add(key, Value::scalar(std::move(value)), seen(kParams, line));
  }
  return line == 0 ? Error{Errc::unreadable, std::string(kParams) + " names no parameter", {}}
                   : Result<void>();
}

void add_parameters(Survey& survey, const State& state, std::string_view module) {
  const std::string family = "module." + std::string(module) + ".param";
  if (!survey.wants_below(family)) {
    return;
  }
  std::set<std::string> done;
  std::optional<Error> unseen;  // why there may be more than are found
  std::string where = "/sys/module/" + std::string(module) + "/parameters";
  if (module == "nvidia") {
    const Result<void> listed = add_listed_parameters(survey, done);
    if (!listed && listed.error().code != Errc::absent) {
      unseen = listed.error();
      where = kParams;
    }
  }
  const std::string folder = "/sys/module/" + std::string(module) + "/parameters";
  const Result<std::vector<host::DirEntry>> entries = survey.host().list(folder);
  if (entries) {
    for (const host::DirEntry& entry : *entries) {
      std::string_view name = entry.name;
      if (name.starts_with("NVreg_")) {
        name.remove_prefix(6);
      }
      const std::string key = family + "." + std::string(name);
      if (!survey.wants(key) || !done.insert(key).second) {
        continue;
      }
      const std::string path = folder + "/" + entry.name;
      Reading reading = one_line(survey.host(), path);
      if (auto* unknown = std::get_if<Unknown>(&reading);
          unknown != nullptr && unknown->why == Why::denied) {
        unknown->needs = "root";
      }
      survey.add(key, std::move(reading), seen(path));
    }
  }
  for (const std::string& name : survey.named_below(family)) {
    const std::string key = family + "." + name;
    if (!done.insert(key).second) {
      continue;
    }
    Reading reading = Absent{state.outside() ? "not loaded" : "no such parameter"};
    if (unseen) {
      reading = Unknown::from(*unseen);
    } else if (!entries && entries.error().code != Errc::absent) {
      reading = Unknown::from(entries.error());
    } else if (const auto* unknown = std::get_if<Unknown>(&state.reading)) {
      reading = *unknown;
    }
    survey.add(key, std::move(reading), seen(where));
  }
}

void add_module(Survey& survey, Kernel& kernel, const std::string& module) {
  const std::string key = "module." + module;
  if (!survey.wants_below(key)) {
    return;
  }
  const host::Host& host = survey.host();
  const State state = state_of(host, kernel, module);
  survey.add(key + ".state", state.reading, state.evidence);
  const std::string folder = "/sys/module/" + module;
  if (survey.wants(key + ".loaded")) {
    survey.add(key + ".loaded", attribute(host, state, module, "version", "has no version"),
               seen(folder + "/version"));
  }
  if (survey.wants(key + ".loaded.srcversion")) {
    survey.add(key + ".loaded.srcversion",
               attribute(host, state, module, "srcversion", "has no srcversion"),
               seen(folder + "/srcversion"));
  }
  // Of the other modules only parameters that are asked for: mlx5_core alone has dozens of no
  // interest.
  if (module.starts_with("nvidia") || !survey.named_below(key + ".param").empty()) {
    add_parameters(survey, state, module);
  }
}

void add_list(Survey& survey, Kernel& kernel) {
  if (!survey.wants("module.list")) {
    return;
  }
  const auto& listed = kernel.listed();
  if (listed) {
    survey.add("module.list", Value::set({listed->begin(), listed->end()}), seen(kProcModules));
    return;
  }
  survey.add("module.list",
             listed.error().code == Errc::absent
                 ? Reading(Absent{"kernel without loadable modules"})
                 : facts::unread(listed.error()),
             seen(kProcModules));
}

void run(Survey& survey) {
  Kernel kernel(survey.host());
  add_list(survey, kernel);
  std::set<std::string> names;
  if (!survey.request().only_named) {
    names.insert(kWatchedModules.begin(), kWatchedModules.end());
  }
  for (const std::string& named : survey.named_below("module")) {
    const std::size_t dot = named.find('.');
    if (dot != std::string::npos) {
      names.insert(named.substr(0, dot));
    }
  }
  for (const std::string& name : names) {
    add_module(survey, kernel, name);
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({
    "module.list",
    "module.*.state",
    "module.*.loaded",
    "module.*.loaded.srcversion",
    "module.*.param.**",
});

}  // namespace

extern const Probe modules{.name = "modules", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

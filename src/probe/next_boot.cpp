// What the next boot would bring, if nothing is changed until then: kernel, command line, modules
// and their parameters.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/boot_entries.h"
#include "probe/bracketed.h"
#include "probe/installed_modules.h"
#include "probe/instances.h"
#include "probe/modprobe_config.h"
#include "probe/probe.h"
#include "probe/watched_modules.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kFamily = "next_boot.module";
constexpr std::string_view kSecureBoot =
    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

struct Answer {
  Reading reading;
  facts::Evidence evidence;
};

/// "value" of the last parameter `name=value`; "" for a mere flag.
std::optional<std::string_view> parameter(const NextBoot& boot, std::string_view name) {
  std::optional<std::string_view> found;
  if (boot.parameters() != nullptr) {
    for (const std::string_view word : *boot.parameters()) {
      const std::size_t equals = std::min(word.find('='), word.size());
      if (word.substr(0, equals) == name) {
        found = word.substr(std::min(equals + 1, word.size()));
      }
    }
  }
  return found;
}

/// Whether one of the lists of modules on the command line holds it. Source: modprobe(8), the
/// kernel's admin-guide/kernel-parameters.
bool is_listed(const NextBoot& boot, std::string_view name, std::string_view module) {
  if (boot.parameters() == nullptr) {
    return false;
  }
  return std::ranges::any_of(*boot.parameters(), [&](std::string_view word) {
    if (!word.starts_with(name) || word.size() <= name.size() || word[name.size()] != '=') {
      return false;
    }
    const auto listed = split(word.substr(name.size() + 1), ',');
    return std::ranges::any_of(
        listed, [&](std::string_view item) { return kernel_name_of(item) == module; });
  });
}

/// Whether that kernel will refuse modules without a signature; none where it cannot be told. The
/// running one is taken to show what this machine's kernels do.
std::optional<bool> needs_signatures(const host::Host& host, const NextBoot& boot) {
  const auto enforce = parameter(boot, "module.sig_enforce");
  if (enforce && *enforce != "0" && *enforce != "N" && *enforce != "n") {
    return true;
  }
  const Reading now = one_line(host, "/sys/module/module/parameters/sig_enforce");
  if (const auto* value = std::get_if<Value>(&now); value != nullptr && value->text == "Y") {
    return true;
  }
  const Reading lockdown = bracketed(host, "/sys/kernel/security/lockdown");
  if (const auto* value = std::get_if<Value>(&lockdown)) {
    return value->text != "none";
  }
  const Result<std::string> secure_boot = host.read_file(kSecureBoot, 64);
  if (secure_boot) {
    return secure_boot->size() == 5 && secure_boot->back() == 0 ? std::optional(false)
                                                                : std::nullopt;
  }
  return secure_boot.error().code == Errc::absent ? std::optional(false) : std::nullopt;
}

/// What keeps modprobe from loading it by itself, if anything does.
std::optional<Answer> blocked(Survey& survey, const NextBoot& boot, std::string_view module) {
  for (const std::string_view list : {"modprobe.blacklist", "module_blacklist"}) {
    if (is_listed(boot, list, module)) {
      return Answer{Absent{"blacklisted by " + std::string(list) + "="}, boot.evidence};
    }
  }
  const Result<ModprobeConfig>& config = modprobe_config(survey);
  if (!config) {
    return Answer{Unknown::from(config.error()), seen("/etc/modprobe.d")};
  }
  const auto black = config->blacklisted.find(module);
  if (black != config->blacklisted.end()) {
    return Answer{Absent{"blacklisted"}, black->second.evidence()};
  }
  const auto install = config->installs.find(module);
  if (install != config->installs.end()) {
    const InstallCommand command = parse_install_command(install->second.text);
    if (command.kind == InstallCommand::Kind::block) {
      return Answer{Absent{"an install line blocks it"}, install->second.evidence()};
    }
    if (command.kind == InstallCommand::Kind::other) {
      return Answer{Unknown{Why::ambiguous, "a command loads it: " + install->second.text, ""},
                    install->second.evidence()};
    }
  }
  return {};
}

/// The version of a file, or why that kernel will not take it.
Reading version_of(const host::Host& host, const NextBoot& boot, const ModuleLookup& lookup,
                   const ModuleFile& file) {
  const auto magic = file.vermagic ? words(*file.vermagic) : std::vector<std::string_view>();
  if (!magic.empty() && magic.front() != *boot.release()) {
    const std::string built_for = "built for " + std::string(magic.front());
    // With symbol versions the kernel does not look at the release, and compares those.
    const bool by_symbols = std::ranges::find(magic, "modversions") != magic.end();
    if (!by_symbols) {
      return Absent{built_for};
    }
    if (!lookup.relative.starts_with("weak-updates/")) {  // depmod's script compared them
      return Unknown{Why::ambiguous, built_for + ": it loads if all symbol versions agree", ""};
    }
  }
  if (!file.is_signed) {
    const std::optional<bool> needed = needs_signatures(host, boot);
    if (!needed) {
      return Unknown{Why::ambiguous, "it is unsigned, and Secure Boot may be on", ""};
    }
    if (*needed) {
      return Absent{"unsigned, and the kernel demands signatures"};
    }
  }
  return file.version ? Reading(Value::scalar(*file.version)) : Reading(Absent{"has no version"});
}

/// The file of modules-load.d that has a module loaded at boot, "" where none does.
std::string loaded_by(const host::Host& host, std::string_view module) {
  const auto files = drop_in_files(host, "modules-load.d");
  if (files) {
    for (const std::string& path : *files) {
      const std::string text = host.read_file(path).value_or("");
      for (const std::string_view line : lines(text)) {
        if (kernel_name_of(trim(line)) == module) {
          return path;
        }
      }
    }
  }
  return {};
}

Answer next_module(Survey& survey, const NextBoot& boot, const std::string& module) {
  if (boot.release() == nullptr) {
    return {boot.kernel, boot.evidence};
  }
  const ModuleLookup lookup = find_module(survey, *boot.release(), module);
  if (!lookup.is_found()) {
    const auto* absent = std::get_if<Absent>(&lookup.missing);
    const bool none = absent != nullptr && absent->reason == "not installed";
    return {none ? Reading(Absent{"no file for that kernel"}) : lookup.missing, lookup.evidence};
  }
  if (auto answer = blocked(survey, boot, module)) {
    return *std::move(answer);
  }
  const Result<ModuleFile>& file = module_file(survey, lookup.path);
  Answer answer{
      file ? version_of(survey.host(), boot, lookup, *file) : Reading(Unknown::from(file.error())),
      lookup.evidence};
  answer.evidence.basis = "derived";
  answer.evidence.notes.push_back("next kernel: " + boot.evidence.from);
  if (boot.parameters() == nullptr) {
    answer.evidence.notes.emplace_back("the next command line, which may blacklist it, is unknown");
  }
  if (std::string path = loaded_by(survey.host(), module); !path.empty()) {
    answer.evidence.notes.push_back("loaded at boot by " + path);
  }
  return answer;
}

/// Takes "NVreg_X=1" as X: as the driver itself lists its parameters.
void set_parameter(std::map<std::string, Answer>& parameters, std::string_view word,
                   const facts::Evidence& evidence) {
  const std::size_t equals = std::min(word.find('='), word.size());
  std::string_view name = word.substr(0, equals);
  if (name.starts_with("NVreg_")) {
    name.remove_prefix(6);
  }
  if (!name.empty()) {
    parameters[std::string(name)] = {
        Value::scalar(std::string(word.substr(std::min(equals + 1, word.size())))), evidence};
  }
}

/// In the order in which the kernel gets them: modprobe.d, then the command line.
std::map<std::string, Answer> next_parameters(const ModprobeConfig& config, const NextBoot& boot,
                                              const std::string& module) {
  std::map<std::string, Answer> parameters;
  std::vector<std::string> names;
  const auto install = config.installs.find(module);
  if (install != config.installs.end()) {
    // The options of nvidia are handed to nvidia-current behind its own.
    std::string target = parse_install_command(install->second.text).module;
    if (!target.empty() && target != module) {
      names.push_back(std::move(target));
    }
  }
  names.push_back(module);
  for (const std::string& name : names) {
    const auto options = config.options.find(name);
    if (options != config.options.end()) {
      for (const ModprobeSetting& setting : options->second) {
        set_parameter(parameters, setting.text, setting.evidence());
      }
    }
  }
  if (boot.parameters() != nullptr) {
    for (const std::string_view word : *boot.parameters()) {
      const std::size_t dot = word.find('.');
      if (dot < word.find('=') && dot != std::string_view::npos &&
          kernel_name_of(word.substr(0, dot)) == module) {
        set_parameter(parameters, word.substr(dot + 1), boot.evidence);
      }
    }
  }
  return parameters;
}

void add_parameters(Survey& survey, const NextBoot& boot, const std::string& module) {
  const std::string family = std::string(kFamily) + "." + module + ".param";
  if (!survey.wants_below(family)) {
    return;
  }
  const Result<ModprobeConfig>& config = modprobe_config(survey);
  const std::vector<std::string> named = survey.named_below(family);
  if (!config) {
    for (const std::string& name : named) {
      survey.add(family + "." + name, Unknown::from(config.error()), seen("/etc/modprobe.d"));
    }
    return;
  }
  const auto parameters = next_parameters(*config, boot, module);
  for (const auto& [name, answer] : parameters) {
    survey.add(family + "." + name, answer.reading, answer.evidence);
  }
  for (const std::string& name : named) {
    if (!parameters.contains(name)) {
      survey.add(family + "." + name, Absent{"nothing sets it"}, seen("/etc/modprobe.d"));
    }
  }
  if (survey.wants(family)) {
    survey.listed(family);
  }
}

void add_modules(Survey& survey, const NextBoot& boot) {
  std::set<std::string> names;
  for (const std::string_view watched : kWatchedModules) {
    if (survey.wants_below(std::string(kFamily) + "." + std::string(watched))) {
      names.emplace(watched);
    }
  }
  for (const std::string& named : survey.named_below(kFamily)) {
    names.insert(named.substr(0, named.find('.')));
  }
  for (const std::string& module : names) {
    const std::string key = std::string(kFamily) + "." + module + ".loaded";
    if (survey.wants(key)) {
      const Answer answer = next_module(survey, boot, module);
      survey.add(key, answer.reading, answer.evidence);
    }
    add_parameters(survey, boot, module);
  }
}

void run(Survey& survey) {
  const NextBoot& boot = next_boot_of(survey);
  survey.add("next_boot.kernel", boot.kernel, boot.evidence);
  survey.add("next_boot.kernel.cmdline", boot.cmdline, boot.evidence);
  if (survey.wants("next_boot.driver")) {
    const Answer answer = next_module(survey, boot, "nvidia");
    survey.add("next_boot.driver", answer.reading, answer.evidence);
  }
  if (survey.wants_below(kFamily)) {
    add_modules(survey, boot);
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({
    "next_boot.kernel",
    "next_boot.kernel.cmdline",
    "next_boot.driver",
    "next_boot.module.*.loaded",
    "next_boot.module.*.param.**",
});

}  // namespace

extern const Probe next_boot{.name = "next_boot", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

#include "probe/boot_sysctls.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"
#include "probe/config_folders.h"
#include "probe/instances.h"
#include "probe/kernel_text.h"
#include "probe/sysctl_path.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;
using By = SysctlSettings::By;

constexpr std::string_view kRun = "/run/sysctl.d";
constexpr std::string_view kConf = "/etc/sysctl.conf";
/// Far above what is found in the wild; each name is looked up among all of them.
constexpr std::size_t kSettingsLimit = 4096;
constexpr std::size_t kGlobsLimit = 64;
constexpr std::size_t kAnywhere = std::numeric_limits<std::size_t>::max();

/// Source: systemd's CONF_PATHS; /lib for systems on which it is no link to /usr/lib.
constexpr auto kFolders = std::to_array<std::string_view>(
    {"/etc/sysctl.d", kRun, "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"});

constexpr auto kSystemd = std::to_array<std::string_view>(
    {"/usr/lib/systemd/systemd-sysctl", "/lib/systemd/systemd-sysctl"});
/// Debian's and Alpine's scripts that run `sysctl --system`.
constexpr auto kProcps =
    std::to_array<std::string_view>({"/etc/init.d/procps", "/etc/init.d/sysctl"});
constexpr std::string_view kUnit = "/etc/systemd/system/systemd-sysctl.service";

/// Whether one of the paths is there; an error other than absent goes to `open`.
bool is_any_there(const host::Host& host, std::span<const std::string_view> paths,
                  std::optional<Error>& open) {
  for (const std::string_view path : paths) {
    const auto status = host.status(path);
    if (status) {
      return true;
    }
    if (status.error().code != Errc::absent) {
      open = status.error();
    }
  }
  return false;
}

void find_applier(const host::Host& host, SysctlSettings& all) {
  std::optional<Error> open;
  if (is_any_there(host, kSystemd, open)) {
    const auto unit = host.read_link(kUnit);
    all.masked = unit && *unit == "/dev/null";
    all.by = all.masked ? By::nobody : By::systemd;
    all.nobody = all.masked ? "systemd-sysctl.service is masked" : "";
  } else if (is_any_there(host, kProcps, open)) {
    all.by = By::procps;
  } else {
    all.nobody = open ? open->message
                      : "neither systemd-sysctl nor an init script of procps is there to set "
                        "sysctls at boot";
  }
}

/// The kernel sets sysctls from its command line since 5.8; the boot forms are older.
bool has_sysctl_words(const host::Host& host) {
  const auto name = host.system_name();
  const auto parts = name ? split(name->release, '.') : std::vector<std::string_view>{};
  if (parts.size() < 2) {
    return true;
  }
  const auto major = to_number(parts[0]);
  const auto minor = to_number(parts[1].substr(0, parts[1].find_first_not_of("0123456789")));
  return !major || !minor || *major > 5 || (*major == 5 && *minor >= 8);
}

void read_cmdline(const host::Host& host, SysctlSettings& all) {
  const auto text = host.read_file("/proc/cmdline", 64u << 10);
  if (!text) {
    all.holes.push_back({0, text.error(), true});
    return;
  }
  std::vector<std::string> words = split_cmdline(*text);
  if (!has_sysctl_words(host)) {
    std::erase_if(words, [](const std::string& word) { return word.starts_with("sysctl."); });
  }
  all.settings = parse_sysctl_words(words);
}

void add_file(const ConfigFile& file, SysctlSettings& all, std::size_t& globs) {
  if (file.trouble) {
    all.holes.push_back({all.settings.size(), *file.trouble, false});
  }
  for (SysctlSetting& setting : parse_sysctl_file(file.text, file.path)) {
    globs += setting.is_glob() ? 1u : 0u;
    if (all.settings.size() == kSettingsLimit || globs > kGlobsLimit) {
      all.holes.push_back(
          {kAnywhere,
           {Errc::too_large, file.path + ": more settings than any machine has", {}},
           false});
      break;
    }
    all.settings.push_back(std::move(setting));
  }
  for (const std::string& hidden : file.hides) {
    all.hidden.emplace_back(file.path, hidden);
  }
}

void keep_globs_in_force(SysctlSettings& all) {
  for (std::size_t i = 0; i < all.settings.size(); ++i) {
    const SysctlSetting& setting = all.settings[i];
    if (setting.early || !setting.is_glob()) {
      continue;
    }
    const auto same = std::ranges::find_if(
        all.globs, [&](std::size_t at) { return all.settings[at].path == setting.path; });
    if (same != all.globs.end()) {
      if (all.settings[*same].value == setting.value) {
        continue;  // it stays where it was
      }
      all.globs.erase(same);
    }
    all.globs.push_back(i);
  }
}

const Error* open_error(const SysctlSettings& all, const SysctlSetting* decides) {
  const bool by_file = decides != nullptr && !decides->early;
  const bool by_name = by_file && !decides->is_glob();
  const std::size_t at =
      decides == nullptr ? 0 : static_cast<std::size_t>(decides - all.settings.data());
  for (const SysctlSettings::Hole& hole : all.holes) {
    // Whatever a file says of the very name beats every glob, wherever it stands.
    const bool may_decide = hole.early ? !by_file : !by_name || hole.before > at;
    if (may_decide) {
      return &hole.error;
    }
  }
  return nullptr;
}

Reading reading_of(const SysctlSettings& all, const SysctlChoice& choice) {
  if (choice.open != nullptr) {
    Unknown unknown = Unknown::from(*choice.open);
    if (unknown.why == Why::denied) {
      unknown.needs = "root";
    }
    return unknown;
  }
  if (choice.winner == nullptr) {
    if (choice.kept_off != nullptr) {
      return Absent{"kept off by " + choice.kept_off->place()};
    }
    return Absent{all.masked ? "nothing sets it: " + all.nobody : "nothing sets it"};
  }
  if (choice.winner->unclear) {
    return Unknown{Why::ambiguous, choice.winner->text + " on the kernel's command line", ""};
  }
  return Value::scalar(*choice.winner->value);
}

facts::Evidence evidence_of(const SysctlSettings& all, const SysctlChoice& choice) {
  if (choice.winner == nullptr) {
    return choice.kept_off != nullptr ? seen(choice.kept_off->file, choice.kept_off->line)
                                      : facts::Evidence{};
  }
  const SysctlSetting& winner = *choice.winner;
  facts::Evidence evidence = seen(winner.file, winner.line);
  if (winner.early) {
    evidence.notes.push_back(winner.text +
                             ", if the boot loader passes the same command line again");
  }
  if (winner.is_glob()) {
    evidence.notes.push_back("by the glob " + sysctl_name(winner.path));
  }
  for (const SysctlSetting* other : choice.over) {
    evidence.notes.push_back("over " + *other->value + " in " + other->place());
  }
  for (const auto& [file, hidden] : all.hidden) {
    if (file == winner.file) {
      evidence.notes.push_back("in place of " + hidden + ", which it hides");
    }
  }
  return evidence;
}

/// What can be said where the next boot may or may not find the files of /run.
Reading either(const Reading& with, const Reading& without, const std::string& place) {
  if (with == without || std::holds_alternative<Unknown>(with)) {
    return with;
  }
  if (std::holds_alternative<Unknown>(without)) {
    return without;
  }
  const auto* one = std::get_if<Value>(&with);
  const auto* two = std::get_if<Value>(&without);
  if (one != nullptr && two != nullptr) {
    std::vector<std::string> items{one->text, two->text};
    std::ranges::sort(items);
    return Value::one_of(std::move(items));
  }
  return Unknown{Why::ambiguous,
                 facts::describe(with) + " if what wrote " + place +
                     " does so again, since /run is emptied; else " + facts::describe(without),
                 ""};
}

}  // namespace

SysctlSettings read_sysctl_settings(const host::Host& host, bool with_run) {
  SysctlSettings all;
  read_cmdline(host, all);
  find_applier(host, all);
  if (all.by == By::nobody) {
    return all;
  }
  std::vector<std::string_view> folders(kFolders.begin(), kFolders.end());
  if (!with_run) {
    std::erase(folders, kRun);
  }
  std::size_t globs = 0;
  const ConfigFiles found = read_config_files(host, folders);
  for (const Error& error : found.unlisted) {
    all.holes.push_back({kAnywhere, error, false});
  }
  for (const ConfigFile& file : found.files) {
    add_file(file, all, globs);
  }
  if (all.by == By::procps) {
    Result<std::string> text = host.read_file(kConf);
    ConfigFile last{std::string(kConf), "", {}, std::nullopt};
    if (text) {
      last.text = *std::move(text);
    } else if (text.error().code != Errc::absent) {
      last.trouble = text.error();
    }
    add_file(last, all, globs);
  }
  keep_globs_in_force(all);
  return all;
}

SysctlChoice choose_sysctl(const SysctlSettings& all, std::string_view name) {
  const std::string path = sysctl_path(name);
  const SysctlSetting* named = nullptr;
  const SysctlSetting* early = nullptr;
  for (const SysctlSetting& setting : all.settings) {
    if (setting.path == path) {
      (setting.early ? early : named) = &setting;
    }
  }
  const SysctlSetting* glob = nullptr;
  for (const std::size_t at : all.globs) {
    const SysctlSetting& one = all.settings[at];
    if (one.value && one.covers(path)) {
      glob = &one;
    }
  }
  SysctlChoice choice;
  choice.kept_off = named != nullptr && !named->value ? named : nullptr;
  choice.winner = named != nullptr && named->value      ? named
                  : named == nullptr && glob != nullptr ? glob
                                                        : early;
  if (choice.winner != nullptr) {
    for (const SysctlSetting& setting : all.settings) {
      const bool counts = setting.value && &setting != choice.winner && setting.covers(path);
      if (counts && choice.kept_off == nullptr) {
        choice.over.push_back(&setting);
      }
    }
  }
  choice.open = open_error(all, named != nullptr ? named : choice.winner);
  return choice;
}

BootSysctls read_boot_sysctls(const host::Host& host) {
  BootSysctls all{read_sysctl_settings(host, true), std::nullopt};
  const auto run = host.list(kRun);
  if (run && std::ranges::any_of(
                 *run, [](const host::DirEntry& e) { return e.name.ends_with(".conf"); })) {
    all.without_run = read_sysctl_settings(host, false);
  }
  return all;
}

const BootSysctls& boot_sysctls(Survey& survey) {
  return survey.shared<BootSysctls>([&] { return read_boot_sysctls(survey.host()); });
}

NextSysctl next_sysctl(const BootSysctls& all, std::string_view name) {
  const SysctlSettings& with = all.with_run;
  if (with.by == By::nobody && !with.masked) {
    return {Unknown{Why::not_stated, with.nobody, ""}, {}};
  }
  const SysctlChoice choice = choose_sysctl(with, name);
  NextSysctl next{reading_of(with, choice), evidence_of(with, choice)};
  if (all.without_run) {
    const SysctlChoice lasting = choose_sysctl(*all.without_run, name);
    const SysctlChoice& said = choice.winner != nullptr ? choice : lasting;
    next.reading = either(next.reading, reading_of(*all.without_run, lasting),
                          said.winner != nullptr ? said.winner->place() : std::string(kRun));
  }
  if (is_secret_sysctl(name) && !std::holds_alternative<Absent>(next.reading)) {
    next = {Unknown{Why::not_probed, "a secret, not read", ""},
            seen(next.evidence.from, next.evidence.line)};
  }
  return next;
}

}  // namespace goldenv::probe

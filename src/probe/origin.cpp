#include "probe/origin.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "base/text.h"
#include "probe/boot_sysctls.h"
#include "probe/config_folders.h"
#include "probe/path_text.h"

namespace goldenv::probe {
namespace {

using facts::Origin;
using facts::OriginLine;

/// Finds lines in the text of one file.
using Finder = std::function<std::vector<OriginLine>(std::string_view, std::string_view)>;

void add_text(const host::Host& host, std::string_view path, const Finder& find, Origin& origin) {
  const auto text = host.read_file(path);
  if (text) {
    for (OriginLine& line : find(*text, path)) {
      origin.set_by.push_back(std::move(line));
    }
  } else if (text.error().code != Errc::absent) {
    origin.notes.push_back("not known: " + text.error().message);
  }
}

void add_folders(const host::Host& host, std::span<const std::string_view> folders,
                 std::string_view suffix, const Finder& find, Origin& origin) {
  const ConfigFiles found = read_config_files(host, folders, suffix);
  for (const Error& error : found.unlisted) {
    origin.notes.push_back("not known: " + error.message);
  }
  for (const ConfigFile& file : found.files) {
    if (file.trouble) {
      origin.notes.push_back("not known: " + file.trouble->message);
    }
    for (OriginLine& line : find(file.text, file.path)) {
      origin.set_by.push_back(std::move(line));
    }
  }
}

/// Of lines of which the last one wins: the others are overridden.
void keep_last(Origin& origin) {
  while (origin.set_by.size() > 1) {
    origin.over.push_back(std::move(origin.set_by.front()));
    origin.set_by.erase(origin.set_by.begin());
  }
}

OriginLine line_of(const SysctlSetting& setting) {
  return {setting.file, setting.line, setting.text};
}

void explain_sysctl(Survey& survey, std::string_view name, const facts::Fact& fact,
                    Origin& origin) {
  const BootSysctls& all = boot_sysctls(survey);
  const SysctlChoice choice = choose_sysctl(all.with_run, name);
  const bool applied = all.with_run.by != SysctlSettings::By::nobody;
  if (choice.open != nullptr) {
    origin.notes.push_back("not known: " + choice.open->message);
  }
  if (!applied) {
    origin.notes.push_back(all.with_run.nobody);
  }
  if (choice.winner == nullptr) {
    if (choice.kept_off != nullptr) {
      origin.notes.push_back("globs are kept off it by " + choice.kept_off->place());
    } else if (applied && choice.open == nullptr &&
               !std::holds_alternative<facts::Absent>(fact.reading)) {
      origin.notes.emplace_back(
          "no file and no boot parameter: the kernel's default, or a program");
    }
    return;
  }
  const auto* value = std::get_if<facts::Value>(&fact.reading);
  if (value != nullptr && fact.key.name.starts_with("sysctl.") &&
      value->text != *choice.winner->value && !choice.winner->unclear) {
    origin.notes.push_back("not what the boot set: " + choice.winner->place() + " has " +
                           *choice.winner->value +
                           "; changed since by hand or by a program, or the file after the boot");
    origin.files.push_back(origin_file(survey, choice.winner->file));
    return;
  }
  origin.set_by.push_back(line_of(*choice.winner));
  for (const SysctlSetting* other : choice.over) {
    origin.over.push_back(line_of(*other));
  }
}

void explain_cmdline(Survey& survey, std::string_view parameter, Origin& origin) {
  const host::Host& host = survey.host();
  // update-grub reads these one after the other as one shell script.
  std::string script;
  std::vector<std::pair<std::string, std::size_t>> parts;  // path, lines before it
  std::size_t count = 0;
  const auto add = [&](std::string_view path, std::string_view text) {
    parts.emplace_back(path, count);
    count += lines(text).size();
    script += std::string(text) + (text.empty() || text.ends_with('\n') ? "" : "\n");
  };
  add_text(
      host, "/etc/default/grub",
      [&](std::string_view text, std::string_view path) {
        add(path, text);
        return std::vector<OriginLine>{};
      },
      origin);
  constexpr auto kFolders = std::to_array<std::string_view>({"/etc/default/grub.d"});
  add_folders(
      host, kFolders, ".cfg",
      [&](std::string_view text, std::string_view path) {
        add(path, text);
        return std::vector<OriginLine>{};
      },
      origin);
  for (OriginLine& line : grub_lines(script, "", parameter)) {
    for (const auto& [path, before] : parts) {
      if (line.line > before) {
        line.file = path;
      }
    }
    const auto part =
        std::ranges::find(parts, line.file, &std::pair<std::string, std::size_t>::first);
    line.line -= static_cast<std::uint32_t>(part->second);
    origin.set_by.push_back(std::move(line));
  }
  add_text(
      host, "/etc/kernel/cmdline",
      [&](std::string_view text, std::string_view path) {
        auto found = grub_lines("GRUB_CMDLINE_LINUX=" + std::string(trim(text)), path, parameter);
        for (OriginLine& line : found) {
          line.text = line.text.substr(line.text.find('=') + 1);
        }
        return found;
      },
      origin);
  if (origin.set_by.empty() && origin.notes.empty()) {
    origin.notes.emplace_back(
        "no line in /etc/default/grub, /etc/default/grub.d or /etc/kernel/cmdline");
  }
}

void explain_module(Survey& survey, std::string_view module, std::string_view parameter,
                    Origin& origin) {
  // Source: modprobe.d(5).
  constexpr auto kFolders = std::to_array<std::string_view>(
      {"/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d",
       "/lib/modprobe.d"});
  add_folders(
      survey.host(), kFolders, ".conf",
      [&](std::string_view text, std::string_view path) {
        return modprobe_lines(text, path, module, parameter);
      },
      origin);
  keep_last(origin);
  if (origin.set_by.empty() && origin.notes.empty()) {
    origin.notes.emplace_back("no options line in modprobe.d: the module's default");
  } else if (!origin.set_by.empty()) {
    origin.notes.emplace_back("an initramfs may hold an older copy of the file");
  }
}

void explain_variable(Survey& survey, std::string_view name, Origin& origin) {
  const host::Host& host = survey.host();
  const Finder find = [&](std::string_view text, std::string_view path) {
    return environment_lines(text, path, name);
  };
  constexpr auto kGenerated =
      std::to_array<std::string_view>({"/etc/environment.d", "/run/environment.d",
                                       "/usr/local/lib/environment.d", "/usr/lib/environment.d"});
  constexpr auto kProfiles = std::to_array<std::string_view>({"/etc/profile.d"});
  add_folders(host, kGenerated, ".conf", find, origin);
  for (const std::string_view path :
       {"/etc/environment", "/etc/security/pam_env.conf", "/etc/profile"}) {
    add_text(host, path, find, origin);
  }
  add_folders(host, kProfiles, ".sh", find, origin);
  add_text(host, "/etc/bash.bashrc", find, origin);
  const std::string home = survey.untilde("~");
  if (home.starts_with('/')) {
    for (const std::string_view file : {"/.profile", "/.bash_profile", "/.bashrc"}) {
      add_text(host, home + std::string(file), find, origin);
    }
  }
  if (!origin.set_by.empty()) {
    origin.notes.emplace_back(
        "lines that may set it; which of them ran depends on how the process was started");
  } else if (origin.notes.empty()) {
    origin.notes.emplace_back(
        "no line in environment.d, /etc/environment, profile scripts or the user's own: set by "
        "what started the process");
  }
}

void explain_limit(Survey& survey, std::string_view member, Origin& origin) {
  const bool hard = member.ends_with(".hard");
  const std::string_view resource = member.substr(0, member.find('.'));
  const Finder find = [&](std::string_view text, std::string_view path) {
    return limit_lines(text, path, resource, hard);
  };
  constexpr auto kFolders = std::to_array<std::string_view>({"/etc/security/limits.d"});
  add_text(survey.host(), "/etc/security/limits.conf", find, origin);
  add_folders(survey.host(), kFolders, ".conf", find, origin);
  origin.notes.emplace_back(
      origin.set_by.empty() ? "no line in limits.conf or limits.d: the kernel's default, or "
                              "Limit lines of systemd"
                            : "for logins through PAM; services have the limits of their units");
}

void explain_link(Survey& survey, const facts::Fact& fact, Origin& origin) {
  constexpr std::string_view kAlternatives = "/etc/alternatives/";
  for (const std::string& note : fact.evidence.notes) {
    const std::size_t at = note.find(kAlternatives);
    if (at == std::string::npos) {
      continue;
    }
    std::string name = note.substr(at + kAlternatives.size());
    name = name.substr(0, name.find_first_of(" /"));
    const std::string admin = "/var/lib/dpkg/alternatives/" + name;
    const auto text = survey.host().read_file(admin);
    if (text) {
      const auto all = lines(*text);
      const std::string mode = all.empty() ? "" : std::string(trim(all.front()));
      origin.set_by.push_back(
          {admin, 1, mode == "manual" ? "manual: chosen by hand" : "auto: the highest priority"});
    }
    const auto log = survey.host().read_file("/var/log/alternatives.log", 32u << 20);
    if (log) {
      // update-alternatives 2026-10-15 21:36:36: run with --install /usr/local/cuda cuda /usr/...
      std::string last;
      for (const std::string_view line : lines(*log)) {
        const auto parts = words(line);
        if (std::ranges::find(parts, std::string_view(name)) != parts.end()) {
          last = line;
        }
      }
      if (!last.empty()) {
        origin.notes.push_back("/var/log/alternatives.log: " + last);
      }
    }
    if (origin.empty()) {
      origin.notes.push_back("the alternative " + name + "; nothing says who chose it");
    }
    return;
  }
  // No alternative: perhaps a package's own link. The time would be that of the folder behind it.
  const std::string path = survey.untilde(fact.evidence.from);
  // What is told here explains a fact and is none: of what cannot be looked at nothing is told.
  if (path.starts_with('/') && survey.host().exists(path)) {
    origin.files.push_back(origin_file(survey, path));
    origin.files.back().changed_ns.reset();
  }
}

/// The file that a value was read from, where it lies on a disk.
void explain_file(const facts::Fact& fact, Survey& survey, Origin& origin) {
  const std::string path = survey.untilde(fact.evidence.from);
  const bool made_by_kernel =
      is_below(path, "/proc") || is_below(path, "/sys") || is_below(path, "/dev");
  if (path.starts_with('/') && !made_by_kernel && survey.host().exists(path)) {
    origin.files.push_back(origin_file(survey, path));
  }
}

}  // namespace

Origin origin_of(Survey& survey, const facts::Fact& fact) {
  Origin origin;
  const std::string_view name = fact.key.name;
  const auto behind = [&](std::string_view start) { return name.substr(start.size()); };
  if (name.starts_with("sysctl.")) {
    explain_sysctl(survey, behind("sysctl."), fact, origin);
  } else if (name.starts_with("next_boot.sysctl.")) {
    explain_sysctl(survey, behind("next_boot.sysctl."), fact, origin);
  } else if (name.starts_with("kernel.cmdline.")) {
    explain_cmdline(survey, behind("kernel.cmdline."), origin);
  } else if (name.starts_with("module.") && name.find(".param.") != std::string_view::npos) {
    const std::size_t at = name.find(".param.");
    explain_module(survey, name.substr(7, at - 7), name.substr(at + 7), origin);
  } else if (name.starts_with("env.")) {
    explain_variable(survey, behind("env."), origin);
  } else if (name.starts_with("limits.")) {
    explain_limit(survey, behind("limits."), origin);
  } else if (name == "cuda.toolkit.link") {
    explain_link(survey, fact, origin);
  } else {
    explain_file(fact, survey, origin);
  }
  for (OriginLine& line : origin.set_by) {
    const bool known = std::ranges::any_of(origin.files, [&](const facts::OriginFile& file) {
      return file.path == survey.tilde(line.file);
    });
    if (!known && !is_below(line.file, "/proc")) {
      origin.files.push_back(origin_file(survey, line.file));
    }
    line.file = survey.tilde(line.file);
  }
  return origin;
}

}  // namespace goldenv::probe

#include "probe/unit_files.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/text.h"
#include "probe/path_text.h"

namespace goldenv::probe {
namespace {

constexpr std::size_t kFileLimitBytes = 1u << 20;

/// The first wins. Source: systemd.unit(5), "System Unit Search Path".
constexpr std::array<std::string_view, 9> kSystemFolders = {
    "/etc/systemd/system.control",   "/run/systemd/system.control", "/run/systemd/transient",
    "/etc/systemd/system",           "/run/systemd/system",         "/run/systemd/generator",
    "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",     "/lib/systemd/system"};
constexpr std::array<std::string_view, 5> kUserFolders = {
    "/etc/systemd/user", "/run/systemd/user", "/usr/local/lib/systemd/user",
    "/usr/lib/systemd/user", "/lib/systemd/user"};

std::vector<std::string> folders_for(const std::string& home) {
  if (home.empty()) {
    return {kSystemFolders.begin(), kSystemFolders.end()};
  }
  std::vector<std::string> folders{home + "/.config/systemd/user.control",
                                   home + "/.config/systemd/user"};
  folders.insert(folders.end(), kUserFolders.begin(), kUserFolders.end());
  folders.push_back(home + "/.local/share/systemd/user");
  return folders;
}

/// "jupyter@.service" of "jupyter@7.service", else "".
std::string template_of(const std::string& unit) {
  const std::size_t at = unit.find('@');
  const std::size_t dot = unit.rfind('.');
  return at == std::string::npos || dot == std::string::npos || dot < at
             ? ""
             : unit.substr(0, at + 1) + unit.substr(dot);
}

void parse_settings(std::string_view text, const std::string& file, std::string_view section,
                    std::vector<UnitSetting>& settings) {
  bool in_section = false;
  std::string pending;
  std::uint32_t pending_line = 0;
  std::uint32_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    const std::string_view trimmed = trim(line);
    // A comment in the midst of a continued line does not end it.
    if (trimmed.starts_with('#') || trimmed.starts_with(';')) {
      continue;
    }
    if (pending.empty()) {
      pending_line = number;
    }
    if (trimmed.ends_with('\\')) {
      pending += trimmed.substr(0, trimmed.size() - 1);
      pending += ' ';
      continue;
    }
    pending += trimmed;
    const std::string whole = std::exchange(pending, {});
    if (whole.starts_with('[')) {
      in_section = whole == section;
      continue;
    }
    const std::size_t equals = whole.find('=');
    if (in_section && equals != std::string::npos) {
      const std::string_view view = whole;
      settings.push_back({std::string(trim(view.substr(0, equals))),
                          std::string(trim(view.substr(equals + 1))), file, pending_line});
    }
  }
}

}  // namespace

std::span<const std::string_view> system_unit_folders() { return kSystemFolders; }

std::map<std::string, std::string> conf_files(const host::Host& host,
                                              const std::vector<std::string>& folders,
                                              std::vector<Error>& unread) {
  std::map<std::string, std::string> found;
  for (const std::string& folder : folders) {
    const auto entries = host.list(folder);
    if (!entries) {
      if (entries.error().code != Errc::absent) {
        unread.push_back(entries.error());
      }
      continue;
    }
    for (const host::DirEntry& entry : *entries) {
      if (entry.name.ends_with(".conf")) {
        found.try_emplace(entry.name, folder + "/" + entry.name);
      }
    }
  }
  return found;
}

UnitFiles read_unit_files(const host::Host& host, const std::string& unit,
                          const std::string& home) {
  UnitFiles found;
  const std::vector<std::string> folders = folders_for(home);
  const auto take = [&](const std::string& path) {
    const auto real = host.real_path(path);
    if (real && *real == "/dev/null") {
      return true;
    }
    Result<std::string> text = host.read_file(path, kFileLimitBytes);
    if (!text) {
      if (text.error().code == Errc::absent) {
        return false;
      }
      found.unread.push_back(std::move(text).error());
      return true;
    }
    found.files.push_back(path);
    parse_settings(*text, path, "[Service]", found.settings);
    return true;
  };
  std::vector<std::string> names{unit};
  if (std::string general = template_of(unit); !general.empty()) {
    names.push_back(std::move(general));
  }
  bool taken = false;
  for (const std::string& name : names) {
    for (const std::string& folder : folders) {
      if (!taken && take(folder + "/" + name)) {
        taken = true;
        found.is_masked = found.files.empty() && found.unread.empty();
      }
    }
  }
  names.push_back(unit.substr(unit.rfind('.') + 1));  // service.d is of all services
  std::vector<std::string> drop_ins;
  for (const std::string& name : names) {
    for (const std::string& folder : folders) {
      drop_ins.push_back(folder + "/" + name + ".d");
    }
  }
  for (const auto& [name, path] : conf_files(host, drop_ins, found.unread)) {
    // service.d alone makes no unit.
    const bool is_general = base_name(folder_of(path)) == names.back() + ".d";
    if (!is_general || found.is_there()) {
      take(path);
    }
  }
  return found;
}

std::vector<std::string> local_unit_files(const host::Host& host, const std::string& home,
                                          std::vector<Error>& unseen) {
  std::vector<std::string> folders{"/etc/systemd/system", "/etc/systemd/user"};
  if (home.starts_with('/')) {
    folders.push_back(home + "/.config/systemd/user");
  }
  const auto list = [&](const std::string& folder) {
    auto entries = host.list(folder);
    if (!entries && entries.error().code != Errc::absent) {
      unseen.push_back(entries.error());
    }
    return entries ? *std::move(entries) : std::vector<host::DirEntry>{};
  };
  std::vector<std::string> files;
  for (const std::string& folder : folders) {
    for (const host::DirEntry& entry : list(folder)) {
      const std::string path = folder + "/" + entry.name;
      if (entry.kind == host::FileStatus::Kind::file && entry.name.ends_with(".service")) {
        files.push_back(path);
      } else if (entry.kind == host::FileStatus::Kind::folder && entry.name.ends_with(".d")) {
        for (const host::DirEntry& drop_in : list(path)) {
          if (drop_in.name.ends_with(".conf")) {
            files.push_back(path + "/" + drop_in.name);
          }
        }
      }
    }
  }
  std::ranges::sort(files);
  return files;
}

std::optional<LabelledUnit> unit_of_label(const host::Host& host, std::string_view label) {
  constexpr std::string_view kSystem = "unit:";
  constexpr std::string_view kUser = "user-unit:";
  LabelledUnit unit;
  if (label.starts_with(kUser)) {
    unit.name = label.substr(kUser.size());
    unit.home = host.variable("HOME").value_or("");
    if (unit.home.size() < 2) {
      return std::nullopt;
    }
  } else if (label.starts_with(kSystem)) {
    unit.name = label.substr(kSystem.size());
  }
  if (unit.name.empty() || unit.name.find('/') != std::string::npos) {
    return std::nullopt;
  }
  unit.name += unit.name.find('.') == std::string::npos ? ".service" : "";
  return unit;
}

ManagerSettings read_manager_settings(const host::Host& host, bool of_user) {
  const std::string name = of_user ? "user.conf" : "system.conf";
  ManagerSettings found;
  // The main file first, wherever it stands, then the drop-ins: systemd-system.conf(5).
  std::vector<std::string> files;
  std::vector<std::string> drop_ins;
  for (const std::string_view folder :
       {"/etc/systemd/", "/run/systemd/", "/usr/local/lib/systemd/", "/usr/lib/systemd/"}) {
    const std::string path = std::string(folder) + name;
    drop_ins.push_back(path + ".d");
    files.push_back(path);
  }
  const auto take = [&](const std::string& path) {
    const Result<std::string> text = host.read_file(path, kFileLimitBytes);
    if (text) {
      parse_settings(*text, path, "[Manager]", found.settings);
    } else if (text.error().code != Errc::absent) {
      found.unread.push_back(text.error());
    }
    return text || text.error().code != Errc::absent;
  };
  for (const std::string& path : files) {
    if (take(path)) {
      break;
    }
  }
  for (const auto& [file, path] : conf_files(host, drop_ins, found.unread)) {
    take(path);
  }
  return found;
}

}  // namespace goldenv::probe

#include "probe/modprobe_config.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "probe/instances.h"
#include "probe/kernel_text.h"

namespace goldenv::probe {
namespace {

/// Lines with the number of the first, those that end in a backslash joined with what follows.
std::vector<std::pair<std::uint32_t, std::string>> joined_lines(std::string_view text) {
  std::vector<std::pair<std::uint32_t, std::string>> joined;
  std::uint32_t number = 0;
  bool goes_on = false;
  for (std::string_view line : lines(text)) {
    ++number;
    const bool more = line.ends_with('\\');
    if (more) {
      line.remove_suffix(1);
    }
    if (goes_on) {
      joined.back().second += line;
    } else {
      joined.emplace_back(number, line);
    }
    goes_on = more;
  }
  return joined;
}

/// "NVreg_RegistryDwords=a=1;b=2" of `NVreg_RegistryDwords="a=1;b=2"`, as the kernel's next_arg.
std::string unquoted(std::string word) {
  if (word.size() > 1 && word.front() == '"' && word.back() == '"') {
    word = word.substr(1, word.size() - 2);
  }
  const std::size_t open = word.find("=\"");
  if (open != std::string::npos && word.ends_with('"') && word.size() > open + 2) {
    word.pop_back();
    word.erase(open + 1, 1);
  }
  return word;
}

Result<ModprobeConfig> read_config(const host::Host& host) {
  GOLDENV_TRY(const std::vector<std::string> files, drop_in_files(host, "modprobe.d"));
  ModprobeConfig config;
  for (const std::string& file : files) {
    const Result<std::string> text = host.read_file(file);
    if (text) {
      parse_modprobe_file(*text, file, config);
    } else if (text.error().code != Errc::absent &&
               host.read_link(file).value_or("") != "/dev/null") {  // which masks that name
      return text.error();
    }
  }
  return config;
}

}  // namespace

Result<std::vector<std::string>> drop_in_files(const host::Host& host, std::string_view folder) {
  constexpr auto kParents = std::to_array<std::string_view>({
      "/etc/",
      "/run/",
      "/usr/local/lib/",
      "/usr/lib/",
      "/lib/",
  });
  std::map<std::string, std::string> by_name;
  for (const std::string_view parent : kParents) {
    const std::string path = std::string(parent) + std::string(folder);
    const auto entries = host.list(path);
    if (!entries) {
      if (entries.error().code == Errc::absent) {
        continue;
      }
      return entries.error();
    }
    for (const host::DirEntry& entry : *entries) {
      if (entry.name.ends_with(".conf") && entry.kind != host::FileStatus::Kind::folder) {
        by_name.emplace(entry.name, path + "/" + entry.name);
      }
    }
  }
  std::vector<std::string> files;
  for (auto& [name, path] : by_name) {
    files.push_back(std::move(path));
  }
  return files;
}

facts::Evidence ModprobeSetting::evidence() const { return seen(file, line); }

std::string kernel_name_of(std::string_view module) {
  std::string name(module);
  std::ranges::replace(name, '-', '_');
  return name;
}

InstallCommand parse_install_command(std::string_view command) {
  const auto parts = words(command);
  const auto program = [](std::string_view word) { return word.substr(word.rfind('/') + 1); };
  InstallCommand install;
  if (parts.empty()) {
    return install;
  }
  const std::string_view first = program(parts.front());
  if (parts.size() == 1 && (first == "false" || first == "true" || first == ":")) {
    install.kind = InstallCommand::Kind::block;
    return install;
  }
  // install nvidia-modeset modprobe nvidia ; modprobe -i nvidia-current-modeset $CMDLINE_OPTS
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (program(parts[i]) != "modprobe") {
      continue;
    }
    bool ignores_install = false;
    for (std::size_t j = i + 1; j < parts.size(); ++j) {
      if (!parts[j].starts_with('-')) {
        if (ignores_install && !parts[j].starts_with('$')) {
          install.kind = InstallCommand::Kind::redirect;
          install.module = kernel_name_of(parts[j].substr(0, parts[j].find(';')));
        }
        break;
      }
      ignores_install = ignores_install || parts[j] == "--ignore-install" ||
                        (!parts[j].starts_with("--") && parts[j].find('i') != std::string::npos);
    }
  }
  return install;
}

void parse_modprobe_file(std::string_view text, const std::string& file, ModprobeConfig& config) {
  for (const auto& [number, line] : joined_lines(text)) {
    const auto parts = words(line);
    if (parts.size() < 2 || parts[0].starts_with('#')) {
      continue;
    }
    const std::string module = kernel_name_of(parts[1]);
    const auto at = static_cast<std::size_t>(parts[1].data() - line.data()) + parts[1].size();
    const std::string_view rest = trim(std::string_view(line).substr(at));
    if (parts[0] == "blacklist") {
      config.blacklisted.try_emplace(module, ModprobeSetting{std::string(), file, number});
    } else if (parts[0] == "install") {
      config.installs.try_emplace(module, ModprobeSetting{std::string(rest), file, number});
    } else if (parts[0] == "options") {
      for (std::string& word : split_cmdline(rest)) {
        config.options[module].push_back({unquoted(std::move(word)), file, number});
      }
    }
  }
}

const Result<ModprobeConfig>& modprobe_config(Survey& survey) {
  return survey.shared<Result<ModprobeConfig>>([&] { return read_config(survey.host()); });
}

}  // namespace goldenv::probe

// Lines of configuration files that set one thing; pure.
#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "facts/variable_names.h"
#include "probe/kernel_text.h"
#include "probe/origin.h"
#include "probe/redact.h"

namespace goldenv::probe {
namespace {

using facts::OriginLine;

bool is_comment(std::string_view line) { return line.empty() || line.front() == '#'; }

std::string_view without_quotes(std::string_view text) {
  if (text.size() > 1 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front()) {
    return text.substr(1, text.size() - 2);
  }
  return text;
}

bool sets_word(std::string_view value, std::string_view parameter) {
  return std::ranges::any_of(split_cmdline(value), [&](std::string_view word) {
    return word == parameter || (word.starts_with(parameter) && word.size() > parameter.size() &&
                                 word[parameter.size()] == '=');
  });
}

/// Module and parameter names are the same with '-' and '_'.
std::string with_underscores(std::string_view name) {
  std::string result(name);
  std::ranges::replace(result, '-', '_');
  return result;
}

}  // namespace

std::vector<OriginLine> grub_lines(std::string_view text, std::string_view file,
                                   std::string_view parameter) {
  std::vector<OriginLine> found;
  std::map<std::string, std::vector<OriginLine>, std::less<>> by_variable;
  std::uint32_t number = 0;
  for (const std::string_view whole : lines(text)) {
    ++number;
    const std::string_view line = trim(whole);
    const std::size_t equals = line.find('=');
    if (is_comment(line) || !line.starts_with("GRUB_CMDLINE_LINUX") ||
        equals == std::string_view::npos) {
      continue;
    }
    const bool adds = line[equals - 1] == '+';
    const std::string variable(line.substr(0, adds ? equals - 1 : equals));
    const std::string_view value = without_quotes(line.substr(equals + 1));
    auto& sets = by_variable[variable];
    const bool keeps = adds || value.find("$" + variable) != std::string_view::npos ||
                       value.find("${" + variable + "}") != std::string_view::npos;
    if (!keeps) {
      sets.clear();
    }
    if (sets_word(value, parameter)) {
      sets.push_back({std::string(file), number, redact(line)});
    }
  }
  // The command line has GRUB_CMDLINE_LINUX first, then GRUB_CMDLINE_LINUX_DEFAULT.
  for (auto& [variable, sets] : by_variable) {
    found.insert(found.end(), sets.begin(), sets.end());
  }
  return found;
}

std::vector<OriginLine> modprobe_lines(std::string_view text, std::string_view file,
                                       std::string_view module, std::string_view parameter) {
  std::vector<OriginLine> found;
  std::uint32_t number = 0;
  for (const std::string_view whole : lines(text)) {
    ++number;
    const std::string_view line = trim(whole);
    const auto parts = words(line);
    if (is_comment(line) || parts.size() < 3 || parts[0] != "options" ||
        with_underscores(parts[1]) != with_underscores(module)) {
      continue;
    }
    const bool sets = std::any_of(parts.begin() + 2, parts.end(), [&](std::string_view word) {
      const std::string name = with_underscores(word.substr(0, word.find('=')));
      const std::string wanted = with_underscores(parameter);
      return name == wanted || name == "NVreg_" + wanted;
    });
    if (sets) {
      found.push_back({std::string(file), number, redact(line)});
    }
  }
  return found;
}

std::vector<OriginLine> environment_lines(std::string_view text, std::string_view file,
                                          std::string_view name) {
  std::vector<OriginLine> found;
  const bool shown = facts::is_listed_variable(name);
  std::uint32_t number = 0;
  for (const std::string_view whole : lines(text)) {
    ++number;
    const std::string_view line = trim(whole);
    if (is_comment(line)) {
      continue;
    }
    // `export A=1 B=2` and `if x; then A=1`: the name stands at the beginning of a word.
    const auto parts = words(line);
    const bool sets = std::ranges::any_of(parts,
                                          [&](std::string_view word) {
                                            return word.starts_with(name) &&
                                                   word.size() > name.size() &&
                                                   word[name.size()] == '=';
                                          }) ||
                      (parts.size() > 1 && parts[0] == name &&
                       (parts[1].starts_with("DEFAULT=") || parts[1].starts_with("OVERRIDE="))) ||
                      (parts.size() > 1 && parts[0] == "unset" && parts[1] == name);
    if (sets) {
      found.push_back({std::string(file), number, shown ? redact(line) : std::string()});
    }
  }
  return found;
}

std::vector<OriginLine> limit_lines(std::string_view text, std::string_view file,
                                    std::string_view resource, bool hard) {
  std::vector<OriginLine> found;
  std::uint32_t number = 0;
  for (const std::string_view whole : lines(text)) {
    ++number;
    const std::string_view line = trim(whole);
    const auto parts = words(line);
    if (is_comment(line) || parts.size() < 4 || parts[2] != resource) {
      continue;
    }
    if (parts[1] == "-" || parts[1] == (hard ? "hard" : "soft")) {
      found.push_back({std::string(file), number, std::string(line)});
    }
  }
  return found;
}

std::string last_dpkg_entry(std::string_view log, std::string_view package) {
  constexpr auto kActions =
      std::to_array<std::string_view>({"install", "upgrade", "remove", "purge"});
  std::string last;
  for (const std::string_view line : lines(log)) {
    const auto parts = words(line);
    if (parts.size() > 3 && std::ranges::find(kActions, parts[2]) != kActions.end() &&
        parts[3].substr(0, parts[3].find(':')) == package) {
      last = line;
    }
  }
  return last;
}

std::string last_apt_command(std::string_view history, std::string_view package) {
  constexpr auto kFields = std::to_array<std::string_view>(
      {"Install:", "Upgrade:", "Downgrade:", "Remove:", "Purge:", "Reinstall:"});
  std::string last;
  std::string_view command;
  std::string_view user;
  for (const std::string_view line : lines(history)) {
    if (line.starts_with("Start-Date:")) {
      command = {};
      user = {};
    } else if (line.starts_with("Commandline:")) {
      command = trim(line.substr(12));
    } else if (line.starts_with("Requested-By:")) {
      user = trim(line.substr(13));
    }
    const bool acts = std::ranges::any_of(
        kFields, [&](std::string_view field) { return line.starts_with(field); });
    if (!acts) {
      continue;
    }
    // Install: zstd:amd64 (1.5.4), libzstd1:amd64 (1.5.4, automatic)
    const auto parts = words(line);
    const bool named = std::ranges::any_of(parts, [&](std::string_view word) {
      return word.substr(0, word.find(':')) == package && word.find(':') != std::string_view::npos;
    });
    if (named && !command.empty()) {
      last = (user.empty() ? "" : std::string(user) + ": ") + redact(command);
    }
  }
  return last;
}

}  // namespace goldenv::probe

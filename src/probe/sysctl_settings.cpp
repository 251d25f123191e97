#include "probe/sysctl_settings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "probe/sysctl_path.h"

namespace goldenv::probe {
namespace {

constexpr std::string_view kCmdline = "/proc/cmdline";
/// Bytes; the longest that kernels have are a quarter of that. Globs take the square of it.
constexpr std::size_t kPathLimit = 255;

bool is_integer(std::string_view word) {
  if (word.starts_with('-')) {
    word.remove_prefix(1);
  }
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Where a bracket expression that begins at `at` ends (behind its ']'), and whether `c` is in it.
/// npos where it never ends: then the bracket is an ordinary character.
std::pair<std::size_t, bool> bracket(std::string_view pattern, std::size_t at, char c) {
  std::size_t i = at + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  i += negated ? 1u : 0u;
  bool in = false;
  for (bool first = true; i < pattern.size(); first = false) {
    if (pattern[i] == ']' && !first) {
      return {i + 1, in != negated};
    }
    char low = pattern[i++];
    if (low == '\\' && i < pattern.size()) {
      low = pattern[i++];
    }
    char high = low;
    if (i + 1 < pattern.size() && pattern[i] == '-' && pattern[i + 1] != ']') {
      high = pattern[i + 1];
      i += 2;
    }
    in = in || (low <= c && c <= high);
  }
  return {std::string_view::npos, false};
}

/// One part of a path. Goes back to the last star only, so that it takes no more than the product
/// of the lengths.
bool part_matches(std::string_view pattern, std::string_view part) {
  if (part.starts_with('.') && !pattern.starts_with('.')) {
    return false;
  }
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t from = 0;
  while (t < part.size()) {
    bool fits = false;
    std::size_t next = p;
    if (p < pattern.size()) {
      if (pattern[p] == '*') {
        star = ++p;
        from = t;
        continue;
      }
      const auto [end, in] = pattern[p] == '[' ? bracket(pattern, p, part[t])
                                               : std::pair{std::string_view::npos, false};
      if (end != std::string_view::npos) {
        fits = in;
        next = end;
      } else if (pattern[p] == '\\' && p + 1 < pattern.size()) {
        fits = pattern[p + 1] == part[t];
        next = p + 2;
      } else {
        fits = pattern[p] == '?' || pattern[p] == part[t];
        next = p + 1;
      }
    }
    if (fits) {
      p = next;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star;
      t = ++from;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

/// Boot parameters that set one sysctl. Source: the kernel's admin-guide/kernel-parameters, and
/// sysctl_aliases of fs/proc/proc_sysctl.c for those without a value here.
struct BootForm {
  std::string_view parameter;
  std::string_view written;  ///< the value that it is about; "" for any
  std::string_view path;
  std::string_view value;  ///< that this sets; "" for the one that is written
};
constexpr auto kBootForms = std::to_array<BootForm>({
    {"hung_task_panic", "", "kernel/hung_task_panic", ""},
    {"hardlockup_all_cpu_backtrace", "", "kernel/hardlockup_all_cpu_backtrace", ""},
    {"nmi_watchdog", "0", "kernel/nmi_watchdog", "0"},
    {"nmi_watchdog", "1", "kernel/nmi_watchdog", "1"},
    {"numa_balancing", "disable", "kernel/numa_balancing", "0"},
    {"numa_balancing", "enable", "kernel/numa_balancing", "1"},
    {"numa_zonelist_order", "", "vm/numa_zonelist_order", ""},
    {"panic", "", "kernel/panic", ""},
    {"panic_on_warn", "", "kernel/panic_on_warn", ""},
    {"softlockup_all_cpu_backtrace", "", "kernel/softlockup_all_cpu_backtrace", ""},
    {"softlockup_panic", "", "kernel/softlockup_panic", ""},
    {"watchdog_thresh", "", "kernel/watchdog_thresh", ""},
});
/// Those that stand alone.
constexpr auto kBootFlags = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"nosoftlockup", "kernel/soft_watchdog"},
    {"nowatchdog", "kernel/watchdog"},
});

SysctlSetting early_setting(std::string_view path, std::string_view value, std::string_view word) {
  SysctlSetting setting;
  setting.path = path;
  setting.value = sysctl_value(value);
  setting.file = kCmdline;
  setting.text = word;
  setting.early = true;
  return setting;
}

void hide_secret(SysctlSetting& setting) {
  if (is_secret_sysctl(setting.path)) {
    setting.text.clear();
    if (setting.value) {
      setting.value = "***";
    }
  }
}

std::string_view unquoted(std::string_view text) {
  if (text.size() > 1 && text.front() == '"' && text.back() == '"') {
    return text.substr(1, text.size() - 2);
  }
  return text;
}

/// `watchdog_thresh=30`, `nowatchdog`; a path is empty for any other word.
SysctlSetting boot_form(std::string_view name, std::optional<std::string_view> value,
                        std::string_view word) {
  if (!value) {
    for (const auto& [flag, path] : kBootFlags) {
      if (name == flag) {
        return early_setting(path, "0", word);
      }
    }
    return {};
  }
  for (const BootForm& form : kBootForms) {
    if (name == form.parameter && (form.written.empty() || form.written == *value)) {
      return early_setting(form.path, form.value.empty() ? *value : form.value, word);
    }
  }
  return {};
}

/// hugepages= counts pages of the size that hugepagesz= named before it, or a count for each node.
bool has_plain_hugepages(const std::vector<std::string>& words, std::string_view count) {
  return to_number(count) && std::ranges::none_of(words, [](std::string_view word) {
           return word.starts_with("hugepagesz=") || word.starts_with("default_hugepagesz=");
         });
}

}  // namespace

bool SysctlSetting::is_glob() const { return path.find_first_of("*?[") != std::string::npos; }

bool SysctlSetting::covers(std::string_view other_path) const {
  return is_glob() ? path_glob_matches(path, other_path) : path == other_path;
}

std::string SysctlSetting::place() const {
  return line == 0 ? file : file + ":" + std::to_string(line);
}

std::string sysctl_setting_path(std::string_view written) {
  const std::size_t first = written.find_first_of("./");
  const std::string path = first != std::string_view::npos && written[first] == '.'
                               ? sysctl_name(written)  // dots and slashes swapped
                               : std::string(written);
  std::string clean;
  for (const std::string_view part : split(path, '/')) {
    if (part == "..") {
      return {};
    }
    if (!part.empty() && part != ".") {
      clean += (clean.empty() ? "" : "/") + std::string(part);
    }
  }
  return clean;
}

bool path_glob_matches(std::string_view pattern, std::string_view path) {
  const auto patterns = split(pattern, '/');
  const auto parts = split(path, '/');
  return std::ranges::equal(patterns, parts, part_matches);
}

std::string sysctl_value(std::string_view written) {
  const auto parts = words(written);
  if (parts.size() > 1 && std::ranges::all_of(parts, is_integer)) {
    std::string vector;
    for (const std::string_view part : parts) {
      vector += (vector.empty() ? "" : " ") + std::string(part);
    }
    return vector;
  }
  return one_blank(written);
}

std::vector<SysctlSetting> parse_sysctl_file(std::string_view text, std::string_view file) {
  std::vector<SysctlSetting> settings;
  std::uint32_t number = 0;
  for (const std::string_view whole : lines(text)) {
    ++number;
    const std::string_view line = trim(whole);
    if (line.empty() || line.front() == '#' || line.front() == ';') {
      continue;
    }
    const bool dash = line.front() == '-';
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos && !dash) {
      continue;
    }
    SysctlSetting setting;
    const std::string_view key = line.substr(0, equals).substr(dash ? 1 : 0);
    setting.path = sysctl_setting_path(trim(key));
    if (setting.path.empty() || setting.path.size() > kPathLimit) {
      continue;
    }
    if (equals != std::string_view::npos) {
      setting.value = sysctl_value(line.substr(equals + 1));
      setting.ignores_errors = dash;
    }
    setting.file = file;
    setting.line = number;
    setting.text = line;
    hide_secret(setting);
    settings.push_back(std::move(setting));
  }
  return settings;
}

std::vector<SysctlSetting> parse_sysctl_words(const std::vector<std::string>& words) {
  std::vector<SysctlSetting> early;
  std::vector<SysctlSetting> late;  // the kernel comes to `sysctl.` when all else is done
  for (const std::string& word : words) {
    if (word == "--") {
      break;  // what follows is init's
    }
    const std::string_view bare = unquoted(word);
    const std::size_t equals = bare.find('=');
    std::string_view name = bare.substr(0, equals);
    std::optional<std::string_view> value;
    if (equals != std::string_view::npos) {
      value = unquoted(bare.substr(equals + 1));
    }
    SysctlSetting setting;
    if (value && (name.starts_with("sysctl.") || name.starts_with("sysctl/"))) {
      name.remove_prefix(7);
      std::string path(name);
      std::ranges::replace(path, '.', '/');  // here a dot never stays one
      setting = early_setting(sysctl_setting_path(path), *value, word);
    } else if (value && name == "hugepages") {
      setting = early_setting("vm/nr_hugepages", *value, word);
      setting.unclear = !has_plain_hugepages(words, *value);
    } else {
      setting = boot_form(name, value, word);
    }
    if (!setting.path.empty() && setting.path.size() <= kPathLimit) {
      hide_secret(setting);
      (name.data() != bare.data() ? late : early).push_back(std::move(setting));
    }
  }
  early.insert(early.end(), std::make_move_iterator(late.begin()),
               std::make_move_iterator(late.end()));
  return early;
}

}  // namespace goldenv::probe

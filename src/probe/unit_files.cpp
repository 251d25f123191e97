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

void parse_settings(std::string_view text, const std::string& file,
                    std::vector<UnitSetting>& settings) {
  bool in_service = false;
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
      in_service = whole == "[Service]";
      continue;
    }
    const std::size_t equals = whole.find('=');
    if (in_service && equals != std::string::npos) {
      const std::string_view view = whole;
      settings.push_back({std::string(trim(view.substr(0, equals))),
                          std::string(trim(view.substr(equals + 1))), file, pending_line});
    }
  }
}

/// The *.conf files of folders, by name; of equal names that of the first folder.
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

/// What stands for a `%` and a letter; none for what only a running manager knows.
std::optional<std::string> specifier(char letter, const std::string& unit,
                                     const std::string& home) {
  const std::string stem = unit.substr(0, unit.rfind('.'));
  const std::size_t at = stem.find('@');
  switch (letter) {
    case '%':
      return "%";
    case 'n':
      return unit;
    case 'N':
      return stem;
    case 'p':
      return stem.substr(0, at);
    case 'i':
      return at == std::string::npos ? "" : stem.substr(at + 1);
    case 'h':
      return home.empty() ? "/root" : home;
    default:
      return std::nullopt;
  }
}

class Variables {
 public:
  void set(SetVariable variable) { by_name_[variable.name] = std::move(variable); }
  void unset(const std::string& name) { by_name_.erase(name); }
  [[nodiscard]] const SetVariable* find(const std::string& name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : &at->second;
  }
  [[nodiscard]] std::vector<SetVariable> take() && {
    std::vector<SetVariable> out;
    for (auto& [name, variable] : by_name_) {
      out.push_back(std::move(variable));
    }
    return out;
  }

 private:
  std::map<std::string, SetVariable> by_name_;
};

SetVariable assignment(const std::string& word, const std::string& unit, const std::string& home) {
  SetVariable variable;
  const std::size_t equals = word.find('=');
  variable.name = word.substr(0, equals);
  std::string value;
  for (std::size_t i = equals + 1; i < word.size(); ++i) {
    if (word[i] != '%' || i + 1 == word.size()) {
      value += word[i];
      continue;
    }
    const auto text = specifier(word[++i], unit, home);
    if (!text) {
      variable.why = std::string("uses %") + word[i];
      return variable;
    }
    value += *text;
  }
  variable.value = std::move(value);
  return variable;
}

bool is_name(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_';
         });
}

/// $NAME, ${NAME}, ${NAME:-else} and ${NAME:+then}: environment.d(5).
std::string expanded(std::string_view text, const Variables& variables) {
  const auto value_of = [&](std::string_view name) {
    const SetVariable* variable = variables.find(std::string(name));
    return variable != nullptr ? variable->value.value_or("") : std::string();
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    if (text[i + 1] == '{') {
      const std::size_t end = text.find('}', i);
      if (end == std::string_view::npos) {
        out += text.substr(i);
        break;
      }
      const std::string_view inside = text.substr(i + 2, end - i - 2);
      const std::size_t colon = inside.find(':');
      const std::string value = value_of(inside.substr(0, colon));
      if (colon == std::string_view::npos || colon + 1 == inside.size()) {
        out += value;
      } else if (inside[colon + 1] == '-') {
        out += value.empty() ? std::string(inside.substr(colon + 2)) : value;
      } else if (inside[colon + 1] == '+' && !value.empty()) {
        out += inside.substr(colon + 2);
      }
      i = end;
      continue;
    }
    std::size_t end = i + 1;
    while (end < text.size() && is_name(text.substr(i + 1, end - i))) {
      ++end;
    }
    if (end == i + 1) {
      out += '$';
    } else {
      out += value_of(text.substr(i + 1, end - i - 1));
      i = end - 1;
    }
  }
  return out;
}

}  // namespace

std::span<const std::string_view> system_unit_folders() { return kSystemFolders; }

std::vector<std::string> unit_words(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  bool open = false;  // whether a word has begun
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      constexpr std::string_view kLetters = "abfnrtvs";
      constexpr std::string_view kMeant = "\a\b\f\n\r\t\v ";
      const char next = text[++i];
      const std::size_t at = kLetters.find(next);
      word += at == std::string_view::npos ? next : kMeant[at];
      open = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if ((c == '"' || c == '\'') && word.empty()) {
      quote = c;
      open = true;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (std::exchange(open, false)) {
        out.push_back(std::exchange(word, {}));
      }
    } else {
      word += c;
      open = true;
    }
  }
  if (open) {
    out.push_back(std::move(word));
  }
  return out;
}

std::vector<SetVariable> parse_environment_file(std::string_view text, std::string_view file) {
  std::vector<SetVariable> out;
  std::uint32_t line = 1;
  std::size_t i = 0;
  while (i < text.size()) {
    const std::uint32_t began = line;
    const std::size_t end = std::min(text.find('\n', i), text.size());
    const std::string_view first = trim(text.substr(i, end - i));
    const std::size_t equals = text.substr(i, end - i).find('=');
    if (first.empty() || first[0] == '#' || first[0] == ';' || equals == std::string_view::npos) {
      i = end + 1;
      ++line;
      continue;
    }
    SetVariable variable;
    variable.name = trim(text.substr(i, equals));
    variable.file = file;
    variable.line = began;
    std::string value;
    std::size_t kept = 0;  // of the value: what trailing blanks must not be cut from
    char quote = 0;
    for (i += equals + 1; i < text.size(); ++i) {
      const char c = text[i];
      line += c == '\n' ? 1 : 0;
      if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
        const char next = text[++i];
        line += next == '\n' ? 1 : 0;
        const bool is_plain =
            quote == '"' && std::string_view("\"\\`$\n").find(next) == std::string_view::npos;
        value += is_plain ? "\\" : "";
        value += next == '\n' ? std::string() : std::string(1, next);
        kept = value.size();
      } else if (quote != 0) {
        if (c == quote) {
          quote = 0;
        } else {
          value += c;
        }
        kept = value.size();
      } else if (c == '\n') {
        ++i;
        break;
      } else if ((c == '"' || c == '\'') && value.empty()) {
        quote = c;
      } else if ((c == ' ' || c == '\t' || c == '\r') && value.empty()) {
        continue;
      } else {
        value += c;
        kept = c == ' ' || c == '\t' || c == '\r' ? kept : value.size();
      }
    }
    value.resize(kept);
    variable.value = std::move(value);
    if (is_name(variable.name)) {
      out.push_back(std::move(variable));
    }
  }
  return out;
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
    parse_settings(*text, path, found.settings);
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

UnitEnvironment environment_of_unit(const host::Host& host, const UnitFiles& files,
                                    const std::string& unit, const std::string& home) {
  std::vector<const UnitSetting*> direct;
  std::vector<const UnitSetting*> from_files;
  std::vector<std::string> unset;
  for (const UnitSetting& setting : files.settings) {
    std::vector<const UnitSetting*>* list = setting.key == "Environment"       ? &direct
                                            : setting.key == "EnvironmentFile" ? &from_files
                                                                               : nullptr;
    if (list != nullptr && setting.value.empty()) {
      list->clear();  // an empty assignment forgets those before it
    } else if (list != nullptr) {
      list->push_back(&setting);
    } else if (setting.key == "UnsetEnvironment") {
      for (std::string& word : unit_words(setting.value)) {
        unset.push_back(std::move(word));
      }
    }
  }
  UnitEnvironment out;
  out.unread = files.unread;
  Variables variables;
  for (const UnitSetting* setting : direct) {
    for (const std::string& word : unit_words(setting->value)) {
      SetVariable variable = assignment(word, unit, home);
      variable.file = setting->file;
      variable.line = setting->line;
      if (word.find('=') != std::string::npos && is_name(variable.name)) {
        variables.set(std::move(variable));
      }
    }
  }
  for (const UnitSetting* setting : from_files) {
    std::string path = setting->value;
    const bool may_miss = path.starts_with('-');
    path.erase(0, may_miss ? 1 : 0);
    path = assignment("=" + path, unit, home).value.value_or("");
    if (!path.starts_with('/') || path.find_first_of("*?[") != std::string::npos) {
      out.unread.push_back({Errc::unreadable,
                            setting->file + ":" + std::to_string(setting->line) +
                                ": EnvironmentFile=" + setting->value + " is not looked into",
                            {}});
      continue;
    }
    const Result<std::string> text = host.read_file(path, kFileLimitBytes);
    if (text) {
      for (SetVariable& variable : parse_environment_file(*text, path)) {
        variables.set(std::move(variable));
      }
    } else if (text.error().code != Errc::absent) {
      out.unread.push_back(text.error());
    }
  }
  for (const std::string& word : unset) {
    const std::size_t equals = word.find('=');
    const SetVariable* variable = variables.find(word.substr(0, equals));
    if (variable != nullptr &&
        (equals == std::string::npos || variable->value == word.substr(equals + 1))) {
      variables.unset(word.substr(0, equals));
    }
  }
  out.variables = std::move(variables).take();
  return out;
}

UnitEnvironment environment_of_user_manager(const host::Host& host, const std::string& home) {
  UnitEnvironment out;
  Variables variables;
  const auto files =
      conf_files(host,
                 {home + "/.config/environment.d", "/etc/environment.d", "/run/environment.d",
                  "/usr/local/lib/environment.d", "/usr/lib/environment.d"},
                 out.unread);
  for (const auto& [name, path] : files) {
    const Result<std::string> text = host.read_file(path, kFileLimitBytes);
    if (!text) {
      if (text.error().code != Errc::absent) {
        out.unread.push_back(text.error());
      }
      continue;
    }
    for (SetVariable& variable : parse_environment_file(*text, path)) {
      variable.value = expanded(*variable.value, variables);
      variables.set(std::move(variable));
    }
  }
  out.variables = std::move(variables).take();
  return out;
}

}  // namespace goldenv::probe

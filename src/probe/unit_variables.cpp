#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "probe/path_text.h"
#include "probe/unit_files.h"

namespace goldenv::probe {
namespace {

constexpr std::size_t kFileLimitBytes = 1u << 20;
constexpr std::size_t kMatchLimit = 1000;

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

/// The files that a pattern names, part by part, in the order of their names. Source: glob(3), by
/// which systemd reads EnvironmentFile=.
std::vector<std::string> files_of_pattern(const host::Host& host, const std::string& pattern,
                                          std::vector<Error>& unread) {
  std::vector<std::string> found{""};
  for (const std::string_view part : split(std::string_view(pattern).substr(1), '/')) {
    std::vector<std::string> next;
    for (const std::string& folder : found) {
      if (part.find_first_of("*?[") == std::string_view::npos) {
        next.push_back(folder + "/" + std::string(part));
        continue;
      }
      const auto entries = host.list(folder.empty() ? "/" : folder);
      if (!entries && entries.error().code != Errc::absent) {
        unread.push_back(entries.error());
      }
      const std::string glob(part);
      for (const host::DirEntry& entry : entries ? *entries : std::vector<host::DirEntry>{}) {
        if (next.size() < kMatchLimit &&
            ::fnmatch(glob.c_str(), entry.name.c_str(), FNM_PERIOD) == 0) {
          next.push_back(folder + "/" + entry.name);
        }
      }
    }
    found = std::move(next);
  }
  return found;
}

std::string utf8(std::uint64_t code) {
  std::string out;
  const auto add = [&](std::uint64_t bits) { out += static_cast<char>(bits & 0xff); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6);
    add(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  } else {
    add(0xf0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3f));
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  }
  return out;
}

/// What the text behind a backslash means, and how much of it does: "x30 b" is "0" by its first
/// three. A character that begins none of C's escapes means itself. Source: systemd.syntax(7).
std::pair<std::string, std::size_t> escape_at(std::string_view text) {
  struct Form {
    char letter;
    std::size_t digits;
    std::uint64_t base;
    std::uint64_t limit;
  };
  constexpr std::array<Form, 3> kForms = {
      {{'x', 2, 16, 0xff}, {'u', 4, 16, 0xffff}, {'U', 8, 16, 0x10ffff}}};
  const char first = text[0];
  Form form{0, 3, 8, 0xff};
  if (const auto* const at = std::ranges::find(kForms, first, &Form::letter); at != kForms.end()) {
    form = *at;
  }
  const std::size_t skipped = form.letter == 0 ? 0 : 1;
  std::uint64_t code = 0;
  std::size_t read = 0;
  for (; read < form.digits && skipped + read < text.size(); ++read) {
    const char c = text[skipped + read];
    const std::size_t digit =
        std::string_view("0123456789abcdef")
            .find(c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c);
    if (digit >= form.base) {
      break;
    }
    code = code * form.base + digit;
  }
  const bool is_surrogate = form.digits > 3 && code >= 0xd800 && code <= 0xdfff;
  if (read == form.digits && code != 0 && code <= form.limit && !is_surrogate) {
    return {form.digits <= 3 ? std::string(1, static_cast<char>(code)) : utf8(code),
            skipped + read};
  }
  constexpr std::string_view kLetters = "abfnrtvs";
  constexpr std::string_view kMeant = "\a\b\f\n\r\t\v ";
  const std::size_t at = kLetters.find(first);
  return {std::string(1, at == std::string_view::npos ? first : kMeant[at]), 1};
}

}  // namespace

std::vector<std::string> unit_words(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  bool open = false;  // whether a word has begun
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      const auto [meant, length] = escape_at(text.substr(i + 1));
      word += meant;
      i += length;
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

UnitEnvironment environment_of_unit(const host::Host& host, const UnitFiles& files,
                                    const std::string& unit, const std::string& home) {
  std::vector<const UnitSetting*> direct;
  std::vector<const UnitSetting*> from_files;
  std::vector<const UnitSetting*> passed;
  std::vector<std::string> unset;
  for (const UnitSetting& setting : files.settings) {
    std::vector<const UnitSetting*>* list = setting.key == "Environment"       ? &direct
                                            : setting.key == "EnvironmentFile" ? &from_files
                                            : setting.key == "PassEnvironment" ? &passed
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
  const auto set_all = [&](const UnitSetting& setting) {
    for (const std::string& word : unit_words(setting.value)) {
      SetVariable variable = assignment(word, unit, home);
      variable.file = setting.file;
      variable.line = setting.line;
      if (word.find('=') != std::string::npos && is_name(variable.name)) {
        variables.set(std::move(variable));
      }
    }
  };
  const ManagerSettings manager = read_manager_settings(host, !home.empty());
  out.unread.insert(out.unread.end(), manager.unread.begin(), manager.unread.end());
  for (const UnitSetting& setting : manager.settings) {
    if (setting.key == "DefaultEnvironment" && setting.value.empty()) {
      variables = Variables();
    } else if (setting.key == "DefaultEnvironment") {
      set_all(setting);
    }
  }
  // A user's manager passes on all that it has, named or not.
  for (const UnitSetting* setting : home.empty() ? passed : std::vector<const UnitSetting*>{}) {
    for (const std::string& name : unit_words(setting->value)) {
      if (is_name(name)) {
        variables.set({name, std::nullopt, "what systemd itself has of it (PassEnvironment=)",
                       setting->file, setting->line});
      }
    }
  }
  for (const UnitSetting* setting : direct) {
    set_all(*setting);
  }
  for (const UnitSetting* setting : from_files) {
    std::string path = setting->value;
    path.erase(0, path.starts_with('-') ? 1 : 0);  // it may be missing
    path = assignment("=" + path, unit, home).value.value_or("");
    if (!path.starts_with('/')) {
      out.unread.push_back({Errc::unreadable,
                            setting->file + ":" + std::to_string(setting->line) +
                                ": EnvironmentFile=" + setting->value + " is not looked into",
                            {}});
      continue;
    }
    for (const std::string& file : files_of_pattern(host, path, out.unread)) {
      const Result<std::string> text = host.read_file(file, kFileLimitBytes);
      if (text) {
        for (SetVariable& variable : parse_environment_file(*text, file)) {
          variables.set(std::move(variable));
        }
      } else if (text.error().code != Errc::absent) {
        out.unread.push_back(text.error());
      }
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

#include "probe/python_names.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace goldenv::probe {
namespace {

constexpr std::size_t kNameLimitBytes = 214;  // longer than any name an index takes

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_alnum(char c) { return is_digit(c) || is_lower(c) || (c >= 'A' && c <= 'Z'); }
bool is_separator(char c) { return c == '-' || c == '_' || c == '.'; }

std::size_t digits(std::string_view text, std::size_t from) {
  std::size_t at = from;
  while (at < text.size() && is_digit(text[at])) {
    ++at;
  }
  return at - from;
}

/// Length of the release at the start of a text, 0 where there is none. `~` may stand before the
/// pre-release as Debian writes it.
std::size_t release_length(std::string_view text) {
  std::size_t at = 0;
  for (int part = 0; part < 3; ++part) {
    if (part > 0) {
      if (at >= text.size() || text[at] != '.') {
        return 0;
      }
      ++at;
    }
    const std::size_t count = digits(text, at);
    if (count == 0 || count > 4) {
      return 0;
    }
    at += count;
  }
  for (const std::string_view mark : {"a", "b", "rc", "~a", "~b", "~rc"}) {
    if (text.substr(at).starts_with(mark)) {
      const std::size_t count = digits(text, at + mark.size());
      if (count > 0 && count < 4) {
        return at + mark.size() + count;
      }
    }
  }
  return at;
}

bool is_package_version(std::string_view text) {
  return !text.empty() && text.size() <= kNameLimitBytes &&
         (is_digit(text[0]) || ((text[0] == 'v' || text[0] == 'V') && text.size() > 1)) &&
         std::ranges::all_of(
             text, [](char c) { return is_alnum(c) || c == '.' || c == '!' || c == '+'; });
}

std::string unquoted(std::string_view text) {
  if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0]) {
    return std::string(text.substr(1, text.size() - 2));
  }
  return {};
}

/// Whether one `variable op "text"` of an environment marker (PEP 508) holds on Linux; none where
/// it asks for something else than the platform.
std::optional<bool> clause_holds(std::string_view clause, std::string_view machine) {
  const std::vector<std::string_view> parts = words(clause);
  if (parts.size() != 3 || (parts[1] != "==" && parts[1] != "!=")) {
    return std::nullopt;
  }
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kLinux{{
      {"platform_system", "Linux"},
      {"sys_platform", "linux"},
      {"os_name", "posix"},
  }};
  std::string_view is;
  if (parts[0] == "platform_machine") {
    is = machine;
  }
  for (const auto& [variable, text] : kLinux) {
    if (parts[0] == variable) {
      is = text;
    }
  }
  if (is.empty()) {
    return std::nullopt;
  }
  return (unquoted(parts[2]) == is) == (parts[1] == "==");
}

bool marker_holds(std::string_view marker, std::string_view machine) {
  marker = trim(marker);
  while (marker.size() >= 2 && marker.front() == '(' && marker.back() == ')') {
    marker = trim(marker.substr(1, marker.size() - 2));
  }
  while (!marker.empty()) {
    const std::size_t joint = marker.find(" and ");
    if (clause_holds(marker.substr(0, joint), machine) != true) {
      return false;
    }
    marker = joint == std::string_view::npos ? "" : marker.substr(joint + 5);
  }
  return true;
}

}  // namespace

std::optional<std::string> python_series(std::string_view folder_name) {
  constexpr std::string_view kStart = "python";
  if (!folder_name.starts_with(kStart)) {
    return std::nullopt;
  }
  const std::string_view series = folder_name.substr(kStart.size());
  std::string_view rest = series;
  if (rest.ends_with('t')) {
    rest.remove_suffix(1);
  }
  const std::size_t major = digits(rest, 0);
  if (major != 1 || rest.size() < 3 || rest[1] != '.') {
    return std::nullopt;
  }
  const std::size_t minor = digits(rest, 2);
  if (minor == 0 || minor > 3 || 2 + minor != rest.size()) {
    return std::nullopt;
  }
  return std::string(series);
}

bool is_python_release(std::string_view text) {
  return !text.empty() && release_length(text) == text.size() &&
         text.find('~') == std::string_view::npos;
}

std::string leading_python_release(std::string_view text) {
  std::string release(text.substr(0, release_length(text)));
  std::erase(release, '~');
  return release;
}

std::string python_of_patchlevel(std::string_view header) {
  for (const std::string_view line : lines(header)) {
    const std::vector<std::string_view> parts = words(line);
    if (parts.size() >= 3 && parts[0] == "#define" && parts[1] == "PY_VERSION") {
      std::string text = unquoted(parts[2]);
      if (text.ends_with('+')) {
        text.pop_back();
      }
      return is_python_release(text) ? text : std::string();
    }
  }
  return {};
}

VenvConfig parse_venv_config(std::string_view text) {
  VenvConfig config;
  std::string virtualenv;
  std::string uv;
  for (const std::string_view line : lines(text)) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      continue;
    }
    const std::string key = to_lower(trim(line.substr(0, equals)));
    const std::string_view value = trim(line.substr(equals + 1));
    if (key == "home") {
      config.home = value;
    } else if (key == "executable" || key == "base-executable") {
      config.executable = value;
    } else if (key == "version" || key == "version_info") {
      const std::string release = leading_python_release(value);
      config.version = release.empty() ? config.version : release;
    } else if (key == "include-system-site-packages") {
      config.system_site = to_lower(value) == "true";
    } else if (key == "virtualenv") {
      virtualenv = "virtualenv " + std::string(value);
    } else if (key == "uv") {
      uv = "uv " + std::string(value);
    }
  }
  config.maker = uv.empty() ? virtualenv : uv;
  return config;
}

std::optional<std::string> package_name(std::string_view written) {
  if (written.empty() || written.size() > kNameLimitBytes || is_separator(written.front()) ||
      is_separator(written.back())) {
    return std::nullopt;
  }
  std::string name;
  bool separated = false;
  for (const char c : written) {
    if (is_separator(c)) {
      separated = true;
      continue;
    }
    if (!is_alnum(c)) {
      return std::nullopt;
    }
    if (separated) {
      name += '-';
      separated = false;
    }
    name += c;
  }
  return to_lower(name);
}

std::optional<DistributionName> parse_distribution_name(std::string_view entry) {
  constexpr std::string_view kDistInfo = ".dist-info";
  constexpr std::string_view kEggInfo = ".egg-info";
  DistributionName found;
  if (entry.ends_with(kDistInfo)) {
    entry.remove_suffix(kDistInfo.size());
  } else if (entry.ends_with(kEggInfo)) {
    entry.remove_suffix(kEggInfo.size());
    found.form = DistributionName::Form::egg_info;
  } else {
    return std::nullopt;
  }
  if (entry.empty() || entry.front() == '~') {
    return std::nullopt;
  }
  const bool egg = found.form == DistributionName::Form::egg_info;
  // In an egg's name the dashes behind the version are not the version's.
  const std::size_t dash = egg ? entry.find('-') : entry.rfind('-');
  if (dash == std::string_view::npos) {
    found.name = package_name(entry).value_or("");
    return found;
  }
  std::string_view version = entry.substr(dash + 1);
  if (egg) {
    version = version.substr(0, version.find('-'));
  }
  const std::string_view name = entry.substr(0, dash);
  found.name = package_name(name).value_or("");
  if (is_package_version(version)) {
    found.version = std::string(version);
  }
  found.certain = !egg && !found.name.empty() && !found.version.empty() &&
                  name.find('-') == std::string_view::npos;
  return found;
}

CoreMetadata parse_core_metadata(std::string_view text) {
  CoreMetadata metadata;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trim(text.substr(0, end));
    const bool continued = text[0] == ' ' || text[0] == '\t';
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    if (line.empty()) {
      break;
    }
    const std::size_t colon = line.find(':');
    if (continued || colon == std::string_view::npos) {
      continue;
    }
    const std::string field = to_lower(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    if (field == "name" && metadata.name.empty()) {
      metadata.name = std::string(value);
    } else if (field == "version" && metadata.version.empty()) {
      metadata.version = std::string(value);
    } else if (field == "requires-dist") {
      metadata.requires_dist.emplace_back(value);
    }
  }
  return metadata;
}

std::optional<std::string> pinned_version(std::string_view requirement, std::string_view prefix,
                                          std::string_view machine) {
  const std::size_t semicolon = requirement.find(';');
  if (semicolon != std::string_view::npos &&
      !marker_holds(requirement.substr(semicolon + 1), machine)) {
    return std::nullopt;
  }
  requirement = trim(requirement.substr(0, semicolon));
  const auto end =
      std::ranges::find_if(requirement, [](char c) { return !is_alnum(c) && !is_separator(c); });
  const auto length = static_cast<std::size_t>(end - requirement.begin());
  const std::optional<std::string> name = package_name(requirement.substr(0, length));
  if (!name || !name->starts_with(prefix)) {
    return std::nullopt;
  }
  const std::string_view rest = std::string_view(*name).substr(prefix.size());
  if (!rest.empty() &&
      !(rest.starts_with("-cu") && rest.size() > 3 && digits(rest, 3) == rest.size() - 3)) {
    return std::nullopt;
  }
  std::string_view asked = trim(requirement.substr(length));
  if (asked.starts_with('(') && asked.ends_with(')')) {
    asked = trim(asked.substr(1, asked.size() - 2));
  }
  if (!asked.starts_with("==") || asked.starts_with("===")) {
    return std::nullopt;
  }
  asked = trim(asked.substr(2));
  if (!is_package_version(asked)) {
    return std::nullopt;
  }
  return std::string(asked);
}

TorchVersion parse_torch_version(std::string_view text) {
  TorchVersion found;
  std::uint32_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      continue;
    }
    const std::string_view left = line.substr(0, equals);
    const std::string_view name = left.substr(0, left.find_first_of(": \t"));
    std::optional<Assignment>* slot = name == "__version__"   ? &found.version
                                      : name == "cuda"        ? &found.cuda
                                      : name == "hip"         ? &found.hip
                                      : name == "git_version" ? &found.git
                                                              : nullptr;
    if (slot == nullptr) {
      continue;
    }
    const std::string_view value = trim(line.substr(equals + 1));
    if (value == "None") {
      *slot = Assignment{"", true, number};
    } else if (const std::string literal = unquoted(value);
               !literal.empty() && literal.find_first_of("\\'\"") == std::string::npos) {
      *slot = Assignment{literal, false, number};
    }
  }
  return found;
}

std::optional<CondaName> parse_conda_name(std::string_view file_name) {
  constexpr std::string_view kEnd = ".json";
  if (!file_name.ends_with(kEnd)) {
    return std::nullopt;
  }
  file_name.remove_suffix(kEnd.size());
  const std::size_t build = file_name.rfind('-');
  if (build == std::string_view::npos || build == 0) {
    return std::nullopt;
  }
  const std::size_t version = file_name.rfind('-', build - 1);
  if (version == std::string_view::npos || version == 0 || version + 1 == build ||
      build + 1 == file_name.size()) {
    return std::nullopt;
  }
  const bool printable =
      std::ranges::all_of(file_name, [](char c) { return c > ' ' && c < '\x7f' && c != '@'; });
  if (!printable) {
    return std::nullopt;
  }
  return CondaName{to_lower(file_name.substr(0, version)),
                   std::string(file_name.substr(version + 1, build - version - 1)),
                   std::string(file_name.substr(build + 1))};
}

}  // namespace goldenv::probe

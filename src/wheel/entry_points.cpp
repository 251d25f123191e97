#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "version/number.h"
#include "wheel/metadata.h"

namespace goldenv::wheel {
namespace {

/// Names between dots. What they are goes into a script as code, so nothing else passes.
bool is_dotted_name(std::string_view text) {
  return std::ranges::all_of(split(text, '.'),
                             [](std::string_view name) {
                               return !name.empty() && !version::is_digit(name.front()) &&
                                      std::ranges::all_of(name, [](char c) {
                                        return version::is_letter(c) || version::is_digit(c) ||
                                               c == '_' || static_cast<unsigned char>(c) >= 0x80;
                                      });
                             }) &&
         is_utf8(text);
}

bool is_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.size() <= 255 && is_utf8(name) &&
         std::ranges::none_of(name, [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '/' || c == '\\';
         });
}

}  // namespace

Result<std::vector<EntryPoint>> parse_entry_points(std::string_view text) {
  // In another encoding no section would be known, and its scripts would be missing silently.
  if (!is_utf8(text) || text.find('\0') != std::string_view::npos) {
    return Error{Errc::malformed, "entry_points.txt is no UTF-8", {}};
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<EntryPoint> found;
  std::set<std::string> names;
  std::string section;
  std::size_t number = 0;
  for (const std::string_view raw : lines(text)) {
    ++number;
    const auto fault = [&](const std::string& what) {
      return Error{
          Errc::malformed, "entry_points.txt line " + std::to_string(number) + ": " + what, {}};
    };
    const std::string_view line = trim(raw);
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[') {
      if (line.back() != ']') return fault("unclosed \"[\"");
      section = std::string(trim(line.substr(1, line.size() - 2)));
      continue;
    }
    const bool gui = section == "gui_scripts";
    if (!gui && section != "console_scripts") continue;
    const std::size_t sign = line.find('=');
    if (sign == std::string_view::npos) return fault("no \"=\" in " + version::quoted(line));
    EntryPoint entry;
    entry.gui = gui;
    entry.name = std::string(trim(line.substr(0, sign)));
    if (!is_file_name(entry.name)) return fault(version::quoted(entry.name) + " is no file name");
    // Extras behind it ("[x]") say what else must be there; pip takes no notice of them.
    std::string_view object = line.substr(sign + 1);
    object = trim(object.substr(0, object.find('[')));
    const std::size_t colon = object.find(':');
    const std::string_view module = trim(object.substr(0, colon));
    const std::string_view function =
        colon == std::string_view::npos ? "" : trim(object.substr(colon + 1));
    if (!is_dotted_name(module) || !is_dotted_name(function)) {
      return fault(version::quoted(object) + " is no module:function");
    }
    entry.module = std::string(module);
    entry.function = std::string(function);
    if (!names.insert(entry.name).second) {
      return fault("script " + version::quoted(entry.name) + " stands there twice");
    }
    found.push_back(std::move(entry));
  }
  return found;
}

}  // namespace goldenv::wheel

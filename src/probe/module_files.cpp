#include "probe/module_files.h"

#include <algorithm>

#include "base/text.h"

namespace goldenv::probe {
namespace {

/// "nvidia_uvm" of "updates/dkms/nvidia-uvm.ko.zst"; empty where it is no module's path.
std::string module_name(std::string_view path) {
  std::string_view file = path.substr(path.rfind('/') + 1);
  const std::size_t end = file.find(".ko");
  if (end == std::string_view::npos || end == 0) {
    return "";
  }
  std::string name(file.substr(0, end));
  std::ranges::replace(name, '-', '_');
  return name;
}

void add_names(std::string_view text, std::set<std::string, std::less<>>& names) {
  for (const std::string_view line : lines(text)) {
    std::string name = module_name(trim(line.substr(0, line.find(':'))));
    if (!name.empty()) {
      names.insert(std::move(name));
    }
  }
}

}  // namespace

ModuleFiles parse_module_files(std::string_view dep, std::string_view builtin) {
  ModuleFiles files;
  add_names(dep, files.loadable);
  add_names(builtin, files.builtin);
  return files;
}

bool is_module_list(std::string_view text) {
  const auto rows = lines(text);
  return !rows.empty() && std::ranges::all_of(rows, [](std::string_view row) {
    const auto fields = words(row);
    return fields.size() >= 3 && to_number(fields[1]);
  });
}

std::set<std::string, std::less<>> parse_module_names(std::string_view text) {
  std::set<std::string, std::less<>> names;
  for (const std::string_view line : lines(text)) {
    const auto parts = words(line);
    if (parts.size() >= 3) {
      names.emplace(parts.front());
    }
  }
  return names;
}

}  // namespace goldenv::probe

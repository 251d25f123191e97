#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace goldenv::probe {

/// Modules of one kernel release that have a file or are part of the kernel. Names with '_'.
struct ModuleFiles {
  std::set<std::string, std::less<>> loadable;
  std::set<std::string, std::less<>> builtin;
};

/// From the texts of modules.dep ("kernel/drivers/x/y.ko.zst: kernel/...") and modules.builtin
/// ("kernel/drivers/x/y.ko"). Source: depmod(8).
ModuleFiles parse_module_files(std::string_view dep, std::string_view builtin);

/// Whether a text is one of /proc/modules: name, size, users and so on of at least one (proc(5)).
/// An empty one may be cut short, so that /sys has to say.
bool is_module_list(std::string_view text);

/// First words of the lines of /proc/modules:
///   nvidia_uvm 1540096 4 - Live 0x0000000000000000 (POE)
std::set<std::string, std::less<>> parse_module_names(std::string_view text);

}  // namespace goldenv::probe

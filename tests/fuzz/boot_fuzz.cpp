// What decides the next boot: boot loader configurations, modprobe.d, modules.dep.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "probe/boot_entries.h"
#include "probe/installed_modules.h"
#include "probe/modprobe_config.h"

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace goldenv::probe;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const BootVariables saved = parse_grubenv(text);
  const GrubMenu menu = parse_grub(text, "grub.cfg", saved);
  require(!menu.entry || (!menu.entry->image.empty() && menu.entry->line > 0));
  const BootEntry entry = parse_loader_entry(text, "/x/a.conf");
  require(entry.id == "a");
  static_cast<void>(pick_loader_entry({entry}, text.substr(0, 64)));
  require(release_in_name(text).size() <= size && release_in_image(text).size() < 65);

  ModprobeConfig config;
  parse_modprobe_file(text, "x.conf", config);
  for (const auto& [module, options] : config.options) {
    require(module.find('-') == std::string::npos && !options.empty());
  }
  static_cast<void>(parse_install_command(text));
  for (const auto& [module, path] : parse_module_paths(text)) {
    require(!module.empty() && !path.starts_with('/') && path.find("/../") == std::string::npos);
  }
  return 0;
}

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "facts/reading.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// Variables of a boot loader.
using BootVariables = std::map<std::string, std::string, std::less<>>;

/// grubenv: "# GRUB Environment Block", then name=value lines, filled up with '#'. Source: GRUB
/// manual, "The GRUB environment block".
BootVariables parse_grubenv(std::string_view text);

/// An entry of a boot menu.
struct BootEntry {
  std::string image;    ///< as written: "/boot/vmlinuz-5.15.0-91-generic"
  std::string options;  ///< the rest of the line, variables not filled in
  std::string version;  ///< of a boot loader entry's own `version`, or ""
  std::string id;       ///< file name without .conf, of a boot loader entry
  std::string sort_key;
  std::string machine_id;
  std::string title;
  std::string file;
  std::uint32_t line = 0;
};

/// What a grub.cfg does, as far as it can be told without running it.
struct GrubMenu {
  /// The default entry of its own menu. Errors: malformed (ambiguous: the message says why).
  Result<BootEntry> entry = Error{Errc::malformed, "no menu", {}};
  std::string wanted;          ///< text of the default in force: "0", "gnulinux-advanced-...>..."
  bool takes_entries = false;  ///< `blscfg`: its menu is /boot/loader/entries
  bool is_menu = false;        ///< it has entries, or takes some
  BootVariables set;           ///< variables that are set to one plain text throughout
  std::vector<std::string> doubtful;  ///< those set to several
};

/// Source: GRUB manual, "Writing full configuration files directly"; the form is that of
/// grub-mkconfig. Anything that would need its script to be run is an error and never a guess.
GrubMenu parse_grub(std::string_view text, const std::string& file, const BootVariables& saved);

/// A file of loader/entries. Source: UAPI.1 boot loader specification.
BootEntry parse_loader_entry(std::string_view text, const std::string& file);

/// The first of systemd-boot's sorted menu, or what `wanted` (a glob, "" for none) picks of it.
/// Errors: malformed where nothing tells which.
Result<BootEntry> pick_loader_entry(const std::vector<BootEntry>& entries, std::string_view wanted);

/// The release that the name of an image states: "6.1.0-18-amd64" of
/// "/boot/vmlinuz-6.1.0-18-amd64".
std::string release_in_name(std::string_view image);
/// The release in the header of an x86 image; "" where there is none. Source: the kernel's
/// Documentation/arch/x86/boot.rst, kernel_version.
std::string release_in_image(std::string_view head);

/// What the boot loader starts by default at the next boot: a release and a command line, or why
/// they cannot be told. Found once a survey.
struct NextBoot {
  facts::Reading kernel;
  facts::Reading cmdline;  ///< list
  facts::Evidence evidence;

  [[nodiscard]] const std::string* release() const;
  [[nodiscard]] const std::vector<std::string>* parameters() const;
};
const NextBoot& next_boot_of(Survey& survey);

}  // namespace goldenv::probe

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "probe/boot_entries.h"

namespace goldenv::probe {

/// Where Jetson's boot loader, and U-Boot's, look for their menu.
inline constexpr std::string_view kExtlinux = "/boot/extlinux/extlinux.conf";

/// The default entry of an extlinux.conf, the first where no DEFAULT names one:
///   DEFAULT primary
///   LABEL primary
///         LINUX /boot/Image
///         APPEND ${cbootargs} root=PARTUUID=... rw
/// Source: Syslinux wiki, "Config"; keywords in any case. Errors: malformed (no entry, or none of
/// the name; the message says which).
Result<BootEntry> parse_extlinux(std::string_view text, const std::string& file);

}  // namespace goldenv::probe

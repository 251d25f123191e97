#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "facts/origin.h"
#include "facts/reading.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// What set the value of a fact on this machine: for sysctls, boot parameters, module parameters,
/// environment variables, limits and the CUDA link the lines of the files that do; for all else the
/// file that the value was read from, unless the kernel made it. `next_boot` is not filled in.
facts::Origin origin_of(Survey& survey, const facts::Fact& fact);

/// When a file was changed, its package and the last entry of the package log about that.
facts::OriginFile origin_file(Survey& survey, std::string_view path);

// By kind of file; each gives the lines in the order in which they act.

/// Assignments of one word in shell-like lines of /etc/default/grub: `GRUB_CMDLINE_LINUX="a b=1"`.
/// A later assignment replaces an earlier one unless it holds the variable itself.
std::vector<facts::OriginLine> grub_lines(std::string_view text, std::string_view file,
                                          std::string_view parameter);
/// `options <module> ... <parameter>=...` of modprobe.d(5); names with '-' as '_', NVIDIA's
/// parameters with or without NVreg_.
std::vector<facts::OriginLine> modprobe_lines(std::string_view text, std::string_view file,
                                              std::string_view module, std::string_view parameter);
/// `NAME=`, `export NAME=` and `NAME DEFAULT=` (pam_env.conf); the text of the line is given only
/// where the variable is no secret.
std::vector<facts::OriginLine> environment_lines(std::string_view text, std::string_view file,
                                                 std::string_view name);
/// `<domain> <type> <item> <value>` of limits.conf(5) about one resource.
std::vector<facts::OriginLine> limit_lines(std::string_view text, std::string_view file,
                                           std::string_view resource, bool hard);

/// The last line of dpkg.log that installs, upgrades or removes a package, without its
/// architecture:
///   2026-11-30 13:24:56 upgrade zstd:amd64 1.5.4+dfsg2-5 1.5.4+dfsg2-5+deb12u1
std::string last_dpkg_entry(std::string_view log, std::string_view package);
/// What apt was asked when it last did so, and by whom: "alice (1000): apt-get install zstd".
std::string last_apt_command(std::string_view history, std::string_view package);

}  // namespace goldenv::probe

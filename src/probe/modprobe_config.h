#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "facts/reading.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// Something that a line of a configuration file says.
struct ModprobeSetting {
  std::string text;
  std::string file;
  std::uint32_t line = 0;

  [[nodiscard]] facts::Evidence evidence() const;
};

/// What modprobe is told of modules, by their names with '_'. Source: modprobe.d(5).
struct ModprobeConfig {
  template <typename T>
  using ByModule = std::map<std::string, T, std::less<>>;

  /// `options` lines, in the order in which they are handed to the kernel: of a parameter that is
  /// set twice the later counts. Each text is one word, "NVreg_EnableGpuFirmware=0".
  ByModule<std::vector<ModprobeSetting>> options;
  /// `blacklist` lines, the first of each module.
  ByModule<ModprobeSetting> blacklisted;
  /// `install` lines, the first of each module; the text is the command.
  ByModule<ModprobeSetting> installs;
};

/// What an `install` command makes of `modprobe nvidia`.
struct InstallCommand {
  enum class Kind {
    block,     ///< /bin/false, /bin/true: nothing is loaded
    redirect,  ///< modprobe -i nvidia-current: another file is, or this one all the same
    other,     ///< whatever a shell does
  };
  Kind kind = Kind::other;
  std::string module;  ///< of a redirect, with '_'
};
InstallCommand parse_install_command(std::string_view command);

/// Adds what a file says; a line that ends in a backslash goes on in the next.
void parse_modprobe_file(std::string_view text, const std::string& file, ModprobeConfig& config);

/// The *.conf files of /etc/<folder>, /run, /usr/local/lib, /usr/lib and /lib in the order of their
/// names; of equal names the first folder's stands for all. Errors: of the first folder that is
/// there and cannot be read. Source: modprobe.d(5), modules-load.d(5).
Result<std::vector<std::string>> drop_in_files(const host::Host& host, std::string_view folder);

/// The drop-in files of modprobe.d. Read once a survey. Errors: of the first folder or file that is
/// there and cannot be read.
const Result<ModprobeConfig>& modprobe_config(Survey& survey);

/// A module's name as the kernel writes it: "nvidia_uvm" for "nvidia-uvm".
std::string kernel_name_of(std::string_view module);

}  // namespace goldenv::probe

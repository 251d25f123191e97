#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "facts/reading.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// Modules of one kernel that have a file: names with '_', paths below /lib/modules/<release>.
/// depmod has settled already which of two files of one name counts. Source: depmod(8).
using ModulePaths = std::unordered_map<std::string, std::string>;

/// From the text of modules.dep. Of a name that stands twice the first counts, as for modprobe;
/// what leads out of the folder is passed over.
ModulePaths parse_module_paths(std::string_view dep);

/// The file that `modprobe <module>` takes under one kernel.
struct ModuleLookup {
  std::string path;      ///< "/lib/modules/5.15.0-91-generic/updates/dkms/nvidia.ko"; "" for none
  std::string relative;  ///< "updates/dkms/nvidia.ko"
  /// Where there is none: absent with the reason, or why it cannot be told.
  facts::Reading missing;
  facts::Evidence evidence;

  [[nodiscard]] bool is_found() const { return !path.empty(); }
};

/// `install` lines of modprobe.d that lead to another file (Debian's nvidia -> nvidia-current) are
/// followed.
ModuleLookup find_module(Survey& survey, const std::string& release, std::string_view module);

/// Releases below /lib/modules that have a modules.dep, sorted. Errors: those of the look, absent
/// where there is no /lib/modules.
Result<std::vector<std::string>> releases_with_modules(const host::Host& host);

/// What a module's file says of itself.
struct ModuleFile {
  std::optional<std::string> version;
  std::optional<std::string> srcversion;
  std::optional<std::string> vermagic;  ///< without blanks around it
  std::optional<std::string> license;
  bool is_signed = false;
  std::string signer;  ///< "" where the signature does not name it
  std::string digest;  ///< SHA-256 of the uncompressed file; "" where it was not asked for
};

/// Read once a survey, and where there is a memory once a file: nvidia.ko.xz takes a second to
/// decompress. Errors: those of Host::inspect; malformed; too_large (more than 256 MiB inside).
const Result<ModuleFile>& module_file(Survey& survey, const std::string& path,
                                      bool with_digest = false);

}  // namespace goldenv::probe

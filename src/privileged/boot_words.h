#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "facts/snapshot.h"
#include "manifest/manifest.h"

namespace goldenv::privileged {

/// A parameter of a kernel's command line and all words that set it: "isolcpus", {"isolcpus=2-7"}.
/// The name has '_' where it may be written with '-'.
struct BootParameter {
  std::string name;
  std::vector<std::string> words;  ///< in order; none where it shall not be there
};

/// What a pin on kernel.cmdline or one of its parameters (`base`: its key without "next_boot.")
/// wants otherwise than this boot has it, sorted by name. Of a whole command line what a boot
/// loader adds by itself (ro, rw) and what identifies a machine (root=) is left alone; the order of
/// different parameters is not kept.
std::vector<BootParameter> wanted_boot_parameters(const manifest::Pin& pin, std::string_view base,
                                                  const facts::Snapshot& snapshot);

/// Whether the boot loader's default entry has the parameter so.
bool is_set_next_boot(const BootParameter& parameter, const facts::Snapshot& snapshot);

}  // namespace goldenv::privileged

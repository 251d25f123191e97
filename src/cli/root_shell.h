#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace goldenv::cli {

/// Runs a shell script as these very bytes, whatever stands in files meanwhile, with its output on
/// ours and with few variables of ours. Gives its exit status, 128 and more for a signal. Errors:
/// failed.
Result<int> run_script(const std::string& script);
/// The same of a file.
Result<int> run_script_file(const std::string& file);

/// An apply that a machine keeps the way back of.
struct Applied {
  unsigned long number = 0;
  std::string folder;
  bool finished = false;
};

/// The last one that is not undone; one that changed nothing does not count. Errors: denied (the
/// folders are not root's alone, so that what stands in them is not to be run).
Result<std::optional<Applied>> last_applied();

}  // namespace goldenv::cli

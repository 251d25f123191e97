#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::probe {

/// A prefix or interpreter that a process may be running, and what says so.
struct ProcessPython {
  std::string path;
  std::string rule;  ///< "pid 4711 (python3) runs /opt/venv/bin/python"
};

/// The Python that the source's process runs, the surest sign first; empty where it runs none. A
/// virtual environment's interpreter is a link to another one's, so the program alone does not tell
/// it: the name by which it was called does, and else the extension modules that are mapped.
/// Source: CPython's getpath.py. Errors: what it runs is denied; not_live (a kernel thread, a
/// zombie, a unit that is not running).
Result<std::vector<ProcessPython>> pythons_of_process(const host::Host& host);

}  // namespace goldenv::probe

#pragma once

#include <string>

#include "facts/reading.h"
#include "host/host.h"
#include "probe/python_target.h"

namespace goldenv::probe {

struct PythonRelease {
  std::string text;  ///< "3.11.7", or the series without 't' where no file says more
  bool exact = false;
  facts::Evidence evidence;
};

/// The release of an installation (no venv) from the first of: include/pythonX.Y/patchlevel.h; the
/// record of conda's python package; the name of a pyenv or uv folder; dpkg's record of Debian's
/// package (for /usr); the text in libpython or the interpreter. Nothing is run. Reads prefix,
/// series, kind and interpreter of `python`.
PythonRelease python_release(const host::Host& host, const Python& python);

}  // namespace goldenv::probe

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"
#include "probe/path_text.h"
#include "probe/python_target.h"

namespace goldenv::probe {

/// To which installation an interpreter belongs, by CPython's own rule (Modules/getpath.py): a
/// pyvenv.cfg beside it or one folder up makes a venv; else all links are followed and the folders
/// above are searched for lib/pythonX.Y/os.py.
struct PythonHome {
  std::string prefix;
  std::string series;       ///< "" for a venv
  std::string interpreter;  ///< the path asked for
};
/// Errors: those of the look at the file, absent where it is no installation's, and unreadable
/// where the folder above holds several and the name does not say which.
Result<PythonHome> python_home(const host::Host& host, const std::string& interpreter);

/// The Pythons of one prefix: one for a venv, else each lib/pythonX.Y with its standard library and
/// an interpreter, the one that bin/python3 is first. Search paths are not filled in.
struct PrefixPythons {
  std::vector<Python> pythons;  ///< never empty
  std::vector<Error> unseen;    ///< what of the prefix could hold one more and could not be seen
};
/// Errors: absent (no Python there), and those of the look.
Result<PrefixPythons> pythons_in(const host::Host& host, const std::string& prefix);

/// `folder`/`name`, without a doubled slash.
std::string path_in(std::string_view folder, std::string_view name);
/// What stands before the last slash; "/" at the top.
std::string folder_above(std::string_view path);
/// An absolute path without ".", "..", doubled and final slashes, as os.path.normpath makes it:
/// from the text alone.
std::string normal_path(std::string_view path);

}  // namespace goldenv::probe

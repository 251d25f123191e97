#pragma once

#include <string>

#include "support/fake_host.h"

namespace goldenv::test {

/// A fake machine with Pythons on it. PATH is /usr/bin and HOME /home/u unless set otherwise.
struct PythonMachine {
  FakeHost host;

  PythonMachine() {
    host.set("PATH", "/usr/local/bin:/usr/bin").set("HOME", "/home/u").folder("/home/u");
  }

  /// An installation as `make install` lays it out: bin/python3 -> pythonX.Y, its library, and the
  /// header that names the release.
  PythonMachine& python(const std::string& prefix, const std::string& release) {
    const std::string series = release.substr(0, release.rfind('.'));
    host.file(prefix + "/bin/python" + series, "");
    host.link(prefix + "/bin/python3", "python" + series);
    host.file(prefix + "/lib/python" + series + "/os.py", "");
    host.file(prefix + "/include/python" + series + "/patchlevel.h",
              "#define PY_MAJOR_VERSION\t3\n#define PY_VERSION      \t\"" + release + "\"\n");
    return *this;
  }

  /// A venv of an interpreter, as python3 -m venv makes it.
  PythonMachine& venv(const std::string& prefix, const std::string& release,
                      const std::string& home = "/usr/bin", const std::string& more = "") {
    const std::string series = release.substr(0, release.rfind('.'));
    host.file(prefix + "/pyvenv.cfg",
              "home = " + home + "\ninclude-system-site-packages = false\nversion = " + release +
                  "\n" + more);
    host.link(prefix + "/bin/python3", home + "/python3");
    host.link(prefix + "/bin/python", "python3");
    host.folder(site(prefix, series));
    return *this;
  }

  static std::string site(const std::string& prefix, const std::string& series) {
    return prefix + "/lib/python" + series + "/site-packages";
  }

  PythonMachine& package(const std::string& folder, const std::string& dist_info) {
    host.file(folder + "/" + dist_info + ".dist-info/METADATA", "Metadata-Version: 2.1\n");
    return *this;
  }

  PythonMachine& torch(const std::string& folder, const std::string& version,
                       const std::string& cuda = "'12.1'") {
    package(folder, "torch-" + version);
    host.file(folder + "/torch/__init__.py", "");
    host.file(folder + "/torch/version.py",
              "from typing import Optional\n\n__version__ = '" + version +
                  "'\ndebug = False\ncuda: Optional[str] = " + cuda +
                  "\ngit_version = '6c8c5ad5eaf47a62fafbb4a2747198cbffbf1ff0'\n"
                  "hip: Optional[str] = None\n");
    return *this;
  }
};

}  // namespace goldenv::test

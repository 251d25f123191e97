#pragma once

#include <string>

#include "support/fake_host.h"
#include "support/library_fixture.h"

namespace goldenv::test {

/// A machine with a virtual environment /v, which is the target Python. What stands in it is added
/// by the test: torch with the libraries it is to have, wheels, copies of the system.
class TorchMachine {
 public:
  TorchMachine() {
    host.set("HOME", "/home/me").set("VIRTUAL_ENV", "/v").set("PATH", "/v/bin:/usr/bin");
    host.file("/usr/bin/python3.10", library_fixture("plain"));
    host.file("/lib64/ld-linux-x86-64.so.2", library_fixture("plain"));
    host.file("/usr/lib/python3.10/os.py", "");
    host.file("/v/pyvenv.cfg", "home = /usr/bin\nversion = 3.10.12\n");
    host.link("/v/bin/python3", "/usr/bin/python3.10");
    host.link("/v/bin/python", "python3");
    host.folder(site);
  }

  /// torch whose libtorch_cuda.so is this fixture; "" for a build without CUDA.
  TorchMachine& torch(const std::string& cuda, const std::string& version = "2.1.2+cu121",
                      const std::string& built_for = "12.1") {
    host.file(site + "/torch/__init__.py", "");
    host.file(site + "/torch/version.py",
              "__version__ = '" + version + "'\ncuda: Optional[str] = " +
                  (built_for.empty() ? "None" : "'" + built_for + "'") + "\n");
    host.file(site + "/torch-" + version + ".dist-info/METADATA",
              "Name: torch\nVersion: " + version + "\n");
    library(site + "/torch/lib/libtorch_cpu.so", "torch_cpu");
    if (!cuda.empty()) {
      library(site + "/torch/lib/libtorch_cuda.so", cuda);
    }
    return *this;
  }

  TorchMachine& library(const std::string& path, const std::string& fixture) {
    host.file(path, library_fixture(fixture));
    return *this;
  }

  /// A file below site-packages that a wheel installed, and the wheel's dist-info. `size` is what
  /// its RECORD says of the file, the truth where it is 0.
  TorchMachine& wheel(const std::string& name, const std::string& version, const std::string& file,
                      const std::string& fixture, std::size_t size = 0) {
    const std::string bytes = library_fixture(fixture);
    const std::string info = site + "/" + name + "-" + version + ".dist-info";
    host.file(site + "/" + file, bytes);
    host.file(info + "/METADATA", "Name: " + name + "\nVersion: " + version + "\n");
    host.file(info + "/RECORD", file + ",sha256=x," +
                                    std::to_string(size == 0 ? bytes.size() : size) + "\n" + name +
                                    ".dist-info/RECORD,,\n");
    return *this;
  }

  FakeHost host;
  const std::string site = "/v/lib/python3.10/site-packages";
};

inline constexpr const char* kSystemNccl = "/usr/lib/x86_64-linux-gnu/libnccl.so.2";

}  // namespace goldenv::test

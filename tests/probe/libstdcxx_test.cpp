#include <gtest/gtest.h>

#include "probe/probe.h"
#include "scan.h"
#include "torch_machine.h"

namespace goldenv::probe {
extern const Probe libstdcxx;
namespace {

using test::scan;
using test::told;
using test::TorchMachine;

constexpr const char* kSystem = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6";

TEST(LibstdcxxProbe, TheHighestNumberedVersionCounts) {
  TorchMachine machine;
  machine.torch("").library(kSystem, "stdcxx_30");
  const facts::Snapshot snapshot = scan(machine.host, libstdcxx);
  EXPECT_EQ(told(snapshot, "libstdcxx"), "3.4.30");
  EXPECT_EQ(told(snapshot, "libstdcxx.origin"), "system");
  EXPECT_EQ(told(snapshot, std::string("libstdcxx@") + kSystem), "3.4.30");
}

TEST(LibstdcxxProbe, CondasInterpreterFindsCondasCopy) {
  TorchMachine machine;
  machine.library("/opt/conda/bin/python3.10", "conda_python")
      .library("/opt/conda/lib/libstdc++.so.6", "stdcxx_32")
      .library(kSystem, "stdcxx_30");
  machine.host.folder("/opt/conda/conda-meta")
      .file("/opt/conda/lib/python3.10/os.py", "")
      .folder("/opt/conda/lib/python3.10/site-packages")
      .link("/opt/conda/bin/python3", "python3.10")
      .link("/opt/conda/bin/python", "python3.10")
      .set("VIRTUAL_ENV", "")
      .set("CONDA_PREFIX", "/opt/conda")
      .set("PATH", "/opt/conda/bin:/usr/bin");
  const facts::Snapshot snapshot = scan(machine.host, libstdcxx);
  EXPECT_EQ(told(snapshot, "libstdcxx"), "3.4.32");
  EXPECT_EQ(told(snapshot, "libstdcxx.origin"), "conda");
  EXPECT_EQ(told(snapshot, std::string("libstdcxx@") + kSystem), "3.4.30");
}

TEST(LibstdcxxProbe, NoneAndUnreadable) {
  TorchMachine machine;
  EXPECT_EQ(told(machine.host, libstdcxx, "libstdcxx"),
            "absent (the loader finds no libstdc++.so.6)");
  machine.host.deny(kSystem);
  EXPECT_EQ(told(machine.host, libstdcxx, "libstdcxx"), "unknown (denied)");
  machine.library(kSystem, "plain");
  EXPECT_EQ(told(machine.host, libstdcxx, "libstdcxx"), "unknown (not-stated)");
}

TEST(LibstdcxxProbe, AnUnknownPythonLeavesItUnknown) {
  TorchMachine machine;
  machine.library(kSystem, "stdcxx_30");
  Request request;
  request.python = "/nowhere";
  EXPECT_EQ(told(machine.host, libstdcxx, "libstdcxx", request).substr(0, 7), "unknown");
}

}  // namespace
}  // namespace goldenv::probe

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probe/probe.h"
#include "scan.h"
#include "torch_machine.h"

namespace goldenv::probe {
extern const Probe libraries;
extern const Probe llvm;
extern const Probe loader_settings;
extern const Probe mpi;
extern const Probe openmp;
namespace {

using test::scan;
using test::told;
using test::TorchMachine;

TEST(LibrariesProbe, WhatTorchNamesIsResolved) {
  TorchMachine machine;
  machine.torch("torch_cuda")
      .wheel("nvidia_nccl_cu12", "2.18.1", "nvidia/nccl/lib/libnccl.so.2", "nccl_2_18_1")
      .library("/usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0", "gomp");
  machine.host.link("/usr/lib/x86_64-linux-gnu/libgomp.so.1", "libgomp.so.1.0.0");
  const facts::Snapshot snapshot = scan(machine.host, libraries);
  EXPECT_EQ(told(snapshot, "library.path.libnccl.so.2"),
            machine.site + "/nvidia/nccl/lib/libnccl.so.2");
  EXPECT_EQ(told(snapshot, "library.origin.libnccl.so.2"), "wheel");
  EXPECT_EQ(told(snapshot, "library.version.libnccl.so.2"), "2.18.1");
  EXPECT_EQ(told(snapshot, "library.build_id.libnccl.so.2"), "2181218121812181");
  EXPECT_EQ(told(snapshot, "library.origin.libgomp.so.1"), "system");
  EXPECT_EQ(told(snapshot, "library.path.libcudnn.so.9"),
            "absent (the loader finds no libcudnn.so.9)");
}

TEST(LibrariesProbe, AnySonameIsResolvedWhereItIsPinned) {
  TorchMachine machine;
  machine.library("/usr/lib/x86_64-linux-gnu/libx.so.1.2.3", "plain");
  machine.host.link("/usr/lib/x86_64-linux-gnu/libx.so.1", "libx.so.1.2.3");
  const facts::Snapshot snapshot = scan(
      machine.host, libraries, test::only({"library.path.libx.so.1", "library.version.libx.so.1"}));
  EXPECT_EQ(told(snapshot, "library.path.libx.so.1"), "/usr/lib/x86_64-linux-gnu/libx.so.1.2.3");
  EXPECT_EQ(told(snapshot, "library.version.libx.so.1"), "1.2.3");
  EXPECT_EQ(snapshot.facts.size(), 2u);
}

TEST(LibrariesProbe, AnUnknownPythonLeavesThemUnknown) {
  TorchMachine machine;
  machine.library("/usr/lib/x86_64-linux-gnu/libx.so.1", "plain");
  Request request = test::only({"library.path.libx.so.1"});
  request.python = "/nowhere";
  EXPECT_EQ(told(machine.host, libraries, "library.path.libx.so.1", request).substr(0, 7),
            "unknown");
}

TEST(LibrariesProbe, VersionsInFileNames) {
  TorchMachine machine;
  machine.library("/usr/lib/x86_64-linux-gnu/libgdrapi.so.2.4", "plain")
      .library("/usr/local/cuda/lib64/libcufile.so.1.7.2", "plain")
      .library("/usr/lib/x86_64-linux-gnu/libucp.so.0.0.0", "plain");
  machine.host.link("/usr/lib/x86_64-linux-gnu/libgdrapi.so.2", "libgdrapi.so.2.4")
      .link("/usr/local/cuda/lib64/libcufile.so.0", "libcufile.so.1.7.2")
      .link("/usr/lib/x86_64-linux-gnu/libucp.so.0", "libucp.so.0.0.0")
      .set("LD_LIBRARY_PATH", "/usr/local/cuda/lib64");
  EXPECT_EQ(told(machine.host, libraries, "gdrcopy"), "2.4");
  EXPECT_EQ(told(machine.host, libraries, "cuda.cufile"), "1.7.2");
  EXPECT_EQ(told(machine.host, libraries, "ucx"), "unknown (not-stated)");
  machine.host
      .file("/var/lib/dpkg/status",
            "Package: libucx0\nStatus: install ok installed\nArchitecture: amd64\n"
            "Version: 1.13.1-1\n\n")
      .file("/var/lib/dpkg/info/libucx0.list", "/usr/lib/x86_64-linux-gnu/libucp.so.0.0.0\n");
  EXPECT_EQ(told(machine.host, libraries, "ucx"), "1.13.1");
  EXPECT_EQ(told(TorchMachine().host, libraries, "ucx"),
            "absent (the loader finds no libucp.so.0)");
}

TEST(OpenmpProbe, TheRuntimesThatTorchAsksForAreCountedByFile) {
  TorchMachine machine;
  machine.torch("").library("/usr/lib/x86_64-linux-gnu/libgomp.so.1", "gomp");
  EXPECT_EQ(told(machine.host, openmp, "openmp.runtime"), "gnu");
  EXPECT_EQ(told(machine.host, openmp, "openmp.copies"), "gnu: 1");
  // Intel's beside GNU's: two in one process.
  machine.library(machine.site + "/torch/lib/libtorch_cpu.so", "torch_mkl")
      .library(machine.site + "/torch/lib/libiomp5.so", "iomp");
  EXPECT_EQ(told(machine.host, openmp, "openmp.runtime"), "gnu, intel");
  EXPECT_EQ(told(machine.host, openmp, "openmp.copies"), "gnu: 1, intel: 1");
  EXPECT_EQ(told(TorchMachine().host, openmp, "openmp.runtime"), "absent (no torch)");
}

TEST(OpenmpProbe, CondasLinkToLlvmIsLlvm) {
  TorchMachine machine;
  machine.torch("").library("/usr/lib/x86_64-linux-gnu/libomp.so", "gomp");
  machine.host.link("/usr/lib/x86_64-linux-gnu/libgomp.so.1", "libomp.so");
  EXPECT_EQ(told(machine.host, openmp, "openmp.runtime"), "llvm");
  EXPECT_EQ(told(machine.host, openmp, "openmp.copies"), "llvm: 1");
}

TEST(OpenmpProbe, ATorchThatMayNotBeReadLeavesItUnknown) {
  TorchMachine machine;
  machine.torch("");
  machine.host.deny(machine.site + "/torch/lib/libtorch_cpu.so");
  EXPECT_EQ(told(machine.host, openmp, "openmp.runtime"), "unknown (denied)");
}

TEST(LlvmProbe, OneIsInForceTwoAreAmbiguous) {
  TorchMachine machine;
  EXPECT_EQ(told(machine.host, llvm, "llvm"), "absent (the loader finds no libLLVM)");
  machine.library("/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "llvm_14");
  EXPECT_EQ(told(machine.host, llvm, "llvm"), "14...");
  EXPECT_EQ(told(machine.host, llvm, "llvm.origin"), "system");
  EXPECT_EQ(told(machine.host, llvm, "llvm@/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1"), "14...");
  machine.library("/usr/lib/x86_64-linux-gnu/libLLVM.so.18.1", "llvm_18");
  EXPECT_EQ(told(machine.host, llvm, "llvm"), "unknown (ambiguous)");
  EXPECT_EQ(told(machine.host, llvm, "llvm.copies"), "unknown (not-stated)");
}

TEST(LlvmProbe, ThePackageStatesTheWholeVersion) {
  TorchMachine machine;
  machine.library("/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "llvm_14");
  machine.host
      .file("/var/lib/dpkg/status",
            "Package: libllvm14\nStatus: install ok installed\nArchitecture: amd64\n"
            "Version: 1:14.0.6-12\n\n")
      .file("/var/lib/dpkg/info/libllvm14:amd64.list",
            "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1\n");
  EXPECT_EQ(told(machine.host, llvm, "llvm"), "14.0.6");
}

TEST(LoaderSettingsProbe, FoldersAndPreloads) {
  test::FakeHost host;
  EXPECT_EQ(told(host, loader_settings, "loader.dirs"), "absent");
  EXPECT_EQ(told(host, loader_settings, "loader.preload"), "absent");
  host.file("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n/opt/last\n")
      .file("/etc/ld.so.conf.d/a.conf", "/opt/first\n")
      .file("/etc/ld.so.preload", "/a.so /b.so:/c.so # why\n");
  EXPECT_EQ(told(host, loader_settings, "loader.dirs"), "/opt/first /opt/last");
  EXPECT_EQ(told(host, loader_settings, "loader.preload"), "/a.so /b.so /c.so");
  // A list that lacks what an unread file names is none.
  for (const char* hidden : {"/etc/ld.so.conf.d", "/etc/ld.so.conf.d/a.conf"}) {
    test::FakeHost half;
    half.file("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n/opt/last\n")
        .file("/etc/ld.so.conf.d/a.conf", "/opt/first\n")
        .deny(hidden);
    EXPECT_EQ(told(half, loader_settings, "loader.dirs"), "unknown (denied)") << hidden;
  }
  host.file("/etc/ld.so.preload", "\n");
  EXPECT_EQ(told(host, loader_settings, "loader.preload"), "absent (the file names none)");
  host.deny("/etc/ld.so.preload").deny("/etc/ld.so.conf");
  EXPECT_EQ(told(host, loader_settings, "loader.dirs"), "unknown (denied)");
  EXPECT_EQ(told(host, loader_settings, "loader.preload"), "unknown (denied)");
}

TEST(MpiProbe, TheLibraryBesideMpirunStatesItsVersion) {
  TorchMachine machine;
  EXPECT_EQ(told(machine.host, mpi, "mpi"), "absent (no mpirun on PATH)");
  machine.host.link("/usr/bin/mpirun", "orterun").file("/usr/bin/orterun", "");
  EXPECT_EQ(told(machine.host, mpi, "mpi"), "unknown (not-stated)");
  machine.library("/usr/lib/libmpi.so.40", "open_mpi");
  EXPECT_EQ(told(machine.host, mpi, "mpi"), "Open MPI 4.1.4");
  machine.host.deny("/usr/bin/mpirun");
  EXPECT_EQ(told(machine.host, mpi, "mpi"), "unknown (denied)");
}

}  // namespace
}  // namespace goldenv::probe

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "library_probe.h"
#include "probe/probe.h"

namespace goldenv::probe {
extern const Probe cudnn;
namespace {

using test::TorchMachine;
using testing::Contains;
using testing::HasSubstr;

constexpr std::array kParts = {
    "ops", "cnn", "adv", "heuristic", "engines_precompiled", "engines_runtime_compiled"};

/// All of cuDNN 9 in a folder.
void add_all(TorchMachine& machine, const std::string& folder, const std::string& graph) {
  machine.library(folder + "/libcudnn.so.9", "cudnn_9")
      .library(folder + "/libcudnn_graph.so.9", graph);
  for (const char* part : kParts) {
    machine.library(folder + "/libcudnn_" + part + ".so.9", "cudnn_part_9");
  }
}

class CudnnProbe : public test::LibraryProbe {
 protected:
  CudnnProbe() : LibraryProbe(cudnn) {}
  /// torch with the whole of cuDNN 9.1.0 from its wheel's folder.
  void usual() {
    machine.torch("torch_cuda");
    add_all(machine, machine.site + "/nvidia/cudnn/lib", "cudnn_graph_9_1_0");
  }
};

TEST_F(CudnnProbe, TheGraphLibraryStatesAllFourParts) {
  usual();
  const facts::Snapshot snapshot = scan();
  const std::string file = machine.site + "/nvidia/cudnn/lib/libcudnn.so.9";
  EXPECT_EQ(told(snapshot, "cudnn"), "9.1.0.70");
  EXPECT_EQ(told(snapshot, "cudnn.path"), file);
  EXPECT_EQ(told(snapshot, "cudnn.origin"), "wheel");
  EXPECT_EQ(told(snapshot, "cudnn.build_id"), "9107091070910709");
  EXPECT_EQ(told(snapshot, "cudnn.parts"), "9.1.0.70: 7");
  EXPECT_EQ(told(snapshot, "cudnn.copies"), "9.1.0.70: 1");
  EXPECT_EQ(told(snapshot, "cudnn@" + file), "9.1.0.70");
}

TEST_F(CudnnProbe, LdLibraryPathSplitsItsParts) {
  // The shim is found by torch's RPATH, its parts by the shim's RUNPATH, which the variable beats.
  usual();
  add_all(machine, "/opt/cudnn/lib", "cudnn_graph_9_19_0");
  machine.host.fail("/opt/cudnn/lib/libcudnn_adv.so.9", Errc::absent)
      .set("LD_LIBRARY_PATH", "/opt/cudnn/lib");
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "cudnn"), "9.1.0.70");
  EXPECT_EQ(told(snapshot, "cudnn.parts"), "9.1.0.70: 1, 9.19.0.56: 6");
}

TEST_F(CudnnProbe, APartThatNothingAnswersIsMissing) {
  usual();
  machine.host.fail(machine.site + "/nvidia/cudnn/lib/libcudnn_cnn.so.9", Errc::absent);
  EXPECT_EQ(told("cudnn.parts"), "9.1.0.70: 6, missing: 1");
}

TEST_F(CudnnProbe, APartOfAnotherVersionsNameIsCountedApart) {
  machine.torch("torch_cuda");
  const std::string folder = machine.site + "/nvidia/cudnn/lib";
  add_all(machine, folder, "cudnn_graph_9_1_0");
  machine.library(folder + "/libcudnn_ops.so.9.19.0", "cudnn_part_9");
  machine.host.link(folder + "/libcudnn_ops.so.9", "libcudnn_ops.so.9.19.0");
  EXPECT_EQ(told("cudnn.parts"), "9.1.0.70: 6, 9.19.0...: 1");
}

TEST_F(CudnnProbe, TheWheelGivesTheFourthNumberOfCudnn8) {
  machine.wheel("nvidia_cudnn_cu12", "8.9.2.26", "nvidia/cudnn/lib/libcudnn.so.8", "cudnn_8");
  machine.host.set("LD_LIBRARY_PATH", machine.site + "/nvidia/cudnn/lib");
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "cudnn"), "8.9.2.26");
  EXPECT_EQ(told(snapshot, "cudnn.build_id"), "8888888888888888");
  EXPECT_EQ(told(snapshot, "cudnn.origin"), "env");
}

TEST_F(CudnnProbe, TheFileNameAloneIsAPrefix) {
  machine.library("/usr/lib/x86_64-linux-gnu/libcudnn.so.8.9.2", "cudnn_8");
  machine.host.link("/usr/lib/x86_64-linux-gnu/libcudnn.so.8", "libcudnn.so.8.9.2");
  EXPECT_EQ(told("cudnn"), "8.9.2...");
}

TEST_F(CudnnProbe, APackageThatTheFileNameContradictsIsNotBelieved) {
  machine.library("/usr/lib/x86_64-linux-gnu/libcudnn.so.8.9.2", "cudnn_8");
  machine.host.link("/usr/lib/x86_64-linux-gnu/libcudnn.so.8", "libcudnn.so.8.9.2")
      .file("/var/lib/dpkg/status",
            "Package: libcudnn8\nStatus: install ok installed\nArchitecture: amd64\n"
            "Version: 8.6.0.163-1+cuda11.8\n\n")
      .file("/var/lib/dpkg/info/libcudnn8.list", "/usr/lib/x86_64-linux-gnu/libcudnn.so.8.9.2\n");
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "cudnn"), "8.9.2...");
  EXPECT_THAT(evidence(snapshot, "cudnn").notes, Contains(HasSubstr("libcudnn8 says 8.6.0.163")));
}

TEST_F(CudnnProbe, TwoMajorsWithoutTorchAreAmbiguous) {
  machine.library("/usr/lib/x86_64-linux-gnu/libcudnn.so.8", "cudnn_8")
      .library("/usr/lib/x86_64-linux-gnu/libcudnn.so.9", "cudnn_9")
      .library("/usr/lib/x86_64-linux-gnu/libcudnn_graph.so.9", "cudnn_graph_9_1_0");
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "cudnn"), "unknown (ambiguous)");
  EXPECT_EQ(told(snapshot, "cudnn.copies"), "unknown (not-stated)");
  EXPECT_THAT(facts::describe(snapshot.find({"cudnn.copies", ""})->reading),
              HasSubstr("found: 8..., 9.1.0.70"));
}

TEST_F(CudnnProbe, ATorchThatNamesNoneMayHoldItInside) {
  machine.torch("torch_cuda_static");
  EXPECT_EQ(told("cudnn"), "unknown (not-stated)");
  TorchMachine cpu;
  cpu.torch("", "2.1.2+cpu", "");
  EXPECT_EQ(test::told(cpu.host, cudnn, "cudnn"), "absent (no library of torch asks for libcudnn)");
}

TEST_F(CudnnProbe, AGraphLibraryThatMayNotBeReadLeavesTheVersionUnknown) {
  usual();
  machine.host.deny(machine.site + "/nvidia/cudnn/lib/libcudnn_graph.so.9");
  EXPECT_EQ(told("cudnn"), "unknown (denied)");
  EXPECT_EQ(told("cudnn.parts"), "unknown (denied)");
}

TEST_F(CudnnProbe, HeadersOfBothGenerationsAreRead) {
  machine.host.file("/usr/include/cudnn.h",
                    "#define CUDNN_MAJOR 7\n#define CUDNN_MINOR 6\n#define CUDNN_PATCHLEVEL 5\n");
  EXPECT_EQ(told("cudnn.header"), "7.6.5");
  machine.host.file("/usr/include/cudnn_version.h",
                    "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 19\n#define CUDNN_PATCHLEVEL 0\n");
  EXPECT_EQ(told("cudnn.header"), "9.19.0");
  machine.host.deny("/usr/include/cudnn_version.h");
  EXPECT_EQ(told("cudnn.header"), "unknown (denied)");
}

}  // namespace
}  // namespace goldenv::probe

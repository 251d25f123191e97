#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "library_probe.h"
#include "nameless_host.h"
#include "probe/nccl_library.h"
#include "probe/probe.h"

namespace goldenv::probe {
extern const Probe nccl;
}

namespace goldenv {
namespace {

using probe::nccl;
using probe::NcclText;
using probe::parse_nccl_text;
using test::kSystemNccl;
using testing::Contains;
using testing::HasSubstr;

class NcclProbe : public test::LibraryProbe {
 protected:
  NcclProbe() : LibraryProbe(nccl) {}
  /// torch 2.1 with the wheel that it asks for, NCCL 2.18.1.
  void usual() {
    machine.torch("torch_cuda")
        .wheel("nvidia_nccl_cu12", "2.18.1", "nvidia/nccl/lib/libnccl.so.2", "nccl_2_18_1");
  }
};

TEST(NcclText, StatesVersionAndCuda) {
  EXPECT_EQ(parse_nccl_text("2.28.9+cuda13.0"), (NcclText{"2.28.9", "13.0"}));
  EXPECT_EQ(parse_nccl_text("2.28.9 compiled with CUDA 13.0"), (NcclText{"2.28.9", "13.0"}));
  EXPECT_EQ(parse_nccl_text("2.5.7+cudaCUDA_MAJOR.CUDA_MINOR"), (NcclText{"2.5.7", ""}));
  EXPECT_EQ(parse_nccl_text("2.10.3+cuda11."), (NcclText{"2.10.3", ""}));
  EXPECT_EQ(parse_nccl_text("mismatch with remote peer"), (NcclText{"", ""}));
  EXPECT_EQ(parse_nccl_text(""), (NcclText{"", ""}));
}

TEST_F(NcclProbe, TheWheelThatTorchWouldLoadIsInForce) {
  usual();
  const facts::Snapshot snapshot = scan();
  const std::string file = machine.site + "/nvidia/nccl/lib/libnccl.so.2";
  EXPECT_EQ(told(snapshot, "nccl"), "2.18.1");
  EXPECT_EQ(told(snapshot, "nccl.cuda"), "12.1");
  EXPECT_EQ(told(snapshot, "nccl.origin"), "wheel");
  EXPECT_EQ(told(snapshot, "nccl.path"), file);
  EXPECT_EQ(told(snapshot, "nccl.build_id"), "2181218121812181");
  EXPECT_EQ(told(snapshot, "nccl@" + file), "2.18.1");
  EXPECT_EQ(told(snapshot, "nccl.copies"), "2.18.1: 1");
  EXPECT_EQ(evidence(snapshot, "nccl").basis, "resolved");
  EXPECT_EQ(evidence(snapshot, "nccl").from, file);
  EXPECT_EQ(evidence(snapshot, "nccl").build_id, "2181218121812181");
  EXPECT_THAT(evidence(snapshot, "nccl").notes, Contains(HasSubstr("found by DT_RPATH of")));
}

TEST_F(NcclProbe, LdLibraryPathDoesNotMoveWhatRpathFinds) {
  usual();
  machine.library("/opt/nccl/lib/libnccl.so.2", "nccl_2_19_3");
  machine.host.set("LD_LIBRARY_PATH", "/opt/nccl/lib");
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "nccl"), "2.18.1");
  EXPECT_EQ(told(snapshot, "nccl.origin"), "wheel");
  EXPECT_EQ(told(snapshot, "nccl@/opt/nccl/lib/libnccl.so.2"), "2.19.3");
  EXPECT_EQ(told(snapshot, "nccl.copies"), "2.18.1: 1, 2.19.3: 1");
}

TEST_F(NcclProbe, LdPreloadWins) {
  usual();
  machine.library("/opt/other/my_nccl.so", "nccl_2_19_3");
  machine.host.set("LD_PRELOAD", "/opt/other/my_nccl.so");
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "nccl"), "2.19.3");
  EXPECT_EQ(told(snapshot, "nccl.origin"), "preload");
  EXPECT_EQ(told(snapshot, "nccl.path"), "/opt/other/my_nccl.so");
}

TEST_F(NcclProbe, PreloadsOfTheSystemFileWinToo) {
  usual();
  machine.library("/opt/other/libnccl.so.2", "nccl_2_19_3");
  machine.host.file("/etc/ld.so.preload", "# tuned\n/opt/other/libnccl.so.2\n");
  EXPECT_EQ(told("nccl"), "2.19.3");
}

TEST_F(NcclProbe, RpathThatLeadsNowhereFallsToTheSystemAndSaysSo) {
  machine.torch("torch_cuda").library(kSystemNccl, "nccl_2_19_3");
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "nccl"), "2.19.3");
  EXPECT_EQ(told(snapshot, "nccl.origin"), "system");
  EXPECT_THAT(evidence(snapshot, "nccl").notes,
              Contains(HasSubstr("before: DT_RPATH of /v/lib/python3.10")));
}

TEST_F(NcclProbe, TorchThatFindsNoneIsAbsentWithTheReason) {
  machine.torch("torch_cuda");
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "nccl"), "absent (torch asks for libnccl.so.2 and nothing answers)");
  EXPECT_EQ(told(snapshot, "nccl.copies"), "absent (no copy in the places where libraries live)");
}

TEST_F(NcclProbe, TorchOfACpuBuildAsksForNone) {
  machine.torch("", "2.1.2+cpu", "").library(kSystemNccl, "nccl_2_19_3");
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "nccl"), "absent (no library of torch asks for libnccl)");
  EXPECT_EQ(told(snapshot, "nccl.copies"), "2.19.3: 1");
}

TEST_F(NcclProbe, NcclInsideTorchIsStatic) {
  machine.torch("torch_cuda_static", "1.13.1+cu117", "11.7").library(kSystemNccl, "nccl_2_19_3");
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "nccl"), "2.14.3");
  EXPECT_EQ(told(snapshot, "nccl.origin"), "static");
  EXPECT_EQ(told(snapshot, "nccl.cuda"), "11.7");
  EXPECT_EQ(told(snapshot, "nccl.path"), machine.site + "/torch/lib/libtorch_cuda.so");
}

TEST_F(NcclProbe, WithoutTorchItIsWhatAProgramWouldLoad) {
  machine.library(kSystemNccl, "nccl_2_18_1").library("/opt/nccl/lib/libnccl.so.2", "nccl_2_19_3");
  machine.host.set("LD_LIBRARY_PATH", "/opt/nccl/lib");
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "nccl"), "2.19.3");
  EXPECT_EQ(told(snapshot, "nccl.origin"), "env");
  EXPECT_EQ(evidence(snapshot, "nccl").basis, "no torch: what a program would load");
}

TEST_F(NcclProbe, TwoTorchesAndNoWordOnWhichLeaveItAmbiguous) {
  test::FakeHost host;
  host.set("PATH", "/usr/bin").file(kSystemNccl, test::library_fixture("nccl_2_19_3"));
  for (const std::string prefix : {"/opt/conda", "/opt/miniconda3"}) {
    host.folder(prefix + "/conda-meta")
        .file(prefix + "/bin/python3.10", test::library_fixture("conda_python"))
        .link(prefix + "/bin/python3", "python3.10")
        .file(prefix + "/lib/python3.10/os.py", "")
        .file(prefix + "/lib/python3.10/site-packages/torch/__init__.py", "")
        .file(prefix + "/lib/python3.10/site-packages/torch/lib/libtorch_cuda.so",
              test::library_fixture("torch_cuda"))
        .file(prefix + "/lib/libnccl.so.2", test::library_fixture("nccl_2_18_1"));
  }
  const facts::Snapshot snapshot = test::scan(host, nccl);
  EXPECT_EQ(told(snapshot, "nccl"), "unknown (ambiguous)");
  EXPECT_EQ(told(snapshot, "nccl.origin"), "unknown (ambiguous)");
  EXPECT_EQ(told(snapshot, "nccl.copies"), "2.18.1: 2, 2.19.3: 1");
  EXPECT_EQ(told(snapshot, "nccl@/opt/conda/lib/libnccl.so.2"), "2.18.1");
}

TEST_F(NcclProbe, APythonThatIsNoneLeavesItUnknown) {
  usual();
  probe::Request request;
  request.python = "/nowhere";
  EXPECT_EQ(told("nccl", request).substr(0, 7), "unknown");
}

TEST_F(NcclProbe, UnfilledMacrosGiveNoCuda) {
  machine.library(kSystemNccl, "nccl_unfilled");
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "nccl"), "2.5.7");
  EXPECT_EQ(told(snapshot, "nccl.cuda"), "unknown (not-stated)");
  EXPECT_EQ(told(snapshot, "nccl.build_id"), "absent (the file has no build-id)");
}

TEST_F(NcclProbe, OtherTextsOfItsAreNoVersion) {
  machine.library(kSystemNccl, "nccl_2_28_9");
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "nccl"), "2.28.9");
  EXPECT_EQ(told(snapshot, "nccl.cuda"), "13.0");
}

TEST_F(NcclProbe, WithoutTextTheFileNameSpeaks) {
  machine.library("/usr/lib/x86_64-linux-gnu/libnccl.so.2.3.7", "nccl_silent");
  machine.host.link(kSystemNccl, "libnccl.so.2.3.7");
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "nccl"), "2.3.7");
  EXPECT_EQ(told(snapshot, std::string("nccl@") + kSystemNccl), "2.3.7");
  EXPECT_EQ(told(snapshot, "nccl.copies"), "2.3.7: 1");
}

TEST_F(NcclProbe, AWheelThatWasOverwrittenIsToldAndNotBelieved) {
  machine.torch("torch_cuda")
      .wheel("nvidia_nccl_cu12", "2.18.1", "nvidia/nccl/lib/libnccl.so.2", "nccl_2_19_3", 12345);
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "nccl"), "2.19.3");
  EXPECT_THAT(evidence(snapshot, "nccl").notes,
              Contains(HasSubstr("nvidia_nccl_cu12 says 2.18.1")));
}

TEST_F(NcclProbe, AFileThatMayNotBeReadIsUnknown) {
  usual();
  machine.host.deny(machine.site + "/nvidia/nccl/lib/libnccl.so.2");
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "nccl"), "unknown (denied)");
  EXPECT_EQ(told(snapshot, "nccl.path"), "unknown (denied)");
}

TEST_F(NcclProbe, AFolderThatMayNotBeReadLeavesTheCountOpen) {
  usual();
  machine.host.deny("/usr/local/lib");
  const facts::Snapshot snapshot = scan();
  EXPECT_EQ(told(snapshot, "nccl"), "2.18.1");
  EXPECT_EQ(told(snapshot, "nccl.copies"), "unknown (denied)");
}

TEST_F(NcclProbe, ATruncatedFileIsUnknown) {
  usual();
  machine.host.file(machine.site + "/nvidia/nccl/lib/libnccl.so.2",
                    test::library_fixture("nccl_2_18_1").substr(0, 40));
  EXPECT_EQ(told("nccl"), "unknown (unreadable)");
}

TEST_F(NcclProbe, HeaderIsOfTheToolkitThatBuildsTake) {
  machine.host.file("/usr/local/cuda/include/nccl.h",
                    "#define NCCL_MAJOR 2\n#define NCCL_MINOR 28\n#define  NCCL_PATCH  9\n");
  machine.host.file("/usr/include/nccl.h",
                    "#define NCCL_MAJOR 2\n#define NCCL_MINOR 18\n#define NCCL_PATCH 1\n");
  EXPECT_EQ(told("nccl.header"), "2.28.9");
  EXPECT_EQ(test::told(test::TorchMachine().host, nccl, "nccl.header"),
            "absent (no such header where builds look)");
}

TEST_F(NcclProbe, HeaderOfAToolkitThatIsHiddenIsUnknown) {
  machine.host.deny("/usr/local/cuda");
  machine.host.file("/usr/include/nccl.h",
                    "#define NCCL_MAJOR 2\n#define NCCL_MINOR 18\n#define NCCL_PATCH 1\n");
  EXPECT_EQ(told("nccl.header"), "unknown (denied)");
}

TEST(NcclHeader, IsFoundInTripletFoldersOfAMachineOfUnknownType) {
  test::NamelessHost machine;
  machine.set("PATH", "/usr/bin").set("HOME", "/root");
  machine.file("/usr/include/x86_64-linux-gnu/nccl.h",
               "#define NCCL_MAJOR 2\n#define NCCL_MINOR 18\n#define NCCL_PATCH 1\n");
  EXPECT_EQ(test::told(machine, nccl, "nccl.header"), "2.18.1");
  machine.file("/usr/include/aarch64-linux-gnu/nccl.h",
               "#define NCCL_MAJOR 2\n#define NCCL_MINOR 19\n#define NCCL_PATCH 3\n");
  EXPECT_EQ(test::told(machine, nccl, "nccl.header"), "unknown (ambiguous)");
  machine.deny("/usr/include");
  EXPECT_EQ(test::told(machine, nccl, "nccl.header"), "unknown (denied)");
}

TEST_F(NcclProbe, ACheckLooksOnlyForWhatIsPinned) {
  usual();
  const facts::Snapshot snapshot = scan(test::only({"nccl"}));
  ASSERT_EQ(snapshot.facts.size(), 1u);
  EXPECT_EQ(told(snapshot, "nccl"), "2.18.1");
  const std::string copy = "nccl@" + machine.site + "/nvidia/nccl/lib/libnccl.so.2";
  EXPECT_EQ(told(copy, test::only({copy})), "2.18.1");
}

}  // namespace
}  // namespace goldenv

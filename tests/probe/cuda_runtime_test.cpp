#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probe/probe.h"
#include "scan.h"
#include "torch_machine.h"

namespace goldenv::probe {
extern const Probe cuda_runtime;
namespace {

using test::scan;
using test::told;
using test::TorchMachine;
using testing::Contains;
using testing::HasSubstr;

constexpr const char* kRuntime = "nvidia/cuda_runtime/lib/libcudart.so.12";

struct Usual : TorchMachine {
  explicit Usual(const std::string& version) {
    torch("torch_cuda").wheel("nvidia_cuda_runtime_cu12", version, kRuntime, "cudart_12");
  }
};

std::vector<std::string> notes(const facts::Snapshot& snapshot, std::string_view key) {
  const facts::Fact* fact = snapshot.find(facts::FactKey::parse(key));
  return fact == nullptr ? std::vector<std::string>{} : fact->evidence.notes;
}

TEST(CudaRuntimeProbe, TheWheelThatTorchLoadsGivesRuntimeAndRelease) {
  const Usual machine("12.1.105");
  const facts::Snapshot snapshot = scan(machine.host, cuda_runtime);
  EXPECT_EQ(told(snapshot, "cuda.runtime"), "12.1.105");
  EXPECT_EQ(told(snapshot, "cuda.runtime.origin"), "wheel");
  EXPECT_EQ(told(snapshot, "cuda.runtime.build_id"), "1210512105121051");
  EXPECT_EQ(told(snapshot, "cuda"), "12.1.1");
  EXPECT_EQ(told(snapshot, "cuda.runtime@" + machine.site + "/" + kRuntime), "12.1.105");
  EXPECT_THAT(notes(snapshot, "cuda"), Contains("origin: wheel"));
}

TEST(CudaRuntimeProbe, NumbersThatServeSeveralReleasesGiveThemAll) {
  EXPECT_EQ(told(Usual("12.6.77").host, cuda_runtime, "cuda"), "12.6.2 or 12.6.3");
}

TEST(CudaRuntimeProbe, CublasBesideItTellsTheReleasesApart) {
  Usual machine("12.6.77");
  machine.host.file(machine.site + "/nvidia_cublas_cu12-12.6.4.1.dist-info/METADATA", "");
  EXPECT_EQ(told(machine.host, cuda_runtime, "cuda"), "12.6.3");
}

TEST(CudaRuntimeProbe, TheWheelThatStandsForTheReleaseDecides) {
  Usual machine("12.8.90");
  machine.host.file(machine.site + "/cuda_toolkit-12.8.1.dist-info/METADATA", "");
  EXPECT_EQ(told(machine.host, cuda_runtime, "cuda"), "12.8.1");
}

TEST(CudaRuntimeProbe, ANeighbourOfAnotherReleaseIsToldAndLeftOut) {
  Usual machine("12.6.77");
  machine.host.file(machine.site + "/nvidia_cublas_cu12-12.1.3.1.dist-info/METADATA", "");
  const facts::Snapshot snapshot = scan(machine.host, cuda_runtime);
  EXPECT_EQ(told(snapshot, "cuda"), "12.6.2 or 12.6.3");
  EXPECT_THAT(notes(snapshot, "cuda"), Contains(HasSubstr("nvidia_cublas_cu12-12.1.3.1")));
}

TEST(CudaRuntimeProbe, NumbersThatTheTableDoesNotHaveGiveAPrefix) {
  EXPECT_EQ(told(Usual("12.1.999").host, cuda_runtime, "cuda"), "12.1...");
}

TEST(CudaRuntimeProbe, TheRuntimeThatTorchBundlesHasTorchsOwnNumber) {
  TorchMachine machine;
  machine.torch("torch_cuda_bundled", "1.12.1+cu116", "11.6")
      .library(machine.site + "/torch/lib/libcudart-9335f6a2.so.11.0", "cudart_bundled");
  const facts::Snapshot snapshot = scan(machine.host, cuda_runtime);
  EXPECT_EQ(told(snapshot, "cuda.runtime"), "11.6...");
  EXPECT_EQ(told(snapshot, "cuda.runtime.origin"), "torch");
  EXPECT_EQ(told(snapshot, "cuda"), "11.6...");
}

TEST(CudaRuntimeProbe, TheToolkitsCopyIsOfTheToolkitsRelease) {
  TorchMachine machine;
  machine.torch("torch_cuda")
      .library("/usr/local/cuda-12.2/lib64/libcudart.so.12.2.140", "cudart_12");
  machine.host.file("/usr/local/cuda-12.2/version.json", R"({"cuda": {"version": "12.2.2"}})")
      .link("/usr/local/cuda-12.2/lib64/libcudart.so.12", "libcudart.so.12.2.140")
      .set("LD_LIBRARY_PATH", "/usr/local/cuda-12.2/lib64");
  const facts::Snapshot snapshot = scan(machine.host, cuda_runtime);
  EXPECT_EQ(told(snapshot, "cuda.runtime"), "12.2.140");
  EXPECT_EQ(told(snapshot, "cuda.runtime.origin"), "env");
  EXPECT_EQ(told(snapshot, "cuda"), "12.2.2");
  EXPECT_THAT(notes(snapshot, "cuda.runtime"), Contains("it lies in: toolkit"));
}

TEST(CudaRuntimeProbe, WithoutTorchTheReleaseIsTheToolkits) {
  TorchMachine machine;
  machine.host.file("/usr/local/cuda-12.1/version.json", R"({"cuda": {"version": "12.1.1"}})")
      .link("/usr/local/cuda", "cuda-12.1");
  const facts::Snapshot snapshot = scan(machine.host, cuda_runtime);
  EXPECT_EQ(told(snapshot, "cuda"), "12.1.1");
  EXPECT_EQ(told(snapshot, "cuda.runtime"), "absent (the loader finds no libcudart)");
  EXPECT_THAT(notes(snapshot, "cuda"), Contains("no torch: cuda.toolkit"));
}

TEST(CudaRuntimeProbe, OfATreeWithoutVariablesItIsToldThatNoneWasTaken) {
  test::FakeHost tree;
  tree.live(false).file("/lib64/ld-linux-x86-64.so.2", test::library_fixture("plain"));
  const auto found = test::scan(tree, cuda_runtime);
  EXPECT_EQ(told(found, "cuda.runtime"), "absent (the loader finds no libcudart)");
  EXPECT_EQ(found.find({"cuda.runtime", ""})->evidence.notes,
            (std::vector<std::string>{"the environment is not known: taken to hold neither "
                                      "LD_LIBRARY_PATH nor LD_PRELOAD"}));
}

TEST(CudaRuntimeProbe, TwoRuntimesWithoutTorchAreAmbiguous) {
  TorchMachine machine;
  machine.library("/usr/lib/x86_64-linux-gnu/libcudart.so.11.0", "cudart_11")
      .library("/usr/lib/x86_64-linux-gnu/libcudart.so.12", "cudart_12");
  const facts::Snapshot snapshot = scan(machine.host, cuda_runtime);
  EXPECT_EQ(told(snapshot, "cuda.runtime"), "unknown (ambiguous)");
  EXPECT_EQ(told(snapshot, "cuda.runtime@/usr/lib/x86_64-linux-gnu/libcudart.so.11.0"), "11...");
  EXPECT_EQ(told(snapshot, "cuda.runtime@/usr/lib/x86_64-linux-gnu/libcudart.so.12"), "12...");
}

TEST(CudaRuntimeProbe, ATorchWithTheRuntimeInsideLeavesItOpen) {
  TorchMachine machine;
  machine.torch("", "2.1.2", "12.1");
  const facts::Snapshot snapshot = scan(machine.host, cuda_runtime);
  EXPECT_EQ(told(snapshot, "cuda.runtime"), "unknown (not-stated)");
}

TEST(CudaRuntimeProbe, AWheelOfAnotherFilesSizeIsNotBelieved) {
  TorchMachine machine;
  machine.torch("torch_cuda")
      .wheel("nvidia_cuda_runtime_cu12", "12.1.105", kRuntime, "cudart_12", 7);
  EXPECT_EQ(told(machine.host, cuda_runtime, "cuda.runtime"), "12...");
}

TEST(CudaRuntimeProbe, ATorchThatCannotBeReadLeavesItUnknown) {
  Usual machine("12.1.105");
  machine.host.deny(machine.site + "/torch/lib/libtorch_cuda.so");
  const facts::Snapshot snapshot = scan(machine.host, cuda_runtime);
  EXPECT_EQ(told(snapshot, "cuda.runtime"), "unknown (denied)");
  EXPECT_EQ(told(snapshot, "cuda"), "unknown (denied)");
}

TEST(CudaRuntimeProbe, ACheckOfTheReleaseReadsNothingElse) {
  const facts::Snapshot snapshot = scan(Usual("12.1.105").host, cuda_runtime, test::only({"cuda"}));
  ASSERT_EQ(snapshot.facts.size(), 1u);
  EXPECT_EQ(told(snapshot, "cuda"), "12.1.1");
}

}  // namespace
}  // namespace goldenv::probe

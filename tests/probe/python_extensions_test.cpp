#include <gtest/gtest.h>

#include "probe/scan.h"
#include "probe/torch_machine.h"

namespace goldenv::probe {
extern const Probe python_extensions;
namespace {

using test::told;
using test::TorchMachine;

constexpr const char* kKey = "python.extensions";

/// A torch with its C++ library and OpenMP, and one compiled extension beside its package.
struct Extended : TorchMachine {
  explicit Extended(const std::string& extension = "") {
    torch("torch_cuda");
    library(site + "/torch/lib/libcudart.so.12", "cudart_12");
    library("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "stdcxx_30");
    library("/usr/lib/x86_64-linux-gnu/libgomp.so.1", "gomp");
    if (!extension.empty()) {
      library(site + "/mine.cpython-310-x86_64-linux-gnu.so", extension);
    }
  }
};

std::string told_of(const TorchMachine& machine) {
  return told(machine.host, python_extensions, kKey);
}

TEST(PythonExtensionsProbe, ExtensionThatFitsIsNoMatter) {
  EXPECT_EQ(told_of(Extended("extension_fits")), "absent (all of them fit)");
  EXPECT_EQ(told_of(Extended()), "absent (no compiled extensions)");
}

TEST(PythonExtensionsProbe, SymbolsThatTorchDoesNotDefineAreTold) {
  EXPECT_EQ(told_of(Extended("extension_stale")),
            "mine.cpython-310-x86_64-linux-gnu.so: takes _ZN2at4goneEv, which this torch does not "
            "define");
}

TEST(PythonExtensionsProbe, NewerLibstdcxxIsTold) {
  EXPECT_EQ(told_of(Extended("extension_newer")),
            "mine.cpython-310-x86_64-linux-gnu.so: needs GLIBCXX_3.4.32 of libstdc++.so.6, which "
            "the one in force lacks");
}

TEST(PythonExtensionsProbe, AnotherCudaAndASecondOpenmpAreTold) {
  Extended machine("extension_cuda_11");
  machine.library("/usr/lib/x86_64-linux-gnu/libiomp5.so", "iomp");
  machine.library("/usr/lib/x86_64-linux-gnu/libcudart.so.11.0", "cudart_11");
  EXPECT_EQ(told_of(machine),
            "mine.cpython-310-x86_64-linux-gnu.so: brings the OpenMP runtime libiomp5.so beside "
            "torch's libgomp, mine.cpython-310-x86_64-linux-gnu.so: was built for "
            "libcudart.so.11.0, torch for libcudart.so.12");
}

TEST(PythonExtensionsProbe, LibraryThatNothingAnswersIsTold) {
  Extended machine("extension_llvm");
  EXPECT_EQ(told_of(machine),
            "mine.cpython-310-x86_64-linux-gnu.so: needs libLLVM-14.so.1, which nothing answers");
  machine.library("/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "llvm_14");
  EXPECT_EQ(told_of(machine), "absent (all of them fit)");
}

TEST(PythonExtensionsProbe, FilesOfKnownPackagesAreFoundByTheirRecord) {
  Extended machine;
  machine.wheel("torchvision", "0.17.1", "torchvision/_C.so", "extension_stale");
  EXPECT_EQ(told_of(machine),
            "torchvision/_C.so: takes _ZN2at4goneEv, which this torch does not define");
  machine.host.deny(machine.site + "/torchvision/_C.so");
  EXPECT_EQ(told_of(machine), "unknown (denied)");
}

TEST(PythonExtensionsProbe, TorchThatIsNotThereIsTold) {
  TorchMachine machine;
  machine.library("/usr/lib/x86_64-linux-gnu/libgomp.so.1", "gomp");
  machine.library("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "stdcxx_30");
  machine.library(machine.site + "/mine.abi3.so", "extension_fits");
  EXPECT_EQ(told_of(machine),
            "mine.abi3.so: needs libtorch_cpu.so, which nothing answers, mine.abi3.so: was built "
            "against torch, which is not installed");
}

TEST(PythonExtensionsProbe, DamagedTorchIsUnknownAndFileThatIsNoneIsPassedOver) {
  Extended machine("extension_stale");
  machine.host.file(machine.site + "/torch/lib/libtorch_cpu.so", "junk");
  EXPECT_EQ(told_of(machine), "unknown (unreadable)");
  Extended text;
  text.host.file(text.site + "/script.so", "INPUT(libx.so)");
  EXPECT_EQ(told_of(text), "absent (all of them fit)");
}

}  // namespace
}  // namespace goldenv::probe

// Probes on the machine that runs the tests: what they find must agree with what its own files say
// in another way, and where there is no toolkit they must say so.
#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "probe/probe.h"
#include "scan.h"

namespace goldenv::probe {
extern const Probe cuda_toolkit;
extern const Probe glibc;
extern const Probe nccl;
namespace {

using test::scan;
using test::told;

/// A wheel-shaped toolkit says its versions in a dist-info folder; "" where there is none such.
std::string wheel_version(const std::string& wheel) {
  std::error_code error;
  for (std::filesystem::directory_iterator it("/usr/local/cuda/dist-info", error), end;
       !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(wheel)) {
      const std::size_t dash = name.rfind('-', name.size() - 11);
      return name.substr(dash + 1, name.size() - dash - 11);
    }
  }
  return "";
}

TEST(LiveLibraries, GlibcIsTheOneThatRunsThisTest) {
  const auto host = host::live_host();
  EXPECT_EQ(told(*host, glibc, "glibc"), gnu_get_libc_version());
}

TEST(LiveLibraries, ToolkitOfThisMachineOrItsAbsence) {
  const auto host = host::live_host();
  const facts::Snapshot snapshot = scan(*host, cuda_toolkit);
  if (!std::filesystem::exists("/usr/local/cuda")) {
    EXPECT_EQ(told(snapshot, "cuda.toolkit.link"), "absent (no such link)");
    return;
  }
  EXPECT_EQ(told(snapshot, "cuda.toolkit.link"),
            std::filesystem::canonical("/usr/local/cuda").string());
  const std::string nvcc = wheel_version("nvidia_cuda_nvcc");
  if (!nvcc.empty() && !std::getenv("CUDA_HOME")) {
    EXPECT_EQ(told(snapshot, "cuda.toolkit.nvcc"), nvcc);
  }
}

TEST(LiveLibraries, NcclOfTheToolkitIsOfItsWheelOrAbsent) {
  const auto host = host::live_host();
  const std::string path = "/usr/local/cuda/lib64/libnccl.so.2";
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error).string();
  const facts::Snapshot snapshot = scan(*host, nccl);
  if (error) {
    EXPECT_EQ(told(snapshot, "nccl@" + path), "not recorded");
    return;
  }
  const std::string version = wheel_version("nvidia_nccl");
  const std::string found = told(snapshot, "nccl@" + real);
  EXPECT_NE(found, "not recorded");
  if (!version.empty()) {
    EXPECT_EQ(found, version);
  }
}

}  // namespace
}  // namespace goldenv::probe

// A CUDA toolkit that was put together of wheels: no version in any file's name, no version.json,
// one folder of dist-info entries. Where this machine has one it is held to what its own libraries
// and programs answer when they are called; elsewhere, and always once more, a stand-in of that
// shape is held to what it was made of.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/library_fixture.h"
#include "support/program.h"
#include "support/temp_dir.h"

namespace goldenv {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLink = "/usr/local/cuda";

/// What is so: by keys as a manifest names them, wants as it writes them.
using Truth = std::map<std::string, std::string>;

/// The number that a library's function answers: as its result, or behind the pointer it is given.
/// In a child, for the library is loaded and may do anything.
std::uint64_t called(const std::string& library, const char* function, bool by_pointer) {
  int ends[2];
  if (pipe(ends) != 0) {
    return 0;
  }
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    std::uint64_t number = 0;
    void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* found = loaded == nullptr ? nullptr : dlsym(loaded, function);
    if (found != nullptr && by_pointer) {
      int answer = 0;
      reinterpret_cast<int (*)(int*)>(found)(&answer);
      number = static_cast<std::uint64_t>(answer);
    } else if (found != nullptr) {
      number = reinterpret_cast<std::size_t (*)()>(found)();
    }
    _exit(write(ends[1], &number, sizeof number) == sizeof number ? 0 : 1);
  }
  close(ends[1]);
  std::uint64_t number = 0;
  if (read(ends[0], &number, sizeof number) != sizeof number) {
    number = 0;
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  EXPECT_NE(number, 0U) << library << ": " << function;
  return number;
}

/// 22809 as "2.28.9": ten thousands, hundreds, ones.
std::string dotted(std::uint64_t number) {
  return std::to_string(number / 10'000) + "." + std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

/// What follows `mark` in a text, up to a blank or the end of the line.
std::string behind(const std::string& text, const std::string& mark) {
  const std::size_t at = text.find(mark);
  EXPECT_NE(at, std::string::npos) << mark << " in " << text;
  if (at == std::string::npos) {
    return {};
  }
  const std::size_t begin = at + mark.size();
  return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

std::string build_id(const std::string& library) {
  return behind(test::run({.argv = {"/usr/bin/readelf", "-n", library}}).out, "Build ID: ");
}

/// The version of the wheel that put a package's files into a tree; none where there is none.
std::optional<std::string> wheel(const std::string& prefix, const std::string& package) {
  for (const auto& entry : fs::directory_iterator(prefix + "/dist-info")) {
    std::string name = entry.path().filename();
    const std::string ending = ".dist-info";
    if (name.starts_with(package + "-") && name.ends_with(ending)) {
      return name.substr(package.size() + 1, name.size() - package.size() - 1 - ending.size());
    }
  }
  return std::nullopt;
}

/// The one file of a tree's library folder whose name begins so and ends in a number.
std::optional<std::string> library(const std::string& prefix, const std::string& begin) {
  for (const auto& entry : fs::directory_iterator(prefix + "/lib")) {
    const std::string name = entry.path().filename();
    if (name.starts_with(begin) && !entry.is_symlink() &&
        name.find_first_not_of("0123456789.", begin.size()) == std::string::npos) {
      return entry.path();
    }
  }
  return std::nullopt;
}

std::string quoted(const std::string& key) { return '"' + key + '"'; }

/// What the libraries and the compiler of a real tree say when they are called.
Truth truth_by_calling(const std::string& prefix) {
  Truth truth{{"cuda.toolkit.link", prefix}};
  const auto runtime = library(prefix, "libcudart.so.");
  EXPECT_TRUE(runtime) << prefix;
  if (runtime) {
    const std::uint64_t number = called(*runtime, "cudaRuntimeGetVersion", true);
    const std::string release =
        std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
    truth[quoted("cuda.toolkit@" + prefix)] = quoted(release + ".*");
    truth[quoted("cuda.runtime.build_id@" + *runtime)] = build_id(*runtime);
    truth[quoted("cuda.runtime@" + *runtime)] =
        wheel(prefix, "nvidia_cuda_runtime").value_or(release + ".*");
  }
  if (const auto nccl = library(prefix, "libnccl.so.")) {
    truth[quoted("nccl@" + *nccl)] = dotted(called(*nccl, "ncclGetVersion", true));
    truth[quoted("nccl.build_id@" + *nccl)] = build_id(*nccl);
  }
  if (const auto cudnn = library(prefix, "libcudnn.so.")) {
    truth[quoted("cudnn@" + *cudnn)] =
        quoted(dotted(called(*cudnn, "cudnnGetVersion", false)) + ".*");
    // From 9 on libcudnn.so is a shim; the graph library tells builds apart.
    truth[quoted("cudnn.build_id@" + *cudnn)] =
        build_id(library(prefix, "libcudnn_graph.so.").value_or(*cudnn));
  }
  const std::string nvcc = prefix + "/bin/nvcc";
  if (fs::exists(nvcc)) {
    truth[quoted("cuda.toolkit.nvcc@" + prefix)] =
        behind(test::run({.argv = {nvcc, "--version"}}).out, ", V");
  }
  return truth;
}

void expect_read_right(const Truth& truth, const std::string& source) {
  const test::TempDir folder;
  std::string manifest = "goldenv: 1\nname: called\npins:\n";
  for (const auto& [key, want] : truth) {
    manifest += "  " + key + ": {want: " + want + ", level: must}\n";
  }
  const std::string file = folder.file("truth.yaml", manifest);
  // Without CUDA_HOME and the like, so that the link counts.
  const test::Ended check = test::run({.argv = {GOLDENV_PROGRAM, "check", file, source},
                                       .environment = {{{"PATH", "/usr/bin:/bin"}}}});
  EXPECT_EQ(check.status, 0) << manifest << check.out << check.err;
  EXPECT_NE(check.out.find("(" + std::to_string(truth.size()) + " pins)"), std::string::npos)
      << check.out;
}

constexpr const char* kPrefix = "/usr/local/cuda-13.0";

/// A tree as the wheels of CUDA 13.0.2 make it.
void make_stand_in(const test::TempDir& root) {
  const std::string prefix = std::string(kPrefix).substr(1);
  root.link("usr/local/cuda", "cuda-13.0");
  root.link(prefix + "/lib64", "lib");
  for (const auto& [name, fixture] :
       std::map<std::string, std::string>{{"lib/libcudart.so.13", "cudart_13"},
                                          {"lib/libnccl.so.2", "nccl_2_28_9"},
                                          {"lib/libcudnn.so.9", "cudnn_9"},
                                          {"lib/libcudnn_graph.so.9", "cudnn_graph_9_19_0"},
                                          {"bin/nvcc", "nvcc_13_0"}}) {
    root.file(prefix + "/" + name, test::library_fixture(fixture));
  }
  root.link(prefix + "/lib/libnccl.so", "libnccl.so.2");
  root.link(prefix + "/lib/libcudart.so", "libcudart.so.13");
  root.file(prefix + "/include/nccl.h",
            "#define NCCL_MAJOR 2\n#define NCCL_MINOR 28\n#define NCCL_PATCH 9\n");
  root.file(prefix + "/include/cudnn_version.h",
            "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 19\n#define CUDNN_PATCHLEVEL 0\n");
  for (const char* wheel :
       {"nvidia_cublas-13.1.0.3", "nvidia_cuda_cccl-13.0.85", "nvidia_cuda_crt-13.0.88",
        "nvidia_cuda_cupti-13.0.85", "nvidia_cuda_nvcc-13.0.88", "nvidia_cuda_nvrtc-13.0.88",
        "nvidia_cuda_runtime-13.0.96", "nvidia_cudnn_cu13-9.19.0.56", "nvidia_cufft-12.0.0.61",
        "nvidia_nccl_cu13-2.28.9", "nvidia_nvjitlink-13.0.88"}) {
    const std::string name = wheel;
    const std::size_t dash = name.find('-');
    root.file(prefix + "/dist-info/" + name + ".dist-info/METADATA",
              "Metadata-Version: 2.4\nName: " + name.substr(0, dash) +
                  "\nVersion: " + name.substr(dash + 1) + "\n");
  }
  root.file("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n");
}

void expect_stand_in_read_right() {
  const test::TempDir root;
  make_stand_in(root);
  const std::string prefix = kPrefix;
  expect_read_right(
      {{"cuda.toolkit.link", prefix},
       {quoted("cuda.toolkit@" + prefix), "13.0.2"},
       {quoted("cuda.toolkit.nvcc@" + prefix), "13.0.88"},
       {quoted("cuda.runtime@" + prefix + "/lib/libcudart.so.13"), "13.0.96"},
       {quoted("nccl@" + prefix + "/lib/libnccl.so.2"), "2.28.9"},
       {quoted("nccl.cuda@" + prefix + "/lib/libnccl.so.2"), "\"13.0\""},
       {quoted("nccl.build_id@" + prefix + "/lib/libnccl.so.2"), "\"2289228922892289\""},
       {quoted("cudnn@" + prefix + "/lib/libcudnn.so.9"), "9.19.0.56"},
       {"cudnn.header", "9.19.0"},
       {"nccl.header", "2.28.9"}},
      "root:" + root.path());
}

TEST(CudaTree, InstalledTreeIsReadAsItAnswersItself) {
  std::error_code none;
  const fs::path prefix = fs::canonical(kLink, none);
  if (none || !fs::is_directory(prefix / "dist-info", none)) {
    expect_stand_in_read_right();
    return;
  }
  EXPECT_FALSE(fs::exists(prefix / "version.json"));
  expect_read_right(truth_by_calling(prefix), "@live");
}

TEST(CudaTree, TreeOfWheelsIsReadAsItWasMade) { expect_stand_in_read_right(); }

}  // namespace
}  // namespace goldenv

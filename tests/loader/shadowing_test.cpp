// Which NCCL, cuBLAS and cuDNN a torch of wheels gets: its own, or another in silence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cache_file.h"
#include "elf_file.h"
#include "loader/loader.h"
#include "support/fake_host.h"

namespace goldenv {
namespace {

using loader::Answer;
using loader::Question;
using loader::resolve;
using test::elf_file;
using testing::Contains;
using testing::ElementsAre;

const std::string kSite = "/env/lib/python3.12/site-packages";
const std::string kPython = "/usr/bin/python3.12";
const std::string kTorch = kSite + "/torch/lib/libtorch_cuda.so";
const std::string kOwn = kSite + "/torch/lib/../../nvidia/nccl/lib/libnccl.so.2";
const std::string kSystem = "/usr/local/cuda/lib64/libnccl.so.2";
constexpr const char* kTorchRpath =
    "$ORIGIN/../../nvidia/cudnn/lib:$ORIGIN/../../nvidia/nccl/lib:$ORIGIN";

/// A torch whose libraries carry DT_RPATH, the NCCL of its wheel, and one of the system's toolkit.
class TorchOfWheels : public testing::Test {
 protected:
  TorchOfWheels() {
    host_.file(kPython, elf_file({}));
    torch_at(kSite + "/torch/lib");
    library(kSite + "/nvidia/nccl/lib/libnccl.so.2");
    library(kSystem);
    library("/opt/other/libnccl.so.2");
    host_.file("/etc/ld.so.cache",
               test::cache_file(
                   {{"libnccl.so.2", kSystem, 0x0303, 0},
                    {"libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.12", 0x0303, 0}}));
  }

  void torch_at(const std::string& folder) {
    host_.file(
        folder + "/libtorch_cuda.so",
        elf_file({.soname = "libtorch_cuda.so", .needed = {"libnccl.so.2"}, .rpath = kTorchRpath}));
  }
  void library(const std::string& path) {
    const std::string name = path.substr(path.rfind('/') + 1);
    host_.file(path, elf_file({.soname = name}));
  }

  Answer answer(const Question& question) {
    const auto found = resolve(host_, question);
    EXPECT_TRUE(found) << (found ? "" : found.error().message);
    return found ? *found : Answer{};
  }
  Answer nccl(const std::string& library_path = "", std::vector<std::string> preloaded = {}) {
    return answer({"libnccl.so.2", {kTorch, kPython}, library_path, std::move(preloaded)});
  }

  test::FakeHost host_;
};

TEST_F(TorchOfWheels, TheVariableDoesNotMoveItsNccl) {
  EXPECT_EQ(nccl("/opt/other").path, kOwn);
  EXPECT_EQ(nccl("/opt/other").why, "DT_RPATH of " + kTorch);
}

TEST_F(TorchOfWheels, APreloadOfTheSameSonameDoes) {
  EXPECT_EQ(nccl("", {"/opt/other/libnccl.so.2"}).path, "/opt/other/libnccl.so.2");
  host_.file("/opt/other/build.so", elf_file({.soname = "libnccl.so.2"}));
  EXPECT_EQ(nccl("", {"/opt/other/build.so"}).path, "/opt/other/build.so");
}

TEST_F(TorchOfWheels, WhereTheRpathLeadsNowhereTheSystemsCopyIsTakenInSilence) {
  // The whole package is a link into a store: `..` leads out of the store's folder.
  test::FakeHost& host = host_;
  host.link("/folded/torch", "/store/torch");
  torch_at("/store/torch/lib");
  library("/folded/nvidia/nccl/lib/libnccl.so.2");
  const std::string torch = "/folded/torch/lib/libtorch_cuda.so";
  const Answer found = answer({"libnccl.so.2", {torch, kPython}, "", {}});
  EXPECT_EQ(found.path, kSystem);
  EXPECT_EQ(found.why, "ld.so.cache");
  EXPECT_THAT(
      found.trace,
      ElementsAre("DT_RPATH of " + torch + ": not in /folded/torch/lib/../../nvidia/cudnn/lib",
                  "DT_RPATH of " + torch + ": not in /folded/torch/lib/../../nvidia/nccl/lib",
                  "DT_RPATH of " + torch + ": not in /folded/torch/lib"));
  // Only then does the variable matter.
  EXPECT_EQ(answer({"libnccl.so.2", {torch, kPython}, "/opt/other", {}}).path,
            "/opt/other/libnccl.so.2");
}

TEST_F(TorchOfWheels, LinksOfFilesInFoldersOfTheirOwnKeepTheOrigin) {
  torch_at("/store/torch/lib");
  host_.link("/linked/torch/lib/libtorch_cuda.so", "/store/torch/lib/libtorch_cuda.so");
  library("/linked/nvidia/nccl/lib/libnccl.so.2");
  const std::string torch = "/linked/torch/lib/libtorch_cuda.so";
  EXPECT_EQ(answer({"libnccl.so.2", {torch, kPython}, "", {}}).real_path,
            "/linked/nvidia/nccl/lib/libnccl.so.2");
  // The same file, first opened by its other path.
  EXPECT_EQ(answer({"libnccl.so.2", {"/store/torch/lib/libtorch_cuda.so", kPython}, "", {}}).path,
            kSystem);
}

TEST_F(TorchOfWheels, ALibraryWithRunpathSearchesByThatAloneWhenItOpensOthers) {
  const std::string cudnn = kSite + "/nvidia/cudnn/lib/libcudnn.so.9";
  library(kSite + "/torch/lib/libcublas.so.12");  // where torch's DT_RPATH would find it
  library("/usr/local/cuda/lib64/libcublas.so.12");
  host_.file(cudnn, elf_file({.soname = "libcudnn.so.9", .runpath = "$ORIGIN/../../cublas/lib"}));
  const Question question{"libcublas.so.12", {cudnn, kTorch, kPython}, "", {}};
  EXPECT_EQ(answer(question).path, "/usr/local/cuda/lib64/libcublas.so.12");
  library(kSite + "/nvidia/cublas/lib/libcublas.so.12");
  EXPECT_EQ(answer(question).why, "DT_RUNPATH of " + cudnn);
  // Without one it inherits the DT_RPATH of who loaded it.
  host_.file(cudnn, elf_file({.soname = "libcudnn.so.9"}));
  EXPECT_EQ(answer(question).why, "DT_RPATH of " + kTorch);
}

TEST_F(TorchOfWheels, TheVariableSplitsCudnn) {
  const std::string folder = kSite + "/nvidia/cudnn/lib";
  host_.file(folder + "/libcudnn.so.9",
             elf_file({.soname = "libcudnn.so.9", .runpath = "$ORIGIN"}));
  library(folder + "/libcudnn_graph.so.9");
  library("/opt/cudnn/libcudnn.so.9");
  library("/opt/cudnn/libcudnn_graph.so.9");
  const Answer shim = answer({"libcudnn.so.9", {kTorch, kPython}, "/opt/cudnn", {}});
  EXPECT_EQ(shim.real_path, folder + "/libcudnn.so.9");
  EXPECT_EQ(answer({"libcudnn_graph.so.9", {shim.path, kTorch, kPython}, "/opt/cudnn", {}}).path,
            "/opt/cudnn/libcudnn_graph.so.9");
}

TEST_F(TorchOfWheels, TheFirstWhoAsksDecidesForAllThatFollow) {
  // An extension with DT_RUNPATH of its own asks before torch does, and torch takes what is there.
  host_.file("/ext/program", elf_file({.needed = {"libnccl.so.2", "libtorch_cuda.so"},
                                       .runpath = "/opt/other:" + kSite + "/torch/lib"}));
  const auto loaded = loader::load(host_, "/ext/program", {});
  ASSERT_TRUE(loaded) << loaded.error().message;
  std::vector<std::string> paths;
  for (const loader::Loaded& object : *loaded) {
    paths.push_back(object.path);
  }
  EXPECT_THAT(paths, ElementsAre("/ext/program", "/opt/other/libnccl.so.2", kTorch));
  host_.file("/ext/program", elf_file({.needed = {"libtorch_cuda.so"},
                                       .runpath = "/opt/other:" + kSite + "/torch/lib"}));
  const auto alone = loader::load(host_, "/ext/program", {});
  ASSERT_TRUE(alone) << alone.error().message;
  ASSERT_EQ(alone->size(), 3U);
  EXPECT_EQ((*alone)[2].path, kOwn);
  EXPECT_EQ((*alone)[2].loader, 1U);
}

TEST_F(TorchOfWheels, AnAskerWithoutDefaultFoldersGetsNeitherThemNorTheirEntries) {
  host_.file("/etc/ld.so.cache", test::cache_file({{"libx.so.1", "/usr/lib64/libx.so.1", 0x0303, 0},
                                                   {"liby.so.1", "/opt/y/liby.so.1", 0x0303, 0}}));
  library("/usr/lib64/libx.so.1");
  library("/opt/y/liby.so.1");
  host_.file("/asker.so", elf_file({.flags_1 = DF_1_NODEFLIB}));
  const auto x = resolve(host_, {"libx.so.1", {"/asker.so"}, "", {}});
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().code, Errc::absent);
  EXPECT_THAT(x.error().trail,
              Contains("ld.so.cache: passed over /usr/lib64/libx.so.1: /asker.so asks for no "
                       "default folders"));
  EXPECT_EQ(answer({"liby.so.1", {"/asker.so"}, "", {}}).path, "/opt/y/liby.so.1");
}

TEST_F(TorchOfWheels, AProcessInAFolderThatIsKnownSearchesThereToo) {
  library("/work/libz.so.1");
  library("/work/sub/libz.so.1");
  Question question{"libz.so.1", {}, "/none::sub", {}};
  EXPECT_FALSE(resolve(host_, question));
  question.folder = "/work";
  EXPECT_EQ(answer(question).path, "/work/libz.so.1");
  question.library_path = "sub;";
  EXPECT_EQ(answer(question).path, "/work/sub/libz.so.1");
  question.library_path = "";
  question.soname = "./libz.so.1";
  EXPECT_EQ(answer(question).real_path, "/work/libz.so.1");
}

}  // namespace
}  // namespace goldenv

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/descriptor.h"
#include "support/library_fixture.h"
#include "support/temp_dir.h"
#include "unpack/contents.h"

namespace goldenv::unpack {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class ShapeTest : public testing::Test {
 protected:
  ShapeTest() { contents.roots = {{"site", "site-packages"}, {"bin", "bin"}}; }

  void add(const std::string& path, const std::string& bytes, bool elf = false) {
    dir.file(path, bytes);
    store::File file;
    file.path = path;
    contents.files.push_back(file);
    if (elf) {
      contents.elf.push_back(path);
    }
  }
  void add_library(const std::string& path, const std::string& fixture) {
    add(path, test::library_fixture(fixture), true);
  }

  [[nodiscard]] store::Shape shape() const {
    const store::Descriptor tree(open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const auto made = shape_of(job, contents, tree.get());
    EXPECT_TRUE(made) << made.error().message;
    return *made;
  }

  test::TempDir dir;
  Job job;
  Contents contents;
};

// libtorch_cuda.so looks for $ORIGIN/../../nvidia/nccl/lib, which is another object's.
TEST_F(ShapeTest, FoldersThatAnEntryStepsOutOfAreReal) {
  add_library("site/torch/lib/libtorch_cuda.so", "torch_cuda");
  add("site/torch/__init__.py", "");
  add("site/torch/nn/__init__.py", "");
  const store::Shape made = shape();
  EXPECT_THAT(made.real, ElementsAre("site/torch", "site/torch/lib"));
  EXPECT_THAT(made.listing,
              UnorderedElementsAre(Key("site"), Key("site/torch"), Key("site/torch/lib")));
  EXPECT_THAT(made.listing.at("site/torch"), ElementsAre("__init__.py", "lib/", "nn/"));
  ASSERT_THAT(made.elf, SizeIs(1));
  EXPECT_EQ(made.elf[0].soname, "libtorch_cuda.so");
  EXPECT_THAT(made.copies, IsEmpty());
}

// The same entry where all that it leads to is in the object itself.
TEST_F(ShapeTest, EntriesThatStayInsideFoldNothingOpen) {
  add_library("site/torch/lib/libtorch_cuda.so", "torch_cuda");
  for (const std::string name : {"cuda_runtime", "cudnn", "nccl"}) {
    add("site/nvidia/" + name + "/lib/x", "");
  }
  EXPECT_THAT(shape().real, IsEmpty());
  contents = {};
  contents.roots = {{"site", "site-packages"}};
  add_library("site/nvidia/cudnn/lib/libcudnn.so.9", "cudnn_9");  // RUNPATH $ORIGIN
  EXPECT_THAT(shape().real, IsEmpty());
  EXPECT_THAT(shape().elf[0].runpath, ElementsAre("$ORIGIN"));
}

TEST_F(ShapeTest, UnfoldedFoldersAreRealWithAllBelow) {
  add("site/demo/a/b/x", "");
  add("site/demo/c/y", "");
  job.unfold = {"demo/a"};
  EXPECT_THAT(shape().real, ElementsAre("site/demo/a", "site/demo/a/b"));
  job.unfold = {"site/demo/c"};
  EXPECT_THAT(shape().real, ElementsAre("site/demo/c"));
}

TEST_F(ShapeTest, WhatIsCopiedIsCopiedWhole) {
  add("site/demo/x", "");
  add("bin/run", "#!python");
  contents.python_scripts = {"bin/run"};
  EXPECT_THAT(shape().copies, ElementsAre("bin/run"));
  job.copies_all = true;
  EXPECT_THAT(shape().copies, ElementsAre("bin/run", "site/demo/x"));
  EXPECT_THAT(shape().real, ElementsAre("bin", "site", "site/demo"));
}

TEST_F(ShapeTest, DamagedElfFilesArePassedOver) {
  add("site/demo/bad.so",
      "\x7f"
      "ELF and nothing more",
      true);
  EXPECT_THAT(shape().elf, IsEmpty());
}

}  // namespace
}  // namespace goldenv::unpack

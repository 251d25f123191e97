#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "compose/made_environment.h"
#include "compose/written.h"

namespace goldenv::compose {
namespace {

namespace fs = std::filesystem;
using test::MadeEnvironment;
using test::MadeObject;
using test::must;
using ::testing::HasSubstr;

/// "link" with its text, "folder", "copy" or "written"; "" for what is not there.
std::string kind_of(const Plan& plan, const std::string& path) {
  const auto found = std::ranges::find(plan.items, path, &Item::path);
  if (found == plan.items.end()) {
    return "";
  }
  EXPECT_EQ(std::ranges::count(plan.items, path, &Item::path), 1) << path;
  switch (found->kind) {
    case Item::Kind::folder:
      return "folder";
    case Item::Kind::link:
      return "link " + found->text;
    case Item::Kind::copy:
      return "copy";
    case Item::Kind::written:
      return "written";
  }
  return "";
}

std::string number_of(const Plan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.objects, name, &store::Object::name);
  return std::to_string(found - plan.objects.begin());
}

TEST(ComposePlan, AFolderOfOneObjectIsOneLinkAndASharedOneIsReal) {
  MadeEnvironment made;
  const Plan plan = made.plan(made.whole());
  const std::string torch = "../../../.o/" + number_of(plan, "torch") + "/site/";
  EXPECT_EQ(kind_of(plan, made.site + "/numpy"),
            "link ../../../.o/" + number_of(plan, "numpy") + "/site/numpy");
  EXPECT_EQ(kind_of(plan, made.site + "/numpy/core"), "");
  EXPECT_EQ(kind_of(plan, made.site + "/torch-2.2.1.dist-info"),
            "link " + torch + "torch-2.2.1.dist-info");
  EXPECT_EQ(kind_of(plan, made.site + "/torch"), "folder");
  EXPECT_EQ(kind_of(plan, made.site + "/torch/include"), "link ../" + torch + "torch/include");
  EXPECT_EQ(kind_of(plan, made.site + "/torch/lib"), "folder");
  EXPECT_EQ(kind_of(plan, made.site + "/torch/lib/libtorch_cuda.so"),
            "link ../../" + torch + "torch/lib/libtorch_cuda.so");
  EXPECT_EQ(kind_of(plan, made.site + "/nvidia"), "folder");
  EXPECT_EQ(kind_of(plan, made.site + "/nvidia/nccl"),
            "link ../../../../.o/" + number_of(plan, "nvidia-nccl") + "/site/nvidia/nccl");
  EXPECT_EQ(kind_of(plan, "bin/torchrun-old"), "copy");
  EXPECT_EQ(kind_of(plan, "bin/torchrun"), "written");
  EXPECT_EQ(kind_of(plan, "bin/python"), "link /usr/bin/python3.11");
  EXPECT_EQ(kind_of(plan, "bin/python3"), "link python");
  EXPECT_EQ(kind_of(plan, "bin/python3.11"), "link python");
  EXPECT_EQ(kind_of(plan, "lib64"), "link lib");
  EXPECT_EQ(kind_of(plan, "pyvenv.cfg"), "written");
  EXPECT_EQ(kind_of(plan, ".o/" + number_of(plan, "torch")),
            "link " + made.store.tree(made.torch().id()));
}

TEST(ComposePlan, TheDigestIsOfWhatIsComposed) {
  const BasePython python{"/usr/bin/python3.11", "3.11"};
  const std::string digest = generation_digest({"a", "b"}, python);
  EXPECT_EQ(digest.size(), 64U);
  EXPECT_EQ(generation_digest({"b", "a"}, python), digest);
  EXPECT_NE(generation_digest({"a", "c"}, python), digest);
  EXPECT_NE(generation_digest({"a"}, python), digest);
  EXPECT_NE(generation_digest({"a", "b"}, {"/opt/python3.11", "3.11"}), digest);
  EXPECT_NE(generation_digest({"a", "b"}, {}), digest);
}

TEST(ComposePlan, TwoLibrariesOfOneNameAreRefusedWithBothNames) {
  MadeEnvironment made;
  const auto plan =
      made.try_plan({made.nccl("2.18.1", "nccl_2_18_1"), made.nccl("2.19.3", "nccl_2_19_3")});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, Errc::failed);
  EXPECT_THAT(plan.error().message, HasSubstr("nvidia-nccl 2.18.1"));
  EXPECT_THAT(plan.error().message, HasSubstr("nvidia-nccl 2.19.3"));
  EXPECT_THAT(plan.error().message, HasSubstr("libnccl.so.2"));
}

TEST(ComposePlan, EqualFilesOfTwoObjectsAreOne) {
  MadeEnvironment made;
  MadeObject a("a", "1");
  MadeObject b("b", "1");
  const std::string large(200'000, 'x');
  a.file("site/both/data", large).link("site/both/l", "data").root("site", "site-packages");
  b.file("site/both/data", large).link("site/both/l", "data").root("site", "site-packages");
  EXPECT_TRUE(made.try_plan({a, b}));
  MadeObject c("c", "1");
  c.file("site/both/data", large.substr(1) + "y").root("site", "site-packages");
  EXPECT_FALSE(made.try_plan({a, c})) << "one byte differs behind the first piece";
  MadeObject d("d", "1");
  d.link("site/both/l", "other").root("site", "site-packages");
  EXPECT_FALSE(made.try_plan({a, d})) << "links that lead elsewhere";
  MadeObject e("e", "1");
  e.file("site/both/l", "data").root("site", "site-packages");
  EXPECT_FALSE(made.try_plan({a, e})) << "a link and a file";
}

TEST(ComposePlan, ACollisionIsToldByTheSourceAndNotByWhatIsCompiled) {
  MadeEnvironment made;
  MadeObject a("a", "1");
  MadeObject b("b", "2");
  const std::string compiled = "site/__pycache__/x.cpython-311.pyc";
  a.file("site/x.py", "1").file(compiled, "1").root("site", "site-packages");
  b.file("site/x.py", "2").file(compiled, "2").root("site", "site-packages");
  const auto plan = made.try_plan({a, b});
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("site-packages/x.py: "));
  MadeObject c("c", "3");
  c.file("site/x.py", "1").file(compiled, "3").root("site", "site-packages");
  const auto odd = made.try_plan({a, c});
  ASSERT_FALSE(odd);
  EXPECT_THAT(odd.error().message, HasSubstr("__pycache__/x.cpython-311.pyc: "));
}

TEST(ComposePlan, AFileAndAFolderOfOneNameAreRefused) {
  MadeEnvironment made;
  MadeObject a("a", "1");
  MadeObject b("b", "2");
  a.file("site/x/y", "").root("site", "site-packages");
  b.file("site/x", "").root("site", "site-packages");
  const auto plan = made.try_plan({a, b});
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("a file of b 2 and a folder of a 1"));
}

TEST(ComposePlan, TheEnvironmentsOwnNamesAreItsOwn) {
  for (const char* path : {"data/pyvenv.cfg", "data/.o/x", "data/.goldenv.json", "bin/python",
                           "bin/python3", "bin/torchrun", "data/bin"}) {
    MadeEnvironment made;
    MadeObject odd("odd", "1");
    odd.file(path, "").root("data", ".").root("bin", "bin");
    odd.file("bin/tool", "", true).file("data/etc/odd", "");
    const auto plan = made.try_plan({odd, made.torch()});
    ASSERT_FALSE(plan) << path;
    EXPECT_EQ(plan.error().code, Errc::failed) << path;
  }
}

TEST(ComposePlan, DataAndLib64GoWhereTheyBelong) {
  MadeEnvironment made;
  MadeObject data("data", "1");
  data.file("data/etc/jupyter/a.json", "")
      .file("data/share/man/a.1", "")
      .file("data/lib64/libx.so", "x")
      .file("other/liby.so", "y")
      .root("data", ".")
      .root("other", "lib64");
  const Plan plan = made.plan({data});
  EXPECT_EQ(kind_of(plan, "etc"), "link .o/0/data/etc");
  EXPECT_EQ(kind_of(plan, "lib/libx.so"), "link ../.o/0/data/lib64/libx.so");
  EXPECT_EQ(kind_of(plan, "lib/liby.so"), "link ../.o/0/other/liby.so");
  EXPECT_EQ(kind_of(plan, "lib64"), "link lib");
}

TEST(ComposePlan, ATreeWithoutPythonIsOfToolsAndLibraries) {
  MadeEnvironment made;
  made.python = {};
  MadeObject nvcc("cuda-nvcc", "13.0");
  nvcc.file("bin/nvcc", "ELF", true)
      .file("include/crt/host.h", "")
      .file("nvvm/bin/cicc", "", true)
      .root("bin", "bin")
      .root("include", "include")
      .root("nvvm", "nvvm");
  MadeObject cudart("cuda-cudart", "13.0");
  cudart.file("lib/libcudart.so.13", "ELF")
      .link("lib/libcudart.so", "libcudart.so.13")
      .file("include/cuda.h", "")
      .root("include", "include")
      .root("lib", "lib");
  const Plan plan = made.plan({nvcc, cudart});
  EXPECT_EQ(kind_of(plan, "bin"), "folder");
  EXPECT_EQ(kind_of(plan, "bin/nvcc"), "link ../.o/" + number_of(plan, "cuda-nvcc") + "/bin/nvcc");
  EXPECT_EQ(kind_of(plan, "nvvm"), "link .o/" + number_of(plan, "cuda-nvcc") + "/nvvm");
  EXPECT_EQ(kind_of(plan, "include"), "folder");
  EXPECT_EQ(kind_of(plan, "include/crt"),
            "link ../.o/" + number_of(plan, "cuda-nvcc") + "/include/crt");
  EXPECT_EQ(kind_of(plan, "lib64"), "link lib");
  EXPECT_EQ(kind_of(plan, "pyvenv.cfg"), "");
  EXPECT_EQ(kind_of(plan, "bin/python"), "");
  const auto modules = made.try_plan({made.numpy()});
  ASSERT_FALSE(modules);
  EXPECT_THAT(modules.error().message, HasSubstr("numpy 1.26.4"));
}

TEST(ComposePlan, APythonIsAPathAndAVersion) {
  MadeEnvironment made;
  for (const BasePython& python :
       {BasePython{"python3", "3.11"}, BasePython{"/usr/bin/python3", ""},
        BasePython{"/usr/bin/python3", "3"}, BasePython{"/usr/bin/python3", "3.11/../x"}}) {
    made.python = python;
    EXPECT_EQ(made.try_plan({}).error().code, Errc::usage) << python.version;
  }
}

TEST(ComposePlan, TheSameObjectTwiceIsRefused) {
  MadeEnvironment made;
  EXPECT_EQ(made.try_plan({made.numpy(), made.numpy()}).error().code, Errc::usage);
}

TEST(ComposeScripts, RunUnderTheEnvironmentsPython) {
  MadeEnvironment made;
  const Plan plan = made.plan(made.whole());
  const std::string text =
      must(script_text(plan, {"torchrun", "torch.distributed.run", "Main.run"}));
  EXPECT_THAT(text, ::testing::StartsWith("#!" + plan.folder + "/bin/python\n"));
  EXPECT_THAT(text, HasSubstr("from torch.distributed.run import Main\n"));
  EXPECT_THAT(text, HasSubstr("sys.exit(Main.run())"));
  for (const char* odd : {"", "a b", "a;b", "a..b", "1a", "a\nb", "a.", "os; x"}) {
    EXPECT_FALSE(script_text(plan, {"x", odd, "main"})) << odd;
    EXPECT_FALSE(script_text(plan, {"x", "a", odd})) << odd;
  }
}

TEST(ComposeScripts, TwoOfOneNameAreRefusedUnlessAlike) {
  MadeEnvironment made;
  MadeObject a("a", "1");
  MadeObject b("b", "1");
  a.object.scripts = b.object.scripts = {{"tool", "m", "f"}};
  EXPECT_TRUE(made.try_plan({a, b}));
  MadeObject c("c", "1");
  c.object.scripts = {{"tool", "m", "g"}};
  const auto plan = made.try_plan({a, c});
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("a 1"));
  EXPECT_THAT(plan.error().message, HasSubstr("c 1"));
}

TEST(ComposeScripts, LongAndBlankPathsTakeAShell) {
  EXPECT_EQ(script_head("/a/python"), "#!/a/python\n");
  const std::string fits(125, 'a');
  EXPECT_EQ(script_head(fits), "#!" + fits + "\n");
  EXPECT_EQ(script_head(fits + "a"),
            "#!/bin/sh\n'''exec' \"" + fits + "a\" \"$0\" \"$@\"\n' '''\n");
  EXPECT_EQ(script_head("/a b/$x"), "#!/bin/sh\n'''exec' \"/a b/\\$x\" \"$0\" \"$@\"\n' '''\n");
}

}  // namespace
}  // namespace goldenv::compose

#include "compose/proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compose/made_environment.h"

namespace goldenv::compose {
namespace {

using test::MadeEnvironment;
using test::MadeObject;
using test::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// An object with one ELF file of made-up dynamic section.
MadeObject with_elf(const std::string& name, store::ElfFile elf) {
  MadeObject made(name, "1");
  made.file(elf.path, "ELF of " + name, elf.program);
  elf.path.starts_with("bin/") ? made.root("bin", "bin") : made.root("site", "site-packages");
  made.object.shape.elf = {std::move(elf)};
  return made;
}

TEST(ComposeProof, EveryNeededNameIsProved) {
  MadeEnvironment made;
  const Proof proof = must(prove_on_paper(made.plan(made.whole())));
  EXPECT_EQ(proof.proved, 4U) << "three of torch, one of numpy";
  EXPECT_THAT(proof.unproved, IsEmpty());
}

TEST(ComposeProof, ALibraryOfNoObjectIsTheSystems) {
  MadeEnvironment made;
  const MadeObject one = with_elf("one", {"site/one/a.so", "", {"libm.so.6"}, {}, {}, false});
  const Proof proof = must(prove_on_paper(made.plan({one})));
  EXPECT_EQ(proof.proved, 0U);
  EXPECT_THAT(proof.unproved, IsEmpty());
}

TEST(ComposeProof, AnExtensionThatRestsOnAnotherImportIsSaid) {
  MadeEnvironment made;
  const MadeObject torch =
      with_elf("torch", {"site/torch/lib/libc10.so", "libc10.so", {}, {}, {}, false});
  const MadeObject vision =
      with_elf("torchvision", {"site/torchvision/_C.so", "", {"libc10.so"}, {}, {}, false});
  const Proof proof = must(prove_on_paper(made.plan({torch, vision})));
  EXPECT_THAT(proof.unproved, ElementsAre(Unproved{made.site + "/torchvision/_C.so", "libc10.so"}));
}

TEST(ComposeProof, TheRpathOfThoseWhoNeedItCounts) {
  MadeEnvironment made;
  const MadeObject b = with_elf("b", {"site/b/libb.so", "libb.so", {}, {}, {}, false});
  const MadeObject a = with_elf("a", {"site/a/liba.so", "liba.so", {"libb.so"}, {}, {}, false});
  MadeObject top = with_elf(
      "top", {"site/top/t.so", "", {"liba.so"}, {"$ORIGIN/../a", "$ORIGIN/../b"}, {}, false});
  top.object.shape.real = {"site/top"};
  const Proof proof = must(prove_on_paper(made.plan({a, b, top})));
  EXPECT_EQ(proof.proved, 2U);
  // With DT_RUNPATH the loader asks nobody else's.
  MadeObject runpath =
      with_elf("runpath", {"site/a/liba.so", "liba.so", {"libb.so"}, {}, {"$ORIGIN"}, false});
  EXPECT_THAT(must(prove_on_paper(made.plan({runpath, b, top}))).unproved,
              ElementsAre(Unproved{made.site + "/a/liba.so", "libb.so"}));
}

TEST(ComposeProof, WhatIsOpenedByNameLaterIsProvedByItsFolder) {
  MadeEnvironment made;
  const MadeObject cublas =
      with_elf("cublas", {"site/nvidia/cublas/lib/libcublas.so.12", "", {}, {}, {}, false});
  MadeObject cudnn = with_elf("cudnn", {"site/nvidia/cudnn/lib/libcudnn.so.9",
                                        "",
                                        {},
                                        {},
                                        {"$ORIGIN", "${ORIGIN}/../../cublas/lib"},
                                        false});
  const auto folded = prove_on_paper(made.plan({cublas, cudnn}));
  ASSERT_FALSE(folded);
  EXPECT_THAT(folded.error().message, HasSubstr("${ORIGIN}/../../cublas/lib"));
  EXPECT_THAT(folded.error().message, HasSubstr("cudnn 1"));
  MadeObject fresh = cudnn;
  fresh.object.key[0] = fresh.object.key[0] == 'f' ? 'e' : 'f';
  fresh.object.shape.real = {"site/nvidia/cudnn/lib"};
  EXPECT_TRUE(prove_on_paper(made.plan({cublas, fresh})));
}

TEST(ComposeProof, AnEntryThatNamesAnotherPlaceFirstIsRefusedWhereThatIsThere) {
  MadeEnvironment made;
  const std::string system = made.temp.folder("usr/local/cuda/lib64");
  const MadeObject nccl =
      with_elf("nccl", {"site/nccl/libnccl.so.2", "libnccl.so.2", {}, {}, {}, false});
  MadeObject app = with_elf(
      "app", {"site/app/app.so", "", {"libnccl.so.2"}, {}, {system, "$ORIGIN/../nccl"}, false});
  app.object.shape.real = {"site/app"};
  EXPECT_TRUE(prove_on_paper(made.plan({nccl, app})));
  made.temp.file("usr/local/cuda/lib64/libnccl.so.2", "");
  const auto proof = prove_on_paper(made.plan({nccl, app}));
  ASSERT_FALSE(proof);
  EXPECT_THAT(proof.error().message, HasSubstr(system + "/libnccl.so.2"));
}

TEST(ComposeProof, AProgramLooksFromWhereItsLinkLeads) {
  MadeEnvironment made;
  const auto program = [](bool copied) {
    MadeObject torch = with_elf(
        "torch", {"site/torch/bin/shm", "", {"libtorch.so"}, {"$ORIGIN/../lib"}, {}, true});
    torch.object.key = Sha256::of(copied ? "copied" : "linked").hex();
    torch.file("site/torch/lib/libtorch.so", "ELF");
    torch.object.shape.elf.push_back({"site/torch/lib/libtorch.so",
                                      "libtorch.so",
                                      {"libnccl.so.2"},
                                      {"$ORIGIN/../../nccl"},
                                      {},
                                      false});
    torch.object.shape.real = {"site/torch/bin", "site/torch/lib"};
    if (copied) {
      torch.object.shape.copies = {"site/torch/bin/shm"};
    }
    return torch;
  };
  const MadeObject nccl =
      with_elf("nccl", {"site/nccl/libnccl.so.2", "libnccl.so.2", {}, {}, {}, false});
  EXPECT_TRUE(prove_on_paper(made.plan({nccl, program(true)})));
  const auto linked = prove_on_paper(made.plan({nccl, program(false)}));
  ASSERT_FALSE(linked);
  EXPECT_THAT(linked.error().message, HasSubstr("site-packages/torch/bin/shm"));
  // A tool beside its own libraries, which lead nowhere else, may be linked.
  MadeObject tool =
      with_elf("tool", {"bin/tool", "", {"libtool.so"}, {}, {"$ORIGIN/../lib"}, true});
  tool.file("lib/libtool.so", "ELF").root("lib", "lib");
  tool.object.shape.elf.push_back({"lib/libtool.so", "libtool.so", {}, {}, {}, false});
  EXPECT_TRUE(prove_on_paper(made.plan({tool})));
}

TEST(ComposeProof, EntriesThatLeaveTheEnvironmentLeadToNothing) {
  MadeEnvironment made;
  const MadeObject odd =
      with_elf("odd", {"site/odd/a.so",
                       "",
                       {"libx.so"},
                       {},
                       {"$ORIGIN/../../../../../../../..", "$LIB", "relative", "", "$ORIGINAL/x"},
                       false});
  const MadeObject x = with_elf("x", {"site/x/libx.so", "libx.so", {}, {}, {}, false});
  const Proof proof = must(prove_on_paper(made.plan({odd, x})));
  EXPECT_EQ(proof.unproved.size(), 1U);
}

}  // namespace
}  // namespace goldenv::compose

#include "store/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "store/made_object.h"
#include "support/temp_dir.h"

namespace goldenv::store {
namespace {

namespace fs = std::filesystem;
using test::MadeObject;
using test::must;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StoreVerify : public ::testing::Test {
 protected:
  StoreVerify()
      : store_(must(Store::open(temp_.at("store"), Access::write))), made_("nccl", "2.20.5") {
    made_
        .file("site/nvidia/nccl/lib/libnccl.so.2",
              "\x7f"
              "ELF and so on")
        .file("site/nvidia/nccl/__init__.py", "")
        .file("bin/tool", "#!/bin/sh\n", true)
        .link("site/nvidia/nccl/lib/libnccl.so", "libnccl.so.2")
        .root("site", "site-packages")
        .of("wheel");
    must(made_.publish(store_));
    temp_.file("store/tmp/wheel", "wheel");
    must(store_.put_artifact(store_.at("tmp/wheel"), Sha256::of("wheel"), Checked::no));
  }

  /// "changed objects/x/object.json", one each.
  std::vector<std::string> differences() {
    std::vector<std::string> all;
    const Result<Verified> verified = verify(store_, [&](const Difference& difference) {
      EXPECT_FALSE(difference.says.empty());
      all.push_back(std::string(name(difference.kind)) + " " + difference.path);
    });
    EXPECT_TRUE(verified);
    EXPECT_EQ(verified->differences, all.size());
    return all;
  }

  /// Changes one byte of a file, its mode and times kept.
  void flip(const std::string& path, std::size_t at) {
    std::string bytes = test::read_file(path);
    bytes.at(at) = static_cast<char>(bytes.at(at) ^ 1);
    write_through(path, bytes);
  }
  void write_through(const std::string& path, const std::string& bytes) {
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
    {
      std::ofstream out(path, std::ios::binary | std::ios::trunc);
      out << bytes;
    }
    ASSERT_EQ(::chmod(path.c_str(), status.st_mode & 07777), 0);
  }
  /// Lets a test change what is in a folder, and closes it again.
  template <typename Change>
  void change_in(const std::string& folder, Change change) {
    ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
    change();
    ASSERT_EQ(::chmod(folder.c_str(), 0555), 0);
  }

  [[nodiscard]] std::string object() const { return "objects/" + made_.id(); }

  test::TempDir temp_;
  Store store_;
  MadeObject made_;
};

TEST_F(StoreVerify, AFreshStoreIsClean) {
  EXPECT_THAT(differences(), IsEmpty());
  const Verified verified = must(verify(store_, [](const Difference&) {}));
  EXPECT_EQ(verified.objects, 1U);
  EXPECT_EQ(verified.artifacts, 1U);
  EXPECT_EQ(verified.files, 4U);
  EXPECT_EQ(verified.size_bytes, 5U + 14U + 0U + 10U);
}

TEST_F(StoreVerify, EveryFlippedByteIsFound) {
  for (const std::string& name :
       {"artifacts/" + Sha256::of("wheel").hex(), object() + "/object.json",
        object() + "/files.json", object() + "/tree/bin/tool",
        object() + "/tree/site/nvidia/nccl/lib/libnccl.so.2"}) {
    const std::string path = store_.at(name);
    const std::size_t size = test::read_file(path).size();
    for (std::size_t at = 0; at < size; ++at) {
      flip(path, at);
      const std::vector<std::string> found = differences();
      EXPECT_FALSE(found.empty()) << name << " byte " << at;
      flip(path, at);
    }
    EXPECT_THAT(differences(), IsEmpty()) << name;
  }
  flip(store_.at(object() + "/tree/bin/tool"), 3);
  EXPECT_THAT(differences(), ElementsAre("changed " + object() + "/tree/bin/tool"));
}

TEST_F(StoreVerify, WhatIsMissingOrStrayIsNamed) {
  const std::string lib = object() + "/tree/site/nvidia/nccl/lib";
  change_in(store_.at(lib), [&] {
    fs::remove(store_.at(lib + "/libnccl.so.2"));
    fs::create_directory(store_.at(lib + "/__pycache__"));
    std::ofstream(store_.at(lib + "/a.pyc")) << "x";
  });
  EXPECT_THAT(differences(), ElementsAre("stray " + lib + "/__pycache__", "stray " + lib + "/a.pyc",
                                         "missing " + lib + "/libnccl.so.2"));
}

TEST_F(StoreVerify, LinksAndModesAreLookedAt) {
  const std::string tree = object() + "/tree";
  const std::string lib = tree + "/site/nvidia/nccl/lib";
  change_in(store_.at(lib), [&] {
    fs::remove(store_.at(lib + "/libnccl.so"));
    fs::create_symlink("/usr/lib/libnccl.so.2", store_.at(lib + "/libnccl.so"));
  });
  ASSERT_EQ(::chmod(store_.at(tree + "/bin/tool").c_str(), 0755), 0);
  ASSERT_EQ(::chmod(store_.at(tree + "/site").c_str(), 0755), 0);
  EXPECT_THAT(differences(), ElementsAre("mode " + tree + "/bin/tool", "mode " + tree + "/site",
                                         "changed " + lib + "/libnccl.so"));
}

TEST_F(StoreVerify, AFileInPlaceOfALinkAndTheOtherWayRound) {
  const std::string lib = object() + "/tree/site/nvidia/nccl/lib";
  change_in(store_.at(lib), [&] {
    fs::remove(store_.at(lib + "/libnccl.so"));
    std::ofstream(store_.at(lib + "/libnccl.so")) << "x";
    fs::rename(store_.at(lib + "/libnccl.so.2"), temp_.at("aside"));
    fs::create_symlink(temp_.at("aside"), store_.at(lib + "/libnccl.so.2"));
  });
  EXPECT_THAT(differences(),
              ElementsAre("changed " + lib + "/libnccl.so", "changed " + lib + "/libnccl.so.2"));
}

TEST_F(StoreVerify, StraysAroundObjectsAreFound) {
  temp_.file("store/notes", "x");
  temp_.file("store/objects/file", "x");
  temp_.file("store/" + object() + "/more", "x");
  temp_.file("store/artifacts/part", "x");
  temp_.link("store/roots/gone", "../envs/" + std::string(64, 'a'));
  temp_.file("store/roots/.x", "");
  EXPECT_THAT(differences(),
              ElementsAre("stray notes", "stray artifacts/part", "stray " + object() + "/more",
                          "stray objects/file", "stray roots/.x", "missing roots/gone"));
}

TEST_F(StoreVerify, AnObjectWithoutItsListIsNamed) {
  fs::remove(store_.at(object() + "/files.json"));
  EXPECT_THAT(differences(), ElementsAre("missing " + object() + "/files.json"));
}

}  // namespace
}  // namespace goldenv::store

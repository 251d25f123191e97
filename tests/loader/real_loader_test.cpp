#include "real_loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>

#include "elf/elf.h"
#include "elf_file.h"
#include "host/host.h"
#include "loader/loader.h"
#include "loader/system.h"
#include "support/temp_dir.h"

// What this machine's own loader answers is the measure.
namespace goldenv {
namespace {

using loader::Question;
using loader::resolve;
using test::listed;
using test::native;

/// Programs and libraries of this machine that need others: every file of some folders, evenly
/// thinned.
std::vector<std::string> files_of_the_system(const host::Host& host, std::size_t wanted) {
  std::vector<std::string> files;
  for (const std::string& folder : {std::string("/usr/bin"), std::string("/usr/sbin"),
                                    "/usr/lib/" + native().multiarch, std::string("/usr/lib64")}) {
    const auto entries = host.list(folder);
    if (!entries) {
      continue;
    }
    for (const host::DirEntry& entry : *entries) {
      const auto path = host.real_path(folder + "/" + entry.name);
      if (!path || host.read_head(*path, 4).value_or("") != ELFMAG) {
        continue;
      }
      const auto image = elf::read(host, *path);
      if (image && image->machine == native().machine && !image->needed.empty()) {
        files.push_back(*path);
      }
    }
  }
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  std::vector<std::string> thinned;
  for (std::size_t i = 0; i < wanted && i < files.size(); ++i) {
    thinned.push_back(files[files.size() <= wanted ? i : i * files.size() / wanted]);
  }
  return thinned;
}

TEST(RealLoader, FilesOfTheSystemLoadAllThatTheLoaderLoadsInItsOrder) {
  const auto host = host::live_host();
  loader::System system(*host);
  const std::vector<std::string> files = files_of_the_system(*host, 310);
  std::size_t objects = 0;
  for (const std::string& file : files) {
    const test::Listing truth = listed(file, {});
    ASSERT_EQ(truth.status, 0) << file << ": " << truth.err;
    const auto ours = loader::load(
        *host, file,
        {.soname = "", .loaders = {}, .library_path = "", .preloaded = {}, .system = &system});
    ASSERT_TRUE(ours) << file << ": " << ours.error().message;
    EXPECT_EQ(test::paths(*ours), test::paths(truth)) << file;
    objects += truth.objects.size();
  }
  std::cout << "compared: " << files.size() << " files, " << objects << " libraries\n";
  EXPECT_GE(files.size(), 300U);
}

/// A program that needs libx.so.1 through libmid.so, and a libx.so.1 in each of several folders.
class MadeObjects : public testing::Test {
 protected:
  void make(const test::SharedObject& mid, const test::SharedObject& program) {
    test::SharedObject object = mid;
    object.soname = "libmid.so";
    object.needed = {"libx.so.1"};
    write("lib/libmid.so", object);
    object = program;
    object.needed = {dir_.at("lib/libmid.so")};
    write("bin/program", object);
    for (const char* folder : {"rpath", "program", "env", "runpath", "lib"}) {
      write(std::string(folder) + "/libx.so.1", {.soname = "libx.so.1"});
    }
  }

  void write(const std::string& path, test::SharedObject object) {
    object.machine = native().machine;
    dir_.file(path, test::elf_file(object));
  }

  /// Both loaders asked for the libx.so.1 of libmid.so.
  void expect_agreement(const std::string& library_path, const std::string& preload,
                        const std::string& expected) {
    std::map<std::string, std::string> environment;
    Question question{"libx.so.1", {dir_.at("lib/libmid.so"), dir_.at("bin/program")}, "", {}};
    if (!library_path.empty()) {
      environment["LD_LIBRARY_PATH"] = question.library_path = library_path;
    }
    if (!preload.empty()) {
      environment["LD_PRELOAD"] = preload;
      question.preloaded = {preload};
    }
    const test::Listing listing = listed(dir_.at("bin/program"), environment);
    ASSERT_EQ(listing.status, 0) << listing.err;
    std::map<std::string, std::string> truth;
    for (const test::Listing::Object& object : listing.objects) {
      truth[object.name.substr(object.name.rfind('/') + 1)] = object.path;
    }
    const auto host = host::live_host();
    const auto answer = resolve(*host, question);
    const std::string ours = answer ? answer->path : "";
    EXPECT_EQ(ours, expected);
    if (answer && answer->why == "LD_PRELOAD") {
      // The loader lists what was preloaded by its path, and no other file for the soname.
      EXPECT_TRUE(truth.contains(preload.substr(preload.rfind('/') + 1)));
      EXPECT_TRUE(!truth.contains("libx.so.1") || truth.at("libx.so.1") == preload);
    } else {
      EXPECT_EQ(truth.at("libx.so.1"), expected);
    }
  }

  test::TempDir dir_;
};

TEST_F(MadeObjects, RpathOfTheAskerThenOfItsLoaderThenTheVariable) {
  make({.rpath = dir_.at("rpath")}, {.rpath = dir_.at("program")});
  expect_agreement(dir_.at("env"), "", dir_.at("rpath/libx.so.1"));
  make({}, {.rpath = dir_.at("program")});
  expect_agreement(dir_.at("env"), "", dir_.at("program/libx.so.1"));
  make({}, {});
  expect_agreement(dir_.at("env"), "", dir_.at("env/libx.so.1"));
  expect_agreement("", "", "");
}

TEST_F(MadeObjects, RunpathIsBehindTheVariableAndTurnsRpathsOff) {
  make({.rpath = dir_.at("rpath"), .runpath = dir_.at("runpath")}, {.rpath = dir_.at("program")});
  expect_agreement(dir_.at("env"), "", dir_.at("env/libx.so.1"));
  expect_agreement("", "", dir_.at("runpath/libx.so.1"));
  make({}, {.runpath = dir_.at("runpath")});
  expect_agreement("", "", "");
}

TEST_F(MadeObjects, ARunpathHigherUpDoesNotTurnTheAskersRpathOff) {
  make({.rpath = dir_.at("rpath")}, {.runpath = dir_.at("runpath")});
  expect_agreement(dir_.at("env"), "", dir_.at("rpath/libx.so.1"));
}

TEST_F(MadeObjects, OriginIsTextualAndDotsAreKept) {
  make({.rpath = "$ORIGIN/../rpath"}, {});
  expect_agreement("", "", dir_.at("lib/../rpath/libx.so.1"));
  make({.runpath = "${ORIGIN}"}, {});
  expect_agreement("", "", dir_.at("lib/libx.so.1"));
  make({}, {});
  expect_agreement("$ORIGIN/../env", "", dir_.at("bin/../env/libx.so.1"));
}

TEST_F(MadeObjects, LibAndPlatformAreThisLoaders) {
  make({.rpath = "$ORIGIN/../$LIB"}, {});
  const bool multiarch = std::filesystem::exists("/usr/lib/" + native().multiarch);
  const std::string lib = multiarch ? "lib/" + native().multiarch : "lib64";
  write(lib + "/libx.so.1", {.soname = "libx.so.1"});
  expect_agreement("", "", dir_.at("lib/../" + lib + "/libx.so.1"));
}

TEST_F(MadeObjects, FilesOfAnotherMachineArePassedOver) {
  make({.rpath = dir_.at("rpath")}, {});
  const std::uint16_t foreign =
      native().machine == EM_X86_64 ? std::uint16_t{EM_AARCH64} : std::uint16_t{EM_X86_64};
  dir_.file("rpath/libx.so.1", test::elf_file({.soname = "libx.so.1", .machine = foreign}));
  expect_agreement(dir_.at("env"), "", dir_.at("env/libx.so.1"));
}

TEST_F(MadeObjects, PreloadsAnswerBySonameNotByFileName) {
  make({.rpath = dir_.at("rpath")}, {});
  write("preload/other.so", {.soname = "libx.so.1"});
  expect_agreement("", dir_.at("preload/other.so"), dir_.at("preload/other.so"));
  write("preload/libx.so.1", {.soname = "libother.so"});
  expect_agreement("", dir_.at("preload/libx.so.1"), dir_.at("rpath/libx.so.1"));
}

}  // namespace
}  // namespace goldenv

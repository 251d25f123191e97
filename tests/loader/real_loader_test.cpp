#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>

#include "base/text.h"
#include "elf/elf.h"
#include "elf_file.h"
#include "host/host.h"
#include "loader/loader.h"
#include "support/program.h"
#include "support/temp_dir.h"

// What this machine's own loader answers is the measure.
namespace goldenv {
namespace {

using loader::Question;
using loader::resolve;

struct Native {
  std::string interpreter;
  std::string multiarch;
  std::uint16_t machine = 0;
};

Native native() {
#if defined(__aarch64__)
  return {"/lib/ld-linux-aarch64.so.1", "aarch64-linux-gnu", EM_AARCH64};
#else
  return {"/lib64/ld-linux-x86-64.so.2", "x86_64-linux-gnu", EM_X86_64};
#endif
}

/// What ld.so says when it only traces, as ldd(1) has it do: soname to path, "" where it says "not
/// found". None where it failed.
std::optional<std::map<std::string, std::string>> listed(
    const std::string& file, std::map<std::string, std::string> environment) {
  environment["LD_TRACE_LOADED_OBJECTS"] = "1";
  const test::Ended ended =
      test::run({.argv = {native().interpreter, file}, .environment = environment});
  if (ended.status != 0) {
    ADD_FAILURE() << file << ": " << ended.err;
    return std::nullopt;
  }
  std::map<std::string, std::string> found;
  for (const std::string_view line : lines(ended.out)) {
    const std::vector<std::string_view> parts = words(line);
    if (parts.size() >= 3 && parts[1] == "=>") {
      found[std::string(parts[0])] = parts[2] == "not" ? "" : std::string(parts[2]);
    } else if (parts.size() == 2 && parts[0].starts_with('/')) {
      const std::string path(parts[0]);
      found[path.substr(path.rfind('/') + 1)] = path;
    }
  }
  return found;
}

TEST(RealLoader, EveryTenthFileOfTheSystemGetsTheLibrariesThatTheLoaderGivesIt) {
  const auto host = host::live_host();
  int compared = 0;
  int names = 0;
  std::map<std::string, int> passed_over;
  for (const std::string& folder : {std::string("/usr/bin"), "/usr/lib/" + native().multiarch}) {
    const auto entries = host->list(folder);
    ASSERT_TRUE(entries) << entries.error().message;
    for (std::size_t i = 0; i < entries->size(); i += 10) {
      const auto path = host->real_path(folder + "/" + (*entries)[i].name);
      if (!path) {
        ++passed_over["dangling link"];
        continue;
      }
      const auto image = elf::read(*host, *path);
      if (!image) {
        const bool no_elf =
            image.error().code == Errc::malformed || image.error().code == Errc::unreadable;
        EXPECT_TRUE(no_elf) << image.error().message;
        ++passed_over["no ELF file"];
        continue;
      }
      if (image->machine != native().machine || image->needed.empty()) {
        ++passed_over[image->needed.empty() ? "needs nothing" : "of another machine"];
        continue;
      }
      const auto truth = listed(*path, {});
      if (!truth) {
        continue;  // already a failure
      }
      ++compared;
      for (const std::string& soname : image->needed) {
        ++names;
        const auto answer = resolve(*host, Question{soname, {*path}, "", {}});
        const std::string ours = answer ? answer->path : "";
        const auto theirs = truth->find(soname);
        ASSERT_NE(theirs, truth->end()) << *path << " " << soname;
        EXPECT_EQ(ours, theirs->second) << *path << " " << soname;
      }
    }
  }
  for (const auto& [reason, count] : passed_over) {
    std::cout << "passed over: " << count << " (" << reason << ")\n";
  }
  std::cout << "compared: " << compared << " files, " << names << " names\n";
  EXPECT_GE(compared, 100);
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
    const auto truth = listed(dir_.at("bin/program"), environment);
    ASSERT_TRUE(truth);
    const auto host = host::live_host();
    const auto answer = resolve(*host, question);
    const std::string ours = answer ? answer->path : "";
    EXPECT_EQ(ours, expected);
    if (answer && answer->why == "LD_PRELOAD") {
      // The loader lists what was preloaded by its path, and no other file for the soname.
      EXPECT_TRUE(truth->contains(preload.substr(preload.rfind('/') + 1)));
      EXPECT_TRUE(!truth->contains("libx.so.1") || truth->at("libx.so.1") == preload);
    } else {
      EXPECT_EQ(truth->at("libx.so.1"), expected);
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

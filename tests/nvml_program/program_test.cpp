// The program that asks NVML for goldenv-portable. The tests of the reader (tests/nvml) are linked
// into the same binary, where the reader uses it.
#include "nvml/program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "support/nvml_fixture.h"
#include "support/program.h"

namespace goldenv::nvml {
namespace {

std::string told_by(const std::string& option) {
  const test::Ended ended =
      test::run({.argv = {"/usr/bin/readelf", "-W", option, GOLDENV_NVML_PROGRAM}});
  EXPECT_EQ(ended.status, 0) << ended.err;
  return ended.out;
}

TEST(NvmlProgram, IsWhatTheseTestsUse) { EXPECT_TRUE(has_program()); }

// CentOS 7 has glibc 2.17, Ubuntu 18.04 has 2.27.
TEST(NvmlProgram, RunsWithGlibcFrom217) {
  const std::string versions = told_by("-V");
  const std::string mark = "Name: GLIBC_2.";
  std::size_t found = 0;
  for (std::size_t at = versions.find(mark); at != std::string::npos;
       at = versions.find(mark, at + 1)) {
    ++found;
    EXPECT_LE(std::stoi(versions.substr(at + mark.size())), 17) << versions;
  }
  EXPECT_GT(found, 0U) << versions;
  // No symbol is without a version, as one would be that no library had when it was linked.
  std::istringstream symbols(told_by("--dyn-syms"));
  for (std::string line; std::getline(symbols, line);) {
    if (line.find(" UND ") != std::string::npos &&
        line.find(" NOTYPE  LOCAL ") == std::string::npos) {
      EXPECT_NE(line.find("@GLIBC_"), std::string::npos) << line;
    }
  }
}

TEST(NvmlProgram, NeedsNothingButTheCLibrary) {
  std::istringstream entries(told_by("-d"));
  std::size_t needed = 0;
  for (std::string line; std::getline(entries, line);) {
    if (line.find("(NEEDED)") != std::string::npos) {
      ++needed;
      EXPECT_TRUE(line.find("[libc.so.6]") != std::string::npos ||
                  line.find("[libdl.so.2]") != std::string::npos)
          << line;
    }
    EXPECT_EQ(line.find("RUNPATH"), std::string::npos) << line;
  }
  EXPECT_EQ(needed, 2U);
}

// Its own entry runs none.
TEST(NvmlProgram, HasNoConstructorsOfGlobals) {
  EXPECT_EQ(told_by("-S").find(".init_array"), std::string::npos);
}

TEST(NvmlProgram, WrongWordsEndIt) {
  EXPECT_EQ(test::run({.argv = {GOLDENV_NVML_PROGRAM}}).status, 2);
}

TEST(NvmlProgram, LeavesNoProcessBehind) {
  for (const char* name : {"good", "crashes"}) {
    const std::string fixture = test::nvml_fixture(name);
    ask_program(fixture, Depth::devices, [](const std::string&) {});
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace goldenv::nvml

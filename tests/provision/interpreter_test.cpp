#include "provision/interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/temp_dir.h"

namespace goldenv::provision {
namespace {

using test::TempDir;
using testing::HasSubstr;

std::string said(const std::string& version, const std::string& more = "") {
  return "{\"version\": \"" + version +
         "\", \"implementation\": \"cpython\", \"base\": \"/usr/bin/python3.11\", \"prefix\": "
         "\"/usr\", \"machine\": \"x86_64\", \"libc\": \"glibc 2.36\", \"debug\": false, "
         "\"free_threaded\": false" +
         more + "}\n";
}

TEST(ParseInterpreter, ItsWordsMakeATarget) {
  const auto found = parse_interpreter(said("3.11.2"), "/opt/venv/bin/python3");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->program, "/opt/venv/bin/python3");
  EXPECT_EQ(found->base, "/usr/bin/python3.11");
  EXPECT_EQ(found->version, "3.11.2");
  EXPECT_EQ(found->minor, "3.11");
  EXPECT_EQ(wheel::abi_tag(found->target), "cp311");
  EXPECT_EQ(found->target.glibc_major, 2u);
  EXPECT_EQ(found->target.glibc_minor, 36u);
}

TEST(ParseInterpreter, WhatIsNoCPythonOfOurTimeIsRefused) {
  EXPECT_EQ(parse_interpreter(said("3.6.9"), "python3").error().code, Errc::usage);
  EXPECT_EQ(parse_interpreter("{\"version\": \"3.10.14\", \"implementation\": \"pypy\", \"base\": "
                              "\"/opt/pypy\", \"prefix\": \"/opt\"}",
                              "pypy3")
                .error()
                .message,
            "pypy3 is pypy 3.10.14: environments are made for CPython 3.7 and later");
  EXPECT_EQ(parse_interpreter("hello\n", "p").error().code, Errc::malformed);
  EXPECT_EQ(parse_interpreter("{}", "p").error().message, "p does not say which Python it is");
}

class FindInterpreter : public testing::Test {
 protected:
  FindInterpreter() {
    auto store = store::Store::open(home_.at("store"), store::Access::write);
    EXPECT_TRUE(store) << (store ? "" : store.error().message);
    store_.emplace(*std::move(store));
  }

  TempDir home_;
  std::optional<store::Store> store_;
};

TEST_F(FindInterpreter, TheSystemsPythonSaysWhatItIs) {
  const auto found = find_interpreter({"/usr/bin/python3", "", ""}, *store_);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->minor.substr(0, 2), "3.");
  EXPECT_THAT(found->base, HasSubstr("/usr/bin/python3"));
  EXPECT_EQ(found->why, "asked for");
  // What it said is remembered.
  const auto again = find_interpreter({"/usr/bin/python3", "", ""}, *store_);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->version, found->version);
}

TEST_F(FindInterpreter, AnotherMinorVersionThanThePinnedOneIsRefused) {
  const auto found = find_interpreter({"/usr/bin/python3", "3.2.1", ""}, *store_);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::usage);
  EXPECT_THAT(found.error().message, HasSubstr("and 3.2.1 is pinned"));
  const auto none = find_interpreter({"", "3.2.1", ""}, *store_);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no Python 3.2 is here"));
  EXPECT_THAT(none.error().message, HasSubstr("name it with --python"));
}

TEST_F(FindInterpreter, AnotherPatchOfThePinnedMinorIsTakenAndSaid) {
  const auto here = find_interpreter({"/usr/bin/python3", "", ""}, *store_);
  ASSERT_TRUE(here);
  const auto found = find_interpreter({"/usr/bin/python3", here->minor + ".99", ""}, *store_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->why, "asked for; " + here->minor +
                            ".99 is pinned, and goldenv makes no Python "
                            "of its own");
}

TEST_F(FindInterpreter, OneThatIsNotThereFails) {
  const auto found = find_interpreter({home_.at("python3"), "", ""}, *store_);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("does not run"));
}

}  // namespace
}  // namespace goldenv::provision

#include "provision/origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace goldenv::provision {
namespace {

using testing::HasSubstr;

store::File file(const std::string& path, const std::string& content) {
  store::File one;
  one.path = path;
  one.sha256 = Sha256::of(content);
  return one;
}

std::string line(const std::string& path, const std::string& content) {
  return path + ",sha256=" + wheel::url_base64(Sha256::of(content)) + ",1\n";
}

std::vector<wheel::RecordEntry> record(const std::string& text) {
  auto entries = wheel::parse_installed_record(text);
  EXPECT_TRUE(entries) << (entries ? "" : entries.error().message);
  return entries ? *std::move(entries) : std::vector<wheel::RecordEntry>{};
}

const std::vector<store::File> kObject = {
    file("site/a/__init__.py", "code"),
    file("site/a/__pycache__/__init__.cpython-311.pyc", "made"),
    file("site/a-1.dist-info/METADATA", "name"),
    file("site/a-1.dist-info/RECORD", "ours"),
    file("site/a-1.dist-info/INSTALLER", "goldenv"),
    file("share/a.txt", "text"),
    file("bin/a", "#!python")};
const std::string kInstalled =
    line("a/__init__.py", "code") + "a/__pycache__/__init__.cpython-311.pyc,,\n" +
    line("a-1.dist-info/METADATA", "name") + "a-1.dist-info/RECORD,,\n" +
    line("a-1.dist-info/INSTALLER", "pip") + line("a-1.dist-info/REQUESTED", "") +
    line("../../../share/a.txt", "text") + line("../../../bin/a", "#!/usr/bin/python3");

TEST(DifferenceOf, WhatInstallersWriteIsNone) {
  EXPECT_EQ(difference_of(record(kInstalled), kObject), "");
}

TEST(DifferenceOf, OtherBytesMoreAndLessAreAnotherBuild) {
  EXPECT_THAT(difference_of(record(line("a/__init__.py", "other")), kObject),
              HasSubstr("a/__init__.py has other bytes"));
  EXPECT_THAT(difference_of(record(kInstalled + line("a/more.py", "x")), kObject),
              HasSubstr("it has no a/more.py"));
  EXPECT_THAT(difference_of(record(line("a/__init__.py", "code")), kObject),
              HasSubstr("a-1.dist-info/METADATA is not installed"));
  EXPECT_THAT(difference_of(record(kInstalled + line("../../../share/b.txt", "x")), kObject),
              HasSubstr("share/b.txt is not of it"));
  // A file without a digest is not the same as one that has one.
  EXPECT_THAT(difference_of(record("a/__init__.py,,\n"), kObject), HasSubstr("has other bytes"));
}

}  // namespace
}  // namespace goldenv::provision

#include "provision/redist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace goldenv::provision {
namespace {

using testing::HasSubstr;

const std::string kA(64, 'a');
const std::string kB(64, 'b');

std::string archive(const std::string& path, const std::string& digest) {
  return R"("relative_path": ")" + path + R"(", "sha256": ")" + digest +
         R"(", "md5": "x", "size": "12")";
}

RedistWish wish(const std::string& part, const std::string& variant = "") {
  return {"https://host.example/redist/redistrib_9.json", {part}, "linux-x86_64", variant, "", ""};
}

std::string why_not(const std::string& text, const RedistWish& wanted) {
  const auto parts = parse_redist(text, wanted);
  return parts ? "taken" : parts.error().message;
}

TEST(ParseRedist, BothDepthsOfAnIndexAreRead) {
  const std::string text = R"({"release_date": "2024-01-01",
    "flat": {"version": "1.2", "linux-x86_64": {)" +
                           archive("flat/a.tar.xz", kA) + R"(}},
    "deep": {"version": "9.2.0.82", "cuda_variant": ["12", "13"], "linux-x86_64": {
      "cuda12": {)" + archive("deep/12.tar.xz", kA) +
                           R"(}, "cuda13": {)" + archive("deep/13.tar.xz", kB) + R"(}}},
    "mixed": {"version": "3", "linux-x86_64": {"cuda13": {)" +
                           archive("mixed/13.tar.xz", kB) + "}, " +
                           archive("mixed/all.tar.xz", kA) + R"(}},
    "minor": {"version": "4", "linux-x86_64": {"cuda13.1": {)" +
                           archive("m/1.tar.xz", kA) + "}}}}";
  const auto url = [&text](const RedistWish& wanted) {
    const auto parts = parse_redist(text, wanted);
    return parts ? parts->front().url : parts.error().message;
  };
  EXPECT_EQ(url(wish("flat")), "https://host.example/redist/flat/a.tar.xz");
  EXPECT_EQ(url(wish("flat", "cuda12")), "https://host.example/redist/flat/a.tar.xz");
  EXPECT_EQ(url(wish("deep", "cuda13")), "https://host.example/redist/deep/13.tar.xz");
  EXPECT_THAT(url(wish("deep", "cuda11")), HasSubstr("as cuda12, cuda13, not as cuda11"));
  EXPECT_THAT(url(wish("deep")), HasSubstr("not in one form"));
  EXPECT_EQ(url(wish("mixed", "cuda13")), "https://host.example/redist/mixed/13.tar.xz");
  EXPECT_EQ(url(wish("mixed", "cuda12")), "https://host.example/redist/mixed/all.tar.xz");
  EXPECT_EQ(url(wish("minor")), "https://host.example/redist/m/1.tar.xz");

  const auto parts = parse_redist(text, wish("deep", "cuda12"));
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->front(),
            (RedistPart{"deep", "9.2.0.82", "https://host.example/redist/deep/12.tar.xz", kA, 12}));
}

TEST(ParseRedist, AVersionIsThatOfThePartOrItsBeginning) {
  const std::string text =
      R"({"a": {"version": "8.9.7.29", "linux-x86_64": {)" + archive("a.tar.xz", kA) + "}}}";
  RedistWish wanted = wish("a");
  for (const char* version : {"", "8.9.7.29", "8.9.7"}) {
    wanted.version = version;
    EXPECT_EQ(why_not(text, wanted), "taken") << version;
  }
  for (const char* version : {"8.9.7.2", "8.9.70", "8.9.7.30"}) {
    wanted.version = version;
    EXPECT_THAT(why_not(text, wanted), HasSubstr("has a 8.9.7.29, not")) << version;
  }
}

TEST(ParseRedist, WhatIsNoIndexIsRefused) {
  EXPECT_THAT(why_not("[]", wish("a")), HasSubstr("no mapping"));
  EXPECT_THAT(why_not("<html>", wish("a")), HasSubstr("redistrib_9.json"));
  EXPECT_THAT(why_not(R"({"a": "text"})", wish("a")), HasSubstr("has no part a"));
  EXPECT_THAT(why_not(R"({"a": {"version": "1", "linux-x86_64": []}})", wish("a")),
              HasSubstr("for linux-x86_64"));
  for (const char* path : {"", "/a.tar.xz", "../a.tar.xz", "x/../../a.tar.xz", "http://h/a",
                           "a.tar.xz#b", "a b", "a%2fb"}) {
    EXPECT_THAT(why_not(R"({"a": {"version": "1", "linux-x86_64": {)" + archive(path, kA) + "}}}",
                        wish("a")),
                HasSubstr("no path below the index"))
        << path;
  }
  EXPECT_THAT(why_not(R"({"a": {"version": "1", "linux-x86_64": {)" + archive("a", "ab") + "}}}",
                      wish("a")),
              HasSubstr("no sha256"));
  EXPECT_THAT(why_not(R"({"a": {"linux-x86_64": {)" + archive("a", kA) + "}}}", wish("a")),
              HasSubstr("no version"));
}

}  // namespace
}  // namespace goldenv::provision

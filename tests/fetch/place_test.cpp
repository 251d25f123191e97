#include "fetch/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace goldenv::fetch {
namespace {

using testing::HasSubstr;
using testing::Not;

bool is_safe(const std::string& url) {
  const auto place = Place::parse(url);
  EXPECT_TRUE(place) << url;
  return place && place->is_safe();
}

/// "user:password" that a URL gets of these.
std::string lent(const std::vector<std::string>& urls, const std::string& to) {
  const auto credentials = Credentials::of(urls);
  EXPECT_TRUE(credentials) << credentials.error().message;
  auto place = Place::parse(to);
  EXPECT_TRUE(place) << to;
  if (!credentials || !place) {
    return "?";
  }
  credentials->lend(*place);
  return place->has_user ? place->user + ":" + place->password : "none";
}

TEST(Place, SafeIsHttpsAndThisMachineToTheLetter) {
  for (const char* url : {"https://h/", "HTTPS://127.evil.example/", "http://127.0.0.1:8080/x",
                          "http://127.3.2.1/", "http://[::1]:80/", "http://LOCALHOST/"}) {
    EXPECT_TRUE(is_safe(url)) << url;
  }
  for (const char* url :
       {"http://127.evil.example/", "http://127.0.0.1.evil.example/", "http://0.0.0.0/",
        "http://localhost.evil.example/", "http://127.0.0.1@evil.example/", "http://128.0.0.1/",
        "http://[::2]/", "http://[::]/", "http://127/", "file:///etc/passwd"}) {
    EXPECT_FALSE(is_safe(url)) << url;
  }
}

TEST(Place, OnlySafeRedirectsAreFollowedWhereAsked) {
  const auto from = Place::parse("http://127.0.0.1:1/simple/");
  ASSERT_TRUE(from);
  EXPECT_TRUE(from->redirected("http://0.0.0.0:1/simple/"));
  const auto refused = from->redirected("http://me:s3cret@0.0.0.0:1/simple/?k=s3cret", true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::denied);
  EXPECT_THAT(refused.error().message,
              HasSubstr("http://127.0.0.1:1/simple/ redirects to http://0.0.0.0:1/simple/"));
  EXPECT_THAT(refused.error().message, Not(HasSubstr("s3cret")));
  EXPECT_FALSE(from->redirected("file:///srv/x", true));
  EXPECT_TRUE(from->redirected("https://h/", true));
  EXPECT_TRUE(from->redirected("http://localhost:2/", true));
}

TEST(Credentials, AreLentToTheirOriginAlone) {
  const std::vector<std::string> one = {"https://bob:p%40w@h.example/simple"};
  EXPECT_EQ(lent(one, "https://H.example:443/files/a.whl"), "bob:p@w");
  EXPECT_EQ(lent(one, "https://h.example:444/files/a.whl"), "none");
  EXPECT_EQ(lent(one, "http://h.example/files/a.whl"), "none");
  EXPECT_EQ(lent(one, "https://h.example.evil.example/simple/"), "none");
  EXPECT_EQ(lent(one, "https://eve:x@h.example/a"), "eve:x");
  EXPECT_EQ(lent(one, "file:///simple/a"), "none");
  EXPECT_EQ(lent({"https://:token@h/"}, "https://h/x"), ":token");
}

TEST(Credentials, OfOneOriginThePathDecides) {
  const std::vector<std::string> both = {"https://a:1@h/one/simple", "https://b:2@h/two/simple/"};
  EXPECT_EQ(lent(both, "https://h/two/simple/numpy/"), "b:2");
  EXPECT_EQ(lent(both, "https://h/one/simple/numpy/"), "a:1");
  EXPECT_EQ(lent(both, "https://h/one/simplest/"), "a:1");
  EXPECT_EQ(lent(both, "https://h/two"), "a:1") << "a file of the top";
  EXPECT_EQ(lent(both, "https://h/files/x.whl"), "a:1");
}

TEST(Credentials, WhatIsWrongWithThemIsToldWithoutThem) {
  for (const char* url : {"https://h/", "ftp://me:s3cret@h/", "file:///s3cret", "s3cret", ""}) {
    const auto credentials = Credentials::of({url});
    ASSERT_FALSE(credentials) << url;
    EXPECT_THAT(credentials.error().message, Not(HasSubstr("s3cret")));
  }
}

}  // namespace
}  // namespace goldenv::fetch

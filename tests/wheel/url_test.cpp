#include "wheel/url.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goldenv::wheel {
namespace {

TEST(Url, IsTakenApartAndPutTogether) {
  for (const std::string_view text :
       {"https://user:secret@host:8443/a/b?c=d#e=f", "file:///a", "a/b", "?", "#", "//h", "a:b"}) {
    EXPECT_EQ(render(parse_url(text)), text);
  }
  const Url url = parse_url("HTTPS://h/p?q#f");
  EXPECT_EQ(url.scheme, "https");
  EXPECT_EQ(url.authority, "h");
  EXPECT_EQ(url.fragment, "f");
  EXPECT_EQ(parse_url("1a:b").scheme, "");
}

// The table of RFC 3986 sections 5.4.1 and 5.4.2.
TEST(Url, ReferencesResolveAsInTheStandard) {
  const std::vector<std::pair<std::string_view, std::string_view>> rows{
      {"g:h", "g:h"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q#s"},
      {"g#s", "http://a/b/c/g#s"},
      {"g?y#s", "http://a/b/c/g?y#s"},
      {";x", "http://a/b/c/;x"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../g", "http://a/g"},
      {"../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"./g/.", "http://a/b/c/g/"},
      {"g/./h", "http://a/b/c/g/h"},
      {"g/../h", "http://a/b/c/h"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
      {"http:g", "http:g"},
  };
  const Url base = parse_url("http://a/b/c/d;p?q");
  for (const auto& [reference, expected] : rows) {
    EXPECT_EQ(render(resolve(base, reference)), expected) << reference;
  }
  EXPECT_EQ(render(resolve(parse_url("http://a"), "g")), "http://a/g");
  EXPECT_EQ(render(resolve(parse_url("file:///srv/wheels/"), "a.whl")), "file:///srv/wheels/a.whl");
}

TEST(Url, NamesOfFilesAreDecoded) {
  EXPECT_EQ(file_of(parse_url("https://h/w/torch-2.2.1%2Bcu121-x.whl?a=/b#c")),
            "torch-2.2.1+cu121-x.whl");
  EXPECT_EQ(file_of(parse_url("https://h/w/")), "");
  EXPECT_EQ(percent_decoded("%41%4a%zz%4"), "AJ%zz%4");
  EXPECT_EQ(field_of("egg=a&sha256=1%32", "sha256"), "12");
  EXPECT_EQ(field_of("sha256", "sha256"), "");
}

}  // namespace
}  // namespace goldenv::wheel

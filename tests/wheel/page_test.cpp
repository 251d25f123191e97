#include "wheel/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace goldenv::wheel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kUrl = "https://index.example/simple/numpy/";
const std::string kDigest(64, 'a');

Page html(const std::string& text, std::string_view url = kUrl) {
  auto page = parse_html_page(text, url);
  EXPECT_TRUE(page) << page.error().message;
  return page ? *std::move(page) : Page{};
}

std::string html_fault(const std::string& text) {
  const auto page = parse_html_page(text, kUrl);
  return page ? "parsed" : page.error().message;
}

Page json(const std::string& text) {
  auto page = parse_json_page(text, kUrl);
  EXPECT_TRUE(page) << page.error().message;
  return page ? *std::move(page) : Page{};
}

/// The reason for which the one link of a page is skipped.
std::string reason(const std::string& href, std::string_view url = kUrl) {
  const Page page = html("<a href=\"" + href + "\">x</a>", url);
  EXPECT_THAT(page.files, IsEmpty());
  return page.skipped.empty() ? "none" : page.skipped.front().why;
}

TEST(HtmlPage, HasEveryFieldOfAFile) {
  const Page page = html(
      "<!DOCTYPE html>\n<html><head>\n"
      "<meta name=\"pypi:repository-version\" content=\"1.1\">\n</head><body>\n"
      "<a href=\"../../packages/numpy-1.0-py3-none-any.whl#sha256=" +
      kDigest +
      "\" data-requires-python=\"&gt;=3.9,&#60;3.13\" data-yanked=\"broken &amp; bad\"\n"
      "   data-dist-info-metadata=\"sha256=" +
      kDigest + "\">numpy</a><br/></body></html>");
  ASSERT_THAT(page.files, SizeIs(1));
  const PageFile& file = page.files.front();
  EXPECT_EQ(page.api_version, "1.1");
  EXPECT_EQ(file.file, "numpy-1.0-py3-none-any.whl");
  EXPECT_EQ(file.url, "https://index.example/packages/numpy-1.0-py3-none-any.whl");
  EXPECT_EQ(file.sha256->hex(), kDigest);
  EXPECT_EQ(file.requires_python, ">=3.9,<3.13");
  EXPECT_EQ(file.yanked, "broken & bad");
  EXPECT_TRUE(file.has_metadata);
  EXPECT_EQ(file.metadata_sha256->hex(), kDigest);
}

TEST(HtmlPage, OddHtmlIsReadAsBrowsersDo) {
  const Page page = html(
      "<base href='/w/'><BASE href=/no/><script>if (a < b) '<a href=x.whl>'</script>"
      "<!-- <a href=b.whl> --> 1 < 2 <A class=x HREF = a-1-py3-none-any.whl data-yanked>a</A >"
      "<a name=top><a\nhref=\"b c.zip\"href=\"c.zip\">");
  EXPECT_THAT(page.skipped, IsEmpty());
  ASSERT_THAT(page.files, SizeIs(2));
  EXPECT_EQ(page.files[0].url, "https://index.example/w/a-1-py3-none-any.whl");
  EXPECT_EQ(page.files[0].yanked, "");
  EXPECT_FALSE(page.files[0].has_metadata);
  EXPECT_EQ(page.files[1].url, "https://index.example/w/b%20c.zip");
  EXPECT_EQ(page.files[1].file, "b c.zip");
  EXPECT_FALSE(page.files[1].yanked);
  EXPECT_EQ(page.source_count, 1U);
}

TEST(HtmlPage, TheNewerNameOfMetadataWinsAndOtherDigestsAreNamed) {
  const Page page = html(
      "<a href='a.whl#md5=0' data-dist-info-metadata=true "
      "data-core-metadata=false>a</a><a href='b.whl' data-core-metadata=true>");
  ASSERT_THAT(page.files, SizeIs(2));
  EXPECT_FALSE(page.files[0].has_metadata);
  EXPECT_THAT(page.files[0].other_digests, ElementsAre("md5"));
  EXPECT_FALSE(page.files[0].sha256);
  EXPECT_TRUE(page.files[1].has_metadata);
}

TEST(HtmlPage, LinksThatAreNoFilesAreSkippedWithTheirReason) {
  EXPECT_EQ(reason("javascript:alert(1)//a.whl"), "scheme javascript");
  EXPECT_EQ(reason("git+https://h/a.whl"), "scheme git+https");
  EXPECT_EQ(reason("https:///a.whl"), "no host");
  EXPECT_EQ(reason("../"), "no file");
  EXPECT_EQ(reason(""), "no file");
  EXPECT_EQ(reason("a.exe"), "neither a wheel nor a source archive");
  EXPECT_EQ(reason("..%2Fa.whl"), "odd name of a file");
  EXPECT_EQ(reason("a%0A.whl"), "odd name of a file");
  EXPECT_EQ(reason("a%FF.whl"), "odd name of a file");
  EXPECT_EQ(reason("a\x1b[31m.whl"), "control character in the link");
  EXPECT_EQ(reason(std::string("a\0.whl", 6)), "control character in the link");
  EXPECT_EQ(reason("a.whl#sha256=12"), "its sha256 is no digest");
  EXPECT_EQ(reason("a.whl#sha256=" + kDigest + "&sha256=" + std::string(64, 'b')),
            "its sha256 is no digest");
  EXPECT_EQ(reason(std::string(9000, 'a') + ".whl"), "longer than 8192 bytes");
}

TEST(HtmlPage, ControlCharactersOfTheBaseReachNoUrl) {
  const Page page = html("<base href='/a\nb/'><a href=a.whl>");
  EXPECT_THAT(page.files, IsEmpty());
  EXPECT_EQ(page.skipped.front().why, "control character in the link");
}

TEST(HtmlPage, AServerNamesNoFileOfThisMachine) {
  EXPECT_EQ(reason("file:///etc/a.whl"), "a file of this machine");
  const Page based = html("<base href='file:///srv/'><a href=a.whl>");
  EXPECT_EQ(based.skipped_count, 1U);
  const Page local = html("<a href=a.whl>", "file:///srv/wheels/index.html");
  ASSERT_THAT(local.files, SizeIs(1));
  EXPECT_EQ(local.files.front().url, "file:///srv/wheels/a.whl");
}

TEST(HtmlPage, BytesThatAreNoUtf8AreEscapedInUrls) {
  const Page page = html("<a href='/\xFF\xC3\xA9/a.whl'>\xFE</a>");
  ASSERT_THAT(page.files, SizeIs(1));
  EXPECT_EQ(page.files.front().url, "https://index.example/%FF%C3%A9/a.whl");
}

TEST(HtmlPage, WhatIsUnclosedIsAnErrorAtItsLine) {
  const std::string at = std::string(kUrl) + ":2: ";
  EXPECT_EQ(html_fault("<p>\n<a href=\"x"), at + "unclosed quote");
  EXPECT_EQ(html_fault("<p>\n<a href=x"), at + "unclosed tag");
  EXPECT_EQ(html_fault("<p>\n<!-- "), at + "unclosed comment");
  EXPECT_EQ(html_fault("<p>\n</p"), at + "unclosed tag");
  EXPECT_EQ(html_fault("<p>\n<script>"), at + "unclosed <script>");
}

TEST(HtmlPage, WhatIsNoPageIsRefused) {
  EXPECT_EQ(html_fault("404 not found"),
            std::string(kUrl) + ": no index page: nothing in it is HTML");
  EXPECT_EQ(
      html_fault("<meta name=pypi:repository-version content=2.0>"),
      std::string(kUrl) + ": the index speaks version \"2.0\" of the simple API, expected 1.x");
}

TEST(HtmlPage, FiftyThousandFilesAreReadAndTooManyAreNot) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) {
    text += "<a href=\"/w/a-" + std::to_string(i) + "-py3-none-any.whl\">a</a>\n";
  }
  EXPECT_THAT(html(text).files, SizeIs(50'000));
  const auto few = parse_html_page(text, kUrl, {.bytes = text.size(), .files = 49'999});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().code, Errc::too_large);
  EXPECT_EQ(few.error().message, std::string(kUrl) + ": more than 49999 links");
  const auto large = parse_html_page(std::string(std::size_t{100} << 20, 'x'), kUrl);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, Errc::too_large);
  EXPECT_EQ(large.error().message,
            std::string(kUrl) + ": the page has 104857600 bytes, more than 67108864");
}

TEST(HtmlPage, KeepsAHundredReasonsAndCountsAll) {
  std::string text;
  for (int i = 0; i < 150; ++i) text += "<a href=x.exe>";
  const Page page = html(text);
  EXPECT_THAT(page.skipped, SizeIs(100));
  EXPECT_EQ(page.skipped_count, 150U);
}

TEST(HtmlPage, SecretsOfTheAddressAreNotShown) {
  const auto page = parse_html_page("<a", "https://user:secret@h/s/");
  ASSERT_FALSE(page);
  EXPECT_THAT(page.error().message, testing::Not(HasSubstr("secret")));
}

std::string json_file(const std::string& fields) {
  return R"({"meta": {"api-version": "1.1"}, "name": "NumPy", "versions": ["1.0", "2.0"],)"
         R"( "files": [{"filename": "a-1-py3-none-any.whl", "url": "../a.whl", )" +
         fields + "}]}";
}

TEST(JsonPage, HasEveryFieldOfAFile) {
  const Page page = json(
      json_file(R"("hashes": {"sha256": ")" + kDigest +
                R"(", "blake2b": "x"}, "requires-python": ">=3.9",)"
                R"( "yanked": "broken", "size": 123, "upload-time": "2024-02-05T23:51:50.500Z",)"
                R"( "core-metadata": {"sha256": ")" +
                kDigest + R"("}, "gpg-sig": false, "x": [1])"));
  EXPECT_EQ(page.api_version, "1.1");
  EXPECT_EQ(page.name, "numpy");
  EXPECT_THAT(page.versions, ElementsAre("1.0", "2.0"));
  ASSERT_THAT(page.files, SizeIs(1));
  const PageFile& file = page.files.front();
  EXPECT_EQ(file.file, "a-1-py3-none-any.whl");
  EXPECT_EQ(file.url, "https://index.example/simple/a.whl");
  EXPECT_EQ(file.sha256->hex(), kDigest);
  EXPECT_THAT(file.other_digests, ElementsAre("blake2b"));
  EXPECT_EQ(file.requires_python, ">=3.9");
  EXPECT_EQ(file.yanked, "broken");
  EXPECT_EQ(file.size_bytes, 123U);
  EXPECT_EQ(file.upload_time, "2024-02-05T23:51:50.500Z");
  EXPECT_EQ(file.metadata_sha256->hex(), kDigest);
}

TEST(JsonPage, SwitchesAndNullsAreNoReasons) {
  const Page plain = json(json_file(
      R"("hashes": {}, "requires-python": null, "yanked": false, "core-metadata": false)"));
  ASSERT_THAT(plain.files, SizeIs(1));
  EXPECT_FALSE(plain.files[0].yanked);
  EXPECT_FALSE(plain.files[0].has_metadata);
  const Page yanked =
      json(json_file(R"("hashes": {}, "yanked": true, "dist-info-metadata": true)"));
  ASSERT_THAT(yanked.files, SizeIs(1));
  EXPECT_EQ(yanked.files[0].yanked, "");
  EXPECT_TRUE(yanked.files[0].has_metadata);
  EXPECT_FALSE(json(json_file(R"("hashes": {}, "yanked": "")")).files[0].yanked);
}

TEST(JsonPage, FilesOfWrongTypesAreSkippedWithTheirReason) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {R"("x": 1)", "no hashes"},
      {R"("hashes": {"sha256": "12"})", "its sha256 is no digest"},
      {R"("hashes": {}, "yanked": 3)", "yanked is neither true, false nor a reason"},
      {R"("hashes": {}, "size": "3")", "size is no number"},
      {R"("hashes": {}, "size": -3)", "size is no number"},
      {R"("hashes": {}, "requires-python": 3.9)", "requires-python is no text"},
      {R"("hashes": {}, "core-metadata": "yes")",
       "core-metadata is neither true, false nor digests"},
  };
  for (const auto& [fields, why] : rows) {
    const Page page = json(json_file(fields));
    EXPECT_THAT(page.files, IsEmpty()) << fields;
    EXPECT_THAT(page.skipped, ElementsAre(SkippedLink{"a-1-py3-none-any.whl", why})) << fields;
  }
  const Page odd = json(R"({"meta":{"api-version":"1.0"},"files":[3,{"filename":"../a.whl",
      "url":"b.whl","hashes":{}}]})");
  ASSERT_THAT(odd.skipped, SizeIs(2));
  EXPECT_EQ(odd.skipped[0].why, "no hashes");
  EXPECT_EQ(odd.skipped[1].why, "odd name of a file");
}

TEST(JsonPage, WhatIsNoPageIsRefused) {
  const auto fault = [](std::string_view text) {
    const auto page = parse_json_page(text, kUrl);
    return page ? "parsed" : page.error().message;
  };
  const std::string at = std::string(kUrl) + ":1:1: ";
  EXPECT_EQ(fault("{}"), at + "no index page: it has no meta.api-version");
  EXPECT_EQ(fault(R"({"meta":{"api-version":"1.0"},"projects":[]})"),
            at + "no index page of a project: it has no list of files");
  EXPECT_EQ(
      fault(R"({"meta":{"api-version":"2.0"},"files":[]})"),
      std::string(kUrl) + ": the index speaks version \"2.0\" of the simple API, expected 1.x");
  EXPECT_THAT(fault(R"({"meta":{"api-version":"1.0"},"files":[)"), HasSubstr(std::string(kUrl)));
}

TEST(JsonPage, FiftyThousandFilesAreRead) {
  std::string text = R"({"meta":{"api-version":"1.0"},"name":"a","files":[)";
  for (int i = 0; i < 50'000; ++i) {
    text += (i == 0 ? "" : ",") + std::string(R"({"filename":"a-)") + std::to_string(i) +
            R"(-py3-none-any.whl","url":"/w/a","hashes":{"sha256":")" + kDigest +
            R"("},"requires-python":">=3.9","yanked":false,"size":1,"core-metadata":true})";
  }
  EXPECT_THAT(json(text + "]}").files, SizeIs(50'000));
}

TEST(Page, FormIsThatOfTheTypeOrElseOfTheText) {
  const std::string good = R"({"meta":{"api-version":"1.0"},"files":[]})";
  EXPECT_TRUE(parse_page(good, "application/vnd.pypi.simple.v1+json", kUrl));
  EXPECT_TRUE(parse_page(good, "", kUrl));
  EXPECT_TRUE(parse_page(" <html>", "application/octet-stream", kUrl));
  EXPECT_TRUE(parse_page("<html>", "Text/HTML; charset=UTF-8", kUrl));
  EXPECT_FALSE(parse_page(good, "text/html", kUrl));
  EXPECT_EQ(parse_page(" \n", "", kUrl).error().message,
            std::string(kUrl) + ": no index page: it is empty");
  EXPECT_EQ(parse_page("PK\x03\x04", "", kUrl).error().message,
            std::string(kUrl) + ": no index page: it begins with \"PK\\x03\\x04\"");
}

TEST(Page, AddressOfAProjectHasItsNormalisedName) {
  EXPECT_EQ(project_url("https://h/simple", "Foo.Bar"), "https://h/simple/foo-bar/");
  EXPECT_EQ(project_url("https://h/simple/", "a"), "https://h/simple/a/");
  for (const std::string_view name : {"../../etc", "", "..", "a/b", "a?x", "-a", "a b"}) {
    EXPECT_EQ(project_url("https://h/simple", name), "") << name;
  }
}

}  // namespace
}  // namespace goldenv::wheel

#include "fetch/fetcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "support/program.h"
#include "support/server.h"
#include "support/temp_dir.h"

namespace goldenv::fetch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::size_t kMany = 300'000;

const std::string kServer = GOLDENV_SOURCE_DIR "/tests/fetch/server.py";

/// What server.py has under /ok/SIZE.
std::string content(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<char>(i % (251 * 4) * 7 % 251);
  }
  return bytes;
}

class FetcherTest : public testing::Test {
 protected:
  FetcherTest() {
    settings.retries = 2;
    settings.timeout = std::chrono::seconds(1);
    settings.backoff = std::chrono::milliseconds(1);
    settings.netrc = false;
  }

  [[nodiscard]] std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + server().port() + path;
  }

  Want want(std::vector<std::string> urls, std::size_t size = kMany) const {
    Want one;
    one.name = "thing-1.whl";
    one.urls = std::move(urls);
    one.file = dir.at("thing");
    one.sha256 = Sha256::of(content(size));
    return one;
  }

  Result<Got> get(Want one) const {
    auto fetcher = Fetcher::start(settings);
    EXPECT_TRUE(fetcher);
    (*fetcher)->add(std::move(one));
    for (int i = 0; i < 600 && !(*fetcher)->idle(); ++i) {
      auto done = (*fetcher)->step(std::chrono::milliseconds(100));
      if (!done.empty()) {
        return std::move(done[0].got);
      }
    }
    return Error{Errc::failed, "the test gave up", {}};
  }

  /// What the server was asked, without its own log.
  std::string log() const {
    Want one;
    one.name = "log";
    one.urls = {url("/log")};
    return get(std::move(one))->body;
  }

  std::string message(Want one) const {
    const bool in_file = !one.file.empty();
    std::filesystem::remove(dir.at("thing"));
    const auto got = get(std::move(one));
    EXPECT_FALSE(got);
    if (in_file) {
      EXPECT_FALSE(std::filesystem::exists(dir.at("thing"))) << "left behind";
    }
    return got ? "it worked" : got.error().message;
  }

  static const test::Server& server() {
    static const test::Server kOne({"/usr/bin/env", "python3", kServer});
    return kOne;
  }

  test::TempDir dir;
  Settings settings;
};

TEST_F(FetcherTest, FileIsWrittenAndDigested) {
  const auto got = get(want({url("/ok/300000")}));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(test::read_file(dir.at("thing")), content(kMany));
  EXPECT_EQ(got->size_bytes, kMany);
  EXPECT_EQ(got->sha256, Sha256::of(content(kMany)));
  EXPECT_EQ(got->place, url("/ok/300000"));
}

TEST_F(FetcherTest, TextComesIntoMemory) {
  Want one;
  one.name = "page";
  one.urls = {url("/html")};
  const auto got = get(one);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(got->body, StartsWith("<!DOCTYPE html>"));
  EXPECT_EQ(got->type, "text/html; charset=utf-8");
  EXPECT_EQ(got->status, 200);
}

TEST_F(FetcherTest, MissingPageIsAnAnswer) {
  Want one;
  one.name = "page";
  one.urls = {url("/status/404")};
  const auto got = get(one);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->status, 404);
  EXPECT_EQ(got->body, "");
  one.urls = {url("/status/403")};
  EXPECT_THAT(message(one), HasSubstr("answers 403: it wants other credentials"));
}

TEST_F(FetcherTest, ManyAtOnceAllCome) {
  settings.connections = 3;
  auto fetcher = Fetcher::start(settings);
  ASSERT_TRUE(fetcher);
  for (int i = 0; i < 20; ++i) {
    Want one = want({url("/ok/30000")}, 30'000);
    one.file += std::to_string(i);
    (*fetcher)->add(std::move(one));
  }
  int good = 0;
  for (int i = 0; i < 300 && !(*fetcher)->idle(); ++i) {
    for (const auto& done : (*fetcher)->step(std::chrono::milliseconds(100))) {
      good += done.got ? 1 : 0;
    }
  }
  EXPECT_EQ(good, 20);
  EXPECT_TRUE((*fetcher)->idle());
}

TEST_F(FetcherTest, RedirectsAreFollowedToAnEnd) {
  const auto got = get(want({url("/hop/3/300000")}));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->url, url("/ok/300000"));
  EXPECT_EQ(got->place, url("/hop/3/300000"));
  EXPECT_THAT(message(want({url("/loop")})), HasSubstr("redirects more than 10 times"));
}

TEST_F(FetcherTest, RedirectToAFileIsRefused) {
  EXPECT_THAT(message(want({url("/to/file%3A%2F%2F%2Fetc%2Fpasswd")})),
              HasSubstr("redirects to a file of this machine"));
}

TEST_F(FetcherTest, BrokenTransferGoesOnWhereItStopped) {
  const auto got = get(want({url("/drop/100000/300000")}));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(test::read_file(dir.at("thing")), content(kMany));
  EXPECT_THAT(log(), AllOf(HasSubstr("/drop/100000/300000 bytes=100000- no"),
                           HasSubstr("/drop/100000/300000 bytes=200000- no")));
}

TEST_F(FetcherTest, ServerWithoutRangesIsAskedForTheWhole) {
  const auto got = get(want({url("/dropfixed/100000/300000")}));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(test::read_file(dir.at("thing")), content(kMany));
}

TEST_F(FetcherTest, ContentThatChangedMeanwhileIsNotPutTogether) {
  const auto swapped = get(want({url("/swap/100000/300000")}));
  ASSERT_TRUE(swapped) << swapped.error().message;
  EXPECT_EQ(test::read_file(dir.at("thing")), content(kMany));
  std::filesystem::remove(dir.at("thing"));
  const auto lied = get(want({url("/liar/100000/300000")}));
  ASSERT_TRUE(lied) << lied.error().message;
  EXPECT_EQ(test::read_file(dir.at("thing")), content(kMany));
}

TEST_F(FetcherTest, EndlessBreakingOffIsGivenUp) {
  // Each answer brings 10 bytes: no progress that would count.
  EXPECT_THAT(message(want({url("/drop/10/300000")})),
              AllOf(HasSubstr("tried 3 times"), HasSubstr("/drop/10/300000")));
}

TEST_F(FetcherTest, StallsEnd) {
  settings.retries = 0;
  EXPECT_THAT(message(want({url("/stall/200")})), HasSubstr("stalls"));
  EXPECT_THAT(message(want({url("/silent")})), HasSubstr("stalls"));
}

TEST_F(FetcherTest, WrongLengthsAreFound) {
  settings.retries = 0;
  EXPECT_THAT(message(want({url("/long/300000")})),
              HasSubstr("ended before all it announced had come"));
  EXPECT_THAT(message(want({url("/cut/300000")})), HasSubstr("has other bytes than expected"));
  Want declared = want({url("/cut/300000")});
  declared.size_bytes = kMany;
  EXPECT_THAT(message(declared), HasSubstr("has 150000 bytes, not the 300000 declared"));
  declared.size_bytes = 1000;
  EXPECT_THAT(message(declared), HasSubstr("has more than the 1000 bytes declared"));
}

TEST_F(FetcherTest, WhatNeverEndsIsCutAtTheLimit) {
  Want one = want({url("/endless")});
  one.limit_bytes = 1 << 20;
  EXPECT_THAT(message(one), HasSubstr("has more than 1048576 bytes, the limit"));
}

TEST_F(FetcherTest, PassingTroubleIsWaitedFor) {
  const auto got = get(want({url("/flaky/503/2/300000")}));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_TRUE(get([this] {
    std::filesystem::remove(dir.at("thing"));
    return want({url("/flaky/429/1/300000")});
  }()));
  EXPECT_THAT(message(want({url("/status/503")})),
              AllOf(HasSubstr("answers 503"), HasSubstr("tried 3 times")));
}

TEST_F(FetcherTest, LastingTroubleIsNotRepeated) {
  EXPECT_THAT(
      message(want({url("/status/404")})),
      AllOf(StartsWith("thing-1.whl: http://127.0.0.1:"),
            HasSubstr("/status/404 answers 404: it is not there"), Not(HasSubstr("times"))));
}

TEST_F(FetcherTest, MirrorsAreTriedInOrderAndAllAreNamed) {
  const auto got = get(want({url("/status/404"), url("/cut/300000"), url("/ok/300000")}));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->place, url("/ok/300000"));
  EXPECT_THAT(message(want({url("/status/404"), url("/html"), url("/garbage")})),
              AllOf(HasSubstr("answers 404"), HasSubstr("an HTML page where thing-1.whl"),
                    HasSubstr("something else than HTTP")));
}

TEST_F(FetcherTest, WrongDigestNamesBoth) {
  EXPECT_THAT(message(want({url("/ok/299999")})),
              AllOf(StartsWith("thing-1.whl: "), HasSubstr(Sha256::of(content(kMany)).hex()),
                    HasSubstr(Sha256::of(content(kMany - 1)).hex())));
}

TEST_F(FetcherTest, PageInPlaceOfAnArchiveIsToldAsOne) {
  EXPECT_THAT(message(want({url("/html")})),
              HasSubstr("answers with an HTML page where thing-1.whl was expected"));
  Want blind = want({url("/html")});
  blind.sha256.reset();
  EXPECT_THAT(message(blind), HasSubstr("HTML page"));
}

TEST_F(FetcherTest, PasswordsReachTheServerAndNoMessage) {
  const std::string with_user = "http://me:s3cret@127.0.0.1:" + server().port();
  const auto got = get(want({with_user + "/private/300000"}));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(got->url + got->place, Not(HasSubstr("s3cret")));
  for (const std::string path : {"/status/404?key=s3cret", "/html", "/loop", "/cut/300000"}) {
    EXPECT_THAT(message(want({with_user + path})), Not(HasSubstr("s3cret"))) << path;
  }
  EXPECT_THAT(message(want({"http://me:wrong@127.0.0.1:" + server().port() + "/private/5"})),
              AllOf(HasSubstr("other credentials"), Not(HasSubstr("wrong"))));
  EXPECT_THAT(message(want({"gopher://me:s3cret@host/"})), Not(HasSubstr("s3cret")));
  EXPECT_THAT(message(want({"http://me:s3cret@ho st/"})), Not(HasSubstr("s3cret")));
}

TEST_F(FetcherTest, PasswordsStayWithTheirServer) {
  const test::Server other({"/usr/bin/env", "python3", kServer});
  const auto got = get(want({"http://me:s3cret@127.0.0.1:" + server().port() +
                             "/to/http%3A%2F%2F127.0.0.1%3A" + other.port() + "%2Fok%2F300000"}));
  ASSERT_TRUE(got) << got.error().message;
  Want one;
  one.name = "log";
  one.urls = {"http://127.0.0.1:" + other.port() + "/log"};
  EXPECT_EQ(get(one)->body, "/ok/300000 - no\n");
}

TEST_F(FetcherTest, CredentialsAreForTheirOriginAlone) {
  const test::Server other({"/usr/bin/env", "python3", kServer});
  const std::string there = "http://127.0.0.1:" + other.port();
  settings.credentials = {"http://me:s3cret@127.0.0.1:" + server().port() + "/simple/"};
  const auto got = get(want({url("/private/300000")}));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(got->url + got->place, Not(HasSubstr("s3cret")));
  std::filesystem::remove(dir.at("thing"));
  EXPECT_TRUE(get(want({url("/to/%2Fprivate%2F300000")}))) << "to the same origin";
  std::filesystem::remove(dir.at("thing"));
  EXPECT_THAT(message(want({"http://localhost:" + server().port() + "/private/300000"})),
              HasSubstr("answers 401"));
  EXPECT_THAT(message(want({there + "/private/300000"})), HasSubstr("answers 401"));
  const std::string to_other = "/to/http%3A%2F%2F127.0.0.1%3A" + other.port() + "%2Fprivate%2F1";
  EXPECT_THAT(message(want({url(to_other)})),
              AllOf(HasSubstr("answers 401"), Not(HasSubstr("s3cret"))));
  settings.credentials.clear();
  Want one;
  one.urls = {there + "/log"};
  EXPECT_EQ(get(one)->body, "/private/300000 - no\n/private/1 - no\n");
  settings.credentials = {"http://127.0.0.1/s3cret"};
  const auto none = Fetcher::start(settings);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, Not(HasSubstr("s3cret")));
}

TEST_F(FetcherTest, OnlySafeRedirectsAreFollowedWhereAsked) {
  Want one;
  one.urls = {url("/to/http%3A%2F%2F0.0.0.0%3A" + server().port() + "%2Fok%2F5")};
  EXPECT_TRUE(get(one)) << "where nobody asked for that";
  one.only_safe = true;
  EXPECT_THAT(message(one), AllOf(StartsWith("http://127.0.0.1:"),
                                  HasSubstr(", which is neither https nor this machine")));
  one.urls = {url("/to/http%3A%2F%2F127.evil.example%2Fok%2F5")};
  EXPECT_THAT(message(one), HasSubstr(", which is neither https nor this machine"));
  one.urls = {url("/to/http%3A%2F%2Flocalhost%3A" + server().port() + "%2Fok%2F5")};
  const auto got = get(one);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->body, content(5));
}

TEST_F(FetcherTest, WhatHasNoNameIsToldByItsPlace) {
  Want one;
  one.urls = {"http://me:s3cret@127.0.0.1:" + server().port() + "/loop"};
  EXPECT_THAT(message(one), StartsWith(url("/loop redirects more than 10 times")));
  one.urls = {"http://me:s3cret@127.0.0.1:" + server().port() + "/status/500"};
  EXPECT_THAT(message(one), StartsWith(url("/status/500 answers 500")));
  settings.offline = true;
  EXPECT_EQ(message(one), url("/status/500 is not asked: the network is not to be used (offline)"));
}

TEST_F(FetcherTest, LocalFilesNeedNoNetwork) {
  settings.offline = true;
  const std::string path = dir.file("a b#c.whl", content(kMany));
  const auto got = get(want({url("/ok/300000"), "file://" + dir.path() + "/a%20b%23c.whl"}));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(test::read_file(dir.at("thing")), content(kMany));
}

TEST_F(FetcherTest, OfflineNamesWhatIsMissing) {
  settings.offline = true;
  EXPECT_THAT(message(want({url("/ok/300000")})),
              "thing-1.whl: is neither in the store nor a local file, and the network is not to be "
              "used (offline)");
}

TEST_F(FetcherTest, OddLocalFilesAreRefused) {
  ASSERT_EQ(mkfifo(dir.at("pipe").c_str(), 0600), 0);
  EXPECT_THAT(message(want({"file://" + dir.at("pipe")})), HasSubstr("is no regular file"));
  EXPECT_THAT(message(want({"file://" + dir.path()})), HasSubstr("is no regular file"));
  EXPECT_THAT(message(want({"file://" + dir.at("none")})), HasSubstr("No such file"));
  EXPECT_THAT(message(want({"file://elsewhere/x"})), HasSubstr("is no URL"));
  EXPECT_THAT(message(want({})), HasSubstr("no place is known"));
}

TEST_F(FetcherTest, NobodyListeningIsTold) {
  settings.retries = 0;
  EXPECT_THAT(message(want({"http://127.0.0.1:1/x"})), HasSubstr("cannot be reached"));
}

TEST_F(FetcherTest, FileThatIsThereIsNotOverwritten) {
  dir.file("thing", "mine");
  const auto got = get(want({url("/ok/300000")}));
  ASSERT_FALSE(got);
  EXPECT_EQ(test::read_file(dir.at("thing")), "mine");
}

/// A certificate authority and a server's certificate by it.
class TlsFetcherTest : public FetcherTest {
 protected:
  TlsFetcherTest() {
    make("ca");
    make("other");
    const auto ended =
        openssl({"req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-keyout", dir.at("key.pem"), "-subj", "/CN=127.0.0.1", "-addext",
                 "subjectAltName=IP:127.0.0.1", "-out", dir.at("request.pem")});
    EXPECT_EQ(ended.status, 0) << ended.err;
    dir.file("extensions", "subjectAltName=IP:127.0.0.1\n");
    const auto made =
        openssl({"x509", "-req", "-in", dir.at("request.pem"), "-CA", dir.at("ca.pem"), "-CAkey",
                 dir.at("ca.key"), "-CAcreateserial", "-days", "30", "-extfile",
                 dir.at("extensions"), "-out", dir.at("cert.pem")});
    EXPECT_EQ(made.status, 0) << made.err;
    tls = std::make_unique<test::Server>(std::vector<std::string>{
        "/usr/bin/env", "python3", kServer, "--tls", dir.at("cert.pem"), dir.at("key.pem")});
  }

  static test::Ended openssl(std::vector<std::string> words) {
    words.insert(words.begin(), {"/usr/bin/env", "openssl"});
    return test::run({.argv = words});
  }

  void make(const std::string& name) const {
    const auto ended =
        openssl({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                 "-nodes", "-days", "30", "-subj", "/CN=" + name, "-keyout", dir.at(name + ".key"),
                 "-out", dir.at(name + ".pem")});
    EXPECT_EQ(ended.status, 0) << ended.err;
  }

  [[nodiscard]] std::string secure(const std::string& path) const {
    return "https://127.0.0.1:" + tls->port() + path;
  }

  std::unique_ptr<test::Server> tls;
};

TEST_F(TlsFetcherTest, PrivateAuthorityIsTrustedWhereItIsNamed) {
  settings.authorities = dir.at("ca.pem");
  const auto got = get(want({secure("/ok/300000")}));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(test::read_file(dir.at("thing")), content(kMany));
}

TEST_F(TlsFetcherTest, StrangersAreNotTrusted) {
  EXPECT_THAT(message(want({secure("/ok/300000")})), HasSubstr("certificate that is not trusted"));
  settings.authorities = dir.at("other.pem");
  EXPECT_THAT(message(want({secure("/ok/300000")})), HasSubstr("certificate that is not trusted"));
  settings.authorities = dir.at("none.pem");
  const auto fetcher = Fetcher::start(settings);
  ASSERT_FALSE(fetcher);
  EXPECT_THAT(fetcher.error().message, HasSubstr("none.pem"));
}

TEST_F(TlsFetcherTest, NoStepLeadsFromHttpsToHttp) {
  settings.authorities = dir.at("ca.pem");
  const std::string plain = "/to/http%3A%2F%2F127.0.0.1%3A" + server().port() + "%2Fok%2F300000";
  EXPECT_THAT(message(want({secure(plain)})), HasSubstr("redirects from https to http://"));
  // Also where the chain began with http.
  const std::string there = "/to/https%3A%2F%2F127.0.0.1%3A" + tls->port() +
                            "%2Fto%2Fhttp%253A%252F%252F127.0.0.1%253A" + server().port() +
                            "%252Fok%252F300000";
  EXPECT_THAT(message(want({url(there)})), HasSubstr("redirects from https to http://"));
}

}  // namespace
}  // namespace goldenv::fetch

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "base/sha256.h"
#include "base/text.h"
#include "doc/node.h"
#include "store/store.h"
#include "store/verify.h"
#include "support/program.h"
#include "support/server.h"
#include "support/temp_dir.h"

// The built goldenv-realise, asked as goldenv asks it.

namespace goldenv::realise {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

struct Case {
  std::string file;
  std::string kind;
  std::string says;
};

/// The archives that archives.py makes; once for all tests.
class Archives {
 public:
  Archives() {
    const auto made =
        test::run({.argv = {"/usr/bin/env", "python3",
                            GOLDENV_SOURCE_DIR "/tests/realise/archives.py", dir_.path()}});
    EXPECT_EQ(made.status, 0) << made.err;
    const std::string text = test::read_file(dir_.at("cases"));
    for (const std::string_view line : lines(text)) {
      const auto parts = split(line, '\t');
      cases_.push_back({std::string(parts[0]), std::string(parts[1]), std::string(parts[2])});
    }
  }

  [[nodiscard]] const std::vector<Case>& cases() const { return cases_; }
  [[nodiscard]] std::string path(const std::string& file) const { return dir_.at(file); }
  [[nodiscard]] const std::string& folder() const { return dir_.path(); }
  [[nodiscard]] std::string good_wheel() const { return cases_[0].file; }

 private:
  test::TempDir dir_;
  std::vector<Case> cases_;
};

const Archives& archives() {
  static const Archives kAll;
  return kAll;
}

std::string digest_of(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto digest = Sha256::of_file(fd);
  close(fd);
  return digest ? digest->hex() : "";
}

class RealiseTest : public testing::Test {
 protected:
  /// An entry of `objects`.
  static std::string object(const std::string& file, const std::string& kind,
                            const std::vector<std::string>& urls, const std::string& more = "") {
    const std::string id = file + more;
    std::string all;
    for (const std::string& url : urls) {
      all += (all.empty() ? "" : ",") + doc::quote_json(url);
    }
    return R"({"id":)" + doc::quote_json(file) + R"(,"key":")" + Sha256::of(id).hex() +
           R"(","kind":")" + kind + R"(","name":"demo","version":"1.0","file":)" +
           doc::quote_json(file) + R"(,"urls":[)" + all + R"(],"sha256":")" +
           digest_of(archives().path(file)) + "\"" + more + "}";
  }
  static std::string local(const std::string& file, const std::string& kind,
                           const std::string& more = "") {
    return object(file, kind, {"file://" + archives().path(file)}, more);
  }

  [[nodiscard]] std::string request(const std::vector<std::string>& objects,
                                    const std::string& more = "") const {
    return R"({"goldenv_realise":1,"store":")" + dir.at("store") +
           R"(","workers":2,"network":{"timeout_s":5,"retries":1,"backoff_ms":1})" + more +
           R"(,"objects":[)" + join(objects, ",") + "]}";
  }

  struct Answer {
    test::Ended ended;
    std::map<std::string, std::string> objects;  ///< id -> "how store-id"
    std::map<std::string, std::string> errors;   ///< id -> "code message"
    std::vector<std::string> events;             ///< their names in order
    std::map<std::string, std::string> got;      ///< id -> "status type body"
  };

  static Answer ask(const std::string& request) {
    Answer answer;
    answer.ended = test::run({.argv = {GOLDENV_REALISE}, .input = request});
    for (const std::string_view line : lines(answer.ended.out)) {
      const auto node = doc::parse(line, doc::Format::json, "answer");
      EXPECT_TRUE(node) << line;
      const auto text = [&](std::string_view key) {
        const doc::Node* value = node->find(key);
        return value == nullptr ? std::string() : value->text;
      };
      answer.events.push_back(text("event"));
      if (text("event") == "object") {
        answer.objects[text("id")] = text("how") + " " + text("object");
      } else if (text("event") == "error") {
        answer.errors[text("id")] = text("code") + " " + text("message");
      } else if (text("event") == "got") {
        answer.got[text("id")] = text("status") + " " + text("type") + " " + text("body");
      }
    }
    return answer;
  }

  [[nodiscard]] store::Store store() const {
    auto opened = store::Store::open(dir.at("store"), store::Access::read);
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }

  /// Differences that verifying finds, and what is left in tmp/.
  [[nodiscard]] std::vector<std::string> faults() const {
    std::vector<std::string> all;
    const auto verified = store::verify(
        store(), [&](const store::Difference& one) { all.push_back(one.path + ": " + one.says); });
    EXPECT_TRUE(verified);
    for (const auto& entry : fs::directory_iterator(dir.at("store/tmp"))) {
      all.push_back("left in tmp: " + entry.path().filename().string());
    }
    return all;
  }

  [[nodiscard]] std::string tree(const Answer& answer, const std::string& id) const {
    const std::string& said = answer.objects.at(id);
    return dir.at("store/objects/" + said.substr(said.find(' ') + 1) + "/tree");
  }

  static std::vector<std::string> names_below(const std::string& top) {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
      if (!entry.is_directory() || entry.is_symlink()) {
        names.push_back(entry.path().lexically_relative(top).string());
      }
    }
    std::ranges::sort(names);
    return names;
  }

  test::TempDir dir;
};

TEST_F(RealiseTest, EveryHostileArchiveIsRefusedWithItsReason) {
  std::vector<std::string> objects;
  std::size_t hostile = 0;
  for (const Case& one : archives().cases()) {
    if (!one.says.empty()) {
      objects.push_back(local(one.file, one.kind));
      ++hostile;
    }
  }
  ASSERT_GT(hostile, 80u);
  const Answer answer = ask(request(objects));
  EXPECT_EQ(answer.ended.status, 0) << answer.ended.err;
  EXPECT_EQ(answer.ended.err, "");
  EXPECT_THAT(answer.objects, IsEmpty());
  for (const Case& one : archives().cases()) {
    if (one.says.empty()) {
      continue;
    }
    const auto found = answer.errors.find(one.file);
    ASSERT_NE(found, answer.errors.end()) << one.file << " was not refused";
    EXPECT_THAT(found->second, HasSubstr(one.file + ": "));
    EXPECT_THAT(found->second, HasSubstr(one.says)) << one.file;
    EXPECT_THAT(found->second, Not(StartsWith("failed "))) << one.file;
  }
  EXPECT_EQ(answer.events.back(), "done");
  EXPECT_THAT(faults(), IsEmpty());
  EXPECT_TRUE(fs::is_empty(dir.at("store/objects")));
}

TEST_F(RealiseTest, WheelIsLaidOutForAnEnvironment) {
  const std::string file = archives().good_wheel();
  const Answer answer = ask(request({local(file, "wheel", R"(,"python":"cp311")")}));
  ASSERT_THAT(answer.objects, SizeIs(1)) << answer.ended.out << answer.ended.err;
  EXPECT_THAT(answer.objects.at(file), StartsWith("realised "));
  const std::string top = tree(answer, file);
  EXPECT_THAT(names_below(top),
              ElementsAre("bin/hello", "data/share/demo.txt", "include/demo.h",
                          "site/demo-1.0.dist-info/INSTALLER", "site/demo-1.0.dist-info/METADATA",
                          "site/demo-1.0.dist-info/RECORD", "site/demo-1.0.dist-info/WHEEL",
                          "site/demo-1.0.dist-info/entry_points.txt", "site/demo/__init__.py",
                          "site/demo/old.py", "site/demo/tool", "site/extra.py"));
  struct stat status {};
  ASSERT_EQ(stat((top + "/site/demo/tool").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0555u) << "set-user-id goes";
  ASSERT_EQ(stat((top + "/site/demo/__init__.py").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0444u);
  const auto objects = store().list();
  ASSERT_TRUE(objects);
  const store::Object& made = objects->front();
  EXPECT_THAT(made.roots,
              ElementsAre(store::Root{"site", "site-packages"}, store::Root{"bin", "bin"},
                          store::Root{"include", "include"}, store::Root{"data", "."}));
  EXPECT_THAT(made.scripts, ElementsAre(store::Script{"demo", "demo", "main"}));
  EXPECT_THAT(made.shape.copies, ElementsAre("bin/hello"));
  EXPECT_EQ(made.artifact.file, file);
  EXPECT_THAT(test::read_file(top + "/site/demo-1.0.dist-info/RECORD"),
              AllOf(HasSubstr("../../../bin/demo,,\n"), HasSubstr("../../../bin/hello,,\n"),
                    HasSubstr("../../../share/demo.txt,sha256="), HasSubstr("\nextra.py,sha256=")));
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(RealiseTest, SourcesAreCompiledWhereAPythonIsGiven) {
  const auto python = test::run(
      {.argv = {"/usr/bin/python3", "-c", "import sys; print('cp%d%d' % sys.version_info[:2])"}});
  ASSERT_EQ(python.status, 0);
  const std::string tag(trim(python.out));
  const std::string file = archives().good_wheel();
  const Answer answer = ask(request({local(file, "wheel", R"(,"python":")" + tag + "\"")},
                                    R"(,"python":"/usr/bin/python3")"));
  ASSERT_THAT(answer.objects, SizeIs(1)) << answer.ended.out << answer.ended.err;
  const std::string pyc = "site/demo/__pycache__/__init__.cpython-" + tag.substr(2) + ".pyc";
  EXPECT_THAT(names_below(tree(answer, file)),
              AllOf(Contains(pyc), Not(Contains(HasSubstr("old.cpython")))));
  EXPECT_EQ(store().list()->front().python, tag);
  // Equal sources give equal files, wherever they are compiled.
  const std::string first = test::read_file(tree(answer, file) + "/" + pyc);
  const Answer again =
      ask(request({local(file, "wheel", R"(,"python":")" + tag + R"(","strip":1)")},
                  R"(,"python":"/usr/bin/python3")"));
  ASSERT_THAT(again.objects, SizeIs(1)) << again.ended.out;
  EXPECT_EQ(test::read_file(tree(again, file) + "/" + pyc), first);
  EXPECT_THAT(faults(), IsEmpty());
  const Answer wrong = ask(request({local(file, "wheel", R"(,"python":"cp21","strip":2)")},
                                   R"(,"python":"/usr/bin/python3")"));
  EXPECT_THAT(wrong.errors.at(file), HasSubstr("is it the Python of cp21?"));
}

TEST_F(RealiseTest, ArchivesAreStrippedAndPlaced) {
  std::vector<std::string> objects;
  for (const std::string file : {"good.tar", "good.tar.gz", "good.tar.xz", "good.zip"}) {
    objects.push_back(local(file, file == "good.zip" ? "zip" : "tar", R"(,"strip":1)"));
  }
  objects.push_back(local("good.deb", "deb", R"(,"place":[{"from":"usr/lib","to":"lib"}])"));
  const Answer answer = ask(request(objects));
  ASSERT_THAT(answer.objects, SizeIs(5)) << answer.ended.out;
  for (const std::string file : {"good.tar", "good.tar.gz", "good.tar.xz"}) {
    EXPECT_THAT(
        names_below(tree(answer, file)),
        ElementsAre("bin/x", "include/x.h", "lib/again", "lib/libx.so", "lib/libx.so.1", "lib/y"));
    EXPECT_EQ(fs::read_symlink(tree(answer, file) + "/lib/libx.so"), "libx.so.1");
  }
  EXPECT_THAT(names_below(tree(answer, "good.zip")), ElementsAre("bin/x", "lib/a", "lib/b"));
  EXPECT_THAT(names_below(tree(answer, "good.deb")), ElementsAre("lib/libx.so", "lib/libx.so.1"));
  EXPECT_EQ(fs::read_symlink(tree(answer, "good.deb") + "/lib/libx.so"), "libx.so.1");
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(RealiseTest, WhatIsThereIsNotMadeAgain) {
  const std::string file = archives().good_wheel();
  EXPECT_THAT(ask(request({local(file, "wheel")})).objects[file], StartsWith("realised "));
  const Answer again = ask(request({object(file, "wheel", {"http://127.0.0.1:1/none"})}));
  EXPECT_THAT(again.objects.at(file), StartsWith("present "));
  // Nor is an artifact fetched that is there.
  const Answer other =
      ask(request({object(file, "wheel", {"http://127.0.0.1:1/none"}, R"(,"copy":true)")}));
  EXPECT_THAT(other.objects.at(file), StartsWith("realised ")) << other.ended.out;
}

TEST_F(RealiseTest, DamagedArtifactInTheStoreIsFound) {
  const std::string file = archives().good_wheel();
  ask(request({local(file, "wheel")}));
  const std::string path = dir.at("store/artifacts/" + digest_of(archives().path(file)));
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  std::ofstream(path, std::ios::in | std::ios::out) << "X";
  const Answer answer = ask(request({local(file, "wheel", R"(,"copy":true)")}));
  EXPECT_THAT(answer.errors.at(file), HasSubstr("the store's copy has other bytes than expected"));
}

TEST_F(RealiseTest, TextsAndArtifactsComeOverTheNetwork) {
  const test::Server server({"/usr/bin/env", "python3", GOLDENV_SOURCE_DIR "/tests/fetch/server.py",
                             "--folder", archives().folder()});
  const std::string top = "http://me:s3cret@127.0.0.1:" + server.port();
  const std::string file = archives().good_wheel();
  const Answer answer =
      ask(request({object(file, "wheel", {top + "/status/404", top + "/file/" + file}),
                   object("good.tar", "tar", {top + "/html"})},
                  R"(,"get":[{"id":"page","url":")" + top + R"(/html","accept":"text/html"},
                     {"id":"none","url":")" +
                      top + R"(/status/404"}])"));
  EXPECT_EQ(answer.ended.status, 0) << answer.ended.err;
  EXPECT_THAT(answer.objects.at(file), StartsWith("realised "));
  EXPECT_THAT(answer.errors.at("good.tar"), HasSubstr("an HTML page where good.tar was expected"));
  EXPECT_THAT(answer.got.at("page"), StartsWith("200 text/html; charset=utf-8 <!DOCTYPE html>"));
  EXPECT_THAT(answer.got.at("none"), StartsWith("404 "));
  EXPECT_THAT(answer.ended.out, Not(HasSubstr("s3cret")));
  EXPECT_THAT(store().list()->front().artifact.url,
              "http://127.0.0.1:" + server.port() + "/file/" + file);
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(RealiseTest, CredentialsReachPagesAndFilesOfTheirOrigin) {
  const test::Server server({"/usr/bin/env", "python3", GOLDENV_SOURCE_DIR "/tests/fetch/server.py",
                             "--folder", archives().folder()});
  const std::string top = "http://127.0.0.1:" + server.port();
  const std::string file = archives().good_wheel();
  const std::string rest = R"(,"get":[{"id":"page","url":")" + top + R"(/private/5"},
        {"id":"loop 1","url":")" +
                           top + R"(/loop"},
        {"id":"far","only_safe":true,"url":")" +
                           top + R"(/to/http%3A%2F%2F0.0.0.0%3A1%2F"}],
        "network":{"retries":1,"backoff_ms":1,"netrc":false)";
  const auto ask_with = [&](const std::string& credentials) {
    return ask(R"({"goldenv_realise":1,"store":")" + dir.at("store") + R"(","objects":[)" +
               object(file, "wheel", {top + "/locked/" + file}) + "]" + rest + credentials + "}}");
  };
  const Answer without = ask_with("");
  EXPECT_THAT(without.errors.at(file), HasSubstr("answers 401"));
  EXPECT_THAT(without.errors.at("page"), StartsWith("denied " + top + "/private/5 answers 401"));
  EXPECT_THAT(without.errors.at("loop 1"), StartsWith("failed " + top + "/loop redirects more"));
  EXPECT_THAT(without.errors.at("far"), HasSubstr("neither https nor this machine"));
  const std::string own = "http://me:s3cret@127.0.0.1:" + server.port() + "/simple";
  const Answer answer = ask_with(R"(,"credentials":["https://x:y@h/",")" + own + "\"]");
  EXPECT_THAT(answer.objects.at(file), StartsWith("realised "));
  EXPECT_THAT(answer.got.at("page"), StartsWith("200 "));
  EXPECT_THAT(answer.ended.out + answer.ended.err, Not(HasSubstr("s3cret")));
  EXPECT_EQ(store().list()->front().artifact.url, top + "/locked/" + file);
  for (const char* wrong :
       {R"(["https://s3cret/"])", R"(["me:s3cret"])", R"("https://a:s3cret@h")"}) {
    const Answer refused = ask_with(std::string(R"(,"credentials":)") + wrong);
    EXPECT_EQ(refused.ended.status, 2) << wrong;
    EXPECT_THAT(refused.ended.err, AllOf(HasSubstr("'credentials'"), Not(HasSubstr("s3cret"))));
  }
}

TEST_F(RealiseTest, OfflineNamesWhatIsMissing) {
  const std::string file = archives().good_wheel();
  const Answer answer =
      ask(request({object(file, "wheel", {"https://example.invalid/x"})}, R"(,"offline":true)"));
  EXPECT_THAT(answer.errors.at(file),
              HasSubstr(file + ": is neither in the store nor a local file"));
}

TEST_F(RealiseTest, OtherTextsAreNoRequest) {
  for (const std::string& text :
       {std::string("{}"), std::string("nonsense"), std::string(),
        std::string(R"({"goldenv_realise":2})"), request({}, R"(,"unknown":1)"),
        request({R"({"id":"x"})"}), request({}, R"(,"connections":"many")"),
        request({local(archives().good_wheel(), "rpm")}),
        request({local("good.tar", "tar", R"(,"place":[{"from":"../x","to":"lib"}])")})}) {
    const Answer answer = ask(text);
    EXPECT_EQ(answer.ended.status, 2) << text;
    EXPECT_EQ(answer.ended.out, "") << text;
    EXPECT_NE(answer.ended.err, "") << text;
  }
}

TEST_F(RealiseTest, EightAtOnceMakeOneObject) {
  const std::string file = archives().good_wheel();
  std::vector<Answer> answers(8);
  {
    std::vector<std::jthread> threads;
    for (Answer& answer : answers) {
      threads.emplace_back([&] { answer = ask(request({local(file, "wheel")})); });
    }
  }
  for (Answer& answer : answers) {
    EXPECT_EQ(answer.ended.status, 0) << answer.ended.err;
    EXPECT_THAT(answer.objects, SizeIs(1)) << answer.ended.out;
  }
  EXPECT_THAT(*store().ids(), SizeIs(1));
  EXPECT_THAT(faults(), IsEmpty());
}

/// Starts goldenv-realise on a request in a file, lets it work for a while and ends it.
void start_and_end(const std::string& request_path, std::chrono::microseconds after, int signal,
                   int& status) {
  const pid_t child = fork();
  if (child == 0) {
    const int in = open(request_path.c_str(), O_RDONLY);
    const int out = open("/dev/null", O_WRONLY);
    dup2(in, 0);
    dup2(out, 1);
    execl(GOLDENV_REALISE, GOLDENV_REALISE, nullptr);
    _exit(127);
  }
  std::this_thread::sleep_for(after);
  kill(child, signal);
  waitpid(child, &status, 0);
}

TEST_F(RealiseTest, KilledAtAnyMomentItCompletesTheNextTime) {
  std::vector<std::string> objects;
  for (int i = 0; i < 6; ++i) {
    objects.push_back(local(archives().good_wheel(), "wheel",
                            R"(,"python":"cp311","strip":)" + std::to_string(i)));
    objects.push_back(
        local("good.tar.xz", "tar", R"(,"strip":1,"unfold":["u)" + std::to_string(i) + "\"]"));
  }
  const std::string text = request(objects);
  const std::string path = dir.file("request", text);
  int survived = 0;
  for (int i = 0; i < 60; ++i) {
    int status = 0;
    start_and_end(path, std::chrono::microseconds(i * 4000), SIGKILL, status);
    survived += WIFEXITED(status) ? 1 : 0;
    if (fs::exists(dir.at("store/version"))) {
      const auto verified = store::verify(store(), [](const store::Difference& one) {
        ADD_FAILURE() << one.path << ": " << one.says;
      });
      EXPECT_TRUE(verified);
    }
    if (i % 10 == 9) {
      const Answer answer = ask(text);
      EXPECT_EQ(answer.ended.status, 0) << answer.ended.err;
      EXPECT_THAT(answer.errors, IsEmpty()) << answer.ended.out;
      EXPECT_THAT(*store().ids(), SizeIs(12));
      EXPECT_THAT(faults(), IsEmpty());
      // Anew, else all after the first would find everything there.
      test::run({.argv = {"/bin/chmod", "-R", "u+w", dir.at("store")}});
      fs::remove_all(dir.at("store"));
    }
  }
  EXPECT_LT(survived, 60) << "none was killed";
}

TEST_F(RealiseTest, InterruptedItCleansUp) {
  const test::Server server(
      {"/usr/bin/env", "python3", GOLDENV_SOURCE_DIR "/tests/fetch/server.py"});
  const std::string path = dir.file(
      "request",
      request({object("good.tar", "tar", {"http://127.0.0.1:" + server.port() + "/silent"})}));
  int status = 0;
  start_and_end(path, std::chrono::milliseconds(500), SIGTERM, status);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 4);
  EXPECT_THAT(faults(), IsEmpty());
}

}  // namespace
}  // namespace goldenv::realise

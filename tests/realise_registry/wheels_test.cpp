#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/sha256.h"
#include "base/text.h"
#include "doc/node.h"
#include "store/store.h"
#include "store/verify.h"
#include "support/program.h"
#include "support/temp_dir.h"

// Real wheels, from the index that pip is configured with.

namespace goldenv::realise {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct Wheel {
  std::string name;
  std::string version;
  std::string url;
  std::string sha256;
};

/// Where pip would take these from; empty where it reaches no index.
std::vector<Wheel> ask_pip(const std::vector<std::string>& wanted, const std::string& report) {
  std::vector<std::string> words = {"/usr/bin/env", "python3",
                                    "-m",           "pip",
                                    "install",      "--quiet",
                                    "--dry-run",    "--ignore-installed",
                                    "--no-deps",    "--only-binary=:all:",
                                    "--report",     report};
  words.insert(words.end(), wanted.begin(), wanted.end());
  const auto ended = test::run({.argv = words, .deadline = std::chrono::minutes(2)});
  if (ended.status != 0) {
    return {};
  }
  const auto node = doc::parse(test::read_file(report), doc::Format::json, "report");
  EXPECT_TRUE(node);
  std::vector<Wheel> wheels;
  for (const doc::Node& item : node->find("install")->items) {
    const doc::Node& metadata = *item.find("metadata");
    const doc::Node& info = *item.find("download_info");
    wheels.push_back({metadata.find("name")->text, metadata.find("version")->text,
                      info.find("url")->text,
                      info.find("archive_info")->find("hashes")->find("sha256")->text});
  }
  return wheels;
}

TEST(RealWheels, AreFetchedAndRealised) {
  const test::TempDir dir;
  const std::vector<Wheel> wheels = ask_pip({"nvidia-nvtx-cu12==12.1.105", "packaging==24.1",
                                             "colorama==0.4.6", "six==1.16.0", "MarkupSafe==2.1.5"},
                                            dir.at("report.json"));
  if (wheels.empty()) {
    GTEST_SKIP() << "pip reaches no index that has these wheels";
  }
  const char* authorities = std::getenv("PIP_CERT");
  std::string objects;
  for (const Wheel& wheel : wheels) {
    const std::string file = wheel.url.substr(wheel.url.rfind('/') + 1);
    objects += (objects.empty() ? "" : ",") + std::string(R"({"id":)") +
               doc::quote_json(wheel.name) + R"(,"key":")" + Sha256::of(wheel.url).hex() +
               R"(","kind":"wheel","name":)" + doc::quote_json(wheel.name) + R"(,"version":)" +
               doc::quote_json(wheel.version) + R"(,"file":)" + doc::quote_json(file) +
               R"(,"urls":[)" + doc::quote_json(wheel.url) + R"(],"sha256":")" + wheel.sha256 +
               R"(","python":""})";
  }
  const auto ended =
      test::run({.argv = {GOLDENV_REALISE},
                 .input = R"({"goldenv_realise":1,"store":)" + doc::quote_json(dir.at("store")) +
                          R"(,"network":{"cert":)" +
                          doc::quote_json(authorities == nullptr ? "" : authorities) +
                          R"(},"objects":[)" + objects + "]}"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, testing::Not(HasSubstr("\"error\"")));
  const auto store = store::Store::open(dir.at("store"), store::Access::read);
  ASSERT_TRUE(store);
  const auto made = store->list();
  ASSERT_TRUE(made);
  ASSERT_THAT(*made, SizeIs(wheels.size())) << ended.out;
  std::vector<std::string> faults;
  ASSERT_TRUE(store::verify(
      *store, [&](const store::Difference& one) { faults.push_back(one.path + ": " + one.says); }));
  EXPECT_THAT(faults, IsEmpty());
  const auto nvtx = std::ranges::find(*made, "nvidia-nvtx-cu12", &store::Object::name);
  ASSERT_NE(nvtx, made->end());
  std::vector<std::string> sonames;
  for (const store::ElfFile& elf : nvtx->shape.elf) {
    sonames.push_back(elf.soname);
  }
  EXPECT_THAT(sonames, Contains("libnvToolsExt.so.1"));
}

}  // namespace
}  // namespace goldenv::realise

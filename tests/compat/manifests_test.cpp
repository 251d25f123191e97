#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "compat/compat.h"
#include "manifest/manifest.h"

namespace goldenv::compat {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Every manifest that is shipped or shown: manifests/, and what stands in fenced yaml in docs/ and
/// the README and begins like one.
std::map<std::string, std::string> manifests() {
  const fs::path top = GOLDENV_SOURCE_DIR;
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::directory_iterator(top / "manifests")) {
    if (entry.path().extension() == ".yaml") {
      found[entry.path().filename().string()] = text_of(entry.path());
    }
  }
  std::vector<fs::path> pages = {top / "README.md"};
  for (const auto& entry : fs::directory_iterator(top / "docs")) {
    if (entry.path().extension() == ".md") {
      pages.push_back(entry.path());
    }
  }
  for (const fs::path& page : pages) {
    const std::string text = text_of(page);
    int count = 0;
    for (std::size_t at = text.find("```yaml\n"); at != std::string::npos;
         at = text.find("```yaml\n", at + 1)) {
      const std::size_t begin = at + 8;
      const std::string block = text.substr(begin, text.find("```", begin) - begin);
      if (block.find("goldenv: 1") != std::string::npos) {
        found[page.filename().string() + "#" + std::to_string(++count)] = block;
      }
    }
  }
  return found;
}

TEST(Manifests, NoneAsksForWhatCannotWork) {
  const std::map<std::string, std::string> all = manifests();
  ASSERT_GE(all.size(), 4u);
  int judged = 0;
  for (const auto& [name, text] : all) {
    // What one in the docs extends is not there.
    const auto nothing = [](std::string_view file, std::string_view) -> Result<manifest::Text> {
      return manifest::Text{std::string(file), "goldenv: 1\n"};
    };
    const Result<manifest::Manifest> manifest = manifest::load(text, name, nothing);
    if (!manifest) {
      ADD_FAILURE() << manifest.error().message;
      continue;
    }
    for (const Answer& answer : judge(versions_of(*manifest))) {
      ++judged;
      EXPECT_NE(answer.verdict, Verdict::incompatible) << name << ": " << answer.reason;
    }
  }
  EXPECT_GE(judged, 15);
}

TEST(Manifests, AnImpossibleOneIsTold) {
  const std::string text =
      text_of(fs::path(GOLDENV_SOURCE_DIR) / "manifests/train-torch221-cu121.yaml");
  const std::size_t at = text.find("nccl: 2.19.3");
  ASSERT_NE(at, std::string::npos);
  std::string changed = text;
  changed.replace(at, 12, "nccl: 2.18.1");
  const Result<manifest::Manifest> manifest = manifest::load(changed, "m.yaml", {});
  ASSERT_TRUE(manifest) << manifest.error().message;
  const std::vector<Answer> answers = judge(versions_of(*manifest));
  ASSERT_FALSE(answers.empty());
  EXPECT_EQ(answers.front().verdict, Verdict::incompatible);
  EXPECT_EQ(answers.front().rule, "torch-symbols");
}

TEST(Manifests, PinsWithAChoiceOrAConditionAreNoVersions) {
  const Result<manifest::Manifest> manifest = manifest::load(
      "goldenv: 1\npins:\n  nccl: [2.19.3, 2.20.5]\n  cudnn: '>=8.9'\n"
      "  torch: {want: 2.2.1, when: \"cpu.vendor == AuthenticAMD\"}\n  cuda: 12.1.1\n",
      "m.yaml", {});
  ASSERT_TRUE(manifest) << manifest.error().message;
  const Set versions = versions_of(*manifest);
  EXPECT_EQ(versions.entries().size(), 1u);
  EXPECT_EQ(versions.one("cuda"), "12.1.1");
}

}  // namespace
}  // namespace goldenv::compat

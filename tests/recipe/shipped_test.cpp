#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "base/text.h"
#include "doc/node.h"
#include "facts/catalogue.h"
#include "recipe/recipe.h"
#include "recipe/words.h"
#include "support/schema_validator.h"

namespace goldenv::recipe {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;

std::string text_of(const fs::path& path) {
  std::ifstream in(fs::path(GOLDENV_SOURCE_DIR) / path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The YAML examples of a document, as they stand between ```yaml and ```.
std::vector<std::string> examples_of(const std::string& markdown) {
  std::vector<std::string> out;
  bool inside = false;
  for (const std::string_view line : lines(markdown)) {
    if (!inside && line == "```yaml") {
      inside = true;
      out.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      out.back() += std::string(line) + "\n";
    }
  }
  return out;
}

std::string validated(std::string_view recipe) {
  const auto schema = doc::parse(json_schema(), doc::Format::json, "schema");
  const auto node = doc::parse(recipe, doc::Format::yaml, "recipe");
  EXPECT_TRUE(schema && node);
  return test::Validator(*schema).check(*node);
}

const Recipe& found(std::string_view key) {
  static const Collection collection = shipped_collection();
  const Recipe* const recipe = collection.find(key);
  static const Recipe none;
  EXPECT_NE(recipe, nullptr) << key;
  return recipe == nullptr ? none : *recipe;
}

TEST(RecipeSchema, IsDocumented) {
  EXPECT_EQ(json_schema(), text_of("docs/recipe.schema.json"))
      << "write it anew: GOLDENV_ACCEPT=1 build/.../tests/recipe_test";
  if (std::getenv("GOLDENV_ACCEPT") != nullptr) {
    std::ofstream(fs::path(GOLDENV_SOURCE_DIR) / "docs/recipe.schema.json") << json_schema();
  }
}

TEST(RecipeSchema, TakesWhatIsReadAndRefusesWhatIsNot) {
  EXPECT_EQ(validated("{goldenv_recipe: 1, component: nccl, sources: [{wheel: a}]}"), "");
  EXPECT_EQ(validated("{goldenv_recipe: '1', component: glibc, cannot: no}"), "");
  for (const char* bad : {
           "{component: nccl, sources: [{wheel: a}]}",
           "{goldenv_recipe: 2, component: nccl, sources: [{wheel: a}]}",
           "{goldenv_recipe: 1, component: nccl}",
           "{goldenv_recipe: 1, component: nccl, sources: []}",
           "{goldenv_recipe: 1, component: nccl, sources: [{whel: a}]}",
           "{goldenv_recipe: 1, component: nccl, sources: [{git: a}]}",
           "{goldenv_recipe: 1, component: nccl, sources: [{archive: a, sha256: {1: x}}]}",
           "{goldenv_recipe: 1, component: nccl, sources: [{archive: a, layout: {lib: libs}}]}",
           "{goldenv_recipe: 1, component: nccl, sources: [{wheel: a}], place: hard}",
           "{goldenv_recipe: 1, component: nccl, sources: [{wheel: a}], needs: [rot]}",
           "{goldenv_recipe: 1, component: nccl, sources: [{wheel: a}], other: 1}",
       }) {
    EXPECT_NE(validated(bad), "") << bad;
    EXPECT_FALSE(parse(bad, "r.yaml")) << bad;
  }
}

TEST(RecipeErrors, NoVariableThatGoldenvDecidesOnIsSet) {
  // The table there is that of the program: a test of those rules holds them equal.
  const std::string document = text_of("docs/ENVIRONMENT.md");
  std::size_t refused = 0;
  for (const std::string_view line : lines(document)) {
    const std::vector<std::string_view> cells = split(line, '|');
    if (cells.size() < 4 || (trim(cells[2]) != "dropped" && trim(cells[1]) != "PATH")) {
      continue;
    }
    std::string name(trim(cells[1]));
    if (name.ends_with("\\*")) {
      name.replace(name.size() - 2, 2, "1");
    }
    const std::string head =
        "goldenv_recipe: 1\ncomponent: nccl\nsources: [{wheel: a}]\nprovides:\n";
    const Result<Recipe> recipe = parse(head + "  environment:\n    " + name + ": x\n", "r.yaml");
    ASSERT_FALSE(recipe) << name;
    EXPECT_NE(recipe.error().message.find("r.yaml:6:5: "), std::string::npos);
    EXPECT_NE(recipe.error().message.find("decided on by goldenv"), std::string::npos) << name;
    ++refused;
  }
  EXPECT_EQ(refused, kOwnVariables.size());
}

TEST(Shipped, AreTheFilesOfTheFolderAndRead) {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(GOLDENV_SOURCE_DIR) / "recipes")) {
    if (entry.path().extension() != ".yaml") {
      continue;
    }
    ++files;
    const std::string name = "recipes/" + entry.path().filename().string();
    const auto at = std::ranges::find(shipped(), name, &Text::name);
    ASSERT_NE(at, shipped().end()) << name;
    EXPECT_EQ(at->text, text_of(name));
    const Result<Recipe> recipe = parse(at->text, name);
    ASSERT_TRUE(recipe) << recipe.error().message;
    EXPECT_FALSE(recipe->about.empty()) << name;
    EXPECT_EQ(validated(at->text), "") << name;
    // The file is named for its component.
    const std::string stem = entry.path().stem().string();
    EXPECT_NE(recipe->component.find(stem), std::string::npos) << name;
  }
  EXPECT_EQ(files, shipped().size());
  Collection collection;
  const auto added = collection.add(shipped());
  EXPECT_TRUE(added) << added.error().message;
}

TEST(Shipped, NameNoHostButNvidias) {
  for (const Text& text : shipped()) {
    const Result<Recipe> recipe = parse(text.text, text.name);
    ASSERT_TRUE(recipe);
    for (const auto& [name, url] : recipe->hosts) {
      EXPECT_TRUE(url.starts_with("https://developer.download.nvidia.com") ||
                  url.starts_with("https://us.download.nvidia.com"))
          << url;
    }
    for (const Source& source : recipe->sources) {
      EXPECT_TRUE(source.url.empty() || source.url.starts_with("{host.")) << source.url;
    }
  }
}

TEST(Shipped, ExamplesOfTheDocumentAreRecipes) {
  const std::vector<std::string> examples = examples_of(text_of("docs/RECIPES.md"));
  ASSERT_GE(examples.size(), 2u);
  for (const std::string& example : examples) {
    const Result<Recipe> recipe = parse(example, "docs/RECIPES.md");
    EXPECT_TRUE(recipe) << recipe.error().message;
    EXPECT_EQ(validated(example), "");
  }
}

TEST(Shipped, EveryKeyOfTheFormIsDocumented) {
  const std::string page = text_of("docs/RECIPES.md");
  for (const char* key :
       {"goldenv_recipe", "component", "about",     "also",     "versions",  "hosts",
        "sources",        "cannot",    "libraries", "binaries", "include",   "site_packages",
        "environment",    "requires",  "place",     "unfold",   "needs",     "wheel",
        "redist",         "deb",       "archive",   "git",      "installed", "index",
        "variant",        "strip",     "layout",    "when",     "sha256",    "commit",
        "build"}) {
    EXPECT_NE(page.find("`" + std::string(key) + "`"), std::string::npos) << key;
  }
}

TEST(Shipped, NcclOfStoryOne) {
  const Expansion all = expand(found("nccl"), {{"version", "2.20.5"}, {"cuda", "12.1.1"}});
  ASSERT_EQ(all.sources.size(), 2u);
  EXPECT_EQ(all.sources[0].name, "nvidia-nccl-cu12");
  EXPECT_EQ(all.sources[0].version, "2.20.5");
  EXPECT_EQ(all.sources[1].name, "libnccl2");
  EXPECT_EQ(all.sources[1].version, "2.20.5-1+cuda12.1");
  EXPECT_EQ(&found("python.package.nvidia-nccl-cu12"), &found("nccl"));
  EXPECT_THAT(keys_of(found("nccl"), {}), Contains("python.package.nvidia-nccl-cu13"));
}

TEST(Shipped, WheelsOfCudaLoseTheirSuffixIn13) {
  const auto name = [](std::string_view key, Values values) {
    const Expansion all = expand(found(key), values);
    return all.sources.empty() ? std::string()
                               : all.sources.front().name + "==" + all.sources.front().version;
  };
  EXPECT_EQ(name("cuda.runtime", {{"version", "12.1.105"}}), "nvidia-cuda-runtime-cu12==12.1.105");
  EXPECT_EQ(name("cuda.runtime", {{"version", "13.0.96"}}), "nvidia-cuda-runtime==13.0.96");
  EXPECT_EQ(name("cuda", {{"version", "12.1.1"}, {"cudart", "12.1.105"}}),
            "nvidia-cuda-runtime-cu12==12.1.105");
  EXPECT_EQ(name("cuda", {{"version", "13.0.2"}, {"cudart", "13.0.96"}}),
            "nvidia-cuda-runtime==13.0.96");
  EXPECT_EQ(name("python.package.nvidia-cufft-cu12",
                 {{"version", "11.0.2.54"}, {"name", "nvidia-cufft-cu12"}}),
            "nvidia-cufft-cu12==11.0.2.54");
  EXPECT_EQ(
      name("python.package.nvidia-cublas", {{"version", "13.1.0.3"}, {"name", "nvidia-cublas"}}),
      "nvidia-cublas==13.1.0.3");
  EXPECT_EQ(name("torch", {{"version", "2.2.1+cu121"}}), "torch==2.2.1+cu121");
  EXPECT_EQ(name("python.package.numpy", {{"version", "1.26.4"}, {"name", "numpy"}}),
            "numpy==1.26.4");
}

TEST(Shipped, CudnnComesByTheIndexOfItsRelease) {
  const Expansion all =
      expand(found("cudnn"), {{"version", "9.1.0.70"}, {"cuda", "12.4.1"}, {"arch", "x86_64"}});
  ASSERT_EQ(all.sources.size(), 3u);
  EXPECT_EQ(all.sources[1].url,
            "https://developer.download.nvidia.com/compute/cudnn/redist/redistrib_9.1.0.json");
  EXPECT_EQ(all.sources[1].variant, "cuda12");
  EXPECT_EQ(all.sources[2].name, "libcudnn9-cuda-12");
}

TEST(Shipped, TheToolkitHasOneListOfPartsAVersion) {
  for (const char* release : {"11.8.0", "12.1.1", "13.0.2"}) {
    const Expansion all = expand(found("cuda.toolkit"), {{"version", release}});
    ASSERT_EQ(all.sources.size(), 1u) << release;
    EXPECT_THAT(all.sources.front().components, Contains("cuda_nvcc"));
  }
  EXPECT_TRUE(expand(found("cuda.toolkit"), {{"version", "11.2.0"}}).sources.empty());
  EXPECT_THAT(expand(found("cuda.toolkit"), {{"version", "13.0.2"}}).sources.front().components,
              Contains("libnvvm"));
}

TEST(Shipped, SayWhatTakesRootAndWhatCannotBeHad) {
  EXPECT_THAT(found("kernel").needs, ::testing::ElementsAre(Need::root, Need::reboot));
  EXPECT_THAT(found("driver").needs, ::testing::ElementsAre(Need::root, Need::module_reload));
  EXPECT_NE(found("glibc").cannot, "");
  EXPECT_EQ(expand(found("kernel"), {{"version", "6.1.0-42-amd64"}}).sources.front().name,
            "linux-image-6.1.0-42-amd64");
  EXPECT_EQ(expand(found("python"), {{"version", "3.10.12"}}).sources.front().name, "python3.10");
  // Of the run file no digest is known, and that is said.
  const Expansion driver = expand(found("driver"), {{"version", "535.129.03"}, {"arch", "x86_64"}});
  ASSERT_EQ(driver.passed_over.size(), 1u);
  EXPECT_NE(driver.passed_over.front().find("names no sha256 for 535.129.03"), std::string::npos);
}

}  // namespace
}  // namespace goldenv::recipe

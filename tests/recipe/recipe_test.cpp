#include "recipe/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace goldenv::recipe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kDigest(64, 'a');
const std::string kCommit(40, 'b');

/// A component that no recipe of goldenv's is for, with one source of each kind.
std::string made_up() {
  return "goldenv_recipe: 1\n"
         "component: python.package.flux\n"
         "about: made up\n"
         "versions: pep440\n"
         "also: [dpkg.package.flux]\n"
         "hosts: {own: https://own.example}\n"
         "sources:\n"
         "  - wheel: flux-cu{cuda.major}\n"
         "  - redist: [flux_core, 'flux_{arch}']\n"
         "    index: \"{host.own}/redistrib_{version}.json\"\n"
         "    variant: cuda{cuda.major}\n"
         "    layout: {lib: lib, 'share/flux': data/flux}\n"
         "  - {deb: libflux, version: '{version}-1+cuda{cuda.release}'}\n"
         "  - archive: https://files.example/flux-{version}-{arch.deb}.tar.gz\n"
         "    sha256: {1.2: " +
         kDigest +
         "}\n"
         "    strip: 1\n"
         "    layout: {'build/{version}': lib}\n"
         "    when: {python: '>=3.10'}\n"
         "  - git: https://git.example/flux.git\n"
         "    commit: {1.3: " +
         kCommit +
         "}\n"
         "    build: ['make VERSION={version}']\n"
         "  - installed: flux{version.major}\n"
         "provides:\n"
         "  libraries: [libflux.so.*]\n"
         "  binaries: flux\n"
         "  include: [flux.h]\n"
         "  site_packages: [flux]\n"
         "  environment: {FLUX_HOME: '${prefix}'}\n"
         "requires: [{component: cuda, want: '>=12'}, {component: nccl}]\n"
         "place: copy\n"
         "unfold: [bin]\n"
         "needs: [root, module-reload]\n";
}

Recipe read(const std::string& text) {
  Result<Recipe> recipe = parse(text, "r.yaml");
  EXPECT_TRUE(recipe) << recipe.error().message;
  return recipe.value_or(Recipe{});
}

TEST(Recipe, IsReadWhole) {
  const Recipe recipe = read(made_up());
  EXPECT_EQ(recipe.component, "python.package.flux");
  EXPECT_EQ(recipe.versions, version::Scheme::pep440);
  EXPECT_THAT(recipe.also, ElementsAre("dpkg.package.flux"));
  ASSERT_EQ(recipe.sources.size(), 6u);
  EXPECT_EQ(recipe.sources[0].kind, Kind::wheel);
  EXPECT_EQ(recipe.sources[0].version, "{version}");
  EXPECT_EQ(recipe.sources[1].kind, Kind::redist);
  EXPECT_EQ(recipe.sources[1].strip, 1u);
  EXPECT_EQ(recipe.sources[1].layout[1], (Layout{"share/flux", "data/flux"}));
  EXPECT_EQ(recipe.sources[3].sha256.at("1.2"), kDigest);
  EXPECT_EQ(recipe.sources[3].mark.line, 14u);
  EXPECT_EQ(recipe.sources[4].commits.at("1.3"), kCommit);
  EXPECT_THAT(recipe.binaries, ElementsAre("flux"));
  EXPECT_EQ(recipe.environment.front(), (Variable{"FLUX_HOME", "${prefix}"}));
  EXPECT_EQ(recipe.needs_components.front(), (Requirement{"cuda", ">=12"}));
  EXPECT_EQ(recipe.place, Place::copy);
  EXPECT_THAT(recipe.needs, ElementsAre(Need::root, Need::module_reload));
  EXPECT_EQ(recipe.file, "r.yaml");
}

TEST(Recipe, JsonIsReadToo) {
  const Recipe recipe =
      read(R"({"goldenv_recipe": 1, "component": "nccl", "sources": [{"wheel": "x-{version}"}]})");
  EXPECT_EQ(recipe.sources.front().name, "x-{version}");
}

TEST(Recipe, ExpandsForVersions) {
  const Values values = {{"version", "1.2"},
                         {"name", "flux"},
                         {"cuda", "12.1.1"},
                         {"arch", "x86_64"},
                         {"python", "3.11.7"}};
  const Expansion all = expand(read(made_up()), values);
  ASSERT_EQ(all.sources.size(), 5u) << ::testing::PrintToString(all.passed_over);
  EXPECT_EQ(all.sources[0].name, "flux-cu12");
  EXPECT_EQ(all.sources[0].version, "1.2");
  EXPECT_EQ(all.sources[1].url, "https://own.example/redistrib_1.2.json");
  EXPECT_THAT(all.sources[1].components, ElementsAre("flux_core", "flux_x86_64"));
  EXPECT_EQ(all.sources[1].variant, "cuda12");
  EXPECT_EQ(all.sources[2].version, "1.2-1+cuda12.1");
  EXPECT_EQ(all.sources[3].url, "https://files.example/flux-1.2-amd64.tar.gz");
  EXPECT_EQ(all.sources[3].layout.front().from, "build/1.2");
  EXPECT_EQ(all.sources[4].name, "flux1");
  EXPECT_THAT(all.passed_over,
              ElementsAre("git https://git.example/flux.git: names no commit for 1.2"));
}

TEST(Recipe, WhatIsMissingPassesASourceOver) {
  const Recipe recipe = read(made_up());
  const Expansion none = expand(recipe, {{"version", "1.3"}});
  ASSERT_EQ(none.sources.size(), 2u);
  EXPECT_EQ(none.sources[0].kind, Kind::git);
  EXPECT_THAT(none.sources[0].build, ElementsAre("make VERSION=1.3"));
  EXPECT_THAT(none.passed_over,
              ElementsAre("wheel flux-cu{cuda.major}: {cuda.major} has no value here",
                          "redist {host.own}/redistrib_{version}.json: {cuda.major} has no value "
                          "here",
                          "deb libflux: {cuda.release} has no value here",
                          "archive https://files.example/flux-{version}-{arch.deb}.tar.gz: is for "
                          "python >=3.10, and no python is given"));
  const Expansion old = expand(recipe, {{"version", "1.2"}, {"python", "3.9.1"}});
  EXPECT_THAT(old.passed_over, ::testing::Contains(HasSubstr("is for python >=3.10, not 3.9.1")));
}

TEST(Recipe, AHostCanBeReplaced) {
  const Expansion all = expand(
      read(made_up()),
      {{"version", "1.2"}, {"cuda", "12.1"}, {"arch", "aarch64"}, {"host.own", "file:///mirror"}});
  EXPECT_EQ(all.sources[1].url, "file:///mirror/redistrib_1.2.json");
}

TEST(Recipe, TellsTheKeysOfItsPins) {
  EXPECT_THAT(keys_of(read(made_up()), {{"version", "1.2"}, {"cuda", "12.1"}}),
              ElementsAre("dpkg.package.flux", "python.package.flux", "python.package.flux-cu12"));
  EXPECT_THAT(keys_of(read(made_up()), {}),
              ElementsAre("dpkg.package.flux", "python.package.flux"));
}

TEST(Fill, TakesPartsOfVersions) {
  const Values values = {{"version", "2.2.1+cu121"},
                         {"cuda", "12.1.1"},
                         {"python", "3.11"},
                         {"arch", "aarch64"},
                         {"torch", "2.2"}};
  const auto filled = [&](std::string_view pattern) {
    const Result<std::string> text = fill(pattern, values);
    return text ? *text : "! " + text.error().message;
  };
  EXPECT_EQ(filled("{version.public} {version.local} {version.release} {version.patch}"),
            "2.2.1 cu121 2.2 1");
  EXPECT_EQ(filled("{cuda.major}.{cuda.minor}.{cuda.patch}"), "12.1.1");
  EXPECT_EQ(filled("{python.tag}-{arch.deb}-{arch.nvidia}"), "cp311-arm64-linux-sbsa");
  EXPECT_EQ(filled("{{{arch}}}"), "{aarch64}");
  EXPECT_EQ(filled(""), "");
  EXPECT_EQ(filled("{python.patch}"), "! {python.patch} has no value: python is 3.11");
  EXPECT_EQ(filled("{torch.local}"), "! {torch.local} has no value: torch is 2.2");
  EXPECT_EQ(filled("{name}"), "! {name} has no value here");
  EXPECT_EQ(filled("{nothing.at.all}"), "! {nothing.at.all} has no value here");
  EXPECT_THAT(filled("{version"), HasSubstr("without its other"));
  EXPECT_THAT(filled("version}"), HasSubstr("without its other"));
  EXPECT_THAT(filled("{}"), HasSubstr("without a name"));
  EXPECT_EQ(*fill("{arch.deb}", {{"arch", "x86_64"}}), "amd64");
  EXPECT_FALSE(fill("{arch.deb}", {{"arch", "riscv64"}}));
}

TEST(Match, FindsWhatPlaceholdersStandFor) {
  const auto version = [](std::string_view pattern, std::string_view text) -> std::string {
    const std::optional<Values> found = match(pattern, text);
    return !found ? "none" : found->contains("version") ? found->at("version") : "nothing";
  };
  EXPECT_EQ(version("{version}-1+cuda{cuda.release}", "2.19.3-1+cuda12.1"), "2.19.3");
  EXPECT_EQ(version("{version}-1+cuda{cuda.release}", "2.19.3-2+cuda12.1"), "none");
  EXPECT_EQ(version("linux-image-{version}", "linux-image-6.1.0-42-amd64"), "6.1.0-42-amd64");
  EXPECT_EQ(version("linux-image-{version}", "linux-image-"), "none");
  EXPECT_EQ(version("{version}-*", "535.129.03-0ubuntu1"), "535.129.03");
  EXPECT_EQ(version("*", "1:2.3"), "nothing");
  EXPECT_EQ(version("nvidia-driver", "nvidia-driver"), "nothing");
  EXPECT_EQ(version("nvidia-driver", "nvidia-driver-535"), "none");
  EXPECT_EQ(version("a{{b", "a{b"), "nothing");
  EXPECT_EQ(match("libcudnn{version.major}-cuda-{cuda.major}", "libcudnn9-cuda-12"),
            (Values{{"version.major", "9"}, {"cuda.major", "12"}}));
  EXPECT_EQ(match("{version", "x"), std::nullopt);
  EXPECT_EQ(match("{version}{version}{version}{version}{version}", "aaaaaaaaa"), std::nullopt);
}

TEST(Collection, FindsByKeyAndByFamily) {
  Collection collection;
  const std::vector<Text> first = {
      {"a.yaml", made_up()},
      {"b.yaml", "goldenv_recipe: 1\ncomponent: python.package.*\nsources: [{wheel: '{name}'}]\n"},
      {"c.yaml", "goldenv_recipe: 1\ncomponent: nccl\nsources: [{wheel: a}]\n"}};
  ASSERT_TRUE(collection.add(first));
  ASSERT_NE(collection.find("python.package.flux"), nullptr);
  EXPECT_EQ(collection.find("python.package.flux")->about, "made up");
  EXPECT_EQ(collection.find("dpkg.package.flux"), collection.find("python.package.flux"));
  ASSERT_NE(collection.find("python.package.ruamel.yaml"), nullptr);
  EXPECT_TRUE(collection.find("python.package.ruamel.yaml")->is_generic());
  EXPECT_EQ(collection.find("cudnn"), nullptr);
  EXPECT_EQ(collection.find("dpkg.package.other"), nullptr);
  EXPECT_EQ(collection.find(""), nullptr);
  // A later folder wins, also over what the earlier one was for besides.
  const std::vector<Text> second = {
      {"d.yaml", "goldenv_recipe: 1\ncomponent: python.package.flux\ncannot: not here\n"}};
  ASSERT_TRUE(collection.add(second));
  EXPECT_EQ(collection.find("python.package.flux")->cannot, "not here");
  EXPECT_EQ(collection.find("dpkg.package.flux"), nullptr);
  EXPECT_EQ(collection.all().size(), 3u);
}

TEST(Collection, TwoForOneKeyAreAnError) {
  Collection collection;
  const std::vector<Text> texts = {
      {"a.yaml", "goldenv_recipe: 1\ncomponent: nccl\nsources: [{wheel: a}]\n"},
      {"b.yaml", "goldenv_recipe: 1\ncomponent: cudnn\nalso: [nccl]\nsources: [{wheel: b}]\n"}};
  const auto added = collection.add(texts);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().message, "b.yaml:1:1: a second recipe for nccl; a.yaml is one already");
  EXPECT_THAT(collection.all(), IsEmpty()) << "nothing of a folder that is wrong";
}

/// What is wrong with a recipe whose component is nccl, with these lines.
std::string wrong(const std::string& lines) {
  const Result<Recipe> recipe = parse("goldenv_recipe: 1\ncomponent: nccl\n" + lines, "r.yaml");
  return recipe ? "nothing" : recipe.error().message;
}

TEST(RecipeErrors, SayWhereWhatAndWhatWasExpected) {
  EXPECT_EQ(wrong("sources: [{wheel: a}]\nprovide: {}\n"),
            "r.yaml:4:1: unknown key \"provide\" in a recipe; did you mean provides?");
  EXPECT_EQ(wrong("sources:\n  - {wheels: a}\n"),
            "r.yaml:4:6: a source of no kind; did you mean wheel?");
  EXPECT_EQ(wrong("sources:\n  - {wheel: a, deb: b}\n"),
            "r.yaml:4:16: a source of two kinds, wheel and deb; expected one");
  EXPECT_EQ(wrong("sources:\n  - {wheel: a, urls: b}\n"),
            "r.yaml:4:16: unknown key \"urls\" in a source of kind wheel; expected one of version, "
            "wheel and when");
  EXPECT_EQ(wrong("sources: [{wheel: 'x{cuda.mjor}'}]\n"),
            "r.yaml:3:19: wheel: no placeholder \"cuda.mjor\"; did you mean cuda.major?");
  EXPECT_EQ(wrong("sources: [{wheel: 'x{version'}]\n"),
            "r.yaml:3:19: wheel: a '{' without its other; expected {placeholder}, or {{ and }} for "
            "braces");
  EXPECT_EQ(wrong("sources: [{archive: '{host.nvidai}/x', sha256: {}}]\nhosts: {nvidia: "
                  "'https://x.example'}\n"),
            "r.yaml:3:21: archive: no host \"nvidai\"; did you mean nvidia?");
  EXPECT_EQ(wrong("sources: [{archive: 'http://x.example/a', sha256: {}}]\n"),
            "r.yaml:3:21: archive \"http://x.example/a\" is no URL; expected https://, file:/// or "
            "a host of hosts:");
  EXPECT_EQ(wrong("sources: [{archive: 'https://me:secret@x.example/a', sha256: {}}]\n"),
            "r.yaml:3:21: archive names a user; expected a URL without one");
  EXPECT_EQ(wrong("sources: [{archive: 'https://x.example/a', sha256: {2.20.5: abc}}]\n"),
            "r.yaml:3:61: sha256 \"abc\" is none; expected 64 hexadecimal digits");
  EXPECT_EQ(wrong("sources: [{archive: 'https://x.example/a', sha256: {2..5: " + kDigest + "}}]\n")
                .find("r.yaml:3:53: sha256: "),
            0u);
  EXPECT_EQ(wrong("sources: [{archive: 'https://x.example/a', layout: {../lib: lib}}]\n"),
            "r.yaml:3:53: a folder of layout \"../lib\" leads out; expected a relative path "
            "without .. and empty parts");
  EXPECT_EQ(wrong("sources: [{archive: 'https://x.example/a', layout: {lib: libs}}]\n"),
            "r.yaml:3:58: a place of layout \"libs\" is none; did you mean lib?");
  EXPECT_EQ(wrong("sources: [{archive: 'https://x.example/a', strip: 99}]\n"),
            "r.yaml:3:51: strip is no number of folders; expected 0 to 16");
  EXPECT_EQ(wrong("sources: [{wheel: a, when: {cude: '>1'}}]\n"),
            "r.yaml:3:29: no condition on \"cude\"; did you mean cuda?");
  EXPECT_THAT(wrong("sources: [{wheel: a, when: {cuda: '>>1'}}]\n"),
              HasSubstr("r.yaml:3:35: when"));
  EXPECT_EQ(wrong("sources: []\n"),
            "r.yaml:3:10: sources is no list; expected at least one source");
  EXPECT_EQ(wrong("about: x\n"),
            "r.yaml:1:1: expected either sources, or cannot with the reason why there are none");
  EXPECT_EQ(wrong("sources: [{git: 'https://x.example/a'}]\n"),
            "r.yaml:3:11: git without commit; expected commit: {VERSION: COMMIT}");
  EXPECT_EQ(wrong("sources: [{redist: a}]\n"),
            "r.yaml:3:11: redist without parts or index; expected redist: [PART, ..] and index: "
            "URL");
  EXPECT_EQ(wrong("versions: pep440\nsources: [{wheel: a}]\n"),
            "r.yaml:3:11: versions of nccl are dotted, not \"pep440\"; expected that, or nothing");
  EXPECT_EQ(wrong("also: [nccl]\nsources: [{wheel: a}]\n"),
            "r.yaml:3:7: a key stands twice; expected it once");
  EXPECT_EQ(wrong("sources: [{wheel: a}]\nneeds: [rot]\n"),
            "r.yaml:4:9: an entry of needs \"rot\" is none; did you mean root?");
  EXPECT_EQ(wrong("sources: [{wheel: a}]\nplace: hardlink\n"),
            "r.yaml:4:8: place \"hardlink\" is none; expected one of link and copy");
  EXPECT_EQ(wrong("sources: [{wheel: a}]\nprovides: {environment: {1A: b}}\n"),
            "r.yaml:4:26: \"1A\" is no variable; expected letters, digits and _");
  EXPECT_EQ(
      wrong("sources: [{wheel: a}]\nprovides: {environment: {A: b, LD_PRELOAD: c}}\n"),
      "r.yaml:4:32: \"LD_PRELOAD\" is decided on by goldenv alone; expected a variable that a "
      "recipe can set (docs/ENVIRONMENT.md)");
  EXPECT_EQ(wrong("sources: [{wheel: a}]\nrequires: [{component: cuda, wants: '1'}]\n"),
            "r.yaml:4:30: unknown key \"wants\" in a requirement; did you mean want?");
  EXPECT_THAT(wrong("sources: [{wheel: a}]\nsources: [{wheel: b}]\n"), HasSubstr("r.yaml:4:1: "));
  EXPECT_EQ(wrong("sources: [{wheel: ''}]\n"), "r.yaml:3:19: wheel is no text; expected one");
  EXPECT_EQ(wrong("sources: {wheel: a}\n"),
            "r.yaml:3:10: sources is no list; expected at least one source");
}

TEST(RecipeErrors, OfTheComponent) {
  const auto of = [](const std::string& component) {
    const Result<Recipe> recipe =
        parse("goldenv_recipe: 1\ncomponent: " + component + "\nsources: [{wheel: a}]\n", "r.yaml");
    return recipe ? "nothing" : recipe.error().message;
  };
  EXPECT_EQ(of("nccl"), "nothing");
  EXPECT_EQ(of("python.package.*"), "nothing");
  EXPECT_EQ(of("ncll"), "r.yaml:2:12: component: unknown key \"ncll\"; did you mean nccl?");
  EXPECT_EQ(of("python.package.torch"),
            "r.yaml:2:12: component \"python.package.torch\" is another name of torch; expected "
            "that");
  EXPECT_EQ(of("gpu.name"),
            "r.yaml:2:12: component \"gpu.name\" is no component; expected a key of docs/FACTS.md "
            "that is a version");
  EXPECT_EQ(of("[nccl]"), "r.yaml:2:12: component is no text; expected one");
  EXPECT_THAT(of("nothing.*"), HasSubstr("r.yaml:2:12: component: unknown key"));
  for (const char* text : {"", "[]", "x", "goldenv_recipe: 2\ncomponent: nccl\n", "component: nccl",
                           "goldenv_recipe: 1\nsources: [{wheel: a}]\n", "\x01", "{", "- - - ]"}) {
    const Result<Recipe> recipe = parse(text, "r.yaml");
    ASSERT_FALSE(recipe) << text;
    EXPECT_EQ(recipe.error().message.find("r.yaml:"), 0u) << recipe.error().message;
    EXPECT_NE(recipe.error().code, Errc::failed);
  }
}

TEST(RecipeErrors, ATextThatIsCutOffAnywhereNeverReadsAsAnother) {
  const std::string whole = made_up();
  const Recipe read_whole = read(whole);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Result<Recipe> cut = parse(whole.substr(0, size), "r.yaml");
    if (cut) {
      EXPECT_LE(cut->sources.size(), read_whole.sources.size());
      EXPECT_EQ(cut->component.find("python.package."), 0u);
    }
  }
}

}  // namespace
}  // namespace goldenv::recipe

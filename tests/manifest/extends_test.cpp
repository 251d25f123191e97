#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "manifest/manifest.h"

namespace goldenv::manifest {
namespace {

/// A folder of texts, each named by its path, and what was asked of it.
struct Folder {
  std::map<std::string, std::string> files;

  [[nodiscard]] Result<Manifest> load(const std::string& name) const {
    return manifest::load(
        files.at(name), name, [this](std::string_view wanted, std::string_view from) {
          const std::size_t slash = from.rfind('/');
          const std::string path =
              (slash == std::string_view::npos ? "" : std::string(from.substr(0, slash + 1))) +
              std::string(wanted);
          const auto found = files.find(path);
          return found == files.end() ? Result<Text>(Error{Errc::absent, "no file " + path, {}})
                                      : Result<Text>(Text{path, found->second});
        });
  }
  [[nodiscard]] Manifest read(const std::string& name) const {
    auto manifest = load(name);
    EXPECT_TRUE(manifest) << (manifest ? "" : manifest.error().message);
    return manifest ? *std::move(manifest) : Manifest{};
  }
  [[nodiscard]] std::string refusal(const std::string& name) const {
    const auto manifest = load(name);
    EXPECT_FALSE(manifest);
    return manifest ? std::string() : manifest.error().message;
  }
};

std::string driver(const Manifest& manifest) {
  const Pin* pin = manifest.find({"driver", ""});
  return pin == nullptr ? "none" : facts::describe(pin->want);
}

TEST(Extends, LaterWinsAndTheOwnPinsWinLast) {
  const Folder folder{{{"a.yaml", "goldenv: 1\npins: {driver: 1.0, cuda: 12.1.1, torch: 2.1.0}\n"},
                       {"b.yaml", "goldenv: 1\npins: {driver: 2.0, cuda: 12.2.2}\n"},
                       {"m.yaml", "goldenv: 1\nextends: [a.yaml, b.yaml]\npins: {driver: 3.0}\n"},
                       {"n.yaml", "goldenv: 1\nextends: b.yaml\n"}}};
  const Manifest manifest = folder.read("m.yaml");
  EXPECT_EQ(driver(manifest), "3.0");
  EXPECT_EQ(manifest.find({"cuda", ""})->want.value.text, "12.2.2");
  EXPECT_EQ(manifest.find({"cuda", ""})->file, "b.yaml");
  EXPECT_EQ(manifest.find({"torch", ""})->want.value.text, "2.1.0");
  EXPECT_EQ(manifest.extends, (std::vector<std::string>{"a.yaml", "b.yaml"}));
  EXPECT_EQ(driver(folder.read("n.yaml")), "2.0");
}

TEST(Extends, AnyDropsAnInheritedPinAndALaterOneBringsItBack) {
  const Folder folder{{{"a.yaml", "goldenv: 1\npins: {driver: 1.0, cuda: 12.1.1}\n"},
                       {"any.yaml", "goldenv: 1\npins: {driver: any}\n"},
                       {"m.yaml", "goldenv: 1\nextends: a.yaml\npins: {driver: any}\n"},
                       {"n.yaml", "goldenv: 1\nextends: [a.yaml, any.yaml]\n"},
                       {"o.yaml", "goldenv: 1\nextends: m.yaml\npins: {driver: 2.0}\n"},
                       {"p.yaml", "goldenv: 1\npins: {driver: any}\n"}}};
  EXPECT_EQ(driver(folder.read("m.yaml")), "none");
  EXPECT_EQ(folder.read("m.yaml").pins.size(), 1U);
  EXPECT_EQ(driver(folder.read("n.yaml")), "none");
  EXPECT_EQ(driver(folder.read("o.yaml")), "2.0");
  EXPECT_TRUE(folder.read("p.yaml").pins.empty());
}

TEST(Extends, APinIsReplacedWholeUnderAnySpelling) {
  const Folder folder{
      {{"a.yaml", "goldenv: 1\npins:\n  kernel: {want: 5.4.0-1, level: info, why: old}\n"},
       {"m.yaml", "goldenv: 1\nextends: a.yaml\npins:\n  kernel.release: 5.5.0-1\n"}}};
  const Manifest manifest = folder.read("m.yaml");
  ASSERT_EQ(manifest.pins.size(), 1U);
  EXPECT_EQ(manifest.pins[0].level, facts::Level::must);
  EXPECT_EQ(manifest.pins[0].why, "");
}

TEST(Extends, FieldsAreTakenOverUnlessGivenAnew) {
  const Folder folder{
      {{"a.yaml",
        "goldenv: 1\nname: a\ntarget_python: /a\nclosed: {want: [env, sysctl], level: must}\n"},
       {"m.yaml", "goldenv: 1\nextends: a.yaml\nname: m\n"},
       {"n.yaml", "goldenv: 1\nextends: a.yaml\nclosed: [dpkg.package]\n"},
       {"o.yaml", "goldenv: 1\nextends: a.yaml\nclosed: []\ntarget_python: /o\n"}}};
  EXPECT_EQ(folder.read("m.yaml").name, "m");
  EXPECT_EQ(folder.read("m.yaml").target_python, "/a");
  EXPECT_EQ(folder.read("m.yaml").closed, (std::vector<std::string>{"env", "sysctl"}));
  EXPECT_EQ(folder.read("m.yaml").closed_level, facts::Level::must);
  EXPECT_EQ(folder.read("n.yaml").name, "a");
  EXPECT_EQ(folder.read("n.yaml").closed, (std::vector<std::string>{"dpkg.package"}));
  EXPECT_EQ(folder.read("n.yaml").closed_level, facts::Level::should);
  EXPECT_TRUE(folder.read("o.yaml").closed.empty());
  EXPECT_EQ(folder.read("o.yaml").target_python, "/o");
}

TEST(Extends, FilesAreNamedFromTheOneThatNamesThem) {
  const Folder folder{{{"m.yaml", "goldenv: 1\nextends: site/a.yaml\n"},
                       {"site/a.yaml", "goldenv: 1\nextends: [b.yaml]\n"},
                       {"site/b.yaml", "goldenv: 1\npins: {driver: 1.0}\n"}}};
  EXPECT_EQ(driver(folder.read("m.yaml")), "1.0");
}

TEST(Extends, OneFileMayBeExtendedTwice) {
  const Folder folder{{{"base.yaml", "goldenv: 1\npins: {driver: 1.0}\n"},
                       {"a.yaml", "goldenv: 1\nextends: base.yaml\npins: {driver: 2.0}\n"},
                       {"b.yaml", "goldenv: 1\nextends: base.yaml\n"},
                       {"m.yaml", "goldenv: 1\nextends: [b.yaml, a.yaml]\n"}}};
  EXPECT_EQ(driver(folder.read("m.yaml")), "2.0");
}

TEST(Extends, CirclesAreNamedInFull) {
  const Folder folder{{{"a.yaml", "goldenv: 1\nextends: b.yaml\n"},
                       {"b.yaml", "goldenv: 1\nextends: [c.yaml]\n"},
                       {"c.yaml", "goldenv: 1\nname: c\nextends:\n  - b.yaml\n"},
                       {"self.yaml", "goldenv: 1\nextends: self.yaml\n"}}};
  EXPECT_EQ(folder.refusal("a.yaml"),
            "c.yaml:4:5: extends goes round in a circle: b.yaml -> c.yaml -> b.yaml; expected an "
            "end");
  EXPECT_EQ(
      folder.refusal("self.yaml"),
      "self.yaml:2:10: extends goes round in a circle: self.yaml -> self.yaml; expected an end");
}

TEST(Extends, ErrorsStandInTheFileTheyAreIn) {
  const Folder folder{{{"m.yaml", "goldenv: 1\nextends: [a.yaml]\n"},
                       {"a.yaml", "goldenv: 1\npins:\n  driver: 1..0\n"},
                       {"n.yaml", "goldenv: 1\nextends: [missing.yaml]\n"},
                       {"o.yaml", "goldenv: 1\nextends: [s.yaml]\n"},
                       {"s.yaml", "goldenv_snapshot: 0\n"}}};
  EXPECT_TRUE(folder.refusal("m.yaml").starts_with("a.yaml:3:11: ")) << folder.refusal("m.yaml");
  EXPECT_EQ(folder.refusal("n.yaml"),
            "n.yaml:2:11: cannot read \"missing.yaml\": no file missing.yaml; expected a manifest");
  EXPECT_TRUE(folder.refusal("o.yaml").starts_with("s.yaml:1:1: a snapshot and no manifest"));
}

TEST(Extends, OnlyFilesBelowTheFolderAreRead) {
  for (const char* name : {"/etc/passwd", "../a.yaml", "a/../../b.yaml", "~/a.yaml", "''",
                           "\"a\\0b\"", "https://host/a.yaml", "a/.."}) {
    const Folder folder{{{"m.yaml", "goldenv: 1\nextends: [" + std::string(name) + "]\n"}}};
    const std::string message = folder.refusal("m.yaml");
    EXPECT_TRUE(message.starts_with("m.yaml:2:11: ")) << message;
    EXPECT_TRUE(
        message.ends_with(" is not below this file's folder; expected a relative path without .."))
        << message;
  }
  const Folder folder{{{"m.yaml", "goldenv: 1\nextends: \"git:repo@abc:m.yaml\"\n"}}};
  EXPECT_EQ(folder.refusal("m.yaml"),
            "m.yaml:2:10: \"git:repo@abc:m.yaml\" names no full commit; expected "
            "git:REPO@COMMIT:PATH with its 40 hexadecimal digits");
  const Folder list{{{"m.yaml", "goldenv: 1\nextends: [[a.yaml]]\n"}}};
  EXPECT_EQ(list.refusal("m.yaml"), "m.yaml:2:11: an entry of extends is no text; expected one");
}

TEST(Extends, WithoutAWayToFetchItIsRefused) {
  const auto manifest = load("goldenv: 1\nextends: a.yaml\n", "-", nullptr);
  ASSERT_FALSE(manifest);
  EXPECT_EQ(manifest.error().message,
            "-:2:10: extends has no place here; expected a manifest that stands alone");
}

TEST(Extends, AtMostSixtyFourFiles) {
  Folder chain;
  for (int i = 0; i < 70; ++i) {
    chain.files["f" + std::to_string(i)] =
        "goldenv: 1\n" + (i == 69 ? std::string() : "extends: f" + std::to_string(i + 1) + "\n");
  }
  EXPECT_EQ(chain.refusal("f0"), "f63:2:10: more than 64 files in one manifest; expected fewer");
  EXPECT_TRUE(chain.load("f6"));
  // Each level twice: without the cap 2^40 texts.
  Folder twice;
  for (int i = 0; i < 40; ++i) {
    const std::string next = "f" + std::to_string(i + 1);
    twice.files["f" + std::to_string(i)] =
        "goldenv: 1\n" + (i == 39 ? std::string() : "extends: [" + next + ", " + next + "]\n");
  }
  EXPECT_NE(twice.refusal("f0").find("more than 64 files"), std::string::npos);
}

}  // namespace
}  // namespace goldenv::manifest

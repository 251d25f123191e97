#include "wheel/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace goldenv::wheel {
namespace {

using testing::ElementsAre;

std::string metadata_fault(std::string_view text) {
  const auto metadata = parse_metadata(text);
  return metadata ? "parsed" : metadata.error().message;
}

std::string wheel_fault(std::string_view text) {
  const auto wheel = parse_wheel_file(text);
  return wheel ? "parsed" : wheel.error().message;
}

std::string scripts_fault(std::string_view text) {
  const auto scripts = parse_entry_points(text);
  return scripts ? "parsed" : scripts.error().message;
}

TEST(Metadata, HasWhatAnInstallationNeeds) {
  const auto metadata = parse_metadata(
      "Metadata-Version: 2.1\r\nName: NumPy\r\nVersion: 1.26.4\r\nSummary: a\r\n  b\r\n"
      "Requires-Python: >=3.9\r\nRequires-Dist: foo (>=1)\r\n"
      "requires-dist: bar; extra ==\r\n  'test'\r\nProvides-Extra: Test_x\r\n\r\n"
      "Requires-Dist: ???\r\n");
  ASSERT_TRUE(metadata) << metadata.error().message;
  EXPECT_EQ(metadata->name, "NumPy");
  EXPECT_EQ(metadata->version, "1.26.4");
  EXPECT_EQ(metadata->requires_python, ">=3.9");
  EXPECT_THAT(metadata->provides_extra, ElementsAre("test-x"));
  ASSERT_EQ(metadata->requires_dist.size(), 2U);
  EXPECT_EQ(metadata->requires_dist[0].name, "foo");
  EXPECT_EQ(render(*metadata->requires_dist[1].marker), "extra == \"test\"");
}

TEST(Metadata, RefusalsNameLineAndReason) {
  EXPECT_EQ(metadata_fault("Version: 1\n"), "METADATA: no Name");
  EXPECT_EQ(metadata_fault("Name: a\n\nVersion: 1\n"), "METADATA: no Version");
  EXPECT_EQ(metadata_fault("Name: a/b\n"), "METADATA line 1: \"a/b\" names no package");
  EXPECT_EQ(metadata_fault("Name: a\nVersion: 1..0\n"),
            "METADATA line 2: \"1..0\" is no version: empty part after \"1.\"");
  EXPECT_EQ(metadata_fault("Metadata-Version: 3.0\n"),
            "METADATA line 1: Metadata-Version \"3.0\", expected 1.x or 2.x");
  EXPECT_EQ(metadata_fault("Name: a\nVersion: 1\nRequires-Dist: b[\n"),
            "METADATA line 3: \"b[\" is no requirement: expected the name of an extra at byte 3");
  EXPECT_EQ(metadata_fault("Name: a\nSummary: \xFF\n"), "METADATA line 2: summary is no UTF-8");
}

TEST(Metadata, IsHeldAgainstTheFileName) {
  const auto wheel = parse_wheel_name("Foo_bar-1.0-py3-none-any.whl");
  ASSERT_TRUE(wheel);
  EXPECT_EQ(disagreement(*wheel, *parse_metadata("Name: foo.bar\nVersion: 1.0.0\n")), "");
  EXPECT_EQ(disagreement(*wheel, *parse_metadata("Name: foo\nVersion: 1.0\n")),
            "METADATA has the name \"foo\", the file \"foo-bar\"");
  EXPECT_EQ(disagreement(*wheel, *parse_metadata("Name: foo-bar\nVersion: 1.1\n")),
            "METADATA has the version \"1.1\", the file \"1.0\"");
}

TEST(WheelFile, HasRootTagsAndBuild) {
  const auto wheel = parse_wheel_file(
      "Wheel-Version: 1.0\nGenerator: bdist_wheel (0.37.1)\nRoot-Is-Purelib: False\n"
      "Tag: cp311-cp311-manylinux_2_17_x86_64\nTag: cp311-cp311-manylinux2014_x86_64\n"
      "Build: 02x\n\n");
  ASSERT_TRUE(wheel) << wheel.error().message;
  EXPECT_FALSE(wheel->root_is_purelib);
  EXPECT_THAT(wheel->tags, ElementsAre(Tag{"cp311", "cp311", "manylinux_2_17_x86_64"},
                                       Tag{"cp311", "cp311", "manylinux2014_x86_64"}));
  EXPECT_EQ(wheel->build, (BuildTag{"2", "x"}));
  EXPECT_TRUE(parse_wheel_file("Wheel-Version: 1.9\nRoot-Is-Purelib: true\n")->root_is_purelib);
}

TEST(WheelFile, RefusalsNameLineAndReason) {
  EXPECT_EQ(wheel_fault(""), "WHEEL: no Wheel-Version");
  EXPECT_EQ(wheel_fault("Wheel-Version: 1.0\n"), "WHEEL: no Root-Is-Purelib");
  EXPECT_EQ(wheel_fault("Wheel-Version: 2.0\n"),
            "WHEEL line 1: Wheel-Version \"2.0\", expected 1.x");
  EXPECT_EQ(wheel_fault("Wheel-Version: 1.0\nRoot-Is-Purelib: maybe\n"),
            "WHEEL line 2: Root-Is-Purelib \"maybe\", expected true or false");
  EXPECT_EQ(wheel_fault("Wheel-Version: 1.0\nTag: a-b\n"), "WHEEL line 2: \"a-b\" is no tag");
}

TEST(Metadata, FitsThePythonsThatItTakes) {
  const auto metadata = [](const std::string& takes) {
    return *parse_metadata("Name: a\nVersion: 1\n" +
                           (takes.empty() ? "" : "Requires-Python: " + takes + "\n"));
  };
  EXPECT_TRUE(fits_python(metadata(">=3.9,<3.12"), "3.11.7"));
  EXPECT_FALSE(fits_python(metadata(">=3.9,<3.12"), "3.12.0"));
  EXPECT_FALSE(fits_python(metadata(">=3.12"), "3.11.7"));
  EXPECT_TRUE(fits_python(metadata(">=3.13.0rc1"), "3.13.0rc2"));
  EXPECT_TRUE(fits_python(metadata(""), "3.11.7"));
  EXPECT_TRUE(fits_python(metadata("three or more"), "3.11.7")) << "as pip takes it";
}

TEST(EntryPoints, AreReadAsUtf8Alone) {
  using std::string_literals::operator""s;
  EXPECT_EQ(scripts_fault("\xFF\xFE[\0c\0]\0\n\0"s), "entry_points.txt is no UTF-8");
  EXPECT_EQ(scripts_fault("[\0c\0]\0\n\0"s), "entry_points.txt is no UTF-8");
  EXPECT_EQ(scripts_fault("[console_scripts]\n# \xE9\na = b:c\n"), "entry_points.txt is no UTF-8");
  const auto marked = parse_entry_points("\xEF\xBB\xBF[console_scripts]\na = b:c\n");
  ASSERT_TRUE(marked) << marked.error().message;
  EXPECT_THAT(*marked, ElementsAre(EntryPoint{"a", "b", "c", false}));
}

TEST(EntryPoints, AreTheScriptsAlone) {
  const auto scripts = parse_entry_points(
      "# made by hand\n[console_scripts]\nf2py = numpy.f2py.f2py2e:main\n torchrun=torch.run : "
      "Main.run [x]\n[pytest11]\na = not looked at\n[ gui_scripts ]\nidle = idlelib:go\n");
  ASSERT_TRUE(scripts) << scripts.error().message;
  EXPECT_THAT(*scripts, ElementsAre(EntryPoint{"f2py", "numpy.f2py.f2py2e", "main", false},
                                    EntryPoint{"torchrun", "torch.run", "Main.run", false},
                                    EntryPoint{"idle", "idlelib", "go", true}));
}

TEST(EntryPoints, NothingButNamesBecomesCode) {
  const std::string at = "entry_points.txt line 2: ";
  const auto fault = [](std::string_view line) {
    return scripts_fault("[console_scripts]\n" + std::string(line));
  };
  EXPECT_EQ(fault("a = b:c();import os"), at + "\"b:c();import os\" is no module:function");
  EXPECT_EQ(fault("a = b"), at + "\"b\" is no module:function");
  EXPECT_EQ(fault("a = 1b:c"), at + "\"1b:c\" is no module:function");
  EXPECT_EQ(fault("a = b..d:c"), at + "\"b..d:c\" is no module:function");
  EXPECT_EQ(fault("a = b:\xFF"), "entry_points.txt is no UTF-8");
  EXPECT_EQ(fault("../a = b:c"), at + "\"../a\" is no file name");
  EXPECT_EQ(fault(".. = b:c"), at + "\"..\" is no file name");
  EXPECT_EQ(fault(" = b:c"), at + "\"\" is no file name");
  EXPECT_EQ(fault("a"), at + "no \"=\" in \"a\"");
  EXPECT_EQ(fault("[a"), at + "unclosed \"[\"");
  EXPECT_EQ(fault("a = b:c\na = d:e"), "entry_points.txt line 3: script \"a\" stands there twice");
}

}  // namespace
}  // namespace goldenv::wheel

#include "launch/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>

#include "support/program.h"
#include "support/temp_dir.h"

namespace goldenv::launch {
namespace {

using testing::HasSubstr;
using testing::Not;
using Values = std::map<std::string, std::string>;

Environment environment() {
  return {.prefix = "/store/envs/abc",
          .name = "train",
          .digest = "abc",
          .python = "3.11",
          .has_toolkit = false,
          .variables = {}};
}

/// A plan that sets these, beside what it always sets.
Plan setting(const Values& values, const Environment& of = environment(), bool clean = false) {
  Choices choices;
  choices.clean = clean;
  for (const auto& [name, value] : values) {
    choices.set.push_back({name, value});
  }
  Result<Plan> made = plan(of, {{"LD_PRELOAD", "x"}, {"PYTHONPATH", "y"}}, choices);
  EXPECT_TRUE(made);
  return made ? *std::move(made) : Plan{};
}

std::string written(Format format, const Plan& plan, const Environment& of = environment()) {
  Result<std::string> text = write(format, of, plan);
  EXPECT_TRUE(text) << text.error().message;
  return text ? *std::move(text) : std::string();
}

std::string refusal(Format format, const Values& values) {
  const Result<std::string> text = write(format, environment(), setting(values));
  if (text) {
    return "(written)";
  }
  EXPECT_EQ(text.error().code, Errc::usage);
  return text.error().message;
}

/// Values that are hard for somebody, then random ones: any bytes but NUL.
std::vector<std::string> hard_values() {
  std::vector<std::string> values = {"",
                                     " ",
                                     "'",
                                     "''",
                                     "it's",
                                     "\"",
                                     "\\",
                                     "\\\\",
                                     "\\n",
                                     "\n",
                                     "\n\n",
                                     "a\n",
                                     "\na",
                                     "\r",
                                     "a\r",
                                     "\r\n",
                                     "\t",
                                     "$HOME",
                                     "${HOME}",
                                     "$(id)",
                                     "`id`",
                                     "%",
                                     "%h",
                                     "%%",
                                     "a b",
                                     " a ",
                                     "a=b",
                                     "=",
                                     "#x",
                                     ";x",
                                     "a;b&c|d",
                                     "*",
                                     "~",
                                     "!",
                                     "!!",
                                     "\x1b[31m",
                                     "\x7f",
                                     "\x01",
                                     "\x80",
                                     "\xff\xfe",
                                     "\xc3",
                                     "\xc3\xa9",
                                     "\xe2\x80\xae",
                                     "\xef\xbb\xbf",
                                     "\xf4\x8f\xba\x80",
                                     "\xf0\x9f\x98\x80",
                                     "\xed\xa0\x80",
                                     "\\x41",
                                     "\\101",
                                     "-n",
                                     "--",
                                     "a,b",
                                     "'\"'\"'",
                                     "\x1b\n\x1b",
                                     "x\x01\n",
                                     "\xef\xbf\xbe",
                                     "\xf4\x90\x80\x80",
                                     std::string(20000, '%'),
                                     std::string(3000, '\x01')};
  std::mt19937 random(20240601);
  std::uniform_int_distribution<int> length(0, 24);
  std::uniform_int_distribution<int> any(1, 255);
  const std::string odd = "'\"\\$`%\n\r\t #;=,!\x1b\x7f\x80\xc3\xa9";
  std::uniform_int_distribution<std::size_t> pick(0, odd.size() - 1);
  for (int i = 0; i < 300; ++i) {
    std::string value;
    for (int bytes = length(random); bytes > 0; --bytes) {
      const int byte = i % 3 == 0 ? any(random) : any(random) % 127 + 1;
      value += i % 3 == 1 ? odd[pick(random)] : static_cast<char>(byte);
    }
    values.push_back(value);
  }
  return values;
}

Values numbered(const std::vector<std::string>& values) {
  Values all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    all["V" + std::to_string(i)] = values[i];
  }
  return all;
}

/// What env -0 prints.
Values environ_of(const std::string& text) {
  Values values;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\0', at);
    const std::string entry = text.substr(at, end - at);
    values[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1);
    at = end + 1;
  }
  return values;
}

Values set_by(const Plan& plan) {
  Values values;
  for (const std::string& name : plan.set) {
    values[name] = *plan.find(name);
  }
  return values;
}

void expect_within(const Values& want, const Values& got) {
  for (const auto& [name, value] : want) {
    const auto found = got.find(name);
    ASSERT_NE(found, got.end()) << name;
    EXPECT_EQ(found->second, value) << name;
  }
}

/// What a shell has of the lines, run in it as it stands.
void expect_shell_round_trip(const std::string& shell, const std::string& text, const Plan& plan) {
  const test::TempDir temp;
  const std::string file = temp.file("lines", text);
  const test::Ended ended = test::run({{shell, "-c", ". \"$0\"; exec /usr/bin/env -0", file},
                                       std::map<std::string, std::string>{{"PATH", "/usr/bin:/bin"},
                                                                          {"LD_PRELOAD", ""},
                                                                          {"PYTHONPATH", "y"},
                                                                          {"LANG", "C.UTF-8"}}});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Values got = environ_of(ended.out);
  expect_within(set_by(plan), got);
  EXPECT_FALSE(got.contains("LD_PRELOAD"));
  EXPECT_FALSE(got.contains("PYTHONPATH"));
}

TEST(LaunchFormat, AnyBytesComeBackFromShells) {
  const Plan plan = setting(numbered(hard_values()));
  for (const std::string shell : {"/bin/sh", "/bin/bash"}) {
    expect_shell_round_trip(shell, written(Format::sh, plan), plan);
  }
}

TEST(LaunchFormat, AnyBytesComeBackFromABatchScript) {
  const test::TempDir temp;
  Environment here = environment();
  here.prefix = temp.folder("it's a\n$(folder)");
  const Plan plan = setting(numbered(hard_values()), here);
  expect_shell_round_trip("/bin/sh", written(Format::slurm, plan, here), plan);
}

TEST(LaunchFormat, ABatchScriptEndsOnANodeWithoutTheEnvironment) {
  const test::TempDir temp;
  const std::string file = temp.file("job", written(Format::slurm, setting({})) + "echo on\n");
  const test::Ended ended = test::run({{"/bin/sh", file}});
  EXPECT_EQ(ended.status, 125);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("goldenv: "));
}

TEST(LaunchFormat, ShellLinesShowNothingRawThatATerminalWouldObey) {
  const std::string text =
      written(Format::sh, setting({{"A", "\x1b[31m\xe2\x80\xae\x9b\t\r\x7f"}}));
  for (const char c : text) {
    EXPECT_TRUE((c >= ' ' && c <= '~') || c == '\n') << static_cast<int>(c);
  }
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted("caf\xc3\xa9"), "'caf\xc3\xa9'");
}

// An unquoter of its own, by the words of systemd.syntax(7) and systemd.unit(5) alone.
std::string unquoted_by_systemd(std::string_view text) {
  std::string value;
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') {
    return "(not quoted)";
  }
  text = text.substr(1, text.size() - 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      return "(quote within)";
    }
    if (text[i] != '\\') {
      value += text[i];
      continue;
    }
    const char c = text[++i];
    const std::string_view simple = "abfnrtv\\\"'s";
    const std::string_view meaning = "\a\b\f\n\r\t\v\\\"' ";
    if (const std::size_t at = simple.find(c); at != std::string_view::npos) {
      value += meaning[at];
    } else if (c == 'x') {
      value += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      return "(unknown escape)";
    }
  }
  std::string specified;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '%') {
      if (++i == value.size() || value[i] != '%') {
        return "(specifier)";
      }
    }
    specified += value[i];
  }
  return specified;
}

Values read_by_systemd(const std::string& text) {
  Values values;
  bool in_service = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line == "[Service]") {
      in_service = true;
    } else if (in_service && line.starts_with("Environment=")) {
      const std::string assignment = unquoted_by_systemd(line.substr(12));
      values[assignment.substr(0, assignment.find('='))] =
          assignment.substr(assignment.find('=') + 1);
    } else if (!line.starts_with('#')) {
      EXPECT_TRUE(line.starts_with("UnsetEnvironment=")) << line;
    }
  }
  return values;
}

// github.com/docker/cli, pkg/kvfile: the lines of Go's bufio.ScanLines, and what is done to each.
Values read_by_docker(const std::string& text) {
  Values values;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    at = end + 1;
    EXPECT_LT(line.size(), 65536u);
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    line.erase(0, line.find_first_not_of(" \t\v\f\r\n"));
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    const std::size_t equals = line.find('=');
    EXPECT_NE(equals, std::string::npos) << line;
    EXPECT_EQ(line.substr(0, equals).find_first_of(" \t"), std::string::npos);
    values[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return values;
}

TEST(LaunchFormat, WhatSystemdAndDockerCanCarryComesBackAndTheRestIsRefusedByName) {
  struct Reader {
    Format format;
    Values (*read)(const std::string& text);
    std::size_t carried = 0;
  };
  for (Reader reader :
       {Reader{Format::systemd, read_by_systemd}, Reader{Format::docker, read_by_docker}}) {
    for (const std::string& value : hard_values()) {
      const Plan plan = setting({{"VALUE", value}});
      const Result<std::string> text = write(reader.format, environment(), plan);
      if (text) {
        expect_within(set_by(plan), reader.read(*text));
        ++reader.carried;
      } else {
        EXPECT_THAT(text.error().message, HasSubstr("VALUE ("));
      }
    }
    EXPECT_GT(reader.carried, 100u);
  }
}

TEST(LaunchFormat, RefusalsSayWhy) {
  EXPECT_EQ(refusal(Format::docker, {{"A", "x\ny"}, {"B", "\r"}, {"C", "fine"}, {"D", "\xff"}}),
            "docker cannot carry A (a line end), B (a carriage return at its end), D (bytes that "
            "are no UTF-8); give another value by --set, or leave it out by --drop NAME");
  EXPECT_EQ(refusal(Format::docker, {{"A", "x\r\ry"}}), "(written)");
  EXPECT_THAT(refusal(Format::docker, {{"A", std::string(65536, 'x')}}), HasSubstr("longer"));
  EXPECT_EQ(refusal(Format::docker, {{"A", std::string(65533, 'x')}}), "(written)");
  EXPECT_THAT(refusal(Format::systemd, {{"A", "\xff"}}), HasSubstr("UTF-8"));
  EXPECT_THAT(refusal(Format::systemd, {{"A", "\xef\xbf\xbe"}}), HasSubstr("U+FFFE"));
  EXPECT_THAT(refusal(Format::systemd, {{"A", std::string(1u << 20, 'x')}}), HasSubstr("longer"));
  for (const Format format : {Format::sh, Format::slurm, Format::systemd, Format::docker}) {
    for (const char* name : {"a b", "1A", "A-B", "$(id)", "A\nB", "BASH_FUNC_x%%"}) {
      EXPECT_THAT(refusal(format, {{name, "x"}}), HasSubstr("not a name")) << name;
    }
  }
  EXPECT_EQ(refusal(Format::json, {{"$(id)", "\xff\n"}}), "(written)");
}

TEST(LaunchFormat, AnyBytesComeBackFromJson) {
  Values values = numbered(hard_values());
  values["$(odd) name"] = "x";
  const Plan plan = setting(values);
  const test::TempDir temp;
  const std::string file = temp.file("plan.json", written(Format::json, plan));
  // A character U+10FE80 to U+10FEFF stands for a byte, as in all of goldenv's JSON.
  const std::string script =
      "import json, os, sys\n"
      "def raw(s):\n"
      "  return b''.join(bytes([ord(c) - 0x10fe00]) if 0x10fe80 <= ord(c) <= 0x10feff\n"
      "                  else c.encode() for c in s)\n"
      "document = json.load(open(sys.argv[1], encoding='utf-8'))\n"
      "assert document['unset'] == ['LD_PRELOAD', 'PYTHONPATH'], document['unset']\n"
      "assert document['environment']['prefix'] == '/store/envs/abc'\n"
      "for name, value in document['set'].items():\n"
      "  sys.stdout.buffer.write(raw(name) + b'=' + raw(value) + b'\\0')\n";
  const test::Ended ended = test::run({{"/usr/bin/env", "python3", "-c", script, file}});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(environ_of(ended.out), set_by(plan));
}

TEST(LaunchFormat, WhatMustNotBeThereIsTakenAwayWhereAFormatCan) {
  const Plan plan = setting({}, environment(), true);
  const std::string unit = written(Format::systemd, plan);
  EXPECT_THAT(unit, HasSubstr("\nUnsetEnvironment=LD_LIBRARY_PATH\n"));
  EXPECT_THAT(unit, HasSubstr("\nUnsetEnvironment=CONDA_PREFIX\n"));
  EXPECT_THAT(unit, Not(HasSubstr("UnsetEnvironment=VIRTUAL_ENV\n")));
  EXPECT_THAT(unit, HasSubstr("\nEnvironment=\"PATH=/store/envs/abc/bin:/usr/local/sbin:"));
  const std::string file = written(Format::docker, plan);
  EXPECT_THAT(file, HasSubstr("\nLD_LIBRARY_PATH=\n"));
  EXPECT_THAT(file, Not(HasSubstr("CONDA_PREFIX")));
  EXPECT_THAT(written(Format::slurm, setting({})), HasSubstr("\nunset LD_LIBRARY_PATH\n"));
  EXPECT_THAT(written(Format::sh, setting({})), Not(HasSubstr("unset LD_LIBRARY_PATH\n")));
  EXPECT_THAT(written(Format::sh, setting({})), HasSubstr("unset LD_PRELOAD\n"));
  // What is set must not be unset.
  EXPECT_THAT(written(Format::systemd, setting({{"LD_LIBRARY_PATH", "/x"}})),
              Not(HasSubstr("UnsetEnvironment=LD_LIBRARY_PATH")));
}

TEST(LaunchFormat, AnOddFolderCannotLeaveItsComment) {
  Environment of = environment();
  of.prefix = "/store/envs/a\nrm -rf x";
  of.name = "b\nrm -rf y";
  const Plan plan = setting({}, of);
  for (const Format format : {Format::sh, Format::slurm, Format::systemd, Format::docker}) {
    const Result<std::string> text = write(format, of, plan);
    if (text) {
      EXPECT_TRUE(
          text->starts_with("# goldenv: the environment b?rm -rf y in "
                            "/store/envs/a?rm -rf x\n"));
    } else {
      EXPECT_EQ(format, Format::docker);
    }
  }
}

}  // namespace
}  // namespace goldenv::launch

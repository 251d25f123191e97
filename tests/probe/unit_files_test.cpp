#include "probe/unit_files.h"

#include <gtest/gtest.h>

#include "host/process.h"
#include "scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {

extern const Probe environment;
extern const Probe unit_environment;

namespace {

using test::FakeHost;
using test::told;

std::string text_of(const UnitEnvironment& environment) {
  std::string text;
  for (const SetVariable& variable : environment.variables) {
    text += variable.name + "=" + variable.value.value_or("?" + variable.why) + ";";
  }
  return text;
}

std::string of_unit(const FakeHost& host, const std::string& unit = "a.service",
                    const std::string& home = "") {
  return text_of(environment_of_unit(host, read_unit_files(host, unit, home), unit, home));
}

TEST(UnitWords, QuotesAndEscapesAreUndone) {
  EXPECT_EQ(unit_words("A=1 \"B=x y\" 'C=\"q\"'  D=\\x E=a\\tb"),
            (std::vector<std::string>{"A=1", "B=x y", "C=\"q\"", "D=x", "E=a\tb"}));
  EXPECT_EQ(unit_words("A=\"x y\" ''"), (std::vector<std::string>{"A=x y", ""}));
  EXPECT_TRUE(unit_words("  ").empty());
}

TEST(UnitFiles, EscapesOfWordsAreThoseOfC) {
  const auto word = [](std::string_view text) { return unit_words(text).at(0); };
  EXPECT_EQ(word(R"(eth\x30)"), "eth0");
  EXPECT_EQ(word(R"("eth\060")"), "eth0");
  EXPECT_EQ(word(R"(a\sb\tc\nd\\e)"), "a b\tc\nd\\e");
  EXPECT_EQ(word(R"('\u00e9\U0001f600\xFF')"), "\xc3\xa9\xf0\x9f\x98\x80\xff");
  // No escapes: too few digits, a NUL byte, half of a pair.
  EXPECT_EQ(word(R"(\x3)"), "x3");
  EXPECT_EQ(word(R"(\000)"), "000");
  EXPECT_EQ(word(R"(\ud800)"), "ud800");
  EXPECT_EQ(word(R"(\08)"), "08");
}

TEST(ParseEnvironmentFile, IsReadAsSystemdReadsIt) {
  const auto found = parse_environment_file(
      "# comment\n; too\nA=1\n B = x y  \nC=\"a b\"\nD='$x \\n'\nE=a\\\nb\nF=\"two\nlines\"\n"
      "no assignment\n1X=2\nG=\nH=\"q\\\"\\$\\n\"\nI=x#y",
      "/etc/default/a");
  std::string text;
  for (const SetVariable& variable : found) {
    text += variable.name + "=" + *variable.value + ";";
  }
  EXPECT_EQ(text, "A=1;B=x y;C=a b;D=$x \\n;E=ab;F=two\nlines;G=;H=q\"$\\n;I=x#y;");
  EXPECT_EQ(found[0].line, 3u);
  EXPECT_EQ(found.back().line, 15u);
}

TEST(UnitFiles, DropInsComeInTheOrderOfTheirNames) {
  FakeHost host;
  host.file("/usr/lib/systemd/system/a.service",
            "[Unit]\nEnvironment=NO=1\n[Service]\nEnvironment=A=1 B=1 \\\n C=1\nEnvironment=D=1\n")
      .file("/etc/systemd/system/a.service.d/50-x.conf", "[Service]\nEnvironment=A=etc50\n")
      .file("/run/systemd/system/a.service.d/40-y.conf", "[Service]\nEnvironment=A=run40 B=run40\n")
      .file("/run/systemd/system/a.service.d/50-x.conf", "[Service]\nEnvironment=A=hidden\n")
      .file("/usr/lib/systemd/system/service.d/10-all.conf", "[Service]\nEnvironment=D=all\n");
  EXPECT_EQ(of_unit(host), "A=etc50;B=run40;C=1;D=all;");
}

TEST(UnitFiles, TheFirstFolderHasTheUnit) {
  FakeHost host;
  host.file("/usr/lib/systemd/system/a.service", "[Service]\nEnvironment=A=usr\n")
      .file("/etc/systemd/system/a.service", "[Service]\nEnvironment=A=etc\n");
  EXPECT_EQ(of_unit(host), "A=etc;");
  EXPECT_FALSE(read_unit_files(host, "b.service", "").is_there());
}

TEST(UnitFiles, TemplatesAndSpecifiersAreOfTheInstance) {
  FakeHost host;
  host.file("/etc/systemd/system/v@.service",
            "[Service]\nEnvironment=I=%i N=%n P=%p Q=100%% T=%t\n");
  EXPECT_EQ(of_unit(host, "v@7b.service"), "I=7b;N=v@7b.service;P=v;Q=100%;T=?uses %t;");
}

TEST(UnitFiles, FilesOfVariablesWinAndAnEmptyAssignmentForgets) {
  FakeHost host;
  host.file("/etc/systemd/system/a.service",
            "[Service]\nEnvironment=A=1 B=1\nEnvironmentFile=/etc/one\nEnvironmentFile=\n"
            "EnvironmentFile=-/etc/none\nEnvironmentFile=/etc/two\nUnsetEnvironment=B C=3 D\n")
      .file("/etc/one", "A=one\n")
      .file("/etc/two", "A=two\nC=4\nD=5\n");
  EXPECT_EQ(of_unit(host), "A=two;C=4;");
}

TEST(UnitFiles, WildcardsNameFilesInOrder) {
  FakeHost host;
  host.file("/etc/systemd/system/a.service",
            "[Service]\nEnvironmentFile=-/etc/def*/gpu-[0-9].env\nEnvironmentFile=/etc/none*\n")
      .file("/etc/default/gpu-2.env", "A=2\nB=2\n")
      .file("/etc/default/gpu-1.env", "A=1\nC=1\n")
      .file("/etc/default/gpu-x.env", "D=1\n")
      .file("/etc/default/.gpu-3.env", "D=1\n");
  EXPECT_EQ(of_unit(host), "A=2;B=2;C=1;");
  host.deny("/etc/default");
  const auto found =
      environment_of_unit(host, read_unit_files(host, "a.service", ""), "a.service", "");
  ASSERT_EQ(found.unread.size(), 1u);
  EXPECT_EQ(found.unread[0].code, Errc::denied);
}

TEST(UnitFiles, WhatTheManagerPassesOnIsNotInFilesAndItsDefaultsAre) {
  FakeHost host;
  host.file("/etc/systemd/system.conf", "[Manager]\nDefaultEnvironment=A=0 B=0\n")
      .file("/usr/lib/systemd/system.conf", "[Manager]\nDefaultEnvironment=Z=1\n")
      .file("/etc/systemd/system.conf.d/10.conf", "[Manager]\nDefaultEnvironment=C=0\n")
      .file("/etc/systemd/system/a.service", "[Service]\nPassEnvironment=B D E\nEnvironment=D=1\n");
  const std::string why = "?what systemd itself has of it (PassEnvironment=);";
  EXPECT_EQ(of_unit(host), "A=0;B=" + why + "C=0;D=1;E=" + why);
  host.file("/home/me/.config/systemd/user/a.service", "[Service]\nPassEnvironment=B\n");
  EXPECT_EQ(of_unit(host, "a.service", "/home/me"), "");
}

TEST(UnitFiles, WhatCannotBeReadIsTold) {
  FakeHost host;
  host.file("/etc/systemd/system/a.service", "[Service]\nEnvironmentFile=/etc/closed\n")
      .deny("/etc/closed");
  const auto found =
      environment_of_unit(host, read_unit_files(host, "a.service", ""), "a.service", "");
  ASSERT_EQ(found.unread.size(), 1u);
  EXPECT_EQ(found.unread[0].code, Errc::denied);
}

TEST(UnitFiles, AMaskedUnitHasNothing) {
  FakeHost host;
  host.link("/etc/systemd/system/a.service", "/dev/null")
      .file("/dev/null", "")
      .file("/usr/lib/systemd/system/a.service", "[Service]\nEnvironment=A=1\n");
  EXPECT_TRUE(read_unit_files(host, "a.service", "").is_masked);
  EXPECT_EQ(of_unit(host), "");
}

TEST(UserManager, ExpandsWhatItHas) {
  FakeHost host;
  host.file("/home/me/.config/environment.d/20-b.conf", "B=${A}/b\nC=${X:-else}${A:+then}$A-\n")
      .file("/usr/lib/environment.d/10-a.conf", "A=/opt\n");
  EXPECT_EQ(text_of(environment_of_user_manager(host, "/home/me")),
            "A=/opt;B=/opt/b;C=elsethen/opt-;");
}

/// A unit of the user's, whose process sees less than the shell does.
std::unique_ptr<host::Host> service(bool runs) {
  auto machine = std::make_unique<FakeHost>();
  machine->set("CUDA_VISIBLE_DEVICES", "0")
      .file("/home/me/.config/systemd/user/j.service",
            "[Service]\nEnvironment=CUDA_VISIBLE_DEVICES=2 MY_TOKEN=x\n")
      .file("/home/me/.config/environment.d/a.conf", "CUDA_VISIBLE_DEVICES=1\n")
      .file("/proc/7/stat", "7 (x) S 1 7 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 1234 0 0 0\n")
      .file("/proc/7/environ", std::string("CUDA_VISIBLE_DEVICES=3\0", 23));
  host::Process about;
  about.unit = "j.service";
  about.name = "j.service";
  about.is_user_unit = true;
  about.home = "/home/me";
  if (!runs) {
    return host::host_without_process(std::move(machine), about, "is not running");
  }
  auto host = host::process_host(std::move(machine), 7, about);
  EXPECT_TRUE(host) << host.error().message;
  return *std::move(host);
}

TEST(UnitEnvironmentProbe, TheContextsStandSideBySide) {
  const auto host = service(true);
  const auto found = test::scan(*host, unit_environment);
  EXPECT_EQ(told(found, "env.CUDA_VISIBLE_DEVICES@shell"), "0");
  EXPECT_EQ(told(found, "env.CUDA_VISIBLE_DEVICES@user-manager"), "1");
  EXPECT_EQ(told(found, "env.CUDA_VISIBLE_DEVICES@user-unit:j"), "2");
  EXPECT_EQ(told(test::scan(*host, environment), "env.CUDA_VISIBLE_DEVICES"), "3");
  EXPECT_EQ(told(found, "env.MY_TOKEN@user-unit:j"), "not recorded");
}

TEST(UnitEnvironmentProbe, UnitsAreAnsweredOnAMachineWhenNamed) {
  FakeHost host;
  host.set("HOME", "/home/me")
      .file("/etc/systemd/system/slurmd.service", "[Service]\nEnvironment=NCCL_DEBUG=INFO\n")
      .file("/home/me/.config/systemd/user/j.service",
            "[Service]\nEnvironment=OMP_NUM_THREADS=4\n");
  const auto found =
      test::scan(host, unit_environment,
                 test::only({"env.NCCL_DEBUG@unit:slurmd", "env.OMP_NUM_THREADS@user-unit:j",
                             "env.NCCL_DEBUG@unit:none", "env.CUDA_HOME@unit:slurmd",
                             "env.NCCL_DEBUG@shell"}));
  EXPECT_EQ(told(found, "env.NCCL_DEBUG@unit:slurmd"), "INFO");
  EXPECT_EQ(told(found, "env.OMP_NUM_THREADS@user-unit:j"), "4");
  EXPECT_EQ(told(found, "env.NCCL_DEBUG@unit:none"), "absent (no such unit)");
  EXPECT_EQ(told(found, "env.CUDA_HOME@unit:slurmd"), "absent (not set there)");
  EXPECT_EQ(told(found, "env.NCCL_DEBUG@shell"), "not recorded");
}

TEST(UnitEnvironmentProbe, AUnitThatDoesNotRunHasItsFilesAlone) {
  const auto host = service(false);
  const auto found = test::scan(*host, unit_environment);
  EXPECT_EQ(told(found, "env.CUDA_VISIBLE_DEVICES@user-unit:j"), "2");
  EXPECT_EQ(told(test::scan(*host, environment), "env.CUDA_VISIBLE_DEVICES"), "unknown (not-live)");
}

}  // namespace
}  // namespace goldenv::probe

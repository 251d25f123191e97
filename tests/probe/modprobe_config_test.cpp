#include "probe/modprobe_config.h"

#include <gtest/gtest.h>

#include "scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
namespace {

std::string words_of(const host::Host& host, std::string_view module) {
  Survey survey(host, {});
  const auto& config = modprobe_config(survey);
  if (!config) {
    return "error";
  }
  std::string text;
  const auto options = config->options.find(module);
  if (options != config->options.end()) {
    for (const ModprobeSetting& setting : options->second) {
      text += setting.text + " " + setting.file + ":" + std::to_string(setting.line) + "\n";
    }
  }
  return text;
}

TEST(ModprobeConfig, FilesCountInTheOrderOfTheirNames) {
  test::FakeHost host;
  host.file("/usr/lib/modprobe.d/20-z.conf", "options nvidia a=1\n");
  host.file("/etc/modprobe.d/10-y.conf", "# comment\n\noptions nvidia b=2 c=3\n");
  host.file("/etc/modprobe.d/notes.txt", "options nvidia d=4\n");
  EXPECT_EQ(words_of(host, "nvidia"),
            "b=2 /etc/modprobe.d/10-y.conf:3\nc=3 /etc/modprobe.d/10-y.conf:3\n"
            "a=1 /usr/lib/modprobe.d/20-z.conf:1\n");
}

TEST(ModprobeConfig, AFileOfOneNameShadowsThoseOfLaterFolders) {
  test::FakeHost host;
  for (const std::string folder : {"/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"}) {
    host.file(folder + "/modprobe.d/nvidia.conf", "options nvidia from=" + folder + "\n");
  }
  EXPECT_EQ(words_of(host, "nvidia"), "from=/etc /etc/modprobe.d/nvidia.conf:1\n");
  host.link("/etc/modprobe.d/nvidia.conf", "/dev/null");
  host.folder("/dev/null");  // no regular file
  EXPECT_EQ(words_of(host, "nvidia"), "");
}

TEST(ModprobeConfig, LinesGoOnAndQuotesHoldBlanks) {
  ModprobeConfig config;
  parse_modprobe_file(
      "options nvidia-drm modeset=1 \\\n  fbdev=1\noptions nvidia NVreg_X=\"a b;c=1\" \"y=2 3\"\n"
      "options\noptions lonely\nblacklist nouveau\ninstall x-y /bin/false\nblacklist",
      "f", config);
  ASSERT_EQ(config.options["nvidia_drm"].size(), 2u);
  EXPECT_EQ(config.options["nvidia_drm"][1].text, "fbdev=1");
  ASSERT_EQ(config.options["nvidia"].size(), 2u);
  EXPECT_EQ(config.options["nvidia"][0].text, "NVreg_X=a b;c=1");
  EXPECT_EQ(config.options["nvidia"][0].line, 3u);
  EXPECT_EQ(config.options["nvidia"][1].text, "y=2 3");
  EXPECT_TRUE(config.blacklisted.contains("nouveau"));
  EXPECT_EQ(config.installs["x_y"].text, "/bin/false");
}

TEST(ModprobeConfig, WhatCannotBeReadIsAnError) {
  test::FakeHost file;
  file.file("/usr/lib/modprobe.d/a.conf", "options nvidia a=1\n");
  file.deny("/etc/modprobe.d/b.conf");
  EXPECT_EQ(words_of(file, "nvidia"), "error");
  EXPECT_EQ(words_of(test::FakeHost(), "nvidia"), "");
}

TEST(ModprobeConfig, InstallCommandsAreToldApart) {
  using Kind = InstallCommand::Kind;
  EXPECT_EQ(parse_install_command("/bin/false").kind, Kind::block);
  EXPECT_EQ(parse_install_command("/usr/bin/true").kind, Kind::block);
  EXPECT_EQ(parse_install_command("").kind, Kind::other);
  EXPECT_EQ(parse_install_command("/usr/local/sbin/load it").kind, Kind::other);
  EXPECT_EQ(parse_install_command("modprobe x").kind, Kind::other);
  const auto command = parse_install_command(
      "modprobe nvidia ; /sbin/modprobe -i nvidia-current-modeset $CMDLINE_OPTS");
  EXPECT_EQ(command.kind, Kind::redirect);
  EXPECT_EQ(command.module, "nvidia_current_modeset");
  EXPECT_EQ(parse_install_command("modprobe --ignore-install nvidia; nvidia-modprobe").module,
            "nvidia");
}

}  // namespace
}  // namespace goldenv::probe

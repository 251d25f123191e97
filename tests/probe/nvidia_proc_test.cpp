#include "probe/nvidia_proc.h"

#include <gtest/gtest.h>

#include "probe/compiler.h"

namespace goldenv::probe {
namespace {

TEST(NvidiaVersion, ProprietaryFormIsRead) {
  const auto module = parse_nvidia_version(
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\n"
      "GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04) \n");
  ASSERT_TRUE(module);
  EXPECT_EQ(*module, (NvidiaModule{"535.129.03", false, "x86_64", "gcc 11.4.0"}));
}

TEST(NvidiaVersion, TwoPartNumbersAreVersions) {
  const auto module = parse_nvidia_version(
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.135  Fri Jan 10 20:00:00 UTC 2025\n");
  ASSERT_TRUE(module);
  EXPECT_EQ(module->version, "550.135");
  EXPECT_EQ(module->compiler, "");
}

TEST(NvidiaVersion, OpenFormIsReadWithoutItsBuilder) {
  const auto module = parse_nvidia_version(
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  "
      "(dvs-builder@U22-I3-AE18-09-6)  Tue Sep 23 09:55:41 UTC 2025\n"
      "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)\n");
  ASSERT_TRUE(module);
  EXPECT_EQ(*module, (NvidiaModule{"580.95.05", true, "x86_64", "gcc 13.3.0"}));
}

TEST(NvidiaVersion, JetsonNumbersAreRead) {
  const auto module = parse_nvidia_version(
      "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  36.4.3  Release Build  (b@h)  "
      "Wed\n"
      "GCC version:  gcc version 11.3.0 (Buildroot 2022.08) \n");
  ASSERT_TRUE(module);
  EXPECT_EQ(*module, (NvidiaModule{"36.4.3", true, "aarch64", "gcc 11.3.0"}));
}

TEST(NvidiaVersion, GccLineWithoutVersionIsNoFailure) {
  const auto module = parse_nvidia_version(
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.223.02  Sat Oct  7 15:39:11 UTC 2023\n"
      "GCC version:  Selected multilib: .;@m64\n");
  ASSERT_TRUE(module);
  EXPECT_EQ(module->version, "470.223.02");
  EXPECT_EQ(module->compiler, "");
}

TEST(NvidiaVersion, TextsCutShortAreMalformed) {
  for (const std::string_view text :
       {"", "\n", "NVRM version:", "NVRM version: NVIDIA UNIX x86_64 Kernel Mod",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  ",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64",
        "GCC version:  gcc version 11.4.0"}) {
    const auto module = parse_nvidia_version(text);
    ASSERT_FALSE(module) << text;
    EXPECT_EQ(module.error().code, Errc::malformed);
  }
}

TEST(NvidiaLines, ParametersLoseTheirQuotes) {
  const auto found = parse_nvidia_lines(
      "ResmanDebugLevel: 4294967295\nEnableStreamMemOPs: 0\nRegistryDwords: \"\"\n"
      "RmMsg: \"a:b\"\nno colon here\n");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[1].first, "EnableStreamMemOPs");
  EXPECT_EQ(found[2].second, "");
  EXPECT_EQ(found[3].second, "a:b");
}

TEST(NvidiaLines, InformationHasMixedBlanks) {
  const auto found = parse_nvidia_lines("Model: \t\t NVIDIA A100-SXM4-80GB\nIRQ:   \t\t 274\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].second, "NVIDIA A100-SXM4-80GB");
}

TEST(CompilerName, FormsOfAllDistributionsAreRead) {
  struct Case {
    std::string_view text;
    std::string_view name;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40",
            "gcc 12.2.0"},
           {"x86_64-linux-gnu-gcc-11 (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0, GNU ld 2.38",
            "gcc 11.4.0"},
           {"gcc (GCC) 11.3.1 20220421 (Red Hat 11.3.1-2), GNU ld version 2.35.2-24.el9",
            "gcc 11.3.1"},
           {"gcc version 4.8.5 20150623 (Red Hat 4.8.5-44) (GCC) ", "gcc 4.8.5"},
           {"gcc version 7.5.0 (Ubuntu 7.5.0-3ubuntu1~18.04)", "gcc 7.5.0"},
           {"Ubuntu clang version 14.0.0-1ubuntu1.1, Ubuntu LLD 14.0.0", "clang 14.0.0"},
           {"clang version 17.0.6 (https://example.org/llvm (nested) abc), LLD 17.0.6",
            "clang 17.0.6"},
           {"rustc 1.75.0", ""},
           {"gcc", ""},
           {"gcc (unclosed 12.2.0", ""},
           {"", ""},
       }) {
    EXPECT_EQ(compiler_name(c.text), c.name) << c.text;
  }
}

}  // namespace
}  // namespace goldenv::probe

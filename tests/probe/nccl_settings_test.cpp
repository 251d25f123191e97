#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probe/probe.h"
#include "scan.h"
#include "torch_machine.h"

namespace goldenv::probe {
extern const Probe nccl_settings;
namespace {

using test::kSystemNccl;
using test::scan;
using test::told;
using test::TorchMachine;
using testing::Contains;

TEST(NcclSettingsProbe, TheUsersFileGoesBeforeTheSystems) {
  TorchMachine machine;
  machine.host.file("/etc/nccl.conf", "# cluster\nNCCL_DEBUG=WARN\nNCCL_IB_HCA=mlx5\n")
      .file("/home/me/.nccl.conf", "NCCL_DEBUG=INFO\nNCCL_DEBUG=TRACE\nno equals sign\n=x\n");
  const facts::Snapshot snapshot = scan(machine.host, nccl_settings);
  EXPECT_EQ(told(snapshot, "nccl.conf.NCCL_DEBUG"), "INFO");
  EXPECT_EQ(told(snapshot, "nccl.conf.NCCL_IB_HCA"), "mlx5");
  const facts::Evidence& evidence = snapshot.find({"nccl.conf.NCCL_DEBUG", ""})->evidence;
  EXPECT_EQ(evidence.from, "~/.nccl.conf");
  EXPECT_EQ(evidence.line, 1u);
  EXPECT_EQ(snapshot.find({"nccl.conf.NCCL_IB_HCA", ""})->evidence.line, 3u);
  EXPECT_THAT(snapshot.listed, Contains("nccl.conf"));
}

TEST(NcclSettingsProbe, AFileNamedByTheVariableStandsForTheUsers) {
  TorchMachine machine;
  machine.host.file("/home/me/.nccl.conf", "NCCL_DEBUG=INFO\n")
      .file("/data/nccl.conf", "NCCL_ALGO=Ring\n")
      .set("NCCL_CONF_FILE", "/data/nccl.conf")
      .set("NCCL_ALGO", "Tree");
  const facts::Snapshot snapshot = scan(machine.host, nccl_settings);
  EXPECT_EQ(told(snapshot, "nccl.conf.NCCL_DEBUG"), "not recorded");
  EXPECT_EQ(told(snapshot, "nccl.conf.NCCL_ALGO"), "Ring");
  EXPECT_THAT(snapshot.find({"nccl.conf.NCCL_ALGO", ""})->evidence.notes,
              Contains("the environment sets it too, and wins"));
}

TEST(NcclSettingsProbe, SecretsAreShownAsDigests) {
  TorchMachine machine;
  machine.host.file("/etc/nccl.conf", "AWS_SECRET_ACCESS_KEY=abc\nNCCL_NET=IB\nPATH=/x\n");
  const facts::Snapshot snapshot = scan(machine.host, nccl_settings);
  EXPECT_EQ(told(snapshot, "nccl.conf.AWS_SECRET_ACCESS_KEY"),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_TRUE(told(snapshot, "nccl.conf.PATH").starts_with("sha256:"));
  EXPECT_EQ(told(snapshot, "nccl.conf.NCCL_NET"), "IB");
}

TEST(NcclSettingsProbe, WhatIsPinnedAndNotSetIsAbsentOrUnknown) {
  TorchMachine machine;
  const Request request = test::only({"nccl.conf.NCCL_DEBUG"});
  EXPECT_EQ(told(machine.host, nccl_settings, "nccl.conf.NCCL_DEBUG", request),
            "absent (no file of NCCL's sets it)");
  machine.host.deny("/etc/nccl.conf");
  EXPECT_EQ(told(machine.host, nccl_settings, "nccl.conf.NCCL_DEBUG", request), "unknown (denied)");
  EXPECT_TRUE(scan(machine.host, nccl_settings).listed.empty());
}

TEST(NcclSettingsProbe, PluginsAreFoundByTheLoader) {
  TorchMachine machine;
  machine.library(kSystemNccl, "nccl_2_18_1")
      .library("/usr/lib/x86_64-linux-gnu/libnccl-net-ofi.so.1", "plain");
  EXPECT_EQ(told(machine.host, nccl_settings, "nccl.plugin.net"), "absent (built-in)");
  machine.host.link("/usr/lib/x86_64-linux-gnu/libnccl-net.so", "libnccl-net-ofi.so.1");
  EXPECT_EQ(told(machine.host, nccl_settings, "nccl.plugin.net"), "libnccl-net-ofi.so.1");
  EXPECT_EQ(told(machine.host, nccl_settings, "nccl.plugin.tuner"), "absent (built-in)");
}

TEST(NcclSettingsProbe, PluginsAreNamedByVariableAndFile) {
  TorchMachine machine;
  machine.library(kSystemNccl, "nccl_2_18_1").library("/opt/ofi/libnccl-net-ofi.so", "plain");
  machine.host.set("LD_LIBRARY_PATH", "/opt/ofi").set("NCCL_NET_PLUGIN", "ofi");
  EXPECT_EQ(told(machine.host, nccl_settings, "nccl.plugin.net"), "libnccl-net-ofi.so");
  machine.host.set("NCCL_NET_PLUGIN", "/opt/ofi/libnccl-net-ofi.so");
  EXPECT_EQ(told(machine.host, nccl_settings, "nccl.plugin.net"), "libnccl-net-ofi.so");
  machine.host.set("NCCL_NET_PLUGIN", "none");
  EXPECT_EQ(told(machine.host, nccl_settings, "nccl.plugin.net"), "absent (switched off)");
  machine.host.set("NCCL_NET_PLUGIN", "").file("/etc/nccl.conf", "NCCL_NET_PLUGIN=ofi\n");
  EXPECT_EQ(told(machine.host, nccl_settings, "nccl.plugin.net"), "libnccl-net-ofi.so");
}

TEST(NcclSettingsProbe, APluginThatMayNotBeReadIsUnknown) {
  TorchMachine machine;
  machine.library(kSystemNccl, "nccl_2_18_1");
  machine.host.deny("/usr/lib/x86_64-linux-gnu/libnccl-net.so");
  EXPECT_EQ(told(machine.host, nccl_settings, "nccl.plugin.net"), "unknown (denied)");
}

}  // namespace
}  // namespace goldenv::probe

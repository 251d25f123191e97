#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>

#include "host/recording.h"
#include "loader/cache_file.h"
#include "loader/elf_file.h"
#include "probe/nvml_report.h"
#include "probe/scan.h"
#include "support/fake_host.h"
#include "support/nvml_fixture.h"
#include "support/temp_dir.h"

namespace goldenv::probe {
extern const Probe nvml_facts;
namespace {

using nvml::Report;
using test::FakeHost;
using test::told;

constexpr const char* kLink = "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1";

/// Three GPUs whose driver is in memory, and a library that a loader finds.
struct Node : FakeHost {
  explicit Node(const std::string& kind = "good") {
    for (const char* bus : {"0000:07:00.0", "0000:0f:00.0", "0000:17:00.0"}) {
      const std::string pci = std::string("/sys/bus/pci/devices/") + bus;
      file(pci + "/class", "0x030200\n").file(pci + "/vendor", "0x10de\n");
      file(std::string("/proc/driver/nvidia/gpus/") + bus + "/information",
           "Model: \t\t NVIDIA A100-SXM4-80GB\nGPU UUID: \t GPU-1\nVideo BIOS: \t "
           "92.00.45.00.03\n");
    }
    file("/dev/nvidiactl", "").file("/bin/sh", test::elf_file({}));
    file("/etc/ld.so.cache", test::cache_file({{"libnvidia-ml.so.1", kLink, 0x0303, 0}}));
    const std::string library = test::nvml_fixture(kind);
    file(library, test::elf_file({.soname = "libnvidia-ml.so.1"}));
    link(kLink, library);
  }
};

TEST(NvmlFactsProbe, TheLibraryIsAsked) {
  const Node host;
  const auto found = test::scan(host, nvml_facts);
  EXPECT_EQ(told(found, "driver.nvml.status"), "ok");
  EXPECT_EQ(told(found, "cuda.driver_api"), "12.2");
  EXPECT_EQ(told(found, "gpu.ecc"), "false x 1, true x 2");
  EXPECT_EQ(told(found, "gpu.ecc@2"), "false");
  EXPECT_EQ(told(found, "gpu.memory"), "85899345920");
  EXPECT_EQ(told(found, "gpu.arch"), "Ampere");
  EXPECT_EQ(told(found, "gpu.part_number"), "692-2G506-0202-002");
  EXPECT_EQ(told(found, "gpu.persistence"), "true");
  EXPECT_EQ(told(found, "gpu.power_limit"), "400");
  EXPECT_EQ(told(found, "gpu.mig.instances@0"), "(none)");
  EXPECT_EQ(told(found, "gpu.mig.instances@2"), "1g.10gb: 2");
  EXPECT_EQ(told(found, "gpu.topology"), "NV12");
  EXPECT_EQ(told(found, "gpu.p2p"), "disabled x 1, ok x 2");
  EXPECT_EQ(told(found, "gpu.p2p@0-2"), "disabled");
  EXPECT_EQ(told(found, "gpu.confidential"), "absent (not supported by this system)");
  EXPECT_EQ(told(found, "gpu.errors"), "(none)");
  // What /proc tells is not asked again, and the bus says how many there are.
  EXPECT_EQ(told(found, "gpu.vbios"), "not recorded");
  EXPECT_EQ(told(found, "gpu.count"), "not recorded");
}

TEST(NvmlFactsProbe, AVideoBiosThatProcDoesNotKnowIsAskedFor) {
  Node host;
  host.file("/proc/driver/nvidia/gpus/0000:0f:00.0/information",
            "Model: \t\t NVIDIA A100-SXM4-80GB\nVideo BIOS: \t ??.??.??.??.??\n");
  const auto found = test::scan(host, nvml_facts, test::only({"gpu.vbios"}));
  EXPECT_EQ(told(found, "gpu.vbios"), "92.00.45.00.03 x 2, 92.00.45.00.0A x 1");
  EXPECT_EQ(told(found, "gpu.vbios@1"), "92.00.45.00.0A");
}

TEST(NvmlFactsProbe, AMismatchedLibraryLeavesAllElseOpen) {
  const Node host("mismatch");
  const auto found = test::scan(host, nvml_facts);
  EXPECT_EQ(told(found, "driver.nvml.status"), "version mismatch");
  EXPECT_EQ(told(found, "gpu.ecc"), "unknown (unreadable, needs nvml)");
  EXPECT_EQ(told(found, "gpu.topology"), "unknown (unreadable, needs nvml)");
  EXPECT_EQ(told(found, "cuda.driver_api"), "not recorded");
}

TEST(NvmlFactsProbe, OlderDriversAndLostGpusAreUnknown) {
  const auto old = test::scan(Node("old"), nvml_facts);
  EXPECT_EQ(told(old, "gpu.ecc@0"), "true");
  EXPECT_EQ(told(old, "gpu.mig"), "unknown (unsupported)");
  EXPECT_EQ(told(old, "gpu.topology@0-1"), "PIX");
  const auto lost = test::scan(Node("lost"), nvml_facts);
  EXPECT_EQ(told(lost, "driver.nvml.status"), "gpu lost");
  EXPECT_EQ(told(lost, "gpu.ecc@0"), "true");
  EXPECT_EQ(told(lost, "gpu.ecc@1"), "unknown (unreadable)");
  EXPECT_EQ(told(lost, "gpu.ecc"), "unknown (unreadable)");
  EXPECT_EQ(told(lost, "gpu.errors@1"), "gpu: GPU is lost");
  EXPECT_EQ(told(lost, "gpu.errors@2"), "(none)");
  EXPECT_EQ(told(lost, "gpu.p2p@0-1"), "unknown (unreadable)");
  EXPECT_EQ(told(lost, "gpu.p2p@0-2"), "disabled");
}

TEST(NvmlFactsProbe, ACrashLeavesWhatWasToldBefore) {
  const auto found = test::scan(Node("crashes"), nvml_facts);
  EXPECT_EQ(told(found, "driver.nvml.status"), "other");
  EXPECT_EQ(told(found, "cuda.driver_api"), "12.2");
  EXPECT_EQ(told(found, "gpu.ecc@0"), "true");
  EXPECT_EQ(told(found, "gpu.ecc@1"), "unknown (unreadable, needs nvml)");
  EXPECT_EQ(told(found, "gpu.ecc@2"), "unknown (unreadable, needs nvml)");
}

TEST(NvmlFactsProbe, WithoutADriverTheLibraryIsNotLoaded) {
  FakeHost bare;
  bare.folder("/sys/bus/pci/devices");
  const auto found = test::scan(bare, nvml_facts);
  EXPECT_EQ(told(found, "driver.nvml.status"), "absent (the NVIDIA driver is not loaded)");
  EXPECT_EQ(told(found, "gpu.ecc"), "absent (no GPU)");
  EXPECT_EQ(told(found, "gpu.topology"), "absent (no GPU)");
  FakeHost driverless;
  driverless.file("/sys/bus/pci/devices/0000:07:00.0/class", "0x030200\n")
      .file("/sys/bus/pci/devices/0000:07:00.0/vendor", "0x10de\n");
  EXPECT_EQ(told(driverless, nvml_facts, "gpu.ecc"), "unknown (not-probed, needs nvml)");
  // The node is missing where nothing has used the GPU since the boot; the library would make it.
  Node no_node("crashes");
  no_node.fail("/dev/nvidiactl", Errc::absent);
  EXPECT_EQ(told(no_node, nvml_facts, "driver.nvml.status"), "unknown (not-probed, needs nvml)");
  Node no_library;
  no_library.fail(kLink, Errc::absent);
  EXPECT_EQ(told(no_library, nvml_facts, "driver.nvml.status"), "library missing");
  EXPECT_EQ(told(no_library, nvml_facts, "gpu.ecc"), "unknown (not-probed, needs nvml)");
}

TEST(NvmlFactsProbe, TreesAreNotAsked) {
  Node host;
  host.live(false);
  EXPECT_EQ(told(host, nvml_facts, "gpu.ecc"), "unknown (not-live, needs nvml)");
  EXPECT_EQ(told(host, nvml_facts, "driver.nvml.status"), "unknown (not-live, needs nvml)");
  EXPECT_EQ(told(host, nvml_facts, "cuda.driver_api"), "not recorded");
}

TEST(NvmlFactsProbe, WhatIsNotWantedIsNotAsked) {
  // The library would take its child down at the second GPU.
  const Node host("crashes");
  const auto found = test::scan(host, nvml_facts, test::only({"driver.nvml.status"}));
  EXPECT_EQ(told(found, "driver.nvml.status"), "ok");
  EXPECT_EQ(found.facts.size(), 1u);
  EXPECT_TRUE(test::scan(host, nvml_facts, test::only({"driver", "gpu.name"})).facts.empty());
}

TEST(NvmlFactsProbe, UnderWindowsTheLibraryListsTheGpus) {
  FakeHost host;
  host.uname({"n", "5.15.153.1-microsoft-standard-WSL2", "#1", "x86_64"});
  host.file("/dev/dxg", "").file("/bin/sh", test::elf_file({}));
  host.file("/etc/ld.so.cache", test::cache_file({{"libnvidia-ml.so.1", kLink, 0x0303, 0}}));
  host.file(test::nvml_fixture("good"), test::elf_file({.soname = "libnvidia-ml.so.1"}));
  host.link(kLink, test::nvml_fixture("good"));
  const auto found = test::scan(host, nvml_facts);
  EXPECT_EQ(told(found, "driver"), "535.129.03");
  EXPECT_EQ(told(found, "gpu.count"), "3");
  EXPECT_EQ(told(found, "gpu.name"), "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(told(found, "gpu.bus@1"), "0000:0f:00.0");
  EXPECT_EQ(told(found, "gpu.vbios"), "92.00.45.00.0A");
  EXPECT_EQ(told(found, "gpu.vendor"), "nvidia");
}

TEST(NvmlFactsProbe, ARecordKeepsWhatTheLibraryAnswered) {
  const auto request = test::only({"gpu.ecc", "gpu.p2p", "driver.nvml.status"});
  const test::TempDir folder;
  host::Recorder recorder(
      std::make_unique<Node>("lost"),
      {[](std::string_view, std::string_view text) { return std::string(text); },
       [](std::string_view, std::string_view value) { return std::string(value); }});
  const auto told_then = test::scan(recorder.host(), nvml_facts, request);
  ASSERT_TRUE(recorder.write(folder.at("record")));
  const auto recorded = host::tree_host(folder.at("record"));
  ASSERT_TRUE(recorded);
  const auto told_now = test::scan(**recorded, nvml_facts, request);
  EXPECT_EQ(told(told_now, "driver.nvml.status"), "gpu lost");
  EXPECT_EQ(told(told_now, "gpu.ecc@2"), "false");
  EXPECT_EQ(told_now.facts, told_then.facts);
}

/// One GPU, and what a library said of it.
std::string told_of(const Report& report, std::string_view key) {
  FakeHost host;
  host.file("/sys/bus/pci/devices/0000:07:00.0/class", "0x030200\n")
      .file("/sys/bus/pci/devices/0000:07:00.0/vendor", "0x10de\n");
  Survey survey(host, {});
  add_report(survey, report, "/lib/libnvidia-ml.so.1");
  return told(std::move(survey).snapshot("@test"), key);
}

TEST(NvmlReport, ADeadlineIsTold) {
  const Report report{Report::End::timed_out, "nvmlInit", 0, "", {}};
  EXPECT_EQ(told_of(report, "driver.nvml.status"), "timed out");
  EXPECT_EQ(told_of(report, "gpu.ecc"), "unknown (timed-out, needs nvml)");
  EXPECT_EQ(told_of(report, "gpu.errors"), "unknown (timed-out, needs nvml)");
  EXPECT_EQ(told_of(report, "gpu.topology"), "absent (there is only one GPU)");
}

TEST(NvmlReport, CodesAreToldApart) {
  Report report{Report::End::complete,
                "",
                0,
                "",
                {{"0", "handle", 0, ""}, {"0", "bus", 0, "00000000:07:00.0"}}};
  const auto with = [&](int code) {
    Report changed = report;
    changed.answers.push_back({"0", "ecc", code, ""});
    return told_of(changed, "gpu.ecc");
  };
  EXPECT_EQ(with(3), "absent (not supported by this GPU)");
  EXPECT_EQ(with(4), "unknown (denied, needs root)");
  EXPECT_EQ(with(13), "unknown (unsupported)");
  EXPECT_EQ(with(17), "unknown (denied)");
  EXPECT_EQ(with(999), "unknown (unreadable)");
  EXPECT_EQ(with(0), "unknown (not-stated)");  // a success without a text
  for (const auto& [code, status] :
       std::initializer_list<std::pair<int, const char*>>{{9, "not loaded"},
                                                          {12, "library missing"},
                                                          {18, "version mismatch"},
                                                          {4, "no permission"},
                                                          {16, "reset required"},
                                                          {77, "other"}}) {
    EXPECT_EQ(told_of({Report::End::complete, "", code, "x", {}}, "driver.nvml.status"), status);
  }
}

}  // namespace
}  // namespace goldenv::probe

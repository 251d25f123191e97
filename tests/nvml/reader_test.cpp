#include "nvml/reader.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/nvml_fixture.h"

namespace goldenv::nvml {
namespace {

using std::chrono::milliseconds;
using test::nvml_fixture;

std::string said(const Report& report, std::string_view where, std::string_view name) {
  const Answer* answer = report.find(where, name);
  if (answer == nullptr) {
    return "not asked";
  }
  return answer->code == kSuccess ? answer->text : "code " + std::to_string(answer->code);
}

TEST(NvmlReader, EverythingIsAsked) {
  const Report report = read(nvml_fixture("good"), Depth::devices);
  EXPECT_EQ(report.end, Report::End::complete);
  EXPECT_EQ(report.code, kSuccess);
  EXPECT_EQ(said(report, "", "driver"), "535.129.03");
  EXPECT_EQ(said(report, "", "nvml"), "12.535.129.03");
  EXPECT_EQ(said(report, "", "cuda"), "12.2");
  EXPECT_EQ(said(report, "", "confidential"), "code 3");
  EXPECT_EQ(said(report, "", "count"), "3");
  EXPECT_EQ(said(report, "0", "bus"), "0000:07:00.0");
  EXPECT_EQ(said(report, "2", "bus"), "0000:17:00.0");
  EXPECT_EQ(said(report, "0", "name"), "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(said(report, "1", "uuid"), "GPU-10c1d");
  EXPECT_EQ(said(report, "0", "arch"), "Ampere");
  EXPECT_EQ(said(report, "0", "compute_capability"), "8.0");
  EXPECT_EQ(said(report, "0", "memory"), "85899345920");
  EXPECT_EQ(said(report, "0", "ecc"), "true");
  EXPECT_EQ(said(report, "2", "ecc"), "false");
  EXPECT_EQ(said(report, "2", "ecc.uncorrected"), "2");
  EXPECT_EQ(said(report, "0", "remapped_rows"), "3");
  EXPECT_EQ(said(report, "0", "persistence"), "true");
  EXPECT_EQ(said(report, "0", "compute_mode"), "exclusive process");
  EXPECT_EQ(said(report, "0", "power_limit"), "400");
  EXPECT_EQ(said(report, "0", "mig"), "disabled");
  EXPECT_EQ(said(report, "0", "mig.instances"), "");
  EXPECT_EQ(said(report, "2", "mig"), "enabled");
  EXPECT_EQ(said(report, "2", "mig.instances"), "1g.10gb=2");
  EXPECT_EQ(said(report, "0", "clocks.application"), "1593/1410");
  EXPECT_EQ(said(report, "0", "addressing_mode"), "hmm");
  EXPECT_EQ(said(report, "0", "fabric.state"), "completed");
  EXPECT_EQ(said(report, "0", "nvlink.active"), "12");
  EXPECT_EQ(said(report, "0-1", "topology"), "NV12");
  EXPECT_EQ(said(report, "0-1", "p2p"), "ok");
  EXPECT_EQ(said(report, "0-2", "p2p"), "disabled");
}

TEST(NvmlReader, WithoutDevicesNoGpuIsTouched) {
  const Report report = read(nvml_fixture("hangs_at_1"), Depth::system);
  EXPECT_EQ(report.end, Report::End::complete);
  EXPECT_EQ(said(report, "", "cuda"), "12.2");
  EXPECT_EQ(said(report, "0", "ecc"), "not asked");
}

TEST(NvmlReader, OlderDriversLackTheNewerFunctions) {
  const Report report = read(nvml_fixture("old"), Depth::devices);
  EXPECT_EQ(report.end, Report::End::complete);
  EXPECT_EQ(said(report, "", "driver"), "535.129.03");
  EXPECT_EQ(said(report, "", "cuda"), "code 13");
  EXPECT_EQ(said(report, "0", "ecc"), "true");
  EXPECT_EQ(said(report, "0", "mig"), "code 13");
  EXPECT_EQ(said(report, "0", "mig.instances"), "code 13");
  EXPECT_EQ(said(report, "0", "nvlink.active"), "code 13");
  EXPECT_EQ(said(report, "0-1", "topology"), "PIX");
  EXPECT_EQ(said(report, "1-2", "topology"), "SYS");
  EXPECT_EQ(said(report, "0-1", "p2p"), "code 13");
}

TEST(NvmlReader, AMismatchIsTold) {
  const Report report = read(nvml_fixture("mismatch"), Depth::devices);
  EXPECT_EQ(report.end, Report::End::complete);
  EXPECT_EQ(report.code, kVersionMismatch);
  EXPECT_EQ(report.problem, "Driver/library version mismatch");
  EXPECT_TRUE(report.answers.empty());
}

TEST(NvmlReader, ACallThatHangsCostsItsDeadline) {
  const Report report = read(nvml_fixture("hangs"), Depth::devices, milliseconds(200));
  EXPECT_EQ(report.end, Report::End::timed_out);
  EXPECT_EQ(report.doing, "nvmlInit");
}

TEST(NvmlReader, WhatWasAnsweredBeforeAHangIsKept) {
  const Report report = read(nvml_fixture("hangs_at_1"), Depth::devices, milliseconds(400));
  EXPECT_EQ(report.end, Report::End::timed_out);
  EXPECT_EQ(report.doing, "GPU 1");
  EXPECT_EQ(said(report, "", "driver"), "535.129.03");
  EXPECT_EQ(said(report, "0", "ecc"), "true");
  EXPECT_EQ(said(report, "1", "ecc"), "not asked");
}

TEST(NvmlReader, ACrashTakesTheChildAlone) {
  const Report report = read(nvml_fixture("crashes"), Depth::devices);
  EXPECT_EQ(report.end, Report::End::died);
  EXPECT_EQ(report.doing, "GPU 1");
  EXPECT_EQ(said(report, "0", "ecc"), "true");
}

TEST(NvmlReader, AGpuThatIsLostLeavesTheOthers) {
  const Report report = read(nvml_fixture("lost"), Depth::devices);
  EXPECT_EQ(report.end, Report::End::complete);
  EXPECT_EQ(said(report, "1", "handle"), "code 15");
  EXPECT_EQ(said(report, "1", "ecc"), "not asked");
  EXPECT_EQ(said(report, "2", "ecc"), "false");
  EXPECT_EQ(said(report, "0-1", "p2p"), "not asked");
  EXPECT_EQ(said(report, "0-2", "p2p"), "disabled");
}

TEST(NvmlReader, GarbageStaysWithinBounds) {
  const Report report = read(nvml_fixture("garbage"), Depth::devices);
  EXPECT_EQ(report.end, Report::End::complete);
  const std::string name = said(report, "0", "name");
  EXPECT_LT(name.size(), 600u);
  EXPECT_EQ(name.find_first_of("\n\t"), std::string::npos);
  EXPECT_EQ(said(report, "63", "handle"), "code 2");
  EXPECT_EQ(said(report, "64", "handle"), "not asked");
  EXPECT_EQ(said(report, "0", "arch"), "");
  EXPECT_EQ(said(report, "0", "compute_mode"), "77");
  EXPECT_EQ(said(report, "0", "fabric.state"), "200");
}

TEST(NvmlReader, WhatTheLibraryPrintsIsNotOurs) {
  testing::internal::CaptureStdout();
  const Report report = read(nvml_fixture("writes"), Depth::system);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(said(report, "", "driver"), "535.129.03");
}

TEST(NvmlReader, AFileThatIsNoLibraryIsNotLoaded) {
  for (const std::string& path : {std::string("/no/such/file"), std::string("/etc/passwd")}) {
    const Report report = read(path, Depth::devices);
    EXPECT_EQ(report.end, Report::End::complete);
    EXPECT_EQ(report.code, kLibraryNotFound);
    EXPECT_NE(report.problem, "");
  }
}

TEST(NvmlReport, EncodingIsReversible) {
  const Report report = read(nvml_fixture("good"), Depth::devices);
  const Result<Report> back = decode(encode(report));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, report);
}

TEST(NvmlReport, TornTextsAreNoReport) {
  for (const char* text : {"", "nvml 2\n", "nvml 1\nend\t9\t\n", "nvml 1\nanswer\t0\n",
                           "nvml 1\nend\tx\t\n", "nvml 1\n\n"}) {
    EXPECT_FALSE(decode(text)) << text;
  }
  const Result<Report> odd = decode("nvml 1\nanswer\t0\tecc\tx\t\x1b[31m\xff\n");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->answers[0].code, kUnknown);
  EXPECT_EQ(odd->answers[0].text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace goldenv::nvml

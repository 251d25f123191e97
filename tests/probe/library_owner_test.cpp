#include "probe/library_owner.h"

#include <gtest/gtest.h>

#include "torch_machine.h"

namespace goldenv {
namespace {

using probe::LibraryOwner;
using probe::Survey;
using test::kSystemNccl;
using test::TorchMachine;

constexpr std::string_view kWheels[] = {"nvidia_nccl"};
constexpr std::string_view kDebian[] = {"libnccl2"};
constexpr std::string_view kConda[] = {"nccl-"};
constexpr probe::PackageNames kNames{kWheels, kDebian, kConda};

/// Of a machine on which everything can be looked at.
std::vector<LibraryOwner> owners_of(Survey& survey, const std::string& path,
                                    const std::string& real_path,
                                    const probe::PackageNames& names) {
  probe::LibraryOwners owners = probe::library_owners(survey, path, real_path, names);
  EXPECT_TRUE(owners.unseen.empty());
  return std::move(owners.found);
}

TEST(LibraryOwner, WhatCouldNotBeReadIsTold) {
  TorchMachine machine;
  machine.wheel("nvidia_nccl_cu12", "2.18.1", "nvidia/nccl/lib/libnccl.so.2", "nccl_2_18_1");
  machine.host.deny(machine.site + "/nvidia_nccl_cu12-2.18.1.dist-info/RECORD");
  const std::string file = machine.site + "/nvidia/nccl/lib/libnccl.so.2";
  Survey survey(machine.host, {});
  const auto owners = probe::library_owners(survey, file, file, kNames);
  EXPECT_EQ(owners.found.size(), 1u);
  ASSERT_EQ(owners.unseen.size(), 1u);
  EXPECT_EQ(owners.unseen.front().code, Errc::denied);
}

TEST(LibraryOwner, DistInfoFoldersSplitAtTheLastDash) {
  EXPECT_EQ(probe::parse_dist_info("nvidia_nccl_cu12-2.18.1.dist-info"),
            (std::pair<std::string, std::string>("nvidia_nccl_cu12", "2.18.1")));
  EXPECT_EQ(probe::parse_dist_info("~orch-2.1.0.dist-info"), std::nullopt);
  EXPECT_EQ(probe::parse_dist_info("torch.dist-info"), std::nullopt);
  EXPECT_EQ(probe::parse_dist_info("-1.dist-info"), std::nullopt);
  EXPECT_EQ(probe::parse_dist_info("torch-2.1.0"), std::nullopt);
}

TEST(LibraryOwner, WheelsOfOneLibraryDifferInTheCudaSuffix) {
  EXPECT_TRUE(probe::is_wheel_of("nvidia_nccl_cu12", "nvidia_nccl"));
  EXPECT_TRUE(probe::is_wheel_of("nvidia_cuda_runtime", "nvidia_cuda_runtime"));
  EXPECT_FALSE(probe::is_wheel_of("nvidia_nccl_test", "nvidia_nccl"));
  EXPECT_FALSE(probe::is_wheel_of("nvidia_cublas_cu", "nvidia_cublas"));
}

TEST(LibraryOwner, RecordStatesSizes) {
  constexpr std::string_view kRecord =
      "nvidia/nccl/include/nccl.h,sha256=Brk0,25657\r\n"
      "nvidia/nccl/lib/libnccl.so.2,sha256=x,217995896\n"
      "\"odd,name\",sha256=y,1\n"
      "nvidia_nccl_cu12-2.18.1.dist-info/RECORD,,\n";
  EXPECT_EQ(probe::size_in_record(kRecord, "libnccl.so.2").value_or(0), 217995896u);
  EXPECT_EQ(probe::size_in_record(kRecord, "nccl.h").value_or(0), 25657u);
  EXPECT_FALSE(probe::size_in_record(kRecord, "RECORD"));
  EXPECT_FALSE(probe::size_in_record(kRecord, "libcudnn.so.9"));
  EXPECT_FALSE(probe::size_in_record("", "x"));
}

TEST(LibraryOwner, VersionsStandBehindSo) {
  EXPECT_EQ(probe::version_in_name("libcudart.so.12.2.140"), "12.2.140");
  EXPECT_EQ(probe::version_in_name("libcudart.so.12"), "12");
  EXPECT_EQ(probe::version_in_name("libcudart.so"), "");
  EXPECT_EQ(probe::version_in_name("libx.so.1..2"), "");
  EXPECT_EQ(probe::version_in_name("libx.so.1."), "");
  EXPECT_EQ(probe::version_in_name("libx.so.1-gdb.py"), "");
}

TEST(LibraryOwner, DebianVersionsHaveThreeParts) {
  using Parts = std::pair<std::string, std::string>;
  EXPECT_EQ(probe::debian_parts("2.18.3-1+cuda12.1"), (Parts{"2.18.3", "1+cuda12.1"}));
  EXPECT_EQ(probe::debian_parts("1:14.0.6-12"), (Parts{"14.0.6", "12"}));
  EXPECT_EQ(probe::debian_parts("3.25"), (Parts{"3.25", ""}));
}

TEST(LibraryOwner, AWheelOwnsWhatItsRecordLists) {
  TorchMachine machine;
  machine.wheel("nvidia_nccl_cu12", "2.18.1", "nvidia/nccl/lib/libnccl.so.2", "nccl_2_18_1");
  const std::string file = machine.site + "/nvidia/nccl/lib/libnccl.so.2";
  Survey survey(machine.host, {});
  const auto owners = owners_of(
      survey, machine.site + "/torch/lib/../../nvidia/nccl/lib/libnccl.so.2", file, kNames);
  ASSERT_EQ(owners.size(), 1u);
  EXPECT_EQ(owners[0], (LibraryOwner{"nvidia_nccl_cu12", "2.18.1", "",
                                     machine.site + "/nvidia_nccl_cu12-2.18.1.dist-info", false}));
}

TEST(LibraryOwner, OfTwoWheelsTheOneOfTheFilesSizeComesFirst) {
  TorchMachine machine;
  machine.wheel("nvidia_nccl_cu12", "2.28.9", "nvidia/nccl/lib/libnccl.so.2", "nccl_2_18_1", 99)
      .wheel("nvidia_nccl_cu13", "2.29.7", "nvidia/nccl/lib/libnccl.so.2", "nccl_2_19_3");
  const std::string file = machine.site + "/nvidia/nccl/lib/libnccl.so.2";
  Survey survey(machine.host, {});
  const auto owners = owners_of(survey, file, file, kNames);
  ASSERT_EQ(owners.size(), 2u);
  EXPECT_EQ(owners[0].version, "2.29.7");
  EXPECT_FALSE(owners[0].is_other_file);
  EXPECT_EQ(owners[1].version, "2.28.9");
  EXPECT_TRUE(owners[1].is_other_file);
}

TEST(LibraryOwner, DebianPackagesOwnWhatTheirListNames) {
  TorchMachine machine;
  machine.library("/usr/lib/x86_64-linux-gnu/libnccl.so.2.18.3", "nccl_2_18_1");
  machine.host
      .file("/var/lib/dpkg/status",
            "Package: libnccl2\nStatus: install ok installed\nArchitecture: amd64\n"
            "Version: 2.18.3-1+cuda12.1\n\n"
            "Package: libnccl2-old\nStatus: deinstall ok config-files\nArchitecture: amd64\n"
            "Version: 2.4.8-1\n\n")
      .file("/var/lib/dpkg/info/libnccl2.list", "/.\n/usr/lib/x86_64-linux-gnu/libnccl.so.2.18.3\n")
      .file("/var/lib/dpkg/info/libnccl2-old.list",
            "/usr/lib/x86_64-linux-gnu/libnccl.so.2.18.3\n");
  Survey survey(machine.host, {});
  const auto owners =
      owners_of(survey, kSystemNccl, "/usr/lib/x86_64-linux-gnu/libnccl.so.2.18.3", kNames);
  ASSERT_EQ(owners.size(), 1u);
  EXPECT_EQ(owners[0],
            (LibraryOwner{"libnccl2", "2.18.3", "1+cuda12.1", "/var/lib/dpkg/status", false}));
  EXPECT_TRUE(owners_of(survey, "/usr/lib/x86_64-linux-gnu/libnccl.so.2.19.3",
                        "/usr/lib/x86_64-linux-gnu/libnccl.so.2.19.3", kNames)
                  .empty());
}

TEST(LibraryOwner, CondaPackagesOwnWhatTheirListNames) {
  TorchMachine machine;
  machine.library("/opt/conda/lib/libnccl.so.2.18.3", "nccl_2_18_1");
  machine.host
      .file("/opt/conda/conda-meta/nccl-2.18.3.1-h12f7317_0.json",
            R"({"files": ["include/nccl.h", "lib/libnccl.so.2.18.3"], "name": "nccl"})")
      .file("/opt/conda/conda-meta/nccl-tests-2.13-0.json", R"({"files": ["bin/all_reduce"]})");
  Survey survey(machine.host, {});
  const auto owners = owners_of(survey, "/opt/conda/lib/libnccl.so.2.18.3",
                                "/opt/conda/lib/libnccl.so.2.18.3", kNames);
  ASSERT_EQ(owners.size(), 1u);
  EXPECT_EQ(owners[0],
            (LibraryOwner{"nccl", "2.18.3.1", "h12f7317_0",
                          "/opt/conda/conda-meta/nccl-2.18.3.1-h12f7317_0.json", false}));
}

}  // namespace
}  // namespace goldenv

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probe/cuda_folder.h"
#include "probe/probe.h"
#include "scan.h"
#include "torch_machine.h"

namespace goldenv::probe {
extern const Probe cuda_toolkit;
namespace {

using test::scan;
using test::told;
using test::TorchMachine;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using Parts = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kJson121 = R"json({"cuda": {"name": "CUDA SDK", "version": "12.1.1"},
  "cuda_cudart": {"name": "CUDA Runtime (cudart)", "version": "12.1.105"}})json";

/// /usr/local/cuda -> cuda-12.1 as the run file installs it.
struct Usual : TorchMachine {
  Usual() {
    library("/usr/local/cuda-12.1/bin/nvcc", "nvcc_12_1");
    host.file("/usr/local/cuda-12.1/version.json", kJson121)
        .link("/usr/local/cuda", "/usr/local/cuda-12.1");
  }
};

TEST(VersionJson, ComponentsHaveVersions) {
  EXPECT_EQ(parse_version_json(kJson121), (Parts{{"cuda", "12.1.1"}, {"cuda_cudart", "12.1.105"}}));
  EXPECT_EQ(parse_version_json(R"({"a": {"version": "1", "x": {"version": "2"}}, "version": "3"})"),
            (Parts{{"a", "1"}}));
  for (const char* broken : {"", "[", "}", R"({"cuda": {"version": "12)", R"({"cuda": {"version")",
                             R"({"cuda": {"version": "12.1.1"})", "\"", "{\"a\\"}) {
    EXPECT_EQ(parse_version_json(broken), Parts{}) << broken;
  }
}

TEST(CudaRelease, PartsOfOneReleaseDecideIt) {
  EXPECT_EQ(facts::describe(release_of_parts({{"cuda_cudart", "12.1.105"}}).reading), "12.1.1");
  EXPECT_EQ(facts::describe(release_of_parts({{"cuda_nvcc", "13.0.88"}}).reading),
            "13.0.1 or 13.0.2 or 13.0.3");
  EXPECT_EQ(facts::describe(
                release_of_parts({{"cuda_nvcc", "13.0.88"}, {"libcublas", "13.1.0.3"}}).reading),
            "13.0.2");
  EXPECT_EQ(facts::describe(release_of_parts({{"cuda_nvcc", "11.4.315"}}).reading), "11.4...");
  EXPECT_TRUE(std::holds_alternative<facts::Unknown>(release_of_parts({}).reading));
  EXPECT_THAT(release_of_parts({{"cuda_cudart", "12.1.105"}}).basis,
              HasSubstr("cuda_cudart 12.1.105"));
}

TEST(CudaRelease, MixedPartsAreToldOneByOne) {
  const CudaReleaseReading mixed =
      release_of_parts({{"cuda_cudart", "12.6.77"}, {"libcublas", "12.1.3.1"}});
  EXPECT_TRUE(mixed.is_mixed);
  EXPECT_TRUE(std::holds_alternative<facts::Unknown>(mixed.reading));
  EXPECT_EQ(mixed.notes.size(), 2u);
}

TEST(CudaToolkitProbe, TheLinkedToolkitIsRead) {
  const facts::Snapshot snapshot = scan(Usual().host, cuda_toolkit);
  EXPECT_EQ(told(snapshot, "cuda.toolkit"), "12.1.1");
  EXPECT_EQ(told(snapshot, "cuda.toolkit.nvcc"), "12.1.105");
  EXPECT_EQ(told(snapshot, "cuda.toolkit.path"), "/usr/local/cuda-12.1");
  EXPECT_EQ(told(snapshot, "cuda.toolkit.link"), "/usr/local/cuda-12.1");
  EXPECT_EQ(told(snapshot, "cuda.toolkit.copies"), "12.1.1: 1");
  EXPECT_EQ(told(snapshot, "cuda.toolkit@/usr/local/cuda-12.1"), "12.1.1");
  EXPECT_EQ(snapshot.find({"cuda.toolkit", ""})->evidence.from,
            "/usr/local/cuda-12.1/version.json");
}

TEST(CudaToolkitProbe, EveryHopOfTheLinkIsEvidence) {
  Usual machine;
  machine.host.link("/usr/local/cuda", "/etc/alternatives/cuda")
      .link("/etc/alternatives/cuda", "/usr/local/cuda-12.1");
  const facts::Snapshot snapshot = scan(machine.host, cuda_toolkit);
  EXPECT_EQ(told(snapshot, "cuda.toolkit.link"), "/usr/local/cuda-12.1");
  EXPECT_THAT(snapshot.find({"cuda.toolkit.link", ""})->evidence.notes,
              ElementsAre("/usr/local/cuda", "/etc/alternatives/cuda", "/usr/local/cuda-12.1"));
}

TEST(CudaToolkitProbe, ALinkToNothingEndsWhereItPoints) {
  TorchMachine machine;
  machine.host.link("/usr/local/cuda", "/etc/alternatives/cuda")
      .link("/etc/alternatives/cuda", "/usr/local/cuda-11.8");
  const facts::Snapshot snapshot = scan(machine.host, cuda_toolkit);
  EXPECT_EQ(told(snapshot, "cuda.toolkit.link"), "/usr/local/cuda-11.8");
  EXPECT_THAT(snapshot.find({"cuda.toolkit.link", ""})->evidence.notes,
              Contains("nothing is there"));
  EXPECT_EQ(told(snapshot, "cuda.toolkit"),
            "absent (no CUDA_HOME, no nvcc on PATH, no /usr/local/cuda)");
}

TEST(CudaToolkitProbe, NoLinkIsAbsentAndAFolderIsItself) {
  TorchMachine machine;
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.toolkit.link"), "absent (no such link)");
  machine.host.file("/usr/local/cuda/version.json", kJson121);
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.toolkit.link"), "/usr/local/cuda");
  machine.host.deny("/usr/local/cuda");
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.toolkit.link"), "unknown (denied)");
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.toolkit"), "unknown (denied)");
}

TEST(CudaToolkitProbe, VariablesGoBeforeThePathBeforeTheLink) {
  Usual machine;
  machine.library("/opt/cuda-12.4/bin/nvcc", "nvcc_12_1");
  machine.host.file("/opt/cuda-12.4/version.json", R"({"cuda": {"version": "12.4.1"}})")
      .file("/opt/cuda-12.4/bin/nvcc.profile", "")
      .set("PATH", "/opt/cuda-12.4/bin:/usr/bin");
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.toolkit"), "12.4.1");
  machine.host.set("CUDA_PATH", "/usr/local/cuda");
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.toolkit"), "12.1.1");
  machine.host.set("CUDA_HOME", "/opt/cuda-12.4");
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.toolkit"), "12.4.1");
  machine.host.set("CUDA_HOME", "/gone");
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.toolkit"),
            "absent (CUDA_HOME is /gone, which is not there)");
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.toolkit.copies"), "12.1.1: 1, 12.4.1: 1");
}

TEST(CudaToolkitProbe, DebiansWrapperLeadsToItsToolkit) {
  TorchMachine machine;
  machine.library("/usr/lib/nvidia-cuda-toolkit/bin/nvcc", "nvcc_12_1");
  machine.host
      .file("/usr/bin/nvcc", "#!/bin/sh\nexec /usr/lib/nvidia-cuda-toolkit/bin/nvcc \"$@\"\n")
      .file("/var/lib/dpkg/status",
            "Package: nvidia-cuda-toolkit\nStatus: install ok installed\nArchitecture: amd64\n"
            "Version: 12.1.105~12.1.1-5\n\n");
  const facts::Snapshot snapshot = scan(machine.host, cuda_toolkit);
  EXPECT_EQ(told(snapshot, "cuda.toolkit.path"), "/usr/lib/nvidia-cuda-toolkit");
  EXPECT_EQ(told(snapshot, "cuda.toolkit.nvcc"), "12.1.105");
  EXPECT_EQ(told(snapshot, "cuda.toolkit"), "12.1.1");
}

TEST(CudaToolkitProbe, DatesInVersionJsonAreNoRelease) {
  TorchMachine machine;
  machine.host.file("/usr/local/cuda/version.json",
                    R"({"cuda": {"version": "11.8.20220929"}, "cuda_cudart": {"version": "11.8.89"},
                        "libcublas": {"version": "11.11.3.6"}})");
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.toolkit"), "11.8.0");
}

TEST(CudaToolkitProbe, OldReleasesAreNamedByTheirText) {
  TorchMachine machine;
  machine.host.file("/usr/local/cuda/version.txt", "CUDA Version 10.2.89\n");
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.toolkit"), "10.2.89");
  TorchMachine later;
  later.host.file("/usr/local/cuda/version.txt", "CUDA Version 11.0.228\n");
  EXPECT_EQ(told(later.host, cuda_toolkit, "cuda.toolkit"), "11.0...");
}

TEST(CudaToolkitProbe, FileNamesGiveTheReleaseByTable) {
  TorchMachine machine;
  machine.host.file("/usr/local/cuda/include/cuda.h", "#define CUDA_VERSION 12010\n")
      .file("/usr/local/cuda/lib64/libcudart.so.12.1.105", "")
      .file("/usr/local/cuda/lib64/libcublas.so.12.1.3.1", "");
  const facts::Snapshot snapshot = scan(machine.host, cuda_toolkit);
  EXPECT_EQ(told(snapshot, "cuda.toolkit"), "12.1.1");
  EXPECT_THAT(snapshot.find({"cuda.toolkit", ""})->evidence.basis, HasSubstr("table of 20"));
}

TEST(CudaToolkitProbe, ATreeMadeOfWheelsIsReadByItsDistInfo) {
  TorchMachine machine;
  machine.host.file("/usr/local/cuda/include/cuda.h", "#define CUDA_VERSION 13000\n")
      .file("/usr/local/cuda/dist-info/nvidia_cublas-13.1.0.3.dist-info/RECORD", "")
      .file("/usr/local/cuda/dist-info/nvidia_cuda_runtime-13.0.96.dist-info/RECORD", "");
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.toolkit"), "13.0.2");
}

TEST(CudaToolkitProbe, TheHeaderAloneNamesNoUpdate) {
  TorchMachine machine;
  machine.host.file("/usr/local/cuda/include/cuda.h", "#define  CUDA_VERSION  12010\n");
  const facts::Snapshot snapshot = scan(machine.host, cuda_toolkit);
  EXPECT_EQ(told(snapshot, "cuda.toolkit"), "12.1...");
  EXPECT_EQ(told(snapshot, "cuda.toolkit.nvcc"), "absent (no nvcc in it)");
}

TEST(CudaToolkitProbe, AVersionFileThatMayNotBeReadIsUnknown) {
  Usual machine;
  machine.host.deny("/usr/local/cuda-12.1/version.json");
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.toolkit"), "unknown (denied)");
}

TEST(CudaToolkitProbe, AnEmptyLeftOverIsNoToolkit) {
  Usual machine;
  machine.host.file("/usr/local/cuda-11.8/compat/libcuda.so.520.61.05", "");
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.toolkit.copies"), "12.1.1: 1");
}

TEST(CudaToolkitProbe, AFolderThatMayNotBeReadLeavesTheCountOpen) {
  Usual machine;
  machine.host.deny("/opt");
  const facts::Snapshot snapshot = scan(machine.host, cuda_toolkit);
  EXPECT_EQ(told(snapshot, "cuda.toolkit.copies"), "unknown (denied)");
  EXPECT_EQ(told(snapshot, "cuda.toolkit"), "12.1.1");
}

TEST(CudaToolkitProbe, WrittenOutFoldersBesideTheLinkAreListed) {
  Usual machine;
  machine.host.file("/usr/local/cuda-11.8/include/cuda.h", "")
      .file("/etc/profile.d/cuda.sh",
            "# was /usr/local/cuda-10.0\nexport PATH=\"/usr/local/cuda-11.8/bin:$PATH\"\n")
      .file("/etc/ld.so.conf.d/cuda.conf", "/usr/local/cuda-9.0/lib64/\n")
      .file("/home/me/.bashrc", "export CUDA_HOME=/usr/local/cuda-12.1\n")
      .set("LD_LIBRARY_PATH", "/usr/local/cuda-11.7/lib64:/usr/local/cuda/lib64");
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.hardcoded"),
            "$LD_LIBRARY_PATH: /usr/local/cuda-11.7/lib64, "
            "/etc/ld.so.conf.d/cuda.conf: /usr/local/cuda-9.0/lib64, "
            "/etc/profile.d/cuda.sh: /usr/local/cuda-11.8/bin");
  EXPECT_EQ(told(Usual().host, cuda_toolkit, "cuda.hardcoded"),
            "absent (none is written out wrongly)");
}

TEST(CudaToolkitProbe, UnitsWriteFoldersOutAsWell) {
  Usual machine;
  machine.host.file("/etc/systemd/system/train.service",
                    "[Service]\nEnvironment=LD_LIBRARY_PATH=/usr/local/cuda-10.2/lib64\n");
  machine.host.file("/etc/systemd/system/slurmd.service.d/cuda.conf",
                    "[Service]\n# /usr/local/cuda-9.0\nExecStart=/usr/local/cuda-9.1/bin/x\n");
  machine.host.link("/etc/systemd/system/vendor.service", "/usr/lib/systemd/system/vendor.service");
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.hardcoded"),
            "/etc/systemd/system/slurmd.service.d/cuda.conf: /usr/local/cuda-9.1/bin/x, "
            "/etc/systemd/system/train.service: /usr/local/cuda-10.2/lib64");
  machine.host.deny("/etc/systemd/user");
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.hardcoded"), "unknown (denied)");
}

TEST(CudaToolkitProbe, AStartupFileThatMayNotBeReadLeavesItOpen) {
  Usual machine;
  machine.host.deny("/etc/environment");
  EXPECT_EQ(told(machine.host, cuda_toolkit, "cuda.hardcoded"), "unknown (denied)");
}

}  // namespace
}  // namespace goldenv::probe

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probe/python_machine.h"
#include "probe/scan.h"

namespace goldenv::probe {
extern const Probe torch;
namespace {

using test::PythonMachine;
using test::told;
using testing::Contains;

const std::string kSite = "/usr/local/lib/python3.11/site-packages";

struct Machine : PythonMachine {
  Machine() {
    python("/usr/local", "3.11.7");
    host.folder(kSite);
  }
  Machine& with(const std::string& version, const std::string& cuda = "'12.1'") {
    torch(kSite, version, cuda);
    return *this;
  }
  Machine& metadata(const std::string& version, const std::string& text) {
    host.file(kSite + "/torch-" + version + ".dist-info/METADATA", text);
    return *this;
  }
  facts::Snapshot scan(Request request = {}) const {
    return test::scan(host, probe::torch, std::move(request));
  }
  std::string told(std::string_view key, Request request = {}) const {
    return test::told(host, probe::torch, key, std::move(request));
  }
};

Request asking(std::string python) {
  Request request;
  request.python = std::move(python);
  return request;
}

TEST(TorchProbe, ItsOwnFileSaysWhatItIs) {
  Machine machine;
  machine.with("2.1.2+cu121");
  const auto found = machine.scan();
  EXPECT_EQ(told(found, "torch"), "2.1.2+cu121");
  EXPECT_EQ(told(found, "torch.cuda"), "12.1");
  EXPECT_EQ(told(found, "torch.rocm"), "absent (a build without ROCm)");
  EXPECT_EQ(told(found, "torch.git"), "6c8c5ad5eaf47a62fafbb4a2747198cbffbf1ff0");
  EXPECT_EQ(told(found, "torch.origin"), "wheel");
  EXPECT_EQ(told(found, "torch.copies"), "2.1.2+cu121: 1");
  EXPECT_EQ(told(found, "torch@/usr/local"), "2.1.2+cu121");
  EXPECT_EQ(told(found, "torch.cuda@/usr/local"), "12.1");
  const facts::Fact* fact = found.find({"torch", ""});
  EXPECT_EQ(fact->evidence.from, kSite + "/torch/version.py");
  EXPECT_EQ(fact->evidence.line, 3u);
  EXPECT_THAT(fact->evidence.notes, Contains("the python3 on PATH holds torch"));
}

TEST(TorchProbe, TheDefaultWheelsShortNameIsNoContradiction) {
  Machine machine;
  machine.with("2.2.1+cu121");
  machine.host.fail(kSite + "/torch-2.2.1+cu121.dist-info", Errc::absent);
  machine.package(kSite, "torch-2.2.1");
  const auto found = machine.scan();
  EXPECT_EQ(told(found, "torch"), "2.2.1+cu121");
  for (const std::string& note : found.find({"torch", ""})->evidence.notes) {
    EXPECT_THAT(note, testing::Not(testing::StartsWith("but ")));
  }
}

TEST(TorchProbe, FilesOfOneVersionUnderTheNameOfAnotherAreNoted) {
  Machine machine;
  machine.with("2.2.1");
  machine.host.fail(kSite + "/torch-2.2.1.dist-info", Errc::absent);
  machine.package(kSite, "torch-2.1.0");
  const auto found = machine.scan();
  EXPECT_EQ(told(found, "torch"), "2.2.1");
  EXPECT_THAT(found.find({"torch", ""})->evidence.notes,
              Contains("but " + kSite + "/torch-2.1.0.dist-info says 2.1.0"));
}

TEST(TorchProbe, CpuAndRocmBuildsHaveNoCuda) {
  Machine machine;
  machine.with("2.1.2+cpu", "None");
  EXPECT_EQ(machine.told("torch.cuda"), "absent (a build without CUDA)");
  EXPECT_EQ(machine.told("torch.nccl"), "absent (a build without CUDA)");
  machine.host.file(kSite + "/torch/version.py",
                    "__version__ = '2.0.1+rocm5.4.2'\ncuda = None\nhip = '5.4.22803-474e8620'\n");
  EXPECT_EQ(machine.told("torch.rocm"), "5.4.22803-474e8620");
  EXPECT_EQ(machine.told("torch.git"), "unknown (not-stated)");
}

TEST(TorchProbe, AFileThatSaysNothingIsUnknownAndNotAbsent) {
  Machine machine;
  machine.with("2.1.2");
  for (const char* text : {"", "__version__ = '2.1", "import x\n"}) {
    machine.host.file(kSite + "/torch/version.py", text);
    EXPECT_EQ(machine.told("torch"), "unknown (not-stated)");
    EXPECT_EQ(machine.told("torch.cuda"), "unknown (not-stated)");
  }
  machine.host.deny(kSite + "/torch/version.py");
  EXPECT_EQ(machine.told("torch"), "unknown (denied)");
  EXPECT_EQ(machine.told("torch.copies"), "unknown (denied)");
  machine.host.fail(kSite + "/torch/version.py", Errc::absent);
  EXPECT_EQ(machine.told("torch"), "unknown (unreadable)");
}

TEST(TorchProbe, NoTorchIsAbsentWithTheReason) {
  Machine machine;
  EXPECT_EQ(machine.told("torch"), "absent (not in /usr/local)");
  EXPECT_EQ(machine.told("torch.cuda"), "absent (not in /usr/local)");
  EXPECT_EQ(machine.told("torch.copies"), "absent (no Python found holds torch)");
  EXPECT_EQ(machine.told("triton.ptxas"), "absent (triton is not installed)");
  machine.package(kSite, "torch-2.1.2");
  EXPECT_EQ(machine.told("torch"),
            "absent (torch-2.1.2.dist-info is in " + kSite + ", the package is not)");
}

TEST(TorchProbe, BehindADeniedFolderNoTorchIsUnknown) {
  Machine machine;
  machine.host.set("PYTHONPATH", "/root/code").deny("/root/code");
  EXPECT_EQ(machine.told("torch"), "unknown (denied)");
  machine.with("2.1.2");
  EXPECT_EQ(machine.told("torch"), "2.1.2");
}

TEST(TorchProbe, AnotherPythonsTorchIsNamed) {
  Machine machine;
  machine.venv("/home/u/venv", "3.11.7", "/usr/local/bin");
  machine.torch("/home/u/venv/lib/python3.11/site-packages", "2.0.1", "'11.7'");
  const auto found = machine.scan(asking("/usr/local"));
  EXPECT_EQ(told(found, "torch"),
            "absent (not in /usr/local; torch@~/venv 2.0.1 exists, use --python)");
  EXPECT_EQ(told(found, "torch@~/venv"), "2.0.1");
  EXPECT_EQ(told(found, "torch.cuda@~/venv"), "11.7");
  EXPECT_EQ(told(found, "torch.copies"), "2.0.1: 1");
}

TEST(TorchProbe, TwoTorchesAndNoWordOnWhichAreAmbiguous) {
  Machine machine;
  for (const char* prefix : {"/opt/venv", "/home/u/venv"}) {
    machine.venv(prefix, "3.11.7", "/usr/local/bin");
    machine.torch(std::string(prefix) + "/lib/python3.11/site-packages", "2.0.1");
  }
  const auto found = machine.scan();
  for (const char* key : {"torch", "torch.cuda", "torch.origin", "triton.ptxas"}) {
    EXPECT_EQ(told(found, key), "unknown (ambiguous)") << key;
  }
  EXPECT_EQ(told(found, "torch.copies"), "2.0.1: 2");
}

TEST(TorchProbe, CopiesAreNoCountWhereOneMoreCouldStand) {
  for (const char* place :
       {"/opt/conda", "/opt/conda/lib", "/opt/conda/lib/python3.12", "/opt/conda/bin",
        "/home/u/.pyenv/versions", "/home/u/.conda/environments.txt", "/opt/venv/pyvenv.cfg"}) {
    for (const auto& [code, word] :
         {std::pair{Errc::denied, "denied"}, std::pair{Errc::timed_out, "timed-out"}}) {
      Machine machine;
      machine.with("2.1.2").python("/opt/conda", "3.12.1");
      machine.host.fail(place, code);
      const auto found = machine.scan();
      EXPECT_EQ(told(found, "torch.copies"), "unknown (" + std::string(word) + ")") << place;
      EXPECT_EQ(told(found, "torch"), "2.1.2") << place;
      EXPECT_THAT(facts::describe(found.find({"torch.copies", ""})->reading),
                  testing::AllOf(testing::HasSubstr(place), testing::HasSubstr("2.1.2")));
    }
  }
  // A Python without torch whose packages could not all be seen.
  Machine machine;
  machine.with("2.1.2").python("/opt/conda", "3.12.1");
  machine.host.deny("/opt/conda/lib/python3.12/site-packages");
  EXPECT_EQ(machine.told("torch.copies"), "unknown (denied)");
}

TEST(TorchProbe, AVenvThatSeesItsBasesTorchIsNoSecondCopy) {
  Machine machine;
  machine.with("2.1.2");
  machine.venv("/opt/venv", "3.11.7", "/usr/local/bin");
  machine.host.file("/opt/venv/pyvenv.cfg",
                    "home = /usr/local/bin\ninclude-system-site-packages = true\n");
  const auto found = machine.scan();
  EXPECT_EQ(told(found, "torch@/opt/venv"), "2.1.2");
  EXPECT_EQ(told(found, "torch.copies"), "2.1.2: 1");
}

TEST(TorchProbe, WhatTheMetadataAsksFor) {
  Machine machine;
  machine.with("2.2.1+cu121")
      .metadata("2.2.1+cu121",
                "Name: torch\nVersion: 2.2.1+cu121\nRequires-Dist: filelock\n"
                "Requires-Dist: nvidia-cudnn-cu12 ==8.9.2.26 ; platform_system == \"Linux\" and "
                "platform_machine == \"x86_64\"\n"
                "Requires-Dist: nvidia-nccl-cu12 ==2.19.3 ; platform_system == \"Linux\" and "
                "platform_machine == \"x86_64\"\n");
  EXPECT_EQ(machine.told("torch.nccl"), "2.19.3");
  EXPECT_EQ(machine.told("torch.cudnn"), "8.9.2.26");
  machine.host.uname({"n", "6.1.0", "v", "aarch64"});
  EXPECT_EQ(machine.told("torch.nccl"), "unknown (not-stated)");
}

TEST(TorchProbe, OfTwoMetadataFoldersTheOneThatAgreesWithTheFiles) {
  Machine machine;
  machine.with("2.2.1").metadata("2.2.1", "Requires-Dist: nvidia-nccl-cu12==2.19.3\n");
  machine.metadata("2.1.0", "Requires-Dist: nvidia-nccl-cu12==2.18.1\n");
  EXPECT_EQ(machine.told("torch.nccl"), "2.19.3");
}

TEST(TorchProbe, OriginsOfBuilds) {
  const std::string meta = "/opt/conda/conda-meta/pytorch-2.1.2-py3.11_cuda12.1_cudnn8.9.2_0.json";
  Machine source;
  source.with("2.2.0a0+git1a2b3c4");
  EXPECT_EQ(source.told("torch.origin"), "source");

  Machine edited;
  edited.with("2.2.0");
  edited.host.file(kSite + "/torch-2.2.0.dist-info/direct_url.json",
                   R"({"url": "file:///src", "dir_info": {"editable": true}})");
  EXPECT_EQ(edited.told("torch.origin"), "source");

  Machine bare;
  bare.with("2.2.0");
  bare.host.fail(kSite + "/torch-2.2.0.dist-info", Errc::absent);
  EXPECT_EQ(bare.told("torch.origin"), "unknown (not-stated)");

  PythonMachine conda;
  conda.python("/opt/conda", "3.11.5").torch("/opt/conda/lib/python3.11/site-packages", "2.1.2");
  conda.host.file(meta, "").set("CONDA_PREFIX", "/opt/conda");
  const auto found = test::scan(conda.host, probe::torch);
  EXPECT_EQ(told(found, "torch.origin"), "conda");
  EXPECT_EQ(told(found, "torch.cudnn"), "8.9.2");
  EXPECT_EQ(told(found, "torch.nccl"), "unknown (not-stated)");

  PythonMachine debian;
  debian.python("/usr", "3.11.2").torch("/usr/lib/python3/dist-packages", "1.13.1", "None");
  EXPECT_EQ(told(debian.host, probe::torch, "torch.origin"), "system");
}

TEST(TorchProbe, NvidiasContainersNameTheirRelease) {
  Machine machine;
  machine.with("2.1.0a0+32f93b1", "'12.2'");
  EXPECT_EQ(machine.told("ngc.release"), "absent (NVIDIA_PYTORCH_VERSION is not set)");
  machine.host.set("NVIDIA_PYTORCH_VERSION", "23.10");
  EXPECT_EQ(machine.told("ngc.release"), "23.10");
  EXPECT_EQ(machine.told("torch.origin"), "ngc");
  test::FakeHost tree;
  tree.live(false);
  EXPECT_EQ(told(tree, probe::torch, "ngc.release"), "unknown (not-live)");
}

TEST(TorchProbe, TheBuildsCmakeFileNamesItsAbi) {
  Machine machine;
  machine.with("2.1.2");
  EXPECT_EQ(machine.told("torch.cxx11_abi"), "unknown (not-stated)");
  const std::string file = kSite + "/torch/share/cmake/Torch/TorchConfig.cmake";
  machine.host.file(file, "  set(TORCH_CXX_FLAGS \"-D_GLIBCXX_USE_CXX11_ABI=0\")\n");
  EXPECT_EQ(machine.told("torch.cxx11_abi"), "false");
  machine.host.file(file, "set(TORCH_CXX_FLAGS \"-D_GLIBCXX_USE_CXX11_ABI=1\")");
  EXPECT_EQ(machine.told("torch.cxx11_abi"), "true");
  machine.host.file(file, "-D_GLIBCXX_USE_CXX11_ABI=");
  EXPECT_EQ(machine.told("torch.cxx11_abi"), "unknown (not-stated)");
}

TEST(TorchProbe, TritonsPtxasIsReadAndNotRun) {
  Machine machine;
  const std::string ptxas = kSite + "/triton/backends/nvidia/bin/ptxas";
  machine.host.file(kSite + "/triton/__init__.py", "");
  EXPECT_EQ(machine.told("triton.ptxas"), "absent (this triton bundles no ptxas)");
  machine.host.file(ptxas, "no ELF file");
  EXPECT_EQ(machine.told("triton.ptxas"), "unknown (unreadable)");
  machine.host.deny(ptxas);
  EXPECT_EQ(machine.told("triton.ptxas"), "unknown (denied)");
}

TEST(TorchProbe, OnlyWhatIsAskedForIsAnswered) {
  Machine machine;
  machine.with("2.1.2");
  const auto found = machine.scan(test::only({"torch.cuda"}));
  EXPECT_EQ(told(found, "torch.cuda"), "12.1");
  EXPECT_EQ(told(found, "torch"), "not recorded");
}

}  // namespace
}  // namespace goldenv::probe

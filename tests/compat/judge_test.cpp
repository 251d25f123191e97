#include <gtest/gtest.h>

#include <string>

#include "compat/compat.h"
#include "compat/rule.h"
#include "facts/snapshot.h"

namespace goldenv::compat {
namespace {

using tables::Confidence;

/// What the rule of that name says of a set, of the key that asks; a failure where it says nothing.
Answer answer(const Set& versions, std::string_view rule, std::string_view key = {}) {
  for (Answer& one : judge(versions)) {
    if (one.rule == rule &&
        (key.empty() || one.of.front().key == key || one.of.back().key == key)) {
      EXPECT_FALSE(one.reason.empty());
      EXPECT_FALSE(one.source.empty()) << rule;
      EXPECT_EQ(one.as_of.size(), 10u) << rule;
      return one;
    }
  }
  ADD_FAILURE() << rule << " says nothing of " << key;
  return {};
}

bool is_silent(const Set& versions, std::string_view rule) {
  for (const Answer& one : judge(versions)) {
    if (one.rule == rule) {
      return false;
    }
  }
  return true;
}

Set driver_and_cuda(std::string_view driver, std::string_view cuda) {
  return Set().add("driver", driver).add("cuda", cuda);
}

TEST(CudaDriver, TakesTheDriverOfTheReleaseAndAnyNewerOne) {
  EXPECT_EQ(answer(driver_and_cuda("530.30.02", "12.1.1"), "cuda-driver").verdict,
            Verdict::compatible);
  EXPECT_EQ(answer(driver_and_cuda("580.95.05", "11.8.0"), "cuda-driver").verdict,
            Verdict::compatible);
  // Before 11 there was no minor-version compatibility.
  EXPECT_EQ(answer(driver_and_cuda("440.33", "10.2.89"), "cuda-driver").verdict,
            Verdict::compatible);
  EXPECT_EQ(answer(driver_and_cuda("418.39", "10.2.89"), "cuda-driver").verdict,
            Verdict::incompatible);
}

TEST(CudaDriver, WithinAMajorTheFloorIsEnough) {
  const Answer within = answer(driver_and_cuda("525.60.13", "12.8.1"), "cuda-driver");
  EXPECT_EQ(within.verdict, Verdict::compatible);
  EXPECT_NE(within.reason.find("minor-version compatibility"), std::string::npos);
  EXPECT_NE(within.reason.find("570.124.06"), std::string::npos) << within.reason;
  EXPECT_EQ(answer(driver_and_cuda("525.60.12", "12.8.1"), "cuda-driver").verdict,
            Verdict::incompatible);
  EXPECT_EQ(answer(driver_and_cuda("575.57.08", "13.0.0"), "cuda-driver").verdict,
            Verdict::incompatible);
  // 11.0 came with a driver older than the floor of its major.
  EXPECT_EQ(answer(driver_and_cuda("450.51.05", "11.0.2"), "cuda-driver").verdict,
            Verdict::compatible);
  EXPECT_EQ(answer(driver_and_cuda("450.51.05", "11.1.0"), "cuda-driver").verdict,
            Verdict::incompatible);
}

TEST(CudaDriver, AForwardCompatibilityPackageLeavesItOpen) {
  Set versions = driver_and_cuda("535.129.03", "13.0.2");
  EXPECT_EQ(answer(versions, "cuda-driver").verdict, Verdict::incompatible);
  versions.add("driver.libcuda", "580.95.05");
  EXPECT_EQ(answer(versions, "cuda-driver").verdict, Verdict::unknown);
  EXPECT_EQ(answer(versions, "cuda-driver").confidence, Confidence::guess);
  // One that is itself too old helps nobody.
  versions.put("driver.libcuda", "550.54.14");
  EXPECT_EQ(answer(versions, "cuda-driver").verdict, Verdict::incompatible);
}

TEST(CudaDriver, AReleaseOfNoTableGoesByItsMajorAndElseIsUnknown) {
  EXPECT_EQ(answer(driver_and_cuda("525.60.13", "12.99"), "cuda-driver").verdict,
            Verdict::compatible);
  EXPECT_EQ(answer(driver_and_cuda("525.60.13", "14.0.0"), "cuda-driver").verdict,
            Verdict::unknown);
  EXPECT_EQ(answer(driver_and_cuda("not a version", "12.1.1"), "cuda-driver").verdict,
            Verdict::unknown);
  // No release 12.7 was published; drivers of branch 565 say so of themselves.
  EXPECT_EQ(answer(driver_and_cuda("565.57.01", "12.7"), "cuda-driver").verdict,
            Verdict::compatible);
}

TEST(CudaDriver, AlsoOfWhatNcclWasBuiltWith) {
  const Set versions = Set().add("driver", "535.129.03").add("nccl.cuda", "13.0");
  EXPECT_EQ(answer(versions, "cuda-driver", "nccl.cuda").verdict, Verdict::incompatible);
}

TEST(DriverUserland, IsOfTheModulesVersion) {
  Set versions = Set().add("driver", "535.129.03").add("driver.libcuda", "535.129.03");
  EXPECT_EQ(answer(versions, "driver-userland").verdict, Verdict::compatible);
  versions.put("driver.libcuda", "535.104.05");
  EXPECT_EQ(answer(versions, "driver-userland").verdict, Verdict::incompatible);
  // A newer libcuda may be that of a forward compatibility package.
  versions.put("driver.libcuda", "550.54.14");
  EXPECT_EQ(answer(versions, "driver-userland").verdict, Verdict::unknown);
  versions.add("driver.nvml", "550.54.14");
  EXPECT_EQ(answer(versions, "driver-userland", "driver.nvml").verdict, Verdict::incompatible);
  versions.add("driver.fabricmanager", "535.129.03");
  EXPECT_EQ(answer(versions, "driver-userland", "driver.fabricmanager").verdict,
            Verdict::compatible);
}

TEST(KernelModules, AreForOneRelease) {
  Set versions =
      Set().add("kernel", "5.15.0-91-generic").add("kernel.headers", "5.15.0-91-generic");
  EXPECT_EQ(answer(versions, "kernel-modules").verdict, Verdict::compatible);
  versions.put("kernel.headers", "5.15.0-92-generic");
  EXPECT_EQ(answer(versions, "kernel-modules").verdict, Verdict::incompatible);
}

TEST(NcclCuda, WasPublishedForMajors) {
  const auto verdict = [](std::string_view nccl, std::string_view cuda) {
    return answer(Set().add("nccl", nccl).add("cuda", cuda), "nccl-cuda").verdict;
  };
  EXPECT_EQ(verdict("2.18.1", "12.1.1"), Verdict::compatible);
  EXPECT_EQ(verdict("2.21.5", "11.8.0"), Verdict::compatible);
  EXPECT_EQ(verdict("2.22.3", "11.8.0"), Verdict::incompatible);
  EXPECT_EQ(verdict("2.26.6", "13.0.2"), Verdict::incompatible);
  EXPECT_EQ(verdict("2.27.7", "13.0.2"), Verdict::compatible);
  EXPECT_EQ(verdict("2.14.3", "12.1.1"), Verdict::incompatible);
  EXPECT_EQ(verdict("1.3.4", "8.0.61"), Verdict::unknown);
}

TEST(CudnnCuda, WasPublishedForMajors) {
  const auto verdict = [](std::string_view cudnn, std::string_view cuda) {
    return answer(Set().add("python.package.nvidia-cudnn-cu12", cudnn).add("cuda", cuda),
                  "cudnn-cuda")
        .verdict;
  };
  EXPECT_EQ(verdict("8.9.2.26", "12.1.1"), Verdict::compatible);
  EXPECT_EQ(verdict("9.10.2.21", "11.8.0"), Verdict::compatible);
  EXPECT_EQ(verdict("9.11.0.98", "11.8.0"), Verdict::incompatible);
  EXPECT_EQ(verdict("9.12.0.46", "13.0.2"), Verdict::compatible);
  EXPECT_EQ(verdict("8.7.0.84", "12.1.1"), Verdict::incompatible);
  EXPECT_EQ(verdict("7.0", "9.0.76"), Verdict::unknown);
}

TEST(TorchSymbols, NcclBefore219CannotBeLoaded) {
  Set versions = Set().add("torch", "2.2.1+cu121").add("nccl", "2.18.1");
  const Answer lacks = answer(versions, "torch-symbols");
  EXPECT_EQ(lacks.verdict, Verdict::incompatible);
  EXPECT_EQ(lacks.confidence, Confidence::certain);
  EXPECT_EQ(lacks.reason,
            "torch 2.2.1+cu121 needs ncclCommRegister, which NCCL 2.18.1 lacks (it is in 2.19.1 "
            "and newer): import torch would fail");
  for (const char* nccl : {"2.19.1", "2.19.3", "2.20.5"}) {
    EXPECT_EQ(answer(versions.put("nccl", nccl), "torch-symbols").verdict, Verdict::compatible);
  }
  EXPECT_EQ(answer(versions.put("nccl", "2.18.6"), "torch-symbols").verdict, Verdict::incompatible);
  // torch 2.1 looks for no such symbol; of pre-releases of others nothing is said.
  EXPECT_TRUE(is_silent(versions.put("torch", "2.1.2+cu121"), "torch-symbols"));
  EXPECT_TRUE(is_silent(versions.put("torch", "2.2.0a0+81ea7a4"), "torch-symbols"));
}

TEST(TorchPins, OfTheWheelByItsVariant) {
  Set versions = Set().add("torch", "2.2.1+cu121").add("nccl", "2.19.3");
  EXPECT_EQ(answer(versions, "torch-pins").verdict, Verdict::compatible);
  EXPECT_EQ(answer(versions, "torch-pins").confidence, Confidence::certain);
  // The index's default wheel of 2.2.1 is that build.
  EXPECT_EQ(answer(versions.put("torch", "2.2.1"), "torch-pins").confidence, Confidence::certain);
  const Answer newer = answer(versions.put("nccl", "2.20.5"), "torch-pins");
  EXPECT_EQ(newer.verdict, Verdict::compatible);
  EXPECT_EQ(newer.confidence, Confidence::guess);
  EXPECT_EQ(answer(versions.put("nccl", "2.19.1"), "torch-pins").verdict, Verdict::unknown);
  versions.add("cudnn", "9.1.0.70");
  EXPECT_EQ(answer(versions, "torch-pins", "cudnn").verdict, Verdict::incompatible);
  EXPECT_EQ(answer(versions.put("cudnn", "8.9.7.29"), "torch-pins", "cudnn").verdict,
            Verdict::compatible);
  versions.add("python.package.triton", "3.0.0");
  EXPECT_EQ(answer(versions, "torch-pins", "python.package.triton").verdict, Verdict::unknown);
}

TEST(TorchCuda, IsOfTheVariantsMajor) {
  Set versions = Set().add("torch", "2.2.1+cu121").add("cuda", "12.1.1");
  EXPECT_EQ(answer(versions, "torch-cuda", "cuda").verdict, Verdict::compatible);
  EXPECT_EQ(answer(versions.put("cuda", "12.4.1"), "torch-cuda", "cuda").verdict,
            Verdict::compatible);
  EXPECT_EQ(answer(versions.put("cuda", "12.0.1"), "torch-cuda", "cuda").verdict, Verdict::unknown);
  EXPECT_EQ(answer(versions.put("cuda", "11.8.0"), "torch-cuda", "cuda").verdict,
            Verdict::incompatible);
  // cu102 is 10.2 and cu130 is 13.0.
  EXPECT_EQ(answer(Set().add("torch", "1.12.1+cu102").add("cuda", "10.2.89"), "torch-cuda", "cuda")
                .verdict,
            Verdict::compatible);
  EXPECT_EQ(answer(Set().add("torch", "2.11.0+cu130").add("cuda", "13.0.2"), "torch-cuda", "cuda")
                .verdict,
            Verdict::compatible);
  // What 1.13's default wheel is comes from memory.
  EXPECT_EQ(answer(Set().add("torch", "1.13.1").add("cuda", "12.1.1"), "torch-cuda").verdict,
            Verdict::unknown);
}

TEST(TorchCuda, VariantsThatNoListHasAreUnknown) {
  EXPECT_EQ(answer(Set().add("torch", "2.2.1+cu121"), "torch-cuda").verdict, Verdict::compatible);
  EXPECT_EQ(answer(Set().add("torch", "2.2.1+cu124"), "torch-cuda").verdict, Verdict::unknown);
}

TEST(TorchBase, PythonAndGlibcAreThoseOfItsWheels) {
  const auto python = [](std::string_view torch, std::string_view version) {
    return answer(Set().add("torch", torch).add("python", version), "torch-python").verdict;
  };
  EXPECT_EQ(python("2.2.1+cu121", "3.10.12"), Verdict::compatible);
  EXPECT_EQ(python("2.2.1+cu121", "3.12.1"), Verdict::unknown);
  EXPECT_EQ(python("2.1.2+cu121", "3.12.1"), Verdict::incompatible);
  EXPECT_EQ(python("2.9.0", "3.9.18"), Verdict::incompatible);
  EXPECT_EQ(python("2.14.0", "3.12.1"), Verdict::unknown);
  const auto glibc = [](std::string_view torch, std::string_view version) {
    return answer(Set().add("torch", torch).add("glibc", version), "torch-glibc").verdict;
  };
  EXPECT_EQ(glibc("2.2.1+cu121", "2.17"), Verdict::compatible);
  EXPECT_EQ(glibc("2.7.0", "2.27"), Verdict::incompatible);
  EXPECT_EQ(glibc("2.7.0", "2.31"), Verdict::compatible);
}

TEST(TorchBase, TheAbiOfOldWheelsIsAGuess) {
  const auto abi = [](std::string_view torch, std::string_view cxx11) {
    return answer(Set().add("torch", torch).add("torch.cxx11_abi", cxx11), "torch-abi").verdict;
  };
  EXPECT_EQ(abi("2.7.1", "true"), Verdict::compatible);
  EXPECT_EQ(abi("2.7.1", "false"), Verdict::incompatible);
  EXPECT_EQ(abi("2.2.1", "false"), Verdict::compatible);
  EXPECT_EQ(abi("2.2.1", "true"), Verdict::unknown);
}

TEST(GpuTorch, GoesByCodeAndPtx) {
  const auto verdict = [](std::string_view torch, std::string_view capability) {
    return answer(Set().add("torch", torch).add("gpu.compute_capability", capability), "gpu-torch")
        .verdict;
  };
  EXPECT_EQ(verdict("2.2.1+cu121", "8.0"), Verdict::compatible);
  EXPECT_EQ(verdict("2.2.1+cu121", "8.9"), Verdict::compatible) << "runs code for 8.6";
  EXPECT_EQ(verdict("2.2.1+cu121", "10.0"), Verdict::incompatible);
  EXPECT_EQ(verdict("2.0.1+cu117", "9.0"), Verdict::incompatible);
  EXPECT_EQ(verdict("2.11.0+cu130", "7.0"), Verdict::incompatible);
  EXPECT_EQ(verdict("2.11.0+cu130", "12.1"), Verdict::compatible);
  EXPECT_EQ(verdict("2.7.0+cu128", "9.0"), Verdict::unknown);
  EXPECT_TRUE(
      is_silent(Set().add("torch", "2.2.0a0").add("gpu.compute_capability", "9.0"), "gpu-torch"));
}

TEST(GpuCuda, GoesByGeneration) {
  const auto verdict = [](std::string_view cuda, std::string_view capability) {
    return answer(Set().add("cuda", cuda).add("gpu.compute_capability", capability), "gpu-cuda")
        .verdict;
  };
  EXPECT_EQ(verdict("12.1.1", "8.0"), Verdict::compatible);
  EXPECT_EQ(verdict("13.0.2", "7.0"), Verdict::incompatible);
  EXPECT_EQ(verdict("13.0.2", "7.5"), Verdict::compatible);
  EXPECT_EQ(verdict("12.1.1", "10.0"), Verdict::unknown) << "PTX may do";
  EXPECT_EQ(verdict("12.1.1", "99.0"), Verdict::unknown);
}

TEST(GpuDriver, LaterBranchesLeaveOldGpusBehind) {
  const auto verdict = [](std::string_view driver, std::string_view capability) {
    return answer(Set().add("driver", driver).add("gpu.compute_capability", capability),
                  "gpu-driver")
        .verdict;
  };
  EXPECT_EQ(verdict("580.95.05", "7.0"), Verdict::compatible);
  EXPECT_EQ(verdict("590.48.01", "7.0"), Verdict::incompatible);
  EXPECT_TRUE(is_silent(Set().add("driver", "590.48.01").add("gpu.compute_capability", "8.0"),
                        "gpu-driver"));
}

TEST(Judge, EachOfSeveralGpusIsJudged) {
  const Set versions = Set()
                           .add("torch", "2.11.0+cu130")
                           .add("gpu.compute_capability", "9.0")
                           .add("gpu.compute_capability", "7.0");
  const std::vector<Answer> answers = judge(versions);
  EXPECT_EQ(answers.front().verdict, Verdict::incompatible);
  EXPECT_EQ(answers.front().of.front(), (Choice{"gpu.compute_capability", "7.0"}));
  EXPECT_EQ(worst(answers), Verdict::incompatible);
  EXPECT_EQ(worst({}), Verdict::compatible);
}

TEST(Judge, NothingIsSaidOfWhatNoRuleKnows) {
  EXPECT_TRUE(judge(Set()).empty());
  EXPECT_TRUE(judge(Set().add("nccl", "2.18.1").add("sysctl.kernel.x", "1")).empty());
}

TEST(Judge, AGuessNeverMakesASetImpossible) {
  // Over everything that the tables list, whatever is called incompatible is known.
  for (const char* torch : {"1.12.1", "1.13.1", "2.0.1", "2.2.1", "2.6.0", "2.10.0+cu130"}) {
    for (const char* cudnn : {"7.6.5.32", "8.9.2.26", "9.1.0.70"}) {
      for (const char* python : {"3.6.1", "3.15.0"}) {
        const Set versions = Set()
                                 .add("torch", torch)
                                 .add("cudnn", cudnn)
                                 .add("python", python)
                                 .add("cuda", "8.0.61")
                                 .add("driver", "367.48")
                                 .add("gpu.compute_capability", "12.0");
        for (const Answer& one : judge(versions)) {
          EXPECT_FALSE(one.verdict == Verdict::incompatible && one.confidence == Confidence::guess)
              << one.reason;
        }
      }
    }
  }
}

TEST(Rules, AreSortedAndNamedOnce) {
  std::string_view before;
  for (const Rule* rule : rules()) {
    EXPECT_LT(before, rule->name);
    before = rule->name;
  }
}

TEST(GlibcFloor, IsReadOffATag) {
  EXPECT_EQ(glibc_floor("manylinux1_x86_64"), "2.5");
  EXPECT_EQ(glibc_floor("manylinux2014_x86_64.manylinux_2_17_x86_64"), "2.17");
  EXPECT_EQ(glibc_floor("manylinux_2_27_x86_64.manylinux_2_28_x86_64"), "2.27");
  EXPECT_EQ(glibc_floor("any"), "");
  EXPECT_EQ(glibc_floor("musllinux_1_2_x86_64"), "");
  EXPECT_EQ(glibc_floor("manylinux_x_y_z"), "");
  EXPECT_EQ(glibc_floor(""), "");
}

TEST(VersionsOf, ASnapshotGivesItsValues) {
  const auto fact = [](std::string key, facts::Reading reading) {
    return facts::Fact{facts::FactKey::parse(key), std::move(reading), {}};
  };
  const facts::Snapshot snapshot = facts::make_snapshot(
      "x", {},
      {fact("driver", facts::Value::scalar("535.129.03")), fact("nccl", facts::Absent{}),
       fact("cuda", facts::Value::one_of({"12.6.2", "12.6.3"})),
       fact("torch", facts::Unknown{facts::Why::denied, "", ""}),
       fact("gpu.compute_capability", facts::Value::tally({{"7.0", "1"}, {"8.0", "7"}})),
       fact("gpu.compute_capability@0", facts::Value::scalar("8.0"))});
  const Set versions = versions_of(snapshot);
  EXPECT_EQ(versions.one("driver"), "535.129.03");
  EXPECT_EQ(versions.one("nccl"), std::nullopt);
  EXPECT_EQ(versions.one("cuda"), std::nullopt) << "one of two is no version";
  EXPECT_EQ(versions.all("gpu.compute_capability").size(), 2u);
  EXPECT_EQ(versions.entries().size(), 2u);
}

}  // namespace
}  // namespace goldenv::compat

#include <gtest/gtest.h>

#include "findings/finding.h"

namespace goldenv::findings {
namespace {

using facts::Absent;
using facts::Fact;
using facts::FactKey;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;
using Lines = std::vector<std::string>;

struct Said {
  std::string key;
  Reading reading;
  std::vector<std::string> notes = {};
};

Lines found_in(std::vector<Said> all) {
  std::vector<Fact> facts;
  for (Said& one : all) {
    Fact fact{FactKey::parse(one.key), std::move(one.reading), {}};
    fact.evidence.notes = std::move(one.notes);
    facts.push_back(std::move(fact));
  }
  Lines lines;
  for (const Finding& finding : contradictions(facts::make_snapshot("m", {}, std::move(facts)))) {
    lines.push_back(std::string(facts::name(finding.level)) + " " + std::string(finding.rule) +
                    ": " + finding.summary);
  }
  return lines;
}

Value text(std::string words) { return Value::scalar(std::move(words)); }

TEST(UserlandFindings, FilesThatAWheelDidNotInstall) {
  const std::string key = "python.package.nvidia-nccl-cu12";
  EXPECT_EQ(found_in({{key, text("2.19.3")}, {key + ".record", text("ok")}}), Lines{});
  EXPECT_EQ(found_in({{key, text("2.19.3")}, {key + ".record", text("no record")}}), Lines{});
  EXPECT_EQ(found_in({{key + ".record", Unknown{Why::not_probed, "", ""}}}), Lines{});
  EXPECT_EQ(
      found_in({{key, text("2.19.3")},
                {key + ".record",
                 text("changed"),
                 {"changed: /v/libnccl.so.2, which is also in nvidia-nccl-cu13 2.28.9"}}}),
      Lines{"must python-files: nvidia-nccl-cu12 2.19.3: its files are not those that it "
            "installed (changed: /v/libnccl.so.2, which is also in nvidia-nccl-cu13 2.28.9)"});
  EXPECT_EQ(found_in({{"python.package.torch.record", text("missing")}}).size(), 1U);
}

TEST(UserlandFindings, ExtensionsThatDoNotFit) {
  EXPECT_EQ(found_in({{"python.extensions", Absent{"all of them fit"}}}), Lines{});
  EXPECT_EQ(found_in({{"python.extensions",
                       Value::set({"a.so: needs libb.so.1, which nothing answers"})}}),
            Lines{"should python-extensions: compiled extension a.so: needs libb.so.1, which "
                  "nothing answers"});
}

TEST(UserlandFindings, CudnnOfAnotherCudaThanTheRuntime) {
  const auto cudnn = [](std::string wheel, std::string runtime, std::string origin) {
    return found_in({{"cuda.runtime", text(std::move(runtime))},
                     {"cudnn", text("8.9.2.26")},
                     {"cudnn.origin", text(std::move(origin))},
                     {"python.package." + wheel, text("8.9.2.26")},
                     {"python.package." + wheel + ".record", text("ok")}});
  };
  EXPECT_EQ(cudnn("nvidia-cudnn-cu12", "12.1.105", "wheel"), Lines{});
  EXPECT_EQ(cudnn("nvidia-cudnn-cu11", "12.1.105", "system"), Lines{});
  EXPECT_EQ(cudnn("nvidia-cudnn-cu11", "12.1.105", "wheel"),
            Lines{"must cuda-libraries: cuDNN in force is of nvidia-cudnn-cu11, the runtime is "
                  "CUDA 12.1.105"});
}

TEST(UserlandFindings, ServiceThatLacksWhatTheShellExports) {
  const std::string key = "env.CUDA_VISIBLE_DEVICES";
  const auto service = [&](Reading own, Reading unit) {
    return found_in({{key, std::move(own)},
                     {key + "@shell", text("0,1")},
                     {key + "@user-unit:jupyter", std::move(unit)}});
  };
  EXPECT_EQ(service(Absent{}, Absent{}),
            Lines{"should unit-process: CUDA_VISIBLE_DEVICES is 0,1 in the shell, the process of "
                  "user-unit:jupyter lacks it"});
  EXPECT_EQ(service(text("2"), Absent{}), Lines{});
  EXPECT_EQ(service(Unknown{Why::denied, "", ""}, Absent{}), Lines{});
  EXPECT_EQ(service(Absent{}, text("2")),
            Lines{"should unit-process: CUDA_VISIBLE_DEVICES is 2 by the files of "
                  "user-unit:jupyter, its process lacks it"});
  EXPECT_EQ(service(text("2"), text("2")), Lines{});
  EXPECT_EQ(found_in({{key, Absent{}}, {key + "@shell", text("0")}}), Lines{});  // no unit
}

TEST(UserlandFindings, LimitsThatAServiceWasStartedBefore) {
  EXPECT_EQ(found_in({{"limits.memlock", text("65536")},
                      {"limits.memlock@unit:slurmd", text("unlimited")},
                      {"limits.nofile", text("1024")},
                      {"limits.nofile@unit:slurmd", Absent{"no file sets it"}}}),
            Lines{"should unit-process: memlock is unlimited by the files of unit:slurmd, its "
                  "process has 65536"});
}

}  // namespace
}  // namespace goldenv::findings

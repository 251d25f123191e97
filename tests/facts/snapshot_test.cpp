#include "facts/snapshot.h"

#include <gtest/gtest.h>

namespace goldenv::facts {
namespace {

Snapshot sample() {
  std::vector<Fact> facts;
  facts.push_back({{"driver", ""},
                   Value::scalar("535.129.03"),
                   {"/proc/driver/nvidia/version", 1, "read", "", {}}});
  facts.push_back({{"cuda.driver_api", ""}, Value::scalar("12.10"), {}});
  facts.push_back({{"cuda", ""}, Value::one_of({"12.8.1", "12.8.2"}), {}});
  facts.push_back({{"kernel.upstream", ""}, Value::prefix("5.4"), {}});
  facts.push_back({{"gpu.vbios", ""}, Value::tally({{"92.00.03", "7"}, {"92.00.05", "1"}}), {}});
  facts.push_back({{"gpu.vbios", "5"}, Value::scalar("92.00.05"), {}});
  facts.push_back({{"gpu.count", ""}, Value::number(8), {}});
  facts.push_back({{"env.NCCL_DEBUG", ""}, Value::scalar(""), {}});
  facts.push_back({{"host.name", ""}, Value::scalar("node17"), {}});
  facts.push_back({{"kernel.cmdline", ""},
                   Value::list({"quiet", "console=tty0", "console=ttyS0", "iommu=pt"}),
                   {}});
  facts.push_back({{"kernel.taint", ""}, Value::set({"P", "O"}), {}});
  facts.push_back({{"nccl.copies", ""}, Value::map({{"2.18.1", "1"}, {"2.19.3", "2"}}), {}});
  facts.push_back({{"nccl", "/x/libnccl.so.2"},
                   Value::scalar("2.18.1"),
                   {"/x/libnccl.so.2", 0, "read", "8e02c41f", {"one", "two"}}});
  facts.push_back({{"glibc", ""}, Absent{"musl"}, {}});
  facts.push_back({{"host.serial", ""},
                   Unknown{Why::denied, "not for you", "root"},
                   {"/sys/x", 0, "", "", {}}});
  return make_snapshot("@live", {"env"}, std::move(facts));
}

TEST(Snapshot, YamlAndJsonReadBackAreTheSame) {
  const Snapshot snapshot = sample();
  for (const bool json : {false, true}) {
    const std::string text =
        json ? doc::render_json(to_node(snapshot)) : doc::render_yaml(to_node(snapshot), true);
    const auto node = doc::parse(text, json ? doc::Format::json : doc::Format::yaml, "s");
    ASSERT_TRUE(node) << node.error().message << text;
    const Result<Snapshot> again = from_node(*node, "s");
    ASSERT_TRUE(again) << again.error().message << text;
    EXPECT_EQ(again->facts, snapshot.facts) << text;
    EXPECT_EQ(again->listed, snapshot.listed);
    EXPECT_EQ(again->source, snapshot.source);
  }
}

TEST(Snapshot, VersionsAreTextInJson) {
  const std::string json = doc::render_json(to_node(sample()));
  EXPECT_NE(json.find("\"12.10\""), std::string::npos);
  EXPECT_NE(json.find("\"value\": 8"), std::string::npos);
}

TEST(Snapshot, AMissingKeyIsUnknownExceptInAListedFamily) {
  const Snapshot snapshot = sample();
  EXPECT_TRUE(std::holds_alternative<Unknown>(snapshot.read({"torch", ""}).reading));
  EXPECT_TRUE(
      std::holds_alternative<Absent>(snapshot.read({"env.CUDA_VISIBLE_DEVICES", ""}).reading));
  EXPECT_EQ(snapshot.read({"env.NCCL_DEBUG", ""}).reading, Reading(Value::scalar("")));
}

TEST(Snapshot, BootParametersAreReadFromTheCommandLine) {
  const Snapshot snapshot = sample();
  const auto parameter = [&](const char* name) {
    return snapshot.read({std::string("kernel.cmdline.") + name, ""}).reading;
  };
  EXPECT_EQ(parameter("iommu"), Reading(Value::scalar("pt")));
  EXPECT_EQ(parameter("quiet"), Reading(Value::scalar("")));
  EXPECT_EQ(parameter("console"), Reading(Value::list({"tty0", "ttyS0"})));
  EXPECT_TRUE(std::holds_alternative<Absent>(parameter("nosmt")));
}

TEST(Snapshot, TheLastFactOfAKeyStays) {
  const Snapshot snapshot = make_snapshot(
      "x", {},
      {{{"driver", ""}, Value::scalar("1.0"), {}}, {{"driver", ""}, Value::scalar("2.0"), {}}});
  ASSERT_EQ(snapshot.facts.size(), 1u);
  EXPECT_EQ(snapshot.facts.front().reading, Reading(Value::scalar("2.0")));
}

TEST(FromNode, RefusesWithPositionAndReason) {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"goldenv_snapshot: 7\n", "s:1:19: this goldenv reads snapshots of version 0"},
      {"goldenv_snapshot: 0\nwhat: 1\n", "s:2:1: \"what\" is no field"},
      {"goldenv_snapshot: 0\nfacts:\n  drivr: {value: 1.0}\n", "s:3:3: unknown key \"drivr\""},
      {"goldenv_snapshot: 0\nfacts:\n  driver: 1.0\n", "s:3:11: a fact is {value"},
      {"goldenv_snapshot: 0\nfacts:\n  driver: {value: 1.0, absent: x}\n", "exactly one of"},
      {"goldenv_snapshot: 0\nfacts:\n  driver: {unknown: lost}\n",
       "is no reason for an unknown; expected one of denied, "},
      {"goldenv_snapshot: 0\nfacts:\n  driver: {valeu: 1.0}\n",
       "unknown field \"valeu\" of a fact; expected one of value, prefix"},
      {"goldenv_snapshot: 0\nfacts:\n  driver: {value: }\n", "expected a value"},
      {"goldenv_snapshot: 0\nlisted: [env.]\n", "s:2:10: \"env.\" is no family"},
      {"goldenv_snapshot: 0\nlisted: [env, foo]\n",
       "s:2:15: \"foo\" is no family; expected the name of a family"},
      {"goldenv_snapshot: 0\nfacts:\n  driver: {value: 1.0}\n  driver.version: {value: 1.1}\n",
       "s:2:1: \"driver\" is among the facts twice"}};
  for (const auto& [text, expected] : rows) {
    const auto node = doc::parse(text, doc::Format::yaml, "s");
    ASSERT_TRUE(node) << text;
    const Result<Snapshot> snapshot = from_node(*node, "s");
    ASSERT_FALSE(snapshot) << text;
    EXPECT_NE(snapshot.error().message.find(expected), std::string::npos)
        << snapshot.error().message;
  }
}

/// What a snapshot of this one fact says, or the error.
std::string read_fact(const std::string& fact) {
  const auto node =
      doc::parse("goldenv_snapshot: 0\nfacts:\n  " + fact + "\n", doc::Format::yaml, "s");
  if (!node) {
    return node.error().message;
  }
  const Result<Snapshot> snapshot = from_node(*node, "s");
  return snapshot ? describe(snapshot->facts.front().reading) : snapshot.error().message;
}

TEST(FromNode, AValueHasTheFormOfItsKey) {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"driver: {one_of: []}", "s:3:20: expected a list of the values that it may be"},
      {"driver: {one_of: 535}", "s:3:20: expected a list of the values"},
      {"driver: {one_of: [535, '']}", "s:3:26: \"\" is no value of driver; expected a version"},
      {"driver: {prefix: ''}", "s:3:20: expected the beginning of a value"},
      {"driver: {value: [1, 2]}", "s:3:19: this is no value of driver, whose type is version"},
      {"driver: {value: {a: 1}}", "s:3:19: this is no value of driver, whose type is version"},
      {"driver: {value: ''}", "s:3:19: \"\" is no value of driver; expected a version"},
      {"gpu.count: {value: abc}", "s:3:22: \"abc\" is no value of gpu.count; expected a number"},
      {"gpu.count: {one_of: [8, abc]}", "\"abc\" is no value of gpu.count; expected a number"},
      {"bios.secure_boot: {value: perhaps}", "expected true or false"},
      {"kernel.cmdline: {value: quiet}", "whose type is list; expected a list of texts"},
      {"kernel.taint: {one_of: [P]}", "whose type is set; expected a list of texts"},
      {"nccl.copies: {value: 2.18}", "whose type is map; expected {NAME: TEXT}"},
      {"driver: {value: 1.0, line: -3}", "s:3:30: expected the number of a line"},
      {"driver: {value: 1.0, of: 8}", "s:3:28: of stands beside a value that counts"},
      {"gpu.vbios: {value: {A: 8}}", "expected a text, or {VALUE: COUNT} with of: beside it"},
      {"gpu.vbios: {value: {A: x}, of: 8}", "s:3:26: expected how many have it"},
      {"gpu.vbios: {value: {A: 8}, of: -7}", "s:3:34: expected the number of all instances"},
      {"gpu.vbios: {value: {A: 7, B: 2}, of: 8}", "expected counts that add up to 8"}};
  for (const auto& [fact, expected] : rows) {
    EXPECT_NE(read_fact(fact).find(expected), std::string::npos) << fact << "\n" << read_fact(fact);
  }
}

TEST(FromNode, KeepsWhatAMachineMayHave) {
  EXPECT_EQ(read_fact("driver: {value: 2004d}"), "2004d");
  EXPECT_EQ(read_fact("gpu.count: {value: 8}"), "8");
  EXPECT_EQ(read_fact("cgroup.memory_max: {value: max}"), "max");
  EXPECT_EQ(read_fact("env.LD_LIBRARY_PATH: {value: [/a, /b]}"), "/a /b");
  EXPECT_EQ(read_fact("env.NCCL_DEBUG: {value: ''}"), "");
  EXPECT_EQ(read_fact("gpu.vbios: {value: {A: 7, B: 1}, of: 8}"), "A x 7, B x 1");
}

TEST(FromNode, OfInstancesThatATallyLeavesOutNothingIsKnown) {
  EXPECT_EQ(read_fact("gpu.vbios: {value: {A: 7}, of: 8}"),
            "unknown (not-stated: A x 7 of 8, nothing about the rest)");
}

}  // namespace
}  // namespace goldenv::facts

#include "facts/condition.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace goldenv::facts {
namespace {

Snapshot machine() {
  const auto fact = [](std::string_view key, Reading reading) {
    return Fact{FactKey::parse(key), std::move(reading), {}};
  };
  return make_snapshot(
      "test", {"env"},
      {fact("cpu.vendor", Value::scalar("AuthenticAMD")),
       fact("driver", Value::scalar("535.129.03")), fact("kernel", Value::scalar("6.1.0-57-amd64")),
       fact("kernel.upstream", Value::scalar("6.1.192")),
       fact("torch", Value::scalar("2.2.1+cu121")), fact("nvswitch.count", Value::scalar("6")),
       fact("nccl", Unknown{Why::ambiguous, "", ""}), fact("cudnn", Absent{}),
       fact("cuda", Value::prefix("12.1")),
       fact("gpu.name", Value::tally({{"NVIDIA A100", "7"}, {"NVIDIA H100", "1"}})),
       fact("gpu.vbios@3", Value::scalar("92.00.45.00.03")),
       fact("env.CUDA_VISIBLE_DEVICES", Value::scalar("0,1")),
       fact("env.NCCL_DEBUG", Value::scalar("absent")),
       fact("kernel.cmdline", Value::list({"quiet", "iommu=pt"})),
       fact("bios.secure_boot", Value::boolean(false))});
}

Truth holds(std::string_view text) {
  const auto condition = Condition::parse(text);
  EXPECT_TRUE(condition) << text << ": " << (condition ? "" : condition.error().message);
  return condition ? condition->holds(machine()) : Truth::unknown;
}

std::string refusal(std::string_view text) {
  const auto condition = Condition::parse(text);
  EXPECT_FALSE(condition) << text;
  EXPECT_TRUE(condition || condition.error().code == Errc::malformed);
  return condition ? std::string() : condition.error().message;
}

TEST(Condition, ComparesByTheTypeOfTheKey) {
  EXPECT_EQ(holds("cpu.vendor == AuthenticAMD"), Truth::yes);
  EXPECT_EQ(holds("cpu.vendor == GenuineIntel"), Truth::no);
  EXPECT_EQ(holds("cpu.vendor != GenuineIntel"), Truth::yes);
  EXPECT_EQ(holds("driver >= 535.54.03"), Truth::yes);
  EXPECT_EQ(holds("driver < 535.54.03"), Truth::no);
  EXPECT_EQ(holds("driver == 535.129.*"), Truth::yes);
  EXPECT_EQ(holds("driver != 535.129.*"), Truth::no);
  EXPECT_EQ(holds("torch ~= 2.1"), Truth::yes);
  EXPECT_EQ(holds("nvswitch.count > 0"), Truth::yes);
  EXPECT_EQ(holds("nvswitch.count <= 5"), Truth::no);
  EXPECT_EQ(holds("nvswitch.count == 6"), Truth::yes);
  EXPECT_EQ(holds("bios.secure_boot == false"), Truth::yes);
  EXPECT_EQ(holds("bios.secure_boot == yes"), Truth::no);
}

TEST(Condition, KernelsAreOrderedByTheirUpstreamLevel) {
  EXPECT_EQ(holds("kernel >= 6.1.100"), Truth::yes);
  EXPECT_EQ(holds("kernel < 6.1.192"), Truth::no);
  EXPECT_EQ(holds("kernel == 6.1.0-57-amd64"), Truth::yes);
  Snapshot without = make_snapshot(
      "test", {}, {Fact{FactKey::parse("kernel"), Value::scalar("6.1.0-57-amd64"), {}}});
  EXPECT_EQ(Condition::parse("kernel >= 6.1.100")->holds(without), Truth::unknown);
  EXPECT_EQ(Condition::parse("kernel == 6.1.0-57-amd64")->holds(without), Truth::yes);
}

TEST(Condition, WhatIsNotKnownStaysUnknownUnlessTheRestDecides) {
  EXPECT_EQ(holds("nccl >= 2.18"), Truth::unknown);
  EXPECT_EQ(holds("not nccl >= 2.18"), Truth::unknown);
  EXPECT_EQ(holds("nccl >= 2.18 and cpu.vendor == AuthenticAMD"), Truth::unknown);
  EXPECT_EQ(holds("nccl >= 2.18 and cpu.vendor == GenuineIntel"), Truth::no);
  EXPECT_EQ(holds("nccl >= 2.18 or cpu.vendor == AuthenticAMD"), Truth::yes);
  EXPECT_EQ(holds("nccl >= 2.18 or cpu.vendor == GenuineIntel"), Truth::unknown);
  EXPECT_EQ(holds("glibc >= 2.18"), Truth::unknown);  // no such fact in the snapshot
  EXPECT_EQ(holds("cuda == 12.1.1"), Truth::unknown);
  EXPECT_EQ(holds("cuda == 12.2.0"), Truth::no);
  EXPECT_EQ(holds("nccl == absent"), Truth::unknown);
}

TEST(Condition, AbsentIsAWordUnlessQuoted) {
  EXPECT_EQ(holds("cudnn == absent"), Truth::yes);
  EXPECT_EQ(holds("cudnn != absent"), Truth::no);
  EXPECT_EQ(holds("driver == absent"), Truth::no);
  EXPECT_EQ(holds("driver != absent"), Truth::yes);
  EXPECT_EQ(holds("env.NCCL_ALGO == absent"), Truth::yes);  // its family is listed
  EXPECT_EQ(holds("env.NOT_LOOKED_AT == absent"), Truth::unknown);
  EXPECT_EQ(holds("env.NCCL_DEBUG == absent"), Truth::no);
  EXPECT_EQ(holds("env.NCCL_DEBUG == \"absent\""), Truth::yes);
  EXPECT_EQ(holds("cudnn >= 8"), Truth::no);
  EXPECT_EQ(holds("cudnn != 8.9.2.26"), Truth::yes);
}

TEST(Condition, AllInstancesMustAgree) {
  EXPECT_EQ(holds("gpu.name == 'NVIDIA A100'"), Truth::no);
  EXPECT_EQ(holds("gpu.name != 'NVIDIA A100'"), Truth::no);
  EXPECT_EQ(holds("gpu.name != 'NVIDIA T4'"), Truth::yes);
  EXPECT_EQ(holds("gpu.vbios@3 == 92.00.45.00.03"), Truth::yes);
}

TEST(Condition, AndBindsTighterThanOrAndNotTightest) {
  EXPECT_EQ(holds("cudnn == absent or cpu.vendor == x and driver == absent"), Truth::yes);
  EXPECT_EQ(holds("(cudnn == absent or cpu.vendor == x) and driver == absent"), Truth::no);
  EXPECT_EQ(holds("not cudnn == absent or driver != absent"), Truth::yes);
  EXPECT_EQ(holds("not (cudnn == absent or driver != absent)"), Truth::no);
  EXPECT_EQ(holds("not not cudnn == absent"), Truth::yes);
  EXPECT_EQ(holds("driver != absent and not (cudnn != absent)and nvswitch.count==6"), Truth::yes);
}

TEST(Condition, ValuesMayBeQuotedAndHoldOddCharacters) {
  EXPECT_EQ(holds("env.CUDA_VISIBLE_DEVICES == 0,1"), Truth::yes);
  EXPECT_EQ(holds("env.CUDA_VISIBLE_DEVICES == \"0,1\""), Truth::yes);
  EXPECT_EQ(holds("kernel.cmdline == 'quiet iommu=pt'"), Truth::yes);
  EXPECT_EQ(holds("\"driver\" == '535.129.03'"), Truth::yes);
  EXPECT_EQ(holds("env.NCCL_DEBUG == >=5"), Truth::no);
  EXPECT_EQ(holds("env.NCCL_DEBUG == \"say \\\"a\\\\b\\\"\""), Truth::no);
  EXPECT_EQ(holds("env.NCCL_DEBUG == ''"), Truth::no);
}

TEST(Condition, KeepsItsTextAndNamesItsKeys) {
  const auto condition = Condition::parse(
      "cmdline == quiet or (nccl@/opt/lib.so.2 > 2 and kernel.release != 5.4.0-1)"
      " or cmdline == x");
  ASSERT_TRUE(condition) << condition.error().message;
  EXPECT_EQ(condition->text(),
            "cmdline == quiet or (nccl@/opt/lib.so.2 > 2 and kernel.release != 5.4.0-1) or cmdline "
            "== x");
  EXPECT_EQ(
      condition->keys(),
      (std::vector<FactKey>{{"kernel.cmdline", ""}, {"nccl", "/opt/lib.so.2"}, {"kernel", ""}}));
  EXPECT_EQ(*condition, *Condition::parse(condition->text()));
  EXPECT_FALSE(*condition == *Condition::parse("driver == absent"));
}

TEST(Condition, ErrorsNameTheByte) {
  EXPECT_EQ(refusal(""), "byte 0: the end where a comparison begins; expected KEY OP VALUE");
  EXPECT_EQ(refusal("driver"),
            "byte 6: the end behind the key \"driver\"; expected ==, !=, <, <=, >, >= or ~=");
  EXPECT_EQ(refusal("driver 535"),
            "byte 7: \"535\" behind the key \"driver\"; expected ==, !=, <, <=, >, >= or ~=");
  EXPECT_EQ(refusal("driver = 535"),
            "byte 7: '=' is no comparison; expected ==, !=, <, <=, >, >= or ~=");
  EXPECT_EQ(refusal("driver >= "), "byte 10: the end behind >=; expected a value");
  EXPECT_EQ(refusal("driver >= <="),
            "byte 10: \"<=\" behind >=; expected a value (an odd one in quotes)");
  EXPECT_EQ(refusal("driver >= 535 driver"),
            "byte 14: \"driver\" is too much; expected and, or, or the end");
  EXPECT_EQ(refusal("driver >= 535 && cudnn == absent"),
            "byte 14: \"&&\" is too much; expected and, or, or the end");
  EXPECT_EQ(refusal("driver >= 535 and"),
            "byte 17: the end where a comparison begins; expected KEY OP VALUE");
  EXPECT_EQ(refusal("and driver >= 535"),
            "byte 0: \"and\" where a comparison begins; expected KEY OP VALUE");
  EXPECT_EQ(refusal("(driver >= 535"),
            "byte 14: the end within the parenthesis of byte 0; expected and, or, or ')'");
  EXPECT_EQ(refusal("driver >= 535)"), "byte 13: \")\" is too much; expected and, or, or the end");
  EXPECT_EQ(refusal("()"), "byte 1: \")\" where a comparison begins; expected KEY OP VALUE");
  EXPECT_EQ(refusal("cpu.vendor == \"x"),
            "byte 14: a quote that nothing closes; expected another at the end of the text");
  EXPECT_EQ(refusal("cpu.vendor == \"x\\n\""), "byte 16: an unknown escape; expected \\\\ or \\\"");
  EXPECT_EQ(refusal("driver > absent"), "byte 9: absent has no order; expected == or != before it");
  EXPECT_EQ(refusal("driver == 535,536"), "byte 10: a list \"535,536\"; expected one value");
}

TEST(Condition, SaysWhyItIsNotKnown) {
  const auto why = [](std::string_view text) {
    const auto condition = Condition::parse(text);
    EXPECT_TRUE(condition) << text;
    return condition ? condition->why_unknown(machine()) : std::string();
  };
  EXPECT_EQ(why("env.NCCL_DEBUG < 5"),
            "env.NCCL_DEBUG: it is the text \"absent\", and text has no order");
  EXPECT_EQ(why("gpu.name >= 5"),
            "gpu.name: it is the text \"NVIDIA A100\", and text has no order");
  EXPECT_EQ(why("cpu.vendor == AuthenticAMD and not (nccl == 2.18.1)"),
            "nccl: it is unknown (ambiguous)");
  EXPECT_EQ(why("cuda >= 12.1.1"), "cuda: only the beginning of it is known, 12.1");
  EXPECT_EQ(why("cpu.vendor == AuthenticAMD or nccl == 2.18.1"), "");
  EXPECT_EQ(why("nvswitch.count > 0"), "");
}

TEST(Condition, KeysAndValuesAreJudged) {
  EXPECT_TRUE(refusal("driver == 1 and cpu.vendr == x").starts_with("byte 16: unknown key"));
  EXPECT_TRUE(refusal("driver >= 535..03").starts_with("byte 10: "));
  EXPECT_TRUE(
      refusal("cpu.vendor >= AuthenticAMD").starts_with("byte 14: cpu.vendor has no order"));
  EXPECT_TRUE(refusal("nvswitch.count == many").starts_with("byte 18: "));
  EXPECT_TRUE(refusal("bios.secure_boot == maybe").starts_with("byte 20: "));
}

TEST(Condition, DepthAndLengthAreBounded) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '(') + "driver == absent" + std::string(depth, ')');
  };
  EXPECT_TRUE(Condition::parse(nested(32)));
  EXPECT_EQ(refusal(nested(33)), "byte 33: nested more than 32 levels deep; expected fewer");
  std::string nots;
  for (int i = 0; i < 500; ++i) {
    nots += "not ";
  }
  EXPECT_EQ(refusal(nots + "driver == absent"),
            "byte 132: nested more than 32 levels deep; expected fewer");
  EXPECT_EQ(refusal(std::string(5000, ' ')), "byte 0: 5000 bytes; expected at most 4096");
  std::string chain = "driver == absent";
  while (chain.size() < 4000) {
    chain += " or driver == absent";
  }
  EXPECT_EQ(holds(chain), Truth::no);
}

TEST(Condition, WhatHasNotTheFormOfTheKeyIsRefusedUnlessQuotedAsText) {
  EXPECT_NE(refusal("nccl == 2..18"), "");
  EXPECT_NE(refusal("nccl == unknown"), "");
  EXPECT_NE(refusal("gpu.count == many"), "");
  EXPECT_NE(refusal("thp.enabled == allways"), "");
  EXPECT_NE(refusal("bios.secure_boot == maybe"), "");
  EXPECT_TRUE(Condition::parse("os.version == \"rolling\""));
}

TEST(Condition, AVariableIsComparedByItsDigestToo) {
  const Snapshot snapshot = make_snapshot(
      "m", {},
      {{FactKey::parse("env.FOO"),
        Value::scalar("sha256:"
                      "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9"),
        {}}});
  const auto holds_of = [&](std::string_view text) {
    const auto condition = Condition::parse(text);
    EXPECT_TRUE(condition) << text;
    return condition ? condition->holds(snapshot) : Truth::unknown;
  };
  EXPECT_EQ(holds_of("env.FOO == bar"), Truth::yes);
  EXPECT_EQ(holds_of("env.FOO != bar"), Truth::no);
  EXPECT_EQ(holds_of("env.FOO == baz"), Truth::no);
  EXPECT_EQ(holds_of("env.FOO > 3"), Truth::unknown);
}

}  // namespace
}  // namespace goldenv::facts

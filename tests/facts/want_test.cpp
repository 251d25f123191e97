#include "facts/want.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

namespace goldenv::facts {
namespace {

Result<Want> want_of(std::string_view key, std::string_view yaml) {
  const Result<Resolved> resolved = resolve(key);
  EXPECT_TRUE(resolved) << key;
  const Result<doc::Node> node = doc::parse(yaml, doc::Format::yaml, "t.yaml");
  EXPECT_TRUE(node) << yaml;
  return parse_want(*resolved, *node, "t.yaml");
}

Truth meets_yaml(std::string_view key, std::string_view yaml, const Reading& reading,
                 const Reading& upstream = Unknown{}) {
  const Result<Want> want = want_of(key, yaml);
  EXPECT_TRUE(want) << key << ": " << yaml << ": " << (want ? "" : want.error().message);
  return want ? meets(*resolve(key)->entry, *want, reading, upstream) : Truth::unknown;
}

struct Row {
  const char* key;
  const char* wanted;
  Reading found;
  Truth met;
};

TEST(Want, WhatIsNeverANumberHasNoOrder) {
  for (const auto& [key, kind] :
       std::vector<std::pair<std::string, std::string>>{{"cpu.vendor", "one of a few words"},
                                                        {"bios.secure_boot", "true or false"},
                                                        {"kernel.cmdline", "a list"},
                                                        {"env.LD_LIBRARY_PATH", "a list"},
                                                        {"nccl.path", "a path"}}) {
    const Result<Want> want = want_of(key, "'>=5'");
    ASSERT_FALSE(want) << key;
    EXPECT_EQ(want.error().message, "t.yaml:1:1: " + key + " has no order: it is " + kind +
                                        "; expected a value, ==VALUE or !=VALUE and not \">=5\"");
  }
  EXPECT_TRUE(want_of("sysctl.vm.swappiness", "'>=5'"));
}

TEST(Want, AChoiceIsOneOfItsValues) {
  for (const auto& [key, yaml, says] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"thp.enabled", "allways",
            "thp.enabled cannot be \"allways\", did you mean always?; expected one of always, "
            "madvise, never"},
           {"cpu.smt", "true",
            "cpu.smt cannot be \"true\"; expected one of on, off, forceoff, notsupported, "
            "notimplemented"},
           {"cpu.vendor", "AMD",
            "cpu.vendor is hardly \"AMD\", did you mean AuthenticAMD?; expected one of "
            "GenuineIntel, AuthenticAMD, HygonGenuine, ARM, NVIDIA, Ampere"},
           {"cpu.vendor", "'!=intel'",
            "cpu.vendor is hardly \"intel\", did you mean GenuineIntel?; expected one of "
            "GenuineIntel, AuthenticAMD, HygonGenuine, ARM, NVIDIA, Ampere"},
           {"thp.enabled", "[always, no]",
            "thp.enabled cannot be \"no\"; expected one of always, madvise, never"}}) {
    const Result<Want> want = want_of(key, yaml);
    ASSERT_FALSE(want) << key << ": " << yaml;
    EXPECT_THAT(want.error().message, testing::EndsWith(": " + says));
  }
  // The kernel's own words, and numbers of threads.
  for (const auto& [key, yaml] :
       std::vector<std::pair<std::string, std::string>>{{"cpu.vendor", "CentaurHauls"},
                                                        {"cpu.vendor", "'0x99'"},
                                                        {"gpu.bound_to", "xe"},
                                                        {"cpu.smt", "2"},
                                                        {"cpu.smt", "'off'"},
                                                        {"thp.enabled", "absent"},
                                                        {"gpu.mig", "{enabled: 4, disabled: 4}"}}) {
    EXPECT_TRUE(want_of(key, yaml)) << key << ": " << yaml;
  }
  EXPECT_FALSE(want_of("gpu.mig", "{on: 4}"));
}

TEST(Want, NothingIsWrittenAbsent) {
  EXPECT_THAT(want_of("driver", "none").error().message,
              testing::EndsWith("what must not be there is written absent"));
}

TEST(Want, WhyNothingIsDecidedIsTold) {
  const auto why = [](std::string_view key, std::string_view yaml, const Reading& reading) {
    return why_undecided(*resolve(key)->entry, *want_of(key, yaml), reading);
  };
  EXPECT_EQ(why("os.id", "'<5'", Value::scalar("debian")),
            "it is the text \"debian\", and text has no order");
  EXPECT_EQ(why("os.id", "['<5', '>7']", Value::scalar("debian")),
            "it is the text \"debian\", and text has no order");
  EXPECT_EQ(why("os.id", "'<5'", Unknown{Why::denied, "", "root"}),
            "it is unknown (denied, needs root)");
  EXPECT_EQ(why("driver", "570.124.06", Value::prefix("570.124")),
            "only the beginning of it is known, 570.124");
  EXPECT_EQ(why("os.id", "'<5'", Value::scalar("4")), "");
  EXPECT_EQ(why("os.id", "debian", Absent{}), "");
  EXPECT_EQ(why("driver", "'>=535'", Value::scalar("unknown")),
            "it is \"unknown\", which is no version");
  EXPECT_EQ(why("cuda", "'!=12.8.1'", Value::one_of({"12.8.1", "12.8.2"})),
            "it is one of 12.8.1, 12.8.2, and nothing says which");
}

TEST(Meets, KernelsByReleaseAndLevel) {
  const Reading level = Value::scalar("6.1.192");
  const Reading part = Value::prefix("5.4");
  const std::string release = "6.1.0-57-amd64";
  const std::vector<std::tuple<const char*, Reading, Reading, Truth>> rows = {
      {"'>=6.1.100,!=6.1.0-56-amd64'", Value::scalar(release), level, Truth::yes},
      {"'>=6.1.100,!=6.1.0-57-amd64'", Value::scalar(release), level, Truth::no},
      {"'>=6.2'", Value::scalar(release), level, Truth::no},
      {"'>=5.5'", Value::scalar("5.4.0-169-generic"), part, Truth::no},
      {"'>=5.4.3'", Value::scalar("5.4.0-169-generic"), part, Truth::unknown},
      {"'>=5.4.3,!=5.4.0-169-generic'", Value::scalar("5.4.0-169-generic"), part, Truth::no},
      // Without a stated level the release decides as much as it can.
      {"'>=6.1'", Value::scalar(release), Unknown{}, Truth::yes},
      {"'>=6.1.3'", Value::scalar(release), Unknown{}, Truth::unknown},
      {"'>=5.5'", Value::scalar("5.15.0-91-generic"), Unknown{}, Truth::yes},
      {"'<5.16'", Value::scalar("5.15.0-91-generic"), Unknown{}, Truth::yes},
      {"'>=5.16'", Value::scalar("5.15.0-91-generic"), Unknown{}, Truth::no},
      {"'~=5.10'", Value::scalar("5.15.0-91-generic"), Unknown{}, Truth::yes},
      {"'~=6.0'", Value::scalar("5.15.0-91-generic"), Unknown{}, Truth::no},
      {"'>5.15'", Value::scalar("5.15.0-91-generic"), Unknown{}, Truth::unknown},
      {"'<=5.15'", Value::scalar("5.15.0-91-generic"), Unknown{}, Truth::unknown},
      {"'>=5.15'", Value::scalar("5.15.0-91-generic"), Unknown{}, Truth::yes},
      {"'>5.15,<=5.15.200'", Value::scalar("5.15.167.4-microsoft-standard-WSL2"), Unknown{},
       Truth::yes},
      {"'>=5.14.1'", Value::scalar("5.14.0-362.8.1.el9_3.x86_64"), Unknown{}, Truth::no},
      {"'>=6.8.2'", Value::scalar("6.8.1-arch1-1"), Absent{}, Truth::no},
      {"'>=5.5'", Value::prefix("5.15.0"), Unknown{}, Truth::yes},
      {"'>=5.15.3'", Value::prefix("5.15.0"), Unknown{}, Truth::unknown},
      {"'>=5.5'", Value::prefix("5"), Unknown{}, Truth::unknown},
      {"'>=5.5'", Value::scalar("linux-next"), Unknown{}, Truth::unknown},
      {"'>=6.1,!=6.1.0-57-amd64'", Value::scalar(release), Unknown{}, Truth::no},
      {"'!=6.1.0-57-amd64'", Value::scalar(release), Unknown{}, Truth::no},
      {"'!=6.1.0-56-amd64'", Value::scalar(release), Unknown{}, Truth::yes},
      {"'>=6.1,!=6.1.0-57-amd64'", Value::prefix("6.1.0-57"), level, Truth::unknown},
      {"'>=6.2,!=6.1.0-57-amd64'", Value::prefix("6.1.0-57"), level, Truth::no},
  };
  for (const auto& [yaml, found, upstream, met] : rows) {
    EXPECT_EQ(meets_yaml("kernel", yaml, found, upstream), met)
        << yaml << " " << describe(found) << " " << describe(upstream);
  }
}

TEST(Meets, ByTheTypeOfTheKey) {
  const std::vector<Row> rows = {
      {"driver", "535.129.03", Value::scalar("535.129.03"), Truth::yes},
      {"driver", "535.129.03", Value::scalar("535.129.01"), Truth::no},
      {"driver", "'>=535'", Value::scalar("535.129.03"), Truth::yes},
      {"driver", "absent", Absent{"not loaded"}, Truth::yes},
      {"driver", "absent", Value::scalar("535.129.03"), Truth::no},
      {"driver", "535.129.03", Absent{}, Truth::no},
      {"driver", "535.129.03", Unknown{Why::denied, "", ""}, Truth::unknown},
      {"driver", "any", Unknown{Why::denied, "", ""}, Truth::yes},
      {"driver", "570.124.06", Value::prefix("570.124"), Truth::unknown},
      {"driver", "570.125.06", Value::prefix("570.124"), Truth::no},
      {"driver", "570.124.*", Value::prefix("570.124"), Truth::yes},
      {"cuda", "12.10", Value::scalar("12.1"), Truth::no},
      {"cuda", "12.8.2", Value::one_of({"12.8.1", "12.8.2"}), Truth::yes},
      {"cuda", "12.8.3", Value::one_of({"12.8.1", "12.8.2"}), Truth::no},
      {"cuda", "'!=12.8.2'", Value::one_of({"12.8.1", "12.8.2"}), Truth::unknown},
      {"cuda", "'!=12.8.3'", Value::one_of({"12.8.1", "12.8.2"}), Truth::yes},
      {"cuda", "'!=12.8.*'", Value::one_of({"12.8.1", "12.8.2"}), Truth::no},
      {"cuda", "'>=12.8.2,!=12.8.1'", Value::one_of({"12.8.1", "12.8.2"}), Truth::unknown},
      {"cuda", "'>=12.9,!=12.8.1'", Value::one_of({"12.8.1", "12.8.2"}), Truth::no},
      {"nccl", "[2.19.3, 2.20.5]", Value::scalar("2.20.5"), Truth::yes},
      {"nccl", "[2.19.3, 2.20.5]", Value::scalar("2.21.5"), Truth::no},
      {"glibc", "'!=2.31'", Value::scalar("2.31"), Truth::no},
      {"glibc", "'!=2.31'", Absent{"musl"}, Truth::yes},
      {"torch", "2.2.1+cu121", Value::scalar("2.2.1+cu121"), Truth::yes},
      {"torch", "'==2.2.1'", Value::scalar("2.2.1+cu121"), Truth::yes},
      {"sysctl.kernel.watchdog_thresh", "60", Value::scalar("60"), Truth::yes},
      {"sysctl.kernel.watchdog_thresh", "'>=30'", Value::scalar("60"), Truth::yes},
      {"sysctl.kernel.watchdog_thresh", "'>=30,<60'", Value::scalar("60"), Truth::no},
      {"sysctl.kernel.watchdog_thresh", "'!=60'", Value::scalar("60"), Truth::no},
      {"limits.memlock", "unlimited", Value::scalar("unlimited"), Truth::yes},
      {"limits.memlock", "'>=64MiB'", Value::scalar("unlimited"), Truth::yes},
      {"limits.memlock", "'>=64MiB'", Value::scalar("65536"), Truth::no},
      {"memory.total", "1000000000", Value::scalar("1010000000"), Truth::yes},
      {"memory.total", "1000000000", Value::scalar("1100000000"), Truth::no},
      {"bios.secure_boot", "yes", Value::scalar("true"), Truth::yes},
      {"clocksource", "tsc", Value::scalar("hpet"), Truth::no},
      {"os.version", "==rolling", Value::scalar("rolling"), Truth::yes},
      {"os.version", "==rolling", Value::scalar("12"), Truth::no},
      {"python.package.pytz", "==2004d", Value::scalar("2004d"), Truth::yes},
      {"python.package.pytz", "==2004d", Value::scalar("2004.1"), Truth::no},
      {"python.package.pytz", "== 1.0_custom x", Value::scalar("1.0_custom x"), Truth::yes},
      {"python.package.pytz", "===1.*", Value::scalar("1.*"), Truth::yes},
      {"python.package.pytz", "===1.*", Value::scalar("1.5"), Truth::no},
      {"python.package.pytz", "'==>=1.0'", Value::scalar(">=1.0"), Truth::yes},
      {"python.package.pytz", "==1.0", Value::scalar("1.0.0"), Truth::yes},
      {"driver", "[==old, 535.129.03]", Value::scalar("old"), Truth::yes},
      {"gpu.count", "==many", Value::scalar("many"), Truth::yes},
      {"gpu.count", "'==8'", Value::scalar("8"), Truth::yes},
      {"bios.secure_boot", "==maybe", Value::scalar("maybe"), Truth::yes},
      {"thp.enabled", "==sometimes", Value::scalar("sometimes"), Truth::yes},
      {"gpu.mig", "{==half: 4, disabled: 4}", Value::tally({{"half", "4"}, {"disabled", "4"}}),
       Truth::yes},
      {"env.NCCL_DEBUG", "==absent", Value::scalar("absent"), Truth::yes},
      {"env.NCCL_DEBUG", "''", Value::scalar(""), Truth::yes},
      {"env.NCCL_DEBUG", "''", Absent{}, Truth::no},
      {"env.LD_LIBRARY_PATH", "/a:/b", Value::list({"/a", "/b"}), Truth::yes},
      {"env.LD_LIBRARY_PATH", "[/b, /a]", Value::list({"/a", "/b"}), Truth::no},
      {"kernel.taint", "[O, P]", Value::set({"P", "O"}), Truth::yes},
      {"kernel.cmdline", "[quiet, iommu=pt]",
       Value::list({"root=/dev/sda1", "quiet", "BOOT_IMAGE=/x", "iommu=pt"}), Truth::yes},
      {"kernel.cmdline", "[iommu=pt, quiet]", Value::list({"quiet", "iommu=pt"}), Truth::no},
      {"gpu.name", "NVIDIA A100", Value::scalar("NVIDIA A100"), Truth::yes},
      {"gpu.name", "NVIDIA A100", Value::tally({{"NVIDIA A100", "7"}, {"NVIDIA H100", "1"}}),
       Truth::no},
      {"gpu.name", "{NVIDIA A100: 7, NVIDIA H100: 1}",
       Value::tally({{"NVIDIA A100", "7"}, {"NVIDIA H100", "1"}}), Truth::yes},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(meets_yaml(row.key, row.wanted, row.found), row.met)
        << row.key << ": " << row.wanted << " against " << describe(row.found);
  }
}

TEST(Meets, OrderAmongKernelsIsThatOfTheUpstreamLevel) {
  const Reading debian = Value::scalar("6.1.0-57-amd64");
  EXPECT_EQ(meets_yaml("kernel", "'>=6.1.100'", debian, Value::scalar("6.1.192")), Truth::yes);
  EXPECT_EQ(meets_yaml("kernel", "'>=6.1.100'", debian, Value::prefix("6.1")), Truth::unknown);
  EXPECT_EQ(
      meets_yaml("kernel", "'>=5.5'", Value::scalar("5.4.0-149-generic"), Value::prefix("5.4")),
      Truth::no);
  EXPECT_EQ(meets_yaml("kernel", "'>=5.5'", debian, Value::prefix("6.1")), Truth::yes);
  EXPECT_EQ(meets_yaml("kernel", "'>=6.1.100'", debian, Unknown{}), Truth::unknown);
  EXPECT_EQ(meets_yaml("kernel", "6.1.0-57-amd64", debian, Unknown{}), Truth::yes);
  EXPECT_EQ(meets_yaml("kernel", "6.1.0-58-amd64", debian, Unknown{}), Truth::no);
}

TEST(Meets, AVariableOfWhichOnlyTheDigestIsKnownIsComparedByIt) {
  constexpr const char* kBar =
      "sha256:fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9";
  const Reading bar = Value::scalar(kBar);
  const std::string written = kBar;
  for (const auto& [key, yaml, met] : std::vector<std::tuple<std::string, std::string, Truth>>{
           {"env.FOO", "bar", Truth::yes},
           {"env.FOO", "==bar", Truth::yes},
           {"env.FOO", "'!=bar'", Truth::no},
           {"env.FOO", "baz", Truth::no},
           {"env.FOO", "' bar'", Truth::no},
           {"env.FOO", "'!=baz'", Truth::yes},
           {"env.FOO", "[foo, bar]", Truth::yes},
           {"env.FOO", "[foo, baz]", Truth::no},
           {"env.FOO", "absent", Truth::no},
           {"env.FOO", written, Truth::yes},
           {"env.FOO", "'!=" + written + "'", Truth::no},
           {"env.FOO", "sha256:" + std::string(64, '0'), Truth::no},
           {"env.FOO", "'>=3'", Truth::unknown},
           {"env.FOO", "'>=3,!=4'", Truth::unknown},
           {"env.MYPATH", "bar", Truth::yes},
           {"env.MYPATH", written, Truth::yes}}) {
    EXPECT_EQ(meets_yaml(key, yaml, bar), met) << key << ": " << yaml;
  }
  const Reading folders =
      Value::scalar("sha256:9188ed760c7206f1eba26ffdbb1addcd1ceb736b0e67b60f7d41ae0bc8bd0d7c");
  EXPECT_EQ(meets_yaml("env.MYPATH", "/a:/b", folders), Truth::yes);
  EXPECT_EQ(meets_yaml("env.MYPATH", "[/a, /b]", folders), Truth::yes);
  EXPECT_EQ(meets_yaml("env.MYPATH", "[/b, /a]", folders), Truth::no);
  EXPECT_THAT(why_undecided(*resolve("env.FOO")->entry, *want_of("env.FOO", "'>=3'"), bar),
              testing::StartsWith("of its value only the digest is known, which has no order"));
}

TEST(ParseWant, RefusesWithPositionAndReason) {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"driver", "535..03"},      {"driver", "'!=535..03'"}, {"driver", "'==535,==x'"},
      {"driver", "'==1.0 <2'"},   {"driver", "'=='"},        {"driver", "'>=2,<1'"},
      {"gpu.count", "many"},      {"gpu.count", "'>=8,<8'"}, {"bios.secure_boot", "maybe"},
      {"clocksource", "'>=tsc'"}, {"driver", "~"},           {"driver", "[]"},
      {"driver", "{a: b}"},       {"gpu.name", "{A100: x}"}};
  for (const auto& [key, yaml] : rows) {
    const Result<Want> want = want_of(key, yaml);
    ASSERT_FALSE(want) << key << ": " << yaml;
    EXPECT_EQ(want.error().code, Errc::malformed);
    EXPECT_TRUE(want.error().message.starts_with("t.yaml:1:")) << want.error().message;
  }
}

TEST(ParseWant, ReadsBackWhatToNodeWrites) {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"driver", "535.129.03"},
      {"driver", "'>=535,<570'"},
      {"cuda", "12.1.*"},
      {"nccl", "[2.19.3, 2.20.5]"},
      {"glibc", "'!=2.31'"},
      {"env.NCCL_DEBUG", "absent"},
      {"env.NCCL_DEBUG", "==absent"},
      {"env.NCCL_DEBUG", "==any"},
      {"env.NCCL_DEBUG", "'==>=3'"},
      {"env.NCCL_DEBUG", "'!=WARN'"},
      {"driver", "==rolling"},
      {"driver", "===1.*"},
      {"rpm.package.glibc", "'===~'"},
      {"driver", "'===1,2'"},
      {"driver", "===absent"},
      {"driver", "'==='"},
      {"driver", "'=== x '"},
      {"driver", "'====x'"},
      {"driver", "[==a, 1.0]"},
      {"gpu.count", "==many"},
      {"gpu.count", "'===1,000'"},
      {"bios.secure_boot", "==maybe"},
      {"thp.enabled", "==sometimes"},
      {"gpu.mig", "{==on: 4, ====x: 1, enabled: 3}"},
      {"env.NCCL_DEBUG", "'== x '"},
      {"env.NCCL_DEBUG", "'==<a,b'"},
      {"limits.memlock", "'>=64MiB'"},
      {"kernel.cmdline", "[quiet, a=b]"},
      {"kernel.taint", "[]"},
      {"env.PYTHONPATH", "':/a:'"},
      {"gpu.vbios", "{92.00: 7, 93.00: 1}"},
      {"bios.secure_boot", "on"},
      {"driver", "any"}};
  for (const auto& [key, yaml] : rows) {
    const Result<Want> want = want_of(key, yaml);
    ASSERT_TRUE(want) << key << ": " << yaml << ": " << want.error().message;
    const std::string text = doc::render_yaml(to_node(*resolve(key), *want));
    const Result<Want> again = want_of(key, text);
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(*again, *want) << key << ": " << yaml << " became " << text;
  }
}

TEST(Same, KnowsWhatItDoesNotKnow) {
  const Entry& driver = *entry_of("driver");
  const Reading known = Value::scalar("570.124.06");
  EXPECT_EQ(same(driver, known, Unknown{Why::denied, "", ""}), Truth::unknown);
  EXPECT_EQ(same(driver, Absent{}, Unknown{}), Truth::unknown);
  EXPECT_EQ(same(driver, Absent{"a"}, Absent{"b"}), Truth::yes);
  EXPECT_EQ(same(driver, Absent{}, known), Truth::no);
  EXPECT_EQ(same(driver, Value::prefix("570.124"), known), Truth::unknown);
  EXPECT_EQ(same(driver, Value::prefix("570.12"), known), Truth::no);
  EXPECT_EQ(same(driver, Value::prefix("570.124"), Value::prefix("570.124")), Truth::unknown);
  EXPECT_EQ(same(driver, known, known), Truth::yes);
}

TEST(Same, OverlappingPossibilitiesAreNoDifference) {
  const Entry& cuda = *entry_of("cuda");
  EXPECT_EQ(same(cuda, Value::one_of({"12.8.1", "12.8.2"}), Value::scalar("12.8.1")),
            Truth::unknown);
  EXPECT_EQ(same(cuda, Value::one_of({"12.8.1", "12.8.2"}), Value::scalar("12.9.0")), Truth::no);
  EXPECT_EQ(same(cuda, Value::one_of({"12.8.1", "12.8.2"}), Value::one_of({"12.8.1", "12.8.2"})),
            Truth::yes);
}

TEST(Same, IdentityWordsOfACommandLineDoNotCount) {
  const Entry& cmdline = *entry_of("kernel.cmdline");
  EXPECT_EQ(same(cmdline, Value::list({"BOOT_IMAGE=/a", "root=UUID=1", "ro", "resume=/dev/b"}),
                 Value::list({"BOOT_IMAGE=/b", "root=UUID=2", "ro", "ip=10.0.0.1"})),
            Truth::yes);
  EXPECT_EQ(same(cmdline, Value::list({"ro", "quiet"}), Value::list({"quiet", "ro"})), Truth::no);
}

}  // namespace
}  // namespace goldenv::facts

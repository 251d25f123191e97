#include <gtest/gtest.h>

#include "support/program.h"
#include "support/temp_dir.h"

namespace goldenv {
namespace {

/// `goldenv explain` on a small recorded machine.
class Explain : public ::testing::Test {
 protected:
  Explain() {
    temp_.file("m/record.yaml",
               "goldenv_record: 0\nuname: {node: node17, release: 6.1.0, version: v, machine: "
               "x86_64}\n");
    temp_.file("m/proc/cmdline", "quiet iommu=pt\n");
    temp_.file("m/proc/sys/kernel/watchdog_thresh", "30\n");
    temp_.file("m/proc/sys/vm/swappiness", "60\n");
    temp_.file("m/usr/lib/systemd/systemd-sysctl", "");
    temp_.file("m/etc/sysctl.d/10-gpu.conf", "kernel.watchdog_thresh = 60\nvm.swappiness = 1\n");
    temp_.file("m/etc/sysctl.d/90-latency.conf", "\n\nkernel.watchdog_thresh = 30\n");
    temp_.file("m/var/lib/dpkg/info/latency.list", "/.\n/etc/sysctl.d/90-latency.conf\n");
    temp_.file("m/var/log/dpkg.log", "2026-11-24 10:17:02 install latency:all <none> 1.0\n");
  }

  test::Ended explain(const std::string& key, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {GOLDENV_PROGRAM, "explain", key, "root:m"};
    words.insert(words.end(), more.begin(), more.end());
    return test::run({std::move(words),
                      std::map<std::string, std::string>{{"PATH", "/usr/bin:/bin"},
                                                         {"HOME", temp_.folder("home")}},
                      temp_.path()});
  }

  test::TempDir temp_;
};

TEST_F(Explain, SaysWhatSetAValueAndWillAtTheNextBoot) {
  const test::Ended ended = explain("sysctl.kernel.watchdog_thresh");
  EXPECT_EQ(ended.status, 0) << ended.err;
  for (const char* line :
       {"set by     /etc/sysctl.d/90-latency.conf:3   kernel.watchdog_thresh = 30\n",
        "             of package latency\n",
        "             touched 2026-11-24 10:17:02 install latency:all <none> 1.0\n",
        "             over /etc/sysctl.d/10-gpu.conf:1   kernel.watchdog_thresh = 60\n",
        "  next boot  30  (same line)\n"}) {
    EXPECT_NE(ended.out.find(line), std::string::npos) << line << ended.out;
  }
}

TEST_F(Explain, SaysThatAValueWasChangedSince) {
  const test::Ended ended = explain("sysctl.vm.swappiness");
  EXPECT_NE(ended.out.find("not what the boot set: /etc/sysctl.d/10-gpu.conf:2 has 1;"),
            std::string::npos)
      << ended.out;
  EXPECT_NE(ended.out.find("next boot  1  (/etc/sysctl.d/10-gpu.conf:2)\n"), std::string::npos)
      << ended.out;
}

TEST_F(Explain, GivesTheSameAsData) {
  const test::Ended ended = explain("sysctl.kernel.watchdog_thresh", {"--format", "yaml"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  for (const char* part : {"origin:", "set_by:", "file: /etc/sysctl.d/90-latency.conf",
                           "over:", "package: latency", "touched: ", "next_boot:"}) {
    EXPECT_NE(ended.out.find(part), std::string::npos) << part << "\n" << ended.out;
  }
}

TEST_F(Explain, AFactOfATextHasNoOrigin) {
  temp_.file("s.yaml",
             "goldenv_snapshot: 0\nsource: x\nlisted: []\nfacts: {driver: {value: 1.2}}\n");
  const test::Ended ended = test::run({{GOLDENV_PROGRAM, "explain", "driver", "s.yaml"},
                                       std::map<std::string, std::string>{{"HOME", "/nonexistent"}},
                                       temp_.path()});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out.find("set by"), std::string::npos) << ended.out;
}

/// `goldenv explain` in a folder with a snapshot of driver 535.1, gpu.count 8.
class ExplainPin : public ::testing::Test {
 protected:
  ExplainPin() {
    temp_.file("s.yaml",
               "goldenv_snapshot: 0\nsource: x\nlisted: []\n"
               "facts: {driver: {value: 535.1}, gpu.count: {value: 8}}\n");
  }

  test::Ended explain(std::vector<std::string> more,
                      std::map<std::string, std::string> environment = {}) {
    std::vector<std::string> words = {GOLDENV_PROGRAM, "explain"};
    words.insert(words.end(), more.begin(), more.end());
    environment.insert({"HOME", "/nonexistent"});
    return test::run({std::move(words), std::move(environment), temp_.path()});
  }

  test::TempDir temp_;
};

TEST_F(ExplainPin, SaysHowItStands) {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"535.1", "(must): met\n"},
      {"535.2", "(must): not met\n"},
      {"{want: 535.2, when: gpu.count == 4}", "(must): does not apply\n"},
      {"{want: 535.2, when: gpu.count == 8}", "(must): not met\n"},
      {"{want: 535.2, when: cuda == 12.1}", "(must): not known\n"},
      {"{want: 535.1, when: cuda == 12.1}", "(must): not known\n"}};
  for (const auto& [want, state] : rows) {
    temp_.file("m.yaml", "goldenv: 1\npins: {driver: " + std::string(want) + "}\n");
    const test::Ended ended = explain({"driver", "s.yaml", "--manifest", "m.yaml"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_NE(ended.out.find(state), std::string::npos) << want << "\n" << ended.out;
  }
}

TEST_F(ExplainPin, LooksAtWhatTheConditionNames) {
  temp_.file("m/record.yaml",
             "goldenv_record: 0\nuname: {node: n, release: 6.1.0, version: v, machine: x86_64}\n");
  temp_.file("m/proc/sys/vm/swappiness", "60\n");
  temp_.file("m/proc/sys/vm/dirty_ratio", "20\n");
  temp_.file(
      "m.yaml",
      "goldenv: 1\npins: {sysctl.vm.swappiness: {want: 1, when: sysctl.vm.dirty_ratio == 10}}\n");
  const test::Ended ended = explain({"sysctl.vm.swappiness", "root:m", "--manifest", "m.yaml"});
  EXPECT_NE(ended.out.find("(must): does not apply\n"), std::string::npos)
      << ended.out << ended.err;
}

TEST_F(ExplainPin, SaysWhichManifestIsPassedOver) {
  temp_.file("goldenv.yaml", "goldenv: 1\npins: {driver: 535.1}\n");
  temp_.file("other.yaml", "goldenv: 1\npins: {driver: 535.2}\n");
  const test::Ended ended = explain({"driver", "s.yaml"}, {{"GOLDENV_MANIFEST", "other.yaml"}});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.err.find("$GOLDENV_MANIFEST (other.yaml) is passed over"), std::string::npos)
      << ended.err;
}

TEST_F(ExplainPin, APythonThatIsNotThereIsRefused) {
  temp_.file("m/record.yaml",
             "goldenv_record: 0\nuname: {node: n, release: 6.1.0, version: v, machine: x86_64}\n");
  const test::Ended ended = explain({"torch", "root:m", "--python", "/none"});
  EXPECT_EQ(ended.status, 2) << ended.out;
  EXPECT_NE(ended.err.find("--python: "), std::string::npos) << ended.err;
}

TEST_F(ExplainPin, SwappedWordsAndSlipsAreTold) {
  const test::Ended swapped = explain({"s.yaml", "driver"});
  EXPECT_EQ(swapped.status, 2);
  EXPECT_NE(swapped.err.find("did you mean goldenv explain driver s.yaml?"), std::string::npos)
      << swapped.err;
  const test::Ended slip = explain({"env.NCCL_DBUG", "s.yaml"});
  EXPECT_EQ(slip.status, 0);
  EXPECT_NE(slip.err.find("did you mean env.NCCL_DEBUG?"), std::string::npos) << slip.err;
}

}  // namespace
}  // namespace goldenv

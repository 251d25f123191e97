#include "probe/unit_limits.h"

#include <gtest/gtest.h>

#include "host/process.h"
#include "probe/scan.h"
#include "support/fake_host.h"

namespace goldenv::probe {
extern const Probe unit_limits;
namespace {

using test::FakeHost;
using test::told;

TEST(UnitLimitText, NumbersUnitsAndPairs) {
  EXPECT_EQ(parse_unit_limit("infinity"), (UnitLimit{"unlimited", "unlimited"}));
  EXPECT_EQ(parse_unit_limit("8M"), (UnitLimit{"8388608", "8388608"}));
  EXPECT_EQ(parse_unit_limit("1024:infinity"), (UnitLimit{"1024", "unlimited"}));
  EXPECT_EQ(parse_unit_limit("0"), (UnitLimit{"0", "0"}));
  for (const char* bad : {"", "x", "8Q", "1:", ":1", "-1", "99999999999E"}) {
    EXPECT_FALSE(parse_unit_limit(bad)) << bad;
  }
}

struct Slurm : FakeHost {
  Slurm() {
    file("/usr/lib/systemd/system/slurmd.service",
         "[Service]\nLimitMEMLOCK=infinity\nLimitNOFILE=131072:262144\nLimitSTACK=x\n");
    file("/etc/systemd/system.conf", "[Manager]\nDefaultLimitCORE=0:infinity\n");
  }
};

TEST(UnitLimitsProbe, NamedUnitsAreAnswered) {
  Slurm host;
  const auto found =
      test::scan(host, unit_limits,
                 test::only({"limits.memlock@unit:slurmd", "limits.nofile@unit:slurmd",
                             "limits.nofile.hard@unit:slurmd", "limits.core@unit:slurmd",
                             "limits.stack@unit:slurmd", "limits.nproc@unit:slurmd",
                             "limits.memlock@unit:none"}));
  EXPECT_EQ(told(found, "limits.memlock@unit:slurmd"), "unlimited");
  EXPECT_EQ(told(found, "limits.nofile@unit:slurmd"), "131072");
  EXPECT_EQ(told(found, "limits.nofile.hard@unit:slurmd"), "262144");
  EXPECT_EQ(told(found, "limits.core@unit:slurmd"), "0");
  EXPECT_EQ(told(found, "limits.stack@unit:slurmd"), "unknown (unreadable)");
  EXPECT_EQ(told(found, "limits.nproc@unit:slurmd"), "absent (no file sets it)");
  EXPECT_EQ(told(found, "limits.memlock@unit:none"), "absent (no such unit)");
  EXPECT_EQ(found.find({"limits.memlock", "unit:slurmd"})->evidence.line, 2u);
}

TEST(UnitLimitsProbe, LaterDropInsWinAndAnEmptyOneTakesBack) {
  Slurm host;
  host.file("/etc/systemd/system/slurmd.service.d/10.conf", "[Service]\nLimitMEMLOCK=64M\n");
  const auto ask = test::only({"limits.memlock@unit:slurmd"});
  EXPECT_EQ(told(host, unit_limits, "limits.memlock@unit:slurmd", ask), "67108864");
  host.file("/etc/systemd/system/slurmd.service.d/20.conf", "[Service]\nLimitMEMLOCK=\n");
  EXPECT_EQ(told(host, unit_limits, "limits.memlock@unit:slurmd", ask), "absent (no file sets it)");
  host.deny("/etc/systemd/system/slurmd.service.d/10.conf");
  EXPECT_EQ(told(host, unit_limits, "limits.memlock@unit:slurmd", ask), "unknown (denied)");
}

TEST(UnitLimitsProbe, UnitThatTheSourceIsAboutStandsBesideItsProcess) {
  auto machine = std::make_unique<FakeHost>();
  machine->file("/etc/systemd/system/j.service", "[Service]\nLimitMEMLOCK=1G\n");
  host::Process about;
  about.unit = "j.service";
  about.name = "j.service";
  const auto host = host::host_without_process(std::move(machine), about, "is not running");
  const auto found = test::scan(*host, unit_limits);
  EXPECT_EQ(told(found, "limits.memlock@unit:j"), "1073741824");
  EXPECT_EQ(told(found, "limits.memlock.hard@unit:j"), "1073741824");
}

}  // namespace
}  // namespace goldenv::probe

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "facts/snapshot.h"
#include "manifest/manifest.h"
#include "privileged/privileged.h"

namespace goldenv::privileged {
namespace {

using facts::Absent;
using facts::Unknown;
using facts::Value;
using facts::Why;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Readings = std::vector<std::pair<std::string, facts::Reading>>;

Value text(std::string value) { return Value::scalar(std::move(value)); }

constexpr std::string_view kRecipe =
    "goldenv_recipe: 1\n"
    "component: dpkg.package.trial\n"
    "about: a trial\n"
    "sources:\n"
    "  - deb: trial\n"
    "    url: \"https://mirror.example/trial_{version}_all.deb\"\n"
    "    sha256:\n"
    "      \"1.0\": 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n"
    "      \"2.0\": 60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752\n"
    "needs: [root]\n";

recipe::Collection recipes() {
  recipe::Collection all = recipe::shipped_collection();
  const std::vector<recipe::Text> more = {{"trial.yaml", std::string(kRecipe)}};
  const Result<void> added = all.add(more);
  EXPECT_TRUE(added) << added.error().message;
  return all;
}

/// The plan for pins on a machine of which these are the readings.
Plan plan_for(const std::string& pins, const Readings& readings,
              const Around& around = {
                  .grub = true, .apt = true, .offered = {}, .unread = {}, .values = {}}) {
  const auto manifest = manifest::load("goldenv: 1\nname: train\npins:\n" + pins, "m.yaml",
                                       [](std::string_view, std::string_view) {
                                         return Error{Errc::absent, "no", {}};
                                       });
  EXPECT_TRUE(manifest) << manifest.error().message;
  if (!manifest) {
    return {};
  }
  std::vector<facts::Fact> facts;
  for (const auto& [key, reading] : readings) {
    facts.push_back({facts::FactKey::parse(key), reading, {}});
  }
  const recipe::Collection collection = recipes();
  return make_plan(pins_of_machine(*manifest, collection),
                   facts::make_snapshot("@live", {}, std::move(facts)), collection, around);
}

TEST(PrivilegedPlan, OnlyWhatIsKnownToDifferBecomesAStep) {
  const Plan plan = plan_for(
      "  sysctl.vm.swappiness: \"10\"\n  sysctl.vm.nr_hugepages: \"0\"\n"
      "  sysctl.kernel.panic: \"5\"\n",
      {{"sysctl.vm.swappiness", text("60")},
       {"sysctl.vm.nr_hugepages", text("0")},
       {"sysctl.kernel.panic", Unknown{Why::denied, "", "root"}}});
  ASSERT_THAT(plan.steps, SizeIs(1));
  EXPECT_EQ(plan.steps[0].name, "vm.swappiness");
  EXPECT_EQ(plan.steps[0].want, "10");
  EXPECT_EQ(plan.steps[0].have, "60");
  EXPECT_EQ(effect_of(plan.steps[0]), "now and at each boot");
  EXPECT_THAT(plan.unknown, ElementsAre(AllOf(Field(&Left::key, "sysctl.kernel.panic"),
                                              Field(&Left::why, HasSubstr("denied")))));
  EXPECT_THAT(plan.cannot, IsEmpty());
}

TEST(PrivilegedPlan, ASysctlForTheNextBootAloneLeavesTheKernelAsItIs) {
  const Plan plan = plan_for("  next_boot.sysctl.vm.swappiness: \"10\"\n",
                             {{"next_boot.sysctl.vm.swappiness", Absent{}}});
  ASSERT_THAT(plan.steps, SizeIs(1));
  EXPECT_FALSE(plan.steps[0].now);
  EXPECT_TRUE(plan.steps[0].lasting);
}

// No manifest that is read has such a key; nothing here hangs on that.
TEST(PrivilegedPlan, ANameThatWouldLeaveProcSysIsRefused) {
  for (const std::string name : {"sysctl.a.//.//.etc.passwd", "sysctl.a./.b", "sysctl.a b"}) {
    manifest::Pin pin;
    pin.key = {name, {}};
    pin.want.value = text("x");
    manifest::Manifest manifest;
    manifest.pins = {pin};
    const Plan plan =
        make_plan(manifest, facts::make_snapshot("@live", {}, {{pin.key, text("y"), {}}}),
                  recipes(), Around{});
    EXPECT_THAT(plan.steps, IsEmpty()) << name;
    EXPECT_THAT(plan.cannot, SizeIs(1)) << name;
  }
}

TEST(PrivilegedPlan, WhatLeavesAChoiceIsNamedAndNotChosen) {
  const Plan plan =
      plan_for("  sysctl.vm.swappiness: [\"1\", \"10\"]\n", {{"sysctl.vm.swappiness", text("60")}});
  EXPECT_THAT(plan.steps, IsEmpty());
  EXPECT_THAT(plan.cannot, ElementsAre(Field(&Left::why, HasSubstr("leaves a choice"))));
}

TEST(PrivilegedPlan, ParametersOfNvidiaGetTheirPrefix) {
  const Plan plan = plan_for("  module.nvidia.param.EnableGpuFirmware: \"0\"\n",
                             {{"module.nvidia.param.EnableGpuFirmware", text("1")}});
  ASSERT_THAT(plan.steps, SizeIs(1));
  EXPECT_EQ(plan.steps[0].name, "nvidia NVreg_EnableGpuFirmware");
}

TEST(PrivilegedPlan, WhatIsSetForTheNextBootWaits) {
  const Plan plan =
      plan_for("  module.nvidia.param.EnableGpuFirmware: \"0\"\n  kernel.cmdline.iommu: pt\n",
               {{"module.nvidia.param.EnableGpuFirmware", text("1")},
                {"next_boot.module.nvidia.param.EnableGpuFirmware", text("0")},
                {"kernel.cmdline", Value::list({"quiet"})},
                {"next_boot.kernel.cmdline", Value::list({"quiet", "iommu=pt"})}});
  EXPECT_THAT(plan.steps, IsEmpty());
  EXPECT_THAT(plan.waiting, SizeIs(2));
}

TEST(PrivilegedPlan, AWholeCommandLineComesToItsDifferentParameters) {
  const Plan plan = plan_for(
      "  kernel.cmdline: [root=/dev/sda1, iommu=pt, \"console=tty0\", \"console=ttyS0\"]\n",
      {{"kernel.cmdline", Value::list({"root=/dev/sdb1", "ro", "console=tty0", "nosmt"})}});
  ASSERT_THAT(plan.steps, SizeIs(3));
  EXPECT_THAT(plan.steps[0].words, ElementsAre("console=tty0", "console=ttyS0"));
  EXPECT_THAT(plan.steps[1].words, ElementsAre("iommu=pt"));
  EXPECT_EQ(plan.steps[2].name, "nosmt");
  EXPECT_THAT(plan.steps[2].words, IsEmpty());
}

TEST(PrivilegedPlan, WithoutGrubNoBootParameterIsPromised) {
  const Plan plan = plan_for("  kernel.cmdline.iommu: pt\n",
                             {{"kernel.cmdline", Value::list({"quiet"})}}, Around{});
  EXPECT_THAT(plan.steps, IsEmpty());
  EXPECT_THAT(plan.cannot, ElementsAre(Field(&Left::why, HasSubstr("update-grub"))));
}

TEST(PrivilegedPlan, ADebianPackageOfARecipeHasItsFileAndTheWayBack) {
  const Plan plan =
      plan_for("  dpkg.package.trial: \"2.0\"\n", {{"dpkg.package.trial", text("1.0")}});
  ASSERT_THAT(plan.steps, SizeIs(1));
  const Package& package = plan.steps[0].package;
  EXPECT_EQ(package.url, "https://mirror.example/trial_2.0_all.deb");
  EXPECT_EQ(package.sha256.substr(0, 8), "60303ae2");
  EXPECT_EQ(package.old_url, "https://mirror.example/trial_1.0_all.deb");
  EXPECT_EQ(package.old_sha256.substr(0, 8), "9f86d081");
}

TEST(PrivilegedPlan, ADebianPackageWithoutARecipeIsAptsAtThatVersion) {
  const Plan plan = plan_for("  dpkg.package.libnccl2: 2.20.5-1+cuda12.4\n",
                             {{"dpkg.package.libnccl2", text("2.19.3-1+cuda12.3")}});
  ASSERT_THAT(plan.steps, SizeIs(1));
  EXPECT_EQ(plan.steps[0].package, (Package{"libnccl2", "2.20.5-1+cuda12.4", "", "", "", ""}));
}

TEST(PrivilegedPlan, TheDriverIsThePackageThatTheDistributionOffers) {
  Around around{
      .grub = false, .apt = true, .offered = {}, .unread = {}, .values = {{"arch", "x86_64"}}};
  around.offered = {{"driver", "535.129.03", "nvidia-driver-535", "535.129.03-0ubuntu0.22.04.1"},
                    {"driver", "535.129.03", "nvidia-driver-535", "535.129.03-0ubuntu0.22.04.2"},
                    {"driver", "550.54.15", "nvidia-driver-550", "550.54.15-0ubuntu1"}};
  const Plan plan = plan_for("  driver: 535.129.03\n", {{"driver", text("525.60.13")}}, around);
  ASSERT_THAT(plan.steps, SizeIs(1)) << (plan.cannot.empty() ? "" : plan.cannot[0].why);
  EXPECT_EQ(plan.steps[0].package.name, "nvidia-driver-535");
  EXPECT_EQ(plan.steps[0].package.version, "535.129.03-0ubuntu0.22.04.2");
  EXPECT_EQ(effect_of(plan.steps[0]), "at the next boot");
  around.offered.clear();
  const Plan none = plan_for("  driver: 535.129.03\n", {{"driver", text("525.60.13")}}, around);
  EXPECT_THAT(none.steps, IsEmpty());
  EXPECT_THAT(none.cannot, ElementsAre(Field(&Left::why, HasSubstr("apt's lists"))));
}

TEST(PrivilegedPlan, AKernelsPackageIsNamedForItsRelease) {
  const Plan plan = plan_for(
      "  kernel: 6.1.0-42-amd64\n",
      {{"kernel", text("6.1.0-40-amd64")}, {"kernel.installed", Value::set({"6.1.0-40-amd64"})}});
  ASSERT_THAT(plan.steps, SizeIs(1));
  EXPECT_EQ(plan.steps[0].package, (Package{"linux-image-6.1.0-42-amd64", "", "", "", "", ""}));
  EXPECT_EQ(effect_of(plan.steps[0]), "at the next boot");
}

TEST(PrivilegedPlan, AKernelThatIsInstalledIsNotInstalledAgain) {
  const Readings readings = {{"kernel", text("6.1.0-40-amd64")},
                             {"kernel.installed", Value::set({"6.1.0-40-amd64", "6.1.0-42-amd64"})},
                             {"next_boot.kernel", text("6.1.0-42-amd64")}};
  EXPECT_THAT(plan_for("  kernel: 6.1.0-42-amd64\n", readings).waiting, SizeIs(1));
}

TEST(PrivilegedPlan, TheCLibraryAndWhatHasNoStepAreNamed) {
  const Plan plan = plan_for("  glibc: \"2.36\"\n  clocksource: tsc\n",
                             {{"glibc", text("2.31")}, {"clocksource", text("hpet")}});
  EXPECT_THAT(plan.steps, IsEmpty());
  EXPECT_THAT(plan.cannot, SizeIs(2));
}

TEST(PrivilegedPlan, OfAUsersOwnFoldersNothingIsSaid) {
  const Plan plan =
      plan_for("  nccl: 2.20.5\n  python.package.numpy: 1.26.4\n", {{"nccl", text("2.19.3")}});
  EXPECT_THAT(plan.steps, IsEmpty());
  EXPECT_THAT(plan.cannot, IsEmpty());
  EXPECT_THAT(plan.unknown, IsEmpty());
}

TEST(PrivilegedPlan, TheLinkOfCudaIsChangedOnlyIfItIsOne) {
  EXPECT_THAT(plan_for("  cuda.toolkit.link: /usr/local/cuda-12.1\n",
                       {{"cuda.toolkit.link", text("/usr/local/cuda-11.8")}})
                  .steps,
              SizeIs(1));
  EXPECT_THAT(
      plan_for("  cuda.toolkit.link: /usr/local/cuda-12.1\n", {{"cuda.toolkit.link", Absent{}}})
          .cannot,
      SizeIs(1));
}

}  // namespace
}  // namespace goldenv::privileged

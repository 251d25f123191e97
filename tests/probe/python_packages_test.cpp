#include "probe/python_packages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/host.h"
#include "probe/python_machine.h"
#include "probe/scan.h"
#include "support/temp_dir.h"

namespace goldenv::probe {
extern const Probe python_packages;
extern const Probe python_conda;
namespace {

using test::PythonMachine;
using test::told;
using testing::Contains;
using testing::HasSubstr;

const std::string kSite = "/usr/local/lib/python3.11/site-packages";

/// A machine with one Python, into whose site-packages the tests put things.
struct Machine : PythonMachine {
  Machine() {
    python("/usr/local", "3.11.7");
    host.folder(kSite);
  }
  facts::Snapshot scan(Request request = {}) const {
    return test::scan(host, python_packages, std::move(request));
  }
  std::string told(std::string_view key, Request request = {}) const {
    return test::told(host, python_packages, key, std::move(request));
  }
};

std::string detail(const facts::Snapshot& snapshot, const std::string& key) {
  const facts::Fact* fact = snapshot.find({key, ""});
  const auto* unknown = fact == nullptr ? nullptr : std::get_if<facts::Unknown>(&fact->reading);
  return unknown == nullptr ? "" : unknown->detail;
}

TEST(PythonPackages, NamesAndVersionsComeFromTheNamesOfTheFolders) {
  Machine machine;
  machine.package(kSite, "nvidia_nccl_cu12-2.18.1").package(kSite, "Zope.Interface-5.0+l.1");
  const auto found = machine.scan();
  EXPECT_EQ(told(found, "python.package.nvidia-nccl-cu12"), "2.18.1");
  EXPECT_EQ(told(found, "python.package.zope-interface"), "5.0+l.1");
  EXPECT_EQ(told(found, "python.duplicates"), "absent (every package is there once)");
  EXPECT_EQ(told(found, "python.broken"), "absent (no left-overs)");
  EXPECT_THAT(found.listed, Contains("python.package"));
  EXPECT_EQ(found.find({"python.package.nvidia-nccl-cu12", ""})->evidence.from,
            kSite + "/nvidia_nccl_cu12-2.18.1.dist-info");
}

TEST(PythonPackages, TorchIsAKeyOfItsOwn) {
  Machine machine;
  machine.torch(kSite, "2.1.2");
  EXPECT_EQ(machine.told("python.package.torch"), "not recorded");
}

TEST(PythonPackages, MetadataDecidesWhereTheNameIsOdd) {
  Machine machine;
  machine.host.file(kSite + "/foo-1.0_x.dist-info/METADATA", "Name: Foo\nVersion: 1.0+x\n\n");
  machine.host.file(kSite + "/bar.egg-info/PKG-INFO", "Name: bar\nVersion: 2.0\n");
  machine.host.file(kSite + "/baz-3.0-py3.11.egg-info", "Name: baz\nVersion: 3.0\n");
  machine.host.folder(kSite + "/qux-4.0-py3.11.egg-info");  // its name must do
  const auto found = machine.scan();
  EXPECT_EQ(told(found, "python.package.foo"), "1.0+x");
  EXPECT_EQ(told(found, "python.package.bar"), "2.0");
  EXPECT_EQ(told(found, "python.package.baz"), "3.0");
  EXPECT_EQ(told(found, "python.package.qux"), "4.0");
}

TEST(PythonPackages, TheFirstFolderOfThePathWins) {
  Machine machine;
  machine.package(kSite, "numpy-1.26.0");
  machine.package("/home/u/.local/lib/python3.11/site-packages", "numpy-1.24.1");
  const auto found = machine.scan();
  EXPECT_EQ(told(found, "python.package.numpy"), "1.24.1");
  EXPECT_THAT(found.find({"python.package.numpy", ""})->evidence.notes,
              Contains("also 1.26.0: " + kSite + "/numpy-1.26.0.dist-info"));
  EXPECT_EQ(told(found, "python.duplicates"), "absent (every package is there once)");
}

TEST(PythonPackages, TwoInOneFolderAreAmbiguousAndBothNamed) {
  Machine machine;
  machine.package(kSite, "numpy-1.26.0")
      .package(kSite, "numpy-1.24.1")
      .package(kSite, "six-1.16.0");
  machine.host.file(kSite + "/six-1.16.0-py3.11.egg-info", "Name: six\nVersion: 1.16.0\n");
  const auto found = machine.scan();
  EXPECT_EQ(told(found, "python.package.numpy"), "unknown (ambiguous)");
  EXPECT_EQ(told(found, "python.package.numpy.origin"), "unknown (ambiguous)");
  EXPECT_EQ(detail(found, "python.package.numpy"),
            "numpy-1.24.1.dist-info and numpy-1.26.0.dist-info are both in " + kSite);
  EXPECT_EQ(told(found, "python.package.six"), "1.16.0");
  EXPECT_EQ(told(found, "python.duplicates"), "numpy");
}

TEST(PythonPackages, LeftOversOfInterruptedInstallsAreBroken) {
  Machine machine;
  machine.package(kSite, "~orch-2.1.0");
  machine.host.file(kSite + "/~umpy/x.py", "").folder(kSite + "/-.dist-info");
  EXPECT_EQ(machine.told("python.broken"), "-.dist-info, ~orch-2.1.0.dist-info, ~umpy");
}

TEST(PythonPackages, HostileNamesAreNeverKeys) {
  Machine machine;
  for (const char* name : {"a\nb-1.0", "a b-1.0", "a@b-1.0", "\xff\xfe-1.0", "\x1b[31m-1.0",
                           "a-1.0\x1b[31m", "..-1.0", "\xe2\x80\xae-1.0"}) {
    machine.package(kSite, name);
  }
  const auto found = machine.scan();
  for (const facts::Fact& fact : found.facts) {
    EXPECT_FALSE(fact.key.name.starts_with("python.package.")) << fact.key.text();
  }
  EXPECT_EQ(std::get<facts::Value>(found.find({"python.broken", ""})->reading).items.size(), 8u);
}

TEST(PythonPackages, ThreeThousandPackagesAreAllThere) {
  Machine machine;
  for (int i = 0; i < 3000; ++i) {
    machine.package(kSite, "p" + std::to_string(i) + "-1." + std::to_string(i));
  }
  const auto found = machine.scan();
  EXPECT_EQ(told(found, "python.package.p0"), "1.0");
  EXPECT_EQ(told(found, "python.package.p2999"), "1.2999");
  EXPECT_EQ(found.facts.size(), 6002u);  // with origins, duplicates, broken
}

// ---- what could not be looked at

TEST(PythonPackages, ADeniedFolderIsPassedOverButNothingIsAbsentThen) {
  Machine machine;
  machine.package(kSite, "numpy-1.26.0");
  machine.host.set("PYTHONPATH", "/root/code").deny("/root/code");
  const auto found = machine.scan(test::also({"python.package.scipy"}));
  EXPECT_EQ(told(found, "python.package.numpy"), "1.26.0");
  EXPECT_EQ(told(found, "python.package.scipy"), "unknown (denied)");
  EXPECT_TRUE(found.listed.empty());
}

TEST(PythonPackages, BehindADeadMountNothingIsCertain) {
  Machine machine;
  machine.package(kSite, "numpy-1.26.0");
  machine.host.set("PYTHONPATH", "/mnt/dead").fail("/mnt/dead", Errc::timed_out);
  EXPECT_EQ(machine.told("python.package.numpy", test::also({})), "not recorded");  // no target
  Request request;
  request.python = "/usr/local";
  EXPECT_EQ(machine.told("python.package.numpy", request), "unknown (timed-out)");
}

TEST(PythonPackages, WithoutATargetWhatIsAskedForIsUnknownToo) {
  Machine machine;
  Request request = test::also({"python.package.numpy"});
  request.python = "/opt/none";
  const auto found = machine.scan(request);
  EXPECT_EQ(told(found, "python.package.numpy"), "unknown (unreadable)");
  EXPECT_EQ(told(found, "python.duplicates"), "unknown (unreadable)");
  EXPECT_TRUE(found.listed.empty());
  test::FakeHost bare;
  bare.set("PATH", "/usr/bin").set("HOME", "/root");
  EXPECT_THAT(test::scan(bare, python_packages).listed, Contains("python.package"));
}

// ---- by name

TEST(PythonPackages, NamedOnesAreAnsweredWithoutTheOthers) {
  Machine machine;
  machine.package(kSite, "numpy-1.26.0").package(kSite, "scipy-1.11.0");
  const auto found = machine.scan(
      test::only({"python.package.numpy", "python.package.pandas", "python.package.numpy.record"}));
  EXPECT_EQ(told(found, "python.package.numpy"), "1.26.0");
  EXPECT_EQ(told(found, "python.package.pandas"), "absent (not installed in /usr/local)");
  EXPECT_EQ(told(found, "python.package.numpy.record"), "unknown (not-probed)");
  EXPECT_EQ(told(found, "python.package.scipy"), "not recorded");
  EXPECT_TRUE(found.listed.empty());
}

TEST(PythonPackages, AFamilyAskedForIsListed) {
  Machine machine;
  machine.package(kSite, "numpy-1.26.0");
  Request request;
  request.only_named = true;
  request.families = {"python.package"};
  const auto found = machine.scan(request);
  EXPECT_EQ(told(found, "python.package.numpy"), "1.26.0");
  EXPECT_THAT(found.listed, Contains("python.package"));
}

TEST(PythonPackages, OtherPrefixesAreToldByLabel) {
  Machine machine;
  machine.python("/opt/conda", "3.10.13");
  machine.package("/opt/conda/lib/python3.10/site-packages", "numpy-1.24.1");
  machine.package(kSite, "numpy-1.26.0");
  EXPECT_EQ(machine.told("python.package.numpy@/opt/conda"), "not recorded");
  EXPECT_EQ(machine.told("python.package.numpy@/opt/conda",
                         test::also({"python.package.numpy@/opt/conda"})),
            "1.24.1");
  Request request;
  request.all = true;
  const auto found = machine.scan(request);
  EXPECT_EQ(told(found, "python.package.numpy"), "1.26.0");
  EXPECT_EQ(told(found, "python.package.numpy@/opt/conda"), "1.24.1");
  EXPECT_EQ(told(found, "python.package.numpy@/usr/local"), "1.26.0");
}

// ---- origins

TEST(PythonPackages, OriginsWithoutAddresses) {
  Machine machine;
  const std::string digest(64, 'b');
  const auto from = [&](const std::string& name, const std::string& url) {
    machine.package(kSite, name + "-1.0");
    machine.host.file(kSite + "/" + name + "-1.0.dist-info/direct_url.json", url);
  };
  machine.package(kSite, "plain-1.0");
  from("wheel", R"({"archive_info": {"hash": "sha256=)" + digest +
                    R"("}, "url": "https://user:token@host/wheel.whl"})");
  from("cloned", R"({"url": "https://x", "vcs_info": {"vcs": "git", "commit_id": "0a1b2c"}})");
  from("edited", R"({"url": "file:///src", "dir_info": {"editable": true}})");
  from("local", R"({"url": "file:///src", "dir_info": {}})");
  from("cut", R"({"url": "file:)");
  machine.package(kSite, "closed-1.0");
  machine.host.deny(kSite + "/closed-1.0.dist-info/direct_url.json");
  const auto found = machine.scan();
  EXPECT_EQ(told(found, "python.package.plain.origin"), "index");
  EXPECT_EQ(told(found, "python.package.wheel.origin"), "archive");
  EXPECT_EQ(told(found, "python.package.wheel.digest"), digest);
  EXPECT_EQ(told(found, "python.package.plain.digest"), "not recorded");
  EXPECT_EQ(told(found, "python.package.cloned.origin"), "git 0a1b2c");
  EXPECT_EQ(told(found, "python.package.edited.origin"), "editable");
  EXPECT_EQ(told(found, "python.package.local.origin"), "folder");
  EXPECT_EQ(told(found, "python.package.cut.origin"), "unknown (unreadable)");
  EXPECT_EQ(told(found, "python.package.closed.origin"), "unknown (denied)");
  EXPECT_EQ(told(found, "python.package.closed"), "1.0");
  for (const facts::Fact& fact : found.facts) {
    EXPECT_THAT(facts::describe(fact.reading), testing::Not(HasSubstr("token")));
  }
}

TEST(PythonPackages, ADistributionsPackagesAreTheSystems) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12");
  const std::string dist = "/usr/lib/python3/dist-packages";
  machine.host.file(dist + "/PyYAML-5.4.1.egg-info", "Name: PyYAML\nVersion: 5.4.1\n");
  machine.package(dist, "six-1.16.0").package(dist, "upgraded-2.0");
  machine.host.file(dist + "/upgraded-2.0.dist-info/INSTALLER", "pip\n");
  const auto found = test::scan(machine.host, python_packages);
  EXPECT_EQ(told(found, "python.package.pyyaml"), "5.4.1");
  EXPECT_EQ(told(found, "python.package.pyyaml.origin"), "system");
  EXPECT_EQ(told(found, "python.package.six.origin"), "system");
  EXPECT_EQ(told(found, "python.package.upgraded.origin"), "index");
}

TEST(PythonPackages, AnEggsOriginIsKnownOnlyThroughAPathFile) {
  Machine machine;
  machine.host.file(kSite + "/old-1.0-py3.11.egg-info/PKG-INFO", "Name: old\nVersion: 1.0\n");
  machine.host.file(kSite + "/easy-install.pth", "/src/dev\n");
  machine.host.file("/src/dev/dev.egg-info/PKG-INFO", "Name: dev\nVersion: 0.1\n");
  const auto found = machine.scan();
  EXPECT_EQ(told(found, "python.package.old.origin"), "unknown (not-stated)");
  EXPECT_EQ(told(found, "python.package.dev"), "0.1");
  EXPECT_EQ(told(found, "python.package.dev.origin"), "editable");
}

// ---- conda

TEST(PythonPackages, CondasOwnBuildsAreToldFromPips) {
  PythonMachine machine;
  machine.python("/opt/conda", "3.10.13");
  const std::string site = "/opt/conda/lib/python3.10/site-packages";
  const std::string meta = "/opt/conda/conda-meta/";
  for (const char* file : {"numpy-1.26.0-py310hb13e2d6_0.json", "scipy-1.11.0-py310_0.json",
                           "pytorch-2.1.2-py3.10_cuda12.1_cudnn8.9.2_0.json",
                           "ca-certificates-2023.11.17-hbcca054_0.json", "history"}) {
    machine.host.file(meta + file, "");
  }
  machine.package(site, "numpy-1.26.0").package(site, "scipy-1.12.0").package(site, "six-1.16.0");
  // What conda-build leaves behind names a folder of the build machine.
  machine.host.file(site + "/numpy-1.26.0.dist-info/direct_url.json",
                    R"({"dir_info": {}, "url": "file:///croot/numpy"})");
  machine.host.file(site + "/numpy-1.26.0.dist-info/INSTALLER", "conda");
  machine.host.set("CONDA_PREFIX", "/opt/conda");
  const auto pip = test::scan(machine.host, python_packages);
  EXPECT_EQ(told(pip, "python.package.numpy.origin"), "conda");
  EXPECT_EQ(told(pip, "python.package.scipy.origin"), "index");  // pip upgraded it
  EXPECT_EQ(told(pip, "python.package.six.origin"), "index");
  const auto conda = test::scan(machine.host, python_conda);
  EXPECT_EQ(told(conda, "conda.package.numpy"), "1.26.0");
  EXPECT_EQ(told(conda, "conda.build.pytorch"), "py3.10_cuda12.1_cudnn8.9.2_0");
  EXPECT_EQ(told(conda, "conda.package.ca-certificates"), "2023.11.17");
  EXPECT_THAT(conda.listed, testing::ElementsAre("conda.build", "conda.package"));
}

TEST(PythonPackages, OutsideCondaNothingIsListedAndNamedOnesAreAbsent) {
  Machine machine;
  const auto found = test::scan(machine.host, python_conda, test::also({"conda.package.numpy"}));
  EXPECT_EQ(told(found, "conda.package.numpy"), "absent (the target Python is of kind source)");
  EXPECT_TRUE(found.listed.empty());
}

TEST(PythonPackages, ADeniedCondaRecordIsUnknown) {
  PythonMachine machine;
  machine.python("/opt/conda", "3.10.13");
  machine.host.folder("/opt/conda/conda-meta").set("CONDA_PREFIX", "/opt/conda");
  machine.host.deny("/opt/conda/conda-meta");
  const auto found = test::scan(machine.host, python_conda, test::also({"conda.package.numpy"}));
  EXPECT_EQ(told(found, "conda.package.numpy"), "unknown (denied)");
  EXPECT_TRUE(found.listed.empty());
}

// ---- a real folder

TEST(PythonPackages, ATreeOnDiskIsReadThroughItsLinks) {
  test::TempDir dir;
  dir.file("usr/bin/python3.11", "");
  dir.link("usr/bin/python3", "/usr/bin/python3.11");
  dir.link("bin", "usr/bin");
  dir.file("usr/lib/python3.11/os.py", "");
  dir.file("usr/lib/python3/dist-packages/six-1.16.0.dist-info/INSTALLER", "debian\n");
  dir.file("opt/venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n");
  dir.link("opt/venv/bin/python3", "/usr/bin/python3");
  dir.file("opt/venv/lib/python3.11/site-packages/numpy-1.26.0.dist-info/METADATA", "");
  const auto host = host::tree_host(dir.path());
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_EQ(told(**host, python_packages, "python.package.six"), "1.16.0");
  Request request;
  request.python = "/opt/venv";
  EXPECT_EQ(told(**host, python_packages, "python.package.numpy", request), "1.26.0");
  EXPECT_EQ(told(**host, python_packages, "python.package.six", request), "not recorded");
}

}  // namespace
}  // namespace goldenv::probe

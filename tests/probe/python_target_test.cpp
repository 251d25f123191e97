#include "probe/python_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probe/python_machine.h"
#include "probe/scan.h"

namespace goldenv::probe {
extern const Probe python_target;
namespace {

using test::PythonMachine;
using test::told;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Request asking(std::string python) {
  Request request;
  request.python = std::move(python);
  return request;
}

std::string prefix(const PythonMachine& machine, const Request& request = {}) {
  return told(machine.host, python_target, "python.prefix", request);
}

std::vector<std::string> notes(const PythonMachine& machine, const Request& request = {}) {
  const auto snapshot = test::scan(machine.host, python_target, request);
  const facts::Fact* fact = snapshot.find({"python.prefix", ""});
  return fact == nullptr ? std::vector<std::string>{} : fact->evidence.notes;
}

std::string detail(const PythonMachine& machine, const Request& request = {}) {
  const auto snapshot = test::scan(machine.host, python_target, request);
  const auto* unknown = std::get_if<facts::Unknown>(&snapshot.find({"python", ""})->reading);
  return unknown == nullptr ? "" : unknown->detail;
}

std::vector<std::string> path(const PythonMachine& machine, const std::string& python) {
  Survey survey(machine.host, asking(python));
  const Python* target = python_scene(survey).target();
  std::vector<std::string> folders;
  for (const SiteFolder& folder : target == nullptr ? std::vector<SiteFolder>{} : target->folders) {
    folders.push_back(folder.path);
  }
  return folders;
}

// ---- the choice

TEST(PythonTarget, ThatAskedForComesBeforeTheVariables) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12").venv("/opt/a", "3.10.12").venv("/home/u/b", "3.10.12");
  machine.host.set("VIRTUAL_ENV", "/opt/a").set("CONDA_PREFIX", "/usr");
  EXPECT_EQ(prefix(machine, asking("/home/u/b")), "~/b");
  EXPECT_EQ(prefix(machine, asking("~/b")), "~/b");
  EXPECT_EQ(prefix(machine, asking("/home/u/b/bin/python")), "~/b");
  EXPECT_EQ(prefix(machine, asking("/usr/bin/python3.10")), "/usr");
  EXPECT_EQ(prefix(machine, asking("python3")), "/usr");
  EXPECT_EQ(notes(machine, asking("~/b")).front(), "~/b was asked for");
  EXPECT_EQ(prefix(machine), "/opt/a");
  EXPECT_EQ(notes(machine).front(), "VIRTUAL_ENV is /opt/a");
}

TEST(PythonTarget, OneThatIsNoneLeavesAllUnknownAndSaysWhy) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12");
  machine.host.folder("/opt/empty").file("/opt/text", "").deny("/root/venv");
  for (const char* asked : {"/opt/empty", "/opt/none", "/opt/text", "python9", "rel/venv"}) {
    const auto found = test::scan(machine.host, python_target, asking(asked));
    for (const char* key :
         {"python", "python.prefix", "python.kind", "python.user_site", "python.added_paths"}) {
      EXPECT_EQ(told(found, key), "unknown (unreadable)") << asked << " " << key;
    }
    EXPECT_THAT(detail(machine, asking(asked)), HasSubstr(asked));
  }
  EXPECT_EQ(prefix(machine, asking("/root/venv")), "unknown (denied)");
  // What there is, is told all the same.
  EXPECT_EQ(told(machine.host, python_target, "python@/usr", asking("/opt/none")), "3.10.12");
}

TEST(PythonTarget, ATildeWithoutAHomeFolderIsNoPathFromTheRoot) {
  for (const char* home : {"", "me"}) {
    PythonMachine machine;
    machine.python("/usr", "3.10.12").venv("/x", "3.10.12");
    machine.host.set("HOME", home);
    EXPECT_EQ(prefix(machine, asking("~/x")), "unknown (unreadable)");
    EXPECT_THAT(detail(machine, asking("~/x")),
                testing::AllOf(HasSubstr("~/x"), HasSubstr("~ stands for the home folder")));
  }
}

TEST(PythonTarget, CopiesAreNoCountWhereOneMoreCouldStand) {
  for (const char* place :
       {"/opt/conda", "/opt/conda/envs", "/opt/conda/lib", "/opt/conda/lib/python3.12/os.py",
        "/opt/conda/bin", "/home/u/.local/share/uv/python", "/usr/lib/python3.9/os.py",
        "/usr/local/bin"}) {
    PythonMachine machine;
    machine.python("/usr", "3.10.12").python("/opt/conda", "3.12.1");
    machine.host.file("/usr/bin/python3.9", "").file("/usr/lib/python3.9/os.py", "");
    machine.host.deny(place);
    const auto found = test::scan(machine.host, python_target);
    EXPECT_EQ(told(found, "python.copies"), "unknown (denied)") << place;
    EXPECT_THAT(facts::describe(found.find({"python.copies", ""})->reading), HasSubstr(place));
    EXPECT_EQ(told(found, "python@/usr"), "3.10.12") << place;
  }
}

TEST(PythonTarget, CondasVariableComesBehindTheVenvs) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12").python("/opt/conda", "3.11.5").venv("/opt/a", "3.10.12");
  machine.host.folder("/opt/conda/conda-meta").set("CONDA_PREFIX", "/opt/conda");
  EXPECT_EQ(prefix(machine), "/opt/conda");
  EXPECT_EQ(told(machine.host, python_target, "python.kind"), "conda");
  machine.host.set("VIRTUAL_ENV", "/opt/a");
  EXPECT_EQ(prefix(machine), "/opt/a");
}

TEST(PythonTarget, AVariableThatNamesNoPythonIsPassedOverAndTold) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12");
  machine.host.set("VIRTUAL_ENV", "/home/u/gone");
  EXPECT_EQ(prefix(machine), "/usr");
  EXPECT_THAT(notes(machine), Contains("VIRTUAL_ENV is ~/gone, where no Python is"));
}

TEST(PythonTarget, AVariableThatCannotBeLookedAtIsNotPassedOver) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12");
  machine.host.set("VIRTUAL_ENV", "/mnt/venv").fail("/mnt/venv", Errc::timed_out);
  EXPECT_EQ(prefix(machine), "unknown (timed-out)");
}

TEST(PythonTarget, ThePython3OnPathIfItHoldsTorch) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12").python("/usr/local", "3.11.7").venv("/opt/venv", "3.10.12");
  machine.torch("/usr/local/lib/python3.11/site-packages", "2.1.2");
  machine.torch("/opt/venv/lib/python3.10/site-packages", "2.0.1");
  EXPECT_EQ(prefix(machine), "/usr/local");
  EXPECT_EQ(notes(machine).front(), "the python3 on PATH holds torch");
}

TEST(PythonTarget, TheOnlyOneThatHoldsTorch) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12").venv("/opt/venv", "3.10.12").venv("/home/u/venv", "3.10.12");
  machine.torch("/opt/venv/lib/python3.10/site-packages", "2.0.1");
  EXPECT_EQ(prefix(machine), "/opt/venv");
  EXPECT_EQ(notes(machine).front(), "the only Python found that holds torch");
}

TEST(PythonTarget, SeveralThatHoldTorchAreAmbiguous) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12").venv("/opt/venv", "3.10.12").venv("/home/u/venv", "3.10.12");
  machine.torch("/opt/venv/lib/python3.10/site-packages", "2.0.1");
  machine.torch("/home/u/venv/lib/python3.10/site-packages", "2.1.0");
  EXPECT_EQ(prefix(machine), "unknown (ambiguous)");
  EXPECT_THAT(detail(machine), HasSubstr("torch is in /opt/venv, ~/venv"));
}

TEST(PythonTarget, WhereNoneHoldsTorchThePython3OnPath) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12").venv("/opt/venv", "3.10.12");
  EXPECT_EQ(prefix(machine), "/usr");
  EXPECT_EQ(notes(machine).front(), "the python3 on PATH; no Python found holds torch");
}

TEST(PythonTarget, NoPythonIsAbsentAndOneOffPathIsNamed) {
  PythonMachine machine;
  const auto none = test::scan(machine.host, python_target);
  EXPECT_EQ(told(none, "python"), "absent (no Python found)");
  EXPECT_EQ(told(none, "python.copies"), "absent (no Python found)");
  machine.python("/opt/conda", "3.11.5");
  EXPECT_EQ(told(machine.host, python_target, "python"),
            "absent (no python3 on PATH; there is /opt/conda)");
}

TEST(PythonTarget, WhereNobodyCouldLookNoneIsAbsent) {
  PythonMachine machine;
  machine.host.set("PATH", "/opt/venv/bin").deny("/opt");
  EXPECT_EQ(told(machine.host, python_target, "python"), "unknown (denied)");
  EXPECT_EQ(told(machine.host, python_target, "python.prefix"), "unknown (denied)");
}

TEST(PythonTarget, AFolderOnPathThatATreeHidesLeavesItOpen) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12");
  machine.host.set("PATH", "/opt/venv/bin:/usr/bin").deny("/opt");
  // Our own shell would go on to the next; that of the tree's user may not have had to.
  EXPECT_EQ(prefix(machine), "/usr");
  machine.host.live(false);
  EXPECT_EQ(prefix(machine), "unknown (denied)");
}

TEST(PythonTarget, ACommandThatBelongsToNoInstallationIsUnknown) {
  PythonMachine machine;
  machine.host.file("/usr/bin/python3", "#!/bin/sh\n");
  EXPECT_EQ(prefix(machine), "unknown (unreadable)");
  EXPECT_THAT(detail(machine), HasSubstr("/usr/bin/python3: belongs to no Python"));
}

TEST(PythonTarget, WithoutTheSourcesEnvironmentTheUsualPathHolds) {
  test::FakeHost tree;
  tree.live(false);
  tree.file("/usr/bin/python3.10", "").link("/usr/bin/python3", "python3.10");
  tree.file("/usr/lib/python3.10/os.py", "");
  const auto found = test::scan(tree, python_target);
  EXPECT_EQ(told(found, "python.prefix"), "/usr");
  EXPECT_THAT(found.find({"python.prefix", ""})->evidence.notes,
              Contains(HasSubstr("PATH is not known")));
}

// ---- pyenv's shims

PythonMachine& with_shims(PythonMachine& machine) {
  machine.python("/usr", "3.10.12");
  for (const char* release : {"3.11.7", "3.11.10", "3.9.18"}) {
    machine.python("/home/u/.pyenv/versions/" + std::string(release), release);
  }
  machine.host.file("/home/u/.pyenv/shims/python3", "#!/usr/bin/env bash\n");
  machine.host.set("PATH", "/home/u/.pyenv/shims:/usr/bin");
  return machine;
}

TEST(PythonTarget, AShimIsTheVersionThatPyenvWouldChoose) {
  PythonMachine machine;
  with_shims(machine);
  EXPECT_EQ(prefix(machine), "/usr");  // no version file: "system"
  machine.host.file("/home/u/.pyenv/version", "3.11.7\n");
  EXPECT_EQ(prefix(machine), "~/.pyenv/versions/3.11.7");
  EXPECT_EQ(told(machine.host, python_target, "python.kind"), "pyenv");
  machine.host.file("/home/u/.python-version", "3.11\n").set("PWD", "/home/u/work/a");
  EXPECT_EQ(prefix(machine), "~/.pyenv/versions/3.11.10");
  machine.host.set("PYENV_VERSION", "3.9.18:3.11.7");
  EXPECT_EQ(prefix(machine), "~/.pyenv/versions/3.9.18");
  EXPECT_THAT(notes(machine), Contains(HasSubstr("PYENV_VERSION names 3.9.18")));
  machine.host.set("PYENV_VERSION", "system");
  EXPECT_EQ(prefix(machine), "/usr");
  machine.host.set("PYENV_VERSION", "3.12.0");
  EXPECT_EQ(prefix(machine), "unknown (unreadable)");
}

// ---- what a prefix is

TEST(PythonTarget, AVenvHasTheReleaseOfWhatItRunsOn) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12").venv("/opt/venv", "3.10.6", "/usr/bin", "uv = 0.5.1\n");
  const auto found = test::scan(machine.host, python_target, asking("/opt/venv"));
  EXPECT_EQ(told(found, "python"), "3.10.12");
  EXPECT_EQ(told(found, "python.kind"), "venv");
  EXPECT_THAT(found.find({"python", ""})->evidence.notes,
              testing::IsSupersetOf(
                  {"made with Python 3.10.6", "made by uv 0.5.1", "runs on /usr/bin/python3.10"}));
  EXPECT_THAT(found.find({"python.kind", ""})->evidence.notes, ElementsAre("of /usr"));
}

TEST(PythonTarget, AVenvWhoseInterpreterIsGoneSaysSo) {
  PythonMachine machine;
  machine.venv("/opt/venv", "3.10.6", "/opt/gone/bin");
  const auto found = test::scan(machine.host, python_target, asking("/opt/venv"));
  EXPECT_EQ(told(found, "python"), "3.10.6");
  EXPECT_THAT(found.find({"python", ""})->evidence.notes,
              Contains("/opt/venv/bin/python leads to no file: this environment cannot run"));
}

TEST(PythonTarget, AVenvUnderWhichPythonWasExchangedFindsNothingOfItsOwn) {
  PythonMachine machine;
  machine.python("/usr", "3.12.3").venv("/opt/venv", "3.10.6");
  const auto found = test::scan(machine.host, python_target, asking("/opt/venv"));
  EXPECT_EQ(told(found, "python"), "3.12.3");
  EXPECT_THAT(found.find({"python", ""})->evidence.notes,
              Contains("made for Python 3.10 and run by 3.12: what is installed in it is not "
                       "found"));
  EXPECT_THAT(path(machine, "/opt/venv"), ElementsAre());
}

TEST(PythonTarget, AVenvOfCopiesRunsOnItsHome) {
  PythonMachine machine;
  machine.python("/opt/py", "3.11.4").venv("/opt/venv", "3.11.4", "/opt/py/bin");
  machine.host.file("/opt/venv/bin/python3", "copy").file("/opt/venv/bin/python", "copy");
  EXPECT_EQ(told(machine.host, python_target, "python", asking("/opt/venv")), "3.11.4");
}

TEST(PythonTarget, FurtherPythonsOfAPrefixAreNamedByTheirInterpreter) {
  PythonMachine machine;
  machine.python("/usr", "3.9.18").python("/usr", "3.12.1").python("/usr", "3.10.12");
  const auto found = test::scan(machine.host, python_target);
  EXPECT_EQ(told(found, "python"), "3.10.12");
  EXPECT_EQ(told(found, "python@/usr"), "3.10.12");
  EXPECT_EQ(told(found, "python@/usr/bin/python3.9"), "3.9.18");
  EXPECT_EQ(told(found, "python@/usr/bin/python3.12"), "3.12.1");
  EXPECT_EQ(told(found, "python.copies"), "3.10.12: 1, 3.12.1: 1, 3.9.18: 1");
  EXPECT_EQ(told(machine.host, python_target, "python", asking("/usr/bin/python3.9")), "3.9.18");
}

TEST(PythonTarget, AFolderOfPackagesAloneIsNoPython) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12");
  machine.host.folder("/usr/local/lib/python3.10/dist-packages");
  machine.host.file("/usr/lib/python3.11/os.py", "");  // a library without an interpreter
  EXPECT_EQ(told(machine.host, python_target, "python.copies"), "3.10.12: 1");
}

TEST(PythonTarget, CondasShortLinkIsNoSecondPython) {
  PythonMachine machine;
  machine.python("/opt/conda", "3.11.5");
  machine.host.folder("/opt/conda/conda-meta").link("/opt/conda/lib/python3.1", "python3.11");
  EXPECT_EQ(told(machine.host, python_target, "python.copies"), "3.11.5: 1");
}

TEST(PythonTarget, KindsFollowFromThePlace) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12").python("/usr/local", "3.11.7").python("/opt/conda", "3.11.5");
  machine.python("/home/u/.local/share/uv/python/cpython-3.12.1-linux-x86_64-gnu", "3.12.1");
  machine.python("/home/u/.pyenv/versions/3.9.18", "3.9.18");
  machine.python("/srv/p/.pixi/envs/default", "3.11.0");
  machine.host.folder("/opt/conda/conda-meta").folder("/srv/p/.pixi/envs/default/conda-meta");
  machine.host.link("/home/u/.local/share/uv/python/cpython-3.12-linux-x86_64-gnu",
                    "cpython-3.12.1-linux-x86_64-gnu");
  machine.host.set("CONDA_PREFIX", "/srv/p/.pixi/envs/default");
  const auto found = test::scan(machine.host, python_target);
  EXPECT_EQ(told(found, "python.kind"), "pixi");
  EXPECT_EQ(told(found, "python.kind@/usr"), "system");
  EXPECT_EQ(told(found, "python.kind@/usr/local"), "source");
  EXPECT_EQ(told(found, "python.kind@/opt/conda"), "conda");
  EXPECT_EQ(told(found, "python.kind@~/.pyenv/versions/3.9.18"), "pyenv");
  EXPECT_EQ(told(found, "python.kind@~/.local/share/uv/python/cpython-3.12.1-linux-x86_64-gnu"),
            "uv");
  EXPECT_EQ(told(found, "python.kind@~/.local/share/uv/python/cpython-3.12-linux-x86_64-gnu"),
            "not recorded");
}

TEST(PythonTarget, CondasListOfEnvironmentsIsFollowed) {
  PythonMachine machine;
  machine.python("/scratch/env", "3.11.5");
  machine.host.folder("/scratch/env/conda-meta");
  machine.host.file("/home/u/.conda/environments.txt", "/scratch/env\n/scratch/gone\n\nrelative\n");
  EXPECT_EQ(told(machine.host, python_target, "python.kind@/scratch/env"), "conda");
}

// ---- releases

TEST(PythonTarget, WithoutTheHeaderOtherRecordsNameTheRelease) {
  PythonMachine machine;
  for (const char* prefix : {"/usr", "/opt/conda", "/home/u/.pyenv/versions/3.10.13"}) {
    machine.python(prefix, "3.10.0");
    machine.host.fail(std::string(prefix) + "/include", Errc::absent);
  }
  machine.host.file("/opt/conda/conda-meta/python-3.10.14-hd12c33a_0_cpython.json", "{}");
  machine.host.file("/opt/conda/conda-meta/python_abi-3.10-4_cp310.json", "{}");
  machine.host.file("/var/lib/dpkg/status",
                    "Package: python3.10-minimal\nStatus: install ok installed\n"
                    "Version: 3.10.12-1~22.04.3\n\nPackage: zlib1g\n");
  auto found = test::scan(machine.host, python_target);
  EXPECT_EQ(told(found, "python@/usr"), "3.10.12");
  EXPECT_EQ(told(found, "python@/opt/conda"), "3.10.14");
  EXPECT_EQ(told(found, "python@~/.pyenv/versions/3.10.13"), "3.10.13");

  machine.host.file("/var/lib/dpkg/status",
                    "Package: python3.10-minimal\nStatus: deinstall ok config-files\n"
                    "Version: 3.10.12-1~22.04.3\n");
  EXPECT_EQ(told(machine.host, python_target, "python@/usr"), "3.10...");
}

// ---- sys.path

TEST(PythonTarget, DebiansPathIsItsOwn) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12");
  for (const char* folder :
       {"/usr/lib/python3/dist-packages", "/usr/local/lib/python3.10/dist-packages",
        "/usr/lib/python3.10/site-packages", "/home/u/.local/lib/python3.10/site-packages",
        "/srv/code"}) {
    machine.host.folder(folder);
  }
  machine.host.set("PYTHONPATH", "/srv/code:/srv/gone::/srv/code/");
  EXPECT_THAT(
      path(machine, "/usr"),
      ElementsAre("/srv/code", "/home/u/.local/lib/python3.10/site-packages",
                  "/usr/local/lib/python3.10/dist-packages", "/usr/lib/python3/dist-packages"));
  const auto found = test::scan(machine.host, python_target);
  EXPECT_EQ(told(found, "python.user_site"), "true");
  EXPECT_EQ(told(found, "python.added_paths"), "/srv/code");
  machine.host.set("PYTHONNOUSERSITE", "1");
  EXPECT_EQ(told(machine.host, python_target, "python.user_site"), "false");
}

TEST(PythonTarget, RedHatsPathHasTwoFoldersAndLocalFirst) {
  PythonMachine machine;
  machine.python("/usr", "3.9.18");
  machine.host.file("/usr/lib64/python3.9/os.py", "");
  for (const char* folder :
       {"/usr/lib64/python3.9/site-packages", "/usr/lib/python3.9/site-packages",
        "/usr/local/lib/python3.9/site-packages"}) {
    machine.host.folder(folder);
  }
  EXPECT_THAT(path(machine, "/usr"), ElementsAre("/usr/local/lib/python3.9/site-packages",
                                                 "/usr/lib64/python3.9/site-packages",
                                                 "/usr/lib/python3.9/site-packages"));
}

TEST(PythonTarget, AVenvSeesTheUsersAndTheSystemsPackagesOnlyIfToldTo) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12").venv("/opt/venv", "3.10.12");
  machine.host.folder("/usr/lib/python3/dist-packages");
  machine.host.folder("/home/u/.local/lib/python3.10/site-packages");
  EXPECT_THAT(path(machine, "/opt/venv"), ElementsAre("/opt/venv/lib/python3.10/site-packages"));
  EXPECT_EQ(told(machine.host, python_target, "python.user_site", asking("/opt/venv")), "false");
  machine.host.file("/opt/venv/pyvenv.cfg",
                    "home = /usr/bin\ninclude-system-site-packages = true\nversion = 3.10.12\n");
  EXPECT_THAT(path(machine, "/opt/venv"), ElementsAre("/opt/venv/lib/python3.10/site-packages",
                                                      "/home/u/.local/lib/python3.10/site-packages",
                                                      "/usr/lib/python3/dist-packages"));
}

TEST(PythonTarget, TheUsersPackagesComeBeforeACondaEnvironments) {
  PythonMachine machine;
  machine.python("/opt/conda", "3.10.13");
  machine.host.folder("/opt/conda/conda-meta");
  machine.host.folder("/opt/conda/lib/python3.10/site-packages");
  machine.host.folder("/srv/user/lib/python3.10/site-packages");
  machine.host.set("PYTHONUSERBASE", "/srv/user");
  EXPECT_THAT(path(machine, "/opt/conda"), ElementsAre("/srv/user/lib/python3.10/site-packages",
                                                       "/opt/conda/lib/python3.10/site-packages"));
}

TEST(PythonTarget, PathFilesAddFoldersBehindTheirOwnAndRunNothing) {
  PythonMachine machine;
  machine.python("/usr/local", "3.11.7");
  const std::string site = "/usr/local/lib/python3.11/site-packages";
  machine.host.folder("/src/a")
      .folder("/src/b")
      .folder("/usr/local/lib/rel")
      .file("/src/z.zip", "");
  machine.host.file(site + "/a.pth",
                    "# comment\n\n/src/a\nimport os; os.system('x')\n/src/gone\n"
                    "../../rel\n/src/a/../b/\n/src/z.zip\n");
  machine.host.file(site + "/.hidden.pth", "/src/hidden\n").folder("/src/hidden");
  machine.host.file(site + "/b.pth",
                    std::string("/src/\0b\n", 8) + "\xff\xfe\n" + std::string(70'000, '/') + "\n");
  EXPECT_THAT(path(machine, "/usr/local"),
              ElementsAre(site, "/src/a", "/usr/local/lib/rel", "/src/b", "/"));
  const auto found = test::scan(machine.host, python_target, asking("/usr/local"));
  EXPECT_THAT(found.find({"python.added_paths", ""})->evidence.notes,
              Contains(site + "/a.pth runs code at every start"));
}

TEST(PythonTarget, NoPathFileCanMakeThePathEndless) {
  PythonMachine machine;
  machine.python("/usr/local", "3.11.7");
  const std::string site = "/usr/local/lib/python3.11/site-packages";
  std::string lines;
  for (int i = 0; i < 3000; ++i) {
    const std::string folder = "/src/" + std::to_string(i);
    machine.host.folder(folder);
    lines += folder + "\n";
  }
  machine.host.file(site + "/x.pth", lines);
  EXPECT_EQ(path(machine, "/usr/local").size(), 1000u);
}

TEST(PythonTarget, AFolderThatIsDeniedIsTold) {
  PythonMachine machine;
  machine.python("/usr/local", "3.11.7");
  machine.host.folder("/usr/local/lib/python3.11/site-packages");
  machine.host.set("PYTHONPATH", "/root/code").deny("/root/code");
  EXPECT_THAT(path(machine, "/usr/local"), ElementsAre("/usr/local/lib/python3.11/site-packages"));
  const auto found = test::scan(machine.host, python_target);
  EXPECT_THAT(found.find({"python.added_paths", ""})->evidence.notes,
              Contains(HasSubstr("/root/code")));
}

TEST(PythonTarget, AddedPathsOfWhatCannotBeReadAreUnknown) {
  const std::string site = "/usr/local/lib/python3.11/site-packages";
  for (const std::string& place : {site, site + "/b.pth"}) {
    PythonMachine machine;
    machine.python("/usr/local", "3.11.7");
    machine.host.file(site + "/b.pth", "import x\n");
    EXPECT_EQ(told(machine.host, python_target, "python.added_paths"),
              "absent (neither PYTHONPATH nor a .pth file adds a folder)");
    machine.host.deny(place);
    EXPECT_EQ(told(machine.host, python_target, "python.added_paths"), "unknown (denied)") << place;
    // What is added elsewhere is told, and is not all.
    machine.host.folder("/src/a").set("PYTHONPATH", "/src/a");
    const auto found = test::scan(machine.host, python_target);
    EXPECT_THAT(facts::describe(found.find({"python.added_paths", ""})->reading),
                testing::AllOf(testing::StartsWith("unknown (denied"), HasSubstr("/src/a")));
  }
}

TEST(PythonTarget, WhetherTheUsersPackagesTakePartMayBeUnknown) {
  PythonMachine machine;
  machine.python("/usr/local", "3.11.7");
  EXPECT_EQ(told(machine.host, python_target, "python.user_site"), "false");
  machine.host.fail("/home/u/.local", Errc::timed_out);
  EXPECT_EQ(told(machine.host, python_target, "python.user_site"), "unknown (timed-out)");
}

TEST(PythonTarget, TorchIsWhatWouldBeImported) {
  PythonMachine machine;
  machine.python("/usr/local", "3.11.7");
  const std::string site = "/usr/local/lib/python3.11/site-packages";
  machine.host.file("/srv/code/torch/left-over.so", "");  // no __init__.py: never wins
  machine.host.set("PYTHONPATH", "/srv/code");
  machine.torch(site, "2.1.2");
  Survey survey(machine.host, {});
  EXPECT_EQ(python_scene(survey).target()->torch, site + "/torch");
  machine.host.set("PYTHONPATH", "/mnt/dead:/srv/code").fail("/mnt/dead", Errc::timed_out);
  Survey doubtful(machine.host, {});
  EXPECT_EQ(python_scene(doubtful).target(), nullptr);
  EXPECT_THAT(facts::describe(python_scene(doubtful).otherwise),
              testing::StartsWith("unknown (timed-out"));
}

TEST(PythonTarget, AnEditableTorchIsFoundThroughItsFinder) {
  PythonMachine machine;
  machine.python("/usr/local", "3.11.7");
  machine.host.file("/src/pytorch/torch/__init__.py", "");
  machine.host.file(
      "/usr/local/lib/python3.11/site-packages/__editable___torch_2_2_0a0_git1_finder.py",
      "MAPPING: dict[str, str] = {'functorch': '/src/f', 'torch': '/src/pytorch/torch'}\n");
  Survey survey(machine.host, {});
  EXPECT_EQ(python_scene(survey).target()->torch, "/src/pytorch/torch");
}

TEST(PythonTarget, OthersAreLookedForOnlyWhereTheyAreAskedFor) {
  PythonMachine machine;
  machine.python("/usr", "3.10.12").venv("/opt/venv", "3.10.12").venv("/work/ours", "3.10.12");
  machine.torch("/opt/venv/lib/python3.10/site-packages", "2.0.1");
  Survey survey(machine.host, asking("/work/ours"));
  const Python* target = python_choice(survey).target();
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(target->prefix, "/work/ours");
  EXPECT_EQ(python_choice(survey).pythons.size(), 1u);
  EXPECT_EQ(site_of(survey, "/work/ours/lib/python3.10/site-packages/x/y.so").python, target);
  EXPECT_EQ(site_of(survey, "/usr/lib/libz.so.1").folder, nullptr);
  EXPECT_EQ(python_choice(survey).pythons.size(), 1u) << "no place of packages";

  const SiteOf other = site_of(survey, "/opt/venv/lib/python3.10/site-packages/x/y.so");
  ASSERT_NE(other.python, nullptr);
  EXPECT_EQ(other.python->prefix, "/opt/venv");
  EXPECT_EQ(python_scene(survey).pythons.size(), 3u);
  EXPECT_EQ(python_choice(survey).target(), target) << "what refers to one stays right";
}

}  // namespace
}  // namespace goldenv::probe

#include "wheel/lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace goldenv::wheel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kA(64, 'a');
const std::string kB(64, 'b');

Sha256 digest(const std::string& hex) { return *Sha256::parse(hex); }

MarkerEnvironment target() { return linux_environment("3.11.7", "x86_64"); }

LockedSet set_of(Result<LockedSet> set) {
  EXPECT_TRUE(set) << set.error().message;
  return set ? *std::move(set) : LockedSet{};
}

LockedSet requirements(const std::string& text) {
  return set_of(parse_requirements(text, "r.txt", target()));
}

std::string fault(const std::string& text) {
  const auto set = parse_requirements(text, "r.txt", target());
  return set ? "parsed" : set.error().message;
}

std::vector<std::string> names(const LockedSet& set) {
  std::vector<std::string> found;
  for (const LockedPackage& package : set.packages) {
    found.push_back(package.name + " " + package.version);
  }
  return found;
}

std::vector<std::string> left(const LockedSet& set) {
  std::vector<std::string> found;
  for (const NotTaken& entry : set.not_taken) found.push_back(entry.name + ": " + entry.why);
  return found;
}

TEST(LockForm, IsThatOfTheName) {
  EXPECT_EQ(lock_form("/srv/uv.lock"), LockForm::uv);
  EXPECT_EQ(lock_form("pylock.toml"), LockForm::pylock);
  EXPECT_EQ(lock_form("a/pylock.dev.toml"), LockForm::pylock);
  EXPECT_EQ(lock_form("requirements.txt"), LockForm::requirements);
}

TEST(Requirements, HaveVersionsDigestsAndSources) {
  const LockedSet set = requirements(
      "# made by a tool\n-i https://h/simple\n--extra-index-url=https://h/cu121 # x\n"
      "-f /srv/wheels\n--no-index\n--require-hashes\n\n"
      "NumPy==1.26.4 \\\n    --hash=sha256:" +
      kA + " \\\n    --hash sha256:" + kB +
      "\n    # via torch\n"
      "torch[opt]==2.2.1+cu121 ; python_version >= '3.8' --hash=sha256:" +
      kA + " --hash=sha512:00\r\n" + "win==1.0 ; sys_platform == 'win32'\n");
  EXPECT_EQ(set.sources.index_url, "https://h/simple");
  EXPECT_THAT(set.sources.extra_index_urls, ElementsAre("https://h/cu121"));
  EXPECT_THAT(set.sources.find_links, ElementsAre("/srv/wheels"));
  EXPECT_TRUE(set.sources.no_index);
  ASSERT_THAT(names(set), ElementsAre("numpy 1.26.4", "torch 2.2.1+cu121"));
  EXPECT_THAT(set.packages[0].digests, ElementsAre(digest(kA), digest(kB)));
  EXPECT_EQ(set.packages[0].line, 8U);
  EXPECT_EQ(set.packages[1].marker, "python_version >= \"3.8\"");
  EXPECT_THAT(left(set), ElementsAre("win: its marker does not hold: sys_platform == \"win32\""));
}

TEST(Requirements, AWheelMayBeNamedByItsUrl) {
  const LockedSet set =
      requirements("a @ https://h/w/a-1.0%2Bcu1-py3-none-any.whl#sha256=" + kA + "\n" +
                   "b @ file:///srv/b-2-py3-none-any.whl --hash=sha256:" + kB + "\n");
  ASSERT_THAT(names(set), ElementsAre("a 1.0+cu1", "b 2"));
  ASSERT_EQ(set.packages[0].wheels.size(), 1U);
  EXPECT_EQ(set.packages[0].wheels[0].url, "https://h/w/a-1.0%2Bcu1-py3-none-any.whl");
  EXPECT_EQ(set.packages[0].wheels[0].sha256, digest(kA));
  EXPECT_EQ(set.packages[1].wheels[0].sha256, digest(kB));
}

TEST(Requirements, AByteOrderMarkIsSkippedAndOtherEncodingsAreNamed) {
  using std::string_literals::operator""s;
  EXPECT_THAT(names(requirements("\xEF\xBB\xBFnumpy==1.26.4\n")), ElementsAre("numpy 1.26.4"));
  EXPECT_THAT(names(requirements("\xEF\xBB\xBF# x\nnumpy==1.26.4\n")), ElementsAre("numpy 1.26.4"));
  for (const std::string& text : {"\xFF\xFE"
                                  "a\0=\0"s,
                                  "\xFE\xFF\0a\0="s, "a\0=\0"s}) {
    EXPECT_EQ(fault(text), "r.txt: in UTF-16 or UTF-32, expected UTF-8");
  }
}

TEST(Requirements, WhatIsNotExactIsRefusedByName) {
  EXPECT_EQ(fault("\nnumpy>=1.20\n"),
            "r.txt:2: \"numpy>=1.20\" is not exact: expected numpy==VERSION");
  EXPECT_EQ(fault("numpy"), "r.txt:1: \"numpy\" is not exact: expected numpy==VERSION");
  EXPECT_EQ(fault("numpy==1.*"), "r.txt:1: \"numpy==1.*\" is not exact: expected numpy==VERSION");
  EXPECT_EQ(fault("-e ."), "r.txt:1: \"-e\": an editable project is no exact version");
  EXPECT_EQ(fault("-r base.txt"),
            "r.txt:1: \"-r\": other files are not read: put all of it into one");
  EXPECT_EQ(fault("a @ https://h/a-1.tar.gz"),
            "r.txt:1: \"a-1.tar.gz\" is no name of a wheel: it does not end in .whl");
  EXPECT_EQ(fault("a @ https://h/b-1-py3-none-any.whl"),
            "r.txt:1: a is asked for, and \"b-1-py3-none-any.whl\" is b");
  EXPECT_EQ(fault("a==1\nA==1.0\na==2"), "r.txt:3: two versions of a: 1 in line 1, 2 here");
}

TEST(Requirements, FaultsNameTheLine) {
  EXPECT_EQ(fault("a==1 --hash=sha256:12"), "r.txt:1: \"sha256:12\" is no digest");
  EXPECT_EQ(fault("a==1 --hash=sha512:12"), "r.txt:1: a has no sha256 among its digests");
  EXPECT_EQ(fault("a==1 --global-option=x"),
            "r.txt:1: option \"--global-option=x\" of a requirement is not known here");
  EXPECT_EQ(
      fault("--trusted-host h"),
      "r.txt:1: \"--trusted-host\": which hosts need no certificate is not for a lock to say");
  EXPECT_EQ(fault("--frob"), "r.txt:1: option \"--frob\" is not known here");
  EXPECT_EQ(fault("-i"), "r.txt:1: \"-i\" takes one address");
  EXPECT_EQ(fault("-i https://${TOKEN}@h/"),
            "r.txt:1: the variable ${TOKEN} is not expanded: write what it stands for");
  EXPECT_EQ(fault("a==1 ; platform_release > '5'"),
            "r.txt:1: whether \"platform_release > \"5\"\" holds here is not known");
  EXPECT_EQ(fault("a==\xFF"), "r.txt:1: bytes that are no UTF-8");
  EXPECT_EQ(fault("./a.whl"),
            "r.txt:1: \"./a.whl\" is no requirement: expected the name of a package at byte 1");
  EXPECT_THAT(fault(std::string((std::size_t{32} << 20) + 1, '\n')), HasSubstr("more than"));
}

std::string pylock(const std::string& rest) {
  return "lock-version = '1.0'\ncreated-by = 'x'\n" + rest;
}

std::string pylock_fault(const std::string& text) {
  const auto set = parse_pylock(text, "pylock.toml", target());
  return set ? "parsed" : set.error().message;
}

TEST(Pylock, HasWheelsWithDigests) {
  const LockedSet set = set_of(parse_pylock(
      pylock(
          "requires-python = '>=3.9'\nenvironments = [\"sys_platform == 'win32'\", "
          "\"sys_platform == 'linux'\"]\ndefault-groups = ['dev']\n"
          "[[packages]]\nname = 'Foo_Bar'\nversion = '1.0'\nindex = 'https://h/simple'\n"
          "marker = \"'dev' in dependency_groups\"\n"
          "[[packages.wheels]]\nname = 'foo_bar-1.0-py3-none-any.whl'\n"
          "upload-time = 2024-02-05T23:51:50Z\nurl = 'https://h/x'\nsize = 12\n"
          "hashes = {sha256 = '" +
          kA +
          "'}\n"
          "[[packages]]\nname = 'b'\nwheels = [{path = 'w/b-2-py3-none-any.whl', hashes = "
          "{sha256 = '" +
          kB +
          "'}}]\n"
          "[[packages]]\nname = 'c'\nmarker = \"os_name == 'nt'\"\n"
          "[[packages]]\nname = 'd'\n[packages.vcs]\ntype = 'git'\n"
          "[[packages]]\nname = 'e'\n[packages.archive]\nurl = 'https://h/e-3-py3-none-any.whl'\n"
          "[[packages]]\nname = 'f'\n[packages.sdist]\nurl = 'https://h/f-1.tar.gz'\n"),
      "pylock.toml", target()));
  ASSERT_THAT(names(set), ElementsAre("b 2", "e 3", "foo-bar 1.0"));
  const LockedWheel& wheel = set.packages[2].wheels.front();
  EXPECT_EQ(wheel.file, "foo_bar-1.0-py3-none-any.whl");
  EXPECT_EQ(wheel.sha256, digest(kA));
  EXPECT_EQ(wheel.size_bytes, 12U);
  EXPECT_EQ(set.packages[2].index, "https://h/simple");
  EXPECT_THAT(left(set),
              ElementsAre("c: its marker does not hold: os_name == 'nt'",
                          "d: from version control, no wheel", "f: only a source distribution"));
  const auto files = page_files(set.packages[0], "file:///srv/project/");
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].url, "file:///srv/project/w/b-2-py3-none-any.whl");
  EXPECT_EQ(files[0].sha256, digest(kB));
}

TEST(Pylock, RefusalsNameLineAndReason) {
  EXPECT_EQ(pylock_fault("lock-version = '2.0'"),
            "pylock.toml:1: lock-version \"2.0\", expected 1.x");
  EXPECT_EQ(pylock_fault(pylock("requires-python = '>=3.12'")),
            "pylock.toml: the lock is for Python >=3.12, this one is 3.11.7");
  EXPECT_EQ(pylock_fault(pylock("environments = [\"os_name == 'nt'\"]")),
            "pylock.toml: the lock is for other environments: os_name == 'nt'");
  EXPECT_EQ(pylock_fault(pylock("")), "pylock.toml:1: no list of packages");
  EXPECT_EQ(pylock_fault(pylock("[[packages]]\nname = '-'")),
            "pylock.toml:3: \"-\" names no package");
  EXPECT_EQ(pylock_fault(pylock("[[packages]]\nname = 'a'\nwheels = [{url = "
                                "'https://h/b-1-py3-none-any.whl'}]")),
            "pylock.toml:3: \"b-1-py3-none-any.whl\" is no wheel of a");
  EXPECT_EQ(pylock_fault(pylock("[[packages]]\nname = 'a'\nversion = 'x'\nwheels = [{url = "
                                "'https://h/a-1-py3-none-any.whl', hashes = {sha256 = '1'}}]")),
            "pylock.toml:6: the sha256 of \"a-1-py3-none-any.whl\" is no digest");
  EXPECT_EQ(pylock_fault(pylock("[[packages]]\nname = 'a'\nversion = 'x'\nwheels = [{url = "
                                "'https://h/a-1-py3-none-any.whl'}]")),
            "pylock.toml:3: a: \"x\" is no version: character \"x\" at its start, not a release "
            "number");
  EXPECT_THAT(pylock_fault("a = ["), HasSubstr("pylock.toml:1:"));
}

std::string wheel(const std::string& file, const std::string& hex) {
  return "{ url = \"https://h/" + file + "\", hash = \"sha256:" + hex + "\", size = 3 },\n";
}

std::string uv_lock() {
  return "version = 1\nrevision = 2\nrequires-python = \">=3.9\"\n"
         "[[package]]\nname = \"colorama\"\nversion = \"0.4\"\n"
         "source = { registry = \"https://h/simple\" }\nwheels = [\n" +
         wheel("colorama-0.4-py3-none-any.whl", kA) +
         "]\n[[package]]\nname = \"numpy\"\nversion = \"1.26.4\"\n"
         "source = { registry = \"https://h/simple\" }\n"
         "resolution-markers = [\"python_full_version < '3.12'\"]\n"
         "sdist = { url = \"https://h/numpy-1.26.4.tar.gz\" }\nwheels = [\n" +
         wheel("numpy-1.26.4-cp311-cp311-manylinux_2_17_x86_64.whl", kB) +
         "]\n[[package]]\nname = \"numpy\"\nversion = \"2.0\"\n"
         "source = { registry = \"https://h/simple\" }\n"
         "resolution-markers = [\"python_full_version >= '3.12'\"]\nwheels = [\n" +
         wheel("numpy-2.0-cp312-cp312-linux_x86_64.whl", kB) +
         "]\n[[package]]\nname = \"project\"\nversion = \"0.1\"\nsource = { editable = \".\" }\n"
         "dependencies = [\n{ name = \"torch\", extra = [\"opt\"] },\n"
         "{ name = \"colorama\", marker = \"sys_platform == 'win32'\" },\n]\n"
         "[package.dev-dependencies]\ndev = [{ name = \"tool\" }]\nlint = [{ name = \"lint\" }]\n"
         "[[package]]\nname = \"torch\"\nversion = \"2.2.1\"\n"
         "source = { registry = \"https://h/simple\" }\n"
         "dependencies = [{ name = \"numpy\", version = \"1.26.4\", source = { registry = \"x\" }, "
         "marker = \"python_full_version < '3.12'\" }]\nwheels = [\n" +
         wheel("torch-2.2.1-cp311-cp311-linux_x86_64.whl", kA) +
         "]\n[package.optional-dependencies]\nopt = [{ name = \"from-git\" }]\n"
         "[[package]]\nname = \"from-git\"\nversion = \"1\"\nsource = { git = \"https://h/g\" }\n"
         "[[package]]\nname = \"tool\"\nversion = \"3\"\nsource = { path = "
         "\"w/tool-3-py3-none-any.whl\" }\nwheels = [{ filename = \"tool-3-py3-none-any.whl\" }]\n"
         "[[package]]\nname = \"lint\"\nversion = \"4\"\nsource = { registry = \"x\" }\n"
         "sdist = { url = \"https://h/lint-4.tar.gz\" }\n";
}

TEST(UvLock, TakesWhatTheProjectReaches) {
  const LockedSet set = set_of(parse_uv_lock(uv_lock(), "uv.lock", target()));
  EXPECT_THAT(names(set), ElementsAre("numpy 1.26.4", "tool 3", "torch 2.2.1"));
  EXPECT_EQ(set.packages[0].index, "https://h/simple");
  EXPECT_EQ(set.packages[0].wheels.front().sha256, digest(kB));
  EXPECT_EQ(set.packages[0].wheels.front().size_bytes, 3U);
  EXPECT_EQ(set.packages[1].wheels.front().path, "w/tool-3-py3-none-any.whl");
  EXPECT_THAT(left(set), ElementsAre("colorama: nothing that is taken needs 0.4 here",
                                     "numpy: nothing that is taken needs 2.0 here",
                                     "project: editable, no wheel", "from-git: git, no wheel",
                                     "lint: nothing that is taken needs 4 here"));
}

TEST(UvLock, GroupsAreThoseThatAreAskedFor) {
  MarkerEnvironment environment = target();
  environment.dependency_groups = {"lint"};
  const LockedSet set = set_of(parse_uv_lock(uv_lock(), "uv.lock", environment));
  EXPECT_THAT(names(set), ElementsAre("numpy 1.26.4", "torch 2.2.1"));
  EXPECT_THAT(left(set), testing::Contains("lint: only a source distribution"));
}

TEST(UvLock, WithoutAProjectEverythingIsTaken) {
  const LockedSet set =
      set_of(parse_uv_lock("version = 1\n[[package]]\nname = 'a'\nversion = '1'\nwheels = [" +
                               wheel("a-1-py3-none-any.whl", kA) + "]\n",
                           "uv.lock", target()));
  EXPECT_THAT(names(set), ElementsAre("a 1"));
  EXPECT_THAT(set.not_taken, IsEmpty());
}

TEST(UvLock, RefusalsNameLineAndReason) {
  const auto fault = [](const std::string& text) {
    const auto set = parse_uv_lock(text, "uv.lock", target());
    return set ? "parsed" : set.error().message;
  };
  EXPECT_EQ(fault("version = 2"), "uv.lock:1: version \"2\" of uv.lock, expected 1");
  EXPECT_EQ(fault("version = 1"), "uv.lock:1: no [[package]]");
  EXPECT_EQ(fault("version = 1\nrequires-python = '>=3.12'"),
            "uv.lock: the lock is for Python >=3.12, this one is 3.11.7");
  EXPECT_EQ(fault("version = 1\n[[package]]\nname = 'p'\nsource = {virtual = '.'}\n"
                  "dependencies = [\n{ name = 'gone' }]"),
            "uv.lock:6: \"gone\" is needed and not locked");
  const std::string twice = "[[package]]\nname = 'a'\nversion = '";
  EXPECT_EQ(fault("version = 1\n" + twice + "1'\nwheels = [" + wheel("a-1-py3-none-any.whl", kA) +
                  "]\n" + twice + "2'\nwheels = [" + wheel("a-2-py3-none-any.whl", kA) + "]"),
            "uv.lock:7: two versions of a: 1 in line 2, 2 here");
}

}  // namespace
}  // namespace goldenv::wheel

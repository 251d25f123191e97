#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/program.h"
#include "support/server.h"
#include "support/temp_dir.h"

// Components that are in no index of wheels: archives behind an index of NVIDIA's form, which a
// script makes and a server of this machine serves.

namespace goldenv {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Json = nlohmann::json;

constexpr const char* kServe =
    "import functools, http.server as h, sys\n"
    "class Q(h.SimpleHTTPRequestHandler):\n"
    "    def log_message(self, *a): pass\n"
    "s = h.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Q, directory=sys.argv[1]))\n"
    "print(s.server_port)\n"
    "s.serve_forever()\n";

/// The name of this machine's architecture in such an index, and of the other one.
std::string platform(bool own = true) {
  utsname system{};
  uname(&system);
  return (std::string(system.machine) == "aarch64") == own ? "linux-sbsa" : "linux-x86_64";
}

class ProvisionSources : public ::testing::Test {
 protected:
  ProvisionSources() : server_({"/usr/bin/python3", "-u", "-c", kServe, temp_.folder("web")}) {
    temp_.folder("home");
    temp_.folder("wheels");
  }

  /// Adds a part to the index of a release.
  void part(const std::string& product, std::vector<std::string> words) {
    words.insert(words.begin(), {"/usr/bin/python3", GOLDENV_SOURCE_DIR "/tests/cli/make_redist.py",
                                 temp_.at("web/compute/" + product + "/redist")});
    temp_.folder("web/compute/" + product + "/redist");
    const test::Ended made = test::run({std::move(words), std::nullopt, temp_.path()});
    ASSERT_EQ(made.status, 0) << made.err;
  }

  test::Ended goldenv(std::vector<std::string> words) {
    words.insert(words.begin(), GOLDENV_PROGRAM);
    const std::map<std::string, std::string> environment = {{"PATH", "/usr/bin:/bin"},
                                                            {"HOME", temp_.at("home")},
                                                            {"LANG", "C.UTF-8"},
                                                            {"GOLDENV_STORE", temp_.at("store")}};
    return test::run({std::move(words), environment, temp_.path()});
  }

  test::Ended provision(const std::string& pins, std::vector<std::string> more = {}) {
    temp_.file("golden.yaml", "goldenv: 1\nname: tools\npins:\n" + pins);
    std::vector<std::string> words = {
        "provision",        "golden.yaml",
        "--python",         "/usr/bin/python3",
        "--no-index",       "--find-links",
        temp_.at("wheels"), "--no-check",
        "--source-host",    "nvidia=http://127.0.0.1:" + server_.port()};
    words.insert(words.end(), more.begin(), more.end());
    return goldenv(std::move(words));
  }

  /// A toolkit of two parts, by a recipe of one's own.
  void toolkit() {
    temp_.file("recipes/cuda.toolkit.yaml",
               "goldenv_recipe: 1\ncomponent: cuda.toolkit\nabout: a compiler\n"
               "hosts: {nvidia: \"https://nowhere.example\"}\n"
               "sources:\n"
               "  - redist: [cuda_nvcc, cuda_cudart]\n"
               "    index: \"{host.nvidia}/compute/cuda/redist/redistrib_{version}.json\"\n"
               "    layout: {bin: bin, lib: lib, include: include, nvvm: data/nvvm}\n"
               "provides: {binaries: nvcc, environment: {CUDA_HOME: \"${prefix}\"}}\n"
               "unfold: [bin, lib, include]\n");
    part("cuda", {"12.1.1", "cuda_nvcc", "12.1.105", platform(),
                  "bin/nvcc=#!/bin/sh\necho compiler at $CUDA_HOME\n", "include/crt/host.h=//\n",
                  "nvvm/bin/cicc=#!/bin/sh\n"});
    part("cuda", {"12.1.1", "cuda_cudart", "12.1.105", platform(), "include/cuda_runtime.h=//\n",
                  "lib/libcudart_static.a=made up\n"});
  }

  std::size_t objects() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(temp_.at("store/objects"))) {
      ++count;
    }
    return count;
  }

  test::TempDir temp_;
  test::Server server_;
};

TEST_F(ProvisionSources, AToolkitOfSeveralPartsIsOneEnvironment) {
  toolkit();
  const std::vector<std::string> recipes = {"--recipes", temp_.at("recipes")};
  const test::Ended planned = provision(
      "  cuda.toolkit: 12.1.1\n", {"--recipes", temp_.at("recipes"), "--plan", "--format", "json"});
  ASSERT_EQ(planned.status, 0) << planned.err;
  const Json plan = Json::parse(planned.out);
  ASSERT_THAT(plan.at("steps"), SizeIs(2));
  EXPECT_EQ(plan.at("steps")[0].at("file"), "cuda_nvcc-" + platform() + "-12.1.105-archive.tar.xz");
  EXPECT_EQ(plan.at("steps")[1].at("key"), "cuda.toolkit");
  EXPECT_EQ(plan.at("steps")[1].at("source"), "redist cuda_nvcc");
  EXPECT_EQ(plan.at("sizes_not_told"), 0) << "the index tells sizes";

  const test::Ended done = provision("  cuda.toolkit: 12.1.1\n", recipes);
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(objects(), 2u);
  const std::string prefix = fs::canonical(temp_.at("store/roots/tools")).string();
  EXPECT_TRUE(fs::exists(prefix + "/include/cuda_runtime.h"));
  EXPECT_TRUE(fs::exists(prefix + "/include/crt/host.h"));
  EXPECT_TRUE(fs::exists(prefix + "/nvvm/bin/cicc"));
  EXPECT_FALSE(fs::exists(prefix + "/LICENSE"));
  const test::Ended ran = goldenv({"run", "--env", "tools", "--quiet", "--", "nvcc"});
  EXPECT_THAT(ran.out, HasSubstr("compiler at " + temp_.at("store/envs/"))) << ran.err;
  EXPECT_EQ(goldenv({"store", "verify"}).status, 0);

  // What was found is remembered: without the index all of it is there.
  fs::remove_all(temp_.at("web/compute"));
  const test::Ended again =
      provision("  cuda.toolkit: 12.1.1\n", {"--recipes", temp_.at("recipes"), "--offline"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("(was there)"));
}

TEST_F(ProvisionSources, PythonModulesOfAnArchiveLieWhereTheInterpreterLooks) {
  part("cuda",
       {"1.0", "tool", "1.0", platform(), "python/tool.py=VALUE = 7\n", "etc/tool.conf=x\n"});
  const std::string archive = temp_.at("web/compute/cuda/redist/tool/" + platform() + "/tool-" +
                                       platform() + "-1.0-archive.tar.xz");
  const test::Ended digest = test::run({{"/usr/bin/sha256sum", archive}});
  temp_.file("recipes/tool.yaml",
             "goldenv_recipe: 1\ncomponent: python.package.tool\nabout: a tool\n"
             "sources:\n  - archive: \"file://" +
                 archive + "\"\n    sha256: {\"1.0\": " + digest.out.substr(0, 64) +
                 "}\n    strip: 1\n    layout: {python: site, etc: data/etc}\n");
  const test::Ended done =
      provision("  python.package.tool: \"1.0\"\n", {"--recipes", temp_.at("recipes")});
  ASSERT_EQ(done.status, 0) << done.err;
  const test::Ended ran = goldenv(
      {"run", "--env", "tools", "--quiet", "--", "python", "-c", "import tool; print(tool.VALUE)"});
  EXPECT_EQ(ran.out, "7\n") << ran.err;
  EXPECT_TRUE(fs::exists(temp_.at("store/roots/tools/etc/tool.conf")));
}

TEST_F(ProvisionSources, ADebianPackageGivesItsLibraries) {
  if (!fs::exists("/usr/bin/dpkg-deb")) {
    GTEST_SKIP() << "no dpkg-deb to make a package with";
  }
  utsname system{};
  uname(&system);
  const std::string folder = std::string(system.machine) + "-linux-gnu";
  temp_.file("deb/DEBIAN/control",
             "Package: libtool9\nVersion: 1.0-1\nArchitecture: all\nMaintainer: nobody "
             "<nobody@example.com>\nDescription: made up\n");
  temp_.file("deb/usr/lib/" + folder + "/libtool.so.9.1", "made up\n");
  temp_.link("deb/usr/lib/" + folder + "/libtool.so.9", "libtool.so.9.1");
  temp_.file("deb/usr/share/doc/libtool9/copyright", "free\n");
  const test::Ended made = test::run(
      {{"/usr/bin/dpkg-deb", "--build", "--root-owner-group", temp_.at("deb"), temp_.at("t.deb")},
       std::nullopt,
       temp_.path()});
  ASSERT_EQ(made.status, 0) << made.err;
  const test::Ended digest = test::run({{"/usr/bin/sha256sum", temp_.at("t.deb")}});
  temp_.file("recipes/cudnn.yaml",
             "goldenv_recipe: 1\ncomponent: cudnn\nabout: a library\n"
             "sources:\n  - {deb: libtool9, version: \"{version}\", url: \"file://" +
                 temp_.at("t.deb") + "\", sha256: {\"1.0\": " + digest.out.substr(0, 64) + "}}\n");
  const test::Ended done = provision("  cudnn: \"1.0\"\n", {"--recipes", temp_.at("recipes")});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(test::read_file(temp_.at("store/roots/tools/lib/libtool.so.9")), "made up\n");
  EXPECT_FALSE(fs::exists(temp_.at("store/roots/tools/share")));
}

TEST_F(ProvisionSources, WhatNoIndexOfWheelsHasIsTakenFromTheArchives) {
  part("cudnn", {"8.9.7", "cudnn", "8.9.7.29", platform(), "--variant", "cuda11",
                 "include/cudnn.h=// for 11\n"});
  part("cudnn", {"8.9.7", "cudnn", "8.9.7.29", platform(), "--variant", "cuda12",
                 "include/cudnn.h=// for 12\n"});
  part("cuda", {"12.1.1", "cuda_cudart", "12.1.105", platform(), "include/cuda_runtime.h=//\n"});
  const test::Ended done = provision("  cudnn: 8.9.7.29\n  cuda: 12.1.1\n");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(test::read_file(temp_.at("store/roots/tools/include/cudnn.h")), "// for 12\n");
  EXPECT_TRUE(fs::exists(temp_.at("store/roots/tools/include/cuda_runtime.h")));
}

TEST_F(ProvisionSources, WhatTheIndexDoesNotHaveIsNamed) {
  part("cudnn",
       {"8.9.7", "cudnn", "8.9.7.29", platform(), "--variant", "cuda11", "include/a.h=//\n"});
  part("cuda", {"12.1.1", "cuda_nvcc", "12.1.105", platform(), "bin/nvcc=#!/bin/sh\n"});
  part("cuda", {"12.1.0", "cuda_cudart", "12.1.55", platform(false), "include/b.h=//\n"});
  const struct {
    std::string pins;
    std::string why;
  } kCases[] = {
      {"  cudnn: 8.9.7.29\n  cuda: 12.1.1\n", "as cuda11, not as cuda12"},
      {"  cudnn: 8.9.7.30\n  cuda: 12.1.1\n", "has cudnn 8.9.7.29, not 8.9.7.30"},
      {"  cudnn: 8.9.6.50\n  cuda: 12.1.1\n", "there is no redistrib_8.9.6.json"},
      {"  cuda: 12.1.1\n", "has no part cuda_cudart (there is cuda_nvcc)"},
      {"  cuda: 12.1.0\n",
       "has no cuda_cudart for " + platform() + " (there is " + platform(false) + ")"},
  };
  for (const auto& one : kCases) {
    const test::Ended ended = provision(one.pins);
    EXPECT_EQ(ended.status, 4) << one.pins;
    EXPECT_THAT(ended.err, HasSubstr(one.why)) << one.pins;
    EXPECT_FALSE(fs::exists(temp_.at("store/roots/tools")));
  }
}

TEST_F(ProvisionSources, AnArchiveOfOtherBytesIsRefused) {
  part("cuda", {"12.1.1", "cuda_cudart", "12.1.105", platform(), "--lie", "include/a.h=//\n"});
  const test::Ended ended = provision("  cuda: 12.1.1\n");
  EXPECT_EQ(ended.status, 4);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("cuda_cudart-"), HasSubstr("sha256")));
  EXPECT_EQ(objects(), 0u);
}

TEST_F(ProvisionSources, AnIndexThatLeadsElsewhereIsRefused) {
  for (const std::string path :
       {"../../../secret.tar.xz", "https://other.example/a.tar.xz", "a?b"}) {
    temp_.file(
        "web/compute/cuda/redist/redistrib_12.1.1.json",
        Json{{"cuda_cudart",
              {{"version", "12.1.105"},
               {platform(),
                {{"relative_path", path}, {"sha256", std::string(64, 'a')}, {"size", "1"}}}}}}
            .dump());
    const test::Ended ended = provision("  cuda: 12.1.1\n");
    EXPECT_EQ(ended.status, 4);
    EXPECT_THAT(ended.err, HasSubstr("has no path below the index")) << path;
  }
}

TEST_F(ProvisionSources, AnIndexOnAnotherMachineIsReadByHttpsAlone) {
  const test::Ended ended =
      provision("  cuda: 12.1.1\n", {"--source-host", "nvidia=http://mirror.example"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("mirror.example is read by http"));
}

}  // namespace
}  // namespace goldenv

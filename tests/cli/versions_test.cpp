#include <gtest/gtest.h>

#include "doc/node.h"
#include "support/program.h"
#include "support/server.h"
#include "support/temp_dir.h"

namespace goldenv {
namespace {

/// `goldenv versions` on a small recorded machine whose distribution offers two kernels and an old
/// NCCL.
class Versions : public ::testing::Test {
 protected:
  Versions() {
    temp_.file("m/record.yaml",
               "goldenv_record: 0\nuname: {node: node17, release: 5.4.0-90-generic, version: "
               "'#101-Ubuntu SMP', machine: x86_64}\n");
    temp_.file("m/var/lib/apt/lists/deb.example_dists_focal_main_binary-amd64_Packages",
               "Package: linux-image-5.4.0-216-generic\nVersion: 5.4.0-216.236\n\n"
               "Package: linux-image-5.4.0-90-generic\nVersion: 5.4.0-90.101\n\n"
               "Package: linux-image-generic\nVersion: 5.4.0.216.212\n\n"
               "Package: libnccl2\nVersion: 2.18.3-1+cuda12.1\n");
  }

  test::Ended versions(std::vector<std::string> words) {
    words.insert(words.begin(), {GOLDENV_PROGRAM, "versions"});
    return test::run({std::move(words),
                      std::map<std::string, std::string>{{"PATH", "/usr/bin:/bin"},
                                                         {"HOME", temp_.folder("home")}},
                      temp_.path()});
  }

  test::TempDir temp_;
};

TEST_F(Versions, SaysThatTheNewestKernelOfTheDistributionIsStillOld) {
  const test::Ended ended = versions({"kernel", "root:m"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out,
            "kernel  2 versions, newest first\n"
            "  5.4.0-216-generic    distribution (linux-image-5.4.0-216-generic 5.4.0-216.236)\n"
            "  5.4.0-90-generic     installed (kernel); distribution (linux-image-5.4.0-90-generic "
            "5.4.0-90.101)\n"
            "  newest, installed     5.4.0-90-generic\n"
            "  newest, distribution  5.4.0-216-generic\n");
}

TEST_F(Versions, JoinsTablesAndTheDistribution) {
  const test::Ended ended = versions({"nccl", "root:m", "--between", "2.18.1..2.19.1"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out.substr(0, ended.out.find("  newest")),
            "nccl  5 versions, newest first\n"
            "  2.19.1  2023-09-26  table\n"
            "  2.18.6  2023-10-10  table\n"
            "  2.18.5  2023-08-23  table\n"
            "  2.18.3  2023-06-14  distribution (libnccl2 2.18.3-1+cuda12.1); table\n"
            "  2.18.1  2023-04-18  table\n");
  EXPECT_NE(ended.out.find("tags of NVIDIA/nccl, as of 2026-06-11 (certain)"), std::string::npos)
      << ended.out;
}

TEST_F(Versions, GivesTheSameAsData) {
  const test::Ended ended =
      versions({"nccl", "root:m", "--between", "2.18.2..2.18.3", "--format", "json"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  const auto node = doc::parse(ended.out, doc::Format::json, "out");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->find("component")->text, "nccl");
  ASSERT_EQ(node->find("versions")->items.size(), 1u);
  const doc::Node& version = node->find("versions")->items.front();
  EXPECT_EQ(version.find("version")->text, "2.18.3");
  EXPECT_TRUE(version.find("version")->quoted);
  EXPECT_EQ(version.find("date")->text, "2023-06-14");
  EXPECT_EQ(version.find("origins")->items.size(), 2u);
  EXPECT_EQ(node->find("newest")->find("distribution")->text, "2.18.3");
  EXPECT_EQ(node->find("table")->find("confidence")->text, "certain");
  EXPECT_EQ(node->find("schema_version")->text, "0");
}

TEST_F(Versions, HelpHasAnExampleThatWorks) {
  const test::Ended help = versions({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("Example: goldenv versions nccl --between 2.18..2.20.5"),
            std::string::npos)
      << help.out;
  EXPECT_NE(help.out.find("--between A..B"), std::string::npos);
}

TEST_F(Versions, UnknownComponentsAreBadUsageWithTheNearest) {
  const test::Ended ended = versions({"ncll", "root:m"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_NE(ended.err.find("did you mean nccl?"), std::string::npos) << ended.err;
  EXPECT_EQ(versions({"gpu.name", "root:m"}).status, 2);
  EXPECT_EQ(versions({"nccl@/x", "root:m"}).status, 2);
  EXPECT_EQ(versions({"nccl", "root:m", "--between", "2.20..2.18"}).status, 2);
  EXPECT_EQ(versions({"nccl", "root:m", "--between", "2.20"}).status, 2);
  EXPECT_EQ(versions({}).status, 2);
}

TEST_F(Versions, ListsThatCannotBeReadAreSaid) {
  temp_.file("n/record.yaml", "goldenv_record: 0\nuname: {node: n, machine: x86_64}\n");
  temp_.file("n/var/lib/apt/lists/deb.example_Packages.lz4", "x");
  const test::Ended ended = versions({"kernel", "root:n"});
  EXPECT_EQ(ended.status, 3) << ended.out;
  EXPECT_NE(ended.out.find("1 in the form .lz4, which goldenv does not read"), std::string::npos)
      << ended.out;
}

TEST_F(Versions, ASnapshotFileHasWhatItSays) {
  temp_.file("s.yaml",
             "goldenv_snapshot: 0\nsource: x\nlisted: []\nfacts:\n  nccl: {value: 2.18.99}\n");
  const test::Ended ended = versions({"nccl", "s.yaml", "--between", "2.18.7..2.18.100"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("  2.18.99    installed (nccl)\n"), std::string::npos) << ended.out;
}

TEST_F(Versions, SaysWhatCannotBeProvisioned) {
  const test::Ended ended = versions({"glibc", "root:m"});
  EXPECT_NE(ended.out.find("not provisioned  glibc is the distribution's"), std::string::npos)
      << ended.out;
}

TEST_F(Versions, AnIndexIsAskedOnTheCommandLineAlone) {
  temp_.file("web/simple/nvidia-nccl-cu12/index.html",
             "<a href=\"nvidia_nccl_cu12-2.18.3-py3-none-manylinux1_x86_64.whl\">a</a>\n"
             "<a href=\"nvidia_nccl_cu12-9.1.2-py3-none-manylinux1_x86_64.whl\">b</a>\n");
  const test::Server server({"/usr/bin/python3", "-u", "-c",
                             "import functools, http.server as h, sys\n"
                             "class Q(h.SimpleHTTPRequestHandler):\n"
                             "    def log_message(self, *a): pass\n"
                             "s = h.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Q, "
                             "directory=sys.argv[1]))\n"
                             "print(s.server_port)\n"
                             "s.serve_forever()\n",
                             temp_.at("web")});
  const std::string index = "http://127.0.0.1:" + server.port() + "/simple";
  const test::Ended asked = versions({"nccl", "root:m", "--between", "2.18.3..", "--index", index});
  EXPECT_EQ(asked.status, 0) << asked.err;
  EXPECT_NE(asked.out.find("9.1.2               index (nvidia-nccl-cu12)\n"), std::string::npos)
      << asked.out;
  EXPECT_NE(asked.out.find("2.18.3  2023-06-14  distribution (libnccl2 2.18.3-1+cuda12.1); index "
                           "(nvidia-nccl-cu12); table\n"),
            std::string::npos)
      << asked.out;
  EXPECT_NE(asked.out.find("newest, index         9.1.2\n"), std::string::npos) << asked.out;
  EXPECT_EQ(asked.out.find("not read"), std::string::npos) << asked.out;

  EXPECT_EQ(versions({"nccl", "root:m"}).out.find("9.1.2"), std::string::npos);
  const test::Ended none = versions({"driver", "root:m", "--index", index});
  EXPECT_NE(none.out.find("the index: no project of it is numbered like driver"), std::string::npos)
      << none.out;
  const test::Ended far = versions({"nccl", "root:m", "--index", "http://index.example/simple"});
  EXPECT_NE(far.out.find("the index on index.example is read by http"), std::string::npos)
      << far.out;
}

}  // namespace
}  // namespace goldenv

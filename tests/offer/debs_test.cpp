#include "offer/debs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/fake_host.h"

namespace goldenv::offer {
namespace {

using testing::HasSubstr;

const std::string kLists = "/var/lib/apt/lists/";
const std::string kDigest(64, 'a');

std::string stanza(const std::string& name, const std::string& version, const std::string& file,
                   const std::string& arch = "amd64", const std::string& digest = kDigest) {
  return "Package: " + name + "\nArchitecture: " + arch + "\nVersion: " + version +
         "\nFilename: " + file + "\nSize: 1234\nSHA256: " + digest + "\n\n";
}

/// A mirror and a list of it.
void fill(test::FakeHost& host, const std::string& packages) {
  host.file("/etc/apt/sources.list",
            "# deb http://old.example/debian stable main\n"
            "deb [arch=amd64 signed-by=/a.gpg] http://deb.example/debian/ stable main # here\n"
            "deb-src http://src.example/debian stable main\n");
  host.file(kLists + "deb.example_debian_dists_stable_main_binary-amd64_Packages", packages);
}

TEST(FindDeb, IsTheFileOfTheListsOwnMirror) {
  test::FakeHost host;
  fill(host, stanza("libnccl2", "2.18.3-1+cuda12.1", "pool/n/nccl_2.18.3.deb") +
                 stanza("libnccl2", "2.19.3-1+cuda12.2", "pool/n/nccl_2.19.3.deb") +
                 stanza("libnccl-dev", "2.18.3-1+cuda12.1", "pool/n/dev.deb"));
  const auto deb = find_deb(host, "libnccl2", "2.18.3-1+cuda12.1", "amd64");
  ASSERT_TRUE(deb) << deb.error().message;
  EXPECT_EQ(*deb, (Deb{"libnccl2", "2.18.3-1+cuda12.1",
                       "http://deb.example/debian/pool/n/nccl_2.18.3.deb", kDigest, 1234}));
}

TEST(FindDeb, FormsOfSourcesAndNamesOfLists) {
  test::FakeHost host;
  host.file("/etc/apt/sources.list.d/a.sources",
            "Types: deb\nURIs: https://repo.example/x86_64/\n https://user:word@b.example/~c\n"
            "Suites: /\n\nTypes: deb\nURIs: file:/srv/mirror\n");
  host.file(kLists + "repo.example_x86%5f64_Packages", stanza("a", "1", "./a_1.deb"));
  host.file(kLists + "b.example_%7ec_dists_s_main_binary-amd64_Packages",
            stanza("b", "1:2-1", "pool/b.deb", "all"));
  host.file(kLists + "_srv_mirror_._Packages", stanza("c", "3", "./c.deb"));
  EXPECT_EQ(find_deb(host, "a", "1", "amd64").value_or({}).url,
            "https://repo.example/x86_64/a_1.deb");
  // The epoch is no part of what is packaged.
  EXPECT_EQ(find_deb(host, "b", "2-1", "amd64").value_or({}).url,
            "https://user:word@b.example/~c/pool/b.deb");
  EXPECT_EQ(find_deb(host, "c", "3", "arm64").error().code, Errc::absent) << "is for amd64";
  EXPECT_EQ(find_deb(host, "c", "3", "amd64").value_or({}).url, "file:///srv/mirror/c.deb");
}

TEST(FindDeb, AnyRestIsTheHighest) {
  test::FakeHost host;
  fill(host, stanza("d", "535.129.03-0ubuntu1", "p/1.deb") +
                 stanza("d", "535.129.03-0ubuntu10", "p/10.deb") +
                 stanza("d", "535.129.03-0ubuntu9", "p/9.deb"));
  EXPECT_EQ(find_deb(host, "d", "535.129.03-*", "amd64").value_or({}).version,
            "535.129.03-0ubuntu10");
}

TEST(FindDeb, WhyThereIsNone) {
  test::FakeHost host;
  fill(host, stanza("d", "1.0-1", "../../etc/shadow") + stanza("d", "2.0-1", "p/2.deb") +
                 stanza("e", "1", "p/e.deb", "amd64", "short"));
  EXPECT_THAT(find_deb(host, "d", "3.0-1", "amd64").error().message,
              HasSubstr("apt's lists have no d 3.0-1 (there is 2.0-1, 1.0-1)"));
  EXPECT_EQ(find_deb(host, "d", "1.0-1", "amd64").error().code, Errc::absent);
  EXPECT_EQ(find_deb(host, "e", "1", "amd64").error().code, Errc::absent) << "no digest";
  EXPECT_EQ(find_deb(test::FakeHost(), "d", "1", "amd64").error().code, Errc::absent);

  test::FakeHost other;
  other.file(kLists + "gone.example_dists_s_main_binary-amd64_Packages",
             stanza("d", "1", "p/d.deb"));
  EXPECT_THAT(find_deb(other, "d", "1", "amd64").error().message,
              HasSubstr("of which sources.list names no mirror"));
  // Where a list cannot be read, that there is none is not known.
  test::FakeHost damaged;
  damaged.file(kLists + "a_Packages.gz", "\x1f\x8b garbage");
  EXPECT_EQ(find_deb(damaged, "d", "1", "amd64").error().code, Errc::failed);
}

}  // namespace
}  // namespace goldenv::offer

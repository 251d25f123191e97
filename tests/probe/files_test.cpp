#include <gtest/gtest.h>
#include <sys/stat.h>

#include "host/host.h"
#include "probe/probe.h"
#include "support/fake_host.h"
#include "support/temp_dir.h"

namespace goldenv::probe {
namespace {

facts::Reading read(const host::Host& host, const std::string& path) {
  Request request;
  request.named = {{"file", path}};
  request.only_named = true;
  return look(host, request, "test").read({"file", path}).reading;
}

std::string value(const facts::Reading& reading) {
  const auto* value = std::get_if<facts::Value>(&reading);
  return value == nullptr ? "no value: " + facts::describe(reading) : value->text;
}

TEST(FilesProbe, AFileIsItsDigest) {
  test::FakeHost host;
  host.file("/data/a", "abc");
  // Source: FIPS 180-4, the example of SHA-256.
  EXPECT_EQ(value(read(host, "/data/a")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_TRUE(std::holds_alternative<facts::Absent>(read(host, "/data/b")));
}

TEST(FilesProbe, WhatIsNoFileIsThereAllTheSame) {
  const test::TempDir folder;
  folder.folder("d");
  folder.link("link", "d");
  ASSERT_EQ(::mkfifo(folder.at("fifo").c_str(), 0600), 0);
  const auto host = host::live_host();
  EXPECT_EQ(value(read(*host, folder.at("d"))), "folder");
  EXPECT_EQ(value(read(*host, folder.at("link"))), "folder");
  EXPECT_EQ(value(read(*host, folder.at("fifo"))), "FIFO");
  EXPECT_EQ(value(read(*host, "/dev/null")), "device");
}

TEST(FilesProbe, AFileThatCannotBeReadIsUnknown) {
  test::FakeHost host;
  host.deny("/data/a");
  const facts::Reading reading = read(host, "/data/a");
  ASSERT_TRUE(std::holds_alternative<facts::Unknown>(reading));
  EXPECT_EQ(std::get<facts::Unknown>(reading).why, facts::Why::denied);
}

}  // namespace
}  // namespace goldenv::probe

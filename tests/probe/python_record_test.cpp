#include <gtest/gtest.h>

#include <algorithm>

#include "base/sha256.h"
#include "probe/python_machine.h"
#include "probe/scan.h"
#include "probe/wheel_record.h"
#include "support/temp_dir.h"

namespace goldenv::probe {
extern const Probe python_record;
namespace {

using test::PythonMachine;
using test::told;

std::string url_digest(const std::string& bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const Sha256 digest = Sha256::of(bytes);
  std::string text;
  for (std::size_t bit = 0; bit < 258; bit += 6) {
    std::size_t digit = 0;
    for (std::size_t i = bit; i < bit + 6; ++i) {
      const bool set = i < 256 && (digest.bytes[i / 8] >> (7 - i % 8) & 1) != 0;
      digit = digit * 2 + (set ? 1 : 0);
    }
    text += kDigits[digit];
  }
  return text;
}

std::string line(const std::string& path, const std::string& bytes) {
  return path + ",sha256=" + url_digest(bytes) + "," + std::to_string(bytes.size()) + "\n";
}

struct Wheels : PythonMachine {
  const std::string folder = site("/v", "3.11");
  const std::string dir = "/v/lib/python3.11/site-packages/";

  Wheels() {
    python("/usr", "3.11.2").venv("/v", "3.11.2");
    host.set("VIRTUAL_ENV", "/v");
  }

  /// A wheel with its files as it was installed.
  Wheels& wheel(const std::string& name, const std::string& version,
                const std::vector<std::pair<std::string, std::string>>& files) {
    package(folder, name + "-" + version);
    std::string record = name + "-" + version + ".dist-info/RECORD,,\n";
    for (const auto& [path, bytes] : files) {
      host.file(path.starts_with("../../../") ? "/v/" + path.substr(9) : dir + path, bytes);
      record += line(path, bytes);
    }
    host.file(dir + name + "-" + version + ".dist-info/RECORD", record);
    return *this;
  }
};

constexpr const char* kNccl = "python.package.nvidia-nccl-cu12.record";

Wheels& nccl(Wheels& wheels) {
  return wheels.wheel("nvidia_nccl_cu12", "2.19.3",
                      {{"nvidia/nccl/lib/libnccl.so.2", "library"},
                       {"nvidia/nccl/include/nccl.h", "header"},
                       {"../../../bin/tool", "program"}});
}

TEST(PythonRecordProbe, NamedPackageIsReadWhole) {
  Wheels wheels;
  nccl(wheels);
  EXPECT_EQ(told(wheels.host, python_record, kNccl, test::only({kNccl})), "ok");
  wheels.host.file(wheels.dir + "nvidia/nccl/include/nccl.h", "hEader");
  const auto changed = test::scan(wheels.host, python_record, test::only({kNccl}));
  EXPECT_EQ(told(changed, kNccl), "changed");
  EXPECT_EQ(changed.find({kNccl, ""})->evidence.notes,
            std::vector<std::string>{"changed: " + wheels.dir + "nvidia/nccl/include/nccl.h"});
  Wheels missing;
  missing.wheel("nvidia_nccl_cu12", "2.19.3", {{"nvidia/a.so", "x"}});
  missing.host.file(missing.dir + "nvidia_nccl_cu12-2.19.3.dist-info/RECORD",
                    line("nvidia/gone.so", "x"));
  EXPECT_EQ(told(missing.host, python_record, kNccl, test::only({kNccl})), "missing");
}

TEST(PythonRecordProbe, ScanComparesSizesAndSaysNoMore) {
  Wheels wheels;
  nccl(wheels);
  EXPECT_EQ(told(wheels.host, python_record, kNccl), "unknown (not-probed)");
  wheels.host.file(wheels.dir + "nvidia/nccl/lib/libnccl.so.2", "another library");
  EXPECT_EQ(told(wheels.host, python_record, kNccl), "changed");
}

TEST(PythonRecordProbe, KeyThatAnotherSideNamesInAScanReadsNoMore) {
  Wheels wheels;
  nccl(wheels);
  EXPECT_EQ(told(wheels.host, python_record, kNccl, test::also({kNccl})), "unknown (not-probed)");
}

TEST(PythonRecordProbe, FileOfTwoWheelsIsReadInAnyCase) {
  Wheels wheels;
  nccl(wheels);
  // The same size, so that the size does not tell them apart.
  wheels.wheel("nvidia_nccl_cu13", "2.28.9", {{"nvidia/nccl/lib/libnccl.so.2", "LIBRARY"}});
  const auto found = test::scan(wheels.host, python_record);
  EXPECT_EQ(told(found, kNccl), "changed");
  EXPECT_EQ(found.find({kNccl, ""})->evidence.notes,
            std::vector<std::string>{"changed: " + wheels.dir +
                                     "nvidia/nccl/lib/libnccl.so.2, which is also in "
                                     "nvidia-nccl-cu13 2.28.9"});
  EXPECT_EQ(told(found, "python.package.nvidia-nccl-cu13.record"), "unknown (not-probed)");
}

TEST(PythonRecordProbe, DigestsThatAreRememberedAreNotReadAgain) {
  test::TempDir folder;
  host::Memory memory(folder.path());
  Wheels wheels;
  nccl(wheels);
  probe::Request request = test::only({kNccl});
  request.memory = &memory;
  EXPECT_EQ(told(wheels.host, python_record, kNccl, request), "ok");
  const auto status = wheels.host.status(wheels.dir + "nvidia/nccl/lib/libnccl.so.2");
  ASSERT_TRUE(status);
  EXPECT_EQ(memory.get(*status, "sha256"), Sha256::of("library").hex());
}

TEST(PythonRecordProbe, PackagesWithoutRecordAndWithoutFiles) {
  Wheels wheels;
  wheels.package(wheels.folder, "numpy-1.26.4");
  const auto ask = [&](const std::string& name) {
    const std::string key = "python.package." + name + ".record";
    return told(wheels.host, python_record, key, test::only({key}));
  };
  EXPECT_EQ(ask("numpy"), "no record");
  EXPECT_EQ(ask("scipy"), "absent (not installed in /v)");
  wheels.host.deny(wheels.dir + "numpy-1.26.4.dist-info/RECORD");
  EXPECT_EQ(ask("numpy"), "unknown (denied)");
  wheels.wheel("six", "1.16.0", {{"six.py", "x"}});
  wheels.package(wheels.folder, "six-1.15.0");
  EXPECT_EQ(ask("six"), "unknown (ambiguous)");
}

TEST(PythonRecordProbe, FileThatCannotBeReadIsNotOk) {
  Wheels wheels;
  nccl(wheels);
  wheels.host.deny(wheels.dir + "nvidia/nccl/lib/libnccl.so.2");
  EXPECT_EQ(told(wheels.host, python_record, kNccl, test::only({kNccl})), "unknown (denied)");
}

TEST(WheelRecordText, LinesOfAllForms) {
  const std::string digest = url_digest("x");
  const auto files = parse_record("\"a,\"\"b.so\",sha256=" + digest +
                                      ",7\r\nx/libc.so.6,md5=abc,3\nRECORD,,\n\njunk\nd.sock,,\n",
                                  false);
  ASSERT_EQ(files.size(), 5u);
  EXPECT_EQ(files[0].path, "a,\"b.so");
  EXPECT_EQ(files[0].digest, Sha256::of("x"));
  EXPECT_EQ(files[0].size_bytes, 7u);
  EXPECT_FALSE(files[1].digest);
  EXPECT_FALSE(files[2].size_bytes);
  const auto libraries =
      parse_record("x/libc.so.6,,\na.socket,,\nm.cpython-311-x86_64-linux-gnu.so,,1\n", true);
  ASSERT_EQ(libraries.size(), 2u);
  EXPECT_FALSE(parse_url_digest(digest.substr(1)));
  EXPECT_FALSE(parse_url_digest(std::string(43, '!')));
  EXPECT_FALSE(parse_url_digest(std::string(42, 'A') + "B"));  // bits beyond the last byte
}

}  // namespace
}  // namespace goldenv::probe

// goldenv-portable: one file, without loader, libc or anything else of the host it runs on.
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <vector>

#include "support/nvml_fixture.h"
#include "support/program.h"
#include "support/temp_dir.h"

namespace goldenv {
namespace {

#define SKIP_UNLESS_ROOT()                           \
  if (geteuid() != 0) {                              \
    GTEST_SKIP() << "not root: cannot change roots"; \
  }

/// One entry of a table of an ELF file's bytes, which the linker wrote: trusted, but not aligned.
template <typename T>
T entry_at(const std::string& bytes, std::size_t offset) {
  T entry{};
  EXPECT_LE(offset + sizeof(T), bytes.size());
  std::memcpy(&entry, bytes.data() + offset, sizeof(T));
  return entry;
}

std::vector<Elf64_Phdr> segments_of(const std::string& bytes) {
  const auto header = entry_at<Elf64_Ehdr>(bytes, 0);
  std::vector<Elf64_Phdr> segments;
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    segments.push_back(
        entry_at<Elf64_Phdr>(bytes, std::size_t(header.e_phoff) + i * header.e_phentsize));
  }
  return segments;
}

/// An empty folder but for goldenv-portable, and a way to run it there as the root folder.
class EmptyRoot {
 public:
  EmptyRoot() { std::filesystem::copy_file(GOLDENV_PORTABLE, folder_.at("goldenv")); }

  [[nodiscard]] test::Ended run(const std::vector<std::string>& words,
                                const std::map<std::string, std::string>& environment = {}) const {
    std::vector<std::string> argv{"/usr/sbin/chroot", folder_.path(), "/goldenv"};
    argv.insert(argv.end(), words.begin(), words.end());
    return test::run({.argv = argv, .environment = environment});
  }
  [[nodiscard]] const test::TempDir& folder() const { return folder_; }

 private:
  test::TempDir folder_;
};

std::string scan_by(const char* program, const std::vector<std::string>& words) {
  std::vector<std::string> argv{program, "scan", "--format", "yaml"};
  argv.insert(argv.end(), words.begin(), words.end());
  const test::Ended ended = test::run({.argv = argv});
  EXPECT_EQ(ended.status, 0) << words.back() << ": " << ended.err;
  // The one fact that no two looks at a machine have in common: where a look takes a second.
  std::string out = ended.out;
  const std::size_t from = out.find("\n  host.uptime: {value: ");
  if (from != std::string::npos) {
    out.erase(from, out.find('\n', from + 1) - from);
  }
  return out;
}

/// Whether both programs see the same. What changes from moment to moment (free memory) may do so
/// between the two: some tries.
void expect_both_see_the_same(const std::vector<std::string>& words, int tries) {
  for (int left = tries; left > 0; --left) {
    const std::string ours = scan_by(GOLDENV_PORTABLE, words);
    const std::string theirs = scan_by(GOLDENV_PROGRAM, words);
    ASSERT_GT(theirs.size(), 1'000U);
    if (ours != theirs && left > 1) {
      continue;
    }
    EXPECT_EQ(ours, theirs);
    return;
  }
}

TEST(Portable, NeedsNeitherALoaderNorALibrary) {
  const std::string bytes = test::read_file(GOLDENV_PORTABLE);
  for (const Elf64_Phdr& segment : segments_of(bytes)) {
    EXPECT_NE(segment.p_type, PT_INTERP);
    if (segment.p_type != PT_DYNAMIC) {
      continue;
    }
    for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      const auto entry = entry_at<Elf64_Dyn>(bytes, std::size_t(segment.p_offset) + at);
      if (entry.d_tag == DT_NULL) {
        break;
      }
      EXPECT_NE(entry.d_tag, DT_NEEDED);
    }
  }
}

// NT_GNU_ABI_TAG: four words, of which 0 is Linux, then the oldest kernel. Source: Linux Standard
// Base, "ABI note tag".
TEST(Portable, StartsOnKernelsFrom310) {
  const std::string bytes = test::read_file(GOLDENV_PORTABLE);
  bool found = false;
  for (const Elf64_Phdr& segment : segments_of(bytes)) {
    std::size_t at = std::size_t(segment.p_offset);
    const std::size_t end = at + std::size_t(segment.p_filesz);
    while (segment.p_type == PT_NOTE && at + sizeof(Elf64_Nhdr) <= end) {
      const auto note = entry_at<Elf64_Nhdr>(bytes, at);
      const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
      const std::size_t body = at + padded(sizeof(Elf64_Nhdr) + note.n_namesz);
      if (note.n_type == NT_GNU_ABI_TAG && note.n_descsz == 16) {
        found = true;
        EXPECT_EQ(entry_at<std::uint32_t>(bytes, body), 0U);
        const std::pair oldest{entry_at<std::uint32_t>(bytes, body + 4),
                               entry_at<std::uint32_t>(bytes, body + 8)};
        EXPECT_LE(oldest, std::pair(3U, 10U));
      }
      at = body + padded(note.n_descsz);
    }
  }
  EXPECT_TRUE(found);
}

// It is sent to other hosts with every look.
TEST(Portable, IsSmallEnoughToBeSent) {
  EXPECT_LT(std::filesystem::file_size(GOLDENV_PORTABLE), 14U << 20);
}

TEST(Portable, RunsInAnEmptyRoot) {
  SKIP_UNLESS_ROOT();
  const EmptyRoot root;
  const test::Ended version = root.run({"--version"});
  EXPECT_EQ(version.status, 0) << version.err;
  EXPECT_EQ(version.out, test::run({.argv = {GOLDENV_PROGRAM, "--version"}}).out);

  utsname name{};
  ASSERT_EQ(uname(&name), 0);
  const test::Ended scan = root.run({"scan", "--only", "kernel", "--format", "yaml"});
  EXPECT_EQ(scan.status, 0);
  EXPECT_NE(scan.out.find(std::string("  kernel: {value: ") + name.release + ", from: uname"),
            std::string::npos)
      << scan.out;
}

TEST(Portable, SaysWhatAnEmptyRootDoesNotShow) {
  SKIP_UNLESS_ROOT();
  const EmptyRoot root;
  const test::Ended scan = root.run({"scan", "--all", "--format", "yaml"}, {{"HOME", "/"}});
  EXPECT_EQ(scan.status, 0);
  EXPECT_EQ(scan.err,
            "goldenv: /proc is not mounted here: what only it tells is unknown\n"
            "goldenv: /sys is not mounted here: what only it tells is unknown\n");
  EXPECT_EQ(root.run({}, {{"HOME", "/"}}).err, scan.err) << "what is in force, likewise";
  // What was sought in /proc or /sys is no fact here, and nothing that it could be is absent.
  std::size_t unknown = 0;
  std::string key;
  std::string reading;
  for (std::size_t at = 0; at < scan.out.size();) {
    const std::size_t end = std::min(scan.out.find('\n', at), scan.out.size());
    const std::string line = scan.out.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("  ") && !line.starts_with("   ")) {
      key = line.substr(2, line.find(':') - 2);
      reading = line;
    } else {
      reading += line;
    }
    for (const char* top : {"from: /proc/", "from: /sys/"}) {
      if (line.find(top) != std::string::npos) {
        EXPECT_NE(reading.find("unknown: not-collected"), std::string::npos) << key << reading;
        ++unknown;
      }
    }
  }
  EXPECT_GT(unknown, 60U);
}

TEST(Portable, LocksAndChecksAnEmptyRoot) {
  SKIP_UNLESS_ROOT();
  const EmptyRoot root;
  const test::Ended lock = root.run({"lock", "-o", "/golden.yaml"});
  EXPECT_EQ(lock.status, 0) << lock.err;
  const test::Ended check = root.run({"check", "/golden.yaml"});
  EXPECT_EQ(check.status, 0) << check.out << check.err;
  EXPECT_EQ(check.out.find(" 0 pins"), std::string::npos) << check.out;
}

// Without an environment and with nothing to write to but the answer.
TEST(Portable, ReadsARecordedMachineInAnEmptyRoot) {
  SKIP_UNLESS_ROOT();
  const EmptyRoot root;
  std::filesystem::copy(
      GOLDENV_SOURCE_DIR "/tests/hosts/rack-a", root.folder().at("rack-a"),
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
  const test::Ended scan = root.run({"scan", "--only", "driver", "root:/rack-a"});
  EXPECT_EQ(scan.status, 0) << scan.err;
  EXPECT_NE(scan.out.find("535.129.03"), std::string::npos) << scan.out;
}

// With no loader of its own it asks NVML by a program that the host's loader starts.
TEST(Portable, AsksNvmlByTheHostsLoader) {
  SKIP_UNLESS_ROOT();
  const std::string loader = "/lib64/ld-linux-x86-64.so.2";
  const std::string folder = "/lib/x86_64-linux-gnu/";
  if (!std::filesystem::exists(loader) || !std::filesystem::exists(folder + "libdl.so.2")) {
    GTEST_SKIP() << "this machine's C library does not lie where Debian has it";
  }
  const EmptyRoot root;
  root.folder().file("dev/nvidiactl", "");
  const auto put = [&](const std::string& from, const std::string& to) {
    const std::filesystem::path path = root.folder().path() + to;
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::copy_file(from, path);
  };
  put(test::nvml_fixture("good"), folder + "libnvidia-ml.so.1");
  const std::vector<std::string> scan{"scan", "--only", "driver.nvml.status", "--format", "yaml"};
  const test::Ended without = root.run(scan);
  EXPECT_NE(without.out.find("this host has no loader for it"), std::string::npos) << without.out;

  put(loader, loader);
  for (const char* name : {"libc.so.6", "libdl.so.2"}) {
    put(folder + name, folder + name);
  }
  const test::Ended with = root.run(scan);
  EXPECT_NE(with.out.find("driver.nvml.status:\n    value: ok\n"), std::string::npos) << with.out;
  EXPECT_NE(with.out.find("NVML 12.535.129.03"), std::string::npos) << with.out;
}

TEST(Portable, ThisHostIsTheSameToBothPrograms) {
  expect_both_see_the_same({"@live"}, 5);
  // Of the sysctls some count what happens, so only the default ones were compared.
  expect_both_see_the_same({"@live", "--all", "--only", "!sysctl.**"}, 5);
}

TEST(Portable, RecordedMachinesAreTheSameToBothPrograms) {
  std::size_t machines = 0;
  for (const auto& folder :
       std::filesystem::directory_iterator(GOLDENV_SOURCE_DIR "/tests/hosts")) {
    if (!folder.is_directory() || !std::filesystem::exists(folder.path() / "PROVENANCE")) {
      continue;
    }
    ++machines;
    expect_both_see_the_same({"root:" + folder.path().string(), "--all"}, 1);
  }
  EXPECT_GT(machines, 10U);
}

}  // namespace
}  // namespace goldenv

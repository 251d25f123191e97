// Copies for certain processors: which loader takes them on which processor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "cache_file.h"
#include "elf_file.h"
#include "loader/loader.h"
#include "loader/system.h"
#include "support/fake_host.h"

namespace goldenv {
namespace {

using loader::Answer;
using loader::Question;
using loader::resolve;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kV2 = "cx16 lahf_lm popcnt pni ssse3 sse4_1 sse4_2";
constexpr const char* kV3 = " avx avx2 f16c fma abm movbe bmi1 bmi2";
constexpr const char* kV4 = " avx512f avx512bw avx512cd avx512dq avx512vl";

struct Machine {
  std::unique_ptr<test::FakeHost> owned = std::make_unique<test::FakeHost>();
  test::FakeHost& host = *owned;
  Question question{"libm.so.6", {}, "/opt", {}};

  /// With a loader of that release.
  explicit Machine(const std::string& release) {
    host.file("/lib64/ld-linux-x86-64.so.2",
              release.empty() ? "no text" : "ld.so (GNU libc) stable release version " + release);
  }
  Machine& processor(const std::string& features, const std::string& vendor = "AuthenticAMD") {
    host.file("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: " + vendor + "\nflags\t\t: fpu " +
                                   features + "\n\nprocessor\t: 1\n");
    return *this;
  }
  Machine& library(const std::string& path) {
    host.file(path, test::elf_file({.soname = "libm.so.6"}));
    return *this;
  }
  Machine& named_folders() {
    for (const char* name : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
      library("/opt/glibc-hwcaps/" + std::string(name) + "/libm.so.6");
    }
    return library("/opt/libm.so.6");
  }
  Answer answer() {
    const auto found = resolve(host, question);
    EXPECT_TRUE(found) << (found ? "" : found.error().message);
    return found ? *found : Answer{};
  }
  std::string failure() {
    const auto found = resolve(host, question);
    EXPECT_FALSE(found) << (found ? found->path : "");
    EXPECT_TRUE(found || found.error().code == Errc::unreadable);
    return found ? "" : found.error().message;
  }
};

TEST(LoaderCapabilities, TheBestLevelOfTheProcessorWins) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "/opt/libm.so.6"},
      {kV2, "/opt/glibc-hwcaps/x86-64-v2/libm.so.6"},
      {std::string(kV2) + kV3, "/opt/glibc-hwcaps/x86-64-v3/libm.so.6"},
      {std::string(kV2) + kV3 + kV4, "/opt/glibc-hwcaps/x86-64-v4/libm.so.6"},
      {std::string(kV2) + kV4, "/opt/glibc-hwcaps/x86-64-v2/libm.so.6"},
  };
  for (const auto& [features, path] : cases) {
    for (const char* release : {"2.33", "2.36", "2.42"}) {
      Machine machine(release);
      machine.processor(features).named_folders();
      EXPECT_EQ(machine.answer().path, path) << release;
      EXPECT_EQ(machine.answer().why, "LD_LIBRARY_PATH");
    }
  }
}

TEST(LoaderCapabilities, ItIsSaidWhyACopyWonAndWhatWasPassedOver) {
  Machine machine("2.36");
  machine.processor(std::string(kV2) + kV3).named_folders();
  const Answer found = machine.answer();
  EXPECT_EQ(found.choice, "glibc-hwcaps/x86-64-v3: the processor has x86-64-v3");
  EXPECT_THAT(found.trace,
              ElementsAre("LD_LIBRARY_PATH: passed over /opt/glibc-hwcaps/x86-64-v4/libm.so.6: "
                          "the processor lacks avx512f"));
}

TEST(LoaderCapabilities, OlderLoadersDoNotLookIntoNamedFolders) {
  Machine machine("2.32");
  machine.processor(std::string(kV2) + kV3 + kV4).named_folders();
  EXPECT_EQ(machine.answer().path, "/opt/libm.so.6");
  EXPECT_THAT(machine.answer().trace, Contains(HasSubstr("glibc 2.32 does not look there")));
}

TEST(LoaderCapabilities, BmiBelongsToTheThirdLevelSinceWithUpdatesSome) {
  for (const char* release : {"2.37", "2.41"}) {
    Machine machine(release);
    machine.processor(std::string(kV2) + " avx avx2 f16c fma abm movbe").named_folders();
    EXPECT_EQ(machine.answer().path, "/opt/glibc-hwcaps/x86-64-v2/libm.so.6");
  }
  Machine machine("2.36");
  machine.processor(std::string(kV2) + " avx avx2 f16c fma abm movbe").named_folders();
  EXPECT_THAT(machine.failure(), HasSubstr("lacks bmi1, which not every such glibc asks for"));
}

TEST(LoaderCapabilities, WithoutTheProcessorOrTheReleaseThereIsNoAnswerWhereOneHangsOnIt) {
  Machine no_processor("2.36");
  no_processor.library("/opt/libm.so.6");
  EXPECT_EQ(no_processor.answer().path, "/opt/libm.so.6");
  no_processor.host.folder("/opt/glibc-hwcaps/x86-64-v3");  // without a copy nothing hangs on it
  EXPECT_EQ(no_processor.answer().path, "/opt/libm.so.6");
  no_processor.library("/opt/glibc-hwcaps/x86-64-v3/libm.so.6");
  EXPECT_THAT(no_processor.failure(), HasSubstr("the processor's features are not known"));

  Machine no_release("");
  no_release.processor(std::string(kV2) + kV3).named_folders();
  EXPECT_THAT(no_release.failure(), HasSubstr("which glibc this is is not known"));
  Machine old_folder("");
  old_folder.processor("").library("/opt/libm.so.6").library("/opt/tls/libm.so.6");
  EXPECT_THAT(old_folder.failure(), HasSubstr("glibc looks there up to 2.36"));
  // No release of it looks where the processor lacks what is asked for.
  Machine lacking("");
  lacking.processor("").named_folders();
  EXPECT_EQ(lacking.answer().path, "/opt/libm.so.6");
}

TEST(LoaderCapabilities, TunablesThatHideFeaturesLeaveNoAnswer) {
  Machine machine("2.36");
  machine.processor(std::string(kV2) + kV3).named_folders();
  machine.host.set("GLIBC_TUNABLES", "glibc.malloc.check=1:glibc.cpu.hwcaps=-AVX2");
  machine.question.settings = loader::processor_settings(machine.host);
  EXPECT_THAT(machine.failure(), HasSubstr("GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2 may hide"));
  machine.host.set("GLIBC_TUNABLES", "glibc.malloc.check=1");
  EXPECT_EQ(loader::processor_settings(machine.host), "");
  machine.host.set("LD_HWCAP_MASK", "0");
  machine.question.settings = loader::processor_settings(machine.host);
  EXPECT_EQ(machine.answer().path, "/opt/glibc-hwcaps/x86-64-v3/libm.so.6");
  machine.question.library_path = "/old";
  machine.library("/old/tls/libm.so.6").library("/old/libm.so.6");
  EXPECT_THAT(machine.failure(), HasSubstr("LD_HWCAP_MASK=0 may change"));
}

TEST(LoaderCapabilities, FoldersOfOldAreNestedInEveryOrderUpTo236) {
  // As the loader of 2.36 names them: x86_64 the feature and x86_64 the platform are one word.
  const std::vector<std::string> order = {"tls/x86_64/x86_64", "tls/x86_64", "tls", "x86_64/x86_64",
                                          "x86_64"};
  for (std::size_t first = 0; first < order.size(); ++first) {
    Machine machine("2.36");
    machine.processor(kV2).library("/opt/libm.so.6");
    for (std::size_t i = first; i < order.size(); ++i) {
      machine.library("/opt/" + order[i] + "/libm.so.6");
    }
    EXPECT_EQ(machine.answer().path, "/opt/" + order[first] + "/libm.so.6");
  }
  Machine machine("2.37");
  machine.processor(kV2).library("/opt/libm.so.6").library("/opt/tls/libm.so.6");
  EXPECT_EQ(machine.answer().path, "/opt/libm.so.6");
  EXPECT_THAT(machine.answer().trace, Contains(HasSubstr("glibc 2.37 does not look there")));
}

TEST(LoaderCapabilities, HaswellAndAvx512AreIntelsAlone) {
  const std::string all = std::string(kV2) + kV3 + kV4;
  Machine intel("2.31");
  intel.processor(all, "GenuineIntel").library("/opt/libm.so.6");
  intel.library("/opt/haswell/libm.so.6");
  EXPECT_EQ(intel.answer().path, "/opt/haswell/libm.so.6");
  intel.library("/opt/haswell/avx512_1/libm.so.6");
  EXPECT_EQ(intel.answer().path, "/opt/haswell/avx512_1/libm.so.6");
  intel.library("/opt/tls/haswell/x86_64/libm.so.6");
  EXPECT_EQ(intel.answer().path, "/opt/tls/haswell/x86_64/libm.so.6");

  Machine amd("2.31");
  amd.processor(all).library("/opt/libm.so.6").library("/opt/haswell/libm.so.6");
  amd.library("/opt/avx512_1/libm.so.6");
  EXPECT_EQ(amd.answer().path, "/opt/libm.so.6");
  EXPECT_THAT(amd.answer().trace, Contains(HasSubstr("passed over /opt/haswell/libm.so.6")));

  Machine knights("2.31");
  knights.processor(std::string(kV2) + kV3 + " avx512cd avx512er avx512pf", "GenuineIntel");
  knights.library("/opt/xeon_phi/libm.so.6").library("/opt/haswell/libm.so.6");
  EXPECT_EQ(knights.answer().path, "/opt/xeon_phi/libm.so.6");

  // Glibc 2.25 knows the kernel's word for the platform only, and 2.26 differs with its updates.
  Machine old("2.25");
  old.processor(all, "GenuineIntel").library("/opt/haswell/libm.so.6").library("/opt/libm.so.6");
  EXPECT_EQ(old.answer().path, "/opt/libm.so.6");
  Machine between("2.26");
  between.processor(all, "GenuineIntel").library("/opt/x86_64/libm.so.6");
  EXPECT_THAT(between.failure(), HasSubstr("not every build of glibc 2.26"));
}

TEST(LoaderCapabilities, ArmHasNoNamedFoldersAndOneFeature) {
  Machine machine("");
  machine.question.loaders = {"/bin/program"};
  machine.host.file("/bin/program", test::elf_file({.machine = EM_AARCH64}));
  machine.host.file("/lib/ld-linux-aarch64.so.1", "release version 2.31.");
  machine.host.file("/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd atomics cpuid\n");
  const auto library = [&](const std::string& path) {
    machine.host.file(path, test::elf_file({.soname = "libm.so.6", .machine = EM_AARCH64}));
  };
  library("/opt/libm.so.6");
  library("/opt/glibc-hwcaps/x86-64-v2/libm.so.6");
  library("/opt/cpuid/libm.so.6");
  EXPECT_EQ(machine.answer().path, "/opt/libm.so.6");
  library("/opt/atomics/libm.so.6");
  EXPECT_EQ(machine.answer().path, "/opt/atomics/libm.so.6");
  library("/opt/tls/aarch64/atomics/libm.so.6");
  EXPECT_EQ(machine.answer().path, "/opt/tls/aarch64/atomics/libm.so.6");
}

// --- the cache ---

Machine cached(const std::string& release, const std::vector<loader::CacheEntry>& entries) {
  Machine machine(release);
  machine.question.library_path.clear();
  for (const loader::CacheEntry& entry : entries) {
    machine.library(entry.path);
  }
  machine.host.file("/etc/ld.so.cache", test::cache_file(entries));
  return machine;
}

const std::vector<loader::CacheEntry> kNamedEntries = {
    {"libm.so.6", "/c/v2/libm.so.6", 0x0303, 0, "x86-64-v2"},
    {"libm.so.6", "/c/v3/libm.so.6", 0x0303, 0, "x86-64-v3"},
    {"libm.so.6", "/c/power/libm.so.6", 0x0303, 0, "power10"},
    {"libm.so.6", "/c/libm.so.6", 0x0303, 0},
};

TEST(LoaderCapabilities, NamedEntriesOfTheCacheAreChosenByLevel) {
  Machine third = cached("2.36", kNamedEntries);
  third.processor(std::string(kV2) + kV3);
  EXPECT_EQ(third.answer().path, "/c/v3/libm.so.6");
  EXPECT_EQ(third.answer().choice, "glibc-hwcaps/x86-64-v3: the processor has x86-64-v3");
  Machine second = cached("2.36", kNamedEntries);
  second.processor(kV2);
  EXPECT_EQ(second.answer().path, "/c/v2/libm.so.6");
  EXPECT_THAT(second.answer().trace,
              Contains("ld.so.cache: passed over /c/v3/libm.so.6: the processor lacks avx"));
  Machine none = cached("2.36", kNamedEntries);
  none.processor("");
  EXPECT_EQ(none.answer().path, "/c/libm.so.6");
  EXPECT_EQ(none.answer().choice, "");
  EXPECT_THAT(none.answer().trace, Contains(HasSubstr("it is for \"power10\"")));
  Machine old = cached("2.32", kNamedEntries);
  old.processor(std::string(kV2) + kV3);
  EXPECT_EQ(old.answer().path, "/c/libm.so.6");
  Machine unknown = cached("2.36", kNamedEntries);
  EXPECT_THAT(unknown.failure(), HasSubstr("/c/v3/libm.so.6: the processor's features"));
}

TEST(LoaderCapabilities, AFileBuiltForMoreThanItsFolderSaysIsPassedOver) {
  const auto entries = [](std::uint64_t level) {
    return std::vector<loader::CacheEntry>{
        {"libm.so.6", "/c/v2/libm.so.6", 0x0303, level << 32, "x86-64-v2"},
        {"libm.so.6", "/c/libm.so.6", 0x0303, 0}};
  };
  const std::pair<std::uint64_t, std::string> cases[] = {{0, "/c/v2/libm.so.6"},
                                                         {1, "/c/v2/libm.so.6"},
                                                         {2, "/c/libm.so.6"},
                                                         {3, "/c/libm.so.6"},
                                                         {9, "/c/libm.so.6"}};
  for (const auto& [level, path] : cases) {
    Machine machine = cached("2.36", entries(level));
    machine.processor(kV2);
    EXPECT_EQ(machine.answer().path, path) << level;
  }
}

TEST(LoaderCapabilities, AnEntryWhoseNameIsMissingIsPassedOver) {
  Machine machine =
      cached("2.36", {{"libm.so.6", "/c/v2/libm.so.6", 0x0303, std::uint64_t{1} << 62},
                      {"libm.so.6", "/c/libm.so.6", 0x0303, 0}});
  machine.processor(kV2);
  EXPECT_EQ(machine.answer().path, "/c/libm.so.6");
}

TEST(LoaderCapabilities, EntriesWithFeatureBitsAreChosenInTheOrderOfTheFile) {
  constexpr std::uint64_t kHaswell = std::uint64_t{1} << 50;
  constexpr std::uint64_t kTls = std::uint64_t{1} << 63;
  const std::vector<loader::CacheEntry> entries = {
      {"libm.so.6", "/c/haswell/avx512_1/libm.so.6", 0x0303, kHaswell | 4},
      {"libm.so.6", "/c/haswell/libm.so.6", 0x0303, kHaswell},
      {"libm.so.6", "/c/tls/libm.so.6", 0x0303, kTls},
      {"libm.so.6", "/c/libm.so.6", 0x0303, 0},
  };
  Machine avx512 = cached("2.31", entries);
  avx512.processor(std::string(kV2) + kV3 + kV4, "GenuineIntel");
  EXPECT_EQ(avx512.answer().path, "/c/haswell/avx512_1/libm.so.6");
  Machine haswell = cached("2.39", entries);
  haswell.processor(std::string(kV2) + kV3, "GenuineIntel");
  EXPECT_EQ(haswell.answer().path, "/c/haswell/libm.so.6");
  Machine amd = cached("2.36", entries);
  amd.processor(std::string(kV2) + kV3);
  EXPECT_EQ(amd.answer().path, "/c/tls/libm.so.6");
  Machine old = cached("2.23", entries);
  EXPECT_EQ(old.answer().path, "/c/tls/libm.so.6");  // whatever its processor
  Machine after = cached("2.40", entries);
  EXPECT_EQ(after.answer().path, "/c/libm.so.6");
  Machine unknown = cached("2.31", entries);
  EXPECT_THAT(unknown.failure(), HasSubstr("/c/haswell/avx512_1/libm.so.6: the processor's"));
}

// --- what the loader says of itself ---

TEST(LoaderCapabilities, TheReleaseIsInTheTextOrTheNameOfTheLoaderOrInTheLibraryBesideIt) {
  const auto release = [](const test::FakeHost& host) {
    loader::System system(host);
    return system.interpreter(loader::kX86).release;
  };
  test::FakeHost text;
  text.file("/lib64/ld-linux-x86-64.so.2", "\x7f ELF.. stable release version 2.39.\n");
  EXPECT_EQ(*release(text), (loader::Release{2, 39}));
  test::FakeHost name;
  name.link("/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/ld-2.31.so");
  name.file("/lib/x86_64-linux-gnu/ld-2.31.so", "nothing");
  EXPECT_EQ(*release(name), (loader::Release{2, 31}));
  test::FakeHost none;
  EXPECT_EQ(release(none).error().code, Errc::unreadable);
  none.file("/lib64/ld-linux-x86-64.so.2", "nothing");
  EXPECT_EQ(release(none).error().message,
            "/lib64/ld-linux-x86-64.so.2: does not state its release");
}

/// A text with NULs in it.
template <std::size_t N>
std::string bytes(const char (&text)[N]) {
  return {text, N - 1};
}

TEST(LoaderCapabilities, DefaultFoldersStandInTheLoader) {
  using loader::folders_in_loader;
  const std::string debian = bytes(
      "x\0/proc/self/exe\0/lib/x86_64-linux-gnu/\0/usr/lib/x86_64-linux-gnu/\0/lib/\0/usr/lib/\0"
      "/\0/etc/ld.so.cache\0");
  EXPECT_THAT(
      folders_in_loader(debian),
      ElementsAre("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib", "/usr/lib"));
  EXPECT_THAT(folders_in_loader(bytes("/lib64/\0/usr/lib64/\0\0/lib/\0")),
              ElementsAre("/lib64", "/usr/lib64"));
  EXPECT_THAT(folders_in_loader(bytes("/nix/store/x-glibc-2.38/lib/\0")),
              ElementsAre("/nix/store/x-glibc-2.38/lib"));
  EXPECT_THAT(folders_in_loader(bytes("/tmp/\0//\0/lib/ \0")), IsEmpty());
  EXPECT_THAT(folders_in_loader(""), IsEmpty());
  EXPECT_THAT(folders_in_loader("/lib/"), IsEmpty());
}

TEST(LoaderCapabilities, TheLoadersOwnFoldersAreSearchedAndNoOthers) {
  Machine machine("");
  machine.question.library_path.clear();
  machine.library("/usr/lib/libm.so.6");
  EXPECT_EQ(machine.answer().path, "/usr/lib/libm.so.6");
  machine.host.file("/lib64/ld-linux-x86-64.so.2", std::string("\0/lib64/\0/usr/lib64/\0", 21));
  EXPECT_FALSE(resolve(machine.host, machine.question));
  machine.library("/usr/lib64/libm.so.6");
  EXPECT_EQ(machine.answer().path, "/usr/lib64/libm.so.6");
  EXPECT_EQ(machine.answer().why, "default folders");
}

TEST(LoaderCapabilities, PlatformIsWhatTheLoaderTakesItsProcessorFor) {
  const auto path = [](Machine machine) {
    machine.question.library_path = "/opt/$PLATFORM";
    machine.library("/opt/x86_64/libm.so.6").library("/opt/haswell/libm.so.6");
    const auto found = resolve(machine.host, machine.question);
    return found ? found->path : found.error().message;
  };
  const auto with = [](const char* release, const char* vendor) {
    Machine machine(release);
    machine.processor(std::string(kV2) + kV3, vendor);
    return machine;
  };
  EXPECT_EQ(path(with("2.36", "GenuineIntel")), "/opt/haswell/libm.so.6");
  EXPECT_EQ(path(with("2.42", "GenuineIntel")), "/opt/haswell/libm.so.6");
  EXPECT_EQ(path(with("2.42", "AuthenticAMD")), "/opt/x86_64/libm.so.6");
  EXPECT_EQ(path(with("2.23", "GenuineIntel")), "/opt/x86_64/libm.so.6");
  EXPECT_THAT(path(with("", "GenuineIntel")), HasSubstr("what $PLATFORM stands for is not known"));
  EXPECT_THAT(path(Machine("2.36")), HasSubstr("what $PLATFORM stands for is not known"));
}

TEST(LoaderCapabilities, AFirstProcessorThatStatesNoFeaturesIsNotKnown) {
  EXPECT_FALSE(loader::parse_processor(""));
  EXPECT_FALSE(loader::parse_processor("processor\t: 0\nvendor_id : GenuineIntel\nno colon\n"));
  const auto processor = loader::parse_processor("flags : b a\nflags : c\n");
  ASSERT_TRUE(processor);
  EXPECT_THAT(processor->features, ElementsAre("a", "b"));
}

TEST(LoaderCapabilities, ReleasesAreTwoNumbers) {
  EXPECT_EQ(loader::parse_release("2.36."), (loader::Release{2, 36}));
  EXPECT_EQ(loader::parse_release("2.3.6-4"), (loader::Release{2, 3}));
  for (const char* text : {"", "2", "x2.36", ".36", "2.", "2.x", "999999999999.1"}) {
    EXPECT_FALSE(loader::parse_release(text)) << text;
  }
}

}  // namespace
}  // namespace goldenv

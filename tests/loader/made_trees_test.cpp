// Programs and libraries with search paths at random, resolved by this machine's own loader and by
// ours.
#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "elf_file.h"
#include "host/host.h"
#include "loader/loader.h"
#include "loader/system.h"
#include "real_loader.h"
#include "support/temp_dir.h"

namespace goldenv {
namespace {

constexpr int kTrees = 320;
constexpr std::uint32_t kSeed = 20261130;

/// Draws that are the same with every standard library.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  std::size_t below(std::size_t end) { return engine_() % end; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <typename T>
  const T& of(const std::vector<T>& all) {
    return all[below(all.size())];
  }

 private:
  std::mt19937 engine_;
};

const std::vector<std::string> kNames = {"liba.so.1", "libb.so.1", "libd.so.4", "libe.so"};
const std::vector<std::string> kFolders = {"d0", "d1", "d3", "bin"};  // there is no d2
const std::vector<std::string> kSpecial = {"glibc-hwcaps/x86-64-v2",
                                           "glibc-hwcaps/x86-64-v3",
                                           "glibc-hwcaps/x86-64-v4",
                                           "tls",
                                           "x86_64",
                                           "tls/x86_64",
                                           "x86_64/x86_64",
                                           "haswell",
                                           "avx512_1",
                                           "aarch64",
                                           "atomics"};

/// One tree below a folder of its own.
class Tree {
 public:
  Tree(const test::TempDir& dir, const std::string& name, Dice& dice)
      : dir_(dir), name_(name), dice_(dice) {
    dir_.folder(name_ + "/bin");
    for (const std::string& library : {kNames[0], kNames[2]}) {
      write("store/" + library, object(library));
    }
    for (const std::string& folder : kFolders) {
      for (const std::string& library : kNames) {
        if (dice_.one_in(3)) {
          continue;
        }
        place(folder + "/" + library, library);
        if (dice_.one_in(7)) {
          place(folder + "/" + dice_.of(kSpecial) + "/" + library, library);
        }
      }
    }
    dir_.link(name_ + "/linked", dice_.one_in(2) ? "d0" : "d1/../d3");
    test::SharedObject program = object("");
    program.needed.push_back(dice_.of(kNames));
    write("bin/program", program);
    if (dice_.one_in(2)) {
      environment_["LD_LIBRARY_PATH"] = list(dice_.one_in(2) ? ":" : ";");
    }
    if (dice_.one_in(3)) {
      const std::vector<std::string> preloads = {
          at("d1/liba.so.1"), at("linked/libd.so.4"), "libe.so",  "$ORIGIN/../d3/libb.so.1",
          "./d0/libb.so.1",   at("none.so"),          "libb.so.1"};
      environment_["LD_PRELOAD"] = dice_.of(preloads) + (dice_.one_in(2) ? ":" : " ") +
                                   (dice_.one_in(2) ? dice_.of(preloads) : "");
    }
  }

  [[nodiscard]] std::string at(const std::string& path) const {
    return dir_.at(name_ + "/" + path);
  }
  [[nodiscard]] const std::map<std::string, std::string>& environment() const {
    return environment_;
  }

  [[nodiscard]] loader::Question question(loader::System& system) const {
    loader::Question question;
    const auto value = [&](const char* name) {
      const auto found = environment_.find(name);
      return found == environment_.end() ? "" : found->second;
    };
    question.library_path = value("LD_LIBRARY_PATH");
    std::string preload = value("LD_PRELOAD");
    for (char& c : preload) {
      c = c == ':' ? ' ' : c;
    }
    for (const std::string_view word : words(preload)) {
      question.preloaded.emplace_back(word);
    }
    question.system = &system;
    question.folder = dir_.at(name_);
    return question;
  }

 private:
  void write(const std::string& path, const test::SharedObject& made) {
    dir_.file(name_ + "/" + path, test::elf_file(made));
  }

  void place(const std::string& path, const std::string& library) {
    if (dice_.one_in(12)) {
      dir_.link(name_ + "/" + path, at("store/" + dice_.of(kNames)));
      return;
    }
    if (dice_.one_in(150)) {
      dir_.file(name_ + "/" + path,
                "INPUT(-lnone), which is no ELF file and longer than a header\n");
      return;
    }
    write(path, object(library));
  }

  test::SharedObject object(const std::string& library) {
    test::SharedObject made;
    made.machine = test::native().machine;
    if (!library.empty() && dice_.one_in(15)) {
      made.machine = made.machine == EM_X86_64 ? EM_AARCH64 : EM_X86_64;
    }
    if (!dice_.one_in(6)) {
      made.soname = dice_.one_in(8) ? dice_.of(kNames) : library;
    }
    for (std::size_t i = dice_.below(4); i > 0; --i) {
      made.needed.push_back(needed());
    }
    if (dice_.one_in(3)) {
      made.rpath = list(":");
    }
    if (dice_.one_in(4)) {
      made.runpath = list(":");
    }
    if (dice_.one_in(12)) {
      made.flags_1 = DF_1_NODEFLIB;
    }
    return made;
  }

  std::string needed() {
    switch (dice_.below(16)) {
      case 0:
        return "$ORIGIN/../d1/" + dice_.of(kNames);
      case 1:
        return at("d2/" + dice_.of(kNames));
      case 2:
        return "d3/../d0/" + dice_.of(kNames);
      case 3:
        return dice_.one_in(2) ? "libz.so.1" : "libgcc_s.so.1";  // of the system
      default:
        return dice_.of(kNames);
    }
  }

  /// Folders between separators.
  std::string list(const std::string& separator) {
    const std::vector<std::string> choices = {at("d0"),
                                              at("d1") + "/",
                                              at("d2//"),
                                              at("linked"),
                                              "$ORIGIN",
                                              "${ORIGIN}/../d3",
                                              "$ORIGIN/../linked/../d1",
                                              "$ORIGIN/../$LIB",
                                              "$ORIGIN/../none:" + at("d3"),
                                              "",
                                              "d2",
                                              "$ORIGINAL",
                                              "${ORIGIN/../d0",
                                              "$ORIGIN-$PLATFORM/../../d0",
                                              at("bin/program"),
                                              at("d3")};
    std::string text = dice_.of(choices);
    for (std::size_t i = dice_.below(3); i > 0; --i) {
      text += separator + dice_.of(choices);
    }
    return text;
  }

  const test::TempDir& dir_;
  std::string name_;
  Dice& dice_;
  std::map<std::string, std::string> environment_;
};

std::string described(const Tree& tree) {
  std::ostringstream out;
  out << "in " << tree.at("") << "\n";
  for (const auto& [name, value] : tree.environment()) {
    out << name << "=" << value << "\n";
  }
  return out.str();
}

TEST(RealLoader, MadeTreesLoadWhatTheLoaderLoads) {
  const auto host = host::live_host();
  loader::System system(*host);
  if (access("/dev/shm", W_OK) == 0) {
    setenv("TMPDIR", "/dev/shm", 0);  // thousands of files that nobody needs on a disk
  }
  const test::TempDir dir;
  Dice dice(kSeed);
  std::size_t objects = 0;
  std::size_t missing = 0;
  std::size_t failed = 0;
  std::map<std::string, int> why;
  for (int i = 0; i < kTrees; ++i) {
    const Tree tree(dir, "t" + std::to_string(i), dice);
    const std::string program = tree.at("bin/program");
    const test::Listing truth =
        test::listed(program, tree.environment(), dir.at("t" + std::to_string(i)));
    const auto ours = loader::load(*host, program, tree.question(system));
    if (truth.status != 0) {
      ++failed;
      EXPECT_FALSE(ours) << described(tree) << truth.err;
      continue;
    }
    ASSERT_TRUE(ours) << described(tree) << ours.error().message;
    EXPECT_EQ(test::paths(*ours), test::paths(truth)) << described(tree);
    for (std::size_t at = 1; at < ours->size(); ++at) {
      const loader::Loaded& object = (*ours)[at];
      ++objects;
      missing += object.path.empty() ? 1U : 0U;
      ++why[object.why.substr(0, object.why.find(" of "))];
      if (!object.choice.empty()) {
        ++why[object.choice.substr(0, object.choice.find(':'))];
      }
    }
  }
  std::cout << "compared: " << kTrees << " trees, " << objects << " libraries, " << missing
            << " missing, " << failed << " trees that fail\n";
  for (const auto& [reason, count] : why) {
    std::cout << "  " << count << " " << (reason.empty() ? "nothing answers" : reason) << "\n";
  }
  // The draw covers what it is for.
  for (const char* reason : {"LD_PRELOAD", "LD_LIBRARY_PATH", "DT_RPATH", "DT_RUNPATH",
                             "ld.so.cache", "named by its path", ""}) {
    EXPECT_GT(why[reason], 5) << reason;
  }
  EXPECT_GT(failed, 0U);
  EXPECT_LT(missing * 2, objects);
}

}  // namespace
}  // namespace goldenv

#include "compose/compose.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "compose/made_environment.h"
#include "compose/maps.h"
#include "store/child.h"
#include "store/disk.h"
#include "store/verify.h"

namespace goldenv::compose {
namespace {

namespace fs = std::filesystem;
using test::MadeEnvironment;
using test::MadeObject;
using test::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What a process has mapped once it has opened a library, as the real loader would have it.
std::vector<MappedFile> mapped_with(const MadeEnvironment& made, const std::string& library) {
  const std::string out = made.temp.at("maps");
  EXPECT_EQ(test::in_child([&] {
              ::unsetenv("LD_LIBRARY_PATH");
              if (::dlopen(library.c_str(), RTLD_NOW) == nullptr) {
                throw std::runtime_error(::dlerror());
              }
              std::ifstream in("/proc/self/maps");
              std::ofstream(out) << in.rdbuf();
            }),
            0);
  return mapped_files(test::read_file(out), {made.store.folder(), "/usr"});
}

std::vector<std::string> objects_mapped(const std::vector<MappedFile>& files) {
  std::vector<std::string> ids;
  for (const MappedFile& file : files) {
    if (file.provenance == Provenance::object) {
      ids.push_back(file.object.substr(33));
    }
  }
  return ids;
}

std::vector<std::string> drifts(const MadeEnvironment& made, const std::string& folder) {
  std::vector<std::string> all;
  for (const Drift& one :
       must(check_generation(made.store, fs::path(folder).filename().string()))) {
    constexpr std::array<const char*, 3> kNames = {"missing ", "changed ", "stray "};
    all.push_back(kNames[static_cast<std::size_t>(one.kind)] + one.path);
  }
  return all;
}

TEST(Compose, TheRealLoaderFindsTheEnvironmentsLibraries) {
  MadeEnvironment made;
  const std::string env = made.composed(made.whole());
  const auto mapped = mapped_with(made, env + "/" + made.site + "/torch/lib/libtorch_cuda.so");
  EXPECT_THAT(objects_mapped(mapped),
              ::testing::UnorderedElementsAre("nvidia-nccl-2.18.1", "nvidia-cudnn-9.1.0",
                                              "nvidia-cuda_runtime-12.1.105", "torch-2.2.1"));
}

TEST(Compose, SwitchingOneObjectGivesTheOtherLibrary) {
  MadeEnvironment made;
  std::vector<MadeObject> objects = made.whole();
  const std::string before = made.composed(objects);
  objects[2] = made.nccl("2.19.3", "nccl_2_19_3");
  const std::string after = made.composed(objects);
  EXPECT_NE(before, after);
  const std::string library = "/" + made.site + "/torch/lib/libtorch_cuda.so";
  EXPECT_THAT(objects_mapped(mapped_with(made, after + library)),
              ::testing::Contains("nvidia-nccl-2.19.3"));
  EXPECT_THAT(objects_mapped(mapped_with(made, before + library)),
              ::testing::Contains("nvidia-nccl-2.18.1"));
}

TEST(Compose, WhatItSaysOfItselfIsWhatItIs) {
  MadeEnvironment made;
  const Plan plan = made.plan(made.whole());
  const Composed composed = must(compose(made.store, plan));
  EXPECT_FALSE(composed.present);
  EXPECT_EQ(composed.folder, made.store.generation(plan.digest));
  EXPECT_THAT(must(made.store.objects_of(plan.digest)).size(), 5U);
  const Recorded said = must(recorded(made.store, plan.digest));
  EXPECT_EQ(said.python, made.python);
  EXPECT_EQ(said.objects, must(made.store.objects_of(plan.digest)));
  EXPECT_EQ(test::read_file(composed.folder + "/pyvenv.cfg"),
            "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11\n"
            "executable = /usr/bin/python3.11\n");
  EXPECT_EQ(test::read_file(composed.folder + "/" + made.site + "/numpy/__init__.py"),
            "version = 1\n");
  EXPECT_TRUE(must(compose(made.store, plan)).present);
  EXPECT_THAT(drifts(made, composed.folder), IsEmpty());
  EXPECT_TRUE(fs::is_empty(made.store.at("tmp")));
}

TEST(Compose, ScriptsOfWheelsGetTheEnvironmentsPython) {
  MadeEnvironment made;
  const std::string env = made.composed(made.whole());
  EXPECT_EQ(test::read_file(env + "/bin/torchrun-old"), "#!" + env + "/bin/python -E\nprint(1)\n");
  struct stat status {};
  ASSERT_EQ(::lstat((env + "/bin/torchrun-old").c_str(), &status), 0);
  EXPECT_TRUE(S_ISREG(status.st_mode));
  EXPECT_NE(status.st_mode & S_IXUSR, 0U);
}

TEST(Compose, ProgramsAreCopiedWhole) {
  MadeEnvironment made;
  MadeObject tool("tool", "1");
  const std::string bytes =
      "\x7f"
      "ELF" +
      std::string(300'000, 'x');
  tool.file("bin/tool", bytes, true).file("bin/plain", "x", true).root("bin", "bin");
  tool.object.shape.copies = {"bin/tool"};
  const std::string env = made.composed({tool});
  EXPECT_EQ(test::read_file(env + "/bin/tool"), bytes);
  EXPECT_FALSE(fs::is_symlink(env + "/bin/tool"));
  EXPECT_TRUE(fs::is_symlink(env + "/bin/plain"));
  EXPECT_EQ(::access((env + "/bin/tool").c_str(), X_OK), 0);
}

TEST(Compose, AFoldedTorchIsRefusedBeforeItIsInForce) {
  MadeEnvironment made;
  std::vector<MadeObject> objects = made.whole();
  objects[0].object.shape.real.clear();
  const auto composed = compose(made.store, made.plan(objects));
  ASSERT_FALSE(composed);
  EXPECT_EQ(composed.error().code, Errc::failed);
  EXPECT_THAT(composed.error().message, HasSubstr("libcudart.so.12"));
  EXPECT_THAT(composed.error().message, HasSubstr("torch 2.2.1"));
  EXPECT_THAT(must(made.store.generations()), IsEmpty());
  EXPECT_TRUE(fs::is_empty(made.store.at("tmp")));
}

TEST(Compose, EightAtOnceComeToOneGeneration) {
  MadeEnvironment made;
  const Plan plan = made.plan(made.whole());
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto store = store::Store::open(made.store.folder(), store::Access::write);
      ::_exit(store && compose(*store, plan) ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_THAT(must(made.store.generations()), ElementsAre(plan.digest));
  EXPECT_TRUE(fs::is_empty(made.store.at("tmp")));
  EXPECT_THAT(drifts(made, plan.folder), IsEmpty());
}

int steps_left = 0;

void die_at_the_step() {
  if (--steps_left == 0) {
    ::kill(::getpid(), SIGKILL);
  }
}

TEST(Compose, KilledAtAnyStepItIsThereWholeOrNot) {
  MadeEnvironment made;
  const Plan plan = made.plan(made.whole());
  int step = 0;
  for (int status = -1; status != 0;) {
    ++step;
    ASSERT_LT(step, 1000);
    status = test::in_child([&] {
      store::step_hook = die_at_the_step;
      steps_left = step;
      must(compose(made.store, plan));
    });
    const bool is_there = made.store.has_generation(plan.digest);
    ASSERT_EQ(is_there, status == 0) << "at step " << step;
  }
  EXPECT_GT(step, 30);
  EXPECT_THAT(drifts(made, plan.folder), IsEmpty());
  ASSERT_TRUE(store::Store::open(made.store.folder(), store::Access::write));
  EXPECT_TRUE(fs::is_empty(made.store.at("tmp")));
}

TEST(ComposeCheck, EveryDriftIsNamed) {
  MadeEnvironment made;
  const std::string env = made.composed(made.whole());
  fs::remove(env + "/" + made.site + "/numpy");
  fs::create_directory(env + "/" + made.site + "/numpy");
  fs::remove(env + "/" + made.site + "/nvidia/nccl");
  fs::create_symlink("/elsewhere", env + "/" + made.site + "/nvidia/nccl");
  fs::remove(env + "/lib64");
  std::ofstream(env + "/bin/torchrun") << "x";
  std::ofstream(env + "/bin/torchrun-old", std::ios::app) << "x";
  std::ofstream(env + "/" + made.site + "/nvidia/more.py") << "";
  EXPECT_THAT(
      drifts(made, env),
      ElementsAre("changed bin/torchrun", "changed bin/torchrun-old",
                  "changed " + made.site + "/numpy", "stray " + made.site + "/nvidia/more.py",
                  "changed " + made.site + "/nvidia/nccl", "missing lib64"));
}

TEST(ComposeCheck, AGenerationThatSaysItIsAnotherIsRefused) {
  MadeEnvironment made;
  const std::string env = made.composed(made.whole());
  const std::string other = made.composed({made.numpy()});
  fs::copy_file(other + "/.goldenv.json", env + "/.goldenv.json",
                fs::copy_options::overwrite_existing);
  const std::string digest = fs::path(env).filename();
  EXPECT_EQ(check_generation(made.store, digest).error().code, Errc::malformed);
  std::ofstream(env + "/.goldenv.json") << "{}";
  EXPECT_EQ(check_generation(made.store, digest).error().code, Errc::malformed);
  fs::remove(env + "/.goldenv.json");
  EXPECT_EQ(check_generation(made.store, digest).error().code, Errc::absent);
}

/// What can happen to an environment.
struct Damage {
  const char* name;
  void (*inflict)(const std::string& env, const std::string& site);
};

TEST(ComposeMend, WhateverIsDamagedIsAsItWasAgain) {
  const std::vector<Damage> damages = {
      {"record",
       [](const auto& env, const auto&) { std::ofstream(env + "/.goldenv.json") << "{"; }},
      {"no record", [](const auto& env, const auto&) { fs::remove(env + "/.goldenv.json"); }},
      {"bin", [](const auto& env, const auto&) { fs::remove_all(env + "/bin"); }},
      {"script", [](const auto& env, const auto&) { std::ofstream(env + "/bin/torchrun") << "x"; }},
      {"link",
       [](const auto& env, const auto& site) {
         fs::remove(env + "/" + site + "/nvidia/nccl");
         fs::create_symlink("/elsewhere", env + "/" + site + "/nvidia/nccl");
       }},
      {"a loop",
       [](const auto& env, const auto&) {
         fs::remove_all(env + "/bin");
         fs::create_symlink("bin", env + "/bin");
       }},
      {"closed",
       [](const auto& env, const auto&) {
         fs::remove(env + "/lib64");
         ASSERT_EQ(::chmod(env.c_str(), 0555), 0);
       }},
      {"all", [](const auto& env, const auto&) {
         for (const auto& entry : fs::directory_iterator(env)) {
           fs::remove_all(entry.path());
         }
       }}};
  for (const Damage& damage : damages) {
    MadeEnvironment made;
    const Plan plan = made.plan(made.whole());
    const std::string env = must(compose(made.store, plan)).folder;
    EXPECT_TRUE(must(is_intact(made.store, plan.digest)));
    damage.inflict(env, made.site);
    EXPECT_FALSE(must(is_intact(made.store, plan.digest))) << damage.name;
    const auto mended = compose(made.store, plan);
    ASSERT_TRUE(mended) << damage.name << ": " << mended.error().message;
    EXPECT_TRUE(mended->present && mended->mended) << damage.name;
    EXPECT_THAT(drifts(made, env), IsEmpty()) << damage.name;
    EXPECT_TRUE(must(is_intact(made.store, plan.digest)));
    EXPECT_TRUE(fs::is_empty(made.store.at("tmp"))) << damage.name;
    EXPECT_FALSE(must(compose(made.store, plan)).mended) << "it is well now";
  }
}

TEST(ComposeMend, WhatItsUserAddedStays) {
  MadeEnvironment made;
  const Plan plan = made.plan(made.whole());
  const std::string env = must(compose(made.store, plan)).folder;
  const std::string mine = env + "/" + made.site + "/mine/__init__.py";
  fs::create_directory(env + "/" + made.site + "/mine");
  std::ofstream(mine) << "x = 1\n";
  EXPECT_TRUE(must(is_intact(made.store, plan.digest))) << "what is added harms nothing";
  EXPECT_FALSE(must(compose(made.store, plan)).mended);
  fs::remove(env + "/lib64");
  EXPECT_TRUE(must(compose(made.store, plan)).mended);
  EXPECT_EQ(test::read_file(mine), "x = 1\n");
  EXPECT_THAT(drifts(made, env), ElementsAre("stray " + made.site + "/mine"));
}

TEST(ComposeMend, WhatIsNotThereIsNotIntact) {
  MadeEnvironment made;
  EXPECT_FALSE(must(is_intact(made.store, std::string(64, 'a'))));
  const Plan plan = made.plan({made.numpy()});
  must(compose(made.store, plan));
  fs::remove_all(made.store.at("envs"));
  EXPECT_FALSE(must(is_intact(made.store, plan.digest)));
  const store::Store again = must(store::Store::open(made.store.folder(), store::Access::write));
  EXPECT_FALSE(must(compose(again, plan)).present);
  EXPECT_TRUE(must(is_intact(again, plan.digest)));
}

TEST(ComposeMend, KilledAtAnyStepTheNextOneMends) {
  MadeEnvironment made;
  const Plan plan = made.plan(made.whole());
  const std::string env = must(compose(made.store, plan)).folder;
  fs::remove(env + "/lib64");
  int step = 0;
  for (int status = -1; status != 0;) {
    ++step;
    ASSERT_LT(step, 1000);
    status = test::in_child([&] {
      store::step_hook = die_at_the_step;
      steps_left = step;
      must(compose(made.store, plan));
    });
    ASSERT_TRUE(made.store.has_generation(plan.digest)) << "at step " << step;
  }
  EXPECT_THAT(drifts(made, env), IsEmpty());
  ASSERT_TRUE(store::Store::open(made.store.folder(), store::Access::write));
  EXPECT_TRUE(fs::is_empty(made.store.at("tmp")));
}

}  // namespace
}  // namespace goldenv::compose

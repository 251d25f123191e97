#include "launch/variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/temp_dir.h"

namespace goldenv::launch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Environment environment() {
  return {.prefix = "/store/envs/abc",
          .name = "train",
          .digest = "abc",
          .python = "3.11",
          .has_toolkit = false,
          .variables = {}};
}

Plan planned(const Environment& of, const std::vector<Variable>& ambient,
             const Choices& choices = {}) {
  Result<Plan> made = plan(of, ambient, choices);
  EXPECT_TRUE(made) << made.error().message;
  return made ? *std::move(made) : Plan{};
}

std::string value(const Plan& plan, std::string_view name) {
  const std::string* found = plan.find(name);
  return found == nullptr ? "(none)" : *found;
}

std::string error_of(const Environment& of, const std::vector<Variable>& ambient,
                     const Choices& choices) {
  const Result<Plan> made = plan(of, ambient, choices);
  return made ? "(no error)" : made.error().message;
}

TEST(LaunchVariables, TheEnvironmentComesFirstAndIsNamed) {
  const Plan plan = planned(environment(), {{"PATH", "/usr/bin:/bin"}, {"HOME", "/root"}});
  EXPECT_EQ(value(plan, "PATH"), "/store/envs/abc/bin:/usr/bin:/bin");
  EXPECT_EQ(value(plan, "VIRTUAL_ENV"), "/store/envs/abc");
  EXPECT_EQ(value(plan, "VIRTUAL_ENV_PROMPT"), "train");
  EXPECT_EQ(value(plan, "PYTHONDONTWRITEBYTECODE"), "1");
  EXPECT_EQ(value(plan, "PYTHONNOUSERSITE"), "1");
  EXPECT_EQ(value(plan, "HOME"), "/root");
  EXPECT_EQ(value(plan, "CUDA_HOME"), "(none)");
  EXPECT_THAT(plan.set, Contains("PATH"));
  EXPECT_THAT(plan.set, Not(Contains("HOME")));
  EXPECT_TRUE(std::ranges::is_sorted(plan.variables));
}

TEST(LaunchVariables, WhatWouldPutOthersInItsPlaceIsDroppedWithAReason) {
  const std::vector<std::string> names = {
      "LD_LIBRARY_PATH",   "LD_PRELOAD",          "LD_AUDIT",     "PYTHONPATH",     "PYTHONHOME",
      "PYTHONSTARTUP",     "__PYVENV_LAUNCHER__", "CONDA_PREFIX", "CONDA_PREFIX_1", "CONDA_SHLVL",
      "CONDA_DEFAULT_ENV", "PYTHONUSERBASE"};
  for (const std::string& name : names) {
    const Plan plan = planned(environment(), {{name, "/other"}, {"PATH", "/bin"}});
    EXPECT_EQ(plan.find(name), nullptr) << name;
    EXPECT_EQ(plan.unset, std::vector<std::string>{name});
    ASSERT_EQ(plan.decisions.size(), 1u) << name;
    EXPECT_EQ(plan.decisions[0].name, name);
    EXPECT_EQ(plan.decisions[0].action, Action::drop);
    EXPECT_FALSE(plan.decisions[0].reason.empty());
  }
}

TEST(LaunchVariables, TuningStaysAndIsToldAndOtherVariablesAreNobodysBusiness) {
  for (const std::string name : {"NCCL_DEBUG", "CUDA_VISIBLE_DEVICES", "TORCH_LOGS",
                                 "OMP_NUM_THREADS", "LD_BIND_NOW", "CUDA_HOME", "BASH_ENV"}) {
    const Plan plan = planned(environment(), {{name, "1"}});
    EXPECT_EQ(value(plan, name), "1") << name;
    ASSERT_EQ(plan.decisions.size(), 1u) << name;
    EXPECT_EQ(plan.decisions[0].action, Action::warn) << name;
  }
  for (const std::string name : {"EDITOR", "HTTPS_PROXY", "CONDA_EXE", "LDFLAGS", "SLURM_JOB_ID"}) {
    const Plan plan = planned(environment(), {{name, "1"}});
    EXPECT_EQ(value(plan, name), "1") << name;
    EXPECT_TRUE(plan.decisions.empty()) << name;
  }
}

TEST(LaunchVariables, AToolkitTakesThePlaceOfTheCallersToolkit) {
  Environment of = environment();
  of.has_toolkit = true;
  const Plan plan = planned(
      of,
      {{"CUDA_HOME", "/usr/local/cuda"}, {"CUDACXX", "/x/nvcc"}, {"CUDA_LAUNCH_BLOCKING", "1"}});
  EXPECT_EQ(value(plan, "CUDA_HOME"), "/store/envs/abc");
  EXPECT_EQ(value(plan, "CUDA_PATH"), "/store/envs/abc");
  EXPECT_EQ(plan.find("CUDACXX"), nullptr);
  EXPECT_EQ(value(plan, "CUDA_LAUNCH_BLOCKING"), "1");
}

TEST(LaunchVariables, WithoutAPythonThereIsNoVirtualEnvironment) {
  Environment of = environment();
  of.python.clear();
  const Plan plan = planned(of, {{"VIRTUAL_ENV", "/venv"}});
  EXPECT_EQ(plan.find("VIRTUAL_ENV"), nullptr);
  EXPECT_THAT(plan.unwanted, Contains("VIRTUAL_ENV"));
}

TEST(LaunchVariables, PathLosesOtherEnvironmentsAndNothingElse) {
  const auto path = [](const std::string& before, std::vector<Variable> more = {}) {
    more.push_back({"PATH", before});
    return value(planned(environment(), more), "PATH");
  };
  const std::string own = "/store/envs/abc/bin";
  EXPECT_EQ(path("/venv/bin:/bin", {{"VIRTUAL_ENV", "/venv/"}}), own + ":/bin");
  EXPECT_EQ(path("/conda/bin/:/bin", {{"CONDA_PREFIX", "/conda"}}), own + ":/bin");
  EXPECT_EQ(path("/store/envs/def/bin:/bin:/store/envs/abc/bin"), own + ":/bin");
  EXPECT_EQ(path("/store/envsdef/bin"), own + ":/store/envsdef/bin");
  EXPECT_EQ(path(":/a b::/bin:"), own + "::/a b::/bin:");
  EXPECT_EQ(value(planned(environment(), {}), "PATH"), own + ":" + std::string(kSystemPath));
}

TEST(LaunchVariables, TheUsersWordWins) {
  const std::vector<Variable> ambient = {{"LD_LIBRARY_PATH", "/x"},
                                         {"NCCL_DEBUG", "INFO"},
                                         {"NCCL_ALGO", "Ring"},
                                         {"PATH", "/bin"},
                                         {"VIRTUAL_ENV", "/venv"}};
  Plan plan = planned(environment(), ambient,
                      {.keep = {"LD_LIBRARY_PATH", "VIRTUAL_ENV"},
                       .drop = {"NCCL_*"},
                       .set = {{"PATH", "/only"}, {"NEW", "a=b"}},
                       .clean = false});
  EXPECT_EQ(value(plan, "LD_LIBRARY_PATH"), "/x");
  EXPECT_EQ(value(plan, "VIRTUAL_ENV"), "/venv");
  EXPECT_EQ(plan.find("NCCL_DEBUG"), nullptr);
  EXPECT_EQ(plan.unset, (std::vector<std::string>{"NCCL_ALGO", "NCCL_DEBUG"}));
  EXPECT_EQ(value(plan, "PATH"), "/only");
  EXPECT_EQ(value(plan, "NEW"), "a=b");
  EXPECT_TRUE(plan.decisions.empty());
  EXPECT_THAT(plan.unwanted, Not(Contains("LD_LIBRARY_PATH")));
  // What is set is no longer the caller's, so nothing need be said of the caller's.
  plan =
      planned(environment(), ambient,
              {.keep = {"NCCL_*"}, .drop = {}, .set = {{"LD_LIBRARY_PATH", "/y"}}, .clean = false});
  EXPECT_EQ(value(plan, "LD_LIBRARY_PATH"), "/y");
  EXPECT_TRUE(plan.decisions.empty());
  // As the caller has it: not at all.
  EXPECT_EQ(planned(environment(), {},
                    {.keep = {"PYTHONNOUSERSITE"}, .drop = {}, .set = {}, .clean = false})
                .find("PYTHONNOUSERSITE"),
            nullptr);
}

TEST(LaunchVariables, ACleanEnvironmentHasOnlyWhatItNamesAndWhatIsKept) {
  const Plan plan = planned(environment(),
                            {{"HOME", "/root"},
                             {"LC_ALL", "C"},
                             {"SECRET", "x"},
                             {"PATH", "/odd"},
                             {"NCCL_DEBUG", "INFO"},
                             {"http_proxy", "p"}},
                            {.keep = {"http_proxy"}, .drop = {}, .set = {}, .clean = true});
  std::vector<std::string> names;
  for (const Variable& variable : plan.variables) {
    names.push_back(variable.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"HOME", "LC_ALL", "PATH", "PYTHONDONTWRITEBYTECODE",
                                             "PYTHONNOUSERSITE", "VIRTUAL_ENV",
                                             "VIRTUAL_ENV_PROMPT", "http_proxy"}));
  EXPECT_EQ(value(plan, "PATH"), "/store/envs/abc/bin:" + std::string(kSystemPath));
  EXPECT_EQ(plan.unset, (std::vector<std::string>{"NCCL_DEBUG", "SECRET"}));
}

TEST(LaunchVariables, RecipesVariablesAreFilledInOnce) {
  Environment of = environment();
  of.name = "${prefix}";
  of.variables = {{"CUDNN_HOME", "${prefix}/x:${prefix}"}, {"ODD", "${name} ${other} $ ${"}};
  const Plan plan = planned(of, {{"CUDNN_HOME", "/mine"}});
  EXPECT_EQ(value(plan, "CUDNN_HOME"), "/store/envs/abc/x:/store/envs/abc");
  EXPECT_EQ(value(plan, "ODD"), "${prefix} ${other} $ ${");
  EXPECT_TRUE(plan.decisions.empty());
}

TEST(LaunchVariables, ARecipeCannotSetWhatTheRulesDecide) {
  for (const char* name : {"LD_PRELOAD", "PATH", "PYTHONPATH", "", "a=b", "two words"}) {
    Environment of = environment();
    of.variables = {{name, "x"}};
    const Result<Plan> made = plan(of, {}, {});
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().code, Errc::failed);
    EXPECT_THAT(made.error().message, HasSubstr(name));
  }
}

TEST(LaunchVariables, BadChoicesAreNamed) {
  const auto choose = [](std::vector<std::string> keep, std::vector<std::string> drop,
                         std::vector<Variable> set) {
    return error_of(environment(), {}, {std::move(keep), std::move(drop), std::move(set), false});
  };
  EXPECT_THAT(choose({""}, {}, {}), HasSubstr("--keep takes"));
  EXPECT_THAT(choose({"A=B"}, {}, {}), HasSubstr("\"A=B\""));
  EXPECT_THAT(choose({}, {"*A*"}, {}), HasSubstr("--drop takes"));
  EXPECT_THAT(choose({"A"}, {"A"}, {}), HasSubstr("both"));
  EXPECT_THAT(choose({"A"}, {}, {{"A", "x"}}), HasSubstr("set"));
  EXPECT_THAT(choose({}, {}, {{"", "x"}}), HasSubstr("--set"));
  EXPECT_THAT(choose({}, {}, {{"A", std::string("x\0y", 3)}}), HasSubstr("--set"));
  EXPECT_EQ(choose({"*"}, {}, {}), "(no error)");
}

TEST(LaunchVariables, AFolderThatCannotStandInPathIsRefused) {
  for (const char* prefix : {"/a:b/envs/x", "relative/x", ""}) {
    Environment of = environment();
    of.prefix = prefix;
    EXPECT_THAT(error_of(of, {}, {}), HasSubstr("cannot be used")) << prefix;
  }
}

TEST(LaunchVariables, TheFirstOfTwoOfOneNameCounts) {
  const char* entries[] = {"A=1", "A=2", "=x", "noequals", "B=", "C==", nullptr};
  const std::vector<Variable> variables = parse_environ(entries);
  EXPECT_EQ(variables, (std::vector<Variable>{{"A", "1"}, {"A", "2"}, {"B", ""}, {"C", "="}}));
  EXPECT_EQ(value(planned(environment(), variables), "A"), "1");
  EXPECT_TRUE(parse_environ(nullptr).empty());
}

TEST(LaunchVariables, EveryRuleCanHold) {
  Environment of = environment();
  const auto acts = [&](const Rule& rule) {
    std::string name(rule.name);
    if (name.ends_with('*')) {
      name.back() = 'X';
    }
    const Plan plan = planned(of, {{name, "/caller"}, {"CONDA_PREFIX", ""}});
    switch (rule.action) {
      case Action::put_first:
        return value(plan, name).starts_with(of.prefix);
      case Action::set:
        return value(plan, name) != "/caller" && plan.find(name) != nullptr;
      case Action::drop:
        return plan.find(name) == nullptr;
      case Action::warn:
        return value(plan, name) == "/caller" &&
               std::ranges::count(plan.decisions, name, &Decision::name) == 1;
    }
    return false;
  };
  for (const Rule& rule : rules()) {
    bool ever = false;
    for (const bool toolkit : {false, true}) {
      for (const char* python : {"", "3.11"}) {
        of.has_toolkit = toolkit;
        of.python = python;
        ever = ever || acts(rule);
      }
    }
    EXPECT_TRUE(ever) << rule.name;
    EXPECT_FALSE(rule.reason.empty()) << rule.name;
  }
}

// What the test prints is what belongs into the document.
TEST(LaunchVariables, TheDocumentShowsTheTable) {
  EXPECT_THAT(test::read_file(GOLDENV_SOURCE_DIR "/docs/ENVIRONMENT.md"),
              HasSubstr(rules_markdown()))
      << rules_markdown();
}

}  // namespace
}  // namespace goldenv::launch

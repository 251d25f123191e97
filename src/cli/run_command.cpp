#include <array>
#include <string>
#include <utility>

#include "cli/command.h"
#include "cli/environment.h"
#include "launch/program.h"
#include "launch/watch.h"
#include "report/text.h"

namespace goldenv::cli {
namespace {

constexpr std::array<OptionSpec, 7> kOptions = {
    {kEnvOption,
     {"--prove", "", "look at what it loads while it runs; 125 if that is not the environment's",
      false, ""},
     kSetOption,
     kKeepOption,
     kDropOption,
     kCleanOption,
     kQuietOption}};

/// Of what is neither the environment's nor the system's.
constexpr std::size_t kMostNamed = 8;

std::string processes(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " process" : " processes");
}

/// Says what was seen; whether all of it is as it must be.
bool say_proof(const launch::Watched& watched, const launch::Proof& proof) {
  for (const launch::Miss& miss : proof.misses()) {
    say("not proved: " + miss.soname + " was loaded from " + miss.path +
        (miss.deleted ? ", which is gone" : "") + ", not from " + miss.expected);
  }
  if (watched.looks == 0) {
    say("not proved: it ended, or may not be looked at, before anything was seen of it");
    return false;
  }
  if (watched.denied != 0) {
    say(processes(watched.denied) + " may not be looked at");
  }
  std::size_t system = 0;
  std::size_t other = 0;
  for (const auto& [path, provenance] : proof.others()) {
    if (provenance == compose::Provenance::system) {
      ++system;
    } else if (++other <= kMostNamed) {
      say("neither of the environment nor of the system: " + path);
    }
  }
  if (other > kMostNamed) {
    say("and " + std::to_string(other - kMostNamed) + " more of neither");
  }
  if (!proof.misses().empty()) {
    return false;
  }
  say("proved as far as " + report::counted(watched.looks, "look") + " at " +
      processes(watched.processes) + " can: " + report::counted(proof.own().size(), "file") +
      " of the environment, " + std::to_string(system) + " of the system");
  return true;
}

int run_proving(const launch::Program& program, const InUse& used) {
  launch::Proof proof(used.expected);
  const Result<launch::Watched> watched =
      launch::watch(program, [&](pid_t, std::string_view maps) { proof.add(maps); });
  if (!watched) {
    fail(watched.error());
    return kNotRun;
  }
  if (watched->refusal) {
    say(watched->refusal->message);
    return watched->refusal->status;
  }
  if (!say_proof(*watched, proof)) {
    return kNotRun;
  }
  launch::end_as(*watched);
}

int run_program(const Invocation& invocation) {
  const Result<launch::Choices> choices = choices_of(invocation);
  if (!choices) {
    fail(choices.error());
    return kNotRun;
  }
  const Result<InUse> used = open_environment(invocation);
  if (!used) {
    fail(used.error());
    return kNotRun;
  }
  Result<launch::Plan> plan = launch::plan(used->environment, own_variables(), *choices);
  if (!plan) {
    fail(plan.error());
    return kNotRun;
  }
  say_decisions(invocation, *plan);
  const launch::Program program{invocation.program, std::move(plan->variables)};
  if (invocation.has("--prove")) {
    return run_proving(program, *used);
  }
  const launch::Refusal refusal = launch::become(program);
  say(refusal.message);
  return refusal.status;
}

}  // namespace

extern const Command run_command{"run",
                                 "[MANIFEST]",
                                 0,
                                 1,
                                 "run a program in an environment",
                                 "goldenv run train.yaml -- python train.py",
                                 kOptions,
                                 run_program,
                                 "CMD..",
                                 false};

}  // namespace goldenv::cli

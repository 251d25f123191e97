#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "launch/environment.h"
#include "launch/variables.h"
#include "manifest/manifest.h"
#include "store/store.h"

// What run, shell and env share: which environment is meant, and its variables.
namespace goldenv::cli {

inline constexpr OptionSpec kEnvOption{
    "--env", "ENV", "not a manifest's environment but this: its name, digest or folder", false, ""};
inline constexpr OptionSpec kSetOption{"--set", "NAME=VALUE", "set this variable", true, ""};
inline constexpr OptionSpec kKeepOption{
    "--keep", "NAME", "leave this variable as it is here; NAME* means all that begin so", true, ""};
inline constexpr OptionSpec kDropOption{"--drop", "NAME", "do without this variable, or NAME*",
                                        true, ""};
inline constexpr OptionSpec kCleanOption{
    "--clean-env", "", "do without all variables but HOME, LANG, TERM, TMPDIR and their like",
    false, ""};
inline constexpr OptionSpec kQuietOption{"--quiet", "", "do not say which variables were dropped",
                                         false, ""};

/// The name under which a store has the environment of a manifest: who makes it gives it this root.
/// Follows from all that the manifest says with what it extends, and not from where it lies.
std::string root_of(const manifest::Manifest& manifest);

/// Says what lies among the names of environments and is none.
void say_strays(const store::Store& store, const store::RootFolder& names);

/// An environment that is in use from now on: gc leaves it while this is open, here or in what this
/// process becomes. The store itself is closed again, so that gc need not wait.
struct InUse {
  store::Lease lease;
  launch::Environment environment;
  launch::Expected expected;
};

/// The environment that a command line means: --env, else that of the manifest. Errors: usage
/// (there is none; what to do), and all of the store.
Result<InUse> open_environment(const Invocation& invocation);

/// The user's choices among variables. Errors: usage (--set without "=").
Result<launch::Choices> choices_of(const Invocation& invocation);

/// The variables of this process.
std::vector<launch::Variable> own_variables();

/// Says which variables were dropped, and which stayed that change what runs; not with --quiet.
void say_decisions(const Invocation& invocation, const launch::Plan& plan);

}  // namespace goldenv::cli

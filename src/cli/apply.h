#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "doc/node.h"
#include "manifest/manifest.h"
#include "privileged/privileged.h"
#include "recipe/recipe.h"

// `goldenv provision` for what takes root: --script, --apply and --rollback.
namespace goldenv::cli {

inline constexpr OptionSpec kScriptOption{
    "--script", "FILE", "write the script for what takes root there; with --apply: run it", false,
    ""};
inline constexpr OptionSpec kApplyOption{
    "--apply", "", "do what takes root (as root), and nothing else", false, ""};
inline constexpr OptionSpec kDigestOption{
    "--sha256", "HEX", "with --apply: only a script with this digest", false, ""};
inline constexpr OptionSpec kRollbackOption{"--rollback", "", "undo the last --apply (as root)",
                                            false, ""};

/// What of a manifest takes root on this machine.
struct Privileged {
  privileged::Plan plan;
  std::string script;  ///< "" where there is no step
  std::string sha256;  ///< of the script

  /// Nothing of the manifest is for root, or all of it is so.
  [[nodiscard]] bool is_empty() const;
};

/// Looks at this machine as far as the manifest's pins ask. Errors: of source::look.
Result<Privileged> privileged_of(const Invocation& invocation, const manifest::Manifest& manifest,
                                 const recipe::Collection& recipes, const recipe::Values& values);

/// For people, with the script to the letter; "" where it is empty.
std::string privileged_text(const Privileged& privileged);
doc::Node privileged_data(const Privileged& privileged);

/// Writes a script that only its owner may read, change and run. Errors: failed, denied.
Result<void> write_script(const std::string& file, const std::string& script);

/// --apply, and --script without --plan. The exit status.
int run_privileged(const Invocation& invocation, const manifest::Manifest& manifest,
                   const recipe::Collection& recipes, const recipe::Values& values);
/// --rollback. The exit status.
int run_rollback();

}  // namespace goldenv::cli

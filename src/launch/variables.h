#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// The variables that a program gets which runs in a composed environment.
//
// What decides is a table (rules()): docs/ENVIRONMENT.md shows it and a test holds the two equal. A
// variable of the caller's that would put other libraries or modules in the place of the
// environment's is dropped; one that is tuning stays, since the user set it for a reason, and is
// warned of. The other way round, to drop all but a list of names known to be harmless, is
// --clean-env: as the rule for all it would take away proxies, tokens and schedulers' variables.
namespace goldenv::launch {

struct Variable {
  std::string name;
  std::string value;  ///< any bytes but NUL
  friend auto operator<=>(const Variable&, const Variable&) = default;
};

/// A composed environment as what runs in it needs to know it.
struct Environment {
  std::string prefix;        ///< absolute, the folder itself and no link to it: ".../envs/<digest>"
  std::string name;          ///< what people call it
  std::string digest;        ///< what it is composed of
  std::string python;        ///< "3.11"; "" where it has none
  bool has_toolkit = false;  ///< it has bin/nvcc
  std::vector<Variable> variables;  ///< of its recipes; "${prefix}" in a value is its folder
};

/// What is done with a variable.
enum class Action {
  put_first,  ///< PATH: the environment's folder stands first
  set,        ///< the environment's value, whatever the caller has
  drop,       ///< the caller's is taken away
  warn,       ///< the caller's stays, and is told
};

/// When a rule holds.
enum class When { always, with_python, with_toolkit };

/// One line of the table. For a name the first rule counts that names it and holds.
struct Rule {
  std::string_view name;  ///< "NCCL_*" is every name that begins so
  Action action = Action::warn;
  When when = When::always;
  std::string_view value;   ///< of `set`; "${prefix}" and "${name}" are the environment's
  std::string_view reason;  ///< ends a sentence that begins with the name
};
std::span<const Rule> rules();

/// The names that --clean-env leaves, in rules' form.
std::span<const std::string_view> clean_names();

/// What PATH is behind the environment's folder where the caller has none, and with --clean-env.
inline constexpr std::string_view kSystemPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The tables as Markdown, for docs/ENVIRONMENT.md.
std::string rules_markdown();

/// What the user says of single variables; it wins over all rules.
struct Choices {
  std::vector<std::string> keep;  ///< as the caller has it, or without it; "NCCL_*" names many
  std::vector<std::string> drop;  ///< likewise
  std::vector<Variable> set;
  bool clean = false;
};

/// One choice that was made about one of the caller's variables, and why.
struct Decision {
  std::string name;
  Action action = Action::warn;  ///< drop or warn
  std::string reason;
  friend bool operator==(const Decision&, const Decision&) = default;
};

struct Plan {
  std::vector<Variable> variables;  ///< all that the program gets, sorted by name
  std::vector<std::string> set;     ///< which of them are not the caller's, sorted
  std::vector<std::string> unset;   ///< what the caller has and the program does not, sorted
  /// What the program must not have whoever calls it: names of the rules that drop, sorted.
  std::vector<std::string> unwanted;
  std::vector<Decision> decisions;  ///< sorted by name

  /// Its value, or none.
  [[nodiscard]] const std::string* find(std::string_view name) const;
};

/// `ambient` in any order; of two of one name the first counts, as getenv(3) sees it. Errors:
/// usage (a name that is none, a name chosen in two ways, a NUL in a value), failed (the prefix
/// cannot stand in a PATH; a recipe sets what the rules decide).
Result<Plan> plan(const Environment& environment, const std::vector<Variable>& ambient,
                  const Choices& choices);

/// The entries of an environ(7), "NAME=VALUE"; what has no name is left out.
std::vector<Variable> parse_environ(const char* const* environ);

/// Whether a shell takes it for a variable's name: letters, digits, _, no digit first.
bool is_name(std::string_view text);

}  // namespace goldenv::launch

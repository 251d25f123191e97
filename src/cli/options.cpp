// The only file that includes CLI11: it costs several seconds to compile.
#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <span>

#include "base/text.h"
#include "cli/output.h"
#include "source/source.h"

namespace goldenv::cli {
namespace {

constexpr std::string_view kVersion = GOLDENV_VERSION;

/// The options that every command has, if this one does.
std::span<const OptionSpec> common_options(const Command& command) {
  return command.has_output_options ? output_options() : std::span<const OptionSpec>();
}

/// " -- CMD..", of a command that has it; " [-- ARG..]" where that may be nothing.
std::string behind_dashes(const Command& command) {
  if (command.program.empty()) {
    return "";
  }
  const std::string text(command.program);
  return text.starts_with('[') ? " [-- " + text.substr(1) : " -- " + text;
}

std::string top_help() {
  std::string text =
      "goldenv locks a golden environment and compares machines with it, to the patch.\n\n"
      "Usage: goldenv [COMMAND] [WORDS] [OPTIONS]     (alone: what is in force, what is wrong)\n\n";
  for (const Command* command : commands()) {
    if (!command->name.empty()) {
      std::string line = "  " + std::string(command->name) + " " + std::string(command->words) +
                         behind_dashes(*command);
      line.resize(std::max<std::size_t>(line.size() + 2, 38), ' ');
      text += line + std::string(command->summary) + "\n";
    }
  }
  return text + "\nSOURCE is " + std::string(source::known_sources()) +
         ".\nMANIFEST defaults to ./goldenv.yaml, $GOLDENV_MANIFEST, /etc/goldenv/golden.yaml.\n"
         "Exit status: 0 all well, 1 differences, 2 bad usage or input, 3 could not decide, 4 a "
         "step "
         "failed.\ngoldenv COMMAND --help says more; goldenv --version prints the version.\n"
         "\nExample: goldenv diff node16.yaml node17.yaml\n";
}

std::string long_name(std::string_view names) {
  const std::vector<std::string_view> all = split(names, ',');
  return std::string(all.back());
}

std::string command_help(const Command& command) {
  std::string text = "goldenv";
  if (!command.name.empty()) {
    text += " " + std::string(command.name);
  }
  if (!command.words.empty()) {
    text += " " + std::string(command.words);
  }
  text += " [OPTIONS]" + behind_dashes(command) + "\n" + std::string(command.summary) + "\n\n";
  const auto add = [&](const OptionSpec& option) {
    std::string names(option.names);
    if (const std::size_t comma = names.find(','); comma != std::string::npos) {
      names.insert(comma + 1, " ");
    }
    std::string line = "  " + names + (option.value.empty() ? "" : " " + std::string(option.value));
    line.resize(std::max<std::size_t>(line.size() + 2, 30), ' ');
    text += line + std::string(option.help);
    if (!option.choices.empty()) {
      text += " (" + std::string(option.choices) + ")";
    }
    text += "\n";
  };
  std::ranges::for_each(command.options, add);
  std::ranges::for_each(common_options(command), add);
  return text + "\nExample: " + std::string(command.example) + "\n";
}

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t distance = 3;
  for (const std::string& candidate : known) {
    const std::size_t here = edit_distance(word, candidate);
    if (here < distance) {
      distance = here;
      best = candidate;
    }
  }
  return best.empty() ? "" : "; did you mean " + best + "?";
}

Error usage(std::string message) { return {Errc::usage, std::move(message), {}}; }

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names = {"--help"};
  for (const OptionSpec& option : command.options) names.push_back(long_name(option.names));
  for (const OptionSpec& option : common_options(command)) names.push_back(long_name(option.names));
  return names;
}

/// A flag that is given a value ("--all=3"), which CLI11 would take or call unknown.
Result<void> check_flags(const Command& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> flags = {"--help"};
  if (command.name.empty()) {
    flags.emplace_back("--version");
  }
  for (const std::span<const OptionSpec> options : {command.options, common_options(command)}) {
    for (const OptionSpec& option : options) {
      if (option.value.empty()) {
        flags.push_back(long_name(option.names));
      }
    }
  }
  for (const std::string& argument : arguments) {
    if (argument == "--") {
      break;
    }
    const std::string name = argument.substr(0, argument.find('='));
    if (name.size() < argument.size() && std::ranges::find(flags, name) != flags.end()) {
      return usage(name + " takes no value; it is given \"" + argument.substr(name.size() + 1) +
                   "\"");
    }
  }
  return {};
}

/// The first word that looks like an option and is none: CLI11 tells only that there is one.
std::string explain_extras(const Command& command, const std::vector<std::string>& extras) {
  for (const std::string& extra : extras) {
    if (extra.size() > 1 && extra.starts_with('-')) {
      const std::string name = extra.substr(0, extra.find('='));
      return "unknown option " + name + nearest(name, option_names(command));
    }
  }
  return "unexpected word " + extras.front();
}

/// Whether an option stands last, or before another one. `reversed` is the command line from
/// behind.
bool lacks_value(const OptionSpec& spec, const std::vector<std::string>& reversed) {
  for (const std::string_view name : split(spec.names, ',')) {
    for (std::size_t i = 0; i < reversed.size(); ++i) {
      if (reversed[i] == name &&
          (i == 0 || (reversed[i - 1].size() > 1 && reversed[i - 1].starts_with('-')))) {
        return true;
      }
    }
  }
  return false;
}

Result<Invocation> parse_words(const Command& command, std::vector<std::string> arguments) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  struct Slot {
    std::string name;
    const OptionSpec* spec;
    std::vector<std::string> values;
    bool flag = false;
    CLI::Option* option = nullptr;
  };
  std::vector<std::unique_ptr<Slot>> slots;
  const auto add = [&](const OptionSpec& spec) {
    auto slot = std::make_unique<Slot>();
    slot->name = long_name(spec.names);
    slot->spec = &spec;
    if (spec.value.empty()) {
      slot->option = app.add_flag(std::string(spec.names), slot->flag);
    } else {
      slot->option = app.add_option(std::string(spec.names), slot->values);
      slot->option->expected(1)->allow_extra_args(false)->multi_option_policy(
          CLI::MultiOptionPolicy::TakeAll);
    }
    slots.push_back(std::move(slot));
  };
  std::ranges::for_each(command.options, add);
  std::ranges::for_each(common_options(command), add);
  Invocation invocation;
  // An option of several values would swallow the words behind it, so words are taken as extras,
  // and what stands behind "--" is set aside before CLI11 sees it.
  const auto dashes = std::ranges::find(arguments, "--");
  std::vector<std::string> behind;
  if (dashes != arguments.end()) {
    (command.program.empty() ? behind : invocation.program).assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }
  std::ranges::reverse(arguments);
  try {
    std::vector<std::string> taken = arguments;  // CLI11 takes words out as it goes
    app.parse(taken);
  } catch (const CLI::ArgumentMismatch&) {
    // Its own sentence speaks of types. Which option it is, the words say.
    for (const std::unique_ptr<Slot>& slot : slots) {
      if (!slot->spec->value.empty() && lacks_value(*slot->spec, arguments)) {
        return usage(slot->name + " needs " + std::string(slot->spec->value) + " behind it");
      }
    }
    return usage("an option lacks its value");
  } catch (const CLI::ParseError& error) {
    return usage(error.what());
  }
  for (std::string& extra : app.remaining()) {
    if (extra.size() > 1 && extra.starts_with('-')) {
      return usage(explain_extras(command, {extra}));
    }
    invocation.words.push_back(std::move(extra));
  }
  invocation.words.insert(invocation.words.end(), behind.begin(), behind.end());
  for (const std::unique_ptr<Slot>& slot : slots) {
    if (slot->option->count() == 0) {
      continue;
    }
    if (!slot->spec->repeats && slot->values.size() > 1) {
      return usage(slot->name + " is given more than once");
    }
    for (const std::string& value : slot->values) {
      if (value.empty()) {
        return usage(slot->name + " needs " + std::string(slot->spec->value) +
                     ", not an empty word");
      }
      const std::vector<std::string_view> choices = split(slot->spec->choices, '|');
      if (!slot->spec->choices.empty() && std::ranges::find(choices, value) == choices.end()) {
        return usage(slot->name + " is one of " + std::string(slot->spec->choices) + ", not \"" +
                     value + "\"");
      }
    }
    invocation.options[slot->name] = slot->values;
  }
  return invocation;
}

}  // namespace

Result<std::variant<Run, Print>> parse_command_line(const std::vector<std::string>& arguments) {
  using Outcome = std::variant<Run, Print>;
  std::vector<std::string> rest = arguments;
  const Command* command = nullptr;
  if (!rest.empty() && !rest.front().starts_with('-')) {
    std::vector<std::string> names;
    for (const Command* known : commands()) {
      if (known->name == rest.front()) {
        command = known;
      }
      names.emplace_back(known->name);
    }
    if (command == nullptr) {
      return usage("unknown command \"" + rest.front() + "\"" + nearest(rest.front(), names) +
                   "; goldenv --help lists them");
    }
    rest.erase(rest.begin());
  } else {
    command = *std::ranges::find(commands(), "", &Command::name);
  }
  if (const Result<void> fit = check_flags(*command, rest); !fit) {
    return fit.error();
  }
  const auto end = std::ranges::find(rest, "--");
  if (std::find(rest.begin(), end, "--help") != end || std::find(rest.begin(), end, "-h") != end) {
    return Outcome(Print{command->name.empty() ? top_help() : command_help(*command)});
  }
  if (command->name.empty() && rest == std::vector<std::string>{"--version"}) {
    return Outcome(Print{"goldenv " + std::string(kVersion) + "\n"});
  }
  GOLDENV_TRY(Invocation invocation, parse_words(*command, std::move(rest)));
  if (!command->program.empty() && !command->program.starts_with('[') &&
      invocation.program.empty()) {
    return usage(std::string(command->name) +
                 " needs -- and what to run behind it; example: " + std::string(command->example));
  }
  if (invocation.words.size() < command->least_words) {
    return usage(std::string(command->name) + " needs " + std::string(command->words) +
                 "; example: " + std::string(command->example));
  }
  if (invocation.words.size() > command->most_words) {
    return usage("unexpected word \"" + invocation.words[command->most_words] + "\"; " +
                 (command->name.empty() ? "goldenv" : std::string(command->name)) + " takes " +
                 (command->words.empty() ? "none" : std::string(command->words)));
  }
  return Outcome(Run{command, std::move(invocation)});
}

}  // namespace goldenv::cli

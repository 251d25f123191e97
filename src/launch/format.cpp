#include "launch/format.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "doc/bytes.h"
#include "doc/node.h"
#include "doc/unicode.h"

namespace goldenv::launch {
namespace {

/// Go's bufio.Scanner, with which docker reads its file, gives up at a line of this length.
constexpr std::size_t kDockerLineBytes = 64u << 10;
/// LONG_LINE_MAX of systemd's src/basic/fileio.h.
constexpr std::size_t kSystemdLineBytes = 1u << 20;

/// A comment's words: where the environment lies is up to its user, who may use line ends.
std::string in_comment(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    const bool plain = c >= ' ' && c <= '~';
    shown += plain ? c : '?';
  }
  return shown;
}

std::string title(const Environment& environment) {
  return "# goldenv: the environment " + in_comment(environment.name) + " in " +
         in_comment(environment.prefix) + "\n";
}

std::string octal(unsigned char byte) {
  std::string text = "\\";
  for (const unsigned shift : {6u, 3u, 0u}) {
    text += static_cast<char>('0' + ((byte >> shift) & 7u));
  }
  return text;
}

using Fault = std::optional<std::string>;

/// Each variable's value, where the plan sets it, through `line`; all faults in one error.
template <typename Line>
Result<std::string> write_lines(std::string_view format, const Plan& plan, const Line& line) {
  std::string text;
  std::vector<std::string> faults;
  for (const std::string& name : plan.set) {
    const std::string& value = *plan.find(name);
    std::string written;
    if (const Fault fault = line(name, value, written)) {
      faults.push_back(name + " (" + *fault + ")");
    }
    text += written;
  }
  if (!faults.empty()) {
    return Error{Errc::usage,
                 std::string(format) + " cannot carry " + join(faults, ", ") +
                     "; give another value by --set, or leave it out by --drop NAME",
                 {}};
  }
  return text;
}

Fault name_fault(std::string_view name) {
  return is_name(name) ? Fault() : Fault("not a name of letters, digits and _");
}

Result<std::string> write_sh(const Plan& plan, std::set<std::string> unset,
                             std::string_view format) {
  std::string text;
  for (const std::string& name : unset) {
    if (is_name(name)) {  // a shell does not have the others as variables
      text += "unset " + name + "\n";
    }
  }
  GOLDENV_TRY(const std::string set,
              write_lines(format, plan,
                          [](const std::string& name, const std::string& value,
                             std::string& written) -> Fault {
                            if (Fault fault = name_fault(name)) {
                              return fault;
                            }
                            written = "export " + name + "=" + shell_quoted(value) + "\n";
                            return {};
                          }));
  return text + set;
}

/// Source: systemd.syntax(7) "Quoting", systemd.unit(5) "Specifiers"; env_value_is_valid and
/// unichar_is_valid of systemd's src/basic: what is no UTF-8 or no character is refused there.
Fault write_systemd_line(const std::string& name, const std::string& value, std::string& written) {
  if (Fault fault = name_fault(name)) {
    return fault;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  written = "Environment=\"" + name + "=";
  for (std::size_t at = 0; at < value.size();) {
    const doc::Character character = doc::character_at(value, at);
    if (character.bytes == 0) {
      return "bytes that are no UTF-8";
    }
    if ((character.code >= 0xfdd0 && character.code <= 0xfdef) ||
        (character.code & 0xfffeu) == 0xfffeu) {
      return "U+FFFE or another code point that is no character";
    }
    const char c = value[at];
    if (c == '"' || c == '\\') {
      written += '\\';
      written += c;
    } else if (c == '%') {
      written += "%%";
    } else if (c == '\n') {
      written += "\\n";
    } else if (doc::is_invisible(character.code) && character.code != ' ') {
      for (std::size_t i = 0; i < character.bytes; ++i) {
        const auto byte = static_cast<unsigned char>(value[at + i]);
        written += "\\x";
        written += kHex[byte >> 4u];
        written += kHex[byte & 15u];
      }
    } else {
      written += value.substr(at, character.bytes);
    }
    at += character.bytes;
  }
  written += "\"\n";
  return written.size() < kSystemdLineBytes ? Fault() : Fault("longer than a line may be");
}

Result<std::string> write_systemd(const Environment& environment, const Plan& plan) {
  GOLDENV_TRY(const std::string set, write_lines("systemd", plan, write_systemd_line));
  std::string text = title(environment) +
                     "# A drop-in: /etc/systemd/system/NAME.service.d/goldenv.conf\n[Service]\n" +
                     set;
  // Wins over Environment= and over the manager's own.
  for (const std::string& name : plan.unwanted) {
    text += "UnsetEnvironment=" + name + "\n";
  }
  return text;
}

/// Source: github.com/docker/cli, pkg/kvfile: a line a variable, the value as it stands; no quotes,
/// no escapes. Lines are cut as Go's bufio.ScanLines does, which takes a CR before the LF away.
Fault write_docker_line(const std::string& name, const std::string& value, std::string& written) {
  if (Fault fault = name_fault(name)) {
    return fault;
  }
  if (value.find('\n') != std::string::npos) {
    return "a line end";
  }
  if (value.ends_with('\r')) {
    return "a carriage return at its end";
  }
  if (!is_utf8(value)) {
    return "bytes that are no UTF-8";
  }
  written = name + "=" + value + "\n";
  return written.size() <= kDockerLineBytes ? Fault() : Fault("longer than a line may be");
}

Result<std::string> write_docker(const Environment& environment, const Plan& plan) {
  GOLDENV_TRY(const std::string set, write_lines("docker", plan, write_docker_line));
  std::string text =
      title(environment) +
      "# docker run --env-file FILE; the store must be mounted at the same path, read-only.\n" +
      set;
  // A file cannot take away what an image sets. To the loader and to Python an empty variable is
  // none (ld.so(8); "Environment variables" of Python's documents).
  for (const std::string& name : plan.unwanted) {
    if (name.starts_with("LD_") || name.starts_with("PYTHON")) {
      text += name + "=\n";
    }
  }
  return text;
}

Result<std::string> write_slurm(const Environment& environment, const Plan& plan) {
  // A job has what its submitter had, or not: that is sbatch's choice.
  std::set<std::string> unset(plan.unset.begin(), plan.unset.end());
  unset.insert(plan.unwanted.begin(), plan.unwanted.end());
  GOLDENV_TRY(const std::string lines, write_sh(plan, std::move(unset), "slurm"));
  // --export=NAME=VALUE,... cannot hold a comma or a line end, so the script sets what is to be
  // set. SLURM_EXPORT_ENV is what sbatch --export leaves behind for srun: sbatch(1), srun(1).
  return title(environment) +
         "# Put these lines behind the #SBATCH lines of a batch script, or `.` this file there.\n"
         "if ! [ -d " +
         shell_quoted(environment.prefix) +
         " ]; then\n  echo 'goldenv: this node does not have the environment' >&2\n  exit "
         "125\nfi\n" +
         lines + "export SLURM_EXPORT_ENV=ALL\n";
}

doc::Node text_node(const std::string& text) { return doc::Node::scalar(text, true); }

std::string write_json(const Environment& environment, const Plan& plan) {
  std::vector<doc::Node::Entry> set;
  for (const std::string& name : plan.set) {
    set.push_back({name, {}, text_node(*plan.find(name))});
  }
  std::vector<doc::Node> unset;
  for (const std::string& name : plan.unset) {
    unset.push_back(text_node(name));
  }
  std::vector<doc::Node> decisions;
  for (const Decision& decision : plan.decisions) {
    decisions.push_back(doc::Node::mapping(
        {{"name", {}, text_node(decision.name)},
         {"is", {}, text_node(decision.action == Action::drop ? "dropped" : "kept")},
         {"because", {}, text_node("it " + decision.reason)}}));
  }
  const doc::Node about = doc::Node::mapping({{"name", {}, text_node(environment.name)},
                                              {"prefix", {}, text_node(environment.prefix)},
                                              {"digest", {}, text_node(environment.digest)},
                                              {"python", {}, text_node(environment.python)}});
  return doc::render_json(
             doc::Node::mapping({{"schema_version", {}, doc::Node::scalar("0")},
                                 {"environment", {}, about},
                                 {"set", {}, doc::Node::mapping(std::move(set))},
                                 {"unset", {}, doc::Node::sequence(std::move(unset))},
                                 {"decisions", {}, doc::Node::sequence(std::move(decisions))}})) +
         "\n";
}

}  // namespace

bool is_elsewhere(Format format) { return format == Format::systemd || format == Format::docker; }

std::string shell_quoted(std::string_view value) {
  std::string text = "'";
  std::string odd;  // bytes that come from printf, in octal
  const auto end_odd = [&] {
    if (!odd.empty()) {
      text += "'\"$(printf '" + odd + "')\"'";
      odd.clear();
    }
  };
  for (std::size_t at = 0; at < value.size();) {
    const doc::Character character = doc::character_at(value, at);
    const std::size_t bytes = std::max<std::size_t>(character.bytes, 1);
    // $() takes away line ends at its end, so these never stand in it.
    const bool is_odd = character.bytes == 0 || (doc::is_invisible(character.code) &&
                                                 value[at] != '\n' && value[at] != ' ');
    if (is_odd) {
      for (std::size_t i = 0; i < bytes; ++i) {
        odd += octal(static_cast<unsigned char>(value[at + i]));
      }
    } else {
      end_odd();
      text += value[at] == '\'' ? "'\\''" : std::string(value.substr(at, bytes));
    }
    at += bytes;
  }
  end_odd();
  return text + "'";
}

Result<std::string> write(Format format, const Environment& environment, const Plan& plan) {
  switch (format) {
    case Format::sh: {
      GOLDENV_TRY(const std::string lines,
                  write_sh(plan, {plan.unset.begin(), plan.unset.end()}, "sh"));
      return title(environment) + lines;
    }
    case Format::systemd:
      return write_systemd(environment, plan);
    case Format::docker:
      return write_docker(environment, plan);
    case Format::slurm:
      return write_slurm(environment, plan);
    case Format::json:
      return write_json(environment, plan);
  }
  return std::string();
}

}  // namespace goldenv::launch

#include "provision/interpreter.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/text.h"
#include "provision/remembered.h"
#include "source/program.h"

namespace goldenv::provision {
namespace {

/// Asks for nothing that a minimal Python lacks; platform is the library's, and so are its words.
constexpr std::string_view kQuestion =
    "import json,os,platform,sys,sysconfig\n"
    "g=sysconfig.get_config_var\n"
    "try: c=os.confstr('CS_GNU_LIBC_VERSION') or ''\n"
    "except Exception: c=''\n"
    "print(json.dumps({'version':platform.python_version(),"
    "'implementation':sys.implementation.name,"
    "'base':os.path.realpath(getattr(sys,'_base_executable',None) or sys.executable),"
    "'prefix':os.path.realpath(sys.base_prefix),'machine':platform.machine(),'libc':c,"
    "'debug':hasattr(sys,'gettotalrefcount'),'free_threaded':bool(g('Py_GIL_DISABLED'))}))\n";

constexpr std::chrono::milliseconds kDeadline{20'000};
constexpr unsigned kOldest = 7;  // 3.7: unchecked-hash .pyc files (PEP 552)

/// "3.11" of "3.11.7".
std::string minor_of(std::string_view version) {
  const std::vector<std::string_view> parts = split(version, '.');
  return parts.size() < 2 ? std::string(version)
                          : std::string(parts[0]) + "." + std::string(parts[1]);
}

std::optional<std::string> on_path(const std::string& name) {
  const Result<std::string> found = source::program_on_path(name);
  return found ? std::optional(*found) : std::nullopt;
}

/// The program of a prefix, or the program itself.
std::string program_of(const std::string& asked) {
  struct stat status;
  if (stat(asked.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    return asked + "/bin/python3";
  }
  if (asked.find('/') == std::string::npos) {
    return on_path(asked).value_or(asked);
  }
  return asked;
}

/// What tells a file from another; "" for one that another file decides about (a script), whose
/// answer may be another one tomorrow.
std::string identity_of(const std::string& program) {
  const int fd = open(program.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return {};
  }
  struct stat status;
  char magic[4] = {};
  const bool is_elf = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                      read(fd, magic, sizeof magic) == sizeof magic &&
                      std::string_view(magic, sizeof magic) == "\177ELF";
  close(fd);
  if (!is_elf) {
    return {};
  }
  return "interpreter 1\n" + program + "\n" + std::to_string(status.st_dev) + " " +
         std::to_string(status.st_ino) + " " + std::to_string(status.st_size) + " " +
         std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

/// The interpreter that a program is. What an ELF file said is remembered; a link in its way (of a
/// venv) is followed by name, so that the venv's own answer is kept apart.
Result<Interpreter> ask(const std::string& program, const store::Store& store) {
  const std::string identity = identity_of(program);
  if (!identity.empty()) {
    if (const auto known = recall(store, identity)) {
      if (auto interpreter = parse_interpreter(text_at(*known, "said"), program)) {
        return interpreter;
      }
    }
  }
  source::Program question;
  question.words = {program, "-I", "-S", "-c", std::string(kQuestion)};
  for (const char* name : {"PATH", "HOME", "LANG"}) {
    if (const char* value = std::getenv(name); value != nullptr) {
      question.environment.push_back(std::string(name) + "=" + value);
    }
  }
  question.deadline = kDeadline;
  question.output_limit_bytes = 64u << 10;
  const source::Ended ended = source::run(question);
  if (ended.how == source::Ended::How::timed_out) {
    return Error{Errc::failed, program + " gives no answer", {}};
  }
  if (ended.how != source::Ended::How::by_itself || ended.status != 0) {
    const std::string words = source::last_words(ended.error);
    return Error{Errc::failed, program + " does not run" + (words.empty() ? "" : ": " + words), {}};
  }
  GOLDENV_TRY(Interpreter interpreter, parse_interpreter(ended.output, program));
  if (!identity.empty()) {
    doc::Node answer;
    put(answer, "said", text_node(ended.output));
    remember(store, identity, answer);
  }
  return interpreter;
}

}  // namespace

std::string python_program(const std::string& asked) {
  return asked.empty() ? on_path("python3").value_or("") : program_of(asked);
}

Result<Interpreter> parse_interpreter(std::string_view text, std::string_view program) {
  GOLDENV_TRY(const doc::Node said, doc::parse(text, doc::Format::json, program));
  Interpreter interpreter;
  interpreter.program = program;
  interpreter.base = text_at(said, "base");
  interpreter.version = text_at(said, "version");
  interpreter.prefix = text_at(said, "prefix");
  interpreter.minor = minor_of(interpreter.version);
  const std::vector<std::string_view> numbers = split(std::string_view(interpreter.minor), '.');
  const auto major = numbers.size() == 2 ? to_number(numbers[0]) : std::nullopt;
  const auto minor = numbers.size() == 2 ? to_number(numbers[1]) : std::nullopt;
  if (!major || !minor || !interpreter.base.starts_with('/') ||
      !interpreter.prefix.starts_with('/')) {
    return Error{Errc::malformed, std::string(program) + " does not say which Python it is", {}};
  }
  if (text_at(said, "implementation") != "cpython" || *major != 3 || *minor < kOldest) {
    return Error{Errc::usage,
                 std::string(program) + " is " + text_at(said, "implementation") + " " +
                     interpreter.version + ": environments are made for CPython 3.7 and later",
                 {}};
  }
  wheel::Target& target = interpreter.target;
  target.major = static_cast<unsigned>(*major);
  target.minor = static_cast<unsigned>(*minor);
  target.debug = flag_at(said, "debug");
  target.free_threaded = flag_at(said, "free_threaded");
  target.machine = text_at(said, "machine");
  const std::string libc = text_at(said, "libc");
  const std::vector<std::string_view> words_of_libc = words(libc);
  if (words_of_libc.size() == 2 && words_of_libc[0] == "glibc") {
    const std::vector<std::string_view> parts = split(words_of_libc[1], '.');
    if (parts.size() >= 2) {
      target.glibc_major = static_cast<unsigned>(to_number(parts[0]).value_or(0));
      target.glibc_minor = static_cast<unsigned>(to_number(parts[1]).value_or(0));
    }
  }
  return interpreter;
}

Result<Interpreter> find_interpreter(const InterpreterWish& wish, const store::Store& store) {
  const std::string minor = wish.pinned.empty() ? "" : minor_of(wish.pinned);
  const auto fits = [&](const Interpreter& found) { return minor.empty() || found.minor == minor; };
  const auto chosen = [&](Interpreter found, std::string why) {
    if (!wish.pinned.empty() && found.version != wish.pinned) {
      why += "; " + wish.pinned + " is pinned, and goldenv makes no Python of its own";
    }
    found.why = std::move(why);
    return found;
  };
  if (!wish.asked.empty()) {
    auto asked = ask(program_of(wish.asked), store);
    if (!asked) {
      return Error{Errc::usage, "--python " + wish.asked + ": " + asked.error().message, {}};
    }
    Interpreter found = *std::move(asked);
    if (!fits(found)) {
      return Error{
          Errc::usage,
          wish.asked + " is Python " + found.version + ", and " + wish.pinned + " is pinned",
          {}};
    }
    return chosen(std::move(found), "asked for");
  }
  std::string passed_over;
  if (!wish.target_python.empty()) {
    auto found = ask(program_of(wish.target_python), store);
    if (found && fits(*found)) {
      return chosen(*std::move(found), "the manifest's target_python");
    }
    passed_over =
        "; the manifest's target_python will not do: " +
        (found ? wish.target_python + " is Python " + found->version : found.error().message);
  }
  std::vector<std::string> names;
  if (!minor.empty()) {
    names.push_back("python" + minor);
  }
  names.emplace_back("python3");
  std::string seen;
  for (const std::string& name : names) {
    const std::optional<std::string> program = on_path(name);
    if (!program) {
      continue;
    }
    auto found = ask(*program, store);
    if (!found) {
      seen += (seen.empty() ? "" : "; ") + found.error().message;
      continue;
    }
    if (fits(*found)) {
      return chosen(*std::move(found), "the " + name + " on PATH" + passed_over);
    }
    seen += (seen.empty() ? "" : "; ") + *program + " is " + found->version;
  }
  return Error{Errc::usage,
               (minor.empty() ? "no Python is here" : "no Python " + minor + " is here") +
                   std::string(seen.empty() ? "" : " (" + seen + ")") +
                   ": install one, or name it with --python",
               {}};
}

}  // namespace goldenv::provision

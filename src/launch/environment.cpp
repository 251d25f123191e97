#include "launch/environment.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/text.h"
#include "compose/compose.h"

namespace goldenv::launch {
namespace {

constexpr std::size_t kLeastDigits = 6;
constexpr std::size_t kShownDigits = 12;
constexpr std::size_t kShownNames = 8;

/// "there are train, eval and 3 more".
std::string what_there_is(const std::vector<store::NamedRoot>& roots) {
  std::vector<std::string> names;
  for (const store::NamedRoot& root : roots) {
    if (!store::is_manifest_root(root.name)) {
      names.push_back(root.name);
    }
  }
  if (names.empty()) {
    return "no environment there has a name";
  }
  const std::size_t more = names.size() > kShownNames ? names.size() - kShownNames : 0;
  names.resize(names.size() - more);
  return "there are " + join(names, ", ") +
         (more == 0 ? std::string() : " and " + std::to_string(more) + " more");
}

bool is_hexadecimal(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// A path without links; "" where there is none.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real == nullptr ? std::string() : std::string(real.get());
}

/// "/usr" of "/usr/bin/python3.11", links resolved; "" of none.
std::string prefix_of(const std::string& interpreter) {
  if (interpreter.empty()) {
    return "";
  }
  const std::string program = resolved(interpreter);
  const std::size_t bin = program.rfind("/bin/");
  return bin == std::string::npos ? "" : program.substr(0, bin);
}

}  // namespace

Result<Chosen> choose(const store::Store& store, std::string_view word) {
  GOLDENV_TRY(const std::vector<store::NamedRoot> roots, store.roots());
  const auto root = std::ranges::find(roots, word, &store::NamedRoot::name);
  if (root != roots.end()) {
    return Chosen{root->digest, root->name};
  }
  std::vector<std::string> matching;
  if (word.size() >= kLeastDigits && is_hexadecimal(word)) {
    GOLDENV_TRY(const std::vector<std::string> generations, store.generations());
    std::ranges::copy_if(generations, std::back_inserter(matching),
                         [&](const std::string& digest) { return digest.starts_with(word); });
  }
  if (matching.size() == 1) {
    return Chosen{matching.front(), matching.front().substr(0, kShownDigits)};
  }
  if (matching.size() > 1) {
    return Error{
        Errc::usage,
        "several environments begin with " + std::string(word) + ": " + join(matching, ", "),
        {}};
  }
  return Error{
      Errc::usage,
      "no environment " + std::string(word) + " in " + store.folder() + "; " + what_there_is(roots),
      {}};
}

Result<Place> place_of(const std::string& folder) {
  const std::string path = resolved(folder);
  if (path.empty()) {
    return Error{Errc::usage, "no environment " + folder + ": " + std::strerror(errno), {}};
  }
  const std::size_t slash = path.rfind('/');
  const std::string above = path.substr(0, slash);
  if (!above.ends_with("/envs") || ::access((path + "/.goldenv.json").c_str(), F_OK) != 0) {
    return Error{Errc::usage, folder + " is no environment's folder (STORE/envs/DIGEST)", {}};
  }
  return Place{above.substr(0, above.size() - 5), path.substr(slash + 1)};
}

Result<Opened> open_environment(const store::Store& store, const Chosen& chosen) {
  GOLDENV_TRY(const compose::Recorded recorded, compose::recorded(store, chosen.digest));
  Opened opened;
  Environment& environment = opened.environment;
  environment.prefix = store.generation(chosen.digest);
  environment.name = chosen.name;
  environment.digest = chosen.digest;
  environment.python = recorded.python.interpreter.empty() ? "" : recorded.python.version;
  environment.has_toolkit = ::access((environment.prefix + "/bin/nvcc").c_str(), X_OK) == 0;
  Expected& expected = opened.expected;
  expected.setting.store = store.folder();
  expected.setting.python_prefix = prefix_of(recorded.python.interpreter);
  expected.prefix = environment.prefix;
  std::map<std::string, std::pair<std::string, std::string>> set;  // value, who sets it
  for (const std::string& id : recorded.objects) {
    GOLDENV_TRY(const store::Object object, store.get(id));
    expected.objects.insert(id);
    for (const store::ElfFile& file : object.shape.elf) {
      if (file.soname.starts_with("lib")) {
        expected.libraries.emplace(file.soname, id);
      }
    }
    for (const store::Variable& variable : object.environment) {
      const auto [before, fresh] =
          set.try_emplace(variable.name, std::pair(variable.value, object.name));
      if (!fresh && before->second.first != variable.value) {
        return Error{Errc::failed,
                     before->second.second + " and " + object.name + " set " + variable.name +
                         " to different values",
                     {}};
      }
    }
  }
  for (auto& [name, value] : set) {
    environment.variables.push_back({name, std::move(value.first)});
  }
  return opened;
}

Result<void> check_python(const Environment& environment) {
  if (environment.python.empty()) {
    return {};
  }
  // Without pyvenv.cfg the interpreter would be the system's, with the system's packages.
  for (const std::string& name : {std::string("bin/python"), std::string("bin/python3"),
                                  "bin/python" + environment.python, std::string("pyvenv.cfg")}) {
    const std::string path = environment.prefix + "/" + name;
    struct stat status {};
    const bool is_program = name.starts_with("bin/");
    int number = 0;
    if (::stat(path.c_str(), &status) != 0) {
      number = errno;
    } else if (!S_ISREG(status.st_mode)) {
      number = EINVAL;
    } else if (is_program && ::access(path.c_str(), X_OK) != 0) {
      number = errno;
    }
    if (number != 0) {
      std::string target(PATH_MAX, '\0');
      const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
      target.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
      return Error{Errc::failed,
                   "the environment " + environment.name + " has lost its Python: " + path +
                       (target.starts_with('/') ? ", a link to " + target : "") + ": " +
                       (number == EINVAL ? "no regular file" : std::strerror(number)) +
                       "; goldenv provision of its manifest makes it anew",
                   {}};
    }
  }
  return {};
}

Result<void> check_brought(const Environment& environment, std::span<const Brought> brought) {
  Environment whole = environment;
  std::map<std::string_view, const Brought*> set;
  for (const Brought& one : brought) {
    const auto [before, fresh] = set.try_emplace(one.variable.name, &one);
    if (!fresh && before->second->variable.value != one.variable.value) {
      return Error{Errc::usage,
                   before->second->component + " and " + one.component + " set " +
                       one.variable.name + " to different values",
                   {}};
    }
    whole.variables.push_back(one.variable);
  }
  const Result<Plan> made = plan(whole, {}, {});
  return made ? Result<void>() : Error{Errc::usage, made.error().message, {}};
}

}  // namespace goldenv::launch

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
  if (roots.empty()) {
    return "no environment there has a name";
  }
  std::vector<std::string> names;
  for (const store::NamedRoot& root : roots) {
    names.push_back(root.name);
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

}  // namespace goldenv::launch

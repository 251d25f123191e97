#include "privileged/boot_words.h"

#include <algorithm>
#include <map>

#include "facts/want.h"

namespace goldenv::privileged {
namespace {

using facts::Value;
using facts::Want;
using ByName = std::map<std::string, std::vector<std::string>>;

/// The name of a parameter, with '_' for '-': to the kernel they are the same.
/// Source: kernel/params.c, dash2underscore.
std::string name_of(std::string_view word) {
  std::string name(word.substr(0, word.find('=')));
  std::ranges::replace(name, '-', '_');
  return name;
}

ByName by_name(const std::vector<std::string>& words) {
  ByName parameters;
  for (const std::string& word : words) {
    parameters[name_of(word)].push_back(word);
  }
  return parameters;
}

std::vector<std::string> words_of(const facts::Snapshot& snapshot, const std::string& key) {
  const facts::Fact fact = snapshot.read({key, {}});
  const auto* const value = std::get_if<Value>(&fact.reading);
  return value == nullptr ? std::vector<std::string>{} : value->items;
}

/// Whether what is written of a whole command line is not for goldenv to change.
bool is_others(std::string_view name) {
  return name == "ro" || name == "rw" || facts::is_identity_parameter(name);
}

}  // namespace

std::vector<BootParameter> wanted_boot_parameters(const manifest::Pin& pin, std::string_view base,
                                                  const facts::Snapshot& snapshot) {
  constexpr std::string_view kOne = "kernel.cmdline.";
  std::vector<BootParameter> parameters;
  if (base.starts_with(kOne)) {
    const std::string name(base.substr(kOne.size()));
    BootParameter parameter{name_of(name), {}};
    if (pin.want.kind == Want::Kind::exact) {
      const Value& value = pin.want.value;
      for (const std::string& text :
           value.form == Value::Form::scalar ? std::vector<std::string>{value.text} : value.items) {
        parameter.words.push_back(text.empty() ? name : name + "=" + text);
      }
    }
    parameters.push_back(std::move(parameter));
    return parameters;
  }
  const ByName wanted = by_name(pin.want.value.items);
  const ByName found =
      by_name(words_of(snapshot, pin.key.name.starts_with("next_boot.") ? "next_boot.kernel.cmdline"
                                                                        : "kernel.cmdline"));
  for (const auto& [name, words] : wanted) {
    const auto there = found.find(name);
    if (!is_others(name) && (there == found.end() || there->second != words)) {
      parameters.push_back({name, words});
    }
  }
  for (const auto& [name, words] : found) {
    if (!is_others(name) && !wanted.contains(name)) {
      parameters.push_back({name, {}});
    }
  }
  std::ranges::sort(parameters, {}, &BootParameter::name);
  return parameters;
}

bool is_set_next_boot(const BootParameter& parameter, const facts::Snapshot& snapshot) {
  const facts::Fact fact = snapshot.read({"next_boot.kernel.cmdline", {}});
  const auto* const value = std::get_if<Value>(&fact.reading);
  if (value == nullptr) {
    return false;
  }
  const ByName next = by_name(value->items);
  const auto there = next.find(name_of(parameter.name));
  const std::vector<std::string> words =
      there == next.end() ? std::vector<std::string>{} : there->second;
  return std::ranges::equal(words, parameter.words, [](const auto& a, const auto& b) {
    return name_of(a) == name_of(b) &&
           a.substr(std::min(a.size(), a.find('='))) == b.substr(std::min(b.size(), b.find('=')));
  });
}

}  // namespace goldenv::privileged

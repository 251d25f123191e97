// How a key that a person wrote is read.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/text.h"
#include "doc/node.h"
#include "facts/catalogue.h"
#include "facts/catalogue_hints.h"
#include "facts/catalogue_table.h"

namespace goldenv::facts {
namespace {

constexpr std::size_t kLongestName = 512;    // longest real ones are below 150 bytes
constexpr std::size_t kLongestLabel = 4096;  // PATH_MAX

/// Python names after PEP 503: lower case, runs of - _ . are one -.
std::string normal_package(std::string_view package) {
  std::string name;
  for (const char c : to_lower(package)) {
    const bool separator = c == '-' || c == '_' || c == '.';
    if (!separator) {
      name += c;
    } else if (name.empty() || name.back() != '-') {
      name += '-';
    }
  }
  return name;
}

/// A prefix with what stands behind it, or nothing.
std::string_view behind(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string_view{};
}

/// "python.package.Foo_Bar.origin" -> "python.package.foo-bar.origin".
void normalise_package(std::string& name) {
  constexpr std::string_view kPrefix = "python.package.";
  std::string_view rest = behind(name, kPrefix);
  if (rest.empty()) {
    return;
  }
  std::string_view attribute;
  for (const std::string_view word : {".origin", ".record", ".digest"}) {
    if (rest.size() > word.size() && rest.ends_with(word)) {
      attribute = word;
      rest.remove_suffix(word.size());
    }
  }
  std::string package = normal_package(rest);
  if (package == "torch" && attribute.empty()) {
    name = "torch";
    return;
  }
  name = std::string(kPrefix) + package + std::string(attribute);
}

/// Module names with '_' as the kernel has them; NVIDIA's parameters without the NVreg_ that
/// modprobe.d writes before them.
void normalise_module(std::string& name) {
  const std::size_t start = name.starts_with("module.")             ? 7
                            : name.starts_with("next_boot.module.") ? 17
                                                                    : 0;
  if (start == 0) {
    return;
  }
  const std::size_t dot = std::min(name.find('.', start), name.size());
  std::replace(name.begin() + static_cast<std::ptrdiff_t>(start),
               name.begin() + static_cast<std::ptrdiff_t>(dot), '-', '_');
  constexpr std::string_view kParameter = ".param.NVreg_";
  if (std::string_view(name).substr(start).starts_with("nvidia") &&
      std::string_view(name).substr(dot).starts_with(kParameter)) {
    name.erase(dot + kParameter.size() - 6, 6);
  }
}

/// As sysctl(8): where '/' comes before any '.', slashes part the name and dots are literal, and
/// such a path is taken as it stands. True where it was one.
bool normalise_sysctl(std::string& name) {
  const std::size_t start = name.starts_with("sysctl.")             ? 7
                            : name.starts_with("next_boot.sysctl.") ? 17
                                                                    : 0;
  if (start == 0 || name.find('/', start) >= name.find('.', start)) {
    return false;
  }
  for (std::size_t i = start; i < name.size(); ++i) {
    name[i] = name[i] == '/' ? '.' : name[i] == '.' ? '/' : name[i];
  }
  return true;
}

/// Brings the names that are not ours into the form in which they are kept. True where it was the
/// path of a sysctl.
bool normalise(std::string& name) {
  const bool as_path = normalise_sysctl(name);
  normalise_package(name);
  normalise_module(name);
  constexpr std::string_view kOption = "kernel.config.CONFIG_";
  if (name.size() > kOption.size() && name.starts_with(kOption)) {
    name.erase(kOption.size() - 7, 7);
  }
  return as_path;
}

/// `name` without its alias: a whole spelling, a family's ("pip.<name>"), or one with more behind
/// it
/// ("libcuda.path", "pip.numpy.origin"). "" where no alias makes it a key of the catalogue.
std::string without_alias(std::string_view name) {
  for (const Entry& entry : catalogue()) {
    for (const std::string_view also : words(entry.also)) {
      const std::size_t open = std::min(also.find('<'), also.size());
      if (!name.starts_with(also.substr(0, open))) {
        continue;
      }
      const std::string_view rest = name.substr(open);
      const bool family = open < also.size();
      if (family ? rest.empty() : !rest.empty() && rest.front() != '.') {
        continue;
      }
      std::string key(entry.key.substr(0, std::min(entry.key.find('<'), entry.key.size())));
      key += rest;
      normalise(key);
      if (entry_of(key) != nullptr) {
        return key;
      }
    }
  }
  return {};
}

/// The entry of a name; `name` becomes its canonical spelling.
const Entry* find(std::string& name, bool& as_path) {
  if (const Entry* entry = exact_entry(name)) {
    return entry;
  }
  as_path = normalise(name);
  if (std::string key = without_alias(name); !key.empty()) {
    name = std::move(key);
  }
  return entry_of(name);
}

/// The same, with a ".version" dropped that says nothing more.
const Entry* settle(std::string& name, bool& as_path) {
  constexpr std::string_view kVersion = ".version";
  if (name.ends_with(kVersion) && exact_entry(name) == nullptr) {
    std::string shorter = name.substr(0, name.size() - kVersion.size());
    const Entry* entry = find(shorter, as_path);
    if (entry != nullptr && entry->type == Type::version) {
      name = std::move(shorter);
      return settle(name, as_path);  // written twice, it says no more
    }
  }
  return find(name, as_path);
}

Error malformed(std::string message) { return Error{Errc::malformed, std::move(message), {}}; }

/// `entry` is the family that has no such member, or nullptr.
Error unknown_key(std::string_view written, const std::string& near, const Entry* entry) {
  return malformed("unknown key " + doc::quote_json(written) +
                   (near.empty() ? expected_key(entry, written) : "; did you mean " + near + "?"));
}

bool is_printable(std::string_view text, bool blanks) {
  return std::ranges::all_of(text, [blanks](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 ? byte != 0x7f : blanks && byte == 0x20;
  });
}

/// What is wrong with the name of a sysctl as a path below /proc/sys, or nothing: "x..y" would be
/// x//y, and a part "//" (dots and slashes change places) would be "..".
std::string wrong_sysctl(const Entry& entry, std::string_view member) {
  if (entry.key != "sysctl.<name>" && entry.key != "next_boot.sysctl.<name>") {
    return {};
  }
  for (const std::string_view part : split(member, '.')) {
    if (part.empty()) {
      return "a part between its dots is empty";
    }
    if (part == "/" || part == "//") {
      return "a part of it leads to another folder";
    }
    if (part.find('\0') != std::string_view::npos) {
      return "it holds a NUL byte";
    }
  }
  return {};
}

/// What stands in for an instance's name in a message about one.
std::string sample_label(const Entry& entry) {
  return entry.label == "path" || entry.label == "folder" || entry.label == "prefix" ? "/PATH"
                                                                                     : "0";
}

/// Whether the label fits the entry; the error says what would.
Result<void> check_label(const Entry& entry, std::string_view written, std::string_view name,
                         bool labelled, std::string_view label) {
  if (!labelled) {
    if (entry.many == Many::only_named) {
      return malformed(doc::quote_json(written) + " says not which " + std::string(entry.label) +
                       "; write " + std::string(name) + "@" + sample_label(entry));
    }
    return {};
  }
  if (label.empty() || label.size() > kLongestLabel || !is_printable(label, true)) {
    return malformed("no instance in " + doc::quote_json(written) +
                     ": behind @ must stand printable text of at most 4096 bytes");
  }
  if (entry.many == Many::one) {
    return malformed(doc::quote_json(written) + ": " + std::string(name) +
                     " has no instances; write it without @");
  }
  // The program may be started anywhere, and a path has to be spelled in one way.
  if (entry.many == Many::only_named && entry.label == "path") {
    const std::vector<std::string_view> parts = split(label, '/');
    if (!label.starts_with('/') && !label.starts_with("~/")) {
      return malformed("the path " + doc::quote_json(label) +
                       " is not absolute; expected /... or ~/...");
    }
    if (std::ranges::find(parts, "..") != parts.end()) {
      return malformed("the path " + doc::quote_json(label) +
                       " holds ..; expected the path that it leads to");
    }
  }
  return {};
}

}  // namespace

Result<Resolved> resolve(std::string_view written) {
  const std::size_t at = written.find('@');
  const std::string_view plain = written.substr(0, at);
  const bool labelled = at != std::string_view::npos;
  const std::string_view label = labelled ? written.substr(at + 1) : std::string_view{};
  if (plain.empty()) {
    return malformed(labelled ? "no key before @ in " + doc::quote_json(written)
                              : std::string("an empty key"));
  }
  if (plain.size() > kLongestName) {
    return malformed("a key of " + std::to_string(plain.size()) + " bytes; no key is longer than " +
                     std::to_string(kLongestName));
  }
  if (!is_printable(plain, false)) {
    return malformed("unknown key " + doc::quote_json(written) +
                     ": keys hold no blanks and no control characters");
  }
  if (plain.find_first_of("*?") != std::string_view::npos) {
    return malformed("unknown key " + doc::quote_json(written) +
                     ": one key is meant, * and ? make a pattern");
  }
  if (plain.find_first_of("<>") != std::string_view::npos) {
    return malformed("unknown key " + doc::quote_json(written) +
                     ": what stands in <> is to be filled in");
  }
  std::string name(plain);
  bool as_path = false;
  const Entry* entry = settle(name, as_path);
  if (!labelled && (entry == nullptr || plain.find('[') != std::string_view::npos)) {
    if (const std::string instance = instance_hint(plain); !instance.empty()) {
      return malformed("unknown key " + doc::quote_json(written) + "; did you mean " + instance +
                       "? (which one is meant stands behind @)");
    }
  }
  if (entry == nullptr) {
    std::string near = near_key(plain, labelled);
    const Entry* meant = near.empty() ? nullptr : entry_of(near);
    if (!label.empty() && meant != nullptr && meant->many != Many::one) {
      near += "@" + std::string(label);
    }
    return unknown_key(written, near, nullptr);
  }
  Captures captures;
  match(*entry, name, captures);
  Resolved resolved{entry, name, std::string(label), {}};
  if (captures.count > 0) {
    resolved.member = captures.texts[captures.count - 1];
  }
  if (const std::string wrong = wrong_sysctl(*entry, resolved.member); !wrong.empty()) {
    return malformed(doc::quote_json(written) + " can name no file below /proc/sys: " + wrong +
                     "; expected a name such as sysctl.kernel.watchdog_thresh");
  }
  if (const auto near = refused_member(*entry, resolved.member); near && !as_path) {
    captures.texts[captures.count - 1] = *near;
    return unknown_key(written, near->empty() ? *near : fill(entry->key, captures), entry);
  }
  if (auto fits = check_label(*entry, written, name, labelled, label); !fits) {
    return std::move(fits).error();
  }
  return resolved;
}

}  // namespace goldenv::facts

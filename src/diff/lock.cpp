#include "diff/lock.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "diff/compare.h"
#include "facts/want.h"
#include "manifest/want_bounds.h"

namespace goldenv::diff {
namespace {

using facts::Fact;
using facts::Value;
using facts::Want;
using version::Clause;
using version::Op;

/// Packages that a GPU job depends on beneath Python; of the hundreds installed only these are
/// locked. Source: the families that GPU, kernel, C library, compiler and RDMA packages are named
/// in on Debian, Ubuntu and Red Hat.
bool concerns_gpu_stack(std::string_view package) {
  constexpr std::array<std::string_view, 33> kPatterns = {"**nvidia**",
                                                          "libnccl**",
                                                          "libcudnn**",
                                                          "cuda-**",
                                                          "libcuda**",
                                                          "libnvidia**",
                                                          "libcublas**",
                                                          "linux-image-**",
                                                          "linux-headers-**",
                                                          "linux-modules-**",
                                                          "kernel",
                                                          "kernel-**",
                                                          "libc6**",
                                                          "glibc**",
                                                          "libstdc++**",
                                                          "libgcc**",
                                                          "gcc",
                                                          "gcc-**",
                                                          "g++",
                                                          "g++-**",
                                                          "cpp-**",
                                                          "clang**",
                                                          "llvm**",
                                                          "libllvm**",
                                                          "rdma-core**",
                                                          "libibverbs**",
                                                          "librdmacm**",
                                                          "ibverbs-**",
                                                          "mlnx-**",
                                                          "doca-**",
                                                          "ucx**",
                                                          "libfabric**",
                                                          "gdrcopy**"};
  return std::ranges::any_of(
      kPatterns, [&](std::string_view pattern) { return glob_matches(pattern, package); });
}

bool is_package_of_nothing(const std::string& name) {
  for (const std::string_view family : {"dpkg.package.", "rpm.package."}) {
    if (name.starts_with(family)) {
      return !concerns_gpu_stack(std::string_view(name).substr(family.size()));
    }
  }
  return false;
}

Want exact(Value value) {
  Want want;
  want.value = std::move(value);
  return want;
}

Want wildcard(version::Scheme scheme, std::string text) {
  Want want;
  want.kind = Want::Kind::constraint;
  want.constraint = {scheme, {Clause{Op::wildcard, std::move(text)}}};
  return want;
}

/// The first `parts` numbers of a version, or "" if it has no more than these to begin with.
std::string first_parts(std::string_view text, std::size_t parts) {
  std::size_t end = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    std::size_t stop = end;
    while (stop < text.size() && text[stop] >= '0' && text[stop] <= '9') ++stop;
    if (stop == end || stop >= text.size() || text[stop] != '.') {
      return {};
    }
    end = stop + 1;
  }
  return std::string(text.substr(0, end - 1));
}

Want want_of(const facts::Entry& entry, const Value& value, Float loose) {
  switch (value.form) {
    case Value::Form::one_of: {
      Want want;
      want.kind = Want::Kind::any_of;
      for (const std::string& item : value.items) {
        want.any.push_back(exact(Value::scalar(item)));
      }
      return want;
    }
    case Value::Form::prefix:
      return wildcard(entry.scheme, value.text);
    case Value::Form::list: {
      std::vector<std::string> items = value.items;
      if (entry.key.ends_with("kernel.cmdline")) {  // of this boot and the next
        std::erase_if(items,
                      [](const std::string& word) { return facts::is_identity_parameter(word); });
      }
      return exact(Value::list(std::move(items)));
    }
    case Value::Form::scalar:
      if (loose != Float::none && entry.type == facts::Type::version &&
          entry.scheme != version::Scheme::kernel && version::parse(entry.scheme, value.text)) {
        const std::string start = first_parts(value.text, loose == Float::patch ? 2 : 1);
        if (!start.empty()) {
          return wildcard(entry.scheme, start);
        }
      }
      return exact(value);
    default:
      return exact(value);
  }
}

bool can_pin(const facts::Entry& entry, const Value& value) {
  if (value.form != Value::Form::prefix) {
    return true;
  }
  // A prefix pins something only where the wildcard can be written.
  const Want want = wildcard(entry.scheme, value.text);
  const auto read = version::parse_constraint(entry.scheme, value.text + ".*");
  return entry.type == facts::Type::version && read && *read == want.constraint &&
         facts::meets(entry, want, value, facts::Unknown{}) == Truth::yes;
}

/// The key as a manifest that names it is read, or nothing where that is none or another.
std::optional<facts::Resolved> named(const facts::FactKey& key) {
  auto read = facts::resolve(key.text());
  if (!read || read->name != key.name || read->label != key.label) {
    return std::nullopt;
  }
  return *std::move(read);
}

/// Whether a fact changes whenever the version changes that it belongs to: a build-id, a
/// srcversion, a link to a folder with the release in its name.
bool moves_with_version(const facts::Entry& entry, const facts::FactKey& key,
                        const facts::Snapshot& snapshot) {
  if (entry.type == facts::Type::version) {
    return false;
  }
  const std::string headline = facts::headline_of(entry, key.name);
  const facts::Entry* of = headline.empty() ? nullptr : facts::entry_of(headline);
  if (of == nullptr || of->type != facts::Type::version) {
    return false;
  }
  if (names_a_build(key.name)) {
    return true;
  }
  const facts::Fact fact = snapshot.read(key);
  const auto* value = std::get_if<Value>(&fact.reading);
  const facts::Fact version = snapshot.read({headline, ""});
  const auto* moving = std::get_if<Value>(&version.reading);
  if (value == nullptr || moving == nullptr) {
    return false;
  }
  const std::string release = first_parts(moving->text + ".", 2);
  const auto names_it = [&release](const std::string& text) {
    return text.find(release) != std::string::npos;
  };
  return !release.empty() && (names_it(value->text) || std::ranges::any_of(value->items, names_it));
}

bool is_golden_value(const Fact& fact, const facts::Entry* entry) {
  return entry != nullptr && std::holds_alternative<Value>(fact.reading) &&
         takes_part(*entry, fact.key);
}

}  // namespace

manifest::Manifest lock(const facts::Snapshot& snapshot, const LockOptions& options) {
  manifest::Manifest manifest;
  manifest.name = options.name.empty() ? snapshot.title() : options.name;
  const facts::Level lightest = options.all ? facts::Level::info : facts::Level::should;
  for (const Fact& fact : snapshot.facts) {
    const facts::Entry* entry = facts::entry_of(fact.key.name);
    const auto* value = std::get_if<Value>(&fact.reading);
    if (!is_golden_value(fact, entry) || entry->level > lightest ||
        is_package_of_nothing(fact.key.name) || !can_pin(*entry, *value)) {
      continue;
    }
    const std::optional<facts::Resolved> key = named(fact.key);
    if (!key) {
      continue;
    }
    // What names a build holds its version fast, which is to move.
    if (options.loose != Float::none && moves_with_version(*entry, fact.key, snapshot)) {
      continue;
    }
    manifest::Pin pin;
    pin.key = fact.key;
    pin.want = want_of(*entry, *value, options.loose);
    pin.level = entry->level;
    // Of a text that no machine can have said (-5 GPUs) a manifest is not read.
    if (!manifest::impossible(*key, pin.want).empty()) {
      continue;
    }
    manifest.pins.push_back(std::move(pin));
  }
  if (const Fact* prefix = snapshot.find({"python.prefix", ""})) {
    const auto* value = std::get_if<Value>(&prefix->reading);
    if (value != nullptr && (value->text.starts_with('/') || value->text.starts_with("~/"))) {
      manifest.target_python = value->text;
    }
  }
  // Closed, a family would hold what no pin can allow.
  const bool listed = std::ranges::find(snapshot.listed, "env") != snapshot.listed.end();
  if (listed && std::ranges::none_of(unnameable(snapshot), [](const facts::FactKey& key) {
        return facts::in_family(key.name, "env");
      })) {
    manifest.closed = {"env"};
  }
  return manifest;
}

std::vector<Fact> unknown_musts(const facts::Snapshot& snapshot) {
  std::vector<Fact> musts;
  for (const Fact& fact : snapshot.facts) {
    const facts::Entry* entry = facts::entry_of(fact.key.name);
    if (std::holds_alternative<facts::Unknown>(fact.reading) && entry != nullptr &&
        takes_part(*entry, fact.key) && entry->level == facts::Level::must &&
        !is_package_of_nothing(fact.key.name)) {
      musts.push_back(fact);
    }
  }
  return musts;
}

std::vector<facts::FactKey> unnameable(const facts::Snapshot& snapshot) {
  std::vector<facts::FactKey> keys;
  for (const Fact& fact : snapshot.facts) {
    const facts::Entry* entry = facts::entry_of(fact.key.name);
    if (is_golden_value(fact, entry) && entry->level <= facts::Level::info && !named(fact.key)) {
      keys.push_back(fact.key);
    }
  }
  return keys;
}

}  // namespace goldenv::diff

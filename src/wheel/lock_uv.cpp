#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "doc/node.h"
#include "version/number.h"
#include "wheel/lock.h"
#include "wheel/lock_builder.h"
#include "wheel/name.h"
#include "wheel/toml.h"

namespace goldenv::wheel {
namespace {

using doc::Node;

constexpr doc::Limits kLimits{.bytes = std::size_t{32} << 20, .depth = 32, .nodes = 4U << 20U};

/// A package of the lock, with the extras by which it was reached.
struct Step {
  std::size_t entry = 0;
  std::string extra;  ///< empty: its plain dependencies
  friend auto operator<=>(const Step&, const Step&) = default;
};

std::string source_kind(const Node& entry) {
  const Node* source = entry.find("source");
  return source == nullptr || source->entries.empty() ? "" : source->entries.front().key;
}

class UvReader {
 public:
  UvReader(std::string_view name, const MarkerEnvironment& environment)
      : builder_(name, environment) {}

  Result<LockedSet> read(const Node& root) {
    const Node* version = root.find("version");
    if (version == nullptr || version->text != "1") {
      return builder_.fault(1, "version " +
                                   version::quoted(version == nullptr ? "" : version->text) +
                                   " of uv.lock, expected 1");
    }
    builder_.set.requires_python = text_under(root, "requires-python");
    if (const auto fits = builder_.check_python(1, builder_.set.requires_python); !fits) {
      return fits.error();
    }
    const Node* packages = root.find("package");
    if (packages == nullptr || !packages->is_sequence()) {
      return builder_.fault(1, "no [[package]]");
    }
    packages_ = &packages->items;
    for (std::size_t i = 0; i < packages_->size(); ++i) {
      const Node& entry = (*packages_)[i];
      const std::string name = text_under(entry, "name");
      if (!is_name(name)) {
        return builder_.fault(entry.mark.line, version::quoted(name) + " names no package");
      }
      GOLDENV_TRY(const bool here, is_resolved_here(entry));
      if (here) by_name_[normalised_name(name)].push_back(i);
    }
    const auto walked = walk();
    if (!walked) return walked.error();
    for (std::size_t i = 0; i < packages_->size(); ++i) {
      const auto taken = take((*packages_)[i], reached_.contains(i));
      if (!taken) return taken.error();
    }
    return builder_.finish();
  }

 private:
  /// A package may be resolved several times, each for some environments.
  [[nodiscard]] Result<bool> is_resolved_here(const Node& entry) const {
    const Node* markers = entry.find("resolution-markers");
    if (markers == nullptr || markers->items.empty()) return true;
    for (const Node& marker : markers->items) {
      GOLDENV_TRY(const bool holds, builder_.holds(marker.mark.line, marker.text));
      if (holds) return true;
    }
    return false;
  }

  Result<void> walk() {
    std::vector<Step> open;
    for (std::size_t i = 0; i < packages_->size(); ++i) {
      const std::string kind = source_kind((*packages_)[i]);
      if (kind == "editable" || kind == "virtual") open.push_back({i, ""});
    }
    const bool has_project = !open.empty();
    if (!has_project) {
      for (const auto& [name, entries] : by_name_) {
        for (const std::size_t i : entries) open.push_back({i, ""});
      }
    }
    std::set<Step> seen(open.begin(), open.end());
    while (!open.empty()) {
      const Step step = open.back();
      open.pop_back();
      reached_.insert(step.entry);
      std::vector<Step> next;
      if (const auto found = follow(step, next); !found) return found;
      for (Step& candidate : next) {
        if (seen.insert(candidate).second) open.push_back(std::move(candidate));
      }
    }
    return {};
  }

  /// What a package needs; of the project, also its groups.
  Result<void> follow(const Step& step, std::vector<Step>& next) const {
    const Node& entry = (*packages_)[step.entry];
    if (!step.extra.empty()) {
      const Node* optional = entry.find("optional-dependencies");
      if (optional == nullptr) return {};
      for (const Node::Entry& extra : optional->entries) {
        if (normalised_name(extra.key) != step.extra) continue;
        if (const auto added = add_needs(extra.value, next); !added) return added;
      }
      return {};
    }
    if (const Node* needs = entry.find("dependencies")) {
      if (const auto added = add_needs(*needs, next); !added) return added;
    }
    const std::string kind = source_kind(entry);
    if (kind != "editable" && kind != "virtual") return {};
    for (const std::string& extra : builder_.environment().extras) {
      next.push_back({step.entry, normalised_name(extra)});
    }
    const auto& asked = builder_.environment().dependency_groups;
    const Node* groups = entry.find("dev-dependencies");
    if (groups == nullptr) return {};
    for (const Node::Entry& group : groups->entries) {
      const bool taken =
          asked.empty() ? group.key == "dev" : std::ranges::find(asked, group.key) != asked.end();
      if (!taken) continue;
      if (const auto added = add_needs(group.value, next); !added) return added;
    }
    return {};
  }

  Result<void> add_needs(const Node& list, std::vector<Step>& next) const {
    for (const Node& need : list.items) {
      GOLDENV_TRY(const bool holds, builder_.holds(need.mark.line, text_under(need, "marker")));
      if (!holds) continue;
      const std::string name = normalised_name(text_under(need, "name"));
      const std::string version = text_under(need, "version");
      bool found = false;
      const auto entries = by_name_.find(name);
      if (entries == by_name_.end()) {
        return builder_.fault(need.mark.line, version::quoted(name) + " is needed and not locked");
      }
      for (const std::size_t i : entries->second) {
        if (!version.empty() && text_under((*packages_)[i], "version") != version) continue;
        found = true;
        next.push_back({i, ""});
        if (const Node* extras = need.find("extra")) {
          for (const Node& extra : extras->items) next.push_back({i, normalised_name(extra.text)});
        }
      }
      if (!found) {
        return builder_.fault(need.mark.line, version::quoted(name + " " + version) +
                                                  " is needed and not locked here");
      }
    }
    return {};
  }

  Result<void> take(const Node& entry, bool reached) {
    const std::string kind = source_kind(entry);
    LockedPackage package;
    package.line = entry.mark.line;
    package.name = normalised_name(text_under(entry, "name"));
    package.version = text_under(entry, "version");
    if (kind == "editable" || kind == "virtual" || kind == "directory" || kind == "git") {
      builder_.leave(package.name, kind + ", no wheel");
      return {};
    }
    if (!reached) {
      builder_.leave(package.name, "nothing that is taken needs " +
                                       (package.version.empty() ? "it" : package.version) +
                                       " here");
      return {};
    }
    const Node* source = entry.find("source");
    if (source != nullptr) package.index = text_under(*source, "registry");
    if (const Node* wheels = entry.find("wheels")) {
      for (const Node& item : wheels->items) {
        LockedWheel wheel = wheel_of(item);
        if (wheel.url.empty() && wheel.path.empty() && source != nullptr) {
          wheel.path = text_under(*source, "path");
        }
        const std::string digest = text_under(item, "hash");
        if (digest.starts_with("sha256:")) {
          const auto parsed = Sha256::parse(std::string_view(digest).substr(7));
          if (!parsed)
            return builder_.fault(item.mark.line, version::quoted(digest) + " is no digest");
          wheel.sha256 = *parsed;
        }
        const auto name = parse_wheel_name(wheel.file);
        if (!name) return builder_.fault(item.mark.line, name.error().message);
        if (name->name != package.name) {
          return builder_.fault(item.mark.line,
                                version::quoted(wheel.file) + " is no wheel of " + package.name);
        }
        if (package.version.empty()) package.version = name->version;
        package.wheels.push_back(std::move(wheel));
      }
    }
    if (package.wheels.empty()) {
      builder_.leave(package.name, "only a source distribution");
      return {};
    }
    return builder_.add(std::move(package));
  }

  LockBuilder builder_;
  const std::vector<Node>* packages_ = nullptr;
  std::map<std::string, std::vector<std::size_t>> by_name_;
  std::set<std::size_t> reached_;
};

}  // namespace

Result<LockedSet> parse_uv_lock(std::string_view text, std::string_view name,
                                const MarkerEnvironment& environment) {
  GOLDENV_TRY(const Node root, parse_toml(text, name, kLimits));
  return UvReader(name, environment).read(root);
}

}  // namespace goldenv::wheel

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "base/url.h"
#include "manifest/field_reader.h"
#include "manifest/manifest.h"
#include "manifest/pin_reader.h"

namespace goldenv::manifest {
namespace {

constexpr std::size_t kMaxFiles = 64;
constexpr std::array<std::string_view, 7> kKeys{"goldenv", "name",          "extends", "pins",
                                                "files",   "target_python", "closed"};
constexpr std::array<std::string_view, 2> kClosedKeys{"want", "level"};

/// Reads a text and what it extends into one manifest, the extended ones first.
class ManifestReader {
 public:
  explicit ManifestReader(const Fetch& fetch) : fetch_(fetch) {}

  Result<void> read(std::string_view text, std::string_view file) {
    const Place place{file, text};
    auto root = doc::parse(text, doc::guess_format(text), file);
    if (!root) {
      return explain_syntax(std::move(root).error(), text, file);
    }
    if (auto judged = check_root(place, *root); !judged) {
      return judged;
    }
    chain_.emplace_back(file);
    if (const doc::Node* extends = root->find("extends")) {
      if (auto read = read_extends(place, *extends); !read) {
        return read;
      }
    }
    chain_.pop_back();
    return read_own(place, *root);
  }

  Manifest manifest() && {
    for (auto& [key, pin] : pins_) {
      if (pin.want.kind != facts::Want::Kind::any) {
        manifest_.pins.push_back(std::move(pin));
      }
    }
    return std::move(manifest_);
  }

 private:
  static Result<void> check_root(const Place& place, const doc::Node& root) {
    if (root.is_null()) {
      return place.wrong(root.mark, "an empty manifest; expected `goldenv: 1` and pins");
    }
    if (!root.is_mapping()) {
      return place.wrong(root.mark,
                         "no manifest; expected a mapping that begins with `goldenv: 1`");
    }
    if (root.find("goldenv_snapshot") != nullptr) {
      return place.wrong(
          root.mark,
          "a snapshot and no manifest; expected a manifest (`goldenv lock` makes one "
          "of a snapshot)");
    }
    for (const doc::Node::Entry& entry : root.entries) {
      if (std::ranges::find(kKeys, entry.key) != kKeys.end()) {
        continue;
      }
      std::string hint = nearest(entry.key, kKeys);
      if (hint.empty()) {
        hint = facts::resolve(entry.key) ? "; it names a fact: expected it under pins:"
                                         : one_of(kKeys);
      }
      return place.wrong(entry.mark, "unknown key " + shown(entry.key) + hint);
    }
    const doc::Node* version = root.find("goldenv");
    if (version == nullptr) {
      return place.wrong(root.mark, "a manifest without its version; expected `goldenv: 1`");
    }
    if (!version->is_scalar() || version->text != "1") {
      return place.wrong(version->mark,
                         "a version of manifests that is not known" +
                             (version->is_scalar() ? ": " + shown(version->text) : std::string()) +
                             "; expected `goldenv: 1`");
    }
    return {};
  }

  Result<void> read_extends(const Place& place, const doc::Node& node) {
    if (node.is_null()) {
      return {};
    }
    if (node.is_mapping()) {
      return place.wrong(node.mark, "extends is a mapping; expected a file or a list of files");
    }
    if (node.is_scalar()) {
      return extend(place, node);
    }
    for (const doc::Node& item : node.items) {
      if (auto extended = extend(place, item); !extended) {
        return extended;
      }
    }
    return {};
  }

  Result<void> extend(const Place& place, const doc::Node& node) {
    auto name = read_text(place, node, "an entry of extends");
    if (!name) {
      return std::move(name).error();
    }
    if (auto fit = check_name(place, node.mark, *name); !fit) {
      return fit;
    }
    if (++files_ > kMaxFiles) {
      return place.wrong(node.mark, "more than " + std::to_string(kMaxFiles) +
                                        " files in one manifest; expected fewer");
    }
    if (!fetch_) {
      return place.wrong(node.mark,
                         "extends has no place here; expected a manifest that stands "
                         "alone");
    }
    auto fetched = fetch_(*name, place.file);
    if (!fetched) {
      return place.wrong(node.mark, "cannot read " + shown(*name) + ": " + fetched.error().message +
                                        "; expected a manifest");
    }
    if (const auto met = std::ranges::find(chain_, fetched->name); met != chain_.end()) {
      return place.wrong(node.mark,
                         "extends goes round in a circle: " + join({met, chain_.end()}, " -> ") +
                             " -> " + fetched->name + "; expected an end");
    }
    if (chain_.size() == 1) {
      manifest_.extends.push_back(*name);
    }
    return read(fetched->text, fetched->name);
  }

  /// "git:REPO@REV:PATH": what is extended must not change under the one that extends it.
  static Result<void> check_revision(const Place& place, doc::Mark mark, std::string_view name) {
    const auto is_hexadecimal = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    };
    for (std::size_t at = name.find('@'); at != std::string_view::npos;
         at = name.find('@', at + 1)) {
      const std::string_view rest = name.substr(at + 1);
      const std::string_view revision = rest.substr(0, rest.find(':'));
      const bool is_full = revision.size() == 40 || revision.size() == 64;
      if (is_full && revision.size() < rest.size() &&
          std::ranges::all_of(revision, is_hexadecimal)) {
        return {};
      }
    }
    return place.wrong(mark, shown(mask_source_user(name)) +
                                 " names no full commit; expected git:REPO@COMMIT:PATH with its 40 "
                                 "hexadecimal digits");
  }

  static Result<void> check_name(const Place& place, doc::Mark mark, std::string_view name) {
    if (name.starts_with("git:")) {
      return check_revision(place, mark, name);
    }
    const auto parts = split(name, '/');
    if (name.empty() || name.starts_with('/') || name.starts_with('~') ||
        name.find("://") != std::string_view::npos || name.find('\0') != std::string_view::npos ||
        std::ranges::find(parts, "..") != parts.end()) {
      return place.wrong(mark, shown(mask_source_user(name)) +
                                   " is not below this file's folder; expected a relative "
                                   "path without ..");
    }
    return {};
  }

  /// What stands in the text itself, over what it extends.
  Result<void> read_own(const Place& place, const doc::Node& root) {
    if (const doc::Node* name = root.find("name")) {
      auto text = read_text(place, *name, "name");
      if (!text) {
        return std::move(text).error();
      }
      manifest_.name = *std::move(text);
    }
    if (const doc::Node* python = root.find("target_python")) {
      auto text = read_text(place, *python, "target_python");
      if (!text) {
        return std::move(text).error();
      }
      if (!text->starts_with('/') && !text->starts_with("~/")) {
        return place.wrong(python->mark, "target_python " + shown(*text) +
                                             " is not absolute; expected /... or ~/...");
      }
      manifest_.target_python = *std::move(text);
    }
    if (const doc::Node* closed = root.find("closed")) {
      if (auto read = read_closed(place, *closed); !read) {
        return read;
      }
    }
    auto pins = read_pins(place, root.find("pins"), root.find("files"));
    if (!pins) {
      return std::move(pins).error();
    }
    for (Pin& pin : *pins) {
      facts::FactKey key = pin.key;
      pins_.insert_or_assign(std::move(key), std::move(pin));
    }
    return {};
  }

  Result<void> read_closed(const Place& place, const doc::Node& node) {
    manifest_.closed.clear();
    manifest_.closed_level = facts::Level::should;
    const doc::Node* list = &node;
    if (node.is_mapping()) {
      if (auto known = check_keys(place, node, "closed", kClosedKeys); !known) {
        return known;
      }
      list = node.find("want");
      if (list == nullptr) {
        return place.wrong(node.mark, "closed without want; expected {want: [...], level: ...}");
      }
      if (const doc::Node* level = node.find("level")) {
        auto read = read_level(place, *level);
        if (!read) {
          return std::move(read).error();
        }
        manifest_.closed_level = *read;
      }
    }
    if (list->is_scalar()) {
      return close(place, *list);
    }
    if (list->is_mapping()) {
      return place.wrong(list->mark, "closed holds a mapping; expected a list of families");
    }
    for (const doc::Node& item : list->items) {
      if (auto read = close(place, item); !read) {
        return read;
      }
    }
    std::ranges::sort(manifest_.closed);
    if (manifest_.closed.empty()) {
      manifest_.closed_level = facts::Level::should;  // of nothing
    }
    return {};
  }

  Result<void> close(const Place& place, const doc::Node& node) {
    auto text = read_text(place, node, "an entry of closed");
    if (!text) {
      return std::move(text).error();
    }
    if (text->find('@') != std::string::npos || text->starts_with('!') ||
        text->starts_with("layer:")) {
      return place.wrong(node.mark, shown(*text) +
                                        " is no family; expected one such as env or "
                                        "python.package, * and ** allowed");
    }
    const std::vector<std::string_view> parts = split(*text, '.');
    if (std::ranges::find(parts, std::string_view()) != parts.end()) {
      return place.wrong(node.mark, "a part of " + shown(*text) +
                                        " is empty; expected a family such as env or "
                                        "python.package");
    }
    std::string family = facts::canonical_pattern(*text);
    if (auto known = facts::Selection::parse({family}); !known) {
      const std::string& why = known.error().message;
      return place.wrong(node.mark, why.find("; expected ") == std::string::npos
                                        ? why + "; expected a family of facts"
                                        : why);
    }
    if (std::ranges::find(manifest_.closed, family) != manifest_.closed.end()) {
      return place.wrong(node.mark, shown(*text) + " is closed already; expected it once");
    }
    manifest_.closed.push_back(std::move(family));
    return {};
  }

  const Fetch& fetch_;
  Manifest manifest_;
  std::map<facts::FactKey, Pin> pins_;
  std::vector<std::string> chain_;  ///< of files, each extended by the one before it
  std::size_t files_ = 1;
};

}  // namespace

const Pin* Manifest::find(const facts::FactKey& key) const {
  const auto it = std::ranges::lower_bound(pins, key, {}, &Pin::key);
  return it != pins.end() && it->key == key ? &*it : nullptr;
}

Result<Manifest> load(std::string_view text, std::string_view file, const Fetch& fetch) {
  ManifestReader reader(fetch);
  if (auto read = reader.read(text, file); !read) {
    return std::move(read).error();
  }
  return std::move(reader).manifest();
}

}  // namespace goldenv::manifest

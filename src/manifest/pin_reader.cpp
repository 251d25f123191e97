#include "manifest/pin_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"
#include "manifest/want_bounds.h"

namespace goldenv::manifest {
namespace {

constexpr std::array<std::string_view, 6> kPinKeys{"want", "level",    "when",
                                                   "why",  "artifact", "sha256"};
constexpr std::array<std::string_view, 4> kFileKeys{"sha256", "level", "when", "why"};

constexpr std::size_t kFileNameBytes = 255;

/// A condition's own errors begin "byte N: "; here N becomes a column.
Error wrong_condition(const Place& place, const doc::Node& node, std::string_view message) {
  std::string_view rest = message;
  constexpr std::string_view kByte = "byte ";
  if (!rest.starts_with(kByte)) {
    return place.wrong(node.mark, message);
  }
  rest.remove_prefix(kByte.size());
  std::size_t offset = 0;
  const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), offset);
  const auto digits = static_cast<std::size_t>(end - rest.data());
  if (failure != std::errc() || !rest.substr(digits).starts_with(": ")) {
    return place.wrong(node.mark, message);
  }
  const doc::Mark mark = place.within(node, offset);
  const bool found = mark.column != node.mark.column || offset == 0;
  return place.wrong(mark, found ? rest.substr(digits + 2) : message);
}

class PinReader {
 public:
  explicit PinReader(const Place& place) : place_(place) {}

  Result<void> read_pins(const doc::Node& node) {
    if (!node.is_mapping()) {
      return place_.wrong(node.mark, "pins is no mapping; expected `key: value` lines");
    }
    for (const doc::Node::Entry& entry : node.entries) {
      auto key = facts::resolve(entry.key);
      if (!key) {
        return place_.wrong(entry.mark, key.error().message);
      }
      auto pin = read_pin(*key, entry);
      if (!pin) {
        return std::move(pin).error();
      }
      pins_.push_back(*std::move(pin));
    }
    return {};
  }

  Result<void> read_files(const doc::Node& node) {
    if (!node.is_mapping()) {
      return place_.wrong(node.mark, "files is no mapping; expected `/path: {sha256: ...}` lines");
    }
    for (const doc::Node::Entry& entry : node.entries) {
      auto pin = read_file(entry);
      if (!pin) {
        return std::move(pin).error();
      }
      pins_.push_back(*std::move(pin));
    }
    return {};
  }

  /// Sorted; two pins on one key are an error at the later one.
  Result<std::vector<Pin>> pins() && {
    std::ranges::stable_sort(pins_, [](const Pin& a, const Pin& b) {
      return std::pair(a.key, a.mark) < std::pair(b.key, b.mark);
    });
    const auto twice = std::ranges::adjacent_find(
        pins_, [](const Pin& a, const Pin& b) { return a.key == b.key; });
    if (twice != pins_.end()) {
      const Pin& again = *std::next(twice);
      return place_.wrong(again.mark, "a second pin on " + shown(again.key.text()) + ", first at " +
                                          std::to_string(twice->mark.line) + ":" +
                                          std::to_string(twice->mark.column) +
                                          "; expected each fact once, however it is spelled");
    }
    return std::move(pins_);
  }

 private:
  Pin begin(const facts::Resolved& key, doc::Mark mark) const {
    Pin pin;
    pin.key = {key.name, key.label};
    pin.file = place_.file;
    pin.mark = mark;
    return pin;
  }

  Result<Pin> read_pin(const facts::Resolved& key, const doc::Node::Entry& entry) const {
    Pin pin = begin(key, entry.mark);
    const doc::Node& node = entry.value;
    const doc::Node* want = &node;
    if (node.is_mapping() && is_long_form(key, node)) {
      if (auto known = check_keys(place_, node, "a pin", kPinKeys); !known) {
        return std::move(known).error();
      }
      want = node.find("want");
      if (want == nullptr) {
        return place_.wrong(node.mark, "a pin without want; expected {want: ...}");
      }
      if (auto rest = read_rest(node, pin); !rest) {
        return std::move(rest).error();
      }
      if (auto artifact = read_artifact(key, node, pin); !artifact) {
        return std::move(artifact).error();
      }
    }
    GOLDENV_TRY(pin.want, facts::parse_want(key, *want, place_.file));
    if (!pin.sha256.empty() && pin.want.kind != facts::Want::Kind::exact) {
      return place_.wrong(want->mark, "an artifact of what is no one version; expected a version");
    }
    if (const std::string why = impossible(key, pin.want); !why.empty()) {
      return place_.wrong(want->mark, why);
    }
    if (key.name == "file") {
      if (auto digest = read_digest(want->mark, pin.want); !digest) {
        return std::move(digest).error();
      }
    }
    return pin;
  }

  /// Puts the digest that a pin on a file wants into the form in which it is found.
  Result<void> read_digest(doc::Mark mark, facts::Want& want) const {
    for (facts::Want& one : want.any) {
      if (auto digest = read_digest(mark, one); !digest) {
        return digest;
      }
    }
    if (want.kind != facts::Want::Kind::exact && want.kind != facts::Want::Kind::differs) {
      return {};
    }
    const auto sha256 = Sha256::parse(want.value.text);
    if (!sha256) {
      return place_.wrong(
          mark, shown(want.value.text) + " is no SHA-256 digest; expected 64 hexadecimal digits");
    }
    want.value = facts::Value::scalar(sha256->hex());
    return {};
  }

  /// Whether a mapping is {want: ...} and not the value of a key that is a map.
  static bool is_long_form(const facts::Resolved& key, const doc::Node& node) {
    if (node.find("want") != nullptr) {
      return true;
    }
    const bool may_be_value =
        key.entry->type == facts::Type::map || key.entry->many == facts::Many::all;
    return !may_be_value && std::ranges::any_of(node.entries, [](const doc::Node::Entry& entry) {
      return std::ranges::find(kPinKeys, entry.key) != kPinKeys.end() ||
             !nearest(entry.key, kPinKeys).empty();
    });
  }

  Result<Pin> read_file(const doc::Node::Entry& entry) const {
    if (!entry.key.starts_with('/') && !entry.key.starts_with("~/")) {
      return place_.wrong(
          entry.mark, "the path " + shown(entry.key) + " is not absolute; expected /... or ~/...");
    }
    auto key = facts::resolve("file@" + entry.key);
    if (!key) {
      return place_.wrong(entry.mark, key.error().message);
    }
    Pin pin = begin(*key, entry.mark);
    const doc::Node& node = entry.value;
    if (node.is_scalar() && (node.text == "absent" || node.text == "any")) {
      GOLDENV_TRY(pin.want, facts::parse_want(*key, node, place_.file));
      return pin;
    }
    if (!node.is_mapping()) {
      return place_.wrong(node.mark, "no {sha256: ...} for this file; expected one, or absent");
    }
    if (auto known = check_keys(place_, node, "a file", kFileKeys); !known) {
      return std::move(known).error();
    }
    const doc::Node* digest = node.find("sha256");
    if (digest == nullptr) {
      return place_.wrong(node.mark, "a file without sha256; expected {sha256: ...}");
    }
    if (auto rest = read_rest(node, pin); !rest) {
      return std::move(rest).error();
    }
    const bool word = digest->is_scalar() && (digest->text == "absent" || digest->text == "any");
    if (word) {
      GOLDENV_TRY(pin.want, facts::parse_want(*key, *digest, place_.file));
      return pin;
    }
    GOLDENV_TRY(const std::string text, read_text(place_, *digest, "sha256"));
    pin.want.value = facts::Value::scalar(text);
    if (auto read = read_digest(digest->mark, pin.want); !read) {
      return std::move(read).error();
    }
    return pin;
  }

  /// The file that a version was installed from.
  Result<void> read_artifact(const facts::Resolved& key, const doc::Node& node, Pin& pin) const {
    const doc::Node* const artifact = node.find("artifact");
    const doc::Node* const sha256 = node.find("sha256");
    if (artifact == nullptr && sha256 == nullptr) {
      return {};
    }
    const doc::Mark mark = (artifact != nullptr ? artifact : sha256)->mark;
    if (key.entry->type != facts::Type::version) {
      return place_.wrong(mark, shown(key.name) + " is no version, and has no artifact");
    }
    if (sha256 == nullptr) {
      return place_.wrong(mark, "an artifact without sha256; expected both, or sha256 alone");
    }
    GOLDENV_TRY(const std::string digits, read_text(place_, *sha256, "sha256"));
    const auto digest = Sha256::parse(digits);
    if (!digest) {
      return place_.wrong(sha256->mark, shown(digits) +
                                            " is no SHA-256 digest; expected 64 "
                                            "hexadecimal digits");
    }
    pin.sha256 = digest->hex();
    if (artifact != nullptr) {
      GOLDENV_TRY(pin.artifact, read_text(place_, *artifact, "artifact"));
      const bool odd = std::ranges::any_of(pin.artifact, [](char c) {
        return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
      });
      if (odd || pin.artifact.empty() || pin.artifact.size() > kFileNameBytes) {
        return place_.wrong(artifact->mark,
                            shown(pin.artifact) + " is no file name; expected one without folders");
      }
    }
    return {};
  }

  Result<void> read_rest(const doc::Node& node, Pin& pin) const {
    if (const doc::Node* level = node.find("level")) {
      auto read = read_level(place_, *level);
      if (!read) {
        return std::move(read).error();
      }
      pin.level = *read;
    }
    if (const doc::Node* when = node.find("when")) {
      auto text = read_text(place_, *when, "when");
      if (!text) {
        return std::move(text).error();
      }
      auto condition = facts::Condition::parse(*text);
      if (!condition) {
        return wrong_condition(place_, *when, condition.error().message);
      }
      pin.when = *std::move(condition);
    }
    if (const doc::Node* why = node.find("why")) {
      auto text = read_text(place_, *why, "why");
      if (!text) {
        return std::move(text).error();
      }
      pin.why = *std::move(text);
    }
    return {};
  }

  Place place_;
  std::vector<Pin> pins_;
};

}  // namespace

Result<std::vector<Pin>> read_pins(const Place& place, const doc::Node* pins,
                                   const doc::Node* files) {
  PinReader reader(place);
  // A key with nothing behind it is an empty list: what is left when the last pin is deleted.
  if (pins != nullptr && !pins->is_null()) {
    if (auto read = reader.read_pins(*pins); !read) {
      return std::move(read).error();
    }
  }
  if (files != nullptr && !files->is_null()) {
    if (auto read = reader.read_files(*files); !read) {
      return std::move(read).error();
    }
  }
  return std::move(reader).pins();
}

}  // namespace goldenv::manifest

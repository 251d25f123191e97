#include "doc/node.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/url.h"
#include "doc/bytes.h"
#include "doc/quick_reader.h"
#include "doc/reader.h"
#include "doc/unicode.h"

namespace goldenv::doc {

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) {
      return &entry.value;
    }
  }
  return nullptr;
}

Node Node::scalar(std::string text, bool quoted) {
  Node node;
  node.kind = Kind::scalar;
  node.text = std::move(text);
  node.quoted = quoted;
  return node;
}

Node Node::sequence(std::vector<Node> items) {
  Node node;
  node.kind = Kind::sequence;
  node.items = std::move(items);
  return node;
}

Node Node::mapping(std::vector<Entry> entries) {
  Node node;
  node.kind = Kind::mapping;
  node.entries = std::move(entries);
  return node;
}

bool same(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.items.size() != b.items.size() ||
      a.entries.size() != b.entries.size()) {
    return false;
  }
  if (a.kind == Node::Kind::scalar && a.text != b.text) {
    return false;
  }
  return std::equal(a.items.begin(), a.items.end(), b.items.begin(), same) &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(),
                    [](const Node::Entry& x, const Node::Entry& y) {
                      return x.key == y.key && same(x.value, y.value);
                    });
}

namespace {

Result<Node> parse(std::string_view text, Format format, std::string_view name,
                   const Limits& limits, Parts* parts) {
  GOLDENV_TRY(const std::string_view clean, check_encoding(text, format, name, limits));
  // The quick readers know nothing of characters that stand for bytes.
  const bool plain = !may_hold_bytes(clean);
  if (auto quick = !plain                   ? std::optional<Node>()
                   : format == Format::json ? read_quick_json(clean, limits, parts)
                                            : read_quick_yaml(clean, limits, parts)) {
    return *std::move(quick);
  }
  return format == Format::json ? read_json(clean, name, limits) : read_yaml(clean, name, limits);
}

}  // namespace

Result<Node> parse(std::string_view text, Format format, std::string_view name,
                   const Limits& limits) {
  return parse(text, format, name, limits, nullptr);
}

Result<Node> parse_parts(std::string_view text, Format format, std::string_view name, Parts& parts,
                         const Limits& limits) {
  GOLDENV_TRY(Node root, parse(text, format, name, limits, &parts));
  for (Node::Entry& top : root.entries) {
    if (top.key != parts.under) {
      continue;
    }
    // The general reader has held all of them; a quick one that gave up has handed over the first.
    for (std::size_t i = parts.taken; i < top.value.entries.size(); ++i) {
      parts.take(top.value.entries[i]);
    }
    parts.taken = std::max(parts.taken, top.value.entries.size());
    top.value.entries.clear();
  }
  return root;
}

Format guess_format(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    text.remove_prefix(3);
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  return json ? Format::json : Format::yaml;
}

Error error_at(std::string_view name, Mark mark, std::string_view message) {
  Error error;
  error.code = Errc::malformed;
  error.message = std::string(name) + ":" + std::to_string(mark.line) + ":" +
                  std::to_string(mark.column) + ": " + std::string(message);
  return error;
}

Error too_large_at(std::string_view name, Mark mark, std::string_view message) {
  Error error = error_at(name, mark, "too large: " + std::string(message));
  error.code = Errc::too_large;
  return error;
}

Error too_deep_at(std::string_view name, Mark mark, const Limits& limits) {
  return too_large_at(
      name, mark,
      "nested more than " + std::to_string(limits.depth) + " levels deep; expected fewer");
}

Error duplicate_at(std::string_view name, const std::vector<Node::Entry>& entries,
                   const Duplicate& duplicate) {
  const Node::Entry& first = entries[duplicate.first];
  const Node::Entry& second = entries[duplicate.second];
  return error_at(name, second.mark,
                  "duplicate key " + snippet(second.key) + ", first at " +
                      std::to_string(first.mark.line) + ":" + std::to_string(first.mark.column) +
                      "; expected each key once");
}

std::string Budget::excess() const {
  return nodes_ > limits_.nodes ? "more than " + std::to_string(limits_.nodes) +
                                      " nodes, aliases expanded; expected fewer"
                                : "more than " + std::to_string(limits_.bytes) +
                                      " bytes of text, aliases expanded; expected less";
}

Duplicate find_duplicate(const std::vector<Node::Entry>& entries) {
  const auto not_ascending = std::adjacent_find(
      entries.begin(), entries.end(),
      [](const Node::Entry& a, const Node::Entry& b) { return !(a.key < b.key); });
  if (not_ascending == entries.end()) {
    return {};
  }
  constexpr std::size_t kFew = 16;
  if (entries.size() <= kFew) {
    for (std::size_t second = 1; second < entries.size(); ++second) {
      for (std::size_t first = 0; first < second; ++first) {
        if (entries[first].key == entries[second].key) {
          return {first, second, true};
        }
      }
    }
    return {};
  }
  // Sorted and not hashed: no choice of keys makes this slow.
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int by_key = entries[a].key.compare(entries[b].key);
    return by_key != 0 ? by_key < 0 : a < b;
  });
  Duplicate found;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (entries[order[i - 1]].key == entries[order[i]].key &&
        (!found.found || order[i] < found.second)) {
      found = {order[i - 1], order[i], true};
    }
  }
  return found;
}

std::string snippet(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  // Masked before it is cut: without its '@' a user part could not be told.
  const std::string whole = mask_users(text);
  if (whole.size() <= kLongest) {
    return quote_json(whole);
  }
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(whole[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  return quote_json(std::string_view(whole).substr(0, end)) + "...";
}

}  // namespace goldenv::doc

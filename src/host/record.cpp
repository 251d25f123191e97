#include "host/record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "doc/node.h"
#include "host/path.h"

namespace goldenv::host {
namespace {

using doc::Node;

constexpr std::string_view kAllBelow = "/**";

constexpr std::array<std::pair<std::string_view, Errc>, 5> kAnswers{{
    {"absent", Errc::absent},
    {"denied", Errc::denied},
    {"timed-out", Errc::timed_out},
    {"too-large", Errc::too_large},
    {"unreadable", Errc::unreadable},
}};

/// One text with its name, for errors.
class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) {}

  [[nodiscard]] Error error(const Node& node, std::string_view message) const {
    return doc::error_at(name_, node.mark, message);
  }

  [[nodiscard]] Result<std::string> text(const Node& node, std::string_view what) const {
    if (!node.is_scalar()) {
      return error(node, std::string(what) + ": expected a text");
    }
    return node.text;
  }

  [[nodiscard]] Result<std::string> path(std::string_view text, const Node& at) const {
    Result<std::string> clean = clean_path(text);
    if (!clean) {
      return error(at, "expected an absolute path, not " + doc::quote_json(text));
    }
    if (std::ranges::count(split(*clean, '/'), "..") != 0) {
      return error(at, "expected a path without `..`, not " + doc::quote_json(text));
    }
    return clean;
  }

  [[nodiscard]] Result<std::vector<std::pair<std::string, const Node*>>> paths_to(
      const Node& node, std::string_view what) const {
    if (!node.is_mapping()) {
      return error(node, std::string(what) + ": expected a mapping of paths");
    }
    std::vector<std::pair<std::string, const Node*>> out;
    for (const Node::Entry& entry : node.entries) {
      Node key;
      key.mark = entry.mark;
      GOLDENV_TRY(std::string clean, path(entry.key, key));
      out.emplace_back(std::move(clean), &entry.value);
    }
    return out;
  }

  [[nodiscard]] Result<std::vector<std::string>> texts(const Node& node,
                                                       std::string_view what) const {
    if (!node.is_sequence()) {
      return error(node, std::string(what) + ": expected a list");
    }
    std::vector<std::string> out;
    for (const Node& item : node.items) {
      GOLDENV_TRY(std::string value, text(item, what));
      out.push_back(std::move(value));
    }
    return out;
  }

  [[nodiscard]] Result<std::map<std::string, Errc>> answers(const Node& node,
                                                            std::string_view what) const {
    GOLDENV_TRY(const auto paths, paths_to(node, what));
    std::map<std::string, Errc> out;
    for (const auto& [path, value] : paths) {
      GOLDENV_TRY(const std::string word, text(*value, path));
      const auto* answer =
          std::ranges::find(kAnswers, word, &std::pair<std::string_view, Errc>::first);
      if (answer == kAnswers.end()) {
        return error(*value, "expected absent, denied, unreadable, timed-out or too-large, not " +
                                 doc::quote_json(word));
      }
      out[path] = answer->second;
    }
    return out;
  }

  [[nodiscard]] Result<void> uname(const Node& node, Record& record) const {
    if (!node.is_mapping()) {
      return error(node, "uname: expected a mapping");
    }
    for (const Node::Entry& entry : node.entries) {
      GOLDENV_TRY(std::string value, text(entry.value, "uname." + entry.key));
      if (entry.key == "node") {
        record.node = std::move(value);
      } else if (entry.key == "release") {
        record.release = std::move(value);
      } else if (entry.key == "version") {
        record.version = std::move(value);
      } else if (entry.key == "machine") {
        record.machine = std::move(value);
      } else {
        return unknown(entry, "node, release, version or machine");
      }
    }
    return {};
  }

  [[nodiscard]] Result<void> spaces(const Node& node, Record& record) const {
    GOLDENV_TRY(const auto paths, paths_to(node, "space"));
    for (const auto& [path, value] : paths) {
      if (!value->is_mapping()) {
        return error(*value, "expected {total: BYTES, free: BYTES}");
      }
      Space space;
      for (const Node::Entry& entry : value->entries) {
        GOLDENV_TRY(const std::string number, text(entry.value, entry.key));
        const std::optional<std::uint64_t> bytes = to_number(number);
        if (!bytes) {
          return error(entry.value, "expected a number of bytes, not " + doc::quote_json(number));
        }
        if (entry.key == "total") {
          space.total_bytes = *bytes;
        } else if (entry.key == "free") {
          space.free_bytes = *bytes;
        } else {
          return unknown(entry, "total or free");
        }
      }
      if (value->find("total") == nullptr || value->find("free") == nullptr) {
        return error(*value, "expected both total and free");
      }
      record.spaces[path] = space;
    }
    return {};
  }

  [[nodiscard]] Result<void> complete(const Node& node, Record& record) const {
    GOLDENV_TRY(const std::vector<std::string> folders, texts(node, "complete"));
    for (const std::string_view folder : folders) {
      const bool all = folder.ends_with(kAllBelow);
      std::string_view text = folder;
      text.remove_suffix(all ? kAllBelow.size() : 0);
      GOLDENV_TRY(std::string clean, path(all && text.empty() ? "/" : text, node));
      (all ? record.complete_below : record.complete).insert(std::move(clean));
    }
    return {};
  }

  [[nodiscard]] Result<void> partial(const Node& node, Record& record) const {
    GOLDENV_TRY(const std::vector<std::string> folders, texts(node, "partial"));
    record.partial.clear();
    record.partial_given = true;
    for (const std::string& folder : folders) {
      GOLDENV_TRY(std::string clean, path(folder, node));
      record.partial.push_back(std::move(clean));
    }
    return {};
  }

  [[nodiscard]] Error unknown(const Node::Entry& entry, std::string_view expected) const {
    return doc::error_at(
        name_, entry.mark,
        "unknown key " + doc::quote_json(entry.key) + ", expected " + std::string(expected));
  }

 private:
  std::string_view name_;
};

Result<void> read_entry(const Reader& reader, const Node::Entry& entry, Record& record) {
  const Node& value = entry.value;
  if (entry.key == "goldenv_record") {
    if (value.is_scalar() && value.text == "0") {
      return {};
    }
    return reader.error(value, "a record of another format than 0; a newer goldenv may read it");
  }
  if (entry.key == "uname") {
    return reader.uname(value, record);
  }
  if (entry.key == "space") {
    return reader.spaces(value, record);
  }
  if (entry.key == "answers") {
    GOLDENV_TRY(record.answers, reader.answers(value, "answers"));
    return {};
  }
  if (entry.key == "contents") {
    GOLDENV_TRY(record.contents, reader.answers(value, "contents"));
    return {};
  }
  if (entry.key == "complete") {
    return reader.complete(value, record);
  }
  if (entry.key == "partial") {
    return reader.partial(value, record);
  }
  if (entry.key == "withheld") {
    GOLDENV_TRY(record.withheld, reader.texts(value, "withheld"));
    return {};
  }
  return reader.unknown(
      entry, "goldenv_record, uname, space, answers, contents, complete, partial or withheld");
}

}  // namespace

Result<Record> Record::parse(std::string_view text, std::string_view name) {
  GOLDENV_TRY(const Node root, doc::parse(text, doc::Format::yaml, name));
  const Reader reader(name);
  if (!root.is_mapping() || root.find("goldenv_record") == nullptr) {
    return reader.error(root, "expected a record, which begins `goldenv_record: 0`");
  }
  Record record;
  for (const Node::Entry& entry : root.entries) {
    if (Result<void> done = read_entry(reader, entry, record); !done) {
      return std::move(done).error();
    }
  }
  return record;
}

std::optional<Errc> Record::answer(std::string_view path) const {
  if (answers.empty()) {
    return {};
  }
  for (std::string_view at = path;; at = folder_of(at)) {
    const auto it = answers.find(std::string(at));
    if (it != answers.end()) {
      return it->second;
    }
    if (at == "/") {
      return {};
    }
  }
}

bool Record::is_complete(std::string_view folder) const {
  if (complete.contains(std::string(folder))) {
    return true;
  }
  return std::ranges::any_of(complete_below,
                             [&](const std::string& top) { return is_within(folder, top); });
}

bool Record::is_partial(std::string_view path) const {
  return std::ranges::any_of(partial, [&](const std::string& top) { return is_within(path, top); });
}

std::optional<Space> Record::space(std::string_view path) const {
  for (std::string_view at = path;; at = folder_of(at)) {
    const auto it = spaces.find(std::string(at));
    if (it != spaces.end()) {
      return it->second;
    }
    if (at == "/") {
      return {};
    }
  }
}

}  // namespace goldenv::host

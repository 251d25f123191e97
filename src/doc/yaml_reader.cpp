#include <yaml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "doc/bytes.h"
#include "doc/reader.h"
#include "doc/yaml_problem.h"

namespace goldenv::doc {
namespace {

/// Each is found again by a path from the root, so that many of them in a deep tree cost memory.
constexpr std::size_t kMaxAnchors = 1000;

std::string_view view(const yaml_char_t* text) {
  return text == nullptr ? std::string_view{}
                         : std::string_view(reinterpret_cast<const char*>(text));
}

/// libyaml's parser and the event it gave last.
class Events {
 public:
  explicit Events(std::string_view text) : text_(text), positions_(text) {
    // It fails only when memory is out; next() then fails too.
    ready_ = yaml_parser_initialize(&parser_) != 0;
    if (ready_) {
      yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
      yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                   text.size());
    }
    ascii_ = std::all_of(text.begin(), text.end(),
                         [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  }
  ~Events() {
    drop();
    if (ready_) {
      yaml_parser_delete(&parser_);
    }
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  /// False at an error, which `problem` then tells.
  bool next() {
    drop();
    held_ = ready_ && yaml_parser_parse(&parser_, &event_) != 0;
    return held_;
  }
  [[nodiscard]] const yaml_event_t& event() const { return event_; }
  Mark mark() { return mark_of(event_.start_mark); }

  Error problem(std::string_view name) {
    if (!ready_ || parser_.error == YAML_MEMORY_ERROR) {
      return Error{Errc::failed, std::string(name) + ": out of memory", {}};
    }
    const std::size_t at = offset_of(parser_.problem_mark);
    const YamlProblem problem = explain_yaml(parser_.problem == nullptr ? "" : parser_.problem,
                                             parser_.context == nullptr ? "" : parser_.context,
                                             at < text_.size() ? text_[at] : '\0');
    const bool at_context = problem.at_context && parser_.context != nullptr;
    return error_at(name, mark_of(at_context ? parser_.context_mark : parser_.problem_mark),
                    problem.says);
  }

 private:
  void drop() {
    if (held_) {
      yaml_event_delete(&event_);
      held_ = false;
    }
  }

  /// libyaml counts characters; this goes on from the last mark, so that all cost one pass.
  std::size_t offset_of(const yaml_mark_t& mark) {
    if (ascii_) {
      return mark.index;
    }
    if (mark.index < characters_) {
      characters_ = offset_ = 0;
    }
    while (characters_ < mark.index && offset_ < text_.size()) {
      ++offset_;
      while (offset_ < text_.size() &&
             (static_cast<unsigned char>(text_[offset_]) & 0xC0U) == 0x80U) {
        ++offset_;
      }
      ++characters_;
    }
    return offset_;
  }
  Mark mark_of(const yaml_mark_t& mark) {
    return ascii_ ? Mark{mark.line + 1, mark.column + 1} : positions_.at(offset_of(mark));
  }

  std::string_view text_;
  Positions positions_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool ready_ = false;
  bool held_ = false;
  bool ascii_ = false;
  std::size_t characters_ = 0;
  std::size_t offset_ = 0;
};

/// Builds the tree in place: a pointer to an open container stays valid, since only the innermost
/// one grows.
class TreeBuilder {
 public:
  TreeBuilder(Events& events, std::string_view name, const Limits& limits)
      : events_(events), name_(name), limits_(limits), budget_(limits) {}

  /// The document whose start was the last event, up to and with its end.
  Result<Node> build() {
    do {
      if (!events_.next()) {
        return events_.problem(name_);
      }
      if (events_.event().type == YAML_DOCUMENT_END_EVENT) {
        break;
      }
      take();
    } while (!error_);
    if (error_) {
      return *std::move(error_);
    }
    return std::move(root_);
  }

 private:
  struct Open {
    Node* node;
    bool at_key = false;  ///< of a mapping: the next node is a key
    std::string anchor;
  };
  struct Anchor {
    std::vector<std::size_t> path;  ///< of indices, from the root
    bool complete = false;
  };

  void fail(Mark mark, std::string_view message) { error_ = error_at(name_, mark, message); }

  void take() {
    const yaml_event_t& event = events_.event();
    switch (event.type) {
      case YAML_SCALAR_EVENT:
        return take_scalar(event.data.scalar);
      case YAML_ALIAS_EVENT:
        return take_alias(view(event.data.alias.anchor));
      case YAML_SEQUENCE_START_EVENT:
        return open(Node::Kind::sequence, event.data.sequence_start.anchor,
                    event.data.sequence_start.tag);
      case YAML_MAPPING_START_EVENT:
        return open(Node::Kind::mapping, event.data.mapping_start.anchor,
                    event.data.mapping_start.tag);
      default:  // the end of a sequence or mapping
        return close();
    }
  }

  [[nodiscard]] bool at_key() const { return !open_.empty() && open_.back().at_key; }

  void take_scalar(const auto& scalar) {
    const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    const bool quoted = scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (scalar.tag != nullptr) {
      return refuse_tag(scalar.tag);
    }
    if (at_key()) {
      return take_key(text, quoted, scalar.anchor != nullptr);
    }
    Node* node = add(text.size());
    if (node == nullptr) {
      return;
    }
    node->text.assign(text);
    node->quoted = quoted;
    node->kind = quoted || !is_null(text) ? Node::Kind::scalar : Node::Kind::null;
    if (scalar.anchor != nullptr) {
      remember(view(scalar.anchor), true);
    }
  }

  static bool is_null(std::string_view text) {
    return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
  }

  void take_key(std::string_view text, bool quoted, bool anchored) {
    const Mark mark = events_.mark();
    if (anchored) {
      return fail(mark, "an anchor on a key; expected a plain key");
    }
    if (!quoted && text.empty()) {
      return fail(mark, "a key is missing before ':'; expected `key: value`");
    }
    if (!quoted && text == "<<") {
      return fail(mark, "merge keys (<<) are not read; expected the keys themselves");
    }
    if (!budget_.take(0, text.size())) {
      error_ = too_large_at(name_, mark, budget_.excess());
      return;
    }
    Node::Entry& entry = open_.back().node->entries.emplace_back();
    entry.key.assign(text);
    entry.mark = mark;
    open_.back().at_key = false;
  }

  void refuse_tag(const yaml_char_t* tag) {
    fail(events_.mark(), "the tag " + snippet(view(tag)) + "; expected a value without one");
  }

  void open(Node::Kind kind, const yaml_char_t* anchor, const yaml_char_t* tag) {
    if (tag != nullptr) {
      return refuse_tag(tag);
    }
    if (at_key()) {
      return fail(events_.mark(), "a list or mapping as a key; expected text");
    }
    Node* node = add(0);
    if (node == nullptr) {
      return;
    }
    node->kind = kind;
    if (open_.size() >= limits_.depth) {
      error_ = too_deep_at(name_, node->mark, limits_);
      return;
    }
    if (anchor != nullptr) {
      remember(view(anchor), false);
    }
    open_.push_back({node, kind == Node::Kind::mapping, std::string(view(anchor))});
  }

  void close() {
    const auto& entries = open_.back().node->entries;
    if (const Duplicate duplicate = find_duplicate(entries); duplicate.found) {
      error_ = duplicate_at(name_, entries, duplicate);
      return;
    }
    if (const std::string& anchor = open_.back().anchor; !anchor.empty()) {
      anchors_[anchor].complete = true;
    }
    open_.pop_back();
  }

  /// A place for the next value, or nullptr when there may be no more.
  Node* add(std::size_t bytes) {
    const Mark mark = events_.mark();
    if (!budget_.take(1, bytes)) {
      error_ = too_large_at(name_, mark, budget_.excess());
      return nullptr;
    }
    Node* node = &root_;
    if (!open_.empty()) {
      Node& parent = *open_.back().node;
      node = parent.is_mapping() ? &parent.entries.back().value : &parent.items.emplace_back();
      open_.back().at_key = parent.is_mapping();
    }
    node->mark = mark;
    return node;
  }

  /// Anchors the node added last.
  void remember(std::string_view anchor, bool complete) {
    if (++anchors_seen_ > kMaxAnchors) {
      error_ =
          too_large_at(name_, events_.mark(),
                       "more than " + std::to_string(kMaxAnchors) + " anchors; expected fewer");
      return;
    }
    Anchor& made = anchors_[std::string(anchor)];
    made.complete = complete;
    made.path.clear();
    for (const Open& level : open_) {
      made.path.push_back(
          (level.node->is_mapping() ? level.node->entries.size() : level.node->items.size()) - 1);
    }
  }

  void take_alias(std::string_view name) {
    const Mark mark = events_.mark();
    if (at_key()) {
      return fail(mark, "an alias as a key; expected text");
    }
    const auto found = anchors_.find(std::string(name));
    if (found == anchors_.end()) {
      return fail(mark, "no anchor " + snippet(name) + " before this alias; expected one");
    }
    if (!found->second.complete) {
      return fail(mark, "the alias " + snippet(name) +
                            " stands inside the node it names; expected no recursion");
    }
    const Node* target = &root_;
    for (const std::size_t index : found->second.path) {
      target = target->is_mapping() ? &target->entries[index].value : &target->items[index];
    }
    // Counted before it is copied: a bomb costs no memory.
    if (!charge(*target, open_.size(), mark)) {
      return;
    }
    Node copy = *target;  // `add` may move what target points to
    Node* node = add(0);
    if (node != nullptr) {
      *node = std::move(copy);
      node->mark = mark;
    }
  }

  /// Counts an alias's nodes; what `add` counts for its root is left out.
  bool charge(const Node& node, std::size_t depth, Mark mark, bool root = true) {
    if ((node.is_mapping() || node.is_sequence()) && depth >= limits_.depth) {
      error_ = too_deep_at(name_, mark, limits_);
      return false;
    }
    if (!budget_.take(root ? 0 : 1, node.text.size())) {
      error_ = too_large_at(name_, mark, budget_.excess());
      return false;
    }
    for (const Node& item : node.items) {
      if (!charge(item, depth + 1, mark, false)) {
        return false;
      }
    }
    for (const Node::Entry& entry : node.entries) {
      if (!budget_.take(0, entry.key.size())) {
        error_ = too_large_at(name_, mark, budget_.excess());
        return false;
      }
      if (!charge(entry.value, depth + 1, mark, false)) {
        return false;
      }
    }
    return true;
  }

  Events& events_;
  std::string_view name_;
  Limits limits_;
  Budget budget_;
  Node root_;
  std::vector<Open> open_;
  std::map<std::string, Anchor> anchors_;
  std::size_t anchors_seen_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<Node> read_yaml(std::string_view text, std::string_view name, const Limits& limits) {
  Events events(text);
  Node root;
  bool read = false;
  while (events.next()) {
    switch (events.event().type) {
      case YAML_STREAM_END_EVENT:
        if (may_hold_bytes(text)) {
          if (Result<void> restored = restore_bytes(root, name); !restored) {
            return std::move(restored).error();
          }
        }
        return root;
      case YAML_DOCUMENT_START_EVENT: {
        const auto& start = events.event().data.document_start;
        if (read) {
          return error_at(name, events.mark(), "a second document; expected one");
        }
        if (start.tag_directives.start != start.tag_directives.end) {
          return error_at(name, events.mark(), "a %TAG directive; expected no tags");
        }
        GOLDENV_TRY(root, TreeBuilder(events, name, limits).build());
        read = true;
        break;
      }
      default:  // the start of the stream
        break;
    }
  }
  return events.problem(name);
}

}  // namespace goldenv::doc

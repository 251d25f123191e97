#include "host/recording.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "doc/node.h"
#include "host/path.h"

namespace goldenv::host {
namespace {

using doc::Node;
using Kind = FileStatus::Kind;

constexpr int kHopLimit = 40;  // as the kernel's
constexpr std::string_view kMark = "\nplaces:";

constexpr std::array<std::pair<std::string_view, Kind>, 7> kKinds{{
    {"file", Kind::file},
    {"folder", Kind::folder},
    {"link", Kind::link},
    {"fifo", Kind::fifo},
    {"socket", Kind::socket},
    {"device", Kind::device},
    {"other", Kind::other},
}};
/// The letter that stands before a name in a folder's list.
constexpr std::string_view kLetters = "-dlpsco";

constexpr std::array<std::pair<std::string_view, Errc>, 9> kCodes{{
    {"absent", Errc::absent},
    {"denied", Errc::denied},
    {"unreadable", Errc::unreadable},
    {"timed-out", Errc::timed_out},
    {"too-large", Errc::too_large},
    {"not-live", Errc::not_live},
    {"not-collected", Errc::not_collected},
    {"malformed", Errc::malformed},
    {"failed", Errc::failed},
}};

template <typename Table, typename Value>
std::string_view word_of(const Table& table, Value value) {
  const auto* at = std::ranges::find(table, value, &Table::value_type::second);
  return at == table.end() ? table.back().first : at->first;
}

/// "file 644 0 0 1234 64768 12 1700000000000000000 1700000000000000000".
std::string status_text(const FileStatus& status) {
  std::string mode;
  for (std::uint32_t rest = status.mode; rest != 0 || mode.empty(); rest /= 8) {
    mode.insert(mode.begin(), static_cast<char>('0' + rest % 8));
  }
  std::string text = std::string(word_of(kKinds, status.kind)) + ' ' + mode;
  for (const std::uint64_t number : {std::uint64_t{status.uid}, std::uint64_t{status.gid},
                                     status.size_bytes, status.device, status.inode}) {
    text += ' ' + std::to_string(number);
  }
  return text + ' ' + std::to_string(status.mtime_ns) + ' ' + std::to_string(status.ctime_ns);
}

std::optional<std::int64_t> signed_number(std::string_view text) {
  const bool minus = text.starts_with('-');
  const auto number = to_number(text.substr(minus ? 1 : 0));
  if (!number || *number > static_cast<std::uint64_t>(INT64_MAX)) {
    return std::nullopt;
  }
  const auto value = static_cast<std::int64_t>(*number);
  return minus ? -value : value;
}

std::optional<FileStatus> parse_status(std::string_view text) {
  const auto fields = words(text);
  if (fields.size() != 9) {
    return std::nullopt;
  }
  const auto* kind =
      std::ranges::find(kKinds, fields[0], &std::pair<std::string_view, Kind>::first);
  FileStatus status;
  for (const char c : fields[1]) {
    if (c < '0' || c > '7' || fields[1].size() > 5) {
      return std::nullopt;
    }
    status.mode = status.mode * 8 + static_cast<std::uint32_t>(c - '0');
  }
  std::array<std::uint64_t, 5> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = to_number(fields[i + 2]);
    if (!number) {
      return std::nullopt;
    }
    numbers[i] = *number;
  }
  const auto mtime = signed_number(fields[7]);
  const auto ctime = signed_number(fields[8]);
  if (kind == kKinds.end() || !mtime || !ctime || numbers[0] > UINT32_MAX ||
      numbers[1] > UINT32_MAX) {
    return std::nullopt;
  }
  status.kind = kind->second;
  status.uid = static_cast<std::uint32_t>(numbers[0]);
  status.gid = static_cast<std::uint32_t>(numbers[1]);
  status.size_bytes = numbers[2];
  status.device = numbers[3];
  status.inode = numbers[4];
  status.mtime_ns = *mtime;
  status.ctime_ns = *ctime;
  return status;
}

Node text_node(std::string text) { return Node::scalar(std::move(text), true); }

void put(Node& mapping, std::string key, Node value) {
  mapping.entries.push_back({std::move(key), {}, std::move(value)});
}

Node place_node(const Recording::Place& place) {
  Node node = Node::mapping({});
  if (place.link) {
    put(node, "link", text_node(*place.link));
  }
  if (place.status) {
    put(node, "status", text_node(status_text(*place.status)));
  }
  if (place.has_content) {
    put(node, "content", Node::scalar("true"));
  }
  if (place.names) {
    Node list = Node::sequence({});
    for (const DirEntry& entry : *place.names) {
      list.items.push_back(text_node(kLetters[static_cast<std::size_t>(entry.kind)] + entry.name));
    }
    put(node, "names", std::move(list));
  }
  if (!place.answers.empty()) {
    Node answers = Node::mapping({});
    for (const auto& [question, answer] : place.answers) {
      put(answers, question, text_node(answer));
    }
    put(node, "answers", std::move(answers));
  }
  return node;
}

class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) {}

  [[nodiscard]] Error wrong(const Node& node, std::string_view expected) const {
    return doc::error_at(name_, node.mark, "expected " + std::string(expected));
  }
  [[nodiscard]] Result<std::string> text(const Node& node) const {
    if (!node.is_scalar()) {
      return wrong(node, "a text");
    }
    return node.text;
  }
  [[nodiscard]] Result<std::map<std::string, std::string>> texts(const Node& node) const {
    if (!node.is_mapping()) {
      return wrong(node, "a mapping of texts");
    }
    std::map<std::string, std::string> out;
    for (const Node::Entry& entry : node.entries) {
      GOLDENV_TRY(out[entry.key], text(entry.value));
    }
    return out;
  }
  [[nodiscard]] Result<std::set<std::string>> set(const Node& node) const {
    if (!node.is_sequence()) {
      return wrong(node, "a list of texts");
    }
    std::set<std::string> out;
    for (const Node& item : node.items) {
      GOLDENV_TRY(std::string one, text(item));
      out.insert(std::move(one));
    }
    return out;
  }

  [[nodiscard]] Result<Recording::Place> place(const Node& node) const {
    if (!node.is_mapping()) {
      return wrong(node, "what is known of a path");
    }
    Recording::Place place;
    for (const Node::Entry& entry : node.entries) {
      if (entry.key == "link") {
        GOLDENV_TRY(place.link, text(entry.value));
      } else if (entry.key == "status") {
        GOLDENV_TRY(const std::string words, text(entry.value));
        place.status = parse_status(words);
        if (!place.status) {
          return wrong(entry.value,
                       "KIND MODE USER GROUP SIZE DEVICE INODE CHANGED STATUS-CHANGED");
        }
      } else if (entry.key == "content") {
        place.has_content = entry.value.text == "true";
      } else if (entry.key == "names") {
        GOLDENV_TRY(place.names, names(entry.value));
      } else if (entry.key == "answers") {
        GOLDENV_TRY(place.answers, texts(entry.value));
      } else {
        return doc::error_at(name_, entry.mark,
                             "unknown key " + doc::quote_json(entry.key) +
                                 ", expected link, status, content, names or answers");
      }
    }
    return place;
  }

  [[nodiscard]] Result<void> failures(const Node& node, Recording& recording) const {
    if (!node.is_sequence()) {
      return wrong(node, "a list of failures");
    }
    for (const Node& item : node.items) {
      GOLDENV_TRY(auto fields, texts(item));
      const auto* code =
          std::ranges::find(kCodes, fields["code"], &std::pair<std::string_view, Errc>::first);
      if (code == kCodes.end()) {
        return wrong(item, "{asked, path, code, message}");
      }
      recording.failures[{fields["asked"], fields["path"]}] =
          Error{code->second, fields["message"], {}};
    }
    return {};
  }

  [[nodiscard]] Result<void> spaces(const Node& node, Recording& recording) const {
    if (!node.is_mapping()) {
      return wrong(node, "a mapping of paths");
    }
    for (const Node::Entry& entry : node.entries) {
      GOLDENV_TRY(auto fields, texts(entry.value));
      const auto total = to_number(fields["total"]);
      const auto free = to_number(fields["free"]);
      if (!total || !free) {
        return wrong(entry.value, "{total: BYTES, free: BYTES}");
      }
      recording.spaces[entry.key] = {*total, *free};
    }
    return {};
  }

 private:
  [[nodiscard]] Result<std::vector<DirEntry>> names(const Node& node) const {
    GOLDENV_TRY(const std::set<std::string> list, set(node));
    std::vector<DirEntry> out;
    for (const std::string& item : list) {
      const std::size_t letter =
          item.size() < 2 ? std::string_view::npos : kLetters.find(item.front());
      if (letter == std::string_view::npos) {
        return wrong(node, "names with a letter of their kind before them");
      }
      out.push_back({item.substr(1), kKinds[letter].second});
    }
    std::ranges::sort(out, {}, &DirEntry::name);
    return out;
  }

  std::string_view name_;
};

}  // namespace

Result<Recording::Found> Recording::find(std::string_view path, Last last) const {
  std::string unknown;
  return walk(path, last, unknown);
}

std::string Recording::first_unknown(std::string_view path, Last last) const {
  std::string unknown;
  static_cast<void>(walk(path, last, unknown));
  return unknown;
}

Result<Recording::Found> Recording::walk(std::string_view asked, Last last,
                                         std::string& unknown) const {
  GOLDENV_TRY(const std::string clean, clean_path(asked));
  std::string here = "/";
  std::vector<std::string> rest;
  const auto push = [&](std::string_view text) {
    const auto parts = split(text, '/');
    for (auto one = parts.rbegin(); one != parts.rend(); ++one) {
      if (!one->empty() && *one != ".") {
        rest.emplace_back(*one);
      }
    }
  };
  push(clean);
  const Place* place = nullptr;
  if (const auto top = places.find("/"); top != places.end()) {
    place = &top->second;
  }
  int hops = 0;
  while (!rest.empty()) {
    const std::string part = std::move(rest.back());
    rest.pop_back();
    if (part == "..") {
      here = folder_of(here);
      const auto at = places.find(here);
      place = at == places.end() ? nullptr : &at->second;
      continue;
    }
    std::string path = joined(here, part);
    const auto at = places.find(path);
    if (at == places.end()) {
      const bool is_listed = place != nullptr && place->names &&
                             std::ranges::binary_search(*place->names, part, {}, &DirEntry::name);
      const bool is_file =
          place != nullptr && place->status && !place->link && place->status->kind != Kind::folder;
      const bool is_known = place != nullptr && place->names && !is_listed;
      if (absent.contains(path) || is_file || is_known) {
        return error_at(Errc::absent, asked);
      }
      unknown = std::move(path);
      return error_at(Errc::not_collected, asked);
    }
    place = &at->second;
    if (place->link && !(rest.empty() && last == Last::keep)) {
      if (++hops > kHopLimit) {
        return error_at(Errc::unreadable, asked, "too many links");
      }
      push(*place->link);
      if (place->link->starts_with('/')) {
        here = "/";
        const auto top = places.find("/");
        place = top == places.end() ? nullptr : &top->second;
      } else {
        const auto above = places.find(here);
        place = above == places.end() ? nullptr : &above->second;
      }
      continue;
    }
    here = std::move(path);
  }
  return Found{std::move(here), place};
}

Result<std::vector<std::string>> Recording::hops(std::string_view path) const {
  GOLDENV_TRY(Found end, find(path, Last::follow));
  GOLDENV_TRY(std::string step, clean_path(path));
  std::vector<std::string> steps{step};
  while (true) {
    GOLDENV_TRY(const Found at, find(step, Last::keep));
    if (steps.size() > 1) {
      steps.back() = at.path;
    }
    if (at.place == nullptr || !at.place->link || steps.size() > 64) {
      break;
    }
    const std::string& text = *at.place->link;
    step = text.starts_with('/') ? text : joined(std::string(folder_of(at.path)), text);
    steps.push_back(step);
  }
  if (steps.back() != end.path) {
    steps.push_back(std::move(end.path));
  }
  return steps;
}

std::string Recording::render() const {
  Node root = Node::mapping({});
  put(root, "goldenv_record", Node::scalar("0"));
  if (name) {
    Node uname = Node::mapping({});
    put(uname, "node", text_node(name->node));
    put(uname, "release", text_node(name->release));
    put(uname, "version", text_node(name->version));
    put(uname, "machine", text_node(name->machine));
    put(root, "uname", std::move(uname));
  }
  if (!spaces.empty()) {
    Node all = Node::mapping({});
    for (const auto& [path, space] : spaces) {
      Node one = Node::mapping({});
      put(one, "total", Node::scalar(std::to_string(space.total_bytes)));
      put(one, "free", Node::scalar(std::to_string(space.free_bytes)));
      put(all, path, std::move(one));
    }
    put(root, "space", std::move(all));
  }
  Node set = Node::mapping({});
  for (const auto& [variable, value] : variables) {
    put(set, variable, text_node(value));
  }
  put(root, "variables", std::move(set));
  const auto list = [&](std::string key, const std::set<std::string>& texts) {
    if (!texts.empty()) {
      Node node = Node::sequence({});
      for (const std::string& text : texts) {
        node.items.push_back(text_node(text));
      }
      put(root, std::move(key), std::move(node));
    }
  };
  list("withheld", withheld);
  list("absent", absent);
  if (!failures.empty()) {
    Node all = Node::sequence({});
    for (const auto& [key, error] : failures) {
      Node one = Node::mapping({});
      put(one, "asked", text_node(key.first));
      put(one, "path", text_node(key.second));
      put(one, "code", text_node(std::string(word_of(kCodes, error.code))));
      put(one, "message", text_node(error.message));
      all.items.push_back(std::move(one));
    }
    put(root, "failures", std::move(all));
  }
  Node all = Node::mapping({});
  for (const auto& [path, place] : places) {
    put(all, path, place_node(place));
  }
  put(root, "places", std::move(all));
  return doc::render_yaml(root, true);
}

bool Recording::is_one(std::string_view text) { return text.find(kMark) != std::string_view::npos; }

Result<Recording> Recording::parse(std::string_view text, std::string_view file) {
  doc::Limits limits;
  limits.bytes = 64u << 20;
  limits.nodes = 8u << 20;
  GOLDENV_TRY(const Node root, doc::parse(text, doc::Format::yaml, file, limits));
  const Reader reader(file);
  const Node* format = root.find("goldenv_record");
  if (format == nullptr || format->text != "0") {
    return reader.wrong(format == nullptr ? root : *format,
                        "a record, which begins `goldenv_record: 0`");
  }
  Recording out;
  for (const Node::Entry& entry : root.entries) {
    if (entry.key == "goldenv_record") {
      continue;
    }
    if (entry.key == "uname") {
      GOLDENV_TRY(auto fields, reader.texts(entry.value));
      out.name = {fields["node"], fields["release"], fields["version"], fields["machine"]};
    } else if (entry.key == "space") {
      if (Result<void> done = reader.spaces(entry.value, out); !done) {
        return std::move(done).error();
      }
    } else if (entry.key == "variables") {
      GOLDENV_TRY(out.variables, reader.texts(entry.value));
    } else if (entry.key == "withheld") {
      GOLDENV_TRY(out.withheld, reader.set(entry.value));
    } else if (entry.key == "absent") {
      GOLDENV_TRY(out.absent, reader.set(entry.value));
    } else if (entry.key == "failures") {
      if (Result<void> done = reader.failures(entry.value, out); !done) {
        return std::move(done).error();
      }
    } else if (entry.key == "places") {
      if (!entry.value.is_mapping()) {
        return reader.wrong(entry.value, "a mapping of paths");
      }
      for (const Node::Entry& one : entry.value.entries) {
        GOLDENV_TRY(out.places[one.key], reader.place(one.value));
      }
    } else {
      return doc::error_at(file, entry.mark,
                           "unknown key " + doc::quote_json(entry.key) +
                               ", expected uname, space, variables, withheld, absent, failures or "
                               "places");
    }
  }
  return out;
}

}  // namespace goldenv::host

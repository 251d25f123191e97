// grub.cfg, read and never run.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/boot_entries.h"

namespace goldenv::probe {
namespace {

constexpr std::size_t kNodeLimit = 4096;

/// The words of a line as GRUB's shell splits them: quotes and backslashes taken away, variables
/// kept as written.
std::vector<std::string> shell_words(std::string_view line) {
  std::vector<std::string> out;
  std::string word;
  bool open = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\r')) {
      if (open) {
        out.push_back(std::move(word));
        word.clear();
        open = false;
      }
    } else if (quote == 0 && c == '#' && !open) {
      break;
    } else if (quote == 0 && c == ';') {
      if (open) {
        out.push_back(std::move(word));
        word.clear();
        open = false;
      }
      out.emplace_back(";");
    } else if ((c == '\'' || c == '"') && (quote == 0 || quote == c)) {
      quote = quote == 0 ? c : '\0';
      open = true;
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
      open = true;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) {
    out.push_back(std::move(word));
  }
  return out;
}

struct Node {
  std::string title;
  std::string id;
  bool is_submenu = false;
  bool is_conditional = false;  ///< inside an `if` of the menu
  std::string image;
  std::string options;
  std::uint32_t line = 0;
  std::vector<Node> children;
};

/// A block that is open: whose braces or `fi` have not come yet.
struct Block {
  enum class Kind { menu, entry, function, condition } kind = Kind::menu;
  bool is_off = false;  ///< a condition that does not hold
};

class Reader {
 public:
  Reader(std::string_view text, bool counts_boots) : text_(text), counts_boots_(counts_boots) {
    root_.is_submenu = true;
    path_.push_back(&root_);
  }

  void read() {
    std::uint32_t number = 0;
    for (const std::string_view line : lines(text_)) {
      ++number;
      take(line, number);
    }
    if (!blocks_.empty() && problem_.empty()) {
      problem_ = "the file is cut short";
    }
  }

  Node root_;
  bool takes_entries_ = false;
  std::map<std::string, std::set<std::string>> set_;
  std::string problem_;

 private:
  [[nodiscard]] bool inside(Block::Kind kind) const {
    return std::ranges::any_of(blocks_, [&](const Block& b) { return b.kind == kind; });
  }

  void take(std::string_view line, std::uint32_t number) {
    std::vector<std::string> parts = shell_words(line);
    if (parts.empty()) {
      return;
    }
    const std::string first = parts.front();
    if (first == "menuentry" || first == "submenu") {
      open_node(parts, first == "submenu", number);
      return;
    }
    if (first == "function") {
      blocks_.push_back({Block::Kind::function, false});
      return;
    }
    if (first == "}") {
      close_brace();
      return;
    }
    if (first == "if" || first == "for" || first == "while" || first == "until") {
      const bool closed = std::ranges::find(parts, first == "if" ? "fi" : "done") != parts.end();
      if (!closed) {
        // Red Hat's script for systems that fall back by themselves after failed boots.
        const bool is_off =
            !counts_boots_ && line.find("-n \"${boot_counter}\"") != std::string_view::npos;
        blocks_.push_back({Block::Kind::condition, is_off});
      }
    } else if (first == "fi" || first == "done") {
      if (!blocks_.empty() && blocks_.back().kind == Block::Kind::condition) {
        blocks_.pop_back();
      }
      return;
    }
    if (inside(Block::Kind::entry)) {
      take_entry_line(parts, number);
      return;
    }
    if (first == "blscfg") {
      takes_entries_ = true;
    }
    if (first == "configfile") {
      problem_ = "another file decides: " + std::string(trim(line));
    }
    take_assignments(parts);
  }

  void take_assignments(const std::vector<std::string>& parts) {
    const bool is_off = std::ranges::any_of(blocks_, &Block::is_off);
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const std::size_t equals = parts[i + 1].find('=');
      if (parts[i] == "set" && !is_off && equals != std::string::npos && equals > 0) {
        set_[parts[i + 1].substr(0, equals)].insert(parts[i + 1].substr(equals + 1));
      }
    }
  }

  void open_node(const std::vector<std::string>& parts, bool is_submenu, std::uint32_t number) {
    if (nodes_ >= kNodeLimit || path_.size() > 16) {
      problem_ = "more entries than any menu has";
      blocks_.push_back({Block::Kind::function, false});
      return;
    }
    ++nodes_;
    Node node;
    node.is_submenu = is_submenu;
    node.is_conditional = inside(Block::Kind::condition) || inside(Block::Kind::function);
    node.line = number;
    node.title = parts.size() > 1 ? parts[1] : "";
    for (std::size_t i = 2; i < parts.size(); ++i) {
      // $menuentry_id_option is --id where GRUB knows it.
      if ((parts[i] == "--id" || parts[i] == "$menuentry_id_option" ||
           parts[i] == "${menuentry_id_option}") &&
          i + 1 < parts.size()) {
        node.id = parts[i + 1];
      } else if (parts[i].starts_with("--id=")) {
        node.id = parts[i].substr(5);
      }
    }
    std::vector<Node>& siblings = path_.back()->children;
    siblings.push_back(std::move(node));
    // A sibling that comes later moves the vector, but only after this one is closed.
    path_.push_back(&siblings.back());
    blocks_.push_back({is_submenu ? Block::Kind::menu : Block::Kind::entry, false});
    if (parts.back() == "}") {
      close_brace();
    }
  }

  void close_brace() {
    // An `if` that was not closed inside ends with the block.
    while (!blocks_.empty() && blocks_.back().kind == Block::Kind::condition) {
      blocks_.pop_back();
    }
    if (blocks_.empty()) {
      return;
    }
    if (blocks_.back().kind != Block::Kind::function && path_.size() > 1) {
      path_.pop_back();
    }
    blocks_.pop_back();
  }

  void take_entry_line(const std::vector<std::string>& parts, std::uint32_t number) {
    const std::string& first = parts.front();
    if (first != "linux" && first != "linuxefi" && first != "linux16") {
      return;
    }
    Node& node = *path_.back();
    if (parts.size() < 2 || !node.image.empty() || inside(Block::Kind::condition)) {
      node.image = "?";  // more than one: its script decides
      return;
    }
    node.image = parts[1];
    node.line = number;
    // Quotes were GRUB's and not the kernel's.
    for (std::size_t i = 2; i < parts.size() && parts[i] != ";"; ++i) {
      node.options += (i > 2 ? " " : "") + parts[i];
    }
  }

  std::string_view text_;
  bool counts_boots_;
  std::size_t nodes_ = 0;
  std::vector<Node*> path_;
  std::vector<Block> blocks_;
};

/// "a>b" at the first '>' that is not doubled: "a", "b".
std::pair<std::string, std::string> split_path(std::string_view path) {
  std::string first;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '>') {
      if (i + 1 < path.size() && path[i + 1] == '>') {
        ++i;
      } else {
        return {first, std::string(path.substr(i + 1))};
      }
    }
    first += path[i];
  }
  return {first, ""};
}

Error undecided(std::string why) { return Error{Errc::malformed, std::move(why), {}}; }

/// The node that a default names. GRUB takes the first where there is none of that name.
Result<const Node*> find_node(const Node& menu, std::string_view wanted) {
  if (menu.children.empty()) {
    return undecided("the menu has no entries");
  }
  std::uint64_t index = 0;
  if (const auto number = to_number(wanted)) {
    index = *number < menu.children.size() ? *number : 0;
  } else {
    for (const Node& node : menu.children) {
      if (node.title == wanted || (!node.id.empty() && node.id == wanted)) {
        return &node;
      }
    }
  }
  for (std::uint64_t i = 0; i <= index; ++i) {
    if (menu.children[i].is_conditional) {
      return undecided("an entry that is there on a condition stands before the default one");
    }
  }
  return &menu.children[index];
}

Result<BootEntry> find_entry(const Node& root, const std::string& wanted, const std::string& file) {
  const Node* menu = &root;
  std::string rest = wanted;
  while (true) {
    auto [first, later] = split_path(rest);
    GOLDENV_TRY(const Node* node, find_node(*menu, first));
    if (!node->is_submenu) {
      if (node->image.empty() || node->image == "?") {
        return undecided("the default entry \"" + node->title + "\" names no kernel plainly");
      }
      BootEntry entry;
      entry.title = node->title;
      entry.image = node->image;
      entry.options = node->options;
      entry.file = file;
      entry.line = node->line;
      return entry;
    }
    if (later.empty()) {
      return undecided("the default is a submenu");
    }
    menu = node;
    rest = std::move(later);
  }
}

/// The default in force. grub-mkconfig writes: next_entry where it is set, else GRUB_DEFAULT, which
/// may be saved_entry.
Result<std::string> default_of(const std::map<std::string, std::set<std::string>>& set,
                               const BootVariables& saved) {
  const auto value = [&](std::string_view name) {
    const auto it = saved.find(name);
    return it == saved.end() ? std::string() : it->second;
  };
  const auto it = set.find("default");
  if (it == set.end()) {
    return std::string("0");
  }
  std::set<std::string> values = it->second;
  const auto drop = [&](std::string_view name) {
    const std::string text(name);
    return values.erase("$" + text) + values.erase("${" + text + "}") > 0;
  };
  if (drop("next_entry") && !value("next_entry").empty()) {
    return value("next_entry");
  }
  if (drop("saved_entry")) {
    if (!values.empty()) {
      return undecided("the default is set twice");
    }
    return value("saved_entry").empty() ? std::string("0") : value("saved_entry");
  }
  if (values.size() > 1) {
    return undecided("the default is set twice");
  }
  const std::string only = values.empty() ? "0" : *values.begin();
  if (only.find('$') != std::string::npos) {
    return undecided("the default is computed: " + only);
  }
  return only.empty() ? std::string("0") : only;
}

}  // namespace

BootVariables parse_grubenv(std::string_view text) {
  BootVariables variables;
  for (const std::string_view line : lines(text)) {
    const std::size_t equals = line.find('=');
    if (!line.starts_with('#') && equals != std::string_view::npos && equals > 0) {
      std::string value;
      for (std::size_t i = equals + 1; i < line.size(); ++i) {
        if (line[i] == '\\' && i + 1 < line.size()) {
          ++i;
        }
        value += line[i];
      }
      variables[std::string(line.substr(0, equals))] = std::move(value);
    }
  }
  return variables;
}

GrubMenu parse_grub(std::string_view text, const std::string& file, const BootVariables& saved) {
  Reader reader(text, saved.contains("boot_counter"));
  reader.read();
  GrubMenu menu;
  menu.takes_entries = reader.takes_entries_;
  menu.is_menu = menu.takes_entries || !reader.root_.children.empty();
  for (const auto& [name, values] : reader.set_) {
    if (values.size() == 1 && values.begin()->find('$') == std::string::npos) {
      menu.set[name] = *values.begin();
    } else {
      menu.doubtful.push_back(name);
    }
  }
  const Result<std::string> wanted = default_of(reader.set_, saved);
  if (!reader.problem_.empty()) {
    menu.entry = undecided(reader.problem_);
  } else if (!wanted) {
    menu.entry = wanted.error();
  } else {
    menu.wanted = *wanted;
    menu.entry = find_entry(reader.root_, *wanted, file);
  }
  return menu;
}

}  // namespace goldenv::probe

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "doc/node.h"
#include "store/object.h"

namespace goldenv::store {
namespace {

using doc::Node;

constexpr std::string_view kForm = "1";
// A component of a million files is none that anybody ships as one.
constexpr doc::Limits kObjectLimits{.bytes = 64U << 20U, .depth = 8, .nodes = 4U << 20U};
constexpr doc::Limits kFilesLimits{.bytes = 512U << 20U, .depth = 4, .nodes = 8U << 20U};

Node text(std::string value) { return Node::scalar(std::move(value), true); }
Node number(std::uint64_t value) { return Node::scalar(std::to_string(value)); }

Node texts(const std::vector<std::string>& values) {
  std::vector<Node> items;
  items.reserve(values.size());
  for (const std::string& value : values) {
    items.push_back(text(value));
  }
  return Node::sequence(std::move(items));
}

class Mapping {
 public:
  Mapping& add(std::string key, Node value) {
    entries_.push_back({std::move(key), {}, std::move(value)});
    return *this;
  }
  /// Leaves out what is empty.
  Mapping& add_some(std::string key, const std::vector<std::string>& values) {
    return values.empty() ? *this : add(std::move(key), texts(values));
  }
  Node node() { return Node::mapping(std::move(entries_)); }

 private:
  std::vector<Node::Entry> entries_;
};

template <typename T, typename Write>
Node sequence(const std::vector<T>& values, Write write) {
  std::vector<Node> items;
  items.reserve(values.size());
  for (const T& value : values) {
    items.push_back(write(value));
  }
  return Node::sequence(std::move(items));
}

Node node_of(const Shape& shape) {
  Mapping listing;
  for (const auto& [folder, names] : shape.listing) {
    listing.add(folder, texts(names));
  }
  return Mapping()
      .add("real", texts(shape.real))
      .add("copies", texts(shape.copies))
      .add("listing", listing.node())
      .add("elf", sequence(shape.elf,
                           [](const ElfFile& elf) {
                             Mapping one;
                             one.add("path", text(elf.path));
                             if (!elf.soname.empty()) {
                               one.add("soname", text(elf.soname));
                             }
                             if (elf.program) {
                               one.add("program", Node::scalar("true"));
                             }
                             return one.add_some("needed", elf.needed)
                                 .add_some("rpath", elf.rpath)
                                 .add_some("runpath", elf.runpath)
                                 .node();
                           }))
      .node();
}

/// Reads mappings, with the first thing wrong kept: what follows it is not looked at.
class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) {}

  void refuse(const Node& at, std::string_view message) {
    if (!error_) {
      error_ = doc::error_at(name_, at.mark, message);
    }
  }
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] Error error() && { return *std::move(error_); }

  bool is_mapping(const Node& node) {
    if (!node.is_mapping()) {
      refuse(node, "expected a mapping");
    }
    return node.is_mapping();
  }

  std::string text(const Node& in, std::string_view key, bool required = true) {
    const Node* node = in.find(key);
    if (node == nullptr) {
      if (required) {
        refuse(in, "\"" + std::string(key) + "\" is missing");
      }
      return {};
    }
    if (!node->is_scalar()) {
      refuse(*node, "\"" + std::string(key) + "\" is no text");
      return {};
    }
    return node->text;
  }

  std::uint64_t number(const Node& in, std::string_view key) {
    const std::string value = text(in, key);
    const std::optional<std::uint64_t> number = to_number(value);
    if (!number) {
      refuse(in, "\"" + std::string(key) + "\" is no number");
    }
    return number.value_or(0);
  }

  std::vector<std::string> texts(const Node* node) {
    std::vector<std::string> out;
    if (node == nullptr) {
      return out;
    }
    if (!node->is_sequence()) {
      refuse(*node, "expected a list");
      return out;
    }
    out.reserve(node->items.size());
    for (const Node& item : node->items) {
      if (!item.is_scalar()) {
        refuse(item, "expected a text");
      }
      out.push_back(item.text);
    }
    return out;
  }

  std::vector<std::string> paths(const Node* node) {
    std::vector<std::string> out = texts(node);
    for (const std::string& path : out) {
      if (!is_tree_path(path)) {
        refuse(*node, "\"" + shortened(path) + "\" is no path in a tree");
      }
    }
    return out;
  }

  std::string path(const Node& in) {
    std::string value = text(in, "path");
    if (!failed() && !is_tree_path(value)) {
      refuse(in, "\"" + shortened(value) + "\" is no path in a tree");
    }
    return value;
  }

  template <typename T, typename Read>
  std::vector<T> sequence(const Node& in, std::string_view key, Read read) {
    std::vector<T> out;
    const Node* node = in.find(key);
    if (node == nullptr || !node->is_sequence()) {
      refuse(in, "\"" + std::string(key) + "\" is no list");
      return out;
    }
    out.reserve(node->items.size());
    for (const Node& item : node->items) {
      if (failed() || !is_mapping(item)) {
        break;
      }
      out.push_back(read(item));
    }
    return out;
  }

 private:
  std::string_view name_;
  std::optional<Error> error_;
};

bool is_member_name(std::string_view name) {
  if (name.ends_with('/')) {
    name.remove_suffix(1);
  }
  return is_tree_path(name) && name.find('/') == std::string_view::npos;
}

Shape read_shape(Reader& reader, const Node& node) {
  Shape shape;
  shape.real = reader.paths(node.find("real"));
  shape.copies = reader.paths(node.find("copies"));
  if (const Node* listing = node.find("listing"); listing != nullptr) {
    for (const Node::Entry& entry : listing->entries) {
      if (!entry.key.empty() && !is_tree_path(entry.key)) {
        reader.refuse(*listing, "\"" + shortened(entry.key) + "\" is no path in a tree");
      }
      std::vector<std::string> names = reader.texts(&entry.value);
      if (!std::ranges::all_of(names, is_member_name)) {
        reader.refuse(entry.value, "a member's name is none");
      }
      shape.listing.emplace_hint(shape.listing.end(), entry.key, std::move(names));
    }
  }
  shape.elf = reader.sequence<ElfFile>(node, "elf", [&](const Node& item) {
    return ElfFile{reader.path(item),
                   reader.text(item, "soname", false),
                   reader.texts(item.find("needed")),
                   reader.texts(item.find("rpath")),
                   reader.texts(item.find("runpath")),
                   reader.text(item, "program", false) == "true"};
  });
  return shape;
}

bool is_hex(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string write_object(const Object& object) {
  const Node node = Mapping()
                        .add("goldenv_object", number(1))
                        .add("key", text(object.key))
                        .add("kind", text(object.kind))
                        .add("name", text(object.name))
                        .add("version", text(object.version))
                        .add("artifact", Mapping()
                                             .add("file", text(object.artifact.file))
                                             .add("sha256", text(object.artifact.sha256))
                                             .add("size_bytes", number(object.artifact.size_bytes))
                                             .add("url", text(object.artifact.url))
                                             .node())
                        .add("python", text(object.python))
                        .add("content", text(object.content))
                        .add("size_bytes", number(object.size_bytes))
                        .add("roots", sequence(object.roots,
                                               [](const Root& root) {
                                                 return Mapping()
                                                     .add("folder", text(root.folder))
                                                     .add("place", text(root.place))
                                                     .node();
                                               }))
                        .add("scripts", sequence(object.scripts,
                                                 [](const Script& script) {
                                                   return Mapping()
                                                       .add("name", text(script.name))
                                                       .add("module", text(script.module))
                                                       .add("function", text(script.function))
                                                       .node();
                                                 }))
                        .add("environment", sequence(object.environment,
                                                     [](const Variable& variable) {
                                                       return Mapping()
                                                           .add("name", text(variable.name))
                                                           .add("value", text(variable.value))
                                                           .node();
                                                     }))
                        .add("shape", node_of(object.shape))
                        .node();
  return doc::render_json(node, false) + "\n";
}

Result<Object> parse_object(std::string_view bytes, std::string_view name) {
  GOLDENV_TRY(const Node root, doc::parse(bytes, doc::Format::json, name, kObjectLimits));
  Reader reader(name);
  Object object;
  if (!reader.is_mapping(root)) {
    return std::move(reader).error();
  }
  if (reader.text(root, "goldenv_object") != kForm) {
    reader.refuse(root, "\"goldenv_object\" is not 1: written by a newer goldenv?");
    return std::move(reader).error();
  }
  object.key = reader.text(root, "key");
  if (!is_hex(object.key)) {
    reader.refuse(root, "\"key\" is not 64 hexadecimal digits");
  }
  object.kind = reader.text(root, "kind");
  object.name = reader.text(root, "name");
  object.version = reader.text(root, "version");
  if (const Node* artifact = root.find("artifact"); artifact != nullptr) {
    object.artifact = {reader.text(*artifact, "file"), reader.text(*artifact, "sha256"),
                       reader.number(*artifact, "size_bytes"), reader.text(*artifact, "url")};
  }
  object.python = reader.text(root, "python");
  object.content = reader.text(root, "content");
  object.size_bytes = reader.number(root, "size_bytes");
  object.roots = reader.sequence<Root>(root, "roots", [&](const Node& item) {
    Root one{reader.text(item, "folder"), reader.text(item, "place")};
    if (!reader.failed() && ((!one.folder.empty() && !is_tree_path(one.folder)) ||
                             (one.place != "." && !is_tree_path(one.place)))) {
      reader.refuse(item, "a root is no path in a tree");
    }
    return one;
  });
  object.scripts = reader.sequence<Script>(root, "scripts", [&](const Node& item) {
    Script one{reader.text(item, "name"), reader.text(item, "module"),
               reader.text(item, "function")};
    if (!reader.failed() && (!is_tree_path(one.name) || one.name.find('/') != std::string::npos)) {
      reader.refuse(item, "a script's name is none");
    }
    return one;
  });
  object.environment = reader.sequence<Variable>(root, "environment", [&](const Node& item) {
    return Variable{reader.text(item, "name"), reader.text(item, "value")};
  });
  const Node* shape = root.find("shape");
  if (shape == nullptr || !shape->is_mapping()) {
    reader.refuse(root, "\"shape\" is missing");
  } else {
    object.shape = read_shape(reader, *shape);
  }
  return reader.failed() ? Result<Object>(std::move(reader).error()) : std::move(object);
}

std::string write_files(const FileList& list) {
  std::string out = "{\"goldenv_files\": 1, \"object\": \"" + list.object + "\", \"files\": [";
  bool first = true;
  for (const File& file : list.files) {
    out += first ? "\n" : ",\n";
    first = false;
    out += "[" + doc::quote_json(file.path) + ", ";
    if (!file.link.empty()) {
      out += "\"l\", " + doc::quote_json(file.link);
    } else {
      out += file.executable ? "\"x\", \"" : "\"r\", \"";
      out += file.sha256.hex() + "\", " + std::to_string(file.size_bytes);
    }
    out += "]";
  }
  return out + "\n]}\n";
}

Result<FileList> parse_files(std::string_view bytes, std::string_view name) {
  GOLDENV_TRY(const Node root, doc::parse(bytes, doc::Format::json, name, kFilesLimits));
  Reader reader(name);
  FileList read;
  std::vector<File>& files = read.files;
  const Node* list = root.find("files");
  if (reader.text(root, "goldenv_files") != kForm || list == nullptr || !list->is_sequence()) {
    reader.refuse(root, "no list of files that this goldenv reads");
    return std::move(reader).error();
  }
  read.object = reader.text(root, "object");
  files.reserve(list->items.size());
  for (const Node& item : list->items) {
    const auto& parts = item.items;
    const bool whole =
        item.is_sequence() && parts.size() >= 3 &&
        std::ranges::all_of(parts, [](const Node& part) { return part.is_scalar(); });
    if (!whole || !is_tree_path(parts[0].text) ||
        (!files.empty() && files.back().path >= parts[0].text)) {
      reader.refuse(item, "expected a path that follows the one before, a kind and a digest");
      break;
    }
    File file;
    file.path = parts[0].text;
    if (parts[1].text == "l") {
      file.link = parts[2].text;
      if (file.link.empty()) {
        reader.refuse(item, "a link that leads nowhere");
      }
    } else {
      file.executable = parts[1].text == "x";
      const Result<Sha256> digest = Sha256::parse(parts[2].text);
      const auto size = parts.size() == 4 ? to_number(parts[3].text) : std::nullopt;
      if (!digest || !size || (parts[1].text != "x" && parts[1].text != "r")) {
        reader.refuse(item, "expected a kind, a digest and a size");
        break;
      }
      file.sha256 = *digest;
      file.size_bytes = *size;
    }
    files.push_back(std::move(file));
  }
  return reader.failed() ? Result<FileList>(std::move(reader).error()) : std::move(read);
}

}  // namespace goldenv::store

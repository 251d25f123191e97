#include "recipe/recipe_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "facts/catalogue.h"
#include "recipe/placeholder.h"
#include "recipe/recipe.h"
#include "recipe/words.h"

namespace goldenv::recipe {
namespace {

using doc::Node;

constexpr std::size_t kLimitBytes = 1u << 20;
constexpr std::uint64_t kMostStripped = 16;

/// Whether a text is a variable's name that a shell can set.
bool is_variable(std::string_view name) {
  return !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
         name.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
             std::string_view::npos;
}

/// Of kOwnVariables.
bool is_own_variable(std::string_view name) {
  return std::ranges::any_of(kOwnVariables, [name](std::string_view own) {
    return own.ends_with('*') ? name.starts_with(own.substr(0, own.size() - 1)) : name == own;
  });
}

bool is_host_name(std::string_view name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

class RecipeReader {
 public:
  RecipeReader(std::string_view file, const Node& root) : fields_(file), root_(root) {
    recipe_.file = std::string(file);
  }

  Result<Recipe> read() && {
    read_head();
    // What follows leans on what has been read: on a wrong component there is no scheme.
    for (void (RecipeReader::*step)() :
         {&RecipeReader::read_hosts, &RecipeReader::read_sources, &RecipeReader::read_provides,
          &RecipeReader::read_requires, &RecipeReader::read_rest}) {
      if (!fields_.error()) {
        (this->*step)();
      }
    }
    if (fields_.error()) {
      return *fields_.error();
    }
    return std::move(recipe_);
  }

 private:
  void read_head() {
    if (!root_.is_mapping()) {
      return fields_.wrong(root_.mark,
                           "no recipe; expected a mapping that begins with `goldenv_recipe: 1`");
    }
    fields_.check_keys(root_, "a recipe", kKeys);
    const Node* form = root_.find("goldenv_recipe");
    if (form == nullptr || !form->is_scalar() || form->text != "1") {
      return fields_.wrong(form == nullptr ? root_.mark : form->mark,
                           "no version of recipes that is known; expected `goldenv_recipe: 1`");
    }
    const Node* component = root_.find("component");
    if (component == nullptr) {
      return fields_.wrong(root_.mark, "a recipe without component; expected the key of a fact");
    }
    recipe_.component = fields_.component(*component, "component", true);
    if (fields_.error()) {
      return;
    }
    const std::string member = recipe_.is_generic()
                                   ? recipe_.component.substr(0, recipe_.component.size() - 1) + "x"
                                   : recipe_.component;
    recipe_.versions = facts::resolve(member)->entry->scheme;
    if (const Node* versions = root_.find("versions")) {
      const std::string scheme = fields_.text(*versions, "versions");
      if (!fields_.error() && scheme != version::name(recipe_.versions)) {
        fields_.wrong(versions->mark, "versions of " + recipe_.component + " are " +
                                          std::string(version::name(recipe_.versions)) + ", not " +
                                          shown(scheme) + "; expected that, or nothing");
      }
    }
    if (const Node* about = root_.find("about")) {
      recipe_.about = fields_.text(*about, "about");
    }
    if (const Node* also = root_.find("also")) {
      for (const Node* item : fields_.items(*also, "also")) {
        recipe_.also.push_back(fields_.component(*item, "an entry of also", false));
      }
      std::ranges::sort(recipe_.also);
      if (std::ranges::adjacent_find(recipe_.also) != recipe_.also.end() ||
          std::ranges::count(recipe_.also, recipe_.component) != 0) {
        fields_.wrong(also->mark, "a key stands twice; expected it once");
      }
    }
  }

  void read_hosts() {
    const Node* hosts = root_.find("hosts");
    if (hosts == nullptr) {
      return;
    }
    if (!hosts->is_mapping()) {
      return fields_.wrong(hosts->mark, "hosts is no mapping; expected NAME: URL");
    }
    for (const Node::Entry& entry : hosts->entries) {
      if (!is_host_name(entry.key)) {
        return fields_.wrong(entry.mark,
                             "host " + shown(entry.key) + " is no name; expected a-z, 0-9 and -");
      }
      recipe_.hosts[entry.key] = fields_.url(entry.value, "a host", {});
    }
    for (const auto& [name, url] : recipe_.hosts) {
      host_names_.push_back(name);
    }
  }

  void read_sources() {
    const Node* sources = root_.find("sources");
    const Node* cannot = root_.find("cannot");
    if ((sources == nullptr) == (cannot == nullptr)) {
      return fields_.wrong((sources == nullptr ? root_ : *cannot).mark,
                           "expected either sources, or cannot with the reason why there are none");
    }
    if (cannot != nullptr) {
      recipe_.cannot = fields_.text(*cannot, "cannot");
      return;
    }
    if (!sources->is_sequence() || sources->items.empty()) {
      return fields_.wrong(sources->mark, "sources is no list; expected at least one source");
    }
    for (const Node& node : sources->items) {
      read_source(node);
    }
  }

  void read_source(const Node& node) {
    Source source;
    source.mark = node.mark;
    std::string_view found;
    const Node* value = nullptr;
    for (const Node::Entry& entry : node.entries) {
      if (std::ranges::find(kKinds, entry.key) != kKinds.end()) {
        if (!found.empty()) {
          return fields_.wrong(entry.mark, "a source of two kinds, " + std::string(found) +
                                               " and " + entry.key + "; expected one");
        }
        found = entry.key;
        value = &entry.value;
      }
    }
    if (value == nullptr) {
      const std::string first = node.entries.empty() ? std::string() : node.entries.front().key;
      return fields_.wrong(node.entries.empty() ? node.mark : node.entries.front().mark,
                           "a source of no kind" + hint(first, kKinds));
    }
    if (found == "wheel") {
      read_wheel(node, *value, source);
    } else if (found == "redist") {
      read_redist(node, *value, source);
    } else if (found == "deb") {
      read_deb(node, *value, source);
    } else if (found == "archive") {
      check(node, "archive", kArchiveKeys);
      source.kind = Kind::archive;
      source.url = fields_.url(*value, "archive", hosts());
    } else if (found == "git") {
      read_git(node, *value, source);
    } else {
      check(node, "installed", {});
      source.kind = Kind::installed;
      source.name = pattern(*value, "installed");
    }
    read_common(node, source);
    recipe_.sources.push_back(std::move(source));
  }

  void read_wheel(const Node& node, const Node& value, Source& source) {
    check(node, "wheel", kWheelKeys);
    source.kind = Kind::wheel;
    source.name = pattern(value, "wheel");
    source.version = version_of(node);
  }

  void read_redist(const Node& node, const Node& value, Source& source) {
    check(node, "redist", kRedistKeys);
    source.kind = Kind::redist;
    for (const Node* item : fields_.items(value, "redist")) {
      source.components.push_back(pattern(*item, "redist"));
    }
    const Node* index = node.find("index");
    if (source.components.empty() || index == nullptr) {
      return fields_.wrong(node.mark,
                           "redist without parts or index; expected redist: [PART, ..] and "
                           "index: URL");
    }
    source.url = fields_.url(*index, "index", hosts());
    if (const Node* variant = node.find("variant")) {
      source.variant = pattern(*variant, "variant");
    }
    source.strip = 1;  // <component>-<platform>-<version>-archive/
  }

  void read_deb(const Node& node, const Node& value, Source& source) {
    check(node, "deb", kDebKeys);
    source.kind = Kind::deb;
    source.name = pattern(value, "deb");
    source.version = version_of(node);
    if (const Node* url = node.find("url")) {
      source.url = fields_.url(*url, "url", hosts());
    }
  }

  void read_git(const Node& node, const Node& value, Source& source) {
    check(node, "git", kGitKeys);
    source.kind = Kind::git;
    source.url = fields_.url(value, "git", hosts());
    const Node* commit = node.find("commit");
    if (commit == nullptr) {
      return fields_.wrong(node.mark, "git without commit; expected commit: {VERSION: COMMIT}");
    }
    source.commits = by_version(*commit, "commit", {40, 64});
    if (const Node* build = node.find("build")) {
      for (const Node* item : fields_.items(*build, "build")) {
        source.build.push_back(pattern(*item, "a command of build"));
      }
    }
  }

  /// What several kinds may say.
  void read_common(const Node& node, Source& source) {
    if (const Node* sha256 = node.find("sha256")) {
      source.sha256 = by_version(*sha256, "sha256", {64});
    }
    if (const Node* strip = node.find("strip")) {
      const auto number = to_number(fields_.text(*strip, "strip"));
      if (!number || *number > kMostStripped) {
        return fields_.wrong(strip->mark, "strip is no number of folders; expected 0 to " +
                                              std::to_string(kMostStripped));
      }
      source.strip = static_cast<std::size_t>(*number);
    }
    if (const Node* layout = node.find("layout")) {
      read_layout(*layout, source);
    }
    if (const Node* when = node.find("when")) {
      read_when(*when, source);
    }
  }

  void read_layout(const Node& layout, Source& source) {
    if (!layout.is_mapping()) {
      return fields_.wrong(layout.mark, "layout is no mapping; expected FOLDER: lib");
    }
    for (const Node::Entry& entry : layout.entries) {
      // The key as a node of its own, to be held to the same rules.
      Node from = Node::scalar(entry.key);
      from.mark = entry.mark;
      static_cast<void>(pattern(from, "a folder of layout"));
      const std::string to = fields_.path(entry.value, "a place of layout");
      Node first = Node::scalar(to.substr(0, to.find('/')));
      first.mark = entry.value.mark;
      static_cast<void>(fields_.choice(first, "a place of layout", kLayouts));
      source.layout.push_back({fields_.path(from, "a folder of layout"), to});
    }
  }

  void read_when(const Node& when, Source& source) {
    if (!when.is_mapping()) {
      return fields_.wrong(when.mark, "when is no mapping; expected {cuda: \"<13\"}");
    }
    static constexpr std::array<std::string_view, 5> kBases = {"version", "cuda", "python", "torch",
                                                               "arch"};
    for (const Node::Entry& entry : when.entries) {
      if (std::ranges::find(kBases, entry.key) == kBases.end()) {
        return fields_.wrong(entry.mark,
                             "no condition on " + shown(entry.key) + hint(entry.key, kBases));
      }
      if (entry.key == "arch") {
        source.when["arch"] = fields_.text(entry.value, "arch");
        continue;
      }
      const version::Scheme scheme =
          entry.key == "version" ? recipe_.versions : facts::resolve(entry.key)->entry->scheme;
      source.when[entry.key] = fields_.constraint(entry.value, "when", scheme);
    }
  }

  /// {VERSION: DIGITS}
  std::map<std::string, std::string> by_version(const Node& node, std::string_view what,
                                                const std::vector<std::size_t>& counts) {
    std::map<std::string, std::string> all;
    if (!node.is_mapping()) {
      fields_.wrong(node.mark, std::string(what) + " is no mapping; expected VERSION: DIGITS");
      return all;
    }
    for (const Node::Entry& entry : node.entries) {
      if (const auto version = version::parse(recipe_.versions, entry.key); !version) {
        fields_.wrong(entry.mark, std::string(what) + ": " + version.error().message);
      }
      all[entry.key] = fields_.digits(entry.value, what, counts);
    }
    return all;
  }

  void read_provides() {
    const Node* provides = root_.find("provides");
    if (provides == nullptr) {
      return;
    }
    if (!provides->is_mapping()) {
      return fields_.wrong(provides->mark, "provides is no mapping" + hint("", kProvides));
    }
    fields_.check_keys(*provides, "provides", kProvides);
    const auto paths = [&](std::string_view key, std::vector<std::string>& out) {
      if (const Node* list = provides->find(key)) {
        for (const Node* item : fields_.items(*list, key)) {
          out.push_back(fields_.path(*item, "an entry of " + std::string(key)));
        }
      }
    };
    paths("libraries", recipe_.libraries);
    paths("binaries", recipe_.binaries);
    paths("include", recipe_.include);
    paths("site_packages", recipe_.site_packages);
    const Node* environment = provides->find("environment");
    if (environment == nullptr) {
      return;
    }
    if (!environment->is_mapping()) {
      return fields_.wrong(environment->mark, "environment is no mapping; expected NAME: VALUE");
    }
    for (const Node::Entry& entry : environment->entries) {
      if (!is_variable(entry.key)) {
        return fields_.wrong(entry.mark,
                             shown(entry.key) + " is no variable; expected letters, digits and _");
      }
      if (is_own_variable(entry.key)) {
        return fields_.wrong(entry.mark, shown(entry.key) +
                                             " is decided on by goldenv alone; expected a variable "
                                             "that a recipe can set (docs/ENVIRONMENT.md)");
      }
      recipe_.environment.push_back({entry.key, fields_.text(entry.value, "a variable's value")});
    }
  }

  void read_requires() {
    const Node* list = root_.find("requires");
    if (list == nullptr) {
      return;
    }
    if (!list->is_sequence()) {
      return fields_.wrong(list->mark, "requires is no list; expected [{component: .., want: ..}]");
    }
    for (const Node& node : list->items) {
      if (!node.is_mapping() || node.find("component") == nullptr) {
        return fields_.wrong(node.mark,
                             "a requirement without component; expected {component: cuda, want: "
                             "\">=12\"}");
      }
      fields_.check_keys(node, "a requirement", kRequires);
      Requirement requirement;
      requirement.component = fields_.component(*node.find("component"), "component", false);
      if (const Node* want = node.find("want"); want != nullptr && !fields_.error()) {
        requirement.want =
            fields_.constraint(*want, "want", facts::resolve(requirement.component)->entry->scheme);
      }
      recipe_.needs_components.push_back(std::move(requirement));
    }
  }

  void read_rest() {
    if (const Node* place = root_.find("place")) {
      recipe_.place =
          fields_.choice(*place, "place", kPlaces) == "copy" ? Place::copy : Place::link;
    }
    if (const Node* unfold = root_.find("unfold")) {
      for (const Node* item : fields_.items(*unfold, "unfold")) {
        recipe_.unfold.push_back(fields_.path(*item, "an entry of unfold"));
      }
    }
    if (const Node* needs = root_.find("needs")) {
      for (const Node* item : fields_.items(*needs, "needs")) {
        const std::string need = fields_.choice(*item, "an entry of needs", kNeeds);
        recipe_.needs.push_back(need == "root"     ? Need::root
                                : need == "reboot" ? Need::reboot
                                                   : Need::module_reload);
      }
    }
  }

  void check(const Node& node, std::string_view kind, Words known) {
    std::vector<std::string_view> all(known.begin(), known.end());
    all.push_back(kind);
    all.push_back("when");
    fields_.check_keys(node, "a source of kind " + std::string(kind), all);
  }
  std::string version_of(const Node& node) {
    const Node* version = node.find("version");
    return version == nullptr ? "{version}" : pattern(*version, "version");
  }
  std::string pattern(const Node& node, std::string_view what) {
    return fields_.pattern(node, what, hosts());
  }
  Words hosts() const { return host_names_; }

  FieldReader fields_;
  const Node& root_;
  Recipe recipe_;
  std::vector<std::string_view> host_names_;
};

}  // namespace

Result<Recipe> parse(std::string_view text, std::string_view file) {
  doc::Limits limits;
  limits.bytes = kLimitBytes;
  GOLDENV_TRY(const Node root, doc::parse(text, doc::guess_format(text), file, limits));
  return RecipeReader(file, root).read();
}

std::string_view name(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::string_view name(Need need) { return kNeeds[static_cast<std::size_t>(need)]; }

}  // namespace goldenv::recipe

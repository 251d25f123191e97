#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "compose/compose.h"
#include "compose/contents.h"
#include "compose/written.h"

namespace goldenv::compose {
namespace {

using store::Object;

constexpr std::string_view kForm = "goldenv generation 1\n";
constexpr std::string_view kSitePackages = "site-packages";

/// A file or folder of one object.
struct Source {
  int object = 0;
  std::string path;  ///< below its tree
};

/// A folder of the environment in the making, by what has to be in it.
struct Folder {
  std::vector<Source> sources;             ///< whose members are members of it
  std::map<std::string, Folder> children;  ///< where roots lead
  bool real = false;
};

std::string below(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

/// "../../../" from the folder that `path` lies in to the environment's.
std::string to_top(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (c == '/') {
      out += "../";
    }
  }
  return out;
}

/// What is asked of a shape for every member.
struct Lookup {
  std::unordered_set<std::string_view> real;
  std::unordered_set<std::string_view> copies;

  explicit Lookup(const store::Shape& shape) : copies(shape.copies.begin(), shape.copies.end()) {
    for (const std::string& folder : shape.real) {
      const std::string_view whole = folder;
      for (std::size_t at = whole.size(); at != std::string_view::npos && at != 0;
           at = whole.rfind('/', at - 1)) {
        real.insert(whole.substr(0, at));
      }
    }
  }
};

class Planning {
 public:
  Planning(const store::Store& store, Plan& plan) : store_(store), plan_(plan) {
    lookups_.reserve(plan.objects.size());
    for (const Object& object : plan.objects) {
      lookups_.emplace_back(object.shape);
    }
  }

  Result<void> run() {
    Folder top;
    top.real = true;
    if (Result<void> placed = place_roots(top); !placed) {
      return placed;
    }
    if (Result<void> expanded = expand(top, ""); !expanded) {
      return expanded;
    }
    return add_own();
  }

 private:
  [[nodiscard]] std::string name_of(int object) const {
    const Object& one = plan_.objects[static_cast<std::size_t>(object)];
    return one.name + " " + one.version;
  }

  [[nodiscard]] const Object& object(int index) const {
    return plan_.objects[static_cast<std::size_t>(index)];
  }

  Folder& folder_at(Folder& top, const std::string& place) {
    Folder* folder = &top;
    if (place == ".") {
      return *folder;
    }
    for (const std::string_view part : split(place, '/')) {
      const bool is_lib64 = folder == &top && part == "lib64";
      folder = &folder->children[is_lib64 ? "lib" : std::string(part)];
    }
    return *folder;
  }

  [[nodiscard]] std::string site_packages() const {
    return "lib/python" + plan_.python.version + "/site-packages";
  }

  Result<void> place_roots(Folder& top) {
    std::vector<std::string> always = {};
    if (!plan_.python.interpreter.empty()) {
      always = {"bin", "lib", site_packages()};
    }
    for (std::size_t i = 0; i < plan_.objects.size(); ++i) {
      for (const store::Root& root : plan_.objects[i].roots) {
        const bool is_site = root.place == kSitePackages;
        if (is_site && plan_.python.interpreter.empty()) {
          return Error{Errc::usage,
                       name_of(static_cast<int>(i)) +
                           " has Python modules, and this environment has no Python",
                       {}};
        }
        const std::string place = is_site ? site_packages() : root.place;
        folder_at(top, place).sources.push_back({static_cast<int>(i), root.folder});
        if (place == "bin" || place == "lib" || place == "lib64" || place == "include" || is_site) {
          always.push_back(place);
        }
      }
    }
    for (const std::string& place : always) {
      folder_at(top, place).real = true;
    }
    return {};
  }

  Result<std::vector<std::string>> listing(const Source& source) {
    const Object& one = object(source.object);
    const auto found = one.shape.listing.find(source.path);
    return found != one.shape.listing.end() ? found->second
                                            : tree_listing(store_, one.id(), source.path);
  }

  /// What stands under one name.
  struct Group {
    std::vector<Source> folders;
    std::vector<Source> files;
  };

  Result<void> expand(const Folder& folder, const std::string& path) {
    if (!path.empty()) {
      plan_.items.push_back({path, Item::Kind::folder, "", false, -1, "", false});
    }
    std::map<std::string, Group> groups;
    for (const Source& source : folder.sources) {
      GOLDENV_TRY(const std::vector<std::string> names, listing(source));
      for (const std::string& name : names) {
        const bool is_folder = name.ends_with('/');
        const std::string bare = is_folder ? name.substr(0, name.size() - 1) : name;
        if (path.empty() && bare == "lib64" && !is_folder) {
          continue;  // the link that every environment has
        }
        Group& group = groups[path.empty() && bare == "lib64" ? "lib" : bare];
        (is_folder ? group.folders : group.files)
            .push_back({source.object, below(source.path, bare)});
      }
    }
    for (const auto& [name, child] : folder.children) {
      groups[name];
    }
    Result<void> compiled;
    for (const auto& [name, group] : groups) {
      const auto child = folder.children.find(name);
      const bool is_place = child != folder.children.end();
      Result<void> done =
          is_place || !group.folders.empty()
              ? add_folder(group, is_place ? &child->second : nullptr, below(path, name))
              : add_file(group, below(path, name));
      if (!done && name == "__pycache__") {
        compiled =
            std::move(done);  // people know the source that it comes of, if that differs, too
      } else if (!done) {
        return done;
      }
    }
    return compiled;
  }

  Result<void> add_folder(const Group& group, const Folder* place, const std::string& path) {
    Folder folder = place != nullptr ? *place : Folder{};
    folder.sources.insert(folder.sources.end(), group.folders.begin(), group.folders.end());
    if (!group.files.empty()) {
      const std::string other = folder.sources.empty() ? "the environment itself"
                                                       : name_of(folder.sources.front().object);
      return Error{
          Errc::failed,
          path + ": a file of " + name_of(group.files.front().object) + " and a folder of " + other,
          {}};
    }
    if (folder.sources.empty() && folder.children.empty() && !folder.real) {
      return {};
    }
    const bool is_one = folder.sources.size() == 1 && folder.children.empty() && !folder.real;
    if (is_one) {
      const Source& source = folder.sources.front();
      const auto& real = lookups_[static_cast<std::size_t>(source.object)].real;
      // A root that is the whole tree has no name that a link could lead to as a folder of it.
      if (!real.contains(source.path) && !source.path.empty()) {
        add_link(source, path, true);
        return {};
      }
    }
    return expand(folder, path);
  }

  Result<void> add_file(const Group& group, const std::string& path) {
    const Source& first = group.files.front();
    for (std::size_t i = 1; i < group.files.size(); ++i) {
      const Source& other = group.files[i];
      GOLDENV_TRY(const bool alike, same_file(store_, object(first.object).id(), first.path,
                                              object(other.object).id(), other.path));
      if (!alike) {
        return Error{Errc::failed,
                     path + ": " + name_of(first.object) + " and " + name_of(other.object) +
                         " both have it, with other bytes; they cannot be in one environment",
                     {}};
      }
    }
    if (lookups_[static_cast<std::size_t>(first.object)].copies.contains(first.path)) {
      plan_.items.push_back({path, Item::Kind::copy,
                             store_.tree(object(first.object).id()) + "/" + first.path, true,
                             first.object, first.path, false});
    } else {
      add_link(first, path, false);
    }
    return {};
  }

  void add_link(const Source& source, const std::string& path, bool to_folder) {
    plan_.items.push_back({path, Item::Kind::link,
                           to_top(path) + ".o/" + std::to_string(source.object) + "/" + source.path,
                           false, source.object, source.path, to_folder});
  }

  void add(std::string path, Item::Kind kind, std::string text, bool executable = false) {
    plan_.items.push_back({std::move(path), kind, std::move(text), executable, -1, "", false});
  }

  /// What an environment has beside its objects.
  Result<void> add_own() {
    std::unordered_set<std::string> taken;
    for (const Item& item : plan_.items) {
      taken.insert(item.path);
    }
    const bool has_lib = taken.contains("lib");
    const std::size_t before = plan_.items.size();
    add(std::string(kRecord), Item::Kind::written, record_text(plan_));
    add(".o", Item::Kind::folder, "");
    for (std::size_t i = 0; i < plan_.objects.size(); ++i) {
      add(".o/" + std::to_string(i), Item::Kind::link, store_.tree(plan_.objects[i].id()));
    }
    if (has_lib) {
      // Else wheels that are installed to lib64 by other tools are cut off.
      add("lib64", Item::Kind::link, "lib");
    }
    if (!plan_.python.interpreter.empty()) {
      add("pyvenv.cfg", Item::Kind::written, venv_text(plan_.python));
      add("bin/python", Item::Kind::link, plan_.python.interpreter);
      add("bin/python3", Item::Kind::link, "python");
      add("bin/python" + plan_.python.version, Item::Kind::link, "python");
    }
    for (std::size_t i = before; i < plan_.items.size(); ++i) {
      if (!taken.insert(plan_.items[i].path).second) {
        return Error{Errc::failed,
                     plan_.items[i].path + ": an object has what is the environment's own",
                     {}};
      }
    }
    return add_scripts(taken);
  }

  Result<void> add_scripts(const std::unordered_set<std::string>& taken) {
    std::map<std::string, std::pair<store::Script, int>> scripts;
    for (std::size_t i = 0; i < plan_.objects.size(); ++i) {
      for (const store::Script& script : plan_.objects[i].scripts) {
        const auto [at, fresh] =
            scripts.try_emplace("bin/" + script.name, script, static_cast<int>(i));
        if ((!fresh && at->second.first != script) || taken.contains(at->first)) {
          return Error{Errc::failed,
                       at->first + ": " + name_of(static_cast<int>(i)) + " and " +
                           (fresh ? "another" : name_of(at->second.second)) +
                           " both have a program of this name",
                       {}};
        }
      }
    }
    for (const auto& [path, script] : scripts) {
      GOLDENV_TRY(std::string text, script_text(plan_, script.first));
      add(path, Item::Kind::written, std::move(text), true);
    }
    return {};
  }

  const store::Store& store_;
  Plan& plan_;
  std::vector<Lookup> lookups_;
};

bool is_version(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  return parts.size() == 2 && to_number(parts[0]) && to_number(parts[1]);
}

}  // namespace

std::string generation_digest(std::vector<std::string> ids, const BasePython& python) {
  std::ranges::sort(ids);
  std::string text(kForm);
  text += "python " + python.version + " " + python.interpreter + "\n";
  for (const std::string& id : ids) {
    text += "object " + id + "\n";
  }
  return Sha256::of(text).hex();
}

Result<Plan> plan(const store::Store& store, std::vector<Object> objects,
                  const BasePython& python) {
  if (!python.interpreter.empty() &&
      (!python.interpreter.starts_with('/') || !is_version(python.version))) {
    return Error{Errc::usage,
                 "an environment's Python is an absolute path and a version like 3.11, not \"" +
                     python.interpreter + "\", \"" + python.version + "\"",
                 {}};
  }
  Plan plan;
  std::ranges::sort(objects, {}, &Object::id);
  std::vector<std::string> ids;
  for (const Object& object : objects) {
    if (!ids.empty() && ids.back() == object.id()) {
      return Error{Errc::usage, object.id() + ": the same object twice", {}};
    }
    ids.push_back(object.id());
  }
  plan.digest = generation_digest(ids, python);
  plan.folder = store.generation(plan.digest);
  plan.python = python;
  plan.objects = std::move(objects);
  if (Result<void> planned = Planning(store, plan).run(); !planned) {
    return std::move(planned).error();
  }
  return plan;
}

}  // namespace goldenv::compose

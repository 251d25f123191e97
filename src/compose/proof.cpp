#include "compose/proof.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"

namespace goldenv::compose {
namespace {

using store::ElfFile;
using store::Object;

constexpr int kInEnvironment = -1;

/// A place that a walk leads to: in the environment itself, or in an object's tree.
struct Location {
  int object = kInEnvironment;
  std::string path;  ///< below the environment or the tree; "" for its top
  friend bool operator==(const Location&, const Location&) = default;
};

std::string below(const std::string& folder, std::string_view name) {
  return folder.empty() ? std::string(name) : folder + "/" + std::string(name);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// "a/b/../c" as text, none where it leaves the top.
std::optional<std::string> normal(const std::string& path) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(path, '/')) {
    if (part == "..") {
      if (parts.empty()) {
        return std::nullopt;
      }
      parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.emplace_back(part);
    }
  }
  return join(parts, "/");
}

/// What stands behind $ORIGIN in an entry of a search path, "" for $ORIGIN alone; none in an entry
/// of another kind.
std::optional<std::string> behind_origin(std::string_view entry) {
  for (const std::string_view token : {"$ORIGIN", "${ORIGIN}"}) {
    if (entry == token) {
      return std::string();
    }
    if (entry.starts_with(token) && entry[token.size()] == '/') {
      return std::string(entry.substr(token.size() + 1));
    }
  }
  return std::nullopt;
}

/// An environment that is not there yet, and what its objects have of the loader's interest.
class Paper {
 public:
  explicit Paper(const Plan& plan) : plan_(plan), objects_(plan.objects.size()) {
    for (const Item& item : plan.items) {
      items_.emplace(item.path, &item);
    }
    for (std::size_t i = 0; i < plan.objects.size(); ++i) {
      Known& known = objects_[i];
      for (const ElfFile& elf : plan.objects[i].shape.elf) {
        known.files.emplace(elf.path, &elf);
        for (std::string folder = folder_of(elf.path); known.folders.insert(folder).second;
             folder = folder_of(folder)) {
        }
      }
    }
  }

  /// Where a walk ends, each link followed as the kernel does: `..` behind one steps out of what it
  /// leads to. None where nothing is known of such a folder.
  [[nodiscard]] std::optional<Location> walk(Location at, std::string_view path) const {
    for (const std::string_view part : split(path, '/')) {
      if (part.empty() || part == ".") {
        continue;
      }
      if (part == "..") {
        if (at.path.empty()) {
          return std::nullopt;
        }
        at.path = folder_of(at.path);
        continue;
      }
      const std::optional<Location> next = step(at, part);
      if (!next) {
        return std::nullopt;
      }
      at = *next;
    }
    return at;
  }

  /// The object's file that a folder has under a name.
  [[nodiscard]] std::optional<Location> file_in(const Location& folder,
                                                std::string_view name) const {
    const std::string path = below(folder.path, name);
    if (folder.object != kInEnvironment) {
      return has_file(folder.object, path) ? std::optional(Location{folder.object, path})
                                           : std::nullopt;
    }
    const auto found = items_.find(path);
    if (found == items_.end() || found->second->object < 0 || found->second->folder_link) {
      return std::nullopt;
    }
    return Location{found->second->object, found->second->source};
  }

  [[nodiscard]] const Item* item(const std::string& path) const {
    const auto found = items_.find(path);
    return found == items_.end() ? nullptr : found->second;
  }

  /// For people: "lib/python3.11/site-packages/nvidia/nccl/lib" or "numpy 1.26.4's site/numpy".
  [[nodiscard]] std::string text(const Location& location) const {
    if (location.object == kInEnvironment) {
      return "the environment's " + (location.path.empty() ? "top" : location.path);
    }
    const Object& object = plan_.objects[static_cast<std::size_t>(location.object)];
    return object.name + " " + object.version + "'s own " + location.path;
  }

 private:
  struct Known {
    std::unordered_map<std::string_view, const ElfFile*> files;
    std::unordered_set<std::string> folders;
  };

  [[nodiscard]] bool has_file(int object, const std::string& path) const {
    return objects_[static_cast<std::size_t>(object)].files.contains(path);
  }

  [[nodiscard]] std::optional<Location> step(const Location& at, std::string_view name) const {
    const std::string path = below(at.path, name);
    if (at.object != kInEnvironment) {
      const Known& known = objects_[static_cast<std::size_t>(at.object)];
      return known.folders.contains(path) ? std::optional(Location{at.object, path}) : std::nullopt;
    }
    const Item* found = item(path);
    if (found == nullptr) {
      return std::nullopt;
    }
    if (found->kind == Item::Kind::folder) {
      return Location{kInEnvironment, path};
    }
    if (found->kind != Item::Kind::link) {
      return std::nullopt;
    }
    if (found->object >= 0) {
      return found->folder_link ? std::optional(Location{found->object, found->source})
                                : std::nullopt;
    }
    // lib64 -> lib; what leads out of the environment leads to nothing of it.
    return found->text.starts_with('/') ? std::nullopt
                                        : walk({kInEnvironment, at.path}, found->text);
  }

  const Plan& plan_;
  std::unordered_map<std::string_view, const Item*> items_;
  std::vector<Known> objects_;
};

class Proving {
 public:
  explicit Proving(const Plan& plan) : plan_(plan), paper_(plan) {
    for (std::size_t i = 0; i < plan.objects.size(); ++i) {
      for (const ElfFile& elf : plan.objects[i].shape.elf) {
        Subject subject{static_cast<int>(i), &elf, place_of(static_cast<int>(i), elf.path)};
        if (subject.place.empty()) {
          continue;  // under no root: no process of the environment comes across it
        }
        provided_.insert(name_of(elf.path));
        for (const std::string& needed : elf.needed) {
          needing_[needed].push_back(subjects_.size());
        }
        subjects_.push_back(std::move(subject));
      }
    }
  }

  Result<Proof> run() {
    for (const Subject& subject : subjects_) {
      for (const std::string& name : subject.elf->needed) {
        if (provided_.contains(name)) {
          prove_needed(subject, name);
        }
      }
      for (const std::string& entry : searched(*subject.elf)) {
        prove_entry(subject, entry);
      }
    }
    if (failures_.empty()) {
      return std::move(proof_);
    }
    std::string text = failures_.front();
    if (failures_.size() > 1) {
      text += " (and " + std::to_string(failures_.size() - 1) + " more)";
    }
    return Error{Errc::failed,
                 std::move(text),
                 {"proving on paper that the environment's libraries are found"}};
  }

 private:
  struct Subject {
    int object = 0;
    const ElfFile* elf = nullptr;
    std::string place;  ///< below the environment
  };

  static const std::vector<std::string>& searched(const ElfFile& elf) {
    return elf.runpath.empty() ? elf.rpath : elf.runpath;
  }

  /// Where a file of an object is in the environment: by the root with the longest folder.
  [[nodiscard]] std::string place_of(int object, const std::string& path) const {
    const store::Root* best = nullptr;
    for (const store::Root& root : plan_.objects[static_cast<std::size_t>(object)].roots) {
      const bool in = root.folder.empty() || path.starts_with(root.folder + "/");
      if (in && (best == nullptr || root.folder.size() > best->folder.size())) {
        best = &root;
      }
    }
    if (best == nullptr) {
      return {};
    }
    const std::string rest = best->folder.empty() ? path : path.substr(best->folder.size() + 1);
    if (best->place == "site-packages") {
      return "lib/python" + plan_.python.version + "/site-packages/" + rest;
    }
    return best->place == "." ? rest : best->place + "/" + rest;
  }

  /// Where the walk of an $ORIGIN entry begins: where a library lies by the text of its path; where
  /// a program is, the kernel having followed the link to it.
  [[nodiscard]] std::optional<Location> origin(const Subject& subject) const {
    if (subject.elf->program) {
      const Item* item = paper_.item(subject.place);
      if (item == nullptr || item->kind != Item::Kind::copy) {
        return Location{subject.object, folder_of(subject.elf->path)};
      }
    }
    return paper_.walk({}, folder_of(subject.place));
  }

  /// The environment's file that the text of a search path leads to.
  [[nodiscard]] std::optional<Location> by_text(const Subject& subject,
                                                const std::string& name) const {
    for (const std::string& entry : searched(*subject.elf)) {
      const auto rest = behind_origin(entry);
      const auto path =
          rest ? normal(folder_of(subject.place) + "/" + *rest) : std::optional<std::string>();
      const auto folder = path ? paper_.walk({}, *path) : std::optional<Location>();
      auto file = folder ? paper_.file_in(*folder, name) : std::optional<Location>();
      if (file) {
        return file;
      }
    }
    return std::nullopt;
  }

  /// The file that the loader would come across first; `elsewhere` where a folder that an entry
  /// names absolutely has it on this machine.
  [[nodiscard]] std::optional<Location> by_walk(const Subject& subject, const std::string& name,
                                                std::string& elsewhere) const {
    const std::optional<Location> start = origin(subject);
    for (const std::string& entry : searched(*subject.elf)) {
      if (entry.starts_with('/')) {
        const std::string path = entry + "/" + name;
        if (::access(path.c_str(), F_OK) == 0) {
          elsewhere = path;
          return std::nullopt;
        }
        continue;
      }
      const auto rest = behind_origin(entry);
      const auto folder = rest && start ? paper_.walk(*start, *rest) : std::optional<Location>();
      auto file = folder ? paper_.file_in(*folder, name) : std::optional<Location>();
      if (file) {
        return file;
      }
    }
    return std::nullopt;
  }

  void fail(const Subject& subject, const std::string& what) {
    const Object& object = plan_.objects[static_cast<std::size_t>(subject.object)];
    failures_.push_back(subject.place + " of " + object.name + " " + object.version + " " + what);
  }

  void prove_needed(const Subject& subject, const std::string& name) {
    std::string elsewhere;
    const std::optional<Location> found = by_walk(subject, name, elsewhere);
    const std::optional<Location> wanted = by_text(subject, name);
    if (!elsewhere.empty()) {
      return fail(subject, "would take " + name + " from " + elsewhere +
                               ", which its search path names before the environment");
    }
    if (wanted && found != wanted) {
      return fail(subject, "would not find " + name + " in the environment: of its search path, " +
                               join(searched(*subject.elf), ":") + ", no folder leads to " +
                               paper_.text(*wanted));
    }
    if (found || by_those_who_need(subject, name)) {
      ++proof_.proved;
    } else {
      proof_.unproved.push_back({subject.place, name});
    }
  }

  /// Whether the DT_RPATH of some file that needs this one, or of one that needs that, leads to the
  /// name: a file without DT_RUNPATH is searched for by those, too.
  [[nodiscard]] bool by_those_who_need(const Subject& subject, const std::string& name) const {
    if (!subject.elf->runpath.empty()) {
      return false;
    }
    std::unordered_set<std::string> seen = {name_of(subject.elf->path)};
    std::vector<std::string> left = {name_of(subject.elf->path)};
    while (!left.empty()) {
      const auto found = needing_.find(left.back());
      left.pop_back();
      if (found == needing_.end()) {
        continue;
      }
      for (const std::size_t index : found->second) {
        const Subject& above = subjects_[index];
        std::string elsewhere;
        if (above.elf->runpath.empty() && by_walk(above, name, elsewhere)) {
          return true;
        }
        if (seen.insert(name_of(above.elf->path)).second) {
          left.push_back(name_of(above.elf->path));
        }
      }
    }
    return false;
  }

  /// What is opened by name later on (dlopen) is in no list: so a folder that an entry names must
  /// be that folder of the environment.
  void prove_entry(const Subject& subject, const std::string& entry) {
    const auto rest = behind_origin(entry);
    const auto path =
        rest ? normal(folder_of(subject.place) + "/" + *rest) : std::optional<std::string>();
    const auto wanted = path ? paper_.walk({}, *path) : std::optional<Location>();
    if (!wanted) {
      return;
    }
    const std::optional<Location> start = origin(subject);
    const auto found = start ? paper_.walk(*start, *rest) : std::optional<Location>();
    // A program that is only linked finds its own object's libraries, and those need nothing of
    // other objects by $ORIGIN.
    const Object& object = plan_.objects[static_cast<std::size_t>(subject.object)];
    const bool is_at_home = subject.elf->program && object.shape.real.empty() && found &&
                            found->object == subject.object;
    if (found != wanted && !is_at_home) {
      fail(subject, "has " + entry + " in its search path, which does not lead to " + *path +
                        " of the environment but to " +
                        (found ? paper_.text(*found) : std::string("nothing of it")));
    }
  }

  const Plan& plan_;
  Paper paper_;
  std::vector<Subject> subjects_;
  std::unordered_set<std::string> provided_;
  std::unordered_map<std::string, std::vector<std::size_t>> needing_;
  Proof proof_;
  std::vector<std::string> failures_;
};

}  // namespace

Result<Proof> prove_on_paper(const Plan& plan) { return Proving(plan).run(); }

}  // namespace goldenv::compose

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "elf/file.h"
#include "elf/image.h"
#include "store/descriptor.h"
#include "unpack/contents.h"

namespace goldenv::unpack {
namespace {

// Where site-packages lies in an environment, X.Y aside: what matters is how many folders deep.
constexpr std::string_view kSite = "lib/python/site-packages";

/// The rest of an entry that begins with $ORIGIN.
std::optional<std::string_view> behind_origin(std::string_view entry) {
  for (const std::string_view token : {"$ORIGIN", "${ORIGIN}"}) {
    if (entry.starts_with(token)) {
      return entry.substr(token.size());
    }
  }
  return std::nullopt;
}

/// What the roots of an object make of its folders in an environment.
class Places {
 public:
  Places(const std::vector<store::Root>& roots, const std::set<std::string>& folders)
      : roots_(roots) {
    for (const std::string& folder : folders) {
      const std::vector<std::string> parts = place_of(folder);
      if (!parts.empty()) {
        folders_[join(parts, "/")] = folder;
      }
    }
  }

  /// The parts of a folder's place; none where it is the environment's top or outside of the roots.
  [[nodiscard]] std::vector<std::string> place_of(const std::string& folder) const {
    for (const store::Root& root : roots_) {
      const bool is_below =
          root.folder.empty() || folder == root.folder || folder.starts_with(root.folder + "/");
      if (!is_below) {
        continue;
      }
      std::string below = root.folder.empty()
                              ? folder
                              : folder.substr(std::min(folder.size(), root.folder.size() + 1));
      const std::string place = root.place == "site-packages" ? std::string(kSite)
                                : root.place == "."           ? std::string()
                                                              : root.place;
      std::vector<std::string> parts;
      for (const std::string& text : {place, below}) {
        for (const std::string_view part : split(text, '/')) {
          if (!part.empty()) {
            parts.emplace_back(part);
          }
        }
      }
      return parts;
    }
    return {};
  }

  /// The folder of the tree at a place; none where the object has nothing there.
  [[nodiscard]] std::optional<std::string> folder_at(const std::vector<std::string>& place) const {
    const auto found = folders_.find(join(place, "/"));
    return found == folders_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  const std::vector<store::Root>& roots_;
  std::map<std::string, std::string> folders_;
};

struct Walk {
  std::vector<std::string> stepped_out;  ///< folders of the tree that a `..` steps out of
  bool leads_out = false;
};

Walk walk(const Places& places, const std::string& folder, std::string_view entry) {
  std::vector<std::string> at = places.place_of(folder);
  Walk result;
  for (const std::string_view part : split(entry, '/')) {
    if (part.empty() || part == ".") {
      continue;
    }
    if (part != "..") {
      at.emplace_back(part);
      continue;
    }
    if (const auto own = places.folder_at(at)) {
      result.stepped_out.push_back(*own);
    }
    if (!at.empty()) {
      at.pop_back();
    }
  }
  result.leads_out = !result.stepped_out.empty() && !places.folder_at(at);
  return result;
}

std::string above(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

/// Whether a file is a program: it asks for an interpreter, and is no library that can be run, too.
bool is_program(int fd, const std::string& path, const elf::Image& image) {
  if (!image.soname.empty()) {
    return false;
  }
  const auto file = elf::File::open(fd, path);
  return file && std::any_of(file->segments().begin(), file->segments().end(),
                             [](const GElf_Phdr& one) { return one.p_type == PT_INTERP; });
}

}  // namespace

bool is_elf(std::string_view head) {
  return head.starts_with(
      "\x7f"
      "ELF");
}

Result<store::Shape> shape_of(const Job& job, const Contents& contents, int tree) {
  std::set<std::string> folders;
  std::map<std::string, std::set<std::string>> members;
  for (const store::File& file : contents.files) {
    std::string name = file.path;
    bool is_folder = false;
    while (true) {
      const std::string folder = above(name);
      const std::string last = name.substr(folder.empty() ? 0 : folder.size() + 1);
      if (!members[folder].insert(is_folder ? last + "/" : last).second || folder.empty()) {
        break;
      }
      folders.insert(folder);
      name = folder;
      is_folder = true;
    }
  }
  const Places places(contents.roots, folders);
  store::Shape shape;
  std::vector<std::string> programs;
  bool leads_out = false;
  std::set<std::string> stepped_out;
  for (const std::string& path : contents.elf) {
    const std::string folder = above(path);
    const store::Descriptor opened(open_below(tree, folder));
    const store::Descriptor fd(
        opened ? openat(opened.get(), path.substr(folder.empty() ? 0 : folder.size() + 1).c_str(),
                        O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
               : -1);
    if (!fd) {
      return Error{Errc::failed, job.artifact.file + ": " + path + " cannot be read again", {}};
    }
    auto image = elf::read_open(fd.get(), path);
    if (!image) {
      continue;  // the bad examples of a package that reads ELF files
    }
    bool has_origin = false;
    for (const auto* entries : {&image->rpath, &image->runpath}) {
      for (const std::string& entry : *entries) {
        if (const auto rest = behind_origin(entry)) {
          has_origin = true;
          Walk walked = walk(places, folder, *rest);
          leads_out = leads_out || walked.leads_out;
          stepped_out.insert(walked.stepped_out.begin(), walked.stepped_out.end());
        }
      }
    }
    if (has_origin && is_program(fd.get(), path, *image)) {
      programs.push_back(path);
    }
    if (!image->soname.empty() || !image->needed.empty() || has_origin || !image->rpath.empty() ||
        !image->runpath.empty()) {
      shape.elf.push_back({path, std::move(image->soname), std::move(image->needed),
                           std::move(image->rpath), std::move(image->runpath)});
    }
  }
  std::sort(shape.elf.begin(), shape.elf.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });

  std::set<std::string> real;
  std::set<std::string> copies(contents.python_scripts.begin(), contents.python_scripts.end());
  // One entry that leads out makes the others of the object lead through real folders, too:
  // functorch's leads into torch/lib, whose own lead out.
  if (leads_out) {
    real = stepped_out;
    copies.insert(programs.begin(), programs.end());
  }
  for (const std::string& asked : job.unfold) {
    for (const std::string& folder : folders) {
      for (const std::string& top : {asked, "site/" + asked}) {
        if (folder == top || folder.starts_with(top + "/")) {
          real.insert(folder);
        }
      }
    }
  }
  if (job.copies_all) {
    real = folders;
    for (const store::File& file : contents.files) {
      copies.insert(file.path);
    }
  }
  std::set<std::string> listed;
  for (const std::string& folder : real) {
    listed.insert(folder);
  }
  for (const store::Root& root : contents.roots) {
    listed.insert(root.folder);
  }
  for (const std::string& folder : std::set<std::string>(listed)) {
    for (std::string up = above(folder); !up.empty(); up = above(up)) {
      listed.insert(up);
    }
  }
  for (const std::string& folder : listed) {
    const auto found = members.find(folder);
    if (found != members.end()) {
      shape.listing[folder].assign(found->second.begin(), found->second.end());
    }
  }
  shape.real.assign(real.begin(), real.end());
  shape.copies.assign(copies.begin(), copies.end());
  return shape;
}

}  // namespace goldenv::unpack

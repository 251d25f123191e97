#include "probe/library_copies.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "loader/loader.h"
#include "loader/system.h"
#include "probe/cuda_folder.h"
#include "probe/library_in_force.h"
#include "probe/path_text.h"
#include "probe/presence.h"
#include "probe/python_target.h"
#include "probe/redact.h"
#include "probe/triplet_folders.h"

namespace goldenv::probe {
namespace {

using host::FileStatus;

/// Names of shared libraries by folder, listed once for all libraries that are searched for.
struct LibraryFolders {
  struct Folder {
    std::string path;  // without links
    std::vector<host::DirEntry> libraries;
  };
  std::vector<Folder> folders;
  std::vector<Error> unseen;
};

class Listing {
 public:
  explicit Listing(const host::Host& host) : host_(host) {}

  void add(const std::string& folder) {
    if (folder.empty() || folder.front() != '/' || base_name(folder) == "stubs") {
      return;
    }
    const Result<std::string> real = host_.real_path(folder);
    if (!real) {
      note(folder, real.error());
      return;
    }
    if (base_name(*real) == "stubs" || !seen_.insert(*real).second) {
      return;
    }
    Result<std::vector<host::DirEntry>> entries = host_.list(*real);
    if (!entries) {
      note(*real, entries.error());
      return;
    }
    std::erase_if(*entries, [](const host::DirEntry& entry) {
      return !entry.name.starts_with("lib") || entry.name.find(".so") == std::string::npos ||
             (entry.kind != FileStatus::Kind::file && entry.kind != FileStatus::Kind::link);
    });
    if (!entries->empty()) {
      found_.folders.push_back({*real, *std::move(entries)});
    }
  }

  /// `<folder>/<entry>/<below>` for each entry that `takes` accepts.
  template <typename Takes>
  void add_each(const std::string& folder, Takes takes, std::string_view below) {
    const auto entries = host_.list(folder);
    if (!entries) {
      note(folder, entries.error());
      return;
    }
    for (const host::DirEntry& entry : *entries) {
      if (entry.kind != FileStatus::Kind::file && takes(entry.name)) {
        add(folder + "/" + entry.name + std::string(below));
      }
    }
  }

  void unseen(const std::vector<Error>& errors) {
    found_.unseen.insert(found_.unseen.end(), errors.begin(), errors.end());
  }

  LibraryFolders take() && { return std::move(found_); }

 private:
  void note(const std::string& folder, const Error& error) {
    if (error.code == Errc::absent) {
      return;
    }
    const auto status = host_.status(folder);  // LD_LIBRARY_PATH may name a file: nothing to list
    if (status && status->kind != FileStatus::Kind::folder) {
      return;
    }
    found_.unseen.push_back(error);
  }

  const host::Host& host_;
  std::set<std::string> seen_;
  LibraryFolders found_;
};

bool any(std::string_view) { return true; }

LibraryFolders list_folders(Survey& survey) {
  const host::Host& host = survey.host();
  Listing listing(host);
  listing.unseen(python_scene(survey).unseen);
  for (const Python& python : python_scene(survey).pythons) {
    for (const UnlistedFolder& folder : python.unlisted) {
      listing.unseen({folder.error});
    }
    if (python.torch_error) {
      listing.unseen({*python.torch_error});
    }
    for (const SiteFolder& folder : python.folders) {
      listing.add_each(folder.path + "/nvidia", any, "/lib");
      listing.add_each(
          folder.path, [](std::string_view name) { return name.ends_with(".libs"); }, "");
    }
    if (!python.torch.empty()) {
      listing.add(python.torch + "/lib");
    }
    listing.add(python.prefix + "/lib");
  }
  listing.unseen(unseen_cuda_folders(survey));
  for (const std::string& toolkit : cuda_folders(survey)) {
    listing.add(toolkit + "/lib64");
    listing.add(toolkit + "/lib");
    listing.add_each(toolkit + "/targets", any, "/lib");
  }
  std::vector<std::string> folders = {"/usr/lib64",
                                      "/usr/lib",
                                      "/lib64",
                                      "/lib",
                                      "/usr/local/lib",
                                      "/usr/local/lib64",
                                      "/usr/local/nvidia/lib64",
                                      "/usr/lib/wsl/lib"};
  std::vector<Error> unseen;
  for (const char* base : {"/usr/lib", "/lib", "/usr/local/lib"}) {
    for (std::string& folder : triplet_folders(host, base, unseen)) {
      folders.push_back(std::move(folder));
    }
  }
  for (const std::string& folder : folders) {
    listing.add(folder);
  }
  listing.add_each("/opt", any, "/lib");
  listing.add_each("/opt", any, "/lib64");
  const std::string cache = text_or_none(host, "/etc/ld.so.cache", unseen);
  if (const auto entries = loader::parse_cache(cache)) {
    for (const loader::CacheEntry& entry : *entries) {
      listing.add(std::string(folder_of(entry.path)));
    }
  }
  const loader::Configuration configured = loader::configuration(host);
  for (const std::string& folder : configured.folders) {
    listing.add(folder);
  }
  if (const auto known = variables_known(host); !known) {
    unseen.push_back(known.error());
  }
  listing.unseen(unseen);
  listing.unseen(configured.unseen);
  const std::string library_path = redact(host.variable("LD_LIBRARY_PATH").value_or(""));
  for (const std::string_view folder : split(library_path, ':')) {
    listing.add(std::string(folder));
  }
  return std::move(listing).take();
}

/// Of several names of one file: in the file's own folder, with a version, and the shortest of
/// those.
bool is_better_label(std::string_view a, std::string_view b, std::string_view real_folder) {
  const bool a_home = folder_of(a) == real_folder;
  const bool b_home = folder_of(b) == real_folder;
  if (a_home != b_home) {
    return a_home;
  }
  const bool a_bare = a.ends_with(".so");
  const bool b_bare = b.ends_with(".so");
  if (a_bare != b_bare) {
    return b_bare;
  }
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace

bool is_library_of(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem)) {
    return false;
  }
  name.remove_prefix(stem.size());
  if (name.starts_with('-')) {
    // Wheel builders append the first digits of the file's digest: libcudart-9335f6a2.so.12.
    const std::size_t end = name.find_first_not_of("0123456789abcdef", 1);
    if (end == std::string_view::npos || end < 7) {
      return false;
    }
    name.remove_prefix(end);
  }
  if (!name.starts_with(".so")) {
    return false;
  }
  name.remove_prefix(3);
  return name.empty() ||
         (name.front() == '.' && name.find_first_not_of("0123456789.") == std::string_view::npos);
}

LibraryCopies library_copies(Survey& survey, std::string_view stem) {
  return library_copies(survey,
                        [stem](std::string_view name) { return is_library_of(name, stem); });
}

LibraryCopies library_copies(Survey& survey,
                             const std::function<bool(std::string_view name)>& matches) {
  const auto& index = survey.shared<LibraryFolders>([&] { return list_folders(survey); });
  const host::Host& host = survey.host();
  LibraryCopies found;
  found.unseen = index.unseen;
  std::map<std::string, std::string> label_of;  // by real path
  for (const LibraryFolders::Folder& folder : index.folders) {
    for (const host::DirEntry& entry : folder.libraries) {
      if (!matches(entry.name)) {
        continue;
      }
      const std::string path = folder.path + "/" + entry.name;
      std::string real = path;
      if (entry.kind == FileStatus::Kind::link) {
        const auto target = host.real_path(path);
        if (!target) {
          if (target.error().code != Errc::absent) {  // a link that leads nowhere is no copy
            found.unseen.push_back(target.error());
          }
          continue;
        }
        real = *target;
        if (base_name(folder_of(real)) == "stubs") {
          continue;
        }
      }
      const auto [at, is_new] = label_of.try_emplace(real, path);
      if (!is_new && is_better_label(path, at->second, folder_of(real))) {
        at->second = path;
      }
    }
  }
  for (const auto& [real, path] : label_of) {
    found.copies.push_back({path, real, origin_reading(origin_of_place(survey, path))});
  }
  std::ranges::sort(found.copies, {}, &LibraryCopy::path);
  return found;
}

Result<std::string> origin_of_place(Survey& survey, std::string_view path) {
  if (const SiteOf site = site_of(survey, path); site.folder != nullptr) {
    if (!site.python->torch.empty() && is_below(path, site.python->torch)) {
      return std::string("torch");
    }
    return std::string(site.folder->distribution ? "system" : "wheel");
  }
  if (path.find("/site-packages/") != std::string_view::npos ||
      path.find("/dist-packages/") != std::string_view::npos) {
    // Of a Python that could not be looked at.
    const PythonScene& scene = python_scene(survey);
    if (!scene.unseen.empty()) {
      return scene.unseen.front();
    }
    for (const Python& python : scene.pythons) {
      if (!python.unlisted.empty()) {
        return python.unlisted.front().error;
      }
    }
  }
  // Before the toolkits: a conda environment with nvcc is both.
  for (std::string_view folder = folder_of(path); folder.size() > 1; folder = folder_of(folder)) {
    const std::string_view last = base_name(folder);
    if (last == "lib" || last == "lib64" || last == "targets") {
      GOLDENV_TRY(const bool is_conda,
                  is_there(survey.host(), std::string(folder_of(folder)) + "/conda-meta"));
      if (is_conda) {
        return std::string("conda");
      }
    }
  }
  GOLDENV_TRY(const std::string toolkit, toolkit_of(survey, path));
  return std::string(toolkit.empty() ? "system" : "toolkit");
}

facts::Reading origin_reading(const Result<std::string>& origin) {
  return origin ? facts::Reading(facts::Value::scalar(*origin))
                : facts::Reading(facts::Unknown::from(origin.error()));
}

const Result<elf::Image>& image_of(Survey& survey, const std::string& path) {
  return loader_system(survey).image(path);  // which has read what it found
}

facts::Reading build_id_reading(Survey& survey, const std::string& real_path) {
  const Result<elf::Image>& image = image_of(survey, real_path);
  if (!image) {
    return facts::Unknown::from(image.error());
  }
  if (image->build_id.empty()) {
    return facts::Absent{"the file has no build-id"};
  }
  return facts::Value::scalar(image->build_id);
}

std::string version_text(const facts::Reading& version) {
  const auto* value = std::get_if<facts::Value>(&version);
  if (value == nullptr) {
    return "unknown";
  }
  switch (value->form) {
    case facts::Value::Form::prefix:
      return value->text + "...";
    case facts::Value::Form::one_of:
      return join(value->items, " or ");
    default:
      return value->text;
  }
}

bool wants_copies(const Survey& survey, std::initializer_list<std::string_view> names,
                  std::string_view copies) {
  return survey.wants(copies) || std::ranges::any_of(names, [&](std::string_view name) {
           return !survey.request().only_named || !survey.labels_of(name).empty();
         });
}

facts::Reading copies_reading(const std::vector<facts::Reading>& versions,
                              const std::vector<Error>& unseen) {
  std::optional<facts::Unknown> unknown;
  if (!unseen.empty()) {
    unknown = facts::Unknown::from(unseen.front());
  }
  std::vector<std::string> found;
  std::map<std::string, std::uint64_t> counts;
  for (const facts::Reading& version : versions) {
    found.push_back(version_text(version));
    ++counts[found.back()];
    const auto* value = std::get_if<facts::Value>(&version);
    const bool is_whole = value != nullptr && value->form == facts::Value::Form::scalar;
    if (is_whole || unknown) {
      continue;
    }
    const auto* unread = std::get_if<facts::Unknown>(&version);
    unknown = unread != nullptr ? *unread
                                : facts::Unknown{facts::Why::not_stated,
                                                 "the version of a copy is not whole", ""};
  }
  if (unknown) {
    if (!found.empty()) {
      unknown->detail += (unknown->detail.empty() ? "found: " : "; found: ") + join(found, ", ");
    }
    return *unknown;
  }
  if (versions.empty()) {
    return facts::Absent{"no copy in the places where libraries live"};
  }
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& [version, count] : counts) {
    entries.emplace_back(version, std::to_string(count));
  }
  return facts::Value::map(std::move(entries));
}

}  // namespace goldenv::probe

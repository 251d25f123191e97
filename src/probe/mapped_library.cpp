#include "probe/mapped_library.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "probe/library_copies.h"
#include "probe/path_text.h"
#include "probe/python_target.h"

namespace goldenv::probe {
namespace {

using facts::Unknown;
using facts::Value;
using facts::Why;

/// A clock's tick and the copying of a file take a while.
constexpr std::int64_t kSlack_s = 2;

/// A mapped file as all that reads it names it: with " (deleted)" where something else, or nothing,
/// stands at its path.
std::string name_of(Survey& survey, const host::MappedFile& file) {
  if (file.path.ends_with(host::kDeleted)) {
    return file.path;
  }
  const auto now = survey.host().status(file.path);
  // Where the device is another number (btrfs, overlays) so may the inode be.
  const bool is_other = now && now->inode != file.inode && now->device == file.device;
  const bool is_gone = !now && now.error().code == Errc::absent;
  return is_other || is_gone ? file.path + std::string(host::kDeleted) : file.path;
}

std::string soname_of(Survey& survey, const std::string& path) {
  const Result<elf::Image>& image = image_of(survey, path);
  if (image && !image->soname.empty()) {
    return image->soname;
  }
  return std::string(base_name(path_on_disk(path)));
}

/// Whether a file answers to a soname, by its name or by what it says of itself.
bool answers(Survey& survey, const std::string& path, std::string_view soname) {
  const std::string file = path_on_disk(path);
  const std::string_view name = base_name(file);
  if (name == soname) {
    return true;
  }
  const std::string_view stem = soname.substr(0, soname.find(".so"));
  if (!is_library_of(name, stem)) {
    return false;
  }
  const Result<elf::Image>& image = image_of(survey, path);
  return image ? image->soname == soname : name.starts_with(std::string(soname) + ".");
}

/// What stands at the path of a file that is no longer there.
std::string note_on_disk(Survey& survey, const std::string& path) {
  const auto now = survey.host().status(path);
  if (!now) {
    return now.error().code == Errc::absent ? "on disk now: nothing at this path"
                                            : "on disk now: " + now.error().message;
  }
  const Result<elf::Image>& image = image_of(survey, path);
  if (!image) {
    return "on disk now: another file, " + image.error().message;
  }
  return "on disk now: another file, " +
         (image->build_id.empty() ? "without a build-id" : "build-id " + image->build_id);
}

/// Whose copy a mapped file is. What brought it there stands in the first environment.
Result<std::string> origin_of(Survey& survey, const std::string& path) {
  std::string preloaded = survey.host().variable("LD_PRELOAD").value_or("");
  std::ranges::replace(preloaded, ':', ' ');
  const auto named = words(preloaded);
  if (std::ranges::find(named, path) != named.end()) {
    return std::string("preload");
  }
  Result<std::string> place = origin_of_place(survey, path);
  const std::string folders = survey.host().variable("LD_LIBRARY_PATH").value_or("");
  const auto searched = split(folders, ':');
  const bool is_by_variable =
      std::ranges::find(searched, std::string_view(folder_of(path))) != searched.end();
  return place && *place == "system" && is_by_variable ? Result<std::string>("env") : place;
}

LibraryInForce take(Survey& survey, const std::string& path, std::string soname) {
  const host::Process& process = *survey.host().process();
  LibraryInForce library;
  library.asker =
      torch_folder(survey).empty() ? LibraryInForce::Asker::program : LibraryInForce::Asker::torch;
  library.soname = std::move(soname);
  library.path = path;
  library.real_path = path;
  const std::string on_disk = path_on_disk(path);
  library.is_deleted = on_disk != path;
  library.found = Value::scalar(on_disk);
  library.origin = origin_reading(origin_of(survey, on_disk));
  library.loaders.push_back(path);
  for (const std::string& loader : python_loaders(survey)) {
    library.loaders.push_back(loader);
  }
  library.evidence.from = survey.tilde(path);
  library.evidence.basis = "mapped";
  library.evidence.notes.push_back("mapped by " + process.name);
  if (library.is_deleted) {
    const Result<elf::Image>& mapped = image_of(survey, path);
    if (!mapped) {
      library.evidence.notes.push_back("the file that is mapped: " + mapped.error().message);
    }
    library.evidence.notes.push_back(note_on_disk(survey, on_disk));
  } else if (const auto now = survey.host().status(path);
             now && process.since_s != 0 &&
             now->mtime_ns / 1'000'000'000 > process.since_s + kSlack_s) {
    library.evidence.notes.emplace_back(
        "written to since the process began: what it runs may be older");
  }
  for (std::string& note : library.evidence.notes) {
    note = with_tilde(survey, std::move(note));
  }
  return library;
}

std::optional<LibraryInForce> find(Survey& survey, std::string_view asked,
                                   const std::function<bool(const std::string& path)>& matches) {
  const host::Process* process = survey.host().process();
  if (process == nullptr) {
    return std::nullopt;
  }
  LibraryInForce library;
  library.asker = LibraryInForce::Asker::unknown;
  library.soname = asked;
  library.evidence = {"/proc/" + std::to_string(process->pid) + "/maps", 0, "mapped", "", {}};
  if (!process->mapped) {
    library.found = unseen_of_process(survey, process->mapped.error());
    return library;
  }
  std::vector<std::string> found;
  for (const host::MappedFile& file : *process->mapped) {
    const std::string on_disk = path_on_disk(file.path);
    // By the name first, which costs nothing: a process maps some hundred files.
    if (base_name(on_disk).starts_with(asked.substr(0, asked.find(".so")))) {
      std::string path = name_of(survey, file);
      if (matches(path)) {
        found.push_back(std::move(path));
      }
    }
  }
  if (found.empty()) {
    return std::nullopt;
  }
  if (found.size() > 1) {
    for (std::string& path : found) {
      path = survey.tilde(path);
    }
    library.found =
        Unknown{Why::ambiguous, process->name + " has mapped " + join(found, " and "), ""};
    return library;
  }
  std::string soname = soname_of(survey, found.front());
  return take(survey, found.front(), std::move(soname));
}

}  // namespace

std::optional<LibraryInForce> mapped_library(Survey& survey, std::string_view soname) {
  if (soname.find('/') != std::string_view::npos) {
    return std::nullopt;
  }
  return find(survey, soname,
              [&](const std::string& path) { return answers(survey, path, soname); });
}

std::optional<LibraryInForce> mapped_library_of(Survey& survey, std::string_view stem) {
  return find(survey, stem, [&](const std::string& path) {
    return is_library_of(base_name(path_on_disk(path)), stem);
  });
}

std::vector<std::string> mapped_sonames(
    Survey& survey, const std::function<bool(std::string_view file_name)>& matches) {
  const host::Process* process = survey.host().process();
  std::set<std::string> sonames;
  if (process != nullptr && process->mapped) {
    for (const host::MappedFile& file : *process->mapped) {
      if (matches(base_name(path_on_disk(file.path)))) {
        sonames.insert(soname_of(survey, name_of(survey, file)));
      }
    }
  }
  return {sonames.begin(), sonames.end()};
}

std::string not_mapped_note(const Survey& survey) {
  const host::Process* process = survey.host().process();
  return process == nullptr
             ? ""
             : process->name + " has not mapped it: this is what its loader would take now";
}

std::string path_on_disk(std::string_view path) {
  return std::string(
      path.ends_with(host::kDeleted) ? path.substr(0, path.size() - host::kDeleted.size()) : path);
}

facts::Unknown unseen_of_process(const Survey& survey, const Error& error) {
  Unknown unknown = Unknown::from(error);
  if (unknown.why == Why::denied && survey.host().process() != nullptr) {
    unknown.needs = "same-user";
  }
  return unknown;
}

}  // namespace goldenv::probe

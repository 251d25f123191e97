#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "probe/library_copies.h"
#include "probe/library_in_force.h"
#include "probe/library_owner.h"
#include "probe/path_text.h"
#include "probe/probe.h"
#include "probe/python_target.h"

namespace goldenv::probe {
namespace {

/// "14" of libLLVM-14.so.1, "14.0.6" of libLLVM-14.0.6.so.1, "18.1" of libLLVM.so.18.1; "" for
/// other names.
std::string version_in_llvm_name(std::string_view name) {
  constexpr std::string_view kStem = "libLLVM";
  if (!name.starts_with(kStem)) {
    return {};
  }
  name.remove_prefix(kStem.size());
  std::string_view version;
  if (name.starts_with('-')) {
    version = name.substr(1, name.find(".so") - 1);
  } else if (name.starts_with(".so.")) {
    version = name.substr(4);
  }
  const bool is_version = !version.empty() && version.front() != '.' && version.back() != '.' &&
                          version.find_first_not_of("0123456789.") == std::string_view::npos;
  return is_version ? std::string(version) : std::string();
}

bool is_llvm(std::string_view name) { return !version_in_llvm_name(name).empty(); }

struct Version {
  facts::Reading reading;
  std::string basis;
  std::vector<Error> unseen = {};  ///< what may say more
};

Version version_of(Survey& survey, const LibraryCopy& copy) {
  constexpr std::string_view kDebian[] = {"libllvm"};
  constexpr std::string_view kConda[] = {"libllvm"};
  const LibraryOwners owners =
      library_owners(survey, copy.path, copy.real_path, {{}, kDebian, kConda});
  if (!owners.found.empty()) {
    const std::string& stated = owners.found.front().version;
    return {facts::Value::scalar(stated.substr(0, stated.find_first_not_of("0123456789."))),
            "package " + owners.found.front().package};
  }
  std::string named = version_in_llvm_name(base_name(copy.real_path));
  if (std::ranges::count(named, '.') >= 2) {
    return {facts::Value::scalar(std::move(named)), "file name"};
  }
  return {facts::Value::prefix(std::move(named)), "file name", owners.unseen};
}

/// Nothing of torch names libLLVM; what numba, triton or a graphics stack would open is found by
/// the search paths of the interpreter. Several majors can stand side by side, and then none is
/// meant.
void add_in_force(Survey& survey, const std::vector<LibraryCopy>& copies,
                  const std::vector<Error>& unseen_folders) {
  facts::Evidence evidence;
  const auto add = [&](const facts::Reading& reading) {
    survey.add("llvm", reading, evidence);
    survey.add("llvm.origin", reading, evidence);
  };
  const PythonScene& scene = python_choice(survey);
  if (scene.target() == nullptr && std::holds_alternative<facts::Unknown>(scene.otherwise)) {
    evidence.notes = scene.why;
    add(scene.otherwise);
    return;
  }
  const Result<std::vector<std::string>> python = known_python_loaders(survey);
  if (!python) {
    add(facts::Unknown::from(python.error()));
    return;
  }
  std::vector<Error> unseen = unseen_folders;
  std::set<std::string> sonames;
  for (const LibraryCopy& copy : copies) {
    const Result<elf::Image>& image = image_of(survey, copy.real_path);
    if (!image) {
      unseen.push_back(image.error());
    } else if (!image->soname.empty()) {
      sonames.insert(image->soname);
    }
  }
  // One that was not seen may be loaded as well, and then none is meant.
  if (!unseen.empty()) {
    add(facts::Unknown::from(unseen.front()));
    return;
  }
  std::map<std::string, LibraryInForce> found;  // by file
  for (const std::string& soname : sonames) {
    LibraryInForce library = resolve_library(survey, soname, *python);
    if (std::holds_alternative<facts::Unknown>(library.found)) {
      evidence = library.evidence;
      add(library.found);
      return;
    }
    if (library.is_found()) {
      evidence.notes.push_back(soname + ": " + with_tilde(survey, library.real_path));
      found.emplace(library.real_path, std::move(library));
    }
  }
  if (found.empty()) {
    add(facts::Absent{"the loader finds no libLLVM"});
    return;
  }
  if (found.size() > 1) {
    add(facts::Unknown{facts::Why::ambiguous, "several can be loaded and nothing names one", ""});
    return;
  }
  const LibraryInForce& library = found.begin()->second;
  const Version version = version_of(survey, {library.path, library.real_path, library.origin});
  evidence = library.evidence;
  evidence.notes.insert(evidence.notes.begin(), "version by: " + version.basis);
  survey.add("llvm", version.reading, evidence);
  survey.add("llvm.origin", library.origin, evidence);
}

void run(Survey& survey) {
  LibraryCopies found = library_copies(survey, is_llvm);
  if (survey.wants("llvm") || survey.wants("llvm.origin")) {
    add_in_force(survey, found.copies, found.unseen);
  }
  std::vector<facts::Reading> versions;
  facts::Evidence all;
  all.basis = "files in the places where libraries live";
  for (const LibraryCopy& copy : found.copies) {
    const Version version = version_of(survey, copy);
    survey.add("llvm@" + survey.tilde(copy.path), version.reading,
               {survey.tilde(copy.real_path),
                0,
                version.basis,
                "",
                {"of: " + facts::describe(copy.origin)}});
    versions.push_back(version.reading);
    found.unseen.insert(found.unseen.end(), version.unseen.begin(), version.unseen.end());
    all.notes.push_back(version_text(version.reading) + " " + survey.tilde(copy.path));
  }
  survey.add("llvm.copies", copies_reading(versions, found.unseen), all);
}

constexpr std::string_view kKeys[] = {"llvm", "llvm.copies", "llvm.origin"};

}  // namespace

extern const Probe llvm{.name = "llvm", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

#include <algorithm>
#include <array>
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

/// Each runtime keeps its own threads: two in one process fight for the cores, or abort at once.
struct Runtime {
  std::string_view name;
  std::string_view stem;
  std::array<std::string_view, 2> conda;
};
constexpr Runtime kRuntimes[] = {
    {"gnu", "libgomp", {"libgomp-", "_openmp_mutex-"}},
    {"intel", "libiomp5", {"intel-openmp-", "llvm-openmp-"}},
    {"llvm", "libomp", {"llvm-openmp-", "libomp-"}},
};

/// "libomp.so.5" is of libomp, and LLVM's own "libomp5.so" of Debian too.
const Runtime* runtime_of(std::string_view name) {
  for (const Runtime& runtime : kRuntimes) {
    if (is_library_of(name, runtime.stem)) {
      return &runtime;
    }
  }
  return nullptr;
}

void add_runtimes(Survey& survey) {
  if (!survey.wants("openmp.runtime")) {
    return;
  }
  if (const auto doubt = torch_in_doubt(survey)) {
    facts::Evidence evidence;
    evidence.notes = python_choice(survey).why;
    survey.add("openmp.runtime", *doubt, evidence);
    return;
  }
  if (torch_objects(survey).empty()) {
    survey.add("openmp.runtime", facts::Absent{"no torch"}, {});
    return;
  }
  std::set<std::string> found;
  facts::Evidence evidence;
  evidence.from = survey.tilde(torch_folder(survey) + "/lib");
  evidence.basis = "resolved";
  for (const TorchObject& object : torch_objects(survey)) {
    const Result<elf::Image>& image = image_of(survey, object.path);
    if (!image) {
      survey.add("openmp.runtime", facts::Unknown::from(image.error()), evidence);
      return;
    }
    for (const std::string& soname : image->needed) {
      const Runtime* runtime = runtime_of(soname);
      if (runtime == nullptr) {
        continue;
      }
      // conda answers for libgomp.so.1 with a link to LLVM's runtime: the file counts, not the name
      // asked.
      const LibraryInForce library = resolve_library(survey, soname, object.loaders);
      if (std::holds_alternative<facts::Unknown>(library.found)) {
        survey.add("openmp.runtime", library.found, evidence);
        return;
      }
      const Runtime* real = library.is_found() ? runtime_of(base_name(library.real_path)) : nullptr;
      found.insert(std::string((real != nullptr ? real : runtime)->name));
      evidence.notes.push_back(with_tilde(survey, object.path) + " asks for " + soname +
                               (library.is_found() ? ": " + with_tilde(survey, library.real_path)
                                                   : ", which is not found"));
    }
  }
  std::ranges::sort(evidence.notes);
  survey.add("openmp.runtime",
             found.empty()
                 ? facts::Reading(facts::Absent{"torch's libraries ask for no OpenMP runtime"})
                 : facts::Value::set({found.begin(), found.end()}),
             evidence);
}

void add_copies(Survey& survey) {
  if (!survey.wants("openmp.copies")) {
    return;
  }
  std::vector<facts::Reading> words;
  std::vector<Error> unseen;
  facts::Evidence evidence;
  evidence.basis = "files in the places where libraries live";
  for (const Runtime& runtime : kRuntimes) {
    LibraryCopies found = library_copies(survey, runtime.stem);
    unseen.insert(unseen.end(), found.unseen.begin(), found.unseen.end());
    for (const LibraryCopy& copy : found.copies) {
      const Runtime* real = runtime_of(base_name(copy.real_path));
      if (real != nullptr && real != &runtime) {
        continue;  // another name of that one's file
      }
      const LibraryOwners owners =
          library_owners(survey, copy.path, copy.real_path, {{}, {}, runtime.conda});
      unseen.insert(unseen.end(), owners.unseen.begin(), owners.unseen.end());
      std::string word(runtime.name);
      if (!owners.found.empty()) {
        word += " " + owners.found.front().version;
      }
      evidence.notes.push_back(word + ": " + survey.tilde(copy.path));
      words.push_back(facts::Value::scalar(std::move(word)));
    }
  }
  survey.add("openmp.copies", copies_reading(words, unseen), evidence);
}

void run(Survey& survey) {
  add_runtimes(survey);
  add_copies(survey);
}

constexpr std::string_view kKeys[] = {"openmp.copies", "openmp.runtime"};

}  // namespace

extern const Probe openmp{.name = "openmp", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

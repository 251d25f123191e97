#include <array>

#include "base/text.h"
#include "elf/elf.h"
#include "probe/cuda_folder.h"
#include "probe/header_version.h"
#include "probe/library_copies.h"
#include "probe/library_in_force.h"
#include "probe/mapped_library.h"
#include "probe/nccl_library.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

constexpr std::array<std::string_view, 1> kSonames = {"libnccl.so.2"};
constexpr std::string_view kStem = "libnccl";
constexpr std::array<std::string_view, 5> kInForce = {"nccl", "nccl.build_id", "nccl.cuda",
                                                      "nccl.path", "nccl.origin"};

/// torch before 2.0 holds NCCL in its own library, and later ones do where they were built so.
/// Whether one was found there.
bool add_static(Survey& survey) {
  for (const TorchObject& object : torch_objects(survey)) {
    if (object.path.find("/libtorch_cuda") == std::string::npos) {
      continue;
    }
    NcclFile file = read_nccl(survey, object.path, object.path);
    if (std::holds_alternative<facts::Unknown>(file.version) &&
        std::get<facts::Unknown>(file.version).why == facts::Why::not_stated) {
      continue;
    }
    if (std::holds_alternative<facts::Unknown>(file.version)) {
      for (const std::string_view key : kInForce) {
        survey.add(key, file.version, file.evidence);
      }
      return true;
    }
    file.evidence.notes.emplace_back("linked into torch's own library");
    survey.add("nccl", file.version, file.evidence);
    survey.add("nccl.cuda", file.cuda, file.evidence);
    survey.add("nccl.path", facts::Value::scalar(object.path), file.evidence);
    survey.add("nccl.origin", facts::Value::scalar("static"), file.evidence);
    survey.add("nccl.build_id", facts::Absent{"no file of its own"}, file.evidence);
    return true;
  }
  return false;
}

void add_in_force(Survey& survey) {
  const LibraryInForce& library = library_in_force(survey, kStem, kSonames);
  if (library.asker == LibraryInForce::Asker::nobody &&
      std::holds_alternative<facts::Absent>(library.found) && add_static(survey)) {
    return;
  }
  if (!library.is_found()) {
    for (const std::string_view key : kInForce) {
      survey.add(key, library.found, library.evidence);
    }
    return;
  }
  const NcclFile file = read_nccl(survey, library.path, library.real_path);
  facts::Evidence evidence = library.evidence;
  evidence.build_id = file.evidence.build_id;
  evidence.notes.insert(evidence.notes.begin(), "version by: " + file.evidence.basis);
  evidence.notes.insert(evidence.notes.end(), file.evidence.notes.begin(),
                        file.evidence.notes.end());
  survey.add("nccl", file.version, evidence);
  survey.add("nccl.cuda", file.cuda, evidence);
  survey.add("nccl.path", facts::Value::scalar(path_on_disk(library.real_path)), evidence);
  survey.add("nccl.origin", library.origin, evidence);
  survey.add("nccl.build_id", build_id_reading(survey, library.real_path), evidence);
}

void add_copies(Survey& survey) {
  const LibraryCopies found = library_copies(survey, kStem);
  std::vector<facts::Reading> versions;
  facts::Evidence all;
  all.basis = "files in the places where libraries live";
  for (const LibraryCopy& copy : found.copies) {
    NcclFile file = read_nccl(survey, copy.path, copy.real_path);
    file.evidence.notes.insert(file.evidence.notes.begin(), "of: " + facts::describe(copy.origin));
    const std::string label = "@" + survey.tilde(copy.path);
    survey.add("nccl" + label, file.version, file.evidence);
    survey.add("nccl.cuda" + label, file.cuda, file.evidence);
    survey.add("nccl.build_id" + label, build_id_reading(survey, copy.real_path), file.evidence);
    versions.push_back(file.version);
    all.notes.push_back(version_text(file.version) + " " + survey.tilde(copy.path));
  }
  survey.add("nccl.copies", copies_reading(versions, found.unseen), all);
}

void run(Survey& survey) {
  if (survey.wants("nccl") || survey.wants_below("nccl")) {
    add_in_force(survey);
  }
  if (wants_copies(survey, {"nccl", "nccl.cuda", "nccl.build_id"}, "nccl.copies")) {
    add_copies(survey);
  }
  add_header_version(survey, "nccl.header", {"nccl.h"}, {"NCCL_MAJOR", "NCCL_MINOR", "NCCL_PATCH"});
}

constexpr std::string_view kKeys[] = {"nccl",        "nccl.build_id", "nccl.cuda",  "nccl.path",
                                      "nccl.origin", "nccl.header",   "nccl.copies"};

}  // namespace

extern const Probe nccl{.name = "nccl", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

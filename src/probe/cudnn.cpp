#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "elf/elf.h"
#include "probe/header_version.h"
#include "probe/library_copies.h"
#include "probe/library_in_force.h"
#include "probe/library_owner.h"
#include "probe/mapped_library.h"
#include "probe/path_text.h"
#include "probe/presence.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

constexpr std::string_view kStem = "libcudnn";
constexpr std::string_view kMissing = "missing";
constexpr std::array<std::string_view, 3> kSonames = {"libcudnn.so.9", "libcudnn.so.8",
                                                      "libcudnn.so.7"};
constexpr std::array<std::string_view, 1> kWheels = {"nvidia_cudnn"};
constexpr std::array<std::string_view, 1> kDebian = {"libcudnn"};
constexpr std::array<std::string_view, 2> kConda = {"cudnn-", "libcudnn"};

constexpr std::array<std::string_view, 7> kParts9 = {"libcudnn_graph",
                                                     "libcudnn_ops",
                                                     "libcudnn_cnn",
                                                     "libcudnn_adv",
                                                     "libcudnn_heuristic",
                                                     "libcudnn_engines_precompiled",
                                                     "libcudnn_engines_runtime_compiled"};
constexpr std::array<std::string_view, 6> kParts8 = {"libcudnn_ops_infer", "libcudnn_ops_train",
                                                     "libcudnn_cnn_infer", "libcudnn_cnn_train",
                                                     "libcudnn_adv_infer", "libcudnn_adv_train"};

struct CudnnFile {
  facts::Reading version = facts::Unknown{facts::Why::not_stated, "nothing states it", ""};
  std::string basis;
  std::vector<std::string> notes;
};

/// "9.19.0.56" of "9_19_0_56_" or "9_19_0_56_..."; "" where there are no four numbers.
std::string parse_cudnn_text(std::string_view text) {
  std::string version;
  std::size_t count = 0;
  for (const std::string_view part : split(text, '_')) {
    if (!to_number(part)) {
      break;
    }
    version += version.empty() ? "" : ".";
    version += part;
    ++count;
  }
  return count == 4 ? version : "";
}

/// cuDNN 9 states its version in libcudnn_graph alone: "cudnn_version_9_19_0_56_", the end of a
/// symbol or a constant. Sets `text` where the file has it. Errors: those of reading the file.
Result<std::optional<std::string>> text_in(Survey& survey, const std::string& real_path) {
  for (const std::string_view marker : {"cudnn_version_9", "cudnn_version_1", "cudnn_version_8"}) {
    const auto found = elf::text_after(survey.host(), real_path, marker, 64);
    if (!found) {
      return found.error();
    }
    if (*found) {
      const std::string version = parse_cudnn_text(std::string(1, marker.back()) + **found);
      if (!version.empty()) {
        return std::optional(version);
      }
    }
  }
  return std::optional<std::string>();
}

/// One of cuDNN's files: its own text, else the package that put it there, else its name (three
/// numbers, so a prefix of the version).
CudnnFile read_file(Survey& survey, const std::string& path, const std::string& real_path) {
  CudnnFile file;
  const auto own = base_name(real_path).find("_graph") == std::string_view::npos
                       ? Result<std::optional<std::string>>(std::optional<std::string>())
                       : text_in(survey, real_path);
  if (!own) {
    file.version = facts::Unknown::from(own.error());
    return file;
  }
  if (*own) {
    file.version = facts::Value::scalar(**own);
    file.basis = "text in the file";
  }
  const LibraryOwners owners = library_owners(survey, path, real_path, {kWheels, kDebian, kConda});
  const std::string named = version_in_name(base_name(real_path));
  for (const LibraryOwner& owner : owners.found) {
    const auto* value = std::get_if<facts::Value>(&file.version);
    // The name of the file is the file's own word against a package that is no longer in force.
    const bool fits =
        named.empty() || owner.version.starts_with(named + ".") || owner.version == named;
    if (value == nullptr && fits && !owner.is_other_file) {
      file.version = facts::Value::scalar(owner.version);
      file.basis = "package " + owner.package;
    } else if (value == nullptr || value->text != owner.version) {
      file.notes.push_back(owner.package + " says " + owner.version + " (" + owner.from +
                           (owner.is_other_file ? "), but its file list has another size" : ")"));
    }
  }
  if (std::holds_alternative<facts::Unknown>(file.version) && !named.empty()) {
    file.version = facts::Value::prefix(named);
    file.basis = "file name";
  } else if (std::holds_alternative<facts::Unknown>(file.version) && !owners.unseen.empty()) {
    file.version = facts::Unknown::from(owners.unseen.front());
  }
  return file;
}

/// Where the libcudnn_graph beside a libcudnn would be; cuDNN 8 has none.
std::string graph_path(const std::string& path) {
  const std::string major = version_in_name(base_name(path));
  return std::string(folder_of(path)) + "/libcudnn_graph.so." + major.substr(0, major.find('.'));
}

/// The copy's version: of the libcudnn_graph beside it where there is one, else its own.
CudnnFile read_copy(Survey& survey, const std::string& path, const std::string& real_path) {
  const Result<std::string> graph = survey.host().real_path(graph_path(path));
  if (!graph && graph.error().code != Errc::absent) {
    CudnnFile file;
    file.version = facts::Unknown::from(graph.error());
    return file;
  }
  if (graph) {
    CudnnFile file = read_file(survey, graph_path(path), *graph);
    const auto* unknown = std::get_if<facts::Unknown>(&file.version);
    if (unknown == nullptr || unknown->why != facts::Why::not_stated) {
      file.notes.insert(file.notes.begin(), "version of " + with_tilde(survey, *graph));
      return file;
    }
  }
  return read_file(survey, path, real_path);
}

/// One of the parts: its own word where it has one; where only its name speaks, or nothing, the
/// graph library of its folder gives the rest of the version, as long as it does not contradict.
facts::Reading part_version(Survey& survey, const std::string& path, const std::string& real_path) {
  const CudnnFile own = read_file(survey, path, real_path);
  const auto* value = std::get_if<facts::Value>(&own.version);
  if ((value != nullptr && value->form == facts::Value::Form::scalar) || !own.notes.empty()) {
    return own.version;
  }
  const CudnnFile graph = read_copy(survey, path, real_path);
  const auto* whole = std::get_if<facts::Value>(&graph.version);
  if (value != nullptr && whole != nullptr && !whole->text.starts_with(value->text + ".")) {
    return own.version;
  }
  return graph.version;
}

/// libcudnn itself is a shim that hardly changes from cuDNN 9 on: the graph library tells builds
/// apart.
facts::Reading build_id_of(Survey& survey, const std::string& path, const std::string& real_path) {
  const Result<std::string> graph = survey.host().real_path(graph_path(path));
  if (!graph && graph.error().code != Errc::absent) {
    return facts::Unknown::from(graph.error());
  }
  return build_id_reading(survey, graph ? *graph : real_path);
}

/// The counts of versions. One of which only a part is known counts as another where it contradicts
/// what is known of the rest: a mixture is worth more than its exact numbers.
facts::Reading parts_reading(const std::vector<facts::Reading>& versions) {
  std::vector<facts::Reading> words;
  for (const facts::Reading& version : versions) {
    const auto* value = std::get_if<facts::Value>(&version);
    const bool is_prefix = value != nullptr && value->form == facts::Value::Form::prefix;
    const bool is_other = is_prefix && std::ranges::any_of(versions, [&](const auto& reading) {
                            const auto* whole = std::get_if<facts::Value>(&reading);
                            return whole != nullptr && whole->form == facts::Value::Form::scalar &&
                                   whole->text != kMissing &&
                                   !whole->text.starts_with(value->text + ".");
                          });
    words.push_back(is_other ? facts::Value::scalar(version_text(version)) : version);
  }
  return copies_reading(words, {});
}

/// cuDNN opens its parts by name when it first needs them, and LD_LIBRARY_PATH wins over the
/// RUNPATH by which it does: parts of two versions in one process are possible and fail late.
void add_parts(Survey& survey, const LibraryInForce& library) {
  if (!survey.wants("cudnn.parts")) {
    return;
  }
  const std::string major = [&] {
    const std::string version = version_in_name(library.soname);
    return version.substr(0, version.find('.'));
  }();
  const std::span<const std::string_view> parts =
      major == "8" ? std::span<const std::string_view>(kParts8) : kParts9;
  if (major == "7") {
    survey.add("cudnn.parts", facts::Absent{"cuDNN 7 is one file"}, library.evidence);
    return;
  }
  std::vector<facts::Reading> versions;
  facts::Evidence evidence{library.evidence.from, 0, "resolved", "", {}};
  for (const std::string_view part : parts) {
    const LibraryInForce found =
        resolve_library(survey, std::string(part) + ".so." + major, library.loaders);
    if (std::holds_alternative<facts::Unknown>(found.found)) {
      survey.add("cudnn.parts", found.found, evidence);
      return;
    }
    versions.push_back(found.is_found() ? part_version(survey, found.path, found.real_path)
                                        : facts::Value::scalar(std::string(kMissing)));
    evidence.notes.push_back(std::string(part) + ": " + version_text(versions.back()) +
                             (found.is_found() ? " " + with_tilde(survey, found.real_path) : ""));
  }
  survey.add("cudnn.parts", parts_reading(versions), evidence);
}

void add_in_force(Survey& survey) {
  const LibraryInForce& library = library_in_force(survey, kStem, kSonames);
  facts::Reading found = library.found;
  if (library.asker == LibraryInForce::Asker::nobody &&
      std::holds_alternative<facts::Absent>(found)) {
    const auto there = is_there(survey.host(), torch_folder(survey) + "/lib/libtorch_cuda.so");
    if (!there) {
      found = facts::Unknown::from(there.error());
    } else if (*there) {
      found = facts::Unknown{facts::Why::not_stated,
                             "torch's CUDA library asks for no libcudnn: it was built without "
                             "cuDNN, or holds it inside",
                             ""};
    }
  }
  if (!library.is_found()) {
    for (const std::string_view key :
         {"cudnn", "cudnn.build_id", "cudnn.path", "cudnn.origin", "cudnn.parts"}) {
      survey.add(key, found, library.evidence);
    }
    return;
  }
  const CudnnFile file = read_copy(survey, library.path, library.real_path);
  facts::Evidence evidence = library.evidence;
  if (!file.basis.empty()) {
    evidence.notes.insert(evidence.notes.begin(), "version by: " + file.basis);
  }
  evidence.notes.insert(evidence.notes.end(), file.notes.begin(), file.notes.end());
  const facts::Reading build_id = build_id_of(survey, library.path, library.real_path);
  if (const auto* value = std::get_if<facts::Value>(&build_id)) {
    evidence.build_id = value->text;
  }
  survey.add("cudnn", file.version, evidence);
  survey.add("cudnn.build_id", build_id, evidence);
  survey.add("cudnn.path", facts::Value::scalar(path_on_disk(library.real_path)), evidence);
  survey.add("cudnn.origin", library.origin, evidence);
  add_parts(survey, library);
}

void add_copies(Survey& survey) {
  const LibraryCopies found = library_copies(survey, kStem);
  std::vector<facts::Reading> versions;
  facts::Evidence all;
  all.basis = "files in the places where libraries live";
  for (const LibraryCopy& copy : found.copies) {
    const CudnnFile file = read_copy(survey, copy.path, copy.real_path);
    facts::Evidence evidence{survey.tilde(copy.real_path), 0, file.basis, "", file.notes};
    const facts::Reading build_id = build_id_of(survey, copy.path, copy.real_path);
    if (const auto* value = std::get_if<facts::Value>(&build_id)) {
      evidence.build_id = value->text;
    }
    evidence.notes.insert(evidence.notes.begin(), "of: " + facts::describe(copy.origin));
    const std::string label = "@" + survey.tilde(copy.path);
    survey.add("cudnn" + label, file.version, evidence);
    survey.add("cudnn.build_id" + label, build_id, evidence);
    versions.push_back(file.version);
    all.notes.push_back(version_text(file.version) + " " + survey.tilde(copy.path));
  }
  survey.add("cudnn.copies", copies_reading(versions, found.unseen), all);
}

void run(Survey& survey) {
  if (survey.wants("cudnn") || survey.wants_below("cudnn")) {
    add_in_force(survey);
  }
  if (wants_copies(survey, {"cudnn", "cudnn.build_id"}, "cudnn.copies")) {
    add_copies(survey);
  }
  // cudnn.h held the numbers up to cuDNN 7.
  add_header_version(survey, "cudnn.header", {"cudnn_version.h", "cudnn.h"},
                     {"CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL"});
}

constexpr std::string_view kKeys[] = {"cudnn",        "cudnn.build_id", "cudnn.path",
                                      "cudnn.origin", "cudnn.parts",    "cudnn.header",
                                      "cudnn.copies"};

}  // namespace

extern const Probe cudnn{.name = "cudnn", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

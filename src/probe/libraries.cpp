#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "probe/library_copies.h"
#include "probe/library_in_force.h"
#include "probe/library_owner.h"
#include "probe/mapped_library.h"
#include "probe/nccl_library.h"
#include "probe/path_text.h"
#include "probe/probe.h"
#include "probe/python_target.h"

namespace goldenv::probe {
namespace {

/// Libraries of which only the version of the file that would load is a fact.
struct Single {
  std::string_view key;
  std::string_view soname;
  std::array<std::string_view, 1> wheels;
  std::array<std::string_view, 2> debian;
  std::array<std::string_view, 2> conda;
};
constexpr Single kSingles[] = {
    {"cuda.cufile",
     "libcufile.so.0",
     {"nvidia_cufile"},
     {"libcufile-", "libcufile"},
     {"libcufile-", "libcufile-dev-"}},
    {"gdrcopy",
     "libgdrapi.so.2",
     {"gdrcopy"},
     {"libgdrapi", "gdrcopy"},
     {"gdrcopy-", "libgdrapi-"}},
    {"ucx", "libucp.so.0", {"ucx_py"}, {"libucx0", "ucx"}, {"ucx-", "libucx-"}},
};

/// "2.4" of libgdrapi.so.2.4; none where the number is that of the interface alone
/// (libucp.so.0.0.0).
std::string whole_version_in_name(std::string_view name) {
  const std::string version = version_in_name(name);
  return version.find('.') == std::string::npos || version.starts_with("0.0") ? "" : version;
}

void add_single(Survey& survey, const Single& single) {
  if (!survey.wants(single.key)) {
    return;
  }
  const LibraryInForce library = resolve_library(survey, single.soname, {});
  facts::Evidence evidence = library.evidence;
  if (!library.is_found()) {
    survey.add(single.key, library.found, evidence);
    return;
  }
  const std::string named = whole_version_in_name(base_name(library.real_path));
  if (!named.empty()) {
    evidence.notes.insert(evidence.notes.begin(), "version by: file name");
    survey.add(single.key, facts::Value::scalar(named), evidence);
    return;
  }
  const LibraryOwners owners = library_owners(survey, library.path, library.real_path,
                                              {single.wheels, single.debian, single.conda});
  if (!owners.unseen.empty()) {
    survey.add(single.key, facts::Unknown::from(owners.unseen.front()), evidence);
    return;
  }
  for (const LibraryOwner& owner : owners.found) {
    if (!owner.is_other_file) {
      evidence.notes.insert(evidence.notes.begin(), "version by: package " + owner.package);
      survey.add(single.key, facts::Value::scalar(owner.version), evidence);
      return;
    }
  }
  survey.add(single.key,
             facts::Unknown{facts::Why::not_stated, "neither file name nor package states it", ""},
             evidence);
}

bool is_base_library(std::string_view soname) {
  constexpr std::array<std::string_view, 8> kBase = {
      "libc.so.6",  "libm.so.6",    "libdl.so.2",    "libpthread.so.0",
      "librt.so.1", "libutil.so.1", "libgcc_s.so.1", "libstdc++.so.6"};
  return soname.starts_with("ld-linux") || std::ranges::find(kBase, soname) != kBase.end();
}

/// Of what a process has mapped: what talks to GPUs, adapters and other ranks, and what computes.
bool is_of_interest(std::string_view file_name) {
  constexpr std::array<std::string_view, 19> kStems = {
      "libcu",  "libnccl",  "libnv",     "libcaffe2_nvrtc", "libibverbs", "libmlx",  "libefa",
      "libuc",  "libmpi",   "libfabric", "libgdrapi",       "libmkl",     "libgomp", "libomp",
      "libamd", "libiomp5", "libhip",    "librccl",         "libpmix"};
  // "libcurl", "libcups" and "libcurses" begin like a CUDA library.
  return file_name.find(".so") != std::string_view::npos && !file_name.starts_with("libcur") &&
         !file_name.starts_with("libcup") &&
         std::ranges::any_of(kStems,
                             [&](std::string_view stem) { return file_name.starts_with(stem); });
}

/// What torch's own libraries name, beside each other and the C library: the CUDA libraries, MKL,
/// OpenMP.
struct Asked {
  std::map<std::string, std::vector<std::string>> loaders_of;
  /// Why another name may have been asked for as well, and by another loader than ours.
  std::optional<facts::Unknown> doubt;
};

Asked asked_sonames(Survey& survey) {
  Asked asked{{}, torch_in_doubt(survey)};
  if (asked.doubt) {
    return asked;
  }
  for (const TorchObject& object : torch_objects(survey)) {
    const Result<elf::Image>& image = image_of(survey, object.path);
    if (!image) {
      // The first that asks decides, and this may be it.
      asked.doubt = facts::Unknown::from(image.error());
      return asked;
    }
    for (const std::string& soname : image->needed) {
      if (!soname.starts_with("libtorch") && !soname.starts_with("libc10") &&
          !soname.starts_with("libshm") && !is_base_library(soname)) {
        asked.loaders_of.try_emplace(soname, object.loaders);
      }
    }
  }
  return asked;
}

/// Without names of packages only what the file itself and its name say.
facts::Reading version_of(Survey& survey, const LibraryInForce& library) {
  if (is_library_of(library.soname, "libnccl")) {
    return read_nccl(survey, library.path, library.real_path).version;
  }
  const std::string named = version_in_name(base_name(library.real_path));
  const bool is_more = named != version_in_name(library.soname) && named.find('.') != named.npos;
  if (is_more) {
    return facts::Value::scalar(named);
  }
  return facts::Unknown{facts::Why::not_stated, "the file's name states no version", ""};
}

void add_family(Survey& survey) {
  Asked asked;
  if (!survey.request().only_named) {
    asked = asked_sonames(survey);
  }
  const std::vector<std::string> above =
      torch_objects(survey).empty() ? python_loaders(survey) : torch_objects(survey)[0].loaders;
  std::set<std::string> names;
  for (const std::string_view family :
       {"library.path", "library.origin", "library.version", "library.build_id"}) {
    for (const std::string& soname : survey.named_below(family)) {
      names.insert(soname);
    }
  }
  if (!names.empty() && survey.request().only_named) {
    asked = asked_sonames(survey);
  }
  if (!survey.request().only_named) {
    for (std::string& soname : mapped_sonames(survey, is_of_interest)) {
      names.insert(std::move(soname));
    }
  }
  for (const auto& [soname, loaders] : asked.loaders_of) {
    if (!survey.request().only_named) {
      names.insert(soname);
    }
  }
  const PythonScene& scene = python_choice(survey);
  for (const std::string& soname : names) {
    const auto at = asked.loaders_of.find(soname);
    const bool is_asked = at != asked.loaders_of.end();
    LibraryInForce library;
    if (asked.doubt && !is_asked && survey.host().process() == nullptr) {
      library.found = *asked.doubt;
      library.evidence.notes = scene.why;
    } else {
      library = resolve_library(survey, soname, is_asked ? at->second : above);
    }
    library.soname = soname;
    facts::Reading path = library.found;
    facts::Reading origin = library.found;
    facts::Reading version = library.found;
    facts::Reading build_id = library.found;
    if (library.is_found()) {
      path = facts::Value::scalar(path_on_disk(library.real_path));
      origin = library.is_deleted ? facts::Value::scalar("deleted") : library.origin;
      version = version_of(survey, library);
      build_id = build_id_reading(survey, library.real_path);
      if (const auto* value = std::get_if<facts::Value>(&build_id)) {
        library.evidence.build_id = value->text;
      }
    }
    survey.add("library.path." + soname, path, library.evidence);
    survey.add("library.origin." + soname, origin, library.evidence);
    survey.add("library.version." + soname, version, library.evidence);
    survey.add("library.build_id." + soname, build_id, library.evidence);
  }
}

void run(Survey& survey) {
  for (const Single& single : kSingles) {
    add_single(survey, single);
  }
  if (survey.wants_below("library")) {
    add_family(survey);
  }
}

constexpr std::string_view kKeys[] = {
    "cuda.cufile",        "gdrcopy", "library.build_id.**", "library.origin.**", "library.path.**",
    "library.version.**", "ucx"};

}  // namespace

extern const Probe libraries{.name = "libraries", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

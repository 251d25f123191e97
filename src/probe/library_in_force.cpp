#include "probe/library_in_force.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>

#include "base/text.h"
#include "probe/library_copies.h"
#include "probe/mapped_library.h"
#include "probe/path_text.h"
#include "probe/presence.h"
#include "probe/python_target.h"
#include "probe/redact.h"

namespace goldenv::probe {
namespace {

constexpr std::size_t kTraceLimit = 12;  // lines of a loader's trace kept as notes

/// In the order in which `import torch` reaches them: torch/__init__.py opens
/// libtorch_global_deps.so (which names the CUDA libraries so that they come first) and then
/// torch/_C, whose needs follow. libtorch_cuda_cpp and _cu: builds of 1.9 to 1.13.
constexpr std::array<std::string_view, 11> kTorchLibraries = {
    "libtorch_global_deps.so", "libtorch_python.so",      "libtorch.so",         "libtorch_cpu.so",
    "libtorch_cuda.so",        "libtorch_cuda_cpp.so",    "libtorch_cuda_cu.so", "libc10.so",
    "libc10_cuda.so",          "libtorch_cuda_linalg.so", "libtorch_nvshmem.so"};

struct TorchObjects {
  std::vector<TorchObject> objects;
  std::optional<Error> unseen;  ///< why they may not be all
};

struct Answers {
  std::map<std::string, LibraryInForce, std::less<>> by_stem;
};

struct Environment {
  std::string library_path;
  std::vector<std::string> preloaded;
  std::string settings;         ///< loader::Question::settings
  std::optional<Error> unseen;  ///< why what stands here is not all that decides
  std::vector<std::string> notes;
};

/// Blanks and colons separate LD_PRELOAD, blanks (and on every glibc colons) /etc/ld.so.preload:
/// ld.so(8).
void add_preloads(std::string text, std::vector<std::string>& preloaded) {
  std::ranges::replace(text, ':', ' ');
  for (const std::string_view line : lines(text)) {
    for (const std::string_view word : words(line.substr(0, line.find('#')))) {
      preloaded.emplace_back(word);
    }
  }
}

Environment environment_of(const host::Host& host) {
  Environment environment;
  const auto library_path = host.variable("LD_LIBRARY_PATH");
  if (library_path) {
    // The parts of a URL no longer show that one of them is a password, and traces name them.
    environment.library_path = redact(*library_path);
  }
  if (const auto preload = host.variable("LD_PRELOAD")) {
    add_preloads(*preload, environment.preloaded);
  }
  if (const auto known = variables_known(host); !known) {
    environment.unseen = known.error();
  } else if (!library_path && library_path.error().code != Errc::absent) {
    environment.notes.emplace_back(
        "the environment is not known: taken to hold neither LD_LIBRARY_PATH nor LD_PRELOAD");
  }
  environment.settings = loader::processor_settings(host);
  const auto file = host.read_file("/etc/ld.so.preload");
  if (file) {
    add_preloads(*file, environment.preloaded);
  } else if (file.error().code != Errc::absent) {
    environment.unseen = file.error();
  }
  return environment;
}

const Environment& environment_in_force(Survey& survey) {
  return survey.shared<Environment>([&] { return environment_of(survey.host()); });
}

Result<std::string> origin_of(Survey& survey, const loader::Answer& answer) {
  if (answer.why == "LD_PRELOAD") {
    return std::string("preload");
  }
  if (answer.why == "LD_LIBRARY_PATH") {
    return std::string("env");
  }
  // A link out of a site folder is that Python's copy all the same.
  Result<std::string> place = origin_of_place(survey, without_dots(answer.path));
  return place && *place == "system" ? origin_of_place(survey, answer.real_path) : place;
}

void add_trace(LibraryInForce& library, const std::vector<std::string>& trace) {
  const std::size_t kept = std::min(trace.size(), kTraceLimit);
  for (std::size_t i = 0; i < kept; ++i) {
    library.evidence.notes.push_back("before: " + trace[i]);
  }
  if (trace.size() > kept) {
    library.evidence.notes.push_back("before: " + std::to_string(trace.size() - kept) + " more");
  }
}

/// torch loads what its own search does not find from nvidia/*/lib of sys.path, where the wheels of
/// CUDA put it. Source: torch/__init__.py, _preload_cuda_deps (from 1.13 on). Errors: absent where
/// none is there; those of the look where it may be.
Result<loader::Answer> preloaded_by_torch(Survey& survey, const std::string& soname) {
  const host::Host& host = survey.host();
  const Python& python = *python_choice(survey).target();
  std::vector<Error> unseen;
  for (const UnlistedFolder& folder : python.unlisted) {
    unseen.push_back(folder.error);
  }
  for (const SiteFolder& folder : python.folders) {
    for (const host::DirEntry& entry : entries_or_none(host, folder.path + "/nvidia", unseen)) {
      const std::string path = folder.path + "/nvidia/" + entry.name + "/lib/" + soname;
      const auto real = host.real_path(path);
      if (!unseen.empty()) {
        return unseen.front();
      }
      if (real) {
        return loader::Answer{path, *real, "torch's own search of nvidia/*/lib on sys.path", {}};
      }
      note_unseen(real.error(), unseen);
    }
  }
  return unseen.empty() ? Error{Errc::absent, "none on sys.path", {}} : unseen.front();
}

void take(Survey& survey, LibraryInForce& library, loader::Answer answer) {
  library.path = std::move(answer.path);
  library.real_path = answer.real_path;
  answer.path = library.path;
  const Result<std::string> origin = origin_of(survey, answer);
  library.origin = origin_reading(origin);
  library.found = facts::Value::scalar(library.path);
  library.evidence.from = survey.tilde(library.real_path);
  library.evidence.notes.push_back("found by " + answer.why +
                                   (answer.choice.empty() ? "" : " (" + answer.choice + ")"));
  if (origin && (*origin == "env" || *origin == "preload")) {
    library.evidence.notes.push_back(
        "it lies in: " +
        facts::describe(origin_reading(origin_of_place(survey, library.real_path))));
  }
  add_trace(library, answer.trace);
  library.loaders.insert(library.loaders.begin(), library.path);
}

LibraryInForce asked_by_torch(Survey& survey, std::string_view stem) {
  LibraryInForce nobody;
  nobody.asker = LibraryInForce::Asker::nobody;
  nobody.evidence = {survey.tilde(torch_folder(survey)), 0, "read", "", {}};
  nobody.found = facts::Absent{"no library of torch asks for " + std::string(stem)};
  for (const TorchObject& object : torch_objects(survey)) {
    const Result<elf::Image>& image = image_of(survey, object.path);
    if (!image) {
      // An object that cannot be read may be the one that asks.
      nobody.found = facts::Unknown::from(image.error());
      return nobody;
    }
    for (const std::string& needed : image->needed) {
      if (!is_library_of(needed, stem)) {
        continue;
      }
      LibraryInForce library = resolve_library(survey, needed, object.loaders);
      library.asker = LibraryInForce::Asker::torch;
      const auto* absent = std::get_if<facts::Absent>(&library.found);
      if (absent != nullptr) {
        auto answer = preloaded_by_torch(survey, needed);
        if (answer) {
          take(survey, library, *std::move(answer));
        } else if (answer.error().code == Errc::absent) {
          library.found = facts::Absent{"torch asks for " + needed + " and nothing answers"};
        } else {
          library.found = facts::Unknown::from(answer.error());
        }
      }
      library.evidence.notes.insert(library.evidence.notes.begin(),
                                    with_tilde(survey, object.path) + " asks for " + needed);
      return library;
    }
  }
  return nobody;
}

LibraryInForce asked_by_program(Survey& survey, std::string_view stem,
                                std::span<const std::string_view> sonames) {
  std::vector<LibraryInForce> answers;
  std::optional<LibraryInForce> failed;
  for (const std::string_view soname : sonames) {
    LibraryInForce answer = resolve_library(survey, soname, {});
    answer.evidence.basis = "no torch: what a program would load";
    if (answer.is_found()) {
      answers.push_back(std::move(answer));
    } else if (std::holds_alternative<facts::Unknown>(answer.found)) {
      failed = std::move(answer);
    }
  }
  if (failed) {
    return *std::move(failed);
  }
  if (answers.size() == 1) {
    return std::move(answers.front());
  }
  LibraryInForce none;
  none.evidence.basis = "no torch: what a program would load";
  if (answers.empty()) {
    none.found = facts::Absent{"the loader finds no " + std::string(stem)};
    none.evidence.notes = environment_in_force(survey).notes;
    return none;
  }
  std::vector<std::string> found;
  for (const LibraryInForce& answer : answers) {
    found.push_back(answer.soname);
    none.evidence.notes.push_back(answer.soname + ": " + with_tilde(survey, answer.real_path));
  }
  none.found = facts::Unknown{facts::Why::ambiguous,
                              "no torch, and a program could load " + join(found, " or "), ""};
  return none;
}

LibraryInForce answer_of(Survey& survey, std::string_view stem,
                         std::span<const std::string_view> sonames) {
  if (const auto doubt = torch_in_doubt(survey)) {
    LibraryInForce library;
    library.asker = LibraryInForce::Asker::unknown;
    library.found = *doubt;
    if (const PythonScene& scene = python_choice(survey); scene.target() == nullptr) {
      library.evidence.notes = scene.why;
    }
    return library;
  }
  return torch_folder(survey).empty() ? asked_by_program(survey, stem, sonames)
                                      : asked_by_torch(survey, stem);
}

TorchObjects list_torch_objects(Survey& survey) {
  const std::string torch = torch_folder(survey);
  if (torch.empty()) {
    return {};
  }
  std::vector<Error> unseen;
  const host::Host& host = survey.host();
  const Result<std::vector<std::string>> known = known_python_loaders(survey);
  if (!known) {
    unseen.push_back(known.error());
  }
  const std::vector<std::string> python = known.value_or({});
  // The way from one of torch's libraries up to the program; every part of it may add its DT_RPATH.
  std::vector<std::string> above;
  for (const std::string_view name : {"libtorch.so", "libtorch_python.so"}) {
    const std::string path = torch + "/lib/" + std::string(name);
    const auto there = is_there(host, path);
    if (!there) {
      unseen.push_back(there.error());
    } else if (*there) {
      above.push_back(path);
    }
  }
  std::vector<TorchObject> objects;
  for (const host::DirEntry& entry : entries_or_none(host, torch, unseen)) {
    if (entry.name.starts_with("_C.") && entry.name.ends_with(".so")) {
      above.push_back(torch + "/" + entry.name);
      break;
    }
  }
  above.insert(above.end(), python.begin(), python.end());
  for (const std::string_view name : kTorchLibraries) {
    const std::string path = torch + "/lib/" + std::string(name);
    const auto status = host.status(path);
    if (!status && status.error().code == Errc::absent) {
      continue;
    }
    TorchObject object{path, {path}};
    const std::vector<std::string>& way = name == "libtorch_global_deps.so" ? python : above;
    std::ranges::copy_if(way, std::back_inserter(object.loaders),
                         [&](const std::string& loader) { return loader != path; });
    objects.push_back(std::move(object));
  }
  return {std::move(objects), unseen.empty() ? std::nullopt : std::optional(unseen.front())};
}

}  // namespace

loader::System& loader_system(Survey& survey) {
  struct Known {
    std::unique_ptr<loader::System> system;
  };
  return *survey
              .shared<Known>([&] { return Known{std::make_unique<loader::System>(survey.host())}; })
              .system;
}

LibraryInForce resolve_library(Survey& survey, std::string_view soname,
                               const std::vector<std::string>& loaders) {
  if (auto mapped = mapped_library(survey, soname)) {
    return *std::move(mapped);
  }
  const Environment& environment = environment_in_force(survey);
  LibraryInForce library;
  library.soname = soname;
  library.loaders = loaders;
  library.evidence.basis = "resolved";
  if (environment.unseen) {
    library.found = facts::Unknown::from(*environment.unseen);
    return library;
  }
  auto answer = loader::resolve(
      survey.host(), {std::string(soname), loaders, environment.library_path, environment.preloaded,
                      &loader_system(survey), "", environment.settings});
  if (answer) {
    take(survey, library, *std::move(answer));
  } else {
    library.found = facts::unread(answer.error());
    if (answer.error().code == Errc::absent) {
      library.found = facts::Absent{"the loader finds no " + std::string(soname)};
      add_trace(library, answer.error().trail);
    }
  }
  library.evidence.notes.insert(library.evidence.notes.end(), environment.notes.begin(),
                                environment.notes.end());
  if (std::string note = not_mapped_note(survey); !note.empty()) {
    library.evidence.notes.push_back(std::move(note));
  }
  for (std::string& note : library.evidence.notes) {
    note = with_tilde(survey, std::move(note));
  }
  return library;
}

const LibraryInForce& library_in_force(Survey& survey, std::string_view stem,
                                       std::span<const std::string_view> sonames) {
  auto& answers = survey.shared<Answers>([] { return Answers(); }).by_stem;
  auto at = answers.find(stem);
  if (at == answers.end()) {
    auto mapped = mapped_library_of(survey, stem);
    at =
        answers.emplace(stem, mapped ? *std::move(mapped) : answer_of(survey, stem, sonames)).first;
  }
  return at->second;
}

const std::vector<TorchObject>& torch_objects(Survey& survey) {
  return survey.shared<TorchObjects>([&] { return list_torch_objects(survey); }).objects;
}

std::optional<facts::Unknown> torch_in_doubt(Survey& survey) {
  const PythonScene& scene = python_choice(survey);
  const Python* target = scene.target();
  if (target == nullptr) {
    const auto* unknown = std::get_if<facts::Unknown>(&scene.otherwise);
    return unknown != nullptr ? std::optional(*unknown) : std::nullopt;
  }
  if (target->torch_error) {
    return facts::Unknown::from(*target->torch_error);
  }
  const auto& objects = survey.shared<TorchObjects>([&] { return list_torch_objects(survey); });
  return objects.unseen ? std::optional(facts::Unknown::from(*objects.unseen)) : std::nullopt;
}

std::string torch_folder(Survey& survey) {
  const Python* python = python_choice(survey).target();
  return python == nullptr ? "" : python->torch;
}

std::vector<std::string> python_loaders(Survey& survey) {
  return known_python_loaders(survey).value_or({});
}

Result<std::vector<std::string>> known_python_loaders(Survey& survey) {
  const Python* python = python_choice(survey).target();
  if (python == nullptr || python->interpreter.empty()) {
    return std::vector<std::string>{};
  }
  // $ORIGIN of a main program comes from /proc/self/exe, so from the file behind all links.
  const auto real = survey.host().real_path(python->interpreter);
  if (!real && real.error().code != Errc::absent) {
    return real.error();
  }
  return real ? std::vector<std::string>{*real} : std::vector<std::string>{};
}

std::string with_tilde(Survey& survey, std::string text) {
  const std::string home = survey.host().variable("HOME").value_or("");
  if (home.size() < 2) {
    return text;
  }
  for (std::size_t at = text.find(home); at != std::string::npos; at = text.find(home, at)) {
    const std::size_t end = at + home.size();
    const bool begins =
        at == 0 || std::string_view(" :\"'=(").find(text[at - 1]) != std::string::npos;
    const bool ends = end == text.size() || text[end] == '/' || text[end] == ' ';
    if (begins && ends) {
      text.replace(at, home.size(), "~");
    }
    ++at;
  }
  return text;
}

}  // namespace goldenv::probe

#include <array>
#include <optional>

#include "base/text.h"
#include "elf/elf.h"
#include "probe/instances.h"
#include "probe/library_in_force.h"
#include "probe/path_text.h"
#include "probe/probe.h"
#include "probe/program_search.h"

namespace goldenv::probe {
namespace {

/// An MPI's library and the text in it that states its version. Samples: "Open MPI v4.1.4, package:
/// ...", "MPICH Version:\t4.0.2".
struct Implementation {
  std::string_view name;
  std::array<std::string_view, 2> sonames;
  std::string_view marker;
};
constexpr Implementation kImplementations[] = {
    {"Open MPI", {"libmpi.so.40", "libmpi.so.20"}, "Open MPI v"},
    {"MPICH", {"libmpich.so.12", "libmpi.so.12"}, "MPICH Version:"},
};

/// mpirun is a link to a starter that holds no version; the library in the lib folder beside its
/// bin folder does, and else the one that the loader finds.
void run(Survey& survey) {
  std::optional<Program> program;
  for (const std::string_view name : {"mpirun", "mpiexec"}) {
    const auto found = find_program(survey, name);
    if (found) {
      program = *found;
      break;
    }
    if (found.error().code != Errc::absent) {
      survey.add("mpi", facts::Unknown::from(found.error()), seen("PATH"));
      return;
    }
  }
  if (!program) {
    survey.add("mpi", facts::Absent{"no mpirun on PATH"}, seen("PATH"));
    return;
  }
  const std::string prefix(folder_of(folder_of(program->real_path)));
  const std::string_view starter = base_name(program->real_path);
  const bool is_open_mpi = starter.find("orte") != std::string_view::npos ||
                           starter.find("prte") != std::string_view::npos ||
                           starter.find("openmpi") != std::string_view::npos;
  const bool is_mpich = starter.find("hydra") != std::string_view::npos ||
                        starter.find("mpich") != std::string_view::npos;
  for (const Implementation& implementation : kImplementations) {
    if ((is_open_mpi && implementation.name != "Open MPI") ||
        (is_mpich && implementation.name != "MPICH")) {
      continue;
    }
    for (const std::string_view soname : implementation.sonames) {
      const auto beside = survey.host().real_path(prefix + "/lib/" + std::string(soname));
      if (!beside && beside.error().code != Errc::absent) {
        survey.add("mpi", facts::Unknown::from(beside.error()), seen(survey.tilde(prefix)));
        return;
      }
      std::string file = beside.value_or("");
      if (file.empty()) {
        const LibraryInForce library = resolve_library(survey, soname, {});
        if (std::holds_alternative<facts::Unknown>(library.found)) {
          survey.add("mpi", library.found, library.evidence);
          return;
        }
        file = library.real_path;
      }
      if (file.empty()) {
        continue;
      }
      const auto text = elf::text_after(survey.host(), file, implementation.marker, 64);
      if (!text) {
        survey.add("mpi", facts::Unknown::from(text.error()), seen(survey.tilde(file)));
        return;
      }
      if (*text) {
        const std::string_view version = trim(**text);
        const std::string number(version.substr(0, version.find_first_of(", \t\n")));
        survey.add("mpi", facts::Value::scalar(std::string(implementation.name) + " " + number),
                   seen(survey.tilde(file), "of " + survey.tilde(program->path)));
        return;
      }
    }
  }
  survey.add("mpi",
             facts::Unknown{facts::Why::not_stated, "no library beside it states a version", ""},
             seen(survey.tilde(program->real_path)));
}

constexpr std::string_view kKeys[] = {"mpi"};

}  // namespace

extern const Probe mpi{.name = "mpi", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

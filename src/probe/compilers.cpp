#include <algorithm>
#include <optional>

#include "base/text.h"
#include "elf/elf.h"
#include "probe/instances.h"
#include "probe/library_in_force.h"
#include "probe/library_owner.h"
#include "probe/path_text.h"
#include "probe/presence.h"
#include "probe/probe.h"
#include "probe/program_search.h"

namespace goldenv::probe {
namespace {

/// "12" of "x86_64-linux-gnu-gcc-12"; "" where the name ends otherwise.
std::string_view version_suffix(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) {
    return {};
  }
  const std::string_view suffix = name.substr(dash + 1);
  return !suffix.empty() && suffix.find_first_not_of("0123456789.") == std::string_view::npos
             ? suffix
             : std::string_view();
}

bool is_version(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.back() != '.' &&
         text.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// "3.25.1" of "3.25.1+dfsg".
std::string numbers_of(std::string_view upstream) {
  return std::string(upstream.substr(0, upstream.find_first_not_of("0123456789.")));
}

struct Version {
  facts::Reading reading = facts::Unknown{facts::Why::not_stated, "no file states it", ""};
  facts::Evidence evidence;
};

/// Every object that a compiler makes says by whom: "GCC: (Debian 12.2.0-14+deb12u1) 12.2.0", and
/// gcc's own start-up objects were made by itself. Sample of Red Hat: "GCC: (GNU) 11.4.1 20231218
/// (Red Hat 11.4.1-3)".
std::string version_in_object(std::string_view bytes) {
  const std::size_t at = bytes.find("GCC: (");
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view text = bytes.substr(at, bytes.substr(at, 256).find('\0'));
  std::size_t depth = 0;
  for (std::size_t i = 5; i < text.size(); ++i) {
    if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')' && depth > 0) {
      --depth;
    }
    if (depth == 0 && text[i] == ')') {
      const std::vector<std::string_view> after = words(text.substr(i + 1));
      return !after.empty() && is_version(after.front()) ? std::string(after.front()) : "";
    }
  }
  return {};
}

/// lib/gcc/<triple>/<version> beside the compiler's bin folder. Debian names it "12", others
/// "12.2.0".
std::vector<std::string> gcc_folders(const host::Host& host, std::string_view compiler,
                                     std::vector<Error>& unseen) {
  const std::string prefix(folder_of(folder_of(compiler)));
  const std::string base = (prefix == "/" ? "/usr" : prefix) + "/lib/gcc";
  std::vector<std::string> found;
  const std::string_view suffix = version_suffix(base_name(compiler));
  for (const host::DirEntry& triple : entries_or_none(host, base, unseen)) {
    if (triple.kind == host::FileStatus::Kind::file) {
      continue;
    }
    for (const host::DirEntry& version : entries_or_none(host, base + "/" + triple.name, unseen)) {
      const bool fits = suffix.empty() || version.name == suffix ||
                        version.name.starts_with(std::string(suffix) + ".");
      if (is_version(version.name) && fits) {
        found.push_back(base + "/" + triple.name + "/" + version.name);
      }
    }
  }
  return found;
}

Version gcc_version(Survey& survey, const Program& program) {
  const host::Host& host = survey.host();
  Version version;
  version.evidence = seen(survey.tilde(program.real_path));
  std::vector<Error> unseen;
  const std::vector<std::string> folders = gcc_folders(host, program.real_path, unseen);
  std::vector<std::string> stated;
  for (const std::string& folder : folders) {
    const std::string found = version_in_object(text_or_none(host, folder + "/crtbegin.o", unseen));
    if (!found.empty()) {
      stated.push_back(found);
      version.evidence = seen(survey.tilde(folder + "/crtbegin.o"));
    }
  }
  // Of several folders one that was not seen may be this compiler's.
  if (!unseen.empty()) {
    const std::string_view named = version_suffix(base_name(program.real_path));
    version.evidence = seen(survey.tilde(program.real_path));
    version.reading = named.empty() ? facts::Reading(facts::Unknown::from(unseen.front()))
                                    : facts::Value::prefix(std::string(named));
    return version;
  }
  std::ranges::sort(stated);
  stated.erase(std::unique(stated.begin(), stated.end()), stated.end());
  if (stated.size() == 1) {
    version.reading = facts::Value::scalar(stated.front());
    version.evidence.basis = "who made its start-up objects";
    return version;
  }
  version.evidence = seen(survey.tilde(program.real_path));
  const std::string_view suffix = version_suffix(base_name(program.real_path));
  if (stated.size() > 1) {
    version.reading = facts::Unknown{facts::Why::ambiguous, join(stated, " or "), ""};
  } else if (folders.size() == 1) {
    version.reading = facts::Value::prefix(std::string(base_name(folders.front())));
    version.evidence = seen(survey.tilde(folders.front()));
    version.evidence.basis = "folder name";
  } else if (!suffix.empty()) {
    version.reading = facts::Value::prefix(std::string(suffix));
    version.evidence.basis = "file name";
  }
  return version;
}

/// gcc -dumpversion would need running it. /usr/bin/gcc -> gcc-12 -> x86_64-linux-gnu-gcc-12.
void add_gcc(Survey& survey) {
  auto program = find_program(survey, "gcc");
  if (!program && program.error().code == Errc::absent) {
    program = find_program(survey, "cc");
    if (program && base_name(program->real_path).find("gcc") == std::string_view::npos) {
      survey.add("gcc", facts::Absent{"cc is " + std::string(base_name(program->real_path))},
                 seen(survey.tilde(program->path)));
      return;
    }
  }
  if (!program) {
    survey.add("gcc",
               program.error().code == Errc::absent
                   ? facts::Reading(facts::Absent{"no gcc on PATH"})
                   : facts::Unknown::from(program.error()),
               seen("PATH"));
    return;
  }
  Version version = gcc_version(survey, *program);
  for (const std::string& hop : program->hops) {
    version.evidence.notes.push_back(survey.tilde(hop));
  }
  survey.add("gcc", version.reading, version.evidence);
}

/// Other compilers of Debian's names in /usr/bin, as evidence.
void add_gcc_copies(Survey& survey) {
  if (survey.request().only_named && survey.labels_of("gcc").empty()) {
    return;
  }
  const host::Host& host = survey.host();
  const auto entries = host.list("/usr/bin");
  if (!entries) {
    return;
  }
  for (const host::DirEntry& entry : *entries) {
    if (!entry.name.starts_with("gcc-") || !is_version(entry.name.substr(4))) {
      continue;
    }
    const std::string path = "/usr/bin/" + entry.name;
    if (const auto hops = host.hops(path)) {
      const Version version = gcc_version(survey, {path, hops->back(), *hops});
      survey.add("gcc@" + path, version.reading, version.evidence);
    }
  }
}

/// " version 14.0.6" stands in the library that holds the front end (libclang-cpp), or in clang
/// itself where it is linked into one file. Distributions add their revision ("14.0.0-1ubuntu1.1").
/// Errors: those of reading the file.
Result<std::optional<std::string>> clang_text(Survey& survey, const std::string& file,
                                              std::string_view major) {
  const std::string marker = " version " + std::string(major) + ".";
  const auto found = elf::text_after(survey.host(), file, marker, 64);
  if (!found) {
    return found.error();
  }
  if (!*found) {
    return std::optional<std::string>();
  }
  const std::string text = std::string(major) + "." + **found;
  const std::string version = text.substr(0, text.find_first_of(" (\n"));
  // "14.0.6", not the "14.%d" of a message.
  const std::size_t dots = static_cast<std::size_t>(std::ranges::count(version, '.'));
  return dots >= 2 && version.find('%') == std::string::npos ? std::optional(version)
                                                             : std::optional<std::string>();
}

Version clang_version(Survey& survey, const Program& program) {
  const host::Host& host = survey.host();
  Version version;
  version.evidence = seen(survey.tilde(program.real_path));
  // /usr/lib/llvm-14/bin/clang: the prefix's lib/clang/<version> holds its own headers.
  const std::string prefix(folder_of(folder_of(program.real_path)));
  std::vector<std::string> numbers;
  if (const auto entries = host.list(prefix + "/lib/clang")) {
    for (const host::DirEntry& entry : *entries) {
      if (is_version(entry.name) && entry.kind == host::FileStatus::Kind::folder) {
        numbers.push_back(entry.name);
      }
    }
  }
  if (numbers.size() != 1) {
    if (const std::string_view suffix = version_suffix(base_name(program.real_path));
        !suffix.empty()) {
      numbers = {std::string(suffix)};
    }
  }
  if (numbers.size() != 1) {
    return version;
  }
  const std::string major = numbers.front().substr(0, numbers.front().find('.'));
  std::vector<std::string> files = {program.real_path};
  for (const std::string& name :
       {"/lib/libclang-cpp.so." + major, "/lib64/libclang-cpp.so." + major}) {
    if (const auto real = host.real_path(prefix + name)) {
      files.push_back(*real);
    }
  }
  for (const std::string& file : files) {
    const auto text = clang_text(survey, file, major);
    if (!text) {
      version.reading = facts::Value::prefix(major);
      version.evidence.basis = "folder name";
      return version;
    }
    if (*text) {
      version.reading = facts::Value::scalar(**text);
      version.evidence = seen(survey.tilde(file));
      version.evidence.basis = "text in the file";
      return version;
    }
  }
  // From clang 16 on the folder is named by the major number alone.
  const bool whole = std::ranges::count(numbers.front(), '.') == 2;
  version.reading =
      whole ? facts::Value::scalar(numbers.front()) : facts::Value::prefix(numbers.front());
  version.evidence.basis = "folder name";
  return version;
}

void add_clang(Survey& survey) {
  const auto program = find_program(survey, "clang");
  if (!program) {
    survey.add("clang",
               program.error().code == Errc::absent
                   ? facts::Reading(facts::Absent{"no clang on PATH"})
                   : facts::Unknown::from(program.error()),
               seen("PATH"));
    return;
  }
  Version version = clang_version(survey, *program);
  for (const std::string& hop : program->hops) {
    version.evidence.notes.push_back(survey.tilde(hop));
  }
  survey.add("clang", version.reading, version.evidence);
}

/// cmake's share folder is named by its first two numbers (share/cmake-3.25); the third is in the
/// package, as long as that is the cmake on PATH.
void add_cmake(Survey& survey) {
  const auto program = find_program(survey, "cmake");
  if (!program) {
    survey.add("cmake",
               program.error().code == Errc::absent
                   ? facts::Reading(facts::Absent{"no cmake on PATH"})
                   : facts::Unknown::from(program.error()),
               seen("PATH"));
    return;
  }
  const std::string prefix(folder_of(folder_of(program->real_path)));
  std::vector<std::string> numbers;
  if (const auto entries = survey.host().list(prefix + "/share")) {
    for (const host::DirEntry& entry : *entries) {
      if (entry.name.starts_with("cmake-") && is_version(entry.name.substr(6))) {
        numbers.push_back(entry.name.substr(6));
      }
    }
  }
  if (program->real_path == "/usr/bin/cmake" || program->real_path == "/bin/cmake") {
    if (const auto& packages = debian_packages(survey)) {
      for (const auto& [name, package_version] : *packages) {
        if (name == "cmake") {
          survey.add("cmake", facts::Value::scalar(numbers_of(debian_parts(package_version).first)),
                     seen("/var/lib/dpkg/status", "of " + program->real_path));
          return;
        }
      }
    }
  }
  facts::Evidence evidence = seen(survey.tilde(program->real_path));
  if (numbers.size() == 1) {
    evidence.basis = "folder name";
    evidence.notes.push_back(survey.tilde(prefix) + "/share/cmake-" + numbers.front());
    survey.add("cmake", facts::Value::prefix(numbers.front()), evidence);
    return;
  }
  survey.add("cmake", facts::Unknown{facts::Why::not_stated, "no file states it", ""}, evidence);
}

void run(Survey& survey) {
  if (survey.wants("gcc")) {
    add_gcc(survey);
    add_gcc_copies(survey);
  }
  if (survey.wants("clang")) {
    add_clang(survey);
  }
  if (survey.wants("cmake")) {
    add_cmake(survey);
  }
}

constexpr std::string_view kKeys[] = {"gcc", "clang", "cmake"};

}  // namespace

extern const Probe compilers{.name = "compilers", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

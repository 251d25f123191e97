#include "probe/python_prefix.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "probe/presence.h"
#include "probe/python_names.h"
#include "probe/python_release.h"

namespace goldenv::probe {
namespace {

constexpr int kFoldersAbove = 4;

/// Whether prefix/lib (or lib64, Red Hat's) holds the standard library of a series. `os` is
/// CPython's own landmark; a stripped image may have kept its byte code only. Errors: those of the
/// look, where nothing that could be seen decides it.
Result<bool> has_library(const host::Host& host, const std::string& prefix,
                         const std::string& series) {
  std::optional<Error> unseen;
  for (const std::string_view lib : {"lib", "lib64"}) {
    const std::string folder = path_in(path_in(prefix, lib), "python" + series);
    for (const std::string_view landmark : {"/os.py", "/os.pyc"}) {
      const auto status = host.status(folder + std::string(landmark));
      if (status) {
        return true;
      }
      if (status.error().code != Errc::absent) {
        unseen = status.error();
      }
    }
  }
  return unseen ? Result<bool>(*std::move(unseen)) : Result<bool>(false);
}

/// Series with a folder in prefix/lib or prefix/lib64, sorted. conda links lib/python3.1 to
/// lib/python3.11: a link to another series is none.
Result<std::vector<std::string>> series_folders(const host::Host& host, const std::string& prefix) {
  std::vector<std::string> found;
  for (const std::string_view lib : {"lib", "lib64"}) {
    const std::string folder = path_in(prefix, lib);
    const auto entries = host.list(folder);
    if (!entries) {
      if (entries.error().code == Errc::absent) {
        continue;
      }
      return entries.error();
    }
    for (const host::DirEntry& entry : *entries) {
      std::optional<std::string> series = python_series(entry.name);
      if (!series) {
        continue;
      }
      if (entry.kind == host::FileStatus::Kind::link) {
        const auto real = host.real_path(path_in(folder, entry.name));
        if (!real || base_name(*real) != entry.name) {
          continue;
        }
      }
      found.push_back(*std::move(series));
    }
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

struct InstalledSeries {
  std::vector<std::string> names;
  std::vector<Error> unseen;
};

Result<InstalledSeries> installed_series(const host::Host& host, const std::string& prefix) {
  GOLDENV_TRY(const std::vector<std::string> folders, series_folders(host, prefix));
  InstalledSeries found;
  for (const std::string& series : folders) {
    const Result<bool> library = has_library(host, prefix, series);
    if (!library) {
      found.unseen.push_back(library.error());
    } else if (*library) {
      found.names.push_back(series);
    }
  }
  return found;
}

/// Errors: those of the look at what tells them apart.
Result<PythonKind> kind_of(const host::Host& host, const std::string& prefix) {
  GOLDENV_TRY(const bool is_conda, is_there(host, path_in(prefix, "conda-meta")));
  if (is_conda) {
    return prefix.find("/.pixi/") != std::string::npos ? PythonKind::pixi : PythonKind::conda;
  }
  const std::string above = folder_above(prefix);
  if (base_name(above) == "versions") {
    GOLDENV_TRY(const bool has_shims, is_there(host, folder_above(above) + "/shims"));
    if (has_shims || base_name(folder_above(above)) == ".pyenv") {
      return PythonKind::pyenv;
    }
  }
  if (above.ends_with("/uv/python")) {
    return PythonKind::uv;
  }
  return prefix == "/usr" ? PythonKind::system : PythonKind::source;
}

/// The interpreter of a series: bin/pythonX.Y, or a bin/python3 that is one; "" where there is
/// none. Errors: those of the look.
Result<std::string> interpreter_of(const host::Host& host, const std::string& prefix,
                                   const std::string& series) {
  const std::string exact = path_in(prefix, "bin/python" + series);
  const auto status = host.status(exact);
  if (status) {
    return exact;
  }
  std::optional<Error> unseen;
  if (status.error().code != Errc::absent) {
    unseen = status.error();
  }
  for (const std::string_view name : {"bin/python3", "bin/python"}) {
    const std::string path = path_in(prefix, name);
    const auto real = host.real_path(path);
    if (real && (base_name(*real) == "python" + series || !python_series(base_name(*real)))) {
      return path;
    }
    if (!real && real.error().code != Errc::absent) {
      unseen = real.error();
    }
  }
  return unseen ? Result<std::string>(*std::move(unseen)) : Result<std::string>(std::string());
}

Python installation(const host::Host& host, const std::string& prefix, const std::string& series,
                    std::string interpreter) {
  Python python;
  python.prefix = prefix;
  python.label = prefix;
  python.base_prefix = prefix;
  python.series = series;
  const Result<PythonKind> kind = kind_of(host, prefix);
  if (kind) {
    python.kind = *kind;
  } else {
    // Its packages may be conda's: what conda-meta would tell of them is then unknown, too.
    python.kind = PythonKind::conda;
    python.kind_error = kind.error();
  }
  python.interpreter = std::move(interpreter);
  PythonRelease release = python_release(host, python);
  python.version = std::move(release.text);
  python.exact = release.exact;
  python.version_evidence = std::move(release.evidence);
  return python;
}

/// A venv runs on the interpreter that its bin/python leads to; where that is a copy or gone, on
/// what `home` names.
/// Errors: those of the look, where it stands before any that is found.
Result<std::optional<PythonHome>> base_of(const host::Host& host, const std::string& prefix,
                                          const VenvConfig& config, Python& venv) {
  std::vector<std::string> candidates;
  for (const std::string_view name : {"bin/python3", "bin/python"}) {
    const std::string path = path_in(prefix, name);
    const auto real = host.real_path(path);
    if (real) {
      venv.interpreter = venv.interpreter.empty() ? path : venv.interpreter;
      candidates.push_back(*real);
    } else if (real.error().code != Errc::absent && candidates.empty()) {
      return real.error();
    }
  }
  if (venv.interpreter.empty()) {
    venv.notes.push_back(prefix + "/bin/python leads to no file: this environment cannot run");
  }
  if (!config.executable.empty()) {
    candidates.push_back(config.executable);
  }
  if (!config.home.empty()) {
    const std::string series = config.version.substr(0, config.version.rfind('.'));
    candidates.push_back(path_in(config.home, "python" + series));
    candidates.push_back(path_in(config.home, "python3"));
    candidates.push_back(path_in(config.home, "python"));
  }
  for (const std::string& candidate : candidates) {
    if (!candidate.starts_with('/')) {
      continue;
    }
    Result<PythonHome> home = python_home(host, candidate);
    if (home && !home->series.empty()) {
      return std::optional(*std::move(home));
    }
    if (!home && home.error().code != Errc::absent && home.error().code != Errc::unreadable) {
      return home.error();
    }
  }
  return std::optional<PythonHome>();
}

Result<Python> venv_at(const host::Host& host, const std::string& prefix, std::string_view text) {
  const VenvConfig config = parse_venv_config(text);
  const std::string config_path = path_in(prefix, "pyvenv.cfg");
  Python venv;
  const Result<std::vector<std::string>> own = series_folders(host, prefix);
  if (!own) {
    return own.error();
  }
  GOLDENV_TRY(const std::optional<PythonHome> base, base_of(host, prefix, config, venv));
  venv.prefix = prefix;
  venv.label = prefix;
  venv.kind = PythonKind::venv;
  venv.system_site = config.system_site;
  if (!config.maker.empty()) {
    venv.notes.push_back("made by " + config.maker);
  }
  if (base) {
    const Python below = installation(host, base->prefix, base->series, base->interpreter);
    venv.base_prefix = below.prefix;
    venv.series = below.series;
    venv.notes.push_back("runs on " + below.interpreter);
    const bool newer_known = below.exact || !config.version.starts_with(below.version + ".");
    if (newer_known) {
      venv.version = below.version;
      venv.exact = below.exact;
      venv.version_evidence = below.version_evidence;
    }
    if (!own->empty() && std::ranges::find(*own, venv.series) == own->end()) {
      venv.notes.push_back("made for Python " + join(*own, ", ") + " and run by " + venv.series +
                           ": what is installed in it is not found");
    }
  } else if (!config.version.empty()) {
    venv.series = config.version.substr(0, config.version.rfind('.'));
    venv.notes.push_back("its base interpreter is gone");
  } else if (!own->empty()) {
    venv.series = own->back();
    venv.notes.push_back("its base interpreter is gone");
  } else {
    return Error{Errc::absent, prefix + ": a pyvenv.cfg without a Python", {}};
  }
  if (venv.version.empty()) {
    const bool stated = config.version.starts_with(venv.series + ".");
    venv.version = stated ? config.version : venv.series;
    venv.exact = stated;
    venv.version_evidence.from = config_path;
    venv.version_evidence.basis = stated ? "read" : "derived";
    if (stated) {
      venv.version_evidence.notes.emplace_back("of the time when the environment was made");
    }
  } else if (!config.version.empty() && config.version != venv.version && venv.exact) {
    venv.notes.push_back("made with Python " + config.version);
  }
  return venv;
}

}  // namespace

std::string path_in(std::string_view folder, std::string_view name) {
  return std::string(folder == "/" ? "" : folder) + "/" + std::string(name);
}

std::string folder_above(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : std::string(path.substr(0, slash));
}

std::string normal_path(std::string_view path) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : split(path, '/')) {
    if (part == ".." && !parts.empty()) {
      parts.pop_back();
    } else if (!part.empty() && part != "." && part != "..") {
      parts.push_back(part);
    }
  }
  std::string text;
  for (const std::string_view part : parts) {
    text += '/';
    text += part;
  }
  return text.empty() ? "/" : text;
}

Result<PythonHome> python_home(const host::Host& host, const std::string& interpreter) {
  const std::string beside = folder_above(interpreter);
  for (const std::string& folder : {folder_above(beside), beside}) {
    GOLDENV_TRY(const bool is_venv, is_there(host, path_in(folder, "pyvenv.cfg")));
    if (is_venv) {
      return PythonHome{folder, "", interpreter};
    }
  }
  const Result<std::string> real = host.real_path(interpreter);
  if (!real) {
    return real.error();
  }
  const std::optional<std::string> named = python_series(base_name(*real));
  std::string folder = folder_above(*real);
  for (int i = 0; i < kFoldersAbove; ++i) {
    if (named) {
      GOLDENV_TRY(const bool library, has_library(host, folder, *named));
      if (library) {
        return PythonHome{folder, *named, interpreter};
      }
    } else {
      const auto all = installed_series(host, folder);
      if (all && !all->unseen.empty()) {
        return all->unseen.front();
      }
      if (all && all->names.size() == 1) {
        return PythonHome{folder, all->names.front(), interpreter};
      }
      if (all && all->names.size() > 1) {
        return Error{Errc::unreadable,
                     interpreter + ": " + folder + " holds several Pythons (" +
                         join(all->names, ", ") + ") and its name does not say which it is",
                     {}};
      }
    }
    if (folder == "/") {
      break;
    }
    folder = folder_above(folder);
  }
  return Error{Errc::absent,
               interpreter + ": belongs to no Python (no lib/pythonX.Y/os.py above " + *real + ")",
               {}};
}

Result<PrefixPythons> pythons_in(const host::Host& host, const std::string& prefix) {
  const Result<std::string> config = host.read_file(path_in(prefix, "pyvenv.cfg"));
  if (config) {
    Result<Python> venv = venv_at(host, prefix, *config);
    if (!venv) {
      return std::move(venv).error();
    }
    return PrefixPythons{{*std::move(venv)}, {}};
  }
  if (config.error().code != Errc::absent) {
    return config.error();
  }
  GOLDENV_TRY(InstalledSeries all, installed_series(host, prefix));
  const auto real = host.real_path(path_in(prefix, "bin/python3"));
  if (!real && real.error().code != Errc::absent && all.names.size() > 1) {
    return real.error();  // it says which of them goes by the prefix alone
  }
  const std::string usual = real ? python_series(base_name(*real)).value_or("") : "";
  std::stable_partition(all.names.begin(), all.names.end(),
                        [&](const std::string& series) { return series == usual; });
  PrefixPythons found{{}, std::move(all.unseen)};
  for (const std::string& series : all.names) {
    Result<std::string> interpreter = interpreter_of(host, prefix, series);
    if (!interpreter) {
      found.unseen.push_back(interpreter.error());
      continue;
    }
    if (interpreter->empty()) {
      continue;
    }
    Python python = installation(host, prefix, series, *std::move(interpreter));
    if (!found.pythons.empty()) {
      python.label = python.interpreter;
    }
    found.pythons.push_back(std::move(python));
  }
  if (found.pythons.empty() && !found.unseen.empty()) {
    return found.unseen.front();
  }
  if (found.pythons.empty()) {
    return Error{
        Errc::absent, prefix + ": holds no Python (no bin/python3 with a lib/python3.*)", {}};
  }
  return found;
}

}  // namespace goldenv::probe

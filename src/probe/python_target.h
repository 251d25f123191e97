#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "facts/reading.h"
#include "host/host.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// Who installed a Python; the names are the choices of python.kind.
enum class PythonKind : std::uint8_t { system, venv, conda, pyenv, uv, pixi, source };
std::string_view name(PythonKind kind);

/// A folder from which a Python imports packages.
struct SiteFolder {
  enum class Origin : std::uint8_t { python_path, user, site, pth };
  std::string path;
  Origin origin = Origin::site;
  std::string from = {};  ///< of pth: the file that names it
  /// The distribution's own packages are here (dist-packages or site-packages below /usr/lib).
  bool distribution = false;

  friend bool operator==(const SiteFolder&, const SiteFolder&) = default;
};

/// A folder of the path, or a .pth file that may add some, that could not be looked at. What it
/// holds is not known. Python itself passes over one that is denied to it, so that what is found
/// behind such a one is what this user would import; else what stands behind it is not certain.
struct UnlistedFolder {
  std::string path;
  Error error;
  std::size_t position = 0;  ///< how many of Python::folders stand before it
  bool is_passed_over = false;
};

/// One Python installation or virtual environment.
struct Python {
  std::string prefix;       ///< its sys.prefix, by the path by which it was found
  std::string label;        ///< what stands behind '@' (before Survey::tilde): the prefix; the
                            ///< interpreter (/usr/bin/python3.9) of a further Python in one prefix
  std::string interpreter;  ///< "" where there is none
  std::string series;       ///< "3.11"; "3.13t" free-threaded
  std::string version;      ///< "3.11.7"; "3.11" where no file says more
  bool exact = false;       ///< whether `version` is whole
  facts::Evidence version_evidence;
  PythonKind kind = PythonKind::source;
  std::optional<Error> kind_error;  ///< why that cannot be told
  /// Of a venv the prefix it runs on ("" where that is gone), else `prefix`.
  std::string base_prefix;
  bool system_site = false;              ///< a venv that also imports its base's packages
  bool user_site = false;                ///< ~/.local packages take part
  std::optional<Error> user_site_error;  ///< why that cannot be told
  std::vector<SiteFolder> folders;       ///< in the order of sys.path; each was listed
  std::vector<UnlistedFolder> unlisted;
  std::vector<std::string> run_at_start;  ///< .pth files with lines that run code at every start
  std::vector<std::string> notes;         ///< oddities: a dangling interpreter, a venv's maker
  std::string torch;                 ///< the folder of the torch package it would import, or ""
  std::optional<Error> torch_error;  ///< why that cannot be told
};

/// All Pythons found on a machine, and which one is meant.
struct PythonScene {
  /// In the order in which they were found, by real prefix unique. A deque: what refers to one
  /// stays right when more are found.
  std::deque<Python> pythons;
  std::optional<std::size_t> chosen;  ///< index of the target Python
  /// Where none is chosen: Absent (no Python at all) or Unknown (ambiguous, or the one asked for is
  /// none): the reading of every fact that hangs on the target Python.
  facts::Reading otherwise = facts::Absent{};
  /// Places that could hold a further Python and could not be looked at.
  std::vector<Error> unseen;
  /// The choice in words, for evidence notes; first the rule that decided. Home folders as they
  /// are.
  std::vector<std::string> why;
  /// Entries of every folder in some Python's `folders`.
  std::map<std::string, std::vector<host::DirEntry>> listings;

  /// The target Python, or nullptr.
  [[nodiscard]] const Python* target() const { return chosen ? &pythons[*chosen] : nullptr; }
};

/// The first that stands at or before `position` in Python::folders and leaves open what Python
/// would find (not one that it passes over), or nullptr.
const UnlistedFolder* doubt_before(const Python& python, std::size_t position);

/// The Pythons of the surveyed machine, found once a survey. Nothing is run or imported.
///
/// The target is the first of: Request::python (a prefix, an interpreter, or the name of one on
/// PATH); $VIRTUAL_ENV; $CONDA_PREFIX; the python3 on PATH if it holds torch; the only one that
/// holds torch; where several do none (ambiguous); where none does the python3 on PATH.
const PythonScene& python_scene(Survey& survey);

/// The same scene for those who ask for the target alone: `chosen`, `otherwise` and `why` are
/// final, Pythons that the choice did not hang on may be missing from the rest.
const PythonScene& python_choice(Survey& survey);

/// The Python from which a file at `path` is imported, and its folder there: the target, or for
/// paths with a site-packages or dist-packages any. {nullptr, nullptr} where there is none.
struct SiteOf {
  const Python* python = nullptr;
  const SiteFolder* folder = nullptr;
};
SiteOf site_of(Survey& survey, std::string_view path);

}  // namespace goldenv::probe

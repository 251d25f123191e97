#pragma once

#include <cstdint>
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
  std::string from;     ///< what put it there: "PYTHONPATH", the .pth file, else ""
  bool debian = false;  ///< dist-packages below /usr/lib: what is in it came with the distribution

  friend bool operator==(const SiteFolder&, const SiteFolder&) = default;
};

/// One Python installation or virtual environment.
struct Python {
  std::string prefix;  ///< its sys.prefix, by the path by which it was found
  std::string label;  ///< what stands behind '@', without '~': the prefix, or the interpreter where
                      ///< a prefix holds several (/usr/bin/python3.9)
  std::string interpreter;  ///< "" where there is none
  std::string series;       ///< "3.11"; "3.13t" free-threaded
  std::string version;      ///< "3.11.7"; the series without 't' where no file says more
  bool exact = false;       ///< whether `version` is whole
  facts::Evidence version_evidence;
  PythonKind kind = PythonKind::source;
  std::string base_prefix;  ///< of a venv the prefix it was made from ("" where that is gone), else
                            ///< `prefix`
  bool user_site = false;   ///< ~/.local packages take part
  std::vector<SiteFolder> folders;  ///< in the order of sys.path; each exists
  std::vector<Error> unlisted;      ///< folders of the path that could not be listed
  std::vector<std::string> notes;   ///< oddities: a dangling interpreter, .pth lines that run code
  std::string torch;                ///< the folder of the torch package it would import, or ""
};

/// All Pythons found on a machine, and which one is meant.
struct PythonScene {
  std::vector<Python> pythons;        ///< sorted by label, no duplicates
  std::optional<std::size_t> chosen;  ///< index of the target Python
  /// Where none is chosen: Absent (no Python at all) or Unknown (ambiguous, or the one asked for is
  /// none); the reading of every fact that hangs on the target Python.
  facts::Reading otherwise = facts::Absent{};
  std::vector<std::string>
      why;  ///< the choice in words, for evidence notes; first the rule that decided

  /// The target Python, or nullptr.
  [[nodiscard]] const Python* target() const { return chosen ? &pythons[*chosen] : nullptr; }
};

/// The Pythons of the surveyed machine, found once a survey. Nothing is run or imported.
///
/// The target is the first of: Request::python; $VIRTUAL_ENV; $CONDA_PREFIX; the python3 on PATH if
/// it holds torch; the only one that holds torch; where several do none (ambiguous); where none
/// does the python3 on PATH.
const PythonScene& python_scene(Survey& survey);

/// What a pyvenv.cfg says. Format: `key = value` lines, keys without case (site.py, PEP 405).
struct VenvConfig {
  std::string home;        ///< folder of the base interpreter
  std::string executable;  ///< the base interpreter, where the maker wrote it
  std::string version;     ///< "3.11.7" of `version` or `version_info`, at the time of creation
  bool system_site = false;
  std::string maker;  ///< "uv 0.5.1", "virtualenv 20.24.1", else ""

  friend bool operator==(const VenvConfig&, const VenvConfig&) = default;
};
VenvConfig parse_venv_config(std::string_view text);

}  // namespace goldenv::probe

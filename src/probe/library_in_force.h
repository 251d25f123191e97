#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facts/reading.h"
#include "loader/loader.h"
#include "loader/system.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// The copy of a library that is in force: the one that the process has mapped, if the source is
/// one; else the one that the target Python's torch would load, or where no torch is there, the one
/// that a plain program would.
struct LibraryInForce {
  enum class Asker {
    torch,    ///< one of torch's libraries names it
    program,  ///< there is no torch
    nobody,   ///< torch is there and none of its libraries names it
    unknown,  ///< which torch is meant, or what it asks for, is not known
  };
  Asker asker = Asker::program;
  /// Value (the path as the loader opens it), Absent or Unknown: the reading of every fact about
  /// the library that hangs on which copy is meant, where it is no value.
  facts::Reading found = facts::Unknown{};
  std::string soname;       ///< that was asked for
  std::string path;         ///< as the loader would open it
  std::string real_path;    ///< its file
  bool is_deleted = false;  ///< mapped by a process, and no longer what stands at its path
  facts::Reading origin;    ///< preload, env, else by place: wheel, torch, conda, toolkit, system
  /// Who asks when this library opens others: itself, then who loaded it, up to the program.
  std::vector<std::string> loaders;
  /// from: the file; basis: "mapped", "resolved", or "no torch: what a program would load"; notes:
  /// who asked, what decided, what was tried before.
  facts::Evidence evidence;

  [[nodiscard]] bool is_found() const { return std::holds_alternative<facts::Value>(found); }
};

/// `sonames` is what a program is taken to ask for where there is no torch; where several of them
/// find a file the answer is unknown (ambiguous). The soname that torch asks for stands in its
/// libraries. Answered once a survey for each stem.
const LibraryInForce& library_in_force(Survey& survey, std::string_view stem,
                                       std::span<const std::string_view> sonames);

/// One exact soname, asked for by `loaders` (the asker first) in the source's own environment.
LibraryInForce resolve_library(Survey& survey, std::string_view soname,
                               const std::vector<std::string>& loaders);

/// What the source's loader is and reads, looked at once a survey.
loader::System& loader_system(Survey& survey);

/// torch's libraries in the order in which `import torch` reaches them, those that exist; empty
/// where the target Python has no torch. Each with what the loader would walk from it to the
/// program.
struct TorchObject {
  std::string path;
  std::vector<std::string> loaders;  ///< itself first
};
const std::vector<TorchObject>& torch_objects(Survey& survey);

/// The target Python's torch folder, "" where there is none.
std::string torch_folder(Survey& survey);

/// Why it cannot be told which torch is meant, whether there is one, or which libraries it is made
/// of: the reading of all that hangs on it. None where that can be told.
std::optional<facts::Unknown> torch_in_doubt(Survey& survey);

/// What libraries of the target Python's own process are searched by: its interpreter, if it has
/// one.
std::vector<std::string> python_loaders(Survey& survey);
/// The same. Errors: where its file could not be looked at.
Result<std::vector<std::string>> known_python_loaders(Survey& survey);

/// A text with the home folder of the source's user written `~` wherever a path in it begins so.
std::string with_tilde(Survey& survey, std::string text);

}  // namespace goldenv::probe

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/store.h"
#include "wheel/tags.h"

namespace goldenv::provision {

/// The Python that an environment is for, and below it: it stays where it is.
struct Interpreter {
  std::string program;  ///< as it was found; who is asked for pip's settings
  std::string base;     ///< the interpreter itself, without links, whatever venv `program` is of
  std::string version;  ///< "3.11.7"
  std::string minor;    ///< "3.11"
  std::string prefix;   ///< of `base`: "/usr"
  wheel::Target target;
  std::string why;  ///< how it was chosen, and where it is not the version that is pinned
};

struct InterpreterWish {
  std::string asked;          ///< a program or a prefix that the user named; "" for none
  std::string pinned;         ///< the version that a manifest pins; "" for none
  std::string target_python;  ///< the manifest's prefix; "" for none
};

/// The program that a user names by itself or by its prefix; where nothing is named, python3 on
/// PATH. It is not run. "" where there is none.
std::string python_program(const std::string& asked);

/// The first of: what was asked for; the manifest's target_python, if it is of the pinned minor
/// version; python3.N of that version on PATH; python3 on PATH. It is run once (isolated, without
/// site-packages) to say what it is; what an ELF file said is remembered in the store while the
/// file is the same. Errors: usage (none of the pinned minor version is here: a CPython on glibc,
/// 3.7 or later), failed (it does not run).
Result<Interpreter> find_interpreter(const InterpreterWish& wish, const store::Store& store);

/// What an interpreter says of itself, a line of JSON. Errors: malformed; usage, where it is no
/// CPython.
Result<Interpreter> parse_interpreter(std::string_view text, std::string_view program);

}  // namespace goldenv::provision

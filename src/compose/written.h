#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "compose/compose.h"

// The texts that an environment has of its own; other rooms include compose/compose.h.
namespace goldenv::compose {

/// The file in which a generation says what it is composed of.
inline constexpr std::string_view kRecord = ".goldenv.json";

std::string record_text(const Plan& plan);
/// Errors: malformed.
Result<Recorded> parse_record(std::string_view text, std::string_view name);

/// pyvenv.cfg, as `python -m venv` writes it. Source: PEP 405.
std::string venv_text(const BasePython& python);

/// The first line, or the lines, by which a script runs under `interpreter`: kernels before 5.1
/// take 127 bytes, and none takes a blank.
std::string script_head(std::string_view interpreter);

/// A console script as pip writes it. Errors: failed, where module or function are no names.
Result<std::string> script_text(const Plan& plan, const store::Script& script);

}  // namespace goldenv::compose

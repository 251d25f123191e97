#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "host/process.h"
#include "probe/library_in_force.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// What the process that the source is about has mapped as a library: the file itself, whatever
/// stands at its path by now. Its path and real path end in " (deleted)" where that is no longer
/// the file mapped, so that what is read of it is read of the mapped one; path_on_disk() cuts that.
///
/// None where the source is no process, or has mapped nothing of the kind: then it is the loader's
/// answer that counts. Unknown where what it has mapped could not be looked at, or where it has
/// several that answer.
std::optional<LibraryInForce> mapped_library(Survey& survey, std::string_view soname);
/// The same for every soname of a stem ("libnccl").
std::optional<LibraryInForce> mapped_library_of(Survey& survey, std::string_view stem);

/// The sonames under which the process has mapped what `matches` by its file name, sorted.
std::vector<std::string> mapped_sonames(
    Survey& survey, const std::function<bool(std::string_view file_name)>& matches);

/// "pid 4711 (python3) has not mapped it: ..." for what is taken from the loader instead; "" where
/// the source is no process.
std::string not_mapped_note(const Survey& survey);

/// A path without " (deleted)".
std::string path_on_disk(std::string_view path);

/// An unknown of what a process would not show: with who could look.
facts::Unknown unseen_of_process(const Survey& survey, const Error& error);

}  // namespace goldenv::probe

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::probe {

/// Whether something stands at a path, links followed: false only where nothing does. Errors: why
/// that cannot be told. Host::exists says false to both, and is for looks whose answer decides no
/// fact.
Result<bool> is_there(const host::Host& host, std::string_view path);

/// Whether a look that failed leaves open what it would have found. It does not where the source is
/// of a kind that has nothing of the sort: a tree without processes has no environment either, and
/// is taken for one in which no variable is set.
bool leaves_open(const Error& error);

/// Whether it is known which of the source's variables are set. Errors: why it is not.
Result<void> variables_known(const host::Host& host);

/// The same of Host::mounts, which is empty where they are not known.
Result<void> mounts_known(const host::Host& host);

/// Adds a failed look to `unseen`, unless it found nothing there.
void note_unseen(const Error& error, std::vector<Error>& unseen);

/// The entries of a folder and the bytes of a file; none where nothing is there, nor where that
/// cannot be told, which `unseen` then says.
std::vector<host::DirEntry> entries_or_none(const host::Host& host, std::string_view path,
                                            std::vector<Error>& unseen);
std::string text_or_none(const host::Host& host, std::string_view path, std::vector<Error>& unseen,
                         std::size_t limit_bytes = host::kFileLimitBytes);

}  // namespace goldenv::probe

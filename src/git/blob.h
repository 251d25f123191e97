#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

// The room of goldenv-git, a program of its own: libgit2 brings ten libraries along, which goldenv
// would pay for at every start, and reads repositories that may be hostile, which is better done in
// a process that can be left behind.
namespace goldenv::git {

/// A file of a repository on this machine (bare ones too) as it stands in a revision: a commit,
/// tag, branch or whatever git-rev-parse(1) calls one. Nothing is checked out, written or run: no
/// hooks, no filters. The repository's own folder is meant, or that of its work tree, none above
/// it.
///
/// Objects are taken only if their bytes have the digest that is their name. A repository of
/// another user is refused unless safe.directory of the caller's configuration allows it, as git
/// does. Errors: usage (no repository, no such revision or file, a folder, link or submodule
/// there), too_large (over `limit_bytes`), failed (damaged objects, I/O).
Result<std::string> read_blob(const std::string& repository, const std::string& revision,
                              const std::string& path, std::size_t limit_bytes);

}  // namespace goldenv::git

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace goldenv::source {

/// A file in a git repository on this machine at a revision, as written behind "git:".
struct GitFile {
  std::string repository;
  std::string revision;
  std::string path;

  /// The folder in which a work tree would hold the file.
  [[nodiscard]] std::string folder() const;
  /// The way back: "git:REPO@REV:PATH".
  [[nodiscard]] std::string text() const;
};

/// Of "REPO@REV:PATH". Where REPO has an '@' in it itself, the first cut that leaves a folder which
/// is there counts. A relative REPO is below `folder`, where one is given, and comes joined to it.
/// Errors: usage (not of this form, a repository elsewhere: https://...).
Result<GitFile> parse_git(std::string_view place, const std::string& folder = {});

/// Its text, by goldenv-git. Errors: usage (no such repository, revision or file), too_large,
/// failed (damaged, another user's, takes too long).
Result<std::string> read_git(const GitFile& file);

/// Whether a revision is a full commit, which names the same file for ever.
bool is_full_commit(std::string_view revision);

}  // namespace goldenv::source

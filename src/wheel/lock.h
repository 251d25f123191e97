#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "wheel/marker.h"
#include "wheel/page.h"

// Lock files of other tools as exact sets: what is to be installed and nothing to decide. Lines
// that leave a choice are refused by name; entries that are no wheels are listed as not taken.
namespace goldenv::wheel {

/// A wheel that a lock names.
struct LockedWheel {
  std::string file;  ///< its name
  std::string url;   ///< empty where the lock has a path or only a name
  std::string path;  ///< relative to the lock, or absolute
  std::optional<Sha256> sha256;
  std::optional<std::uint64_t> size_bytes;

  friend bool operator==(const LockedWheel&, const LockedWheel&) = default;
};

struct LockedPackage {
  std::string name;                 ///< normalised
  std::string version;              ///< as written; empty where only a URL is given
  std::size_t line = 0;             ///< of the lock, from 1
  std::string index;                ///< of this package; empty: the set's
  std::vector<Sha256> digests;      ///< of requirements files, which name no files
  std::vector<LockedWheel> wheels;  ///< of the other forms
  std::string marker;               ///< as written; empty: always

  friend bool operator==(const LockedPackage&, const LockedPackage&) = default;
};

struct NotTaken {
  std::string name;
  std::string why;  ///< "marker does not hold: ...", "editable", "no wheel, only a source"
  friend bool operator==(const NotTaken&, const NotTaken&) = default;
};

/// Options of a requirements file that say where packages come from.
struct LockedSources {
  std::optional<std::string> index_url;
  std::vector<std::string> extra_index_urls;
  std::vector<std::string> find_links;
  bool no_index = false;

  friend bool operator==(const LockedSources&, const LockedSources&) = default;
};

/// One exact set for one target.
struct LockedSet {
  std::vector<LockedPackage> packages;  ///< sorted by name, each name once
  std::vector<NotTaken> not_taken;      ///< in the order of the text
  std::string requires_python;
  LockedSources sources;
};

enum class LockForm { requirements, pylock, uv };

/// By the file's name: pylock.toml and pylock.NAME.toml, uv.lock; else requirements.
LockForm lock_form(std::string_view file_name);

/// The set that a lock has for an environment. `name` stands before each error
/// ("requirements.txt:12: ..."). Errors: malformed (what is wrong, what is not exact, two versions
/// of one package, markers that cannot be decided), too_large, failed (the lock is for other
/// Pythons or platforms).
Result<LockedSet> parse_lock(std::string_view text, LockForm form, std::string_view name,
                             const MarkerEnvironment& environment);

/// A file of options and lines `name==version --hash=sha256:...` or `name @ URL`, as pip reads
/// them. Other files that it names (-r, -c) are not read, variables in it not expanded: refused.
Result<LockedSet> parse_requirements(std::string_view text, std::string_view name,
                                     const MarkerEnvironment& environment);
/// PEP 751, lock-version 1.x.
Result<LockedSet> parse_pylock(std::string_view text, std::string_view name,
                               const MarkerEnvironment& environment);
/// uv.lock, version 1. What `uv sync` would take: what the project and its groups reach by
/// dependencies whose markers hold (groups: those of the environment, else "dev"; extras: those of
/// the environment). Where no entry is the project, everything.
Result<LockedSet> parse_uv_lock(std::string_view text, std::string_view name,
                                const MarkerEnvironment& environment);

/// The wheels of a locked package as a page's files, for choose(). `folder` is the URL of the
/// lock's own folder ("file:///srv/project/"), against which paths are resolved.
std::vector<PageFile> page_files(const LockedPackage& package, std::string_view folder);

}  // namespace goldenv::wheel

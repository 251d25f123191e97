#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "provision/interpreter.h"
#include "provision/realiser.h"
#include "store/store.h"
#include "wheel/page.h"
#include "wheel/pip_settings.h"

// Which file of which index is meant by a version of a Python package.
namespace goldenv::provision {

/// What a user says of indexes. Where anything is said, pip's extra indexes and links count no
/// more, and its index only where none is named.
struct PackageOptions {
  std::string index;
  std::vector<std::string> extra_indexes;
  std::vector<std::string> find_links;
  bool no_index = false;

  [[nodiscard]] bool is_said() const {
    return !index.empty() || !extra_indexes.empty() || !find_links.empty() || no_index;
  }
};

struct Packages {
  std::vector<std::string> indexes;     ///< the first is the main one
  std::vector<std::string> find_links;  ///< folders and pages
  Network network;
  std::string from;  ///< "--index", "pip's configuration", "pip's default"
};

/// From options and what pip says; `default_index` is pip's own, asked for only where no other is
/// named. Errors: usage (no index at all, or one beside no_index; one by http on a host that is not
/// trusted).
Result<Packages> merge_packages(const PackageOptions& options, const wheel::PipSettings& settings,
                                const std::function<Result<std::string>()>& default_index);

/// The same with the pip of an interpreter, which is run for it. Errors: usage ("no index: give
/// --index", where it has no pip), failed.
Result<Packages> packages_of(const Interpreter& interpreter, const PackageOptions& options);

/// What indexes and links said of one project.
struct Offers {
  std::vector<wheel::PageFile> files;
  std::vector<Error> faults;  ///< pages that could not be read
};

/// The pages of all projects (normalised), and of --find-links, in one go. Errors: failed.
Result<std::map<std::string, Offers>> ask_indexes(const std::set<std::string>& projects,
                                                  const Packages& packages);

/// Which versions of projects indexes have.
struct IndexVersions {
  struct One {
    std::string project;
    std::string version;
  };
  std::vector<One> versions;
  std::vector<std::string> unread;  ///< pages that could not be read, and why
  std::string from;                 ///< who named the indexes: Packages::from
};
/// Only the interpreter's program is looked at: whose pip is asked for its settings. Errors: usage,
/// failed.
Result<IndexVersions> index_versions(const std::set<std::string>& projects,
                                     const Interpreter& interpreter, const PackageOptions& options);

/// A package at a version.
struct PackageWish {
  std::string project;  ///< normalised
  std::string version;
  std::vector<Sha256> digests;         ///< of a lock: only files with one of them; empty: any
  std::vector<wheel::PageFile> files;  ///< of a lock that names files itself: no index is asked
};

/// The file for it.
struct PackageFile {
  std::string project;
  std::string version;  ///< the file's own
  std::string file;
  std::string url;  ///< may hold a password: not for people
  std::string sha256;
  std::optional<std::uint64_t> size_bytes;
  std::vector<std::string> remarks;
};

/// What an index says is believed, digests and all: so it must be itself that says it. Errors:
/// usage, where it is read by http from a machine that is neither this one nor trusted.
Result<void> check_origin(const std::string& index, const std::vector<std::string>& trusted);

/// An absolute path as a file URL.
std::string file_url(std::string_view path);

struct PackageSearch {
  bool offline = false;
  bool refresh = false;  ///< ask again for what is remembered
};

/// One a wish, in their order.
using PackageAnswers = std::vector<Result<PackageFile>>;

/// What is remembered first, and indexes for the rest: all pages at once. Errors: usage, failed.
Result<PackageAnswers> find_packages(const std::vector<PackageWish>& wishes,
                                     const Interpreter& interpreter, const PackageOptions& options,
                                     const PackageSearch& search, const store::Store& store);

}  // namespace goldenv::provision

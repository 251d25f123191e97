#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "provision/provision.h"
#include "store/object.h"
#include "wheel/record.h"

// Which files the packages of an installed environment came from. An installer seldom writes that
// down; but it copies RECORD, which has the digest of every file, and so whoever has the file of
// an index can tell whether what is installed came from it.
namespace goldenv::provision {

/// What is installed against the file that an index has for its version.
struct Origin {
  std::string key;      ///< of the pin
  std::string version;  ///< that is pinned
  std::string file;     ///< the artifact's name; "" where none was found
  std::string sha256;   ///< of it
  std::string why;      ///< why it is not proved to be the one; "" where it is
};

/// Fetches the file of each package that is pinned, into the store, and compares. Pins on anything
/// but Python packages are passed over. Errors: usage (no index), failed.
Result<std::vector<Origin>> find_origins(const manifest::Manifest& manifest,
                                         const recipe::Collection& recipes, const Options& options,
                                         const store::Store& store, const Watch& watch);

/// Why an installation is not of an artifact: "" where the digests of all files are the same. Aside
/// are what installers write: RECORD, INSTALLER, REQUESTED, direct_url.json, compiled modules and
/// programs. `record` is relative to site-packages, `files` are the object's.
std::string difference_of(const std::vector<wheel::RecordEntry>& record,
                          const std::vector<store::File>& files);

}  // namespace goldenv::provision

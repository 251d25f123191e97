#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/descriptor.h"

// Where a store lies and whether it may be trusted; other rooms include store/store.h.
namespace goldenv::store {

inline constexpr std::string_view kVersionText = "goldenv store 1\n";
inline constexpr std::array<const char*, 7> kFolders = {"artifacts", "objects", "envs", "roots",
                                                        "leases",    "tmp",     "trash"};

struct Opened {
  std::string path;  ///< absolute, without links
  Descriptor fd;
};

/// Opens a folder as a store's. With `make`, it and what is above it are made where they are not
/// there. Errors: usage (not absolute), absent, denied, failed.
Result<Opened> open_store_folder(const std::string& path, bool make);

/// Whether environments in a store of this path could be used: ':' cannot stand in PATH, control
/// characters and bytes that are no UTF-8 not in what is told of them. Errors: usage.
Result<void> check_path(const std::string& path);

/// Makes the folders of a store that are not there. Errors: denied, failed.
Result<void> make_folders(const Opened& folder);

/// Makes what a store consists of in a folder that is empty or has a part of it. Errors: malformed
/// (something else is in it), failed.
Result<void> make_store(const Opened& folder);

/// Whether the store has the form that this goldenv knows. Errors: absent (no store), malformed.
Result<void> check_version(const Opened& folder);

/// This boot of this machine, 32 hexadecimal digits; "unknown" where /proc is not mounted.
const std::string& boot_id();

/// "<label>-<pid>-<boot>-<random>", unlike any other.
std::string temporary_name(std::string_view label);

/// Whether the process that took a temporary name may still run; also for names of another form,
/// which are not ours to judge.
bool may_live(std::string_view temporary_name);

}  // namespace goldenv::store

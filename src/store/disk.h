#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/descriptor.h"

// System calls as a store needs them, relative to open folders; for those who fill a Building.
namespace goldenv::store {

/// "PATH: what the system says", as absent, denied or failed, by errno. A full disk is named so.
Error system_error(const std::string& path, int number);

/// A regular file's bytes, a link not followed. Errors: absent, denied, unreadable (no regular
/// file), too_large, failed.
Result<std::string> read_at(int folder, const std::string& name, const std::string& path,
                            std::uint64_t limit_bytes);

/// Writes a fresh file. Errors: failed (also where it is there).
Result<void> write_at(int folder, const std::string& name, std::string_view text, unsigned mode,
                      const std::string& path);

/// The text of a link. Errors: absent, unreadable (no link), failed.
Result<std::string> link_at(int folder, const std::string& name, const std::string& path);

struct Member {
  enum class Kind { file, folder, link, other } kind = Kind::other;
  std::string name;
  friend auto operator<=>(const Member&, const Member&) = default;
};

/// The members of a folder in no order. Errors: absent, denied, failed.
Result<std::vector<Member>> members_at(int folder, const std::string& name,
                                       const std::string& path);

/// Opens a folder, a link not followed; -1 and errno.
int open_folder(int folder, const std::string& name);

/// Removes a folder with all that is in it, also from folders that their owner may not write. No
/// link is followed. Returns the bytes freed (of files with no other name). Errors: failed.
Result<std::uint64_t> remove_tree(int folder, const std::string& name, const std::string& path);

/// Counts what changes the disk, so that a test can end a process at each step; no-op elsewhere.
extern void (*step_hook)();
void step();

}  // namespace goldenv::store

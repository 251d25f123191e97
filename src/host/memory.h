#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::host {

/// What was once learned from the bytes of large files (a digest, a version text), so that the next
/// run does not read them again: one small file in a folder of the user's. An answer belongs to a
/// file's device, inode, size, mtime and ctime and to a question; a file that is written to has
/// another ctime and so no answers. Only for files of this machine: a file in an archive or a git
/// tree has no inode that could tell it from another.
///
/// Nothing here can fail: where the file cannot be read or is not to be trusted (not owned by root
/// or the caller, writable by others, a link, damaged, or its file system does not answer) nothing
/// is remembered; where it cannot be written, nothing is kept.
class Memory {
 public:
  /// In `folder`, which is made where needed; "" remembers nothing beyond this object.
  explicit Memory(std::string folder);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();  ///< saves

  [[nodiscard]] std::optional<std::string> get(const FileStatus& file, std::string_view question);
  /// Not kept where the file changed less than 2 s ago: it could change again in the same tick of
  /// its clock, and where question or answer are larger than 4 KiB.
  void put(const FileStatus& file, std::string_view question, std::string_view answer);
  /// What `learn` answers of the file at a path, or did before. An answer is kept if the file was
  /// the same one before and after.
  Result<std::string> recall(const Host& host, std::string_view path, std::string_view question,
                             const std::function<Result<std::string>()>& learn);
  /// Writes what is new, by rename; what another goldenv wrote in the meantime stays.
  void save();

  /// $XDG_CACHE_HOME/goldenv, else ~/.cache/goldenv, else "".
  static std::string default_folder();

 private:
  struct Entry {
    std::string answer;
    std::int64_t used_s = 0;  ///< when it was last of use, for forgetting the oldest
  };
  using Entries = std::map<std::string, Entry>;  ///< by identity and question

  void load();
  static Entries parse(std::string_view text);
  static std::string render(const Entries& entries);

  static void forget_oldest(Entries& entries);
  static void write(const std::string& folder, const Entries& fresh);

  std::string folder_;
  Entries entries_;
  Entries fresh_;  ///< learned or used by this object
  bool loaded_ = false;
};

}  // namespace goldenv::host

#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256_stream.h"
#include "store/object.h"

namespace goldenv::unpack {

class Tree;

/// A file that is being written; its digest is taken on the way.
class NewFile {
 public:
  NewFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  /// Errors: failed (disk full).
  Result<void> write(std::string_view piece);
  /// What was written. The file is closed.
  store::File finish(bool executable);
  /// Its first four bytes; fewer where it is shorter.
  [[nodiscard]] const std::string& head() const { return head_; }

 private:
  int fd_;
  std::string path_;
  std::string head_;
  std::uint64_t size_bytes_ = 0;
  Sha256Stream sum_;
};

/// The folder that an artifact is unpacked into. Every name is claimed once before anything is
/// written, folders are opened one below the other without following links, and links are made when
/// all files are there: nothing that an archive says can lead out of it.
class Tree {
 public:
  enum class Case { counts, clashes };

  /// `fd` is the open folder, which outlives it; `artifact` is for errors. Case::clashes refuses
  /// names that differ in case alone, of which a file system without case keeps one.
  Tree(int fd, std::string artifact, Case kind)
      : fd_(fd), artifact_(std::move(artifact)), case_(kind) {}

  /// "ARTIFACT: 'MEMBER' what", malformed.
  [[nodiscard]] Error refuse(std::string_view member, std::string_view what) const;

  /// A file or link of that path below the tree will be made; its folders are. `member` is its name
  /// in the artifact, for errors. Errors: malformed (taken already, a file above it, too long,
  /// clash of case), failed.
  Result<void> claim(std::string_view path, std::string_view member);

  /// Makes a claimed file. From several threads. Errors: failed.
  [[nodiscard]] Result<NewFile> create(const std::string& path) const;
  /// Makes another name of a file that is there. Errors: failed.
  [[nodiscard]] Result<void> create_hard_link(const std::string& path, const std::string& to) const;
  /// Makes claimed links (path to target) at last, each once it is known that none leads out, by
  /// itself or through others. Errors: malformed, naming the link; failed.
  Result<void> create_links(const std::map<std::string, std::string>& links);

  /// Of all that was claimed, "" for the tree itself not among them.
  [[nodiscard]] const std::set<std::string>& folders() const { return folders_; }

 private:
  Result<void> claim_folder(std::string_view path, std::string_view member);
  Result<void> claim_case(std::string_view path, std::string_view member);

  int fd_;
  std::string artifact_;
  Case case_;
  std::set<std::string> folders_;
  std::set<std::string> files_;
  std::map<std::string, std::string> by_lower_;
};

/// The open folder of a path below `fd`, no link followed; -1 and errno. "" is `fd` itself anew.
int open_below(int fd, std::string_view path);

}  // namespace goldenv::unpack

#pragma once

#include <string>
#include <string_view>

namespace goldenv::test {

/// A folder of its own below $TMPDIR or /tmp, removed with all that is in it at the end of its
/// life. Everything here throws std::runtime_error or std::filesystem::filesystem_error: a test
/// without its folder cannot go on.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  /// Absolute, without links and without a final slash.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// path()/relative; nothing is made.
  [[nodiscard]] std::string at(std::string_view relative) const;

  // Each makes the folders above what it writes, replaces what stood there, and returns
  // at(relative).
  std::string file(std::string_view relative, std::string_view content) const;
  std::string link(std::string_view relative, const std::string& target) const;
  std::string folder(std::string_view relative) const;

 private:
  std::string path_;
};

/// The bytes of a file; throws std::runtime_error that names it.
std::string read_file(const std::string& path);

}  // namespace goldenv::test

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"

namespace goldenv::test {

/// A machine made of strings. Paths are files unless given by link(), folder() or fail(); folders
/// follow from the files in them. Links are followed, also in mid-path. Without uname() it is an
/// x86_64 machine of a 5.15 kernel. As a tree (live(false)) it records its variables if it has any.
class FakeHost : public host::Host {
 public:
  FakeHost& file(const std::string& path, std::string content);
  FakeHost& link(const std::string& path, std::string target);
  FakeHost& folder(const std::string& path);
  FakeHost& fail(const std::string& path, Errc code);  ///< every look at it or below fails so
  FakeHost& deny(const std::string& path) { return fail(path, Errc::denied); }
  FakeHost& set(const std::string& name, std::string value);  ///< variable
  FakeHost& uname(host::SystemName name);
  FakeHost& room(const std::string& path, host::Space space);  ///< there and below
  FakeHost& live(bool live);

  [[nodiscard]] Result<std::string> read_file(std::string_view path,
                                              std::size_t limit_bytes) const override;
  [[nodiscard]] Result<std::string> read_link(std::string_view path) const override;
  [[nodiscard]] Result<std::vector<host::DirEntry>> list(std::string_view path) const override;
  [[nodiscard]] Result<host::FileStatus> status(std::string_view path) const override;
  [[nodiscard]] Result<std::string> real_path(std::string_view path) const override;
  [[nodiscard]] Result<std::vector<std::string>> hops(std::string_view path) const override;
  [[nodiscard]] Result<std::string> inspect(
      std::string_view path, const std::function<Result<std::string>(int fd)>& look) const override;
  [[nodiscard]] Result<host::Space> space(std::string_view path) const override;
  [[nodiscard]] Result<host::SystemName> system_name() const override;
  [[nodiscard]] Result<std::string> variable(std::string_view name) const override;
  [[nodiscard]] Result<std::vector<std::string>> variables() const override;
  [[nodiscard]] const std::vector<host::Mount>& mounts() const override;
  [[nodiscard]] bool live() const override { return live_; }

 private:
  struct Item {
    enum class Kind { file, link, folder, failing } kind = Kind::file;
    std::string text;
    Errc code = Errc::failed;
  };
  /// What stands at a path itself; no kind where nothing does, no item for a folder that follows
  /// from what lies in it.
  struct Found {
    std::optional<Item::Kind> kind;
    const Item* item = nullptr;
  };
  [[nodiscard]] Found at(const std::string& path) const;
  [[nodiscard]] Result<std::string> resolve(std::string_view path, bool follow_last) const;

  std::map<std::string, Item> items_;
  std::map<std::string, std::string> variables_;
  std::map<std::string, host::Space> rooms_;
  std::optional<host::SystemName> uname_;
  mutable std::vector<host::Mount> mounts_;
  mutable bool mounts_read_ = false;
  bool live_ = true;
};

}  // namespace goldenv::test

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "elf/elf.h"
#include "host/host.h"
#include "loader/capabilities.h"
#include "loader/loader.h"

namespace goldenv::loader {

/// What a source's own loader says of itself.
struct Interpreter {
  /// Of the file's text "release version 2.36", else of its old name (ld-2.31.so), else of the
  /// libc.so.6 beside it. Errors: those of reading the file (absent as unreadable), unreadable
  /// where nothing says it.
  Result<Release> release = Error{};
  /// The default folders it was built with, in order, without final slashes; empty where its file
  /// does not tell: "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib", "/usr/lib".
  std::vector<std::string> folders;
};

/// "/lib64/" and "/usr/lib64/" of the bytes of a loader: the longest run of such texts, each with
/// its NUL. Source: glibc elf/dl-load.c, system_dirs.
std::vector<std::string> folders_in_loader(std::string_view bytes);

/// What of a source every answer hangs on: its loader's release and folders, its processor, its
/// ld.so.cache, the ELF files on the way. Each is looked at once, when it is first needed.
class System {
 public:
  explicit System(const host::Host& host) : host_(host) {}
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  [[nodiscard]] const host::Host& host() const { return host_; }
  const Result<std::vector<CacheEntry>>& cache();
  const Interpreter& interpreter(const Abi& abi);
  const Capabilities& capabilities(const Abi& abi, const std::string& settings);
  const Result<elf::Image>& image(const std::string& path);
  /// That `real_path` is the file behind the path of an image that was read.
  void same_image(const std::string& path, const std::string& real_path);
  /// The first of kAbis whose loader is installed, or nullptr.
  const Abi* installed();
  /// The folders for certain processors that stand in a folder: a part of what
  /// Capabilities::subfolders names, the first part of its paths. Errors: those of Host::status.
  const Result<std::vector<std::string>>& special_folders(const Abi& abi,
                                                          const std::string& folder);
  /// "lib/x86_64-linux-gnu" or "lib64": what the loader puts for $LIB.
  std::string lib(const Abi& abi);
  /// Where it looks last, in order.
  std::vector<std::string> default_folders(const Abi& abi);

 private:
  Interpreter read_interpreter(const Abi& abi);
  Result<std::vector<std::string>> find_special_folders(const Abi& abi, const std::string& folder);

  const host::Host& host_;
  std::unique_ptr<const Result<std::vector<CacheEntry>>> cache_;
  std::unique_ptr<const Result<Processor>> processor_;
  std::map<std::uint16_t, Interpreter> interpreters_;
  std::map<std::pair<std::uint16_t, std::string>, Capabilities> capabilities_;
  std::map<std::string, Result<elf::Image>> images_;
  /// By machine and folder, as written and without links.
  std::map<std::pair<std::uint16_t, std::string>, Result<std::vector<std::string>>>
      special_folders_;
  std::optional<const Abi*> installed_;
};

}  // namespace goldenv::loader

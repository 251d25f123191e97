#include <linux/magic.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "host/disk.h"
#include "host/live.h"
#include "host/path.h"

namespace goldenv::host {
namespace {

Disk::Options disk_options(const std::vector<Mount>& mounts, const LiveOptions& options) {
  Disk::Options out;
  out.mounts = mounts;
  out.mounts.insert(out.mounts.end(), options.more_mounts.begin(), options.more_mounts.end());
  out.deadline = options.deadline;
  out.folder_limit = options.folder_limit;
  return out;
}

class LiveHost final : public Host {
 public:
  explicit LiveHost(const LiveOptions& options)
      : mounts_(live_mounts()), disk_(disk_options(mounts_, options)) {
    for (const auto& [top, magic] : {std::pair{"/proc", PROC_SUPER_MAGIC}, {"/sys", SYSFS_MAGIC}}) {
      struct statfs status {};
      if (::statfs(top, &status) != 0 || status.f_type != magic) {
        missing_.emplace_back(top);
      }
    }
  }

  [[nodiscard]] Result<std::string> read_file(std::string_view path,
                                              std::size_t limit_bytes) const override {
    return seen(path, disk_.read_file(path, limit_bytes));
  }
  [[nodiscard]] Result<std::string> read_link(std::string_view path) const override {
    return seen(path, disk_.read_link(path));
  }
  [[nodiscard]] Result<std::vector<DirEntry>> list(std::string_view path) const override {
    return seen(path, disk_.list(path));
  }
  [[nodiscard]] Result<FileStatus> status(std::string_view path) const override {
    return seen(path, disk_.status(path));
  }
  [[nodiscard]] Result<std::string> real_path(std::string_view path) const override {
    return seen(path, disk_.real_path(path));
  }
  [[nodiscard]] Result<std::vector<std::string>> hops(std::string_view path) const override {
    return seen(path, disk_.hops(path));
  }
  [[nodiscard]] Result<std::string> inspect(
      std::string_view path,
      const std::function<Result<std::string>(int fd)>& look) const override {
    return seen(path, disk_.inspect(path, look));
  }
  [[nodiscard]] Result<Space> space(std::string_view path) const override {
    return disk_.space(path);
  }
  [[nodiscard]] Result<SystemName> system_name() const override {
    utsname name{};
    if (uname(&name) != 0) {
      return error_at(Errc::failed, "uname", "the kernel gave no answer");
    }
    return SystemName{name.nodename, name.release, name.version, name.machine};
  }
  [[nodiscard]] Result<std::string> variable(std::string_view name) const override;
  [[nodiscard]] Result<std::vector<std::string>> variables() const override;
  [[nodiscard]] const std::vector<Mount>& mounts() const override { return mounts_; }
  [[nodiscard]] bool live() const override { return true; }

 private:
  /// What is not below /proc or /sys because the kernel's files are not mounted there was not
  /// looked at.
  template <typename T>
  Result<T> seen(std::string_view path, Result<T> answer) const {
    if (!answer && answer.error().code == Errc::absent) {
      for (const std::string& top : missing_) {
        if (path == top || path.starts_with(top + "/")) {
          return error_at(Errc::not_collected, path, top + " is not mounted");
        }
      }
    }
    return answer;
  }

  std::vector<Mount> mounts_;
  Disk disk_;
  std::vector<std::string>
      missing_;  ///< of /proc and /sys those that are no file systems of the kernel
};

Result<std::string> LiveHost::variable(std::string_view name) const {
  // The first one counts where a name stands twice, as in getenv(3).
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && text.substr(0, equals) == name) {
      return std::string(text.substr(equals + 1));
    }
  }
  return error_at(Errc::absent, name, "the variable is not set");
}

Result<std::vector<std::string>> LiveHost::variables() const {
  std::set<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && equals > 0) {
      names.emplace(text.substr(0, equals));
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

}  // namespace

std::vector<Mount> live_mounts() {
  // A Disk without a mount table: nothing below /proc can hang, and it is what tells which can.
  const Disk disk(Disk::Options{});
  const Result<std::string> text = disk.read_file("/proc/self/mountinfo", 64u << 20);
  return text ? parse_mountinfo(*text) : std::vector<Mount>{};
}

std::unique_ptr<Host> live_host(const LiveOptions& options) {
  return std::make_unique<LiveHost>(options);
}

}  // namespace goldenv::host

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "host/path.h"
#include "host/recording.h"

namespace goldenv::host {
namespace {

class RecordedHost final : public Host {
 public:
  using Read = std::function<Result<std::string>(std::string_view path, std::size_t limit_bytes)>;

  RecordedHost(Recording recording, Read read)
      : recording_(std::move(recording)), read_(std::move(read)) {
    const auto text = read_file("/proc/self/mountinfo", 64u << 20);
    mounts_ = text ? parse_mountinfo(*text) : std::vector<Mount>{};
  }

  [[nodiscard]] Result<std::string> read_file(std::string_view path,
                                              std::size_t limit_bytes) const override {
    GOLDENV_TRY(const Recording::Found found, find(path, "file", Recording::Last::follow));
    if (found.place == nullptr || !found.place->has_content) {
      return error_at(Errc::not_collected, path);
    }
    Result<std::string> text = read_(found.path, limit_bytes);
    if (!text && text.error().code == Errc::too_large) {
      return error_at(Errc::too_large, path,
                      "larger than " + std::to_string(limit_bytes) + " bytes");
    }
    return text;
  }
  [[nodiscard]] Result<std::string> read_link(std::string_view path) const override {
    GOLDENV_TRY(const Recording::Found found, find(path, "link", Recording::Last::keep));
    return found.place != nullptr && found.place->link
               ? Result<std::string>(*found.place->link)
               : error_at(Errc::unreadable, path, "is no link");
  }
  [[nodiscard]] Result<std::vector<DirEntry>> list(std::string_view path) const override {
    GOLDENV_TRY(const Recording::Found found, find(path, "list", Recording::Last::follow));
    return found.place != nullptr && found.place->names
               ? Result<std::vector<DirEntry>>(*found.place->names)
               : error_at(Errc::not_collected, path);
  }
  [[nodiscard]] Result<FileStatus> status(std::string_view path) const override {
    GOLDENV_TRY(const Recording::Found found, find(path, "status", Recording::Last::follow));
    return found.place != nullptr && found.place->status ? Result<FileStatus>(*found.place->status)
                                                         : error_at(Errc::not_collected, path);
  }
  [[nodiscard]] Result<std::string> real_path(std::string_view path) const override {
    GOLDENV_TRY(Recording::Found found, find(path, "path", Recording::Last::follow));
    return std::move(found.path);
  }
  [[nodiscard]] Result<std::vector<std::string>> hops(std::string_view path) const override {
    GOLDENV_TRY(const Recording::Found found, find(path, "path", Recording::Last::follow));
    return recording_.hops(path);
  }
  [[nodiscard]] Result<std::string> inspect(
      std::string_view path, const std::function<Result<std::string>(int fd)>&) const override {
    return error_at(Errc::not_collected, path);
  }
  [[nodiscard]] Result<std::string> ask(
      std::string_view path, std::string_view question,
      const std::function<Result<std::string>(int fd)>&) const override {
    GOLDENV_TRY(const Recording::Found found,
                find(path, "ask " + std::string(question), Recording::Last::follow));
    if (found.place != nullptr) {
      const auto answer = found.place->answers.find(std::string(question));
      if (answer != found.place->answers.end()) {
        return answer->second;
      }
    }
    return error_at(Errc::not_collected, path);
  }
  [[nodiscard]] Result<Space> space(std::string_view path) const override {
    GOLDENV_TRY(const Recording::Found found, find(path, "space", Recording::Last::follow));
    const auto space = recording_.spaces.find(std::string(path));
    return space != recording_.spaces.end() ? Result<Space>(space->second)
                                            : error_at(Errc::not_collected, path);
  }
  [[nodiscard]] Result<SystemName> system_name() const override {
    return recording_.name ? Result<SystemName>(*recording_.name)
                           : error_at(Errc::not_collected, "uname");
  }
  [[nodiscard]] Result<std::string> variable(std::string_view name) const override {
    if (recording_.withheld.contains(std::string(name))) {
      return error_at(Errc::not_collected, name, "the variable's value was not recorded");
    }
    const auto variable = recording_.variables.find(std::string(name));
    return variable != recording_.variables.end()
               ? Result<std::string>(variable->second)
               : error_at(Errc::absent, name, "the variable is not set");
  }
  [[nodiscard]] Result<std::vector<std::string>> variables() const override {
    std::set<std::string> names = recording_.withheld;
    for (const auto& [name, value] : recording_.variables) {
      names.insert(name);
    }
    return std::vector<std::string>(names.begin(), names.end());
  }
  [[nodiscard]] const std::vector<Mount>& mounts() const override { return mounts_; }
  [[nodiscard]] bool live() const override { return true; }

 private:
  [[nodiscard]] Result<Recording::Found> find(std::string_view path, std::string_view asked,
                                              Recording::Last last) const {
    const auto failure = recording_.failures.find({std::string(asked), std::string(path)});
    return failure != recording_.failures.end() ? Result<Recording::Found>(failure->second)
                                                : recording_.find(path, last);
  }

  Recording recording_;
  Read read_;
  std::vector<Mount> mounts_;
};

}  // namespace

std::unique_ptr<Host> recorded_host(
    Recording recording,
    std::function<Result<std::string>(std::string_view path, std::size_t limit_bytes)> read) {
  return std::make_unique<RecordedHost>(std::move(recording), std::move(read));
}

}  // namespace goldenv::host

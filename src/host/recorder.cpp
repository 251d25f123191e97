#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "host/path.h"
#include "host/recording.h"

namespace goldenv::host {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMountinfo = "/proc/self/mountinfo";

Error cannot_write(const std::string& path, std::string_view why) {
  return {Errc::failed, "cannot write " + path + ": " + std::string(why), {}};
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  return path;
}

/// A folder that vanishes unless it is moved away.
class Unfinished {
 public:
  explicit Unfinished(std::string path) : path_(std::move(path)) {}
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    std::error_code none;
    if (!path_.empty()) {
      fs::remove_all(path_, none);
    }
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  void keep() { path_.clear(); }

 private:
  std::string path_;
};

Result<void> write_file(const std::string& path, std::string_view bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd < 0) {
    return cannot_write(path, std::strerror(errno));
  }
  int number = 0;
  while (!bytes.empty() && number == 0) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done < 0) {
      number = errno == EINTR ? 0 : errno;
    } else {
      bytes.remove_prefix(static_cast<std::size_t>(done));
    }
  }
  if (::close(fd) != 0 && number == 0) {
    number = errno;
  }
  return number == 0 ? Result<void>() : cannot_write(path, std::strerror(number));
}

}  // namespace

class Recorder::Listener final : public Host {
 public:
  Listener(std::unique_ptr<Host> machine, Discretion discretion)
      : machine_(std::move(machine)), discretion_(std::move(discretion)) {}

  [[nodiscard]] Result<std::string> read_file(std::string_view path,
                                              std::size_t limit_bytes) const override {
    Result<std::string> answer = machine_->read_file(path, limit_bytes);
    if (Recording::Place* place = note(path, "file", answer, Recording::Last::follow)) {
      // Of one that moves, the first answer: what was learned of it was learned from that.
      std::string real = found_.path;
      if (!place->has_content) {
        place->has_content = true;
        contents_[std::move(real)] = discretion_.text(path, *answer);
      }
      recording_.failures.erase({"file", std::string(path)});
    }
    return answer;
  }
  [[nodiscard]] Result<std::string> read_link(std::string_view path) const override {
    Result<std::string> answer = machine_->read_link(path);
    note(path, "link", answer, Recording::Last::keep);
    return answer;
  }
  [[nodiscard]] Result<std::vector<DirEntry>> list(std::string_view path) const override {
    Result<std::vector<DirEntry>> answer = machine_->list(path);
    if (Recording::Place* place = note(path, "list", answer, Recording::Last::follow)) {
      place->names = *answer;
    }
    return answer;
  }
  [[nodiscard]] Result<FileStatus> status(std::string_view path) const override {
    Result<FileStatus> answer = machine_->status(path);
    if (Recording::Place* place = note(path, "status", answer, Recording::Last::follow)) {
      place->status = *answer;
    }
    return answer;
  }
  [[nodiscard]] Result<std::string> real_path(std::string_view path) const override {
    Result<std::string> answer = machine_->real_path(path);
    note(path, "path", answer, Recording::Last::follow);
    return answer;
  }
  [[nodiscard]] Result<std::vector<std::string>> hops(std::string_view path) const override {
    Result<std::vector<std::string>> answer = machine_->hops(path);
    note(path, "path", answer, Recording::Last::follow);
    return answer;
  }
  [[nodiscard]] Result<std::string> inspect(
      std::string_view path,
      const std::function<Result<std::string>(int fd)>& look) const override {
    return machine_->inspect(path, look);  // a look without a name: its answer cannot be kept
  }
  [[nodiscard]] Result<std::string> ask(
      std::string_view path, std::string_view question,
      const std::function<Result<std::string>(int fd)>& look) const override {
    Result<std::string> answer = machine_->ask(path, question, look);
    if (Recording::Place* place =
            note(path, "ask " + std::string(question), answer, Recording::Last::follow)) {
      place->answers[std::string(question)] =
          question.starts_with("head ") ? discretion_.text(path, *answer) : *answer;
    }
    return answer;
  }
  [[nodiscard]] Result<Space> space(std::string_view path) const override {
    Result<Space> answer = machine_->space(path);
    if (note(path, "space", answer, Recording::Last::follow) != nullptr) {
      recording_.spaces[std::string(path)] = *answer;
    }
    return answer;
  }
  [[nodiscard]] Result<SystemName> system_name() const override {
    Result<SystemName> answer = machine_->system_name();
    if (answer) {
      recording_.name = *answer;
    }
    return answer;
  }
  [[nodiscard]] Result<std::string> variable(std::string_view name) const override {
    Result<std::string> answer = machine_->variable(name);
    if (answer) {
      if (auto value = discretion_.variable(name, *answer)) {
        recording_.variables[std::string(name)] = *std::move(value);
      } else {
        recording_.withheld.emplace(name);
      }
    }
    return answer;
  }
  [[nodiscard]] Result<std::vector<std::string>> variables() const override {
    return machine_->variables();
  }
  [[nodiscard]] const std::vector<Mount>& mounts() const override {
    static_cast<void>(read_file(kMountinfo, 64u << 20));
    return machine_->mounts();
  }
  [[nodiscard]] bool live() const override { return machine_->live(); }

  Result<void> write(const std::string& folder) const;

 private:
  /// Notes the way to a path and, where it failed by more than that there is nothing, how; gives
  /// the place that an answer belongs to.
  template <typename T>
  Recording::Place* note(std::string_view path, std::string_view asked, const Result<T>& answer,
                         Recording::Last last) const {
    walk(path, last);
    Result<Recording::Found> found = recording_.find(path, last);
    if (!answer) {
      if (found || found.error() != answer.error()) {
        recording_.failures[{std::string(asked), std::string(path)}] = answer.error();
      }
      return nullptr;
    }
    if (!found) {
      return nullptr;
    }
    found_ = *std::move(found);
    return &recording_.places[found_.path];
  }

  /// Looks at every part of a path that was not looked at before.
  void walk(std::string_view path, Recording::Last last) const {
    const std::string key = std::string(path) + (last == Recording::Last::keep ? "\n" : "");
    if (!walked_.insert(key).second) {
      return;
    }
    look_at("/");
    // Each round knows one part more; a path has as many as it has slashes, and those of its links.
    for (int i = 0; i < 4096; ++i) {
      const Result<Recording::Found> found = recording_.find(path, last);
      if (found || found.error().code != Errc::not_collected || !take_next(path, last)) {
        return;
      }
    }
  }

  /// The first part of a path of which nothing is known yet.
  bool take_next(std::string_view path, Recording::Last last) const {
    const std::string next = recording_.first_unknown(path, last);
    return !next.empty() && look_at(next);
  }

  /// Whether it is known by now whether something stands at a path without links.
  bool look_at(const std::string& path) const {
    if (recording_.places.contains(path)) {
      return true;
    }
    const Result<std::string> link = path == "/"
                                         ? Result<std::string>(error_at(Errc::unreadable, path))
                                         : machine_->read_link(path);
    if (link) {
      recording_.places[path].link = *link;
      return true;
    }
    if (link.error().code == Errc::absent) {
      recording_.absent.insert(path);
      return true;
    }
    const Result<FileStatus> status = machine_->status(path);
    if (!status) {
      return false;  // denied, timed out: told where it is asked for
    }
    recording_.places[path].status = *status;
    return true;
  }

  std::unique_ptr<Host> machine_;
  Discretion discretion_;
  mutable Recording recording_;
  mutable Recording::Found found_;
  mutable std::map<std::string, std::string> contents_;  ///< by path in the tree
  mutable std::unordered_set<std::string> walked_;
};

Result<void> check_record_folder(const std::string& shown) {
  const std::string folder = without_slashes(shown);
  struct stat s;
  if (::lstat(folder.c_str(), &s) != 0) {
    if (errno != ENOENT) {
      return cannot_write(shown, std::strerror(errno));
    }
    const fs::path above = fs::path(folder).lexically_normal().parent_path();
    struct stat parent;
    if (!above.empty() && (::stat(above.c_str(), &parent) != 0 || !S_ISDIR(parent.st_mode))) {
      return Error{
          Errc::usage, "cannot write " + shown + ": there is no folder " + above.string(), {}};
    }
    return {};
  }
  std::error_code failed;
  if (!S_ISDIR(s.st_mode)) {
    return Error{Errc::usage, shown + " is there and is no folder; a record needs a new one", {}};
  }
  const bool is_empty = fs::is_empty(folder, failed);
  if (failed) {
    return cannot_write(shown, failed.message());
  }
  return is_empty ? Result<void>()
                  : Error{Errc::usage, shown + " is not empty; a record needs a new folder", {}};
}

Result<void> Recorder::Listener::write(const std::string& folder) const {
  if (Result<void> fit = check_record_folder(folder); !fit) {
    return fit;
  }
  const std::string plain = without_slashes(folder);
  std::string pattern = plain + ".XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    return cannot_write(folder, std::strerror(errno));
  }
  Unfinished work(pattern);
  for (const auto& [path, bytes] : contents_) {
    const std::string target = work.path() + path;
    std::error_code failed;
    fs::create_directories(fs::path(target).parent_path(), failed);
    if (failed) {
      return cannot_write(target, failed.message());
    }
    if (Result<void> done = write_file(target, bytes); !done) {
      return done;
    }
  }
  // The names of all that is set: of one that is not among them it is known that it was not.
  const auto names = machine_->variables();
  for (const std::string& name : names ? *names : std::vector<std::string>{}) {
    if (!recording_.variables.contains(name)) {
      recording_.withheld.insert(name);
    }
  }
  if (Result<void> done = write_file(work.path() + "/record.yaml", recording_.render()); !done) {
    return done;
  }
  if (::rename(work.path().c_str(), plain.c_str()) != 0) {
    return cannot_write(folder, std::strerror(errno));
  }
  work.keep();
  return {};
}

Recorder::Recorder(std::unique_ptr<Host> machine, Discretion discretion)
    : listener_(std::make_unique<Listener>(std::move(machine), std::move(discretion))) {}

Recorder::~Recorder() = default;

const Host& Recorder::host() const { return *listener_; }

Result<void> Recorder::write(const std::string& folder) const { return listener_->write(folder); }

}  // namespace goldenv::host

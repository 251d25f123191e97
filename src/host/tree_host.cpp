#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/text.h"
#include "host/disk.h"
#include "host/live.h"
#include "host/machine.h"
#include "host/path.h"
#include "host/record.h"
#include "host/recording.h"

namespace goldenv::host {
namespace {

constexpr std::size_t kRecordLimitBytes = 64u << 20;

/// Of these a root file system holds nothing that says how the machine runs.
constexpr std::array<std::string_view, 3> kTops{"/proc", "/sys", "/dev"};

/// Folders whose members every running kernel has: one that is not in a tree was not captured.
constexpr std::array<std::string_view, 3> kPassages{"/proc", "/sys", "/dev"};

/// Folders that are hardly ever captured whole, nor are those below them: files in them cannot be
/// read, lead out by links, or are thousands, and people copy the few that they care for.
constexpr std::array<std::string_view, 5> kPieces{"/proc/sys", "/sys/class", "/sys/devices",
                                                  "/sys/fs", "/sys/kernel"};

/// Whether a real path is the folder of a process, /proc/self or /proc/123, or lies below one.
bool is_of_process(std::string_view path) {
  const std::vector<std::string_view> parts = split(path, '/');  // "", "proc", "self"
  return parts.size() >= 3 && parts[1] == "proc" &&
         (parts[2] == "self" || parts[2] == "thread-self" || to_number(parts[2]));
}

/// Whether a tree that does not say so holds all names of a folder of the kernel's.
bool is_captured_in_part(std::string_view folder) {
  return std::ranges::count(kPassages, folder) != 0 || is_of_process(folder) ||
         std::ranges::any_of(kPieces, [&](auto top) { return is_within(folder, top); });
}

/// Whether this is NAME=VALUE, the name of printable characters.
bool is_variable(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  return equals != std::string_view::npos && equals != 0 &&
         std::ranges::all_of(entry.substr(0, equals), [](char c) { return c > ' ' && c < '\x7f'; });
}

/// Where the folder of a tree really is, and what on the way to its files can hang.
struct Ground {
  std::string root;
  std::vector<Mount> mounts;
};

/// The folder of a tree at one moment.
struct Top {
  FileStatus status;
  std::vector<DirEntry> entries;
};

Result<Top> top_of(const Disk& disk) {
  Top top;
  GOLDENV_TRY(top.status, disk.status("/"));
  // One that may be passed through and not listed is a tree as well.
  if (auto entries = disk.list("/")) {
    top.entries = *std::move(entries);
  }
  return top;
}

/// "/proc/123/root" of "/proc/123/root/srv". A process's root is a door that its link's text does
/// not describe ("/" for a process in a container), so the walk begins behind it.
std::string_view process_root(std::string_view clean) {
  const std::vector<std::string_view> parts = split(clean, '/');  // "", "proc", "123", "root"
  if (parts.size() < 4 || parts[1] != "proc" || parts[3] != "root" ||
      !(to_number(parts[2]) || parts[2] == "self")) {
    return {};
  }
  return clean.substr(0, 6 + parts[2].size() + 5);
}

Result<Ground> ground_of(const std::string& folder, const LiveOptions& options) {
  std::string absolute = folder;
  if (!folder.starts_with('/')) {
    std::error_code failed;
    absolute = joined(std::filesystem::current_path(failed).string(), folder);
    if (failed) {
      return error_of(failed.value(), folder);
    }
  }
  GOLDENV_TRY(const std::string clean, clean_path(absolute));
  Disk::Options outer;
  outer.deadline = options.deadline;
  outer.mounts = live_mounts();
  outer.mounts.insert(outer.mounts.end(), options.more_mounts.begin(), options.more_mounts.end());
  std::string inside = clean;
  if (const std::string_view door = process_root(clean); !door.empty()) {
    const Disk here(Disk::Options{});
    const auto text = here.read_file(std::string(folder_of(door)) + "/mountinfo", 64u << 20);
    for (Mount& mount : text ? parse_mountinfo(*text) : std::vector<Mount>{}) {
      if (mount.point != "/") {
        mount.point.insert(0, door);
        outer.mounts.push_back(std::move(mount));
      }
    }
    outer.root = door;
    inside = clean == door ? "/" : clean.substr(door.size());
  }
  Ground ground{outer.root, outer.mounts};
  const Disk disk(std::move(outer));
  GOLDENV_TRY(const FileStatus status, disk.status(inside));
  if (status.kind != FileStatus::Kind::folder) {
    return error_at(Errc::unreadable, folder, "is no folder");
  }
  GOLDENV_TRY(const std::string real, disk.real_path(inside));
  if (real != "/") {
    ground.root += real;
  }
  return ground;
}

class TreeHost final : public Host {
 public:
  /// `empty` are those of kTops in which nothing stands.
  TreeHost(const Ground& ground, const LiveOptions& options, std::optional<Record> record,
           std::set<std::string_view> empty, Top top)
      : record_(std::move(record)),
        empty_(std::move(empty)),
        ground_(ground),
        top_(std::move(top)),
        deadline_(options.deadline),
        disk_(disk_options(ground, options)) {}

  [[nodiscard]] Result<std::string> read_file(std::string_view path,
                                              std::size_t limit_bytes) const override {
    if (const auto error = refuse_contents(path)) {
      return *error;
    }
    return disk_.read_file(path, limit_bytes);
  }
  [[nodiscard]] Result<std::string> read_link(std::string_view path) const override {
    if (const auto error = refuse(path)) {
      return *error;
    }
    return disk_.read_link(path);
  }
  [[nodiscard]] Result<std::vector<DirEntry>> list(std::string_view path) const override;
  [[nodiscard]] Result<FileStatus> status(std::string_view path) const override {
    if (const auto error = refuse(path)) {
      return *error;
    }
    return disk_.status(path);
  }
  [[nodiscard]] Result<std::string> real_path(std::string_view path) const override {
    if (const auto error = refuse(path)) {
      return *error;
    }
    return disk_.real_path(path);
  }
  [[nodiscard]] Result<std::vector<std::string>> hops(std::string_view path) const override {
    if (const auto error = refuse(path)) {
      return *error;
    }
    return disk_.hops(path);
  }
  [[nodiscard]] Result<std::string> inspect(
      std::string_view path,
      const std::function<Result<std::string>(int fd)>& look) const override {
    if (const auto error = refuse_contents(path)) {
      return *error;
    }
    return disk_.inspect(path, look);
  }
  [[nodiscard]] Result<Space> space(std::string_view path) const override;
  [[nodiscard]] Result<SystemName> system_name() const override;
  [[nodiscard]] Result<std::string> variable(std::string_view name) const override;
  [[nodiscard]] Result<std::vector<std::string>> variables() const override;
  [[nodiscard]] const std::vector<Mount>& mounts() const override;
  [[nodiscard]] Result<void> still_there() const override;
  [[nodiscard]] bool live() const override { return false; }

 private:
  Disk::Options disk_options(const Ground& ground, const LiveOptions& options);
  [[nodiscard]] Errc missing(std::string_view folder, std::string_view name) const;
  [[nodiscard]] std::optional<Error> refuse(std::string_view path) const;
  [[nodiscard]] std::optional<Error> refuse_contents(std::string_view path) const;
  [[nodiscard]] Result<std::vector<std::string>> environment() const;

  std::optional<Record> record_;
  std::set<std::string_view> empty_;
  Ground ground_;
  Top top_;
  std::chrono::milliseconds deadline_;
  Disk disk_;
  mutable std::optional<std::vector<Mount>> mounts_;
};

Disk::Options TreeHost::disk_options(const Ground& ground, const LiveOptions& options) {
  Disk::Options out;
  out.root = ground.root;
  out.mounts = ground.mounts;
  out.deadline = options.deadline;
  out.folder_limit = options.folder_limit;
  if (record_ && !record_->answers.empty()) {
    out.answer = [this](std::string_view path) { return record_->answer(path); };
  }
  out.missing = [this](std::string_view folder, std::string_view name) {
    return missing(folder, name);
  };
  return out;
}

Errc TreeHost::missing(std::string_view folder, std::string_view name) const {
  const std::string path = joined(folder, name);
  if (record_) {
    return record_->is_complete(folder) || !record_->is_partial(path) ? Errc::absent
                                                                      : Errc::not_collected;
  }
  const auto* top = std::ranges::find_if(kTops, [&](auto t) { return is_within(path, t); });
  if (top == kTops.end()) {
    return Errc::absent;
  }
  if (path == *top || empty_.contains(*top)) {
    return Errc::not_live;
  }
  return is_captured_in_part(folder) ? Errc::not_collected : Errc::absent;
}

/// What the record says of a path as written; of where its links lead, the walk asks.
std::optional<Error> TreeHost::refuse(std::string_view path) const {
  if (!record_ || record_->answers.empty()) {
    return {};
  }
  const Result<std::string> clean = clean_path(path);
  const auto code = clean ? record_->answer(*clean) : std::nullopt;
  return code ? std::optional(error_at(*code, path)) : std::nullopt;
}

std::optional<Error> TreeHost::refuse_contents(std::string_view path) const {
  if (auto error = refuse(path)) {
    return error;
  }
  if (!record_ || record_->contents.empty()) {
    return {};
  }
  const Result<std::string> clean = clean_path(path);
  const Result<std::string> real = disk_.real_path(path);
  for (const Result<std::string>* at : {&clean, &real}) {
    const auto it = *at ? record_->contents.find(**at) : record_->contents.end();
    if (it != record_->contents.end()) {
      return error_at(it->second, path);
    }
  }
  return {};
}

Result<std::vector<DirEntry>> TreeHost::list(std::string_view path) const {
  if (auto error = refuse_contents(path)) {
    return *std::move(error);
  }
  GOLDENV_TRY(const std::string real, disk_.real_path(path));
  // Names that nobody looked for are not there in a tree, which does not mean that they were not
  // on the machine.
  if (record_) {
    const bool in_parts =
        record_->partial_given ? record_->is_partial(real) : is_captured_in_part(real);
    if (in_parts && !record_->is_complete(real)) {
      return error_at(Errc::not_collected, path, "not all of its names were recorded");
    }
  } else if (is_captured_in_part(real)) {
    return empty_.contains(real)
               ? error_at(Errc::not_live, path)
               : error_at(Errc::not_collected, path, "not all of its names were recorded");
  }
  return disk_.list(path);
}

Result<Space> TreeHost::space(std::string_view path) const {
  if (auto error = refuse(path)) {
    return *std::move(error);
  }
  GOLDENV_TRY(const std::string clean, clean_path(path));
  const auto space = record_ ? record_->space(clean) : std::nullopt;
  if (!space) {
    return error_at(Errc::not_live, path);
  }
  return *space;
}

Result<SystemName> TreeHost::system_name() const {
  SystemName name;
  if (record_ && record_->release) {
    name.release = *record_->release;
  } else {
    GOLDENV_TRY(const std::string text, read_file("/proc/sys/kernel/osrelease", kFileLimitBytes));
    name.release = trim(text);
  }
  if (record_ && record_->machine) {
    name.machine = *record_->machine;
  } else {
    GOLDENV_TRY(name.machine, machine_of(*this));
  }
  const auto part = [&](const std::optional<std::string>& recorded, std::string_view path) {
    if (recorded) {
      return *recorded;
    }
    const std::string text = read_file(path, kFileLimitBytes).value_or(std::string());
    return std::string(trim(text));
  };
  static const std::optional<std::string> kNone;
  name.node = part(record_ ? record_->node : kNone, "/proc/sys/kernel/hostname");
  name.version = part(record_ ? record_->version : kNone, "/proc/sys/kernel/version");
  return name;
}

/// The entries "NAME=VALUE" of the tree's proc/self/environ.
Result<std::vector<std::string>> TreeHost::environment() const {
  const Result<std::string> text = read_file("/proc/self/environ", kFileLimitBytes);
  if (!text) {
    switch (text.error().code) {
      case Errc::absent:
      case Errc::not_collected:
      case Errc::not_live:
        return error_at(Errc::not_live, "the environment", "the source does not record one");
      default:
        return text.error();
    }
  }
  std::vector<std::string> entries;
  std::size_t others = 0;
  for (const std::string_view entry : split(*text, '\0')) {
    if (is_variable(entry)) {
      entries.emplace_back(entry);
    } else if (!entry.empty()) {
      ++others;
    }
  }
  // A process may put a stray word there, and titles over the end of it, but not more than that.
  if (others > entries.size()) {
    return error_at(Errc::unreadable, "/proc/self/environ", "holds no environment");
  }
  return entries;
}

Result<std::string> TreeHost::variable(std::string_view name) const {
  if (record_ && std::ranges::count(record_->withheld, name) != 0) {
    return error_at(Errc::not_collected, name, "the variable's value was not recorded");
  }
  GOLDENV_TRY(const std::vector<std::string> entries, environment());
  for (const std::string_view entry : entries) {
    const std::size_t equals = entry.find('=');
    if (entry.substr(0, equals) == name) {
      return std::string(entry.substr(equals + 1));
    }
  }
  return error_at(Errc::absent, name, "the variable is not set");
}

Result<std::vector<std::string>> TreeHost::variables() const {
  GOLDENV_TRY(const std::vector<std::string> entries, environment());
  std::set<std::string> names;
  for (const std::string& entry : entries) {
    names.insert(entry.substr(0, entry.find('=')));
  }
  if (record_) {
    names.insert(record_->withheld.begin(), record_->withheld.end());
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Result<void> TreeHost::still_there() const {
  // A Disk of its own: the other one holds its folders open, which keeps them from going.
  Disk::Options options;
  options.root = ground_.root;
  options.mounts = ground_.mounts;
  options.deadline = deadline_;
  const Result<Top> now = top_of(Disk(std::move(options)));
  if (!now || now->status.device != top_.status.device || now->status.inode != top_.status.inode) {
    return error_at(Errc::failed, ground_.root,
                    "the folder was removed or replaced while it was looked at");
  }
  for (const DirEntry& entry : top_.entries) {
    if (entry.kind == FileStatus::Kind::folder &&
        !std::ranges::binary_search(now->entries, entry.name, {}, &DirEntry::name)) {
      return error_at(Errc::failed, joined(ground_.root, entry.name),
                      "was removed while the tree was looked at");
    }
  }
  return {};
}

const std::vector<Mount>& TreeHost::mounts() const {
  if (!mounts_) {
    const auto text = read_file("/proc/self/mountinfo", 64u << 20);
    mounts_ = text ? parse_mountinfo(*text) : std::vector<Mount>{};
  }
  return *mounts_;
}

}  // namespace

Result<std::unique_ptr<Host>> tree_host(const std::string& folder, const LiveOptions& options) {
  GOLDENV_TRY(const Ground ground, ground_of(folder, options));
  Disk::Options plain;
  plain.root = ground.root;
  plain.mounts = ground.mounts;
  plain.deadline = options.deadline;
  const auto kept = std::make_shared<const Disk>(std::move(plain));
  const Disk& disk = *kept;
  const Result<std::string> text = disk.read_file("/record.yaml", kRecordLimitBytes);
  if (text && Recording::is_one(*text)) {
    GOLDENV_TRY(Recording recording, Recording::parse(*text, joined(folder, "record.yaml")));
    return recorded_host(std::move(recording),
                         [kept](std::string_view path, std::size_t limit_bytes) {
                           return kept->read_file(path, limit_bytes);
                         });
  }
  std::optional<Record> record;
  std::set<std::string_view> empty;
  if (text) {
    GOLDENV_TRY(record, Record::parse(*text, joined(folder, "record.yaml")));
  } else if (text.error().code != Errc::absent) {
    return text.error();
  } else {
    for (const std::string_view top : kTops) {
      const auto entries = disk.list(top);
      if (entries ? entries->empty() : entries.error().code == Errc::absent) {
        empty.insert(top);
      }
    }
  }
  GOLDENV_TRY(Top top, top_of(disk));
  std::unique_ptr<Host> host = std::make_unique<TreeHost>(ground, options, std::move(record),
                                                          std::move(empty), std::move(top));
  return host;
}

}  // namespace goldenv::host

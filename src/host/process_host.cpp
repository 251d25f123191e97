#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "host/disk.h"
#include "host/live.h"
#include "host/path.h"
#include "host/process.h"
#include "host/status.h"

namespace goldenv::host {
namespace {

constexpr std::size_t kTextLimitBytes = 64u << 20;
constexpr std::string_view kSelf = "/proc/self";
constexpr std::string_view kThreadSelf = "/proc/thread-self";
/// PF_KTHREAD of include/linux/sched.h, since 2.6.27.
constexpr std::uint64_t kKernelThread = 0x00200000;
/// What is read once, at the start, so that it is all of one moment.
constexpr std::array<std::string_view, 8> kKept{"environ", "limits",  "cgroup",    "status",
                                                "maps",    "cmdline", "mountinfo", "auxv"};

std::string folder_of_process(std::uint32_t pid) { return "/proc/" + std::to_string(pid); }

struct Stat {
  std::string name;
  char state = '?';
  std::uint64_t start = 0;
  bool is_kernel_thread = false;
};

/// Format: proc(5), /proc/pid/stat: "4711 (a name) S 1 ...", the name of up to 64 bytes, any bytes.
std::optional<Stat> parse_stat(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  const auto fields = words(text.substr(close + 1));
  const auto flags = fields.size() > 19 ? to_number(fields[6]) : std::nullopt;
  const auto start = fields.size() > 19 ? to_number(fields[19]) : std::nullopt;
  if (!flags || !start || fields[0].empty()) {
    return std::nullopt;
  }
  return Stat{std::string(text.substr(open + 1, close - open - 1)), fields[0].front(), *start,
              (*flags & kKernelThread) != 0};
}

Result<Stat> read_stat(const Host& outer, std::uint32_t pid) {
  const std::string path = folder_of_process(pid) + "/stat";
  GOLDENV_TRY(const std::string text, outer.read_file(path, 64u << 10));
  const std::optional<Stat> stat = parse_stat(text);
  return stat ? Result<Stat>(*stat) : error_at(Errc::unreadable, path, "not in the kernel's form");
}

/// The number behind a field of /proc/PID/status ("Tgid:\t4711", "Uid:\t0\t0\t0\t0").
std::optional<std::uint64_t> status_field(std::string_view text, std::string_view field) {
  for (const std::string_view line : lines(text)) {
    if (line.starts_with(field) && line.size() > field.size() && line[field.size()] == ':') {
      const auto found = words(line.substr(field.size() + 1));
      return found.empty() ? std::nullopt : to_number(found.front());
    }
  }
  return std::nullopt;
}

std::int64_t since(const Host& outer, std::uint64_t start) {
  const Result<std::string> text = outer.read_file("/proc/stat", kFileLimitBytes);
  const long ticks = sysconf(_SC_CLK_TCK);
  for (const std::string_view line : text ? lines(*text) : std::vector<std::string_view>{}) {
    if (line.starts_with("btime ")) {
      const auto boot = to_number(trim(line.substr(6)));
      return boot && ticks > 0
                 ? static_cast<std::int64_t>(*boot + start / static_cast<std::uint64_t>(ticks))
                 : 0;
    }
  }
  return 0;
}

class ProcessHost final : public Host {
 public:
  ProcessHost(std::unique_ptr<Host> outer, Process process)
      : outer_(std::move(outer)), process_(std::move(process)) {
    process_.machine = outer_.get();
  }

  /// Reads all that is kept. Errors: as process_host.
  Result<void> open(const LiveOptions& options);
  /// What only a process has, of one that has it no more or never had.
  void leave_without(const std::string& why);

  [[nodiscard]] Result<std::string> read_file(std::string_view path,
                                              std::size_t limit_bytes) const override;
  [[nodiscard]] Result<std::string> read_link(std::string_view path) const override {
    return look<std::string>(path,
                             [](const auto& at, std::string_view p) { return at.read_link(p); });
  }
  [[nodiscard]] Result<std::vector<DirEntry>> list(std::string_view path) const override {
    return look<std::vector<DirEntry>>(
        path, [](const auto& at, std::string_view p) { return at.list(p); });
  }
  [[nodiscard]] Result<FileStatus> status(std::string_view path) const override;
  [[nodiscard]] Result<std::string> real_path(std::string_view path) const override;
  [[nodiscard]] Result<std::vector<std::string>> hops(std::string_view path) const override {
    return look<std::vector<std::string>>(
        path, [](const auto& at, std::string_view p) { return at.hops(p); });
  }
  [[nodiscard]] Result<std::string> inspect(
      std::string_view path,
      const std::function<Result<std::string>(int fd)>& look_at) const override;
  [[nodiscard]] Result<Space> space(std::string_view path) const override {
    return look<Space>(path, [](const auto& at, std::string_view p) { return at.space(p); });
  }
  [[nodiscard]] Result<SystemName> system_name() const override { return outer_->system_name(); }
  [[nodiscard]] Result<std::string> variable(std::string_view name) const override;
  [[nodiscard]] Result<std::vector<std::string>> variables() const override;
  [[nodiscard]] const std::vector<Mount>& mounts() const override {
    return process_.own_root ? mounts_ : outer_->mounts();
  }
  [[nodiscard]] bool live() const override { return true; }
  [[nodiscard]] const Process* process() const override { return &process_; }

  [[nodiscard]] Result<void> confirm() const {
    if (process_.pid == 0 || !process_.own_root || is_there()) {
      return {};
    }
    return error_at(Errc::failed, process_.name, "ended while it was looked at");
  }

 private:
  void take_root(const LiveOptions& options);
  void take_mapped();
  [[nodiscard]] bool is_there() const {
    const Result<Stat> now = read_stat(*outer_, process_.pid);
    return now && now->start == process_.start;
  }
  [[nodiscard]] Error denied(std::string_view what) const {
    return error_at(Errc::denied, process_.name,
                    std::string(what) + " can be read by " + owner_ + " and root alone");
  }
  /// Of a path below /proc/self what stands behind it: "", "/limits", ...
  [[nodiscard]] std::optional<std::string> own(std::string_view path) const;
  [[nodiscard]] const MappedFile* deleted(std::string_view path) const;
  [[nodiscard]] Result<Descriptor> open_deleted(const MappedFile& file) const;

  template <typename T, typename Ask>
  Result<T> look(std::string_view path, const Ask& ask) const;

  std::unique_ptr<Host> outer_;
  Process process_;
  std::string owner_ = "its user";
  std::map<std::string, Result<std::string>, std::less<>> kept_;
  std::optional<Error> without_;  ///< why it has no variables, limits, ... at all
  std::optional<Error> no_root_;  ///< why what lies below its root cannot be looked at
  std::unique_ptr<Disk> root_;    ///< where it is not ours
  std::vector<Mount> mounts_;     ///< where its root is not ours
};

std::optional<std::string> ProcessHost::own(std::string_view path) const {
  if (!path.starts_with("/proc/")) {
    return std::nullopt;
  }
  const Result<std::string> clean = clean_path(path);
  for (const std::string_view top : {kSelf, kThreadSelf}) {
    if (clean && is_within(*clean, top)) {
      return clean->substr(top.size());
    }
  }
  return std::nullopt;
}

template <typename T, typename Ask>
Result<T> ProcessHost::look(std::string_view path, const Ask& ask) const {
  if (const std::optional<std::string> rest = own(path)) {
    if (process_.pid == 0) {
      return *without_;
    }
    const std::string at = folder_of_process(process_.pid) + *rest;
    Result<T> answer = ask(*outer_, at);
    if (!answer && without_) {
      return *without_;
    }
    if (!answer && answer.error().code == Errc::denied) {
      return denied(at);
    }
    return is_there() ? std::move(answer)
                      : error_at(Errc::not_live, at, process_.name + " has ended");
  }
  const bool is_kernels = is_within(path, "/proc") || is_within(path, "/sys");
  if (is_kernels || !process_.own_root) {
    return ask(*outer_, path);
  }
  if (no_root_) {
    return *no_root_;
  }
  Result<T> answer = ask(*root_, path);
  if (!answer && !is_there()) {  // its root has gone with it
    return error_at(Errc::not_live, path, process_.name + " has ended");
  }
  return answer;
}

const MappedFile* ProcessHost::deleted(std::string_view path) const {
  if (!path.ends_with(kDeleted) || !process_.mapped) {
    return nullptr;
  }
  const auto find = [&](std::string_view name) {
    const auto at = std::ranges::lower_bound(*process_.mapped, name, {}, &MappedFile::path);
    return at != process_.mapped->end() && at->path == name ? &*at : nullptr;
  };
  const MappedFile* file = find(path);
  return file != nullptr ? file : find(path.substr(0, path.size() - kDeleted.size()));
}

/// A link that only the kernel can follow. Needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN.
Result<Descriptor> ProcessHost::open_deleted(const MappedFile& file) const {
  const Mount* mount = mount_of(mounts(), file.path);
  if (mount != nullptr && can_hang(mount->type)) {
    return error_at(Errc::unreadable, file.path,
                    "a mapped file on a file system that can hang is not opened");
  }
  const std::string path = folder_of_process(process_.pid) + "/map_files/" + file.range;
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd) {
    const int number = errno;
    if (number == EPERM || number == EACCES) {
      return error_at(Errc::denied, path, "only root can open what is mapped and no longer there");
    }
    return error_at(Errc::not_live, path, "is no longer mapped");
  }
  struct stat s;
  if (fstat(fd.get(), &s) != 0 || !S_ISREG(s.st_mode)) {
    return error_at(Errc::unreadable, path, "is no regular file");
  }
  if (s.st_ino != file.inode) {
    return error_at(Errc::not_live, path, "is no longer mapped");
  }
  return fd;
}

Result<std::string> ProcessHost::read_file(std::string_view path, std::size_t limit_bytes) const {
  if (const std::optional<std::string> rest = own(path); rest && rest->size() > 1) {
    const auto kept = kept_.find(std::string_view(*rest).substr(1));
    if (kept != kept_.end()) {
      if (kept->second && kept->second->size() > limit_bytes) {
        return error_at(Errc::too_large, path,
                        "larger than " + std::to_string(limit_bytes) + " bytes");
      }
      return kept->second;
    }
  }
  return look<std::string>(
      path, [&](const auto& at, std::string_view p) { return at.read_file(p, limit_bytes); });
}

Result<FileStatus> ProcessHost::status(std::string_view path) const {
  if (const MappedFile* file = deleted(path)) {
    GOLDENV_TRY(const Descriptor fd, open_deleted(*file));
    struct stat s;
    if (fstat(fd.get(), &s) != 0) {
      return error_of(errno, path);
    }
    return status_from(s);
  }
  return look<FileStatus>(path, [](const auto& at, std::string_view p) { return at.status(p); });
}

Result<std::string> ProcessHost::real_path(std::string_view path) const {
  if (deleted(path) != nullptr) {
    return std::string(path);
  }
  return look<std::string>(path,
                           [](const auto& at, std::string_view p) { return at.real_path(p); });
}

Result<std::string> ProcessHost::inspect(
    std::string_view path, const std::function<Result<std::string>(int fd)>& look_at) const {
  if (const MappedFile* file = deleted(path)) {
    GOLDENV_TRY(const Descriptor fd, open_deleted(*file));
    return look_at(fd.get());
  }
  return look<std::string>(
      path, [&](const auto& at, std::string_view p) { return at.inspect(p, look_at); });
}

Result<std::string> ProcessHost::variable(std::string_view name) const {
  GOLDENV_TRY(const std::string text, read_file("/proc/self/environ", kTextLimitBytes));
  // The first one counts where a name stands twice, as in getenv(3).
  for (const std::string_view entry : split(text, '\0')) {
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos && entry.substr(0, equals) == name) {
      return std::string(entry.substr(equals + 1));
    }
  }
  return error_at(Errc::absent, name, "the variable is not set");
}

Result<std::vector<std::string>> ProcessHost::variables() const {
  GOLDENV_TRY(const std::string text, read_file("/proc/self/environ", kTextLimitBytes));
  std::set<std::string> names;
  for (const std::string_view entry : split(text, '\0')) {
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos && equals > 0) {
      names.emplace(entry.substr(0, equals));
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

void ProcessHost::leave_without(const std::string& why) {
  without_ = error_at(Errc::not_live, process_.name, why);
  process_.program = *without_;
  process_.mapped = *without_;
  for (const char* name : {"environ", "maps", "cmdline", "auxv"}) {
    kept_.insert_or_assign(name, *without_);
  }
}

/// Where its mounts are other ones than ours (another mount namespace, or a root of its own), its
/// root is the door to its files. /proc/PID/mountinfo can be read by everyone; the door cannot.
void ProcessHost::take_root(const LiveOptions& options) {
  const Result<std::string>& theirs = kept_.at("mountinfo");
  const Result<std::string> ours = outer_->read_file("/proc/self/mountinfo", kTextLimitBytes);
  if ((theirs && ours && *theirs == *ours) || (!theirs && theirs.error().code == Errc::absent)) {
    return;
  }
  process_.own_root = true;
  const std::string door = folder_of_process(process_.pid) + "/root";
  Disk::Options inner;
  inner.root = door;
  inner.deadline = options.deadline;
  inner.folder_limit = options.folder_limit;
  for (const Mount& mount : outer_->mounts()) {
    if (is_within(mount.point, "/proc") || is_within(mount.point, "/sys")) {
      mounts_.push_back(mount);
    }
  }
  for (Mount& mount : theirs ? parse_mountinfo(*theirs) : std::vector<Mount>{}) {
    if (!is_within(mount.point, "/proc") && !is_within(mount.point, "/sys")) {
      mounts_.push_back(mount);
    }
    if (mount.point != "/") {
      mount.point.insert(0, door);
      inner.mounts.push_back(std::move(mount));
    }
  }
  root_ = std::make_unique<Disk>(std::move(inner));
  if (const Result<FileStatus> status = root_->status("/"); !status) {
    no_root_ = status.error().code == Errc::denied
                   ? denied("what lies below its own root")
                   : error_at(Errc::not_live, process_.name, "its own root cannot be entered");
  }
}

void ProcessHost::take_mapped() {
  const std::string folder = folder_of_process(process_.pid);
  process_.program = outer_->read_link(folder + "/exe");
  if (!process_.program) {
    process_.program = process_.program.error().code == Errc::denied
                           ? denied("the program that it runs")
                           : process_.program.error();
  }
  const Result<std::string>& maps = kept_.at("maps");
  process_.mapped = maps ? Result<std::vector<MappedFile>>(parse_maps(*maps))
                         : Result<std::vector<MappedFile>>(maps.error());
  // The kernel writes paths as we would see them: of a root below ours with that before them.
  const std::string door =
      process_.own_root ? outer_->read_link(folder + "/root").value_or("/") : "/";
  const auto inside = [&](std::string& path) {
    if (door.size() > 1 && path.starts_with(door + "/")) {
      path.erase(0, door.size());
    }
  };
  if (process_.program) {
    inside(*process_.program);
  }
  if (process_.mapped) {
    for (MappedFile& file : *process_.mapped) {
      inside(file.path);
    }
  }
}

Result<void> ProcessHost::open(const LiveOptions& options) {
  Result<Stat> stat = read_stat(*outer_, process_.pid);
  if (!stat) {
    if (stat.error().code != Errc::absent) {
      return std::move(stat).error();
    }
    const bool hides = std::ranges::any_of(outer_->mounts(), [](const Mount& mount) {
      return mount.type == "proc" &&
             std::ranges::any_of(mount.options, [](const std::string& option) {
               return option.starts_with("hidepid=") && option != "hidepid=0" &&
                      option != "hidepid=off";
             });
    });
    return error_at(
        Errc::absent, "pid " + std::to_string(process_.pid),
        hides ? "no such process, or one of another user's, which /proc hides" : "no such process");
  }
  const std::string folder = folder_of_process(process_.pid) + "/";
  Result<std::string> status = outer_->read_file(folder + "status", 64u << 10);
  if (status) {
    // A thread has a folder of its own that no list shows; its process is meant.
    const auto leader = status_field(*status, "Tgid");
    if (leader && *leader != 0 && *leader != process_.pid && *leader <= UINT32_MAX) {
      process_.notes.push_back("a thread of pid " + std::to_string(*leader));
      process_.pid = static_cast<std::uint32_t>(*leader);
      return open(options);
    }
    if (const auto user = status_field(*status, "Uid")) {
      owner_ = "user " + std::to_string(*user);
    }
  }
  process_.start = stat->start;
  process_.since_s = since(*outer_, stat->start);
  process_.name = "pid " + std::to_string(process_.pid) + " (" + stat->name + ")";
  for (const std::string_view name : kKept) {
    const std::string path = folder_of_process(process_.pid) + "/" + std::string(name);
    Result<std::string> text = outer_->read_file(path, kTextLimitBytes);
    if (!text && text.error().code == Errc::denied) {
      text = denied(path);
    }
    kept_.emplace(name, std::move(text));
  }
  const Result<Stat> now = read_stat(*outer_, process_.pid);
  if (!now || now->start != process_.start) {
    return error_at(Errc::failed, process_.name, "ended while it was looked at");
  }
  if (now->is_kernel_thread) {
    leave_without("a kernel thread has no variables, libraries or program of its own");
    return {};
  }
  if (now->state == 'Z' || now->state == 'X') {
    leave_without("has ended and only waits for its parent to take notice (a zombie)");
    return {};
  }
  take_root(options);
  take_mapped();
  const Result<std::string>& arguments = kept_.at("cmdline");
  for (const std::string_view argument :
       arguments ? split(*arguments, '\0') : std::vector<std::string_view>{}) {
    process_.arguments.emplace_back(argument);
  }
  if (!process_.arguments.empty() && process_.arguments.back().empty()) {
    process_.arguments.pop_back();  // a NUL byte stands behind each
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Host>> process_host(std::unique_ptr<Host> outer, std::uint32_t pid,
                                           Process about, const LiveOptions& options) {
  about.pid = pid;
  auto host = std::make_unique<ProcessHost>(std::move(outer), std::move(about));
  if (Result<void> opened = host->open(options); !opened) {
    return std::move(opened).error();
  }
  return std::unique_ptr<Host>(std::move(host));
}

Result<std::unique_ptr<Host>> process_host(std::unique_ptr<Host> outer, std::uint32_t pid,
                                           const LiveOptions& options) {
  return process_host(std::move(outer), pid, Process{}, options);
}

std::unique_ptr<Host> host_without_process(std::unique_ptr<Host> outer, Process about,
                                           const std::string& why) {
  about.pid = 0;
  auto host = std::make_unique<ProcessHost>(std::move(outer), std::move(about));
  host->leave_without(why);
  return host;
}

Result<void> confirm_process(const Host& host) {
  const auto* process = dynamic_cast<const ProcessHost*>(&host);
  return process == nullptr ? Result<void>() : process->confirm();
}

}  // namespace goldenv::host

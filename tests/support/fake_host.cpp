#include "support/fake_host.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "base/text.h"

namespace goldenv::test {
namespace {

using host::DirEntry;
using host::FileStatus;

constexpr int kHopLimit = 40;  // as the kernel's MAXSYMLINKS

Error error(Errc code, std::string_view path) {
  const char* what = "cannot be read";
  switch (code) {
    case Errc::absent:
      what = "no such file or folder";
      break;
    case Errc::denied:
      what = "permission denied";
      break;
    case Errc::timed_out:
      what = "no answer within the deadline";
      break;
    case Errc::too_large:
      what = "too large";
      break;
    case Errc::not_live:
      what = "the source is no running machine";
      break;
    case Errc::not_collected:
      what = "the source did not record it";
      break;
    case Errc::unreadable:
    case Errc::malformed:
    case Errc::usage:
    case Errc::failed:
      break;
  }
  return Error{code, std::string(path) + ": " + what, {}};
}

Error unreadable(std::string_view path, std::string_view why) {
  return Error{Errc::unreadable, std::string(path) + ": " + std::string(why), {}};
}

std::string joined(const std::string& folder, std::string_view name) {
  return (folder == "/" ? folder : folder + "/") + std::string(name);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

/// "/a//b/./c/" as "/a/b/c"; `..` is left to the walk, which knows the links.
std::string cleaned(std::string_view path) {
  std::string clean;
  for (const std::string_view part : split(path, '/')) {
    if (!part.empty() && part != ".") {
      clean += '/';
      clean += part;
    }
  }
  return clean.empty() ? "/" : clean;
}

FileStatus status_of(const std::string& path, FileStatus::Kind kind, std::size_t size) {
  FileStatus status;
  status.kind = kind;
  status.mode = kind == FileStatus::Kind::file ? 0644 : 0755;
  status.size_bytes = size;
  status.device = 1;
  status.inode = std::hash<std::string>{}(path);
  status.mtime_ns = 1'700'000'000'000'000'000;
  status.ctime_ns = status.mtime_ns;
  return status;
}

}  // namespace

FakeHost& FakeHost::file(const std::string& path, std::string content) {
  items_[cleaned(path)] = Item{Item::Kind::file, std::move(content), Errc::failed};
  return *this;
}

FakeHost& FakeHost::link(const std::string& path, std::string target) {
  items_[cleaned(path)] = Item{Item::Kind::link, std::move(target), Errc::failed};
  return *this;
}

FakeHost& FakeHost::folder(const std::string& path) {
  items_[cleaned(path)] = Item{Item::Kind::folder, {}, Errc::failed};
  return *this;
}

FakeHost& FakeHost::fail(const std::string& path, Errc code) {
  items_[cleaned(path)] = Item{Item::Kind::failing, {}, code};
  return *this;
}

FakeHost& FakeHost::set(const std::string& name, std::string value) {
  variables_[name] = std::move(value);
  return *this;
}

FakeHost& FakeHost::uname(host::SystemName name) {
  uname_ = std::move(name);
  return *this;
}

FakeHost& FakeHost::room(const std::string& path, host::Space space) {
  rooms_[cleaned(path)] = space;
  return *this;
}

FakeHost& FakeHost::live(bool live) {
  live_ = live;
  return *this;
}

FakeHost::Found FakeHost::at(const std::string& path) const {
  const auto it = items_.find(path);
  if (it != items_.end()) {
    return Found{it->second.kind, &it->second};
  }
  const std::string prefix = path == "/" ? path : path + "/";
  const auto below = items_.lower_bound(prefix);
  if (path == "/" || (below != items_.end() && below->first.starts_with(prefix))) {
    return Found{Item::Kind::folder, nullptr};
  }
  return Found{};
}

Result<std::string> FakeHost::resolve(std::string_view path, bool follow_last) const {
  if (path.empty() || path[0] != '/' || path.find('\0') != std::string_view::npos) {
    return unreadable(path, "not an absolute path");
  }
  std::deque<std::string> rest;
  for (const std::string_view part : split(path, '/')) {
    rest.emplace_back(part);
  }
  std::string here = "/";
  int hops = 0;
  while (!rest.empty()) {
    const std::string part = rest.front();
    rest.pop_front();
    if (part.empty() || part == ".") {
      continue;
    }
    if (part == "..") {
      here = folder_of(here);
      continue;
    }
    const std::string next = joined(here, part);
    const Found found = at(next);
    if (!found.kind) {
      return error(Errc::absent, path);
    }
    const bool last =
        std::ranges::all_of(rest, [](const std::string& r) { return r.empty() || r == "."; });
    switch (*found.kind) {
      case Item::Kind::failing:
        return error(found.item->code, path);
      case Item::Kind::file:
        if (!last) {
          return error(Errc::absent, path);  // ENOTDIR
        }
        here = next;
        break;
      case Item::Kind::folder:
        here = next;
        break;
      case Item::Kind::link: {
        if (last && !follow_last) {
          here = next;
          break;
        }
        if (++hops > kHopLimit) {
          return unreadable(path, "too many links");
        }
        const std::string& target = found.item->text;
        std::deque<std::string> parts;
        for (const std::string_view piece : split(target, '/')) {
          parts.emplace_back(piece);
        }
        rest.insert(rest.begin(), parts.begin(), parts.end());
        if (target.starts_with('/')) {
          here = "/";
        }
        break;
      }
    }
  }
  return here;
}

Result<std::string> FakeHost::read_file(std::string_view path, std::size_t limit_bytes) const {
  GOLDENV_TRY(const std::string real, resolve(path, true));
  const Found found = at(real);
  if (found.kind != Item::Kind::file) {
    return unreadable(path, "is a folder");
  }
  if (found.item->text.size() > limit_bytes) {
    return Error{Errc::too_large,
                 std::string(path) + ": larger than " + std::to_string(limit_bytes) + " bytes",
                 {}};
  }
  return found.item->text;
}

Result<std::string> FakeHost::read_link(std::string_view path) const {
  GOLDENV_TRY(const std::string real, resolve(path, false));
  const Found found = at(real);
  if (found.kind != Item::Kind::link) {
    return unreadable(path, "is no link");
  }
  return found.item->text;
}

Result<std::vector<DirEntry>> FakeHost::list(std::string_view path) const {
  GOLDENV_TRY(const std::string real, resolve(path, true));
  if (at(real).kind != Item::Kind::folder) {
    return unreadable(path, "is no folder");
  }
  const std::string prefix = real == "/" ? real : real + "/";
  std::vector<DirEntry> entries;
  std::set<std::string> seen;
  for (auto it = items_.lower_bound(prefix); it != items_.end() && it->first.starts_with(prefix);
       ++it) {
    const std::string name =
        it->first.substr(prefix.size(), it->first.find('/', prefix.size()) - prefix.size());
    if (name.empty() || !seen.insert(name).second) {
      continue;
    }
    const Found found = at(prefix + name);
    if (found.kind == Item::Kind::failing && found.item->code == Errc::absent) {
      continue;
    }
    FileStatus::Kind kind = FileStatus::Kind::file;
    if (found.kind == Item::Kind::link) {
      kind = FileStatus::Kind::link;
    } else if (found.kind == Item::Kind::folder) {
      kind = FileStatus::Kind::folder;
    }
    entries.push_back(DirEntry{name, kind});
  }
  std::ranges::sort(entries, {}, &DirEntry::name);
  return entries;
}

Result<FileStatus> FakeHost::status(std::string_view path) const {
  GOLDENV_TRY(const std::string real, resolve(path, true));
  const Found found = at(real);
  if (found.kind == Item::Kind::folder) {
    return status_of(real, FileStatus::Kind::folder, 4096);
  }
  return status_of(real, FileStatus::Kind::file, found.item->text.size());
}

Result<std::string> FakeHost::real_path(std::string_view path) const { return resolve(path, true); }

Result<std::vector<std::string>> FakeHost::hops(std::string_view path) const {
  GOLDENV_TRY(std::string real, resolve(path, true));
  std::vector<std::string> steps{cleaned(path)};
  std::string step = steps.front();
  while (true) {
    GOLDENV_TRY(const std::string here, resolve(step, false));
    const Found found = at(here);
    if (found.kind != Item::Kind::link) {
      break;
    }
    const std::string& target = found.item->text;
    step = target.starts_with('/') ? target : joined(folder_of(here), target);
    GOLDENV_TRY(step, resolve(step, false));
    steps.push_back(step);
  }
  if (steps.back() != real) {
    steps.push_back(std::move(real));
  }
  return steps;
}

Result<std::string> FakeHost::inspect(
    std::string_view path, const std::function<Result<std::string>(int fd)>& look) const {
  GOLDENV_TRY(const std::string real, resolve(path, true));
  const Found found = at(real);
  if (found.kind != Item::Kind::file) {
    return unreadable(path, "is a folder");
  }
  const int fd = memfd_create("fake_host", MFD_CLOEXEC);
  if (fd < 0) {
    return Error{Errc::failed, std::string(path) + ": no memfd", {}};
  }
  std::string_view rest = found.item->text;
  while (!rest.empty()) {
    const ssize_t written = write(fd, rest.data(), rest.size());
    if (written <= 0) {
      close(fd);
      return Error{Errc::failed, std::string(path) + ": cannot fill a memfd", {}};
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  lseek(fd, 0, SEEK_SET);
  Result<std::string> answer = look(fd);
  close(fd);
  return answer;
}

Result<host::Space> FakeHost::space(std::string_view path) const {
  for (std::string at = cleaned(path);; at = folder_of(at)) {
    const auto it = rooms_.find(at);
    if (it != rooms_.end()) {
      return it->second;
    }
    if (at == "/") {
      return error(live_ ? Errc::absent : Errc::not_live, path);
    }
  }
}

Result<host::SystemName> FakeHost::system_name() const {
  return uname_.value_or(host::SystemName{
      "node", "5.15.0-91-generic", "#101-Ubuntu SMP Tue Nov 14 13:30:08 UTC 2023", "x86_64"});
}

Result<std::string> FakeHost::variable(std::string_view name) const {
  if (!live_ && variables_.empty()) {
    return error(Errc::not_live, "variable " + std::string(name));
  }
  const auto it = variables_.find(std::string(name));
  if (it == variables_.end()) {
    return Error{Errc::absent, "variable " + std::string(name) + ": not set", {}};
  }
  return it->second;
}

Result<std::vector<std::string>> FakeHost::variables() const {
  if (!live_ && variables_.empty()) {
    return error(Errc::not_live, "variables");
  }
  std::vector<std::string> names;
  for (const auto& [name, value] : variables_) {
    names.push_back(name);
  }
  return names;
}

const std::vector<host::Mount>& FakeHost::mounts() const {
  if (!mounts_read_) {
    mounts_read_ = true;
    const auto text = read_file("/proc/self/mountinfo", host::kFileLimitBytes);
    if (text) {
      mounts_ = host::parse_mountinfo(*text);
    }
  }
  return mounts_;
}

}  // namespace goldenv::test

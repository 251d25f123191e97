#include "store/processes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"
#include "store/disk.h"

namespace goldenv::store {
namespace {

constexpr std::size_t kMapsBytes = 256U << 20U;
constexpr unsigned long kKernelThread = 0x00200000;  // PF_KTHREAD, include/linux/sched.h

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/// How many hexadecimal digits a text begins with.
std::size_t digits(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_hex) - text.begin());
}

bool is_denied(int number) { return number == EACCES || number == EPERM; }

/// A file of /proc, whose size nobody tells before it is read. 0 or errno.
int read_proc(int folder, const char* name, std::string& out) {
  const Descriptor fd(::openat(folder, name, O_RDONLY | O_CLOEXEC));
  if (!fd) {
    return errno;
  }
  out.clear();
  std::size_t got = 0;
  while (got < kMapsBytes) {
    out.resize(std::max<std::size_t>(2 * got, 65536));
    const ssize_t count = ::read(fd.get(), out.data() + got, out.size() - got);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return errno;
    }
    if (count == 0) {
      break;
    }
    got += static_cast<std::size_t>(count);
  }
  out.resize(got);
  return 0;
}

/// Whether a process has no memory of its own: "PID (name) S ppid pgrp session tty tpgid flags".
bool is_without_memory(int folder) {
  std::string stat;
  if (read_proc(folder, "stat", stat) != 0) {
    return false;
  }
  const std::size_t name_end = stat.rfind(')');
  const auto fields = name_end == std::string::npos
                          ? std::vector<std::string_view>{}
                          : words(std::string_view(stat).substr(name_end + 1));
  if (fields.size() < 7) {
    return false;
  }
  const auto flags = to_number(fields[6]);
  return fields[0] == "Z" || fields[0] == "X" || (flags && (*flags & kKernelThread) != 0);
}

/// 0, or the errno of the first look that was refused.
int look_at(int folder, InUse& in_use) {
  std::string text;
  for (const char* name : {"exe", "cwd", "root"}) {
    const Result<std::string> link = link_at(folder, name, name);
    if (link) {
      add_names(*link, in_use);
    } else if (link.error().code == Errc::denied) {
      return EACCES;
    }
  }
  for (const char* name : {"maps", "environ"}) {
    const int number = read_proc(folder, name, text);
    if (number == 0) {
      add_names(text, in_use);
    } else if (is_denied(number)) {
      return number;
    }
  }
  return 0;
}

}  // namespace

void add_names(std::string_view text, InUse& in_use) {
  constexpr std::string_view kGenerations = "/envs/";
  constexpr std::string_view kObjects = "/objects/";
  constexpr std::string_view kEnds("/\0\n:;\"' )", 10);
  for (std::size_t at = text.find(kGenerations); at != std::string_view::npos;
       at = text.find(kGenerations, at + 1)) {
    const std::string_view rest = text.substr(at + kGenerations.size());
    if (digits(rest) == 64) {
      in_use.generations.emplace(rest.substr(0, 64));
    }
  }
  for (std::size_t at = text.find(kObjects); at != std::string_view::npos;
       at = text.find(kObjects, at + 1)) {
    const std::string_view rest = text.substr(at + kObjects.size());
    if (digits(rest) == 32 && rest.size() > 32 && rest[32] == '-') {
      in_use.objects.emplace(rest.substr(0, rest.find_first_of(kEnds)));
    }
  }
}

Result<InUse> used_by_processes(const std::string& proc) {
  InUse in_use;
  const Descriptor folder(::open(proc.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) {
    return system_error(proc, errno);
  }
  GOLDENV_TRY(const std::vector<Member> members, members_at(folder.get(), ".", proc));
  bool any = false;
  for (const Member& member : members) {
    const auto pid = to_number(member.name);
    if (!pid || member.kind != Member::Kind::folder) {
      continue;
    }
    any = true;
    const Descriptor one(open_folder(folder.get(), member.name));
    if (*pid == static_cast<std::uint64_t>(::getpid()) || !one) {
      continue;  // it has ended
    }
    if (look_at(one.get(), in_use) != 0 && !is_without_memory(one.get())) {
      in_use.unseen.push_back(static_cast<int>(*pid));
    }
  }
  if (!any) {
    return Error{Errc::failed, proc + ": it shows no processes; is it mounted?", {}};
  }
  std::ranges::sort(in_use.unseen);
  return in_use;
}

}  // namespace goldenv::store

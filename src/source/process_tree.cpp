#include "source/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/text.h"
#include "host/descriptor.h"

namespace goldenv::source {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseFolder> folder(opendir(path.c_str()));
  while (const dirent* entry = folder == nullptr ? nullptr : readdir(folder.get())) {
    names.emplace_back(entry->d_name);
  }
  return names;
}

/// The fourth field of /proc/PID/stat; the second is in parentheses and may hold anything. Source:
/// proc(5).
std::optional<pid_t> parent_of(const std::string& folder) {
  const host::Descriptor fd(open((folder + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> block{};
  const ssize_t got = fd ? read(fd.get(), block.data(), block.size()) : -1;
  const std::string_view text(block.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  const std::size_t close = text.rfind(')');
  const auto fields = words(text.substr(close == std::string_view::npos ? text.size() : close + 1));
  const auto parent = fields.size() > 1 ? to_number(fields[1]) : std::nullopt;
  return parent ? std::optional(static_cast<pid_t>(*parent)) : std::nullopt;
}

bool holds_any(const std::string& folder, const std::vector<std::string>& pipes) {
  const std::vector<std::string> names = names_in(folder + "/fd");
  return std::ranges::any_of(names, [&](const std::string& name) {
    std::array<char, 64> to{};
    const ssize_t size = readlink((folder + "/fd/" + name).c_str(), to.data(), to.size());
    return size > 0 &&
           std::ranges::find(pipes, std::string_view(to.data(), static_cast<std::size_t>(size))) !=
               pipes.end();
  });
}

/// Of all processes that can be seen, the parents.
std::map<pid_t, pid_t> parents() {
  std::map<pid_t, pid_t> all;
  for (const std::string& name : names_in("/proc")) {
    if (const auto pid = to_number(name)) {
      if (const auto parent = parent_of("/proc/" + name)) {
        all.emplace(static_cast<pid_t>(*pid), *parent);
      }
    }
  }
  return all;
}

}  // namespace

void end_with_descendants(pid_t child, const std::vector<ino_t>& pipes) {
  std::vector<std::string> links;
  for (const ino_t pipe : pipes) {
    links.push_back("pipe:[" + std::to_string(pipe) + "]");
  }
  kill(-child, SIGSTOP);
  kill(child, SIGSTOP);
  std::set<pid_t> found = {child};
  // Each round stops what the one before has not seen, and the last sees nothing new. They are so
  // many at most, whoever starts processes faster than they can be listed.
  constexpr int kRounds = 16;
  for (int round = 0; round < kRounds; ++round) {
    const std::map<pid_t, pid_t> all = parents();
    const std::size_t before = found.size();
    for (std::size_t size = 0; size != found.size();) {
      size = found.size();
      for (const auto& [pid, parent] : all) {
        if (found.contains(parent)) {
          found.insert(pid);
        }
      }
    }
    for (const auto& [pid, parent] : all) {
      // A child of ours may be another program on its way from fork to exec.
      if (pid != getpid() && parent != getpid() && !found.contains(pid) &&
          holds_any("/proc/" + std::to_string(pid), links)) {
        found.insert(pid);
      }
    }
    if (found.size() == before) {
      break;
    }
    for (const pid_t pid : found) {
      kill(pid, SIGSTOP);
    }
  }
  kill(-child, SIGKILL);
  for (const pid_t pid : found) {
    kill(pid, SIGKILL);
  }
}

}  // namespace goldenv::source

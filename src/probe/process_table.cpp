#include "probe/process_table.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "probe/unit_state.h"

namespace goldenv::probe {
namespace {

constexpr std::size_t kMapsBytes = 16u << 20;

std::string folder_of_process(std::uint32_t pid) { return "/proc/" + std::to_string(pid); }

}  // namespace

const Result<std::vector<ProcessTable::Entry>>& ProcessTable::all() {
  if (all_) {
    return *all_;
  }
  const auto names = host_.list("/proc");
  if (!names) {
    all_ = names.error();
    return *all_;
  }
  std::vector<Entry> entries;
  for (const host::DirEntry& name : *names) {
    const auto pid = to_number(name.name);
    if (!pid || *pid == 0 || *pid > UINT32_MAX) {
      continue;
    }
    const auto status = host_.status("/proc/" + name.name);
    if (status) {  // else it ended meanwhile
      entries.push_back({static_cast<std::uint32_t>(*pid), status->uid});
    }
  }
  std::ranges::sort(entries, {}, &Entry::pid);
  // A tree with some files of /proc in it holds no processes.
  all_ = entries.empty()
             ? Result<std::vector<Entry>>(Error{Errc::not_live, "/proc shows no processes", {}})
             : Result<std::vector<Entry>>(std::move(entries));
  return *all_;
}

bool ProcessTable::hides_others() const {
  return std::ranges::any_of(host_.mounts(), [](const host::Mount& mount) {
    return mount.point == "/proc" && mount.type == "proc" &&
           std::ranges::any_of(mount.options, [](const std::string& option) {
             return option.starts_with("hidepid=") && option != "hidepid=0" &&
                    option != "hidepid=off";
           });
  });
}

Truth ProcessTable::is_held(std::uint32_t uid, std::optional<Error>& error,
                            const std::function<Result<bool>(std::uint32_t pid)>& holds) {
  const auto& entries = all();
  if (!entries) {
    error = entries.error();
    return Truth::unknown;
  }
  Truth held = Truth::no;
  for (const Entry& entry : *entries) {
    if (entry.uid != uid) {
      continue;
    }
    const Result<bool> answer = holds(entry.pid);
    if (answer && *answer) {
      return Truth::yes;
    }
    if (!answer && answer.error().code != Errc::absent) {
      error = answer.error();
      held = Truth::unknown;
    }
  }
  if (held == Truth::no && hides_others()) {
    const auto self = host_.status("/proc/self");
    if (!self || (self->uid != 0 && self->uid != uid)) {
      error = Error{Errc::denied, "/proc is mounted with hidepid", {}};
      return Truth::unknown;
    }
  }
  return held;
}

Truth ProcessTable::is_mapped(std::string_view path, std::uint32_t uid,
                              std::optional<Error>& error) {
  const std::string line_end = " " + std::string(path) + "\n";
  return is_held(uid, error, [&](std::uint32_t pid) -> Result<bool> {
    auto at = maps_.find(pid);
    if (at == maps_.end()) {
      at = maps_.emplace(pid, host_.read_file(folder_of_process(pid) + "/maps", kMapsBytes)).first;
    }
    if (!at->second) {
      return at->second.error();
    }
    return at->second->find(line_end) != std::string::npos;
  });
}

Truth ProcessTable::is_open(std::string_view path, std::uint32_t uid, std::optional<Error>& error) {
  return is_held(uid, error, [&](std::uint32_t pid) -> Result<bool> {
    const auto& files = open_files(pid);
    if (!files) {
      return files.error();
    }
    return std::ranges::find(*files, path) != files->end();
  });
}

const Result<std::vector<std::string>>& ProcessTable::open_files(std::uint32_t pid) {
  auto at = open_.find(pid);
  if (at != open_.end()) {
    return at->second;
  }
  const std::string folder = folder_of_process(pid) + "/fd";
  const auto names = host_.list(folder);
  Result<std::vector<std::string>> files = std::vector<std::string>{};
  if (!names) {
    files = names.error();
  } else {
    for (const host::DirEntry& name : *names) {
      Result<std::string> link = host_.read_link(folder + "/" + name.name);
      if (link) {
        files->push_back(*std::move(link));
      } else if (link.error().code != Errc::absent) {  // closed meanwhile
        files = link.error();
        break;
      }
    }
  }
  return open_.emplace(pid, std::move(files)).first->second;
}

const std::optional<ProcessTable::Stat>& ProcessTable::stat(std::uint32_t pid) {
  auto at = stats_.find(pid);
  if (at == stats_.end()) {
    const std::string text =
        host_.read_file(folder_of_process(pid) + "/stat", 64u << 10).value_or("");
    at = stats_.emplace(pid, parse_process_stat(text)).first;
  }
  return at->second;
}

ProcessTable& process_table(Survey& survey) {
  return survey.shared<ProcessTable>([&] { return ProcessTable(survey.host()); });
}

std::optional<ProcessTable::Stat> parse_process_stat(std::string_view text) {
  // The name stands in parentheses and may hold anything, parentheses too.
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  constexpr std::uint64_t kTicksPerSecond = 100;  // USER_HZ of every machine of interest
  const std::string_view rest = text.substr(close + 1);
  const auto fields = words(rest);
  const auto parent = fields.size() > 19 ? to_number(fields[1]) : std::nullopt;
  const auto start = fields.size() > 19 ? to_number(fields[19]) : std::nullopt;
  if (!parent || !start || *parent > UINT32_MAX) {
    return std::nullopt;
  }
  return ProcessTable::Stat{std::string(text.substr(open + 1, close - open - 1)),
                            static_cast<std::uint32_t>(*parent), *start / kTicksPerSecond};
}

std::optional<std::uint64_t> machine_time(const host::Host& host) {
  const std::string uptime = host.read_file("/proc/uptime", 256).value_or("");
  const auto seconds = to_number(std::string_view(uptime).substr(0, uptime.find_first_of(". ")));
  const auto boot = seconds ? boot_time(host) : std::nullopt;
  return boot ? std::optional(*boot + *seconds) : std::nullopt;
}

}  // namespace goldenv::probe

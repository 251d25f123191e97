#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/truth.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// The processes of the machine, looked at only as far as somebody asks: to look at all of a large
/// host takes longer than the rest of a scan. Source: proc(5).
class ProcessTable {
 public:
  explicit ProcessTable(const host::Host& host) : host_(host) {}

  struct Entry {
    std::uint32_t pid = 0;
    /// Owner of its folder. A process that keeps its memory to itself (ssh-agent, a user's sd-pam)
    /// is root's here.
    std::uint32_t uid = 0;
  };

  /// Sorted by number. Errors: not_live, not_collected, those of the look at /proc.
  const Result<std::vector<Entry>>& all();
  /// Whether /proc shows only the caller's own processes.
  [[nodiscard]] bool hides_others() const;

  /// Whether a process of the user has a file mapped. Unknown where one would not show it: then
  /// `error` says which.
  Truth is_mapped(std::string_view path, std::uint32_t uid, std::optional<Error>& error);
  /// Whether a process of the user holds a file open; likewise.
  Truth is_open(std::string_view path, std::uint32_t uid, std::optional<Error>& error);
  /// What the open descriptors of a process lead to. Errors: absent where it ended meanwhile.
  const Result<std::vector<std::string>>& open_files(std::uint32_t pid);

  /// Words of /proc/PID/stat.
  struct Stat {
    std::string name;           ///< at most 15 bytes of it
    std::uint32_t parent = 0;   ///< its pid
    std::uint64_t start_s = 0;  ///< seconds after boot
  };
  const std::optional<Stat>& stat(std::uint32_t pid);

 private:
  Truth is_held(std::uint32_t uid, std::optional<Error>& error,
                const std::function<Result<bool>(std::uint32_t pid)>& holds);

  const host::Host& host_;
  std::optional<Result<std::vector<Entry>>> all_;
  std::map<std::uint32_t, Result<std::string>> maps_;
  std::map<std::uint32_t, Result<std::vector<std::string>>> open_;
  std::map<std::uint32_t, std::optional<Stat>> stats_;
};

/// The one of a survey.
ProcessTable& process_table(Survey& survey);

/// The fields of a /proc/PID/stat; none where it is cut short.
std::optional<ProcessTable::Stat> parse_process_stat(std::string_view text);

/// Unix time of now by the machine's own clocks: boot time and time since then.
std::optional<std::uint64_t> machine_time(const host::Host& host);

}  // namespace goldenv::probe

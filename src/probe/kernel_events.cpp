// What the kernel's log of this boot tells: faults of GPUs, drivers, buses and clocks.
#include <sys/klog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/instances.h"
#include "probe/kernel_log.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Unknown;
using facts::Value;
using facts::Why;

/// Says who may read the log; there wherever a kernel keeps one.
constexpr std::string_view kRestrict = "/proc/sys/kernel/dmesg_restrict";
constexpr std::string_view kQuestion = "kernel log 1";

/// The kernel's own buffer, by syslog(2) and not /dev/kmsg: one call that never waits.
Result<std::string> read_buffer() {
  constexpr int kReadAll = 3;
  constexpr int kSize = 10;
  constexpr int kLimitBytes = 16 << 20;
  const int size = std::min(klogctl(kSize, nullptr, 0), kLimitBytes);
  std::string text(static_cast<std::size_t>(std::max(size, 1 << 16)), '\0');
  const int got = klogctl(kReadAll, text.data(), static_cast<int>(text.size()));
  if (got < 0) {
    const bool is_denied = errno == EPERM || errno == EACCES;
    return Error{is_denied ? Errc::denied : Errc::unreadable,
                 "the kernel's log: " +
                     std::string(is_denied ? "only root may read it" : "cannot be read here"),
                 {}};
  }
  text.resize(static_cast<std::size_t>(got));
  return text;
}

/// The end of a log file: it may hold years.
Result<std::string> read_end(int fd, std::string_view path) {
  constexpr off_t kTailBytes = 4 << 20;
  struct stat status;
  if (fstat(fd, &status) != 0) {
    return Error{Errc::unreadable, std::string(path) + ": cannot be looked at", {}};
  }
  const off_t from = std::max<off_t>(status.st_size - kTailBytes, 0);
  std::string text(static_cast<std::size_t>(status.st_size - from), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got =
        pread(fd, text.data() + have, text.size() - have, from + static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return Error{Errc::unreadable, std::string(path) + ": cannot be read", {}};
    }
    if (got == 0) {
      break;
    }
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  if (from > 0) {
    text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return text;
}

struct Found {
  Result<KernelLog> log = Error{Errc::absent, "no log of the kernel is here", {}};
  std::string from;
};

Result<KernelLog> decoded(const Result<std::string>& answer) {
  return answer ? decode_kernel_log(*answer) : Result<KernelLog>(answer.error());
}

Found find_log(const host::Host& host) {
  constexpr std::array<std::string_view, 4> kFiles = {"/var/log/kern.log", "/var/log/messages",
                                                      "/var/log/syslog", "/var/log/dmesg"};
  std::optional<Found> closed;
  // A tree holds no buffer, and the one of the machine that looks at it says nothing of it.
  if (host.live()) {
    Found buffer{decoded(host.ask(kRestrict, kQuestion,
                                  [](int) -> Result<std::string> {
                                    const Result<std::string> text = read_buffer();
                                    return text ? encode(parse_kernel_log(*text))
                                                : Result<std::string>(text.error());
                                  })),
                 "kernel log"};
    if (buffer.log) {
      return buffer;
    }
    if (buffer.log.error().code != Errc::absent) {
      closed = std::move(buffer);
    }
  }
  for (const std::string_view path : kFiles) {
    Found file{decoded(host.ask(path, kQuestion,
                                [path](int fd) -> Result<std::string> {
                                  const Result<std::string> text = read_end(fd, path);
                                  return text ? encode(parse_kernel_log(*text))
                                              : Result<std::string>(text.error());
                                })),
               std::string(path)};
    // One that does not reach back to a boot may be of any.
    if (file.log && file.log->sees_boot) {
      return file;
    }
    // What a later file says would be another answer than this one's.
    if (!file.log && file.log.error().code != Errc::absent) {
      return closed ? std::move(*closed) : file;
    }
  }
  return closed ? std::move(*closed) : Found{};
}

Value map_of(const std::map<std::string, std::uint64_t>& counts) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& [name, count] : counts) {
    entries.emplace_back(name, std::to_string(count));
  }
  return Value::map(std::move(entries));
}

Value map_of(const std::map<std::string, std::set<std::string>>& reasons) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& [name, all] : reasons) {
    entries.emplace_back(name, join({all.begin(), all.end()}, ", "));
  }
  return Value::map(std::move(entries));
}

Value set_of(const std::set<std::string>& names) {
  return Value::set({names.begin(), names.end()});
}

constexpr auto kKeys = std::to_array<std::string_view>({
    "clocksource.unstable",
    "driver.gsp.missing",
    "log.api_mismatch",
    "log.lockup",
    "log.module_rejected",
    "log.nvrm",
    "log.pcie_errors",
    "log.xid",
});

Value value_of(const KernelLog& log, std::string_view key) {
  if (key == "clocksource.unstable") {
    return set_of(log.unstable_clocks);
  }
  if (key == "driver.gsp.missing") {
    return set_of(log.missing_firmware);
  }
  if (key == "log.api_mismatch") {
    return set_of(log.mismatches);
  }
  if (key == "log.lockup") {
    return Value::number(log.lockups);
  }
  if (key == "log.module_rejected") {
    return map_of(log.rejected);
  }
  if (key == "log.nvrm") {
    return set_of(log.faults);
  }
  if (key == "log.pcie_errors") {
    return Value::number(log.bus_errors);
  }
  return map_of(log.xids);
}

void run(Survey& survey) {
  if (std::ranges::none_of(kKeys, [&](std::string_view key) { return survey.wants(key); })) {
    return;
  }
  const Found found = find_log(survey.host());
  if (!found.log) {
    Unknown unknown = found.log.error().code == Errc::absent
                          ? Unknown{Why::not_stated, found.log.error().message, ""}
                          : Unknown::from(found.log.error());
    if (unknown.why == Why::denied) {
      unknown.needs = "root";
    }
    for (const std::string_view key : kKeys) {
      survey.add(key, unknown, seen(found.from.empty() ? "/var/log/kern.log" : found.from));
    }
    return;
  }
  for (const std::string_view key : kKeys) {
    facts::Evidence evidence = seen(found.from);
    const auto lines = found.log->lines.find(std::string(key));
    if (lines != found.log->lines.end()) {
      evidence.notes = lines->second;
    }
    if (!found.log->sees_boot) {
      evidence.notes.emplace_back("the log does not reach back to the boot: older lines are lost");
    }
    survey.add(key, value_of(*found.log, key), std::move(evidence));
  }
}

}  // namespace

extern const Probe kernel_events{.name = "kernel_events", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

// Whether packages are upgraded without anybody asking for it.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/apt_settings.h"
#include "probe/instances.h"
#include "probe/presence.h"
#include "probe/probe.h"
#include "probe/unit_state.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kKey = "packages.auto_upgrade";
constexpr std::string_view kAptFolder = "/etc/apt";

/// One way by which packages can be upgraded; none where it is not installed.
struct Way {
  Reading reading;
  facts::Evidence evidence;
};

/// A setting of a timer or service that starts the upgrades.
Way started_by(Survey& survey, const std::string& unit, facts::Evidence evidence) {
  UnitEnabled enabled = unit_enabled(survey, unit);
  const bool is_off = std::holds_alternative<Absent>(enabled.reading);
  evidence.notes.push_back(
      unit + ": " + (is_off ? "no such unit" : facts::describe(enabled.reading)) +
      (enabled.evidence.from.empty() ? "" : " (" + enabled.evidence.from + ")"));
  return {is_off ? Reading(Value::boolean(false)) : std::move(enabled.reading),
          std::move(evidence)};
}

bool is_true(const Reading& reading) {
  const auto* value = std::get_if<Value>(&reading);
  return value != nullptr && value->text == "true";
}

/// Debian and Ubuntu: apt-daily-upgrade.timer starts apt.systemd.daily, which runs
/// unattended-upgrade where the settings say so. Source: apt's debian/apt.systemd.daily.
std::optional<Way> by_apt(Survey& survey) {
  const host::Host& host = survey.host();
  const auto folder = host.list(kAptFolder);
  if (!folder) {
    return folder.error().code == Errc::absent
               ? std::nullopt
               : std::optional(Way{Unknown::from(folder.error()), seen(kAptFolder)});
  }
  const AptSettings settings =
      apt_settings(host, {"APT::Periodic::Enable", "APT::Periodic::Unattended-Upgrade"});
  if (!settings.unread.empty()) {
    return Way{Unknown::from(settings.unread.front()), seen("/etc/apt/apt.conf.d")};
  }
  const AptSetting& enable = settings.found[0];
  const AptSetting& interval = settings.found[1];
  const AptSetting& decisive = enable.value == "0" ? enable : interval;
  facts::Evidence evidence =
      decisive.file.empty()
          ? seen("/etc/apt/apt.conf.d", "APT::Periodic::Unattended-Upgrade is not set")
          : seen(decisive.file, decisive.line);
  if (enable.value == "0" || interval.value.empty() || interval.value == "0") {
    return Way{Value::boolean(false), std::move(evidence)};
  }
  const auto program = host.status("/usr/bin/unattended-upgrade");
  if (!program) {
    evidence.notes.emplace_back("unattended-upgrade is not installed");
    return Way{program.error().code == Errc::absent ? Reading(Value::boolean(false))
                                                    : Reading(Unknown::from(program.error())),
               std::move(evidence)};
  }
  if (!system_units(survey).is_systemd && system_units(survey).unseen.empty()) {
    evidence.notes.emplace_back("no systemd: cron starts it");  // /etc/cron.daily/apt-compat
    const auto there = is_there(host, "/etc/cron.daily/apt-compat");
    return Way{there ? Reading(Value::boolean(*there)) : Reading(Unknown::from(there.error())),
               std::move(evidence)};
  }
  return started_by(survey, "apt-daily-upgrade.timer", std::move(evidence));
}

/// The value of the last line `key = value`, lower case; its line in `line`. Source:
/// dnf-automatic's automatic.conf, yum-cron.conf.
std::string ini_value(std::string_view text, std::string_view key, std::uint32_t& line) {
  std::string value;
  std::uint32_t number = 0;
  for (const std::string_view one : lines(text)) {
    ++number;
    const std::size_t equals = one.find('=');
    if (equals != std::string_view::npos && trim(one.substr(0, equals)) == key) {
      value = to_lower(trim(one.substr(equals + 1)));
      line = number;
    }
  }
  return value;
}

/// dnf-automatic.timer (yum-cron.service) does what its file says, -install.timer always installs.
std::optional<Way> by_dnf(Survey& survey) {
  struct Kind {
    std::string_view file;
    std::string_view unit;
    std::string_view always;
  };
  constexpr auto kKinds = std::to_array<Kind>({
      {"/etc/dnf/automatic.conf", "dnf-automatic.timer", "dnf-automatic-install.timer"},
      {"/etc/dnf/dnf5-plugins/automatic.conf", "dnf5-automatic.timer", ""},
      {"/etc/yum/yum-cron.conf", "yum-cron.service", ""},
  });
  const host::Host& host = survey.host();
  std::optional<Way> found;
  for (const Kind& kind : kKinds) {
    const Result<std::string> text = host.read_file(kind.file, 1u << 20);
    if (!text && text.error().code == Errc::absent) {
      continue;
    }
    if (!text) {
      return Way{Unknown::from(text.error()), seen(kind.file)};
    }
    if (!kind.always.empty()) {
      Way always = started_by(survey, std::string(kind.always), seen(kind.file));
      if (is_true(always.reading)) {
        return always;
      }
    }
    std::uint32_t line = 0;
    const std::string apply = ini_value(*text, "apply_updates", line);
    const bool applies = apply == "yes" || apply == "true" || apply == "1" || apply == "on";
    found = Way{Value::boolean(false), seen(kind.file, line)};
    if (applies) {
      found = started_by(survey, std::string(kind.unit), seen(kind.file, line));
    }
    if (!std::holds_alternative<Value>(found->reading) || is_true(found->reading)) {
      return found;
    }
  }
  for (const std::string_view sign : {"/etc/dnf", "/etc/yum.conf"}) {
    const auto there = found ? Result<bool>(false) : is_there(host, sign);
    if (!there) {
      return Way{Unknown::from(there.error()), seen(sign)};
    }
    if (*there) {
      return Way{Value::boolean(false), seen("/etc/dnf", "dnf-automatic is not installed")};
    }
  }
  return found;
}

/// SUSE's MicroOS and Leap Micro.
std::optional<Way> by_transactional_update(Survey& survey) {
  const std::string unit = "transactional-update.timer";
  if (system_units(survey).file_of(unit).empty()) {
    return std::nullopt;
  }
  return started_by(survey, unit, seen("/etc/systemd/system"));
}

void run(Survey& survey) {
  if (!survey.wants(kKey)) {
    return;
  }
  std::optional<Way> answer;
  for (const auto way : {by_apt, by_dnf, by_transactional_update}) {
    std::optional<Way> one = way(survey);
    if (!one) {
      continue;
    }
    // One that is on decides, then one of which nobody knows.
    const bool decides = is_true(one->reading) || (std::holds_alternative<Unknown>(one->reading) &&
                                                   !(answer && is_true(answer->reading)));
    if (!answer || decides) {
      answer = std::move(one);
    }
  }
  if (!answer) {
    answer = Way{Unknown{Why::unsupported, "neither apt nor dnf is set up here", ""}, {}};
  }
  survey.add(kKey, std::move(answer->reading), std::move(answer->evidence));
}

constexpr auto kKeys = std::to_array<std::string_view>({kKey});

}  // namespace

extern const Probe auto_upgrade{.name = "auto_upgrade", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

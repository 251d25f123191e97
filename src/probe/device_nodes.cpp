// Device nodes of the NVIDIA driver: a program needs them as much as the module.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "probe/instances.h"
#include "probe/presence.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;

/// Looked for on every machine; nodes of single GPUs and of MIG are listed as they come.
constexpr auto kAlways = std::to_array<std::string_view>(
    {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "gdrdrv"});

/// Names by number from /etc/passwd or /etc/group: `root:x:0:...`. Accounts of a directory service
/// are not asked for: that may hang.
std::map<std::uint32_t, std::string> parse_accounts(std::string_view text) {
  std::map<std::uint32_t, std::string> names;
  for (const std::string_view line : lines(text)) {
    const auto fields = split(line, ':');
    if (fields.size() < 3) {
      continue;
    }
    const auto number = to_number(fields[2]);
    if (number && *number <= UINT32_MAX) {
      names.emplace(static_cast<std::uint32_t>(*number), fields[0]);
    }
  }
  return names;
}

class Accounts {
 public:
  explicit Accounts(const host::Host& host)
      : users_(read_names(host, "/etc/passwd")), groups_(read_names(host, "/etc/group")) {}

  /// Errors: those of reading the file that would name one.
  [[nodiscard]] Result<std::string> owner(const host::FileStatus& status) const {
    GOLDENV_TRY(const std::string user, name(users_, status.uid));
    GOLDENV_TRY(const std::string group, name(groups_, status.gid));
    return user + ":" + group;
  }

 private:
  struct Names {
    std::map<std::uint32_t, std::string> by_number;
    std::vector<Error> unseen;
  };
  static Names read_names(const host::Host& host, std::string_view path) {
    Names names;
    names.by_number = parse_accounts(text_or_none(host, path, names.unseen));
    names.by_number.emplace(0, "root");
    return names;
  }
  static Result<std::string> name(const Names& names, std::uint32_t number) {
    const auto found = names.by_number.find(number);
    if (found != names.by_number.end()) {
      return found->second;
    }
    return names.unseen.empty() ? Result<std::string>(std::to_string(number))
                                : names.unseen.front();
  }
  Names users_;
  Names groups_;
};

/// Mode and owner: "0666 root:root".
Reading node_reading(const host::Host& host, const Accounts& accounts, const std::string& path) {
  const Result<host::FileStatus> status = host.status(path);
  if (!status) {
    return facts::unread(status.error());
  }
  std::string mode = "0000";
  std::uint32_t bits = status->mode & 07777u;
  for (std::size_t i = mode.size(); i-- > 0; bits >>= 3u) {
    mode[i] = static_cast<char>('0' + (bits & 7u));
  }
  const Result<std::string> owner = accounts.owner(*status);
  return owner ? Reading(Value::scalar(mode + " " + *owner))
               : Reading(Unknown::from(owner.error()));
}

std::set<std::string> nodes_below(const host::Host& host, Result<void>& listed) {
  std::set<std::string> names;
  const auto entries = host.list("/dev");
  if (!entries) {
    listed = entries.error();
    return names;
  }
  for (const host::DirEntry& entry : *entries) {
    if (!entry.name.starts_with("nvidia")) {
      continue;
    }
    if (entry.kind != host::FileStatus::Kind::folder) {
      names.insert(entry.name);
      continue;
    }
    const auto inner = host.list("/dev/" + entry.name);  // nvidia-caps, nvidia-fs
    if (!inner) {
      listed = inner.error();
      continue;
    }
    for (const host::DirEntry& node : *inner) {
      names.insert(entry.name + "/" + node.name);
    }
  }
  return names;
}

/// runc looks devices up below /dev/char after systemd reloaded; the driver makes no links there,
/// so NVIDIA's tools do. Character devices of NVIDIA have major 195.
void add_char_links(Survey& survey, const std::set<std::string>& nodes) {
  constexpr std::string_view kFolder = "/dev/char";
  if (!survey.wants("device_node.char_links")) {
    return;
  }
  const host::Host& host = survey.host();
  if (nodes.empty()) {
    survey.add("device_node.char_links", Absent{"no NVIDIA device node"}, seen(kFolder));
    return;
  }
  const auto links = host.list(kFolder);
  if (!links && links.error().code != Errc::absent) {
    survey.add("device_node.char_links", Unknown::from(links.error()), seen(kFolder));
    return;
  }
  bool found = false;
  if (links) {
    found = std::ranges::any_of(*links, [&](const host::DirEntry& link) {
      return link.name.starts_with("195:") &&
             host.read_link(std::string(kFolder) + "/" + link.name).value_or("").find("nvidia") !=
                 std::string::npos;
    });
  }
  survey.add("device_node.char_links", Value::boolean(found), seen(kFolder));
}

void run(Survey& survey) {
  const host::Host& host = survey.host();
  Result<void> listed;
  std::set<std::string> names;
  if (!survey.request().only_named || survey.wants("device_node.char_links")) {
    names = nodes_below(host, listed);
    if (listed || listed.error().code == Errc::absent) {
      add_char_links(survey, names);
    } else {
      survey.add("device_node.char_links", Unknown::from(listed.error()), seen("/dev"));
    }
  }
  if (survey.request().only_named) {
    names.clear();
  } else {
    names.insert(kAlways.begin(), kAlways.end());
  }
  for (std::string& named : survey.named_below("device_node")) {
    if (named != "char_links") {
      names.insert(std::move(named));
    }
  }
  if (names.empty()) {
    return;
  }
  const Accounts accounts(host);
  for (const std::string& name : names) {
    const std::string path = "/dev/" + name;
    survey.add("device_node." + name, node_reading(host, accounts, path), seen(path));
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({"device_node.**"});

}  // namespace

extern const Probe device_nodes{.name = "device_nodes", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

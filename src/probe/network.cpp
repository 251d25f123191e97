#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "probe/instances.h"
#include "probe/path_text.h"
#include "probe/presence.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

constexpr std::string_view kFolder = "/sys/class/net";

constexpr std::string_view kKeys[] = {"nic.driver", "nic.firmware", "nic.kind", "nic.mac",
                                      "nic.mtu",    "nic.speed",    "nic.state"};

struct Interface {
  std::string name;
  Result<std::string> kind;
  bool counts = true;

  [[nodiscard]] bool is(std::string_view word) const { return kind && *kind == word; }
};

/// Errors: those of the look, where what could be seen does not decide it.
Result<std::string> kind_of(const host::Host& host, const std::string& name) {
  const std::string folder = std::string(kFolder) + "/" + name;
  GOLDENV_TRY(const bool is_bond, is_there(host, folder + "/bonding"));
  if (is_bond) {
    return std::string("bond");
  }
  GOLDENV_TRY(const bool is_bridge, is_there(host, folder + "/bridge"));
  if (is_bridge) {
    return std::string("bridge");
  }
  std::vector<Error> unseen;
  if (text_or_none(host, folder + "/uevent", unseen, 4096).find("DEVTYPE=vlan") !=
      std::string::npos) {
    return std::string("vlan");
  }
  const auto vlan = is_there(host, "/proc/net/vlan/" + name);
  if (vlan && *vlan) {
    return std::string("vlan");
  }
  // A container shows no /proc/net/vlan of its own kernel's; uevent names them, too.
  if (!unseen.empty()) {
    return vlan ? unseen.front() : vlan.error();
  }
  GOLDENV_TRY(const bool is_physical, is_there(host, folder + "/device"));
  return std::string(is_physical ? "physical" : "virtual");
}

/// Interfaces that are asked for by name (nic.mtu@docker0).
std::set<std::string> asked_for(const Survey& survey) {
  std::set<std::string> names;
  for (const std::string_view key : kKeys) {
    for (std::string& label : survey.labels_of(key)) {
      names.insert(std::move(label));
    }
  }
  return names;
}

/// All interfaces but lo. Those that the machine's set-up decides count; those of containers (veth
/// pairs, their bridges) come and go with the jobs and would make each two nodes differ. They count
/// where there is nothing else, as inside a container, and are instances without a say in a scan of
/// everything and where they are asked for by name.
std::vector<Interface> interfaces_of(Survey& survey, const std::vector<host::DirEntry>& entries) {
  std::vector<Interface> all;
  for (const host::DirEntry& entry : entries) {
    // bonding_masters is a file among the links.
    if (entry.name != "lo" && entry.kind != host::FileStatus::Kind::file) {
      Interface interface { entry.name, kind_of(survey.host(), entry.name) };
      interface.counts = !interface.is("virtual") && !interface.is("bridge");
      all.push_back(std::move(interface));
    }
  }
  if (std::ranges::none_of(all, &Interface::counts)) {
    for (Interface& interface : all) {
      interface.counts = true;
    }
  }
  if (!survey.request().all) {
    const std::set<std::string> asked = asked_for(survey);
    std::erase_if(all, [&](const Interface& interface) {
      return !interface.counts && !asked.contains(interface.name);
    });
  }
  return all;
}

facts::Reading speed_of(const host::Host& host, const std::string& path) {
  const auto text = host.read_file(path, 64);
  const facts::Unknown down{facts::Why::not_stated, "the link is down or has no speed", ""};
  if (!text) {
    // The kernel answers EINVAL while the link is down.
    return text.error().code == Errc::unreadable ? facts::Reading(down)
                                                 : facts::unread(text.error());
  }
  const std::string_view number = trim(*text);
  return to_number(number) ? facts::Reading(facts::Value::scalar(std::string(number)))
                           : facts::Reading(down);
}

facts::Reading state_of(const host::Host& host, const std::string& path) {
  facts::Reading state = one_line(host, path);
  const auto* value = std::get_if<facts::Value>(&state);
  if (value != nullptr && value->text == "unknown") {
    return facts::Unknown{facts::Why::not_stated, "the driver does not tell the kernel", ""};
  }
  return state;
}

facts::Reading driver_of(const host::Host& host, const std::string& folder) {
  const auto link = host.real_path(folder + "/device/driver");
  if (link) {
    return facts::Value::scalar(std::string(base_name(*link)));
  }
  return link.error().code == Errc::absent ? facts::Reading(facts::Absent{"no driver is bound"})
                                           : facts::Unknown::from(link.error());
}

void run(Survey& survey) {
  const host::Host& host = survey.host();
  const auto entries = host.list(kFolder);
  const std::vector<Interface> interfaces =
      entries ? interfaces_of(survey, *entries) : std::vector<Interface>{};
  facts::Reading none = facts::Absent{"no network interface"};
  if (!entries) {
    none = facts::unread(entries.error());
  }
  const std::string where(std::string(kFolder) + "/*");
  Instances driver(where + "/device/driver");
  Instances speed(where + "/speed");
  Instances mtu(where + "/mtu");
  Instances state(where + "/operstate");
  Instances kind(where);
  Instances mac(where + "/address");
  Instances firmware(where);
  const auto add = [&](const Interface& interface, std::string_view key, Instances& instances,
                       facts::Reading reading, const std::string& path) {
    if (interface.counts) {
      instances.add(interface.name, std::move(reading), seen(path));
    } else {
      survey.add(std::string(key) + "@" + interface.name, std::move(reading), seen(path));
    }
  };
  for (const Interface& interface : interfaces) {
    const std::string folder = std::string(kFolder) + "/" + interface.name;
    if (!interface.kind) {
      // It may be a physical one.
      const facts::Reading unknown = facts::Unknown::from(interface.kind.error());
      add(interface, "nic.driver", driver, unknown, folder);
      add(interface, "nic.firmware", firmware, unknown, folder);
    }
    if (interface.is("physical")) {
      add(interface, "nic.driver", driver, driver_of(host, folder), folder + "/device/driver");
      add(interface, "nic.firmware", firmware,
          facts::Unknown{facts::Why::unsupported,
                         "only an ioctl of the driver tells it (ethtool -i)", ""},
          folder);
    }
    add(interface, "nic.speed", speed, speed_of(host, folder + "/speed"), folder + "/speed");
    add(interface, "nic.mtu", mtu, one_line(host, folder + "/mtu"), folder + "/mtu");
    add(interface, "nic.state", state, state_of(host, folder + "/operstate"),
        folder + "/operstate");
    add(interface, "nic.kind", kind,
        interface.kind ? facts::Reading(facts::Value::scalar(*interface.kind))
                       : facts::Unknown::from(interface.kind.error()),
        folder);
    add(interface, "nic.mac", mac, one_line(host, folder + "/address"), folder + "/address");
  }
  facts::Reading no_physical = none;
  if (entries) {
    no_physical = facts::Absent{"no physical interface"};
  }
  driver.record(survey, "nic.driver", no_physical);
  firmware.record(survey, "nic.firmware", no_physical);
  speed.record(survey, "nic.speed", none);
  mtu.record(survey, "nic.mtu", none);
  state.record(survey, "nic.state", none);
  kind.record(survey, "nic.kind", none);
  mac.record(survey, "nic.mac", none);
}

}  // namespace

extern const Probe network{.name = "network", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

#include <utility>

#include "base/text.h"
#include "probe/instances.h"
#include "probe/library_in_force.h"
#include "probe/library_owner.h"
#include "probe/nvidia_proc.h"
#include "probe/path_text.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

constexpr std::string_view kFolder = "/sys/class/infiniband";

/// "ACTIVE" of "4: ACTIVE".
facts::Reading port_state(const host::Host& host, const std::string& path) {
  facts::Reading reading = one_line(host, path);
  if (auto* value = std::get_if<facts::Value>(&reading)) {
    const std::size_t colon = value->text.find(": ");
    if (colon != std::string::npos) {
      value->text = value->text.substr(colon + 2);
    }
  }
  return reading;
}

void add_adapters(Survey& survey) {
  const host::Host& host = survey.host();
  const auto entries = host.list(kFolder);
  const bool is_there = entries || entries.error().code == Errc::absent;
  facts::Reading none = facts::Absent{"no RDMA adapter"};
  if (!is_there) {
    none = facts::Unknown::from(entries.error());
  }
  facts::Evidence count = seen(kFolder);
  if (!entries && is_there) {
    count.notes.emplace_back("no such folder: the kernel knows no RDMA adapter");
  }
  survey.add("rdma.count",
             is_there ? facts::Reading(facts::Value::number(entries ? entries->size() : 0)) : none,
             count);

  const std::string where = std::string(kFolder) + "/*";
  struct OfDevice {
    std::string_view key;
    std::string_view file;
    Instances instances;
  };
  OfDevice of_device[] = {{"rdma.firmware", "fw_ver", Instances(where + "/fw_ver")},
                          {"rdma.type", "hca_type", Instances(where + "/hca_type")},
                          {"rdma.board_id", "board_id", Instances(where + "/board_id")},
                          {"rdma.guid", "node_guid", Instances(where + "/node_guid")}};
  OfDevice of_port[] = {{"rdma.link_layer", "link_layer", Instances(where + "/ports/*/link_layer")},
                        {"rdma.rate", "rate", Instances(where + "/ports/*/rate")},
                        {"rdma.state", "state", Instances(where + "/ports/*/state")}};
  for (const host::DirEntry& device : entries.value_or(std::vector<host::DirEntry>{})) {
    const std::string folder = std::string(kFolder) + "/" + device.name;
    for (OfDevice& fact : of_device) {
      const std::string path = folder + "/" + std::string(fact.file);
      fact.instances.add(device.name, one_line(host, path), seen(path));
    }
    const auto ports = host.list(folder + "/ports");
    if (!ports) {
      for (OfDevice& fact : of_port) {
        fact.instances.add(device.name, facts::unread(ports.error()), seen(folder + "/ports"));
      }
      continue;
    }
    for (const host::DirEntry& port : *ports) {
      for (OfDevice& fact : of_port) {
        const std::string path = folder + "/ports/" + port.name + "/" + std::string(fact.file);
        fact.instances.add(device.name + "/" + port.name, port_state(host, path), seen(path));
      }
    }
  }
  for (const OfDevice& fact : of_device) {
    fact.instances.record(survey, fact.key, none);
  }
  for (const OfDevice& fact : of_port) {
    fact.instances.record(survey, fact.key, none);
  }
}

/// rdma-core gives libibverbs its own number after that of the interface: libibverbs.so.1.14.44.0
/// is of rdma-core 44.0. Source: rdma-core, CMakeLists.txt, rdma_library(ibverbs
/// ... 1.14.${PACKAGE_VERSION}).
void add_core(Survey& survey) {
  if (!survey.wants("rdma.core")) {
    return;
  }
  const LibraryInForce library = resolve_library(survey, "libibverbs.so.1", {});
  facts::Evidence evidence = library.evidence;
  if (!library.is_found()) {
    survey.add("rdma.core", library.found, evidence);
    return;
  }
  const std::string named = version_in_name(base_name(library.real_path));
  const std::vector<std::string_view> parts = split(named, '.');
  if (parts.size() >= 4) {
    std::string version(parts[2]);
    for (std::size_t i = 3; i < parts.size(); ++i) {
      version += "." + std::string(parts[i]);
    }
    evidence.basis = "file name";
    survey.add("rdma.core", facts::Value::scalar(version), evidence);
    return;
  }
  constexpr std::string_view kDebian[] = {"libibverbs1"};
  constexpr std::string_view kConda[] = {"rdma-core-", "libibverbs-"};
  const LibraryOwners owners =
      library_owners(survey, library.path, library.real_path, {{}, kDebian, kConda});
  if (!owners.unseen.empty()) {
    survey.add("rdma.core", facts::Unknown::from(owners.unseen.front()), evidence);
    return;
  }
  if (!owners.found.empty()) {
    evidence.basis = "package " + owners.found.front().package;
    survey.add("rdma.core", facts::Value::scalar(owners.found.front().version), evidence);
    return;
  }
  survey.add("rdma.core",
             facts::Unknown{facts::Why::not_stated, "the file name holds no version", ""},
             evidence);
}

/// MLNX_OFED and DOCA install ofed_info, a shell script in whose text the release stands. Their
/// modules carry a version with a dash (23.10-1.1.9), those of the kernel none or the kernel's.
void add_ofed(Survey& survey) {
  if (!survey.wants("rdma.ofed")) {
    return;
  }
  const host::Host& host = survey.host();
  const std::string script_path = "/usr/bin/ofed_info";
  const auto script = host.read_file(script_path);
  if (!script && script.error().code != Errc::absent) {
    survey.add("rdma.ofed", facts::Unknown::from(script.error()), seen(script_path));
    return;
  }
  if (script) {
    for (const std::string_view name : {"MLNX_OFED_LINUX-", "OFED-internal-", "doca-ofed-"}) {
      const std::size_t at = script->find(name);
      if (at == std::string::npos) {
        continue;
      }
      const std::string_view text = std::string_view(*script).substr(at);
      const std::string_view release = text.substr(0, text.find_first_of(" \t\r\n:\"'`)"));
      if (release.size() > name.size()) {
        survey.add("rdma.ofed", facts::Value::scalar(std::string(release)), seen(script_path));
        return;
      }
    }
  }
  const std::string module_path = "/sys/module/mlx5_core/version";
  const auto module = host.read_file(module_path, 256);
  if (module && trim(*module).find('-') != std::string_view::npos) {
    survey.add("rdma.ofed", facts::Value::scalar(std::string(trim(*module))),
               seen(module_path, "version of the loaded module"));
    return;
  }
  if (!module && module.error().code != Errc::absent) {
    survey.add("rdma.ofed", facts::Unknown::from(module.error()), seen(module_path));
    return;
  }
  survey.add("rdma.ofed", facts::Absent{"the kernel's own drivers"}, seen(script_path));
}

/// Whether a module is in memory; built-in code has a folder in /sys/module too and counts.
Result<bool> is_loaded(const host::Host& host, std::string_view module) {
  const auto status = host.status("/sys/module/" + std::string(module));
  if (!status && status.error().code != Errc::absent) {
    return status.error();
  }
  return status.has_value();
}

/// Whether the running kernel can export GPU memory as DMA-BUF: the open modules on Linux 5.12 and
/// later.
bool has_dma_buf(const host::Host& host, facts::Evidence& evidence) {
  const std::string path = "/proc/driver/nvidia/version";
  const auto text = host.read_file(path);
  const auto system = host.system_name();
  if (!text || !system) {
    return false;
  }
  const auto module = parse_nvidia_version(*text);
  const std::vector<std::string_view> parts = split(system->release, '.');
  const auto major = to_number(parts[0]);
  const auto minor = parts.size() > 1 ? to_number(parts[1]) : std::nullopt;
  if (!module || !module->open || !major || !minor ||
      std::pair(*major, *minor) < std::pair<std::uint64_t, std::uint64_t>(5, 12)) {
    return false;
  }
  evidence.basis = "derived";
  evidence.notes.push_back(path + ": open kernel modules; kernel " + system->release);
  return true;
}

/// What hooks adapters and GPU memory together. NCCL looks at the same files (transport/net_ib).
void add_peermem(Survey& survey) {
  const host::Host& host = survey.host();
  if (survey.wants("rdma.peermem")) {
    facts::Reading reading = facts::Value::scalar("none");
    facts::Evidence evidence = seen("/sys/module");
    bool is_decided = false;
    for (const std::string_view module : {"nvidia_peermem", "nv_peer_mem"}) {
      const Result<bool> loaded = is_loaded(host, module);
      if (!loaded) {
        reading = facts::Unknown::from(loaded.error());
        is_decided = true;
        break;
      }
      if (*loaded) {
        reading = facts::Value::scalar(std::string(module));
        evidence = seen("/sys/module/" + std::string(module));
        is_decided = true;
        break;
      }
    }
    if (!is_decided && has_dma_buf(host, evidence)) {
      reading = facts::Value::scalar("dma-buf");
    }
    survey.add("rdma.peermem", reading, evidence);
  }
  if (!survey.wants("rdma.peermem.registered")) {
    return;
  }
  // nv_mem_nc: the hook of modules that need no call back when memory goes away.
  for (const std::string_view name : {"nv_mem", "nv_mem_nc"}) {
    const std::string path = "/sys/kernel/mm/memory_peers/" + std::string(name) + "/version";
    const auto status = host.status(path);
    if (status) {
      survey.add("rdma.peermem.registered", facts::Value::boolean(true), seen(path));
      return;
    }
    if (status.error().code != Errc::absent) {
      survey.add("rdma.peermem.registered", facts::Unknown::from(status.error()), seen(path));
      return;
    }
  }
  survey.add("rdma.peermem.registered", facts::Value::boolean(false),
             seen("/sys/kernel/mm/memory_peers"));
}

void run(Survey& survey) {
  add_adapters(survey);
  add_peermem(survey);
  add_core(survey);
  add_ofed(survey);
}

constexpr std::string_view kKeys[] = {
    "rdma.board_id", "rdma.core",       "rdma.count",   "rdma.firmware",
    "rdma.guid",     "rdma.link_layer", "rdma.peermem", "rdma.peermem.registered",
    "rdma.ofed",     "rdma.rate",       "rdma.state",   "rdma.type"};

}  // namespace

extern const Probe rdma{.name = "rdma", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

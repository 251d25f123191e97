// How many of the GPUs on the bus a program can use: those that their driver holds, those whose
// device nodes are open to this process, and those that CUDA_VISIBLE_DEVICES leaves of them.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/gpu_list.h"
#include "probe/instances.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

/// Kernel drivers through which programs compute; nouveau and vfio-pci are not among them.
constexpr std::array<std::string_view, 4> kComputeDrivers = {"amdgpu", "i915", "nvidia", "xe"};

/// Whether its compute driver holds the GPU, or why that is not known.
Result<bool> is_bound(const host::Host& host, const Gpu& gpu) {
  if (gpu.folder.empty() || gpu.lines) {
    return true;  // its driver lists it
  }
  const Result<std::string> link = host.read_link(gpu.folder + "/driver");
  if (link) {
    return std::ranges::binary_search(kComputeDrivers,
                                      std::string_view(*link).substr(link->rfind('/') + 1));
  }
  if (link.error().code != Errc::absent) {
    return link.error();
  }
  // Where the driver's own list cannot be read, it may be there.
  return gpu.lines.error().code == Errc::absent ? Result<bool>(false) : gpu.lines.error();
}

/// Who this process is to the permissions of a file.
struct User {
  std::uint64_t uid = 0;
  std::set<std::uint64_t> groups;
};

/// Source: proc(5), /proc/pid/status: "Uid:" real, effective, ...; "Gid:" likewise; "Groups:".
Result<User> read_user(const host::Host& host) {
  constexpr std::string_view kStatus = "/proc/self/status";
  const Result<std::string> text = host.read_file(kStatus, 64u << 10);
  if (!text) {
    return text.error();
  }
  User user;
  bool has_user = false;
  for (const std::string_view line : lines(*text)) {
    const auto fields = words(line);
    if (fields.size() < 2) {
      continue;
    }
    if ((fields[0] == "Uid:" || fields[0] == "Gid:") && fields.size() > 2) {
      const auto number = to_number(fields[2]);
      if (!number) {
        continue;
      }
      if (fields[0] == "Uid:") {
        user.uid = *number;
        has_user = true;
      } else {
        user.groups.insert(*number);
      }
    } else if (fields[0] == "Groups:") {
      for (std::size_t i = 1; i < fields.size(); ++i) {
        if (const auto number = to_number(fields[i])) {
          user.groups.insert(*number);
        }
      }
    }
  }
  return has_user ? Result<User>(user)
                  : Error{Errc::unreadable, std::string(kStatus) + " names no user", {}};
}

/// Whether the node is there and its mode lets the user read and write. Opening it would tell more
/// (a cgroup may forbid it) and would wake the GPU.
Result<bool> is_open(const host::Host& host, const User& user, const std::string& path) {
  const Result<host::FileStatus> status = host.status(path);
  if (!status) {
    return status.error().code == Errc::absent ? Result<bool>(false) : status.error();
  }
  if (user.uid == 0) {
    return true;
  }
  std::uint32_t bits = status->mode & 7u;
  if (status->uid == user.uid) {
    bits = status->mode >> 6 & 7u;
  } else if (user.groups.contains(status->gid)) {
    bits = status->mode >> 3 & 7u;
  }
  return (bits & 6u) == 6u;
}

/// What becomes of each GPU of NVIDIA's, in PCI order.
struct Access {
  std::vector<const Gpu*> usable;
  std::vector<std::string> notes;  ///< why the others are not
  std::optional<Unknown> unknown;
};

std::string minor_of(const Gpu& gpu) {
  const Reading reading = gpu.information("Device Minor");
  const auto* value = std::get_if<Value>(&reading);
  return value != nullptr && to_number(value->text) ? value->text : "";
}

Access find_access(Survey& survey) {
  const host::Host& host = survey.host();
  Access access;
  const GpuList& list = gpu_list(survey);
  if (list.unknown) {
    access.unknown = list.unknown;
    return access;
  }
  if (list.gpus.empty()) {
    return access;
  }
  if (!host.live()) {
    access.unknown = Unknown{Why::not_live, "hangs on who asks", ""};
    return access;
  }
  const Result<User> user = read_user(host);
  if (!user) {
    access.unknown = Unknown::from(user.error());
    return access;
  }
  for (const std::string_view node : {"/dev/nvidiactl", "/dev/nvidia-uvm"}) {
    const Result<bool> open = is_open(host, *user, std::string(node));
    if (!open) {
      access.unknown = Unknown::from(open.error());
      return access;
    }
    if (!*open) {
      access.notes.push_back(std::string(node) + " is not there or not open to this user");
    }
  }
  const bool has_driver = access.notes.empty();
  for (const Gpu& gpu : list.gpus) {
    if (gpu.vendor != "nvidia") {
      access.unknown = Unknown{Why::unsupported, "only NVIDIA's device nodes are known", ""};
      return access;
    }
    const Result<bool> bound = is_bound(host, gpu);
    if (!bound) {
      access.unknown = Unknown::from(bound.error());
      return access;
    }
    if (!*bound) {
      access.notes.push_back(gpu.label + ": its driver does not hold it");
      continue;
    }
    if (gpu.information("GPU Excluded") == Reading(Value::scalar("Yes"))) {
      access.notes.push_back(gpu.label + ": the driver was told to leave it alone");
      continue;
    }
    const std::string minor = minor_of(gpu);
    if (minor.empty()) {
      access.unknown =
          Unknown{Why::not_stated, gpu.label + ": the driver does not name its device node", ""};
      return access;
    }
    const std::string node = "/dev/nvidia" + minor;
    const Result<bool> open = is_open(host, *user, node);
    if (!open) {
      access.unknown = Unknown::from(open.error());
      return access;
    }
    if (*open && has_driver) {
      access.usable.push_back(&gpu);
    } else if (!*open) {
      access.notes.push_back(gpu.label + ": " + node + " is not there or not open to this user");
    }
  }
  return access;
}

std::string text_of(const Gpu& gpu, std::string_view line) {
  const Reading reading = gpu.information(line);
  const auto* value = std::get_if<Value>(&reading);
  return value != nullptr ? value->text : "";
}

/// The GPUs that CUDA_VISIBLE_DEVICES names, or why that cannot be told. Source: CUDA programming
/// guide, "CUDA Environment Variables": indices or beginnings of UUIDs; the first that is none ends
/// the list.
Reading choose(const host::Host& host, const std::vector<const Gpu*>& usable,
               const std::string& wanted) {
  std::vector<std::string> chosen;
  for (std::string_view item : split(wanted, ',')) {
    item = trim(item);
    const Gpu* found = nullptr;
    if (const auto index = to_number(item)) {
      const Result<std::string> order = host.variable("CUDA_DEVICE_ORDER");
      const bool by_bus = order && *order == "PCI_BUS_ID";
      const bool are_equal = std::ranges::all_of(usable, [&](const Gpu* gpu) {
        return text_of(*gpu, "Model") == text_of(*usable.front(), "Model");
      });
      if (!by_bus && !are_equal) {
        return Unknown{Why::ambiguous, "CUDA numbers unequal GPUs by their speed", ""};
      }
      found = *index < usable.size() ? usable[*index] : nullptr;
    } else if (item.starts_with("MIG-")) {
      return Unknown{Why::unsupported, "it names a part of a GPU (MIG)", ""};
    } else if (item.starts_with("GPU-")) {
      for (const Gpu* gpu : usable) {
        const std::string uuid = text_of(*gpu, "GPU UUID");
        if (uuid.empty()) {
          return Unknown{Why::not_stated, gpu->label + ": the driver has not read its UUID yet",
                         ""};
        }
        if (uuid.starts_with(item)) {
          if (found != nullptr) {
            found = nullptr;
            break;
          }
          found = gpu;
        }
      }
    }
    if (found == nullptr) {
      break;
    }
    if (std::ranges::find(chosen, found->label) != chosen.end()) {
      chosen.clear();  // one named twice: CUDA then has none
      break;
    }
    chosen.push_back(found->label);
  }
  return Value::list(std::move(chosen));
}

void add_visible(Survey& survey, const Access& access) {
  if (!survey.wants("gpu.visible")) {
    return;
  }
  const host::Host& host = survey.host();
  facts::Evidence evidence = seen("/dev/nvidia*");
  evidence.notes = access.notes;
  if (access.unknown) {
    survey.add("gpu.visible", *access.unknown, std::move(evidence));
    return;
  }
  std::vector<std::string> all;
  for (const Gpu* gpu : access.usable) {
    all.push_back(gpu->label);
  }
  Reading reading = Value::list(std::move(all));
  const Result<std::string> wanted = host.variable("CUDA_VISIBLE_DEVICES");
  if (wanted) {
    evidence.notes.push_back("CUDA_VISIBLE_DEVICES=" + *wanted);
    reading = choose(host, access.usable, *wanted);
  } else if (wanted.error().code != Errc::absent) {
    reading = Unknown::from(wanted.error());
  }
  survey.add("gpu.visible", std::move(reading), std::move(evidence));
}

void add_bound(Survey& survey) {
  if (!survey.wants("gpu.count.bound")) {
    return;
  }
  const GpuList& list = gpu_list(survey);
  facts::Evidence evidence = seen("/sys/bus/pci/devices/*/driver");
  std::uint64_t count = 0;
  std::optional<Unknown> unknown = list.unknown;
  for (const Gpu& gpu : list.gpus) {
    const Result<bool> bound = is_bound(survey.host(), gpu);
    if (!bound) {
      unknown = Unknown::from(bound.error());
    } else if (*bound) {
      ++count;
    } else {
      evidence.notes.push_back(gpu.label + " is not held by its driver");
    }
  }
  survey.add("gpu.count.bound", unknown ? Reading(*unknown) : Reading(Value::number(count)),
             std::move(evidence));
}

void run(Survey& survey) {
  add_bound(survey);
  if (!survey.wants("gpu.count.usable") && !survey.wants("gpu.visible")) {
    return;
  }
  const Access access = find_access(survey);
  facts::Evidence evidence = seen("/dev/nvidia*");
  evidence.notes = access.notes;
  survey.add(
      "gpu.count.usable",
      access.unknown ? Reading(*access.unknown) : Reading(Value::number(access.usable.size())),
      std::move(evidence));
  add_visible(survey, access);
}

constexpr auto kKeys =
    std::to_array<std::string_view>({"gpu.count.bound", "gpu.count.usable", "gpu.visible"});

}  // namespace

extern const Probe gpu_access{.name = "gpu_access", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

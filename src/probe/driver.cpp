// The NVIDIA kernel module in memory: version, flavour, compiler, and the firmware it gave the
// GPUs.
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
#include "probe/module_files.h"
#include "probe/nvidia_proc.h"
#include "probe/platform.h"
#include "probe/presence.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kProcVersion = "/proc/driver/nvidia/version";
constexpr std::string_view kSysVersion = "/sys/module/nvidia/version";

/// The three facts that the module's own file states.
struct Driver {
  Reading version;
  Reading flavor;
  Reading compiler;
  Reading numbering;
  facts::Evidence evidence;
};

Driver same_for_all(const Reading& reading, facts::Evidence evidence) {
  return {reading, reading, reading, reading, std::move(evidence)};
}

/// Only L4T numbers stay below 100 on aarch64; x86 drivers did so before Arm ones existed.
Value numbering_of(const NvidiaModule& module, const Platform& platform) {
  const std::string_view major =
      std::string_view(module.version).substr(0, module.version.find('.'));
  const bool small = to_number(major).value_or(0) < 100;
  const bool tegra = small && (module.arch == "aarch64" || platform.kind == Platform::Kind::jetson);
  return Value::scalar(tegra ? "tegra" : "linux");
}

/// nvidia.ko is in memory, but its own file cannot be read: containers without NVIDIA's hook hide
/// it, others deny it.
Driver from_sys(const Reading& version, const Error& why) {
  const Unknown silent =
      why.code == Errc::absent
          ? Unknown{Why::not_stated,
                    std::string(kProcVersion) + " is not there, though the module is in memory", ""}
          : Unknown::from(why);
  return {version, silent, silent, silent, seen(kSysVersion)};
}

/// Whether nvidia.ko is in memory, by what tells of all modules. Errors: those of the look, where
/// nothing that could be looked at decides it.
Result<bool> is_in_memory(const host::Host& host) {
  Result<std::string> listed = host.read_file("/proc/modules");
  if (listed && !is_module_list(*listed)) {
    listed = Error{Errc::unreadable, "/proc/modules holds no list of modules", {}};
  }
  if (listed) {
    return parse_module_names(*listed).contains("nvidia");
  }
  const auto folder = host.status("/sys/module/nvidia");
  if (folder) {
    return true;  // it is never part of a kernel
  }
  if (folder.error().code != Errc::absent) {
    return folder.error();
  }
  GOLDENV_TRY(const bool has_folders, is_there(host, "/sys/module"));
  if (has_folders) {
    return false;
  }
  return listed.error().code == Errc::absent
             ? Error{Errc::unreadable, "neither /proc/modules nor /sys/module is there", {}}
             : listed.error();
}

Driver without_module(Survey& survey) {
  const Platform& platform = platform_of(survey);
  if (platform.kind == Platform::Kind::wsl2) {
    Driver driver = same_for_all(Absent{"WSL has no kernel module of NVIDIA"}, seen(kProcVersion));
    driver.version =
        Unknown{Why::not_probed, "the Windows driver; only NVML tells its version", "nvml"};
    driver.numbering = Value::scalar("windows");
    driver.evidence.notes = platform.signs;
    return driver;
  }
  if (platform.unseen) {
    return same_for_all(Unknown::from(*platform.unseen), seen(kProcVersion));
  }
  // What is listed decides whether nvgpu is there as well as its folder does.
  const auto listed = survey.host().read_file("/proc/modules");
  const auto nvgpu = is_there(survey.host(), "/sys/module/nvgpu");
  const bool is_listed = listed && parse_module_names(*listed).contains("nvgpu");
  if (!listed && !nvgpu && leaves_open(nvgpu.error())) {
    return same_for_all(Unknown::from(nvgpu.error()), seen("/sys/module/nvgpu"));
  }
  if (is_listed || nvgpu.value_or(false)) {
    return same_for_all(
        Unknown{Why::not_stated, "nvgpu, Jetson's older driver, states no version", ""},
        seen("/sys/module/nvgpu"));
  }
  return same_for_all(Absent{"not loaded"}, seen(kProcVersion));
}

Driver read_driver(Survey& survey) {
  const host::Host& host = survey.host();
  const Result<std::string> text = host.read_file(kProcVersion, 4096);
  Reading sys = one_line(host, kSysVersion);
  const auto* sys_version = std::get_if<Value>(&sys);
  if (!text) {
    if (sys_version != nullptr) {
      return from_sys(sys, text.error());
    }
    if (text.error().code != Errc::absent) {
      return same_for_all(Unknown::from(text.error()), seen(kProcVersion));
    }
    const Result<bool> in_memory = is_in_memory(host);
    if (in_memory && *in_memory) {
      const auto* unknown = std::get_if<Unknown>(&sys);
      return from_sys(unknown != nullptr ? *unknown
                                         : Unknown{Why::not_stated,
                                                   "the module is in memory, and neither " +
                                                       std::string(kProcVersion) + " nor " +
                                                       std::string(kSysVersion) + " is there",
                                                   ""},
                      text.error());
    }
    if (!in_memory && platform_of(survey).kind != Platform::Kind::wsl2) {
      return same_for_all(Unknown::from(in_memory.error()), seen("/proc/modules"));
    }
    return without_module(survey);
  }
  const Result<NvidiaModule> module = parse_nvidia_version(*text);
  if (!module) {
    return same_for_all(Unknown::from(module.error()), seen(kProcVersion));
  }
  Driver driver;
  driver.evidence = seen(kProcVersion, 1);
  driver.version = Value::scalar(module->version);
  driver.flavor = Value::scalar(module->open ? "open" : "proprietary");
  driver.numbering = numbering_of(*module, platform_of(survey));
  driver.compiler = module->compiler.empty()
                        ? Reading(Unknown{Why::not_stated, "its GCC line names no version", ""})
                        : Reading(Value::scalar(module->compiler));
  if (sys_version != nullptr && sys_version->text != module->version) {
    driver.version = Unknown{Why::ambiguous,
                             module->version + " in " + std::string(kProcVersion) + ", " +
                                 sys_version->text + " in " + std::string(kSysVersion),
                             ""};
  }
  return driver;
}

void add_driver(Survey& survey) {
  if (!survey.wants("driver") && !survey.wants("driver.flavor") &&
      !survey.wants("driver.compiler") && !survey.wants("driver.numbering")) {
    return;
  }
  const Driver driver = read_driver(survey);
  survey.add("driver", driver.version, driver.evidence);
  survey.add("driver.flavor", driver.flavor, driver.evidence);
  survey.add("driver.numbering", driver.numbering, driver.evidence);
  facts::Evidence compiler = driver.evidence;
  compiler.line = compiler.line == 1 ? 2 : 0;
  survey.add("driver.compiler", driver.compiler, std::move(compiler));
}

void add_gsp(Survey& survey) {
  if (!survey.wants("driver.gsp") && !survey.wants("driver.gsp.enabled")) {
    return;
  }
  const GpuList& gpus = gpu_list(survey);
  Instances firmware("/proc/driver/nvidia/gpus/*/information");
  Instances enabled("/proc/driver/nvidia/gpus/*/information");
  for (const Gpu& gpu : gpus.gpus) {
    if (gpu.vendor != "nvidia") {
      continue;
    }
    const Reading reading = gpu.information("GPU Firmware");
    const facts::Evidence evidence = gpu.information_evidence("GPU Firmware");
    const auto* value = std::get_if<Value>(&reading);
    if (value != nullptr && value->text == "N/A") {
      firmware.add(gpu.label, Absent{"GSP not used"}, evidence);
      enabled.add(gpu.label, Value::boolean(false), evidence);
    } else {
      firmware.add(gpu.label, reading, evidence);
      enabled.add(gpu.label, value != nullptr ? Reading(Value::boolean(true)) : reading, evidence);
    }
  }
  firmware.record(survey, "driver.gsp", gpus.none());
  enabled.record(survey, "driver.gsp.enabled", gpus.none());
}

/// Each folder of /lib/firmware/nvidia that holds gsp_*.bin is named for a driver version.
void add_gsp_on_disk(Survey& survey) {
  if (!survey.wants("driver.gsp.on_disk")) {
    return;
  }
  const host::Host& host = survey.host();
  const std::string root = "/lib/firmware/nvidia";
  const auto folders = host.list(root);
  if (!folders) {
    survey.add("driver.gsp.on_disk",
               folders.error().code == Errc::absent ? Reading(Value::set({}))
                                                    : Reading(Unknown::from(folders.error())),
               seen(root));
    return;
  }
  std::vector<std::string> versions;
  std::optional<Error> unseen;
  for (const host::DirEntry& folder : *folders) {
    // Other folders there (ga100, tu102) hold the firmware of nouveau.
    if (folder.kind == host::FileStatus::Kind::file || folder.name.find('.') == std::string::npos) {
      continue;
    }
    const auto files = host.list(root + "/" + folder.name);
    if (!files) {
      unseen = files.error();
      continue;
    }
    for (const host::DirEntry& file : *files) {
      if (file.name.starts_with("gsp") && file.name.find(".bin") != std::string::npos) {
        versions.push_back(folder.name);
        break;
      }
    }
  }
  survey.add("driver.gsp.on_disk",
             unseen ? Reading(Unknown::from(*unseen)) : Reading(Value::set(std::move(versions))),
             seen(root));
}

void run(Survey& survey) {
  add_driver(survey);
  add_gsp(survey);
  add_gsp_on_disk(survey);
}

constexpr auto kKeys = std::to_array<std::string_view>({
    "driver",
    "driver.flavor",
    "driver.compiler",
    "driver.numbering",
    "driver.gsp",
    "driver.gsp.enabled",
    "driver.gsp.on_disk",
});

}  // namespace

extern const Probe driver{.name = "driver", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

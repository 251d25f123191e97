#include "nvml/library.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "nvml/abi.h"

// A static program has no loader to load with, and would have to bring one: there these are null.
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlerror

namespace goldenv::nvml {
namespace {

constexpr unsigned kMostGpus = 64;
constexpr unsigned kMostLinks = 36;  // NVML_NVLINK_MAX_LINKS
constexpr unsigned kMostMigParts = 64;

class Session {
 public:
  Session(void* library, Report& report, const Progress& progress)
      : library_(library), report_(report), progress_(progress) {}

  bool begin(Depth depth);
  void ask_system();
  void ask_devices();

 private:
  template <typename Function>
  [[nodiscard]] Function* symbol(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }
  /// The result of a function of the library, or FUNCTION_NOT_FOUND where it has none.
  template <typename... Arguments>
  int call(const char* name, Arguments... arguments) const {
    auto* const function = symbol<int(Arguments...)>(name);
    return function == nullptr ? kFunctionNotFound : function(arguments...);
  }
  void step(std::string doing) {
    report_.doing = std::move(doing);
    progress_(report_);
  }
  void add(const std::string& where, std::string name, int code, std::string_view text) {
    report_.answers.push_back(
        {where, std::move(name), code, code == kSuccess ? clean(text) : std::string()});
  }
  void add_text(const std::string& where, const char* name, const char* function, Device device);
  void add_number(const std::string& where, const char* name, const char* function, Device device,
                  std::string (*form)(unsigned value));
  void ask_device(unsigned index);
  void ask_memory(const std::string& where, Device device);
  void ask_mig(const std::string& where, Device device);
  void ask_links(const std::string& where, Device device);
  void ask_pair(unsigned first, unsigned second);

  struct Links {
    std::map<std::string, unsigned> peers;  ///< bus address -> links to it
    unsigned switches = 0;                  ///< links to NVSwitches
  };
  struct Gpu {
    Device device = nullptr;  ///< null where it gives no handle
    std::string bus;
    Links links;
  };

  void* library_;
  Report& report_;
  const Progress& progress_;
  std::vector<Gpu> gpus_;
};

bool Session::begin(Depth depth) {
  // Without GPUs there is still a system to ask; a GPU that is not asked need not be attached.
  const unsigned flags = kInitNoGpus | (depth == Depth::system ? kInitNoAttach : 0u);
  step("nvmlInit");
  int code = call("nvmlInitWithFlags", flags);
  if (code == kFunctionNotFound) {
    code = call("nvmlInit_v2");
  }
  report_.code = code;
  if (code != kSuccess) {
    auto* const words = symbol<const char*(int)>("nvmlErrorString");
    const char* text = words == nullptr ? nullptr : words(code);
    report_.problem = clean(text == nullptr ? "" : std::string_view(text, strnlen(text, 200)));
  }
  return code == kSuccess;
}

void Session::ask_system() {
  step("the system");
  std::array<char, 81> text{};
  for (const auto& [name, function] : {std::pair{"driver", "nvmlSystemGetDriverVersion"},
                                       std::pair{"nvml", "nvmlSystemGetNVMLVersion"}}) {
    text.fill('\0');
    const int code = call(function, text.data(), 80u);
    add("", name, code, text.data());
  }
  int number = 0;
  int code = call("nvmlSystemGetCudaDriverVersion_v2", &number);
  if (code == kFunctionNotFound) {
    code = call("nvmlSystemGetCudaDriverVersion", &number);
  }
  add("", "cuda", code, std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10));
  ConfComputeState state{};
  code = call("nvmlSystemGetConfComputeState", &state);
  add("", "confidential", code, state.cc_feature == 1 ? "true" : "false");
}

void Session::add_text(const std::string& where, const char* name, const char* function,
                       Device device) {
  std::array<char, 257> text{};
  const int code = call(function, device, text.data(), 96u);
  add(where, name, code, text.data());
}

void Session::add_number(const std::string& where, const char* name, const char* function,
                         Device device, std::string (*form)(unsigned value)) {
  unsigned value = 0;
  const int code = call(function, device, &value);
  add(where, name, code, form(value));
}

std::string on_off(unsigned value) { return value == 1 ? "true" : "false"; }
std::string enabled(unsigned value) { return value == 1 ? "enabled" : "disabled"; }
std::string watts(unsigned milliwatts) { return std::to_string((milliwatts + 500) / 1000); }

std::string compute_mode(unsigned value) {
  constexpr std::array<std::string_view, 4> kNames = {"default", "exclusive thread", "prohibited",
                                                      "exclusive process"};
  return value < kNames.size() ? std::string(kNames[value]) : std::to_string(value);
}

std::string architecture(unsigned value) {
  switch (value) {
    case 2:
      return "Kepler";
    case 3:
      return "Maxwell";
    case 4:
      return "Pascal";
    case 5:
      return "Volta";
    case 6:
      return "Turing";
    case 7:
      return "Ampere";
    case 8:
      return "Ada";
    case 9:
      return "Hopper";
    case 10:
      return "Blackwell";
    case 13:
      return "Rubin";
    default:
      return "";
  }
}

/// "0000:62:00.0", as sysfs writes it. Both forms of the struct begin alike.
std::string bus_of(const PciInfo& pci) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto hex = [&](unsigned value, int width) {
    std::string out;
    for (int shift = 28; shift >= 0; shift -= 4) {
      const unsigned digit = value >> shift & 0xfu;
      if (digit != 0 || !out.empty() || shift < 4 * width) {
        out += kDigits[digit];
      }
    }
    return out;
  };
  return hex(pci.domain, 4) + ":" + hex(pci.bus, 2) + ":" + hex(pci.device, 2) + ".0";
}

void Session::ask_memory(const std::string& where, Device device) {
  Memory memory{};
  int code = call("nvmlDeviceGetMemoryInfo", device, &memory);
  add(where, "memory", code, std::to_string(memory.total));

  int current = 0;
  int pending = 0;
  code = call("nvmlDeviceGetEccMode", device, &current, &pending);
  add(where, "ecc", code, current == 1 ? "true" : "false");
  constexpr int kUncorrected = 1;
  constexpr int kSinceLoad = 0;
  unsigned long long errors = 0;
  code = call("nvmlDeviceGetTotalEccErrors", device, kUncorrected, kSinceLoad, &errors);
  add(where, "ecc.uncorrected", code, std::to_string(errors));
  unsigned correctable = 0;
  unsigned uncorrectable = 0;
  unsigned is_pending = 0;
  unsigned has_failed = 0;
  code = call("nvmlDeviceGetRemappedRows", device, &correctable, &uncorrectable, &is_pending,
              &has_failed);
  add(where, "remapped_rows", code,
      std::to_string(std::uint64_t{correctable} + std::uint64_t{uncorrectable}));
}

void Session::ask_mig(const std::string& where, Device device) {
  unsigned current = 0;
  unsigned pending = 0;
  int code = call("nvmlDeviceGetMigMode", device, &current, &pending);
  add(where, "mig", code, enabled(current));
  if (code != kSuccess) {
    add(where, "mig.instances", code, "");
    return;
  }
  std::map<std::string, unsigned> profiles;
  unsigned most = 0;
  if (current == 1) {
    code = call("nvmlDeviceGetMaxMigDeviceCount", device, &most);
  }
  for (unsigned i = 0; code == kSuccess && i < std::min(most, kMostMigParts); ++i) {
    Device part = nullptr;
    if (call("nvmlDeviceGetMigDeviceHandleByIndex", device, i, &part) != kSuccess) {
      continue;  // numbers need not be in use
    }
    std::array<char, 257> name{};
    code = call("nvmlDeviceGetName", part, name.data(), 96u);
    // "NVIDIA A100-SXM4-40GB MIG 1g.5gb"
    const std::string whole = clean(name.data());
    const std::size_t at = whole.rfind("MIG ");
    ++profiles[at == std::string::npos ? whole : whole.substr(at + 4)];
  }
  std::string text;
  for (const auto& [profile, count] : profiles) {
    text += (text.empty() ? "" : ",") + profile + "=" + std::to_string(count);
  }
  add(where, "mig.instances", code, text);
}

void Session::ask_links(const std::string& where, Device device) {
  constexpr int kToSwitch = 2;
  constexpr int kInvalidArgument = 2;
  Links& links = gpus_.back().links;
  unsigned active = 0;
  int code = kSuccess;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    int is_active = 0;
    const int answer = call("nvmlDeviceGetNvLinkState", device, link, &is_active);
    if (answer != kSuccess) {
      // The first says whether there are any, a later one where they end.
      const bool is_end = link > 0 && (answer == kInvalidArgument || answer == kNotSupported);
      code = is_end ? kSuccess : link == 0 && answer == kInvalidArgument ? kNotSupported : answer;
      break;
    }
    if (is_active != 1) {
      continue;
    }
    ++active;
    int type = 0xff;
    if (call("nvmlDeviceGetNvLinkRemoteDeviceType", device, link, &type) == kSuccess &&
        type == kToSwitch) {
      ++links.switches;
      continue;
    }
    PciInfo pci{};
    if (call("nvmlDeviceGetNvLinkRemotePciInfo_v2", device, link, &pci) == kSuccess) {
      ++links.peers[bus_of(pci)];
    }
  }
  add(where, "nvlink.active", code, std::to_string(active));
}

void Session::ask_device(unsigned index) {
  const std::string where = std::to_string(index);
  step("GPU " + where);
  Gpu& gpu = gpus_.emplace_back();
  const int code = call("nvmlDeviceGetHandleByIndex_v2", index, &gpu.device);
  add(where, "handle", code, "");
  if (code != kSuccess || gpu.device == nullptr) {
    gpu.device = nullptr;
    return;
  }
  void* const device = gpu.device;
  PciInfo pci{};
  int answer = call("nvmlDeviceGetPciInfo_v3", device, &pci);
  if (answer == kFunctionNotFound) {
    answer = call("nvmlDeviceGetPciInfo_v2", device, &pci);
  }
  gpu.bus = bus_of(pci);
  add(where, "bus", answer, gpu.bus);
  add_text(where, "name", "nvmlDeviceGetName", device);
  add_text(where, "uuid", "nvmlDeviceGetUUID", device);
  add_text(where, "serial", "nvmlDeviceGetSerial", device);
  add_text(where, "vbios", "nvmlDeviceGetVbiosVersion", device);
  add_text(where, "inforom", "nvmlDeviceGetInforomImageVersion", device);
  add_text(where, "part_number", "nvmlDeviceGetBoardPartNumber", device);
  add_number(where, "arch", "nvmlDeviceGetArchitecture", device, architecture);
  int major = 0;
  int minor = 0;
  answer = call("nvmlDeviceGetCudaComputeCapability", device, &major, &minor);
  add(where, "compute_capability", answer, std::to_string(major) + "." + std::to_string(minor));
  ask_memory(where, device);
  add_number(where, "persistence", "nvmlDeviceGetPersistenceMode", device, on_off);
  add_number(where, "compute_mode", "nvmlDeviceGetComputeMode", device, compute_mode);
  add_number(where, "power_limit", "nvmlDeviceGetEnforcedPowerLimit", device, watts);
  ask_mig(where, device);
  constexpr int kGraphics = 0;
  constexpr int kMemory = 2;
  unsigned graphics = 0;
  unsigned memory = 0;
  answer = call("nvmlDeviceGetApplicationsClock", device, kMemory, &memory);
  if (answer == kSuccess) {
    answer = call("nvmlDeviceGetApplicationsClock", device, kGraphics, &graphics);
  }
  add(where, "clocks.application", answer, std::to_string(memory) + "/" + std::to_string(graphics));
  AddressingMode mode{};
  mode.version = struct_version(sizeof mode, 1);
  answer = call("nvmlDeviceGetAddressingMode", device, &mode);
  add(where, "addressing_mode", answer, mode.value == 1 ? "hmm" : mode.value == 2 ? "ats" : "none");
  FabricInfo fabric{};
  answer = call("nvmlDeviceGetGpuFabricInfo", device, &fabric);
  constexpr std::array<std::string_view, 4> kStates = {"not supported", "not started",
                                                       "in progress", "completed"};
  add(where, "fabric.state", answer,
      fabric.state < kStates.size() ? std::string(kStates[fabric.state])
                                    : std::to_string(fabric.state));
  unsigned degrees = 0;
  answer = call("nvmlDeviceGetTemperature", device, 0, &degrees);
  add(where, "temperature", answer, std::to_string(degrees));
  ask_links(where, device);
}

/// The way between two GPUs in the words of nvidia-smi topo -m.
void Session::ask_pair(unsigned first, unsigned second) {
  const Gpu& a = gpus_[first];
  const Gpu& b = gpus_[second];
  if (a.device == nullptr || b.device == nullptr) {
    return;
  }
  const std::string where = std::to_string(first) + "-" + std::to_string(second);
  const auto direct = a.links.peers.find(b.bus);
  const unsigned links =
      direct != a.links.peers.end() ? direct->second : std::min(a.links.switches, b.links.switches);
  int level = 0;
  int code = kSuccess;
  std::string text;
  if (links > 0) {
    text = "NV" + std::to_string(links);
  } else {
    code = call("nvmlDeviceGetTopologyCommonAncestor", a.device, b.device, &level);
    constexpr std::array<std::string_view, 6> kLevels = {"INT", "PIX", "PXB", "PHB", "NODE", "SYS"};
    const std::size_t step = level >= 0 ? static_cast<std::size_t>(level) / 10 : kLevels.size();
    text = step < kLevels.size() ? std::string(kLevels[step]) : std::to_string(level);
  }
  add(where, "topology", code, text);
  int status = 0;
  constexpr int kRead = 0;
  code = call("nvmlDeviceGetP2PStatus", a.device, b.device, kRead, &status);
  constexpr int kDisabledByRegkey = 4;
  constexpr int kStatusUnknown = 6;
  if (code == kSuccess && status == kStatusUnknown) {
    code = kUnknown;
  }
  add(where, "p2p", code,
      status == 0                   ? "ok"
      : status == kDisabledByRegkey ? "disabled"
                                    : "not supported");
}

void Session::ask_devices() {
  step("the number of GPUs");
  unsigned count = 0;
  const int code = call("nvmlDeviceGetCount_v2", &count);
  add("", "count", code, std::to_string(count));
  if (code != kSuccess) {
    return;
  }
  count = std::min(count, kMostGpus);
  gpus_.reserve(count);
  for (unsigned i = 0; i < count; ++i) {
    ask_device(i);
  }
  step("pairs of GPUs");
  for (unsigned first = 0; first < count; ++first) {
    for (unsigned second = first + 1; second < count; ++second) {
      ask_pair(first, second);
    }
  }
}

}  // namespace

Report ask_library(const std::string& path, Depth depth, const Progress& progress) {
  Report report;
  report.doing = "loading the library";
  progress(report);
  const bool has_loader = getauxval(AT_BASE) != 0 && dlopen != nullptr && dlsym != nullptr;
  void* const library = has_loader ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr) {
    const char* why = has_loader && dlerror != nullptr ? dlerror() : nullptr;
    report.code = kLibraryNotFound;
    report.problem = clean(!has_loader      ? "this goldenv is static and loads no library"
                           : why != nullptr ? why
                                            : "cannot be loaded");
    report.doing.clear();
    return report;
  }
  Session session(library, report, progress);
  if (session.begin(depth)) {
    session.ask_system();
    if (depth == Depth::devices) {
      session.ask_devices();
    }
  }
  report.doing.clear();
  return report;  // the process ends with it: there is nothing to shut down
}

}  // namespace goldenv::nvml

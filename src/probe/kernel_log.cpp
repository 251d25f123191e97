#include "probe/kernel_log.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"

namespace goldenv::probe {
namespace {

constexpr std::size_t kLinesKept = 6;
constexpr std::size_t kLineBytes = 240;
constexpr std::size_t kNamesKept = 200;  // of one kind: a log that lists more is no evidence

std::string clean(std::string_view text) {
  std::string out = to_utf8(text.substr(0, kLineBytes));
  std::ranges::replace_if(
      out, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; }, '?');
  return out;
}

/// The digits and dots with which a text begins, without a dot that ends a sentence.
std::string_view leading_version(std::string_view text) {
  std::string_view version =
      text.substr(0, std::min(text.find_first_not_of("0123456789."), text.size()));
  while (version.ends_with('.')) {
    version.remove_suffix(1);
  }
  return version.size() <= 32 ? version : std::string_view();
}

/// "nvidia_uvm" of "nvidia_uvm: version magic ...": a module's name before a colon.
std::string_view leading_module(std::string_view text) {
  constexpr std::string_view kPrefix = "module: ";
  if (text.starts_with(kPrefix)) {
    text.remove_prefix(kPrefix.size());
  }
  const std::string_view name = text.substr(0, std::min(text.find(": "), text.size()));
  const bool is_name =
      !name.empty() && name.size() < 64 && name.size() < text.size() &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
          std::string_view::npos;
  return is_name ? name : std::string_view();
}

/// The text between a start that occurs in it and the next end.
std::string_view between(std::string_view text, std::string_view start, std::string_view end) {
  const std::size_t at = text.find(start);
  if (at == std::string_view::npos) {
    return {};
  }
  text.remove_prefix(at + start.size());
  const std::size_t stop = text.find(end);
  return stop == std::string_view::npos ? std::string_view() : text.substr(0, stop);
}

/// What the kernel said on a line: behind priority, time and a log daemon's host name. None where a
/// user program said it.
std::optional<std::string_view> message_of(std::string_view line) {
  constexpr std::string_view kDaemon = " kernel: ";
  if (line.starts_with('<')) {
    const std::size_t close = line.find('>');
    const auto priority =
        close == std::string_view::npos ? std::nullopt : to_number(line.substr(1, close - 1));
    constexpr std::uint64_t kUserFacility = 8;
    if (!priority || *priority >= kUserFacility) {
      return std::nullopt;
    }
    line.remove_prefix(close + 1);
  } else if (!line.starts_with('[')) {
    const std::size_t daemon = line.substr(0, 160).find(kDaemon);
    if (daemon != std::string_view::npos) {
      line.remove_prefix(daemon + kDaemon.size());
    }
  }
  if (line.starts_with('[')) {
    line.remove_prefix(std::min(line.find(']'), line.size() - 1) + 1);
  }
  return trim(line);
}

struct Fault {
  std::string_view text;
  std::string_view name;
};

/// Faults behind "NVRM: ", by what their lines hold.
constexpr auto kFaults = std::to_array<Fault>({
    {"RmInitAdapter failed", "adapter initialisation failed"},
    {"No firmware image found", "no GSP firmware"},
    {"GSP Timeout", "GSP timeout"},
    {"waiting for RPC response from GPU", "GSP timeout"},
    {"GPU has fallen off the bus", "fallen off the bus"},
    {"No NVIDIA GPU found", "no GPU found"},
    {"probe routine was not called for", "another driver holds a GPU"},
    {"is not supported by open nvidia.ko", "GPU unsupported by the open modules"},
    {"requires use of the NVIDIA open kernel modules", "GPU needs the open modules"},
    {"PCI I/O region assigned to your NVIDIA device is invalid", "no room for a GPU's windows"},
    {"Failed to allocate NVKMS", "modeset out of memory"},
});

class Reader {
 public:
  explicit Reader(KernelLog& log) : log_(log) {}

  void take(std::string_view message) {
    if (message.starts_with("Linux version ")) {
      log_ = {};
      log_.sees_boot = true;
      client_.clear();
    } else if (message.starts_with("NVRM: ")) {
      take_nvrm(message);
    } else {
      take_other(message);
    }
  }

 private:
  void keep(const std::string& key, std::string_view message) {
    std::vector<std::string>& lines = log_.lines[key];
    if (lines.size() < kLinesKept) {
      lines.push_back(clean(message));
    }
  }
  static void add(std::set<std::string>& names, std::string_view name) {
    if (!name.empty() && names.size() < kNamesKept) {
      names.insert(clean(name));
    }
  }

  void take_nvrm(std::string_view message) {
    constexpr std::string_view kXid = "NVRM: Xid (";
    if (message.starts_with(kXid)) {
      const std::size_t close = message.find("): ");
      if (close != std::string_view::npos) {
        const std::string_view code = message.substr(close + 3);
        const std::string_view digits =
            code.substr(0, std::min(code.find_first_not_of("0123456789"), code.size()));
        const auto number = to_number(digits);
        if (number && *number < 10'000) {
          ++log_.xids[std::to_string(*number)];
          keep("log.xid", message);
        }
      }
    }
    constexpr std::string_view kClient = "the client has the version ";
    constexpr std::string_view kModule = "kernel module has the version ";
    if (const std::size_t at = message.find(kClient); at != std::string_view::npos) {
      client_ = leading_version(message.substr(at + kClient.size()));
      keep("log.api_mismatch", message);
    }
    if (const std::size_t at = message.find(kModule);
        at != std::string_view::npos && !client_.empty()) {
      const std::string_view module = leading_version(message.substr(at + kModule.size()));
      if (!module.empty()) {
        add(log_.mismatches, client_ + " against " + std::string(module));
        keep("log.api_mismatch", message);
      }
      client_.clear();
    }
    for (const Fault& fault : kFaults) {
      if (message.find(fault.text) != std::string_view::npos) {
        add(log_.faults, fault.name);
        keep("log.nvrm", message);
      }
    }
  }

  void reject(std::string_view module, std::string_view reason, std::string_view message) {
    const std::string name = module.empty() ? "(unnamed)" : std::string(module);
    if (log_.rejected.size() < kNamesKept || log_.rejected.contains(name)) {
      log_.rejected[name].emplace(reason);
      keep("log.module_rejected", message);
    }
  }

  void take_module(std::string_view message) {
    const std::string_view module = leading_module(message);
    if (!module.empty()) {
      if (message.find(": version magic '") != std::string_view::npos &&
          message.find("' should be '") != std::string_view::npos) {
        reject(module, "vermagic", message);
      } else if (message.find(": Unknown symbol ") != std::string_view::npos) {
        reject(module, "unknown symbol", message);
      } else if (message.find(": disagrees about version of symbol ") != std::string_view::npos) {
        reject(module, "symbol version", message);
      } else if (message.find(": exports duplicate symbol ") != std::string_view::npos) {
        reject(module, "duplicate symbol", message);
      } else if (message.ends_with(" is rejected") &&
                 message.find("module") != std::string_view::npos) {
        reject(module, "signature", message);
      } else if (module == "Lockdown" &&
                 message.find("unsigned module loading is restricted") != std::string_view::npos) {
        reject("", "signature", message);
      }
    } else if (message.starts_with("Loading of ") && message.ends_with(" is rejected")) {
      reject("", "signature", message);
    }
  }

  void take_other(std::string_view message) {
    if (message.find("BUG: soft lockup - CPU#") != std::string_view::npos ||
        message.find("etected hard LOCKUP on cpu ") != std::string_view::npos) {
      ++log_.lockups;
      keep("log.lockup", message);
    } else if (message.find("PCIe Bus Error: severity=") != std::string_view::npos) {
      ++log_.bus_errors;
      keep("log.pcie_errors", message);
    } else if (message.find("Marking clocksource '") != std::string_view::npos) {
      add(log_.unstable_clocks, between(message, "Marking clocksource '", "' as unstable"));
      keep("clocksource.unstable", message);
    } else if (message.starts_with("tsc: Marking TSC unstable")) {
      add(log_.unstable_clocks, "tsc");
      keep("clocksource.unstable", message);
    } else if (message.starts_with("nvidia")) {
      const std::string_view file = between(message, "Direct firmware load for ", " failed");
      if (!file.empty()) {
        add(log_.missing_firmware, file);
        keep("driver.gsp.missing", message);
      } else if (message.find("Version mismatch: nvidia.ko(") != std::string_view::npos) {
        add(log_.faults, "modules of two versions");
        keep("log.nvrm", message);
      } else {
        take_module(message);
      }
    } else {
      take_module(message);
    }
  }

  KernelLog& log_;
  std::string client_;  ///< of an API mismatch whose second line is still to come
};

constexpr std::string_view kHead = "kernel log 1";

}  // namespace

KernelLog parse_kernel_log(std::string_view text) {
  KernelLog log;
  Reader reader(log);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::optional<std::string_view> message = message_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!message) {
      continue;
    }
    // rsyslog writes a line end inside a message so.
    constexpr std::string_view kLineEnd = "#012";
    while (true) {
      const std::size_t at = std::min(message->find(kLineEnd), message->size());
      reader.take(trim(message->substr(0, at)));
      if (at == message->size()) {
        break;
      }
      message->remove_prefix(at + kLineEnd.size());
    }
  }
  return log;
}

std::string encode(const KernelLog& log) {
  std::string out(kHead);
  out += '\n';
  const auto line = [&out](std::string_view kind, std::string_view name, std::string_view value) {
    out += kind;
    out += '\t';
    out += name;
    out += '\t';
    out += value;
    out += '\n';
  };
  line("boot", log.sees_boot ? "yes" : "no", "");
  line("lockups", std::to_string(log.lockups), "");
  line("bus", std::to_string(log.bus_errors), "");
  for (const auto& [code, count] : log.xids) {
    line("xid", code, std::to_string(count));
  }
  for (const auto& [kind, names] :
       {std::pair{"mismatch", &log.mismatches}, std::pair{"fault", &log.faults},
        std::pair{"firmware", &log.missing_firmware}, std::pair{"clock", &log.unstable_clocks}}) {
    for (const std::string& name : *names) {
      line(kind, name, "");
    }
  }
  for (const auto& [module, reasons] : log.rejected) {
    for (const std::string& reason : reasons) {
      line("rejected", module, reason);
    }
  }
  for (const auto& [key, texts] : log.lines) {
    for (const std::string& text : texts) {
      line("line", key, text);
    }
  }
  return out;
}

Result<KernelLog> decode_kernel_log(const std::string& text) {
  const Error torn{Errc::unreadable, "no distilled log of the kernel's", {}};
  KernelLog log;
  const auto rows = lines(text);
  if (rows.empty() || rows.front() != kHead) {
    return torn;
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto fields = split(rows[i], '\t');
    if (fields.size() != 3) {
      return torn;
    }
    const std::string name(fields[1]);
    if (fields[0] == "boot") {
      log.sees_boot = name == "yes";
    } else if (fields[0] == "lockups") {
      log.lockups = to_number(name).value_or(0);
    } else if (fields[0] == "bus") {
      log.bus_errors = to_number(name).value_or(0);
    } else if (fields[0] == "xid") {
      log.xids[name] = to_number(fields[2]).value_or(0);
    } else if (fields[0] == "mismatch") {
      log.mismatches.insert(name);
    } else if (fields[0] == "fault") {
      log.faults.insert(name);
    } else if (fields[0] == "firmware") {
      log.missing_firmware.insert(name);
    } else if (fields[0] == "clock") {
      log.unstable_clocks.insert(name);
    } else if (fields[0] == "rejected") {
      log.rejected[name].emplace(fields[2]);
    } else if (fields[0] == "line") {
      log.lines[name].emplace_back(fields[2]);
    }
  }
  return log;
}

}  // namespace goldenv::probe

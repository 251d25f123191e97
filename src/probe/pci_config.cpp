#include "probe/pci_config.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

constexpr std::uint32_t kHeaderBytes = 0x40;
constexpr std::uint32_t kExtendedStart = 0x100;
constexpr std::uint32_t kSpaceBytes = 0x1000;

/// The PCI Express capability; offsets of its registers are from its start.
void read_express(const PciRead& read, std::uint32_t at, PciConfig& config) {
  const auto head = read(at);
  const auto control = read(at + 0x08);
  if (!head || !control) {
    return;
  }
  const std::uint32_t flags = *head >> 16;
  config.is_express = true;
  config.port_type = (flags >> 4) & 0xfu;
  config.has_slot = (flags & 0x100u) != 0;
  config.device_control = *control & 0xffffu;
  constexpr std::uint32_t kOnChip = 9;  // these have no link; event collectors are 10
  if (config.port_type < kOnChip) {
    if (const auto link = read(at + 0x10)) {
      config.link_control = *link & 0xffffu;
    }
  }
  if (config.has_slot) {
    config.slot_capabilities = read(at + 0x14);
  }
}

void read_capabilities(const PciRead& read, PciConfig& config) {
  constexpr std::uint32_t kHasList = 0x10;  // of the status register
  constexpr std::uint32_t kExpress = 0x10;
  const auto status = read(0x04);
  const auto first = read(0x34);
  if (!status || !first || ((*status >> 16) & kHasList) == 0) {
    return;
  }
  std::uint32_t at = *first & 0xfcu;
  for (int hops = 0; hops < 48 && at >= kHeaderBytes; ++hops) {
    const auto head = read(at);
    if (!head || *head == 0xffffffffu) {
      return;
    }
    if ((*head & 0xffu) == kExpress) {
      read_express(read, at, config);
      return;
    }
    at = (*head >> 8) & 0xfcu;
  }
}

void read_extended(const PciRead& read, PciConfig& config) {
  constexpr std::uint32_t kAccessControl = 0x000d;
  std::uint32_t at = kExtendedStart;
  for (int hops = 0; hops < 480 && at >= kExtendedStart && at < kSpaceBytes; ++hops) {
    const auto head = read(at);
    if (!head || *head == 0xffffffffu) {
      return;
    }
    config.has_extended = true;
    if ((*head & 0xffffu) == kAccessControl) {
      if (const auto both = read(at + 0x04)) {
        config.acs_control = *both >> 16;
      }
      return;
    }
    at = (*head >> 20) & 0xffcu;
  }
}

std::string word(std::string_view name, std::uint32_t value) {
  std::array<char, 8> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return std::string(name) + "=" + std::string(digits.data(), end) + " ";
}

/// One line, so that a record of a machine can keep it: "express=1 port=4 device=2810 ...".
std::string encode(const PciConfig& config) {
  std::string text;
  text += config.is_cut ? "cut=1 " : "";
  text += config.is_express ? word("port", config.port_type) : "";
  text += config.has_slot ? "slot=1 " : "";
  text += config.device_control ? word("device", *config.device_control) : "";
  text += config.link_control ? word("link", *config.link_control) : "";
  text += config.slot_capabilities ? word("slotcap", *config.slot_capabilities) : "";
  text += config.has_extended ? "extended=1 " : "";
  text += config.acs_control ? word("acs", *config.acs_control) : "";
  return text + "pci";
}

std::optional<PciConfig> decode(const std::string& text) {
  PciConfig config;
  bool is_whole = false;
  for (const std::string_view part : words(text)) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      is_whole = part == "pci";
      continue;
    }
    const std::string_view name = part.substr(0, equals);
    const std::string_view digits = part.substr(equals + 1);
    std::uint32_t value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      return std::nullopt;
    }
    if (name == "cut") {
      config.is_cut = true;
    } else if (name == "port") {
      config.is_express = true;
      config.port_type = value;
    } else if (name == "slot") {
      config.has_slot = true;
    } else if (name == "device") {
      config.device_control = value;
    } else if (name == "link") {
      config.link_control = value;
    } else if (name == "slotcap") {
      config.slot_capabilities = value;
    } else if (name == "extended") {
      config.has_extended = true;
    } else if (name == "acs") {
      config.acs_control = value;
    }
  }
  return is_whole ? std::optional(config) : std::nullopt;
}

}  // namespace

Result<PciConfig> parse_pci_config(const PciRead& read) {
  const auto ids = read(0);
  if (!ids || !read(kHeaderBytes - 4)) {
    return Error{Errc::unreadable, "no PCI header", {}};
  }
  if (*ids == 0xffffffffu) {
    return Error{Errc::unreadable, "all bits are set: the device does not answer", {}};
  }
  PciConfig config;
  config.is_cut = !read(kHeaderBytes);
  if (config.is_cut) {
    return config;
  }
  read_capabilities(read, config);
  read_extended(read, config);
  return config;
}

Result<PciConfig> read_pci_config(const host::Host& host, const std::string& folder) {
  const std::string path = folder + "/config";
  // Since Linux 5.11; before it no GPU of a server slept so.
  const facts::Reading state = one_line(host, folder + "/power_state");
  if (const auto* value = std::get_if<facts::Value>(&state); value && value->text == "D3cold") {
    return Error{
        Errc::not_live, path + ": the device is switched off (D3cold), reading wakes it", {}};
  }
  const auto look = [&path](int fd) -> Result<std::string> {
    const PciRead read = [fd](std::uint32_t offset) -> std::optional<std::uint32_t> {
      std::array<unsigned char, 4> bytes{};
      if (pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)) != 4) {
        return std::nullopt;
      }
      return bytes[0] | static_cast<std::uint32_t>(bytes[1]) << 8 |
             static_cast<std::uint32_t>(bytes[2]) << 16 |
             static_cast<std::uint32_t>(bytes[3]) << 24;
    };
    const Result<PciConfig> config = parse_pci_config(read);
    if (!config) {
      return Error{config.error().code, path + ": " + config.error().message, {}};
    }
    return encode(*config);
  };
  const Result<std::string> answer = host.ask(path, "pci 1", look);
  if (!answer) {
    return answer.error();
  }
  const auto config = decode(*answer);
  return config ? Result<PciConfig>(*config)
                : Error{Errc::unreadable, path + ": no answer in goldenv's form", {}};
}

std::string slot_power(std::uint32_t slot_capabilities) {
  const std::uint32_t value = (slot_capabilities >> 7) & 0xffu;
  const std::uint32_t scale = (slot_capabilities >> 15) & 0x3u;
  if (value == 0) {
    return "";
  }
  if (scale == 0) {
    constexpr std::uint32_t kSteps = 0xf0;  // of 25 W from 250 W on
    return std::to_string(value >= kSteps ? 250 + 25 * (value - kSteps) : value);
  }
  std::string digits = std::to_string(value);
  digits.insert(0, digits.size() <= scale ? scale + 1 - digits.size() : 0, '0');
  digits.insert(digits.size() - scale, ".");
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) {
    digits.pop_back();
  }
  return digits;
}

}  // namespace goldenv::probe

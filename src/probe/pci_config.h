#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::probe {

/// What a PCI device's configuration space says of its link and of peer traffic.
struct PciConfig {
  /// Only the header of 64 bytes is shown: all that a user without CAP_SYS_ADMIN gets.
  bool is_cut = false;
  bool is_express = false;
  std::uint32_t port_type = 0;  ///< 0 endpoint, 4 root port, 5 and 6 of a switch, 9 on chip
  bool has_slot = false;
  std::optional<std::uint32_t> device_control;  ///< 16 bits
  std::optional<std::uint32_t> link_control;    ///< 16 bits; none on devices without a link
  std::optional<std::uint32_t> slot_capabilities;
  bool has_extended = false;                 ///< the space from 0x100 on could be read
  std::optional<std::uint32_t> acs_control;  ///< 16 bits; none where there is no such capability

  friend bool operator==(const PciConfig&, const PciConfig&) = default;
};

/// Four bytes of configuration space, little-endian, or none behind its end.
using PciRead = std::function<std::optional<std::uint32_t>(std::uint32_t offset)>;

/// Walks the lists of capabilities, of which a sick device makes loops. Source: the layout and the
/// names of include/uapi/linux/pci_regs.h. Errors: unreadable (all bits set: the device does not
/// answer).
Result<PciConfig> parse_pci_config(const PciRead& read);

/// Of the device at a folder of /sys/bus/pci/devices; registers are read one by one, since each
/// costs a transaction on the bus. Errors: those of the host, and of parse_pci_config; not_live
/// where the device sleeps so deep that reading would wake it.
Result<PciConfig> read_pci_config(const host::Host& host, const std::string& folder);

/// Watts that a slot may give, "75" or "0.5"; "" where it states none. Source: pci_regs.h
/// (PCI_EXP_SLTCAP_SPLV, _SPLS); values above 239 by drivers/pci/of.c.
std::string slot_power(std::uint32_t slot_capabilities);

}  // namespace goldenv::probe

#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goldenv::probe {

/// One processor of /proc/cpuinfo: fields in the order of the file, `name\t: value`.
struct Processor {
  std::uint32_t number = 0;
  std::vector<std::pair<std::string_view, std::string_view>> fields;

  /// The field's value, or "".
  [[nodiscard]] std::string_view field(std::string_view name) const;
};

/// Views into the text. Blocks without a "processor" number (Arm's and Power's trailing ones) are
/// passed over. Format: proc(5); differs by architecture.
std::vector<Processor> parse_cpuinfo(std::string_view text);

/// Vendor as x86 names it (GenuineIntel); on Arm by the implementer's code (0x41 is ARM); on Power
/// IBM.
/// "" where the text names none.
std::string cpu_vendor(const Processor& processor);

/// Model name; on Arm the core's by its part number (Neoverse-N1), as lscpu does. "" where the text
/// names none or the part is not known.
std::string cpu_model(const Processor& processor);

/// "25-1-1": family, model, stepping; "" where one is missing.
std::string cpu_stepping(const Processor& processor);

/// Flags (Arm: Features) that all processors have.
std::set<std::string> common_flags(const std::vector<Processor>& processors);

}  // namespace goldenv::probe

#include "probe/cpuinfo.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.h"

namespace goldenv::probe {
namespace {

struct Code {
  std::string_view implementer;
  std::string_view part;
  std::string_view name;
};

/// Arm's MIDR implementer codes. Source: Arm Architecture Reference Manual, MIDR_EL1.
constexpr auto kImplementers = std::to_array<Code>({
    {"0x41", "", "ARM"},
    {"0x42", "", "Broadcom"},
    {"0x43", "", "Cavium"},
    {"0x46", "", "Fujitsu"},
    {"0x48", "", "HiSilicon"},
    {"0x4e", "", "NVIDIA"},
    {"0x50", "", "APM"},
    {"0x51", "", "Qualcomm"},
    {"0x61", "", "Apple"},
    {"0x6d", "", "Microsoft"},
    {"0x70", "", "Phytium"},
    {"0xc0", "", "Ampere"},
});

/// Cores of machines that hold NVIDIA GPUs. Source: util-linux, lscpu-arm.c.
constexpr auto kParts = std::to_array<Code>({
    {"0x41", "0xd03", "Cortex-A53"},     {"0x41", "0xd07", "Cortex-A57"},
    {"0x41", "0xd08", "Cortex-A72"},     {"0x41", "0xd0b", "Cortex-A76"},
    {"0x41", "0xd0c", "Neoverse-N1"},    {"0x41", "0xd40", "Neoverse-V1"},
    {"0x41", "0xd42", "Cortex-A78AE"},   {"0x41", "0xd49", "Neoverse-N2"},
    {"0x41", "0xd4f", "Neoverse-V2"},    {"0x41", "0xd83", "Neoverse-V3AE"},
    {"0x41", "0xd84", "Neoverse-V3"},    {"0x41", "0xd8e", "Neoverse-N3"},
    {"0x43", "0x0af", "ThunderX2-99xx"}, {"0x48", "0xd01", "TaiShan-v110"},
    {"0x4e", "0x000", "Denver"},         {"0x4e", "0x003", "Denver 2"},
    {"0x4e", "0x004", "Carmel"},         {"0xc0", "0xac3", "Ampere-1"},
    {"0xc0", "0xac4", "Ampere-1a"},
});

}  // namespace

std::string_view Processor::field(std::string_view name) const {
  const auto found =
      std::ranges::find(fields, name, &std::pair<std::string_view, std::string_view>::first);
  return found == fields.end() ? std::string_view{} : found->second;
}

std::vector<Processor> parse_cpuinfo(std::string_view text) {
  std::vector<Processor> processors;
  bool open = false;
  for (const std::string_view line : lines(text)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      open = open && !trim(line).empty();
      continue;
    }
    const std::string_view name = trim(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    // 32-bit Arm writes "Processor : ARMv7 ..." as well; only the lower-case one has a number.
    if (name == "processor") {
      if (const auto number = to_number(value); number && *number <= UINT32_MAX) {
        processors.push_back({static_cast<std::uint32_t>(*number), {}});
        open = true;
      }
      continue;
    }
    if (open) {
      processors.back().fields.emplace_back(name, value);
    }
  }
  return processors;
}

std::string cpu_vendor(const Processor& processor) {
  if (const auto vendor = processor.field("vendor_id"); !vendor.empty()) {
    return std::string(vendor);
  }
  if (const auto code = processor.field("CPU implementer"); !code.empty()) {
    const auto known = std::ranges::find(kImplementers, to_lower(code), &Code::implementer);
    return std::string(known == kImplementers.end() ? code : known->name);
  }
  return processor.field("cpu").starts_with("POWER") ? "IBM" : "";
}

std::string cpu_model(const Processor& processor) {
  if (const auto name = processor.field("model name"); !name.empty()) {
    return std::string(name);
  }
  const std::string implementer = to_lower(processor.field("CPU implementer"));
  const std::string part = to_lower(processor.field("CPU part"));
  const auto known = std::ranges::find_if(kParts, [&](const Code& code) {
    return code.implementer == implementer && code.part == part;
  });
  if (known != kParts.end()) {
    return std::string(known->name);
  }
  return std::string(processor.field("cpu"));  // Power
}

std::string cpu_stepping(const Processor& processor) {
  const auto family = processor.field("cpu family");
  const auto model = processor.field("model");
  const auto stepping = processor.field("stepping");
  if (family.empty() || model.empty() || stepping.empty()) {
    return "";
  }
  return std::string(family) + "-" + std::string(model) + "-" + std::string(stepping);
}

std::set<std::string> common_flags(const std::vector<Processor>& processors) {
  std::set<std::string> common;
  std::string_view last;
  for (std::size_t i = 0; i < processors.size(); ++i) {
    std::string_view flags = processors[i].field("flags");
    if (flags.empty()) {
      flags = processors[i].field("Features");
    }
    if (i > 0 && flags == last) {
      continue;  // the rule: hundreds of equal lines of two kilobytes
    }
    last = flags;
    std::set<std::string> own;
    for (const std::string_view flag : words(flags)) {
      own.emplace(flag);
    }
    if (i == 0) {
      common = std::move(own);
      continue;
    }
    std::erase_if(common, [&](const std::string& flag) { return !own.contains(flag); });
  }
  return common;
}

}  // namespace goldenv::probe

// What the kernel's log, PCI configuration spaces, Jetson's boot menu and NVIDIA's management
// library say: no input may crash a reader, keep it from ending or put bytes into a fact that are
// no text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "nvml/report.h"
#include "probe/extlinux.h"
#include "probe/kernel_log.h"
#include "probe/pci_config.h"

namespace {

using namespace goldenv;

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

bool is_clean(std::string_view text) {
  return is_utf8(text) && text.find_first_of("\x1b\n\t\r") == std::string_view::npos;
}

void read_log(std::string_view text) {
  const probe::KernelLog log = probe::parse_kernel_log(text);
  for (const auto& [key, lines] : log.lines) {
    for (const std::string& line : lines) {
      require(is_clean(line) && line.size() < 1000);
    }
  }
  const auto back = probe::decode_kernel_log(probe::encode(log));
  require(back && *back == log);
  static_cast<void>(probe::decode_kernel_log(std::string(text)));
}

void read_config(std::string_view bytes) {
  static_cast<void>(
      probe::parse_pci_config([bytes](std::uint32_t at) -> std::optional<std::uint32_t> {
        if (bytes.size() < 4 || at > bytes.size() - 4) {
          return std::nullopt;
        }
        std::uint32_t value = 0;
        for (std::size_t i = 4; i-- > 0;) {
          value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
        }
        return value;
      }));
}

void read_report(const std::string& text) {
  const auto report = nvml::decode(text);
  if (!report) {
    return;
  }
  for (const nvml::Answer& answer : report->answers) {
    require(is_clean(answer.text) && is_clean(answer.name) && is_clean(answer.where));
  }
  const auto back = nvml::decode(nvml::encode(*report));
  require(back && *back == *report);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_log(text);
  read_config(text);
  read_report(text);
  static_cast<void>(probe::parse_extlinux(text, "/boot/extlinux/extlinux.conf"));
  return 0;
}

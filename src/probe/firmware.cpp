// What the machine's firmware says of itself (DMI), and how it booted this system.
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "probe/instances.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kDmi = "/sys/class/dmi/id/";

constexpr auto kDmiFiles = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"host.vendor", "sys_vendor"},
    {"host.product", "product_name"},
    {"host.board", "board_name"},
    {"host.serial", "product_serial"},
    {"bios", "bios_version"},
    {"bios.vendor", "bios_vendor"},
    {"bios.date", "bios_date"},
    {"bios.release", "bios_release"},
});

void add_dmi(Survey& survey) {
  for (const auto& [key, file] : kDmiFiles) {
    if (!survey.wants(key)) {
      continue;
    }
    const std::string path = std::string(kDmi) + std::string(file);
    Reading reading = one_line(survey.host(), path);
    if (auto* unknown = std::get_if<Unknown>(&reading);
        unknown != nullptr && unknown->why == Why::denied) {
      unknown->needs = "root";
    } else if (auto* absent = std::get_if<Absent>(&reading)) {
      absent->reason = "not stated by DMI";
    } else if (const auto* value = std::get_if<Value>(&reading);
               value != nullptr && value->text.empty()) {
      reading = Absent{"not stated by DMI"};  // a string that the maker left empty
    }
    survey.add(key, std::move(reading), seen(path));
  }
}

/// Whether the kernel was started by UEFI: true, false, or why that cannot be told.
Result<bool> is_uefi(const host::Host& host) {
  const Result<host::FileStatus> efi = host.status("/sys/firmware/efi");
  if (efi) {
    return true;
  }
  if (efi.error().code != Errc::absent) {
    return efi.error();
  }
  // Without /sys/firmware nothing is said at all.
  const Result<host::FileStatus> firmware = host.status("/sys/firmware");
  if (!firmware) {
    return firmware.error();
  }
  return false;
}

void add_boot_mode(Survey& survey) {
  constexpr std::string_view kEfi = "/sys/firmware/efi";
  // The GUID is that of UEFI's global variables; 4 bytes of attributes stand before the value.
  constexpr std::string_view kSecureBoot =
      "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
  if (!survey.wants("bios.mode") && !survey.wants("bios.secure_boot")) {
    return;
  }
  const host::Host& host = survey.host();
  const Result<bool> uefi = is_uefi(host);
  if (!uefi) {
    Unknown unknown = Unknown::from(uefi.error());
    if (uefi.error().code == Errc::absent) {
      unknown = Unknown{Why::not_stated, "/sys/firmware is not there", ""};
    }
    survey.add("bios.mode", unknown, seen(kEfi));
    survey.add("bios.secure_boot", unknown, seen(kEfi));
    return;
  }
  survey.add("bios.mode", Value::scalar(*uefi ? "uefi" : "legacy"), seen(kEfi));
  if (!survey.wants("bios.secure_boot")) {
    return;
  }
  if (!*uefi) {
    survey.add("bios.secure_boot", Absent{"not started by UEFI"}, seen(kEfi));
    return;
  }
  const Result<std::string> bytes = host.read_file(kSecureBoot, 64);
  Reading reading = Unknown{Why::unreadable, "not the five bytes of a truth value", ""};
  if (bytes && bytes->size() == 5) {
    reading = Value::boolean(bytes->back() == 1);
  } else if (!bytes && bytes.error().code == Errc::absent) {
    // Firmware without Secure Boot has no such variable, but efivarfs may not be mounted as well.
    const auto variables = host.list("/sys/firmware/efi/efivars");
    reading = variables && !variables->empty()
                  ? Reading(Value::boolean(false))
                  : Reading(Unknown{Why::not_stated, "efivarfs is not mounted here", ""});
  } else if (!bytes) {
    reading = Unknown::from(bytes.error());
  }
  survey.add("bios.secure_boot", std::move(reading), seen(kSecureBoot));
}

void run(Survey& survey) {
  add_dmi(survey);
  add_boot_mode(survey);
}

constexpr auto kKeys = std::to_array<std::string_view>({
    "host.vendor",
    "host.product",
    "host.board",
    "host.serial",
    "bios",
    "bios.*",
});

}  // namespace

extern const Probe firmware{.name = "firmware", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

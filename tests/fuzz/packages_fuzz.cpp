// What is installed and how it is set up: rpm's databases, RECORD of wheels, settings of apt,
// systemd and accelerate.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "probe/accelerate_config.h"
#include "probe/apt_settings.h"
#include "probe/package_version.h"
#include "probe/process_table.h"
#include "probe/rpm_database.h"
#include "probe/unit_files.h"
#include "probe/unit_limits.h"
#include "probe/wheel_record.h"

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace goldenv;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);

  const auto packages = probe::parse_rpm_database([&](std::uint64_t offset, std::size_t wanted) {
    return offset < size ? std::string(text.substr(offset, wanted)) : std::string();
  });
  for (const probe::RpmPackage& package : packages.value_or({})) {
    require(!package.name.empty() && package.version.find('-') != std::string::npos);
    require(package.name.find_first_of(" \t\n") == std::string::npos);
    static_cast<void>(probe::upstream_numbers(package.version));
  }
  static_cast<void>(probe::parse_rpm_header(
      [&](std::size_t wanted) { return std::string(text.substr(0, wanted)); }));

  for (const probe::RecordedFile& file : probe::parse_record(text, false)) {
    require(!file.path.empty());
  }
  require(probe::parse_record(text, true).size() <= probe::parse_record(text, false).size());
  for (const probe::AptAssignment& one : probe::parse_apt_settings(text)) {
    require(one.line >= 1);
  }
  for (const probe::AccelerateSetting& one : probe::parse_accelerate_config(text)) {
    require(!one.name.empty() && one.line >= 1);
  }
  static_cast<void>(probe::unit_words(text));
  for (const probe::SetVariable& one : probe::parse_environment_file(text, "/f")) {
    require(!one.name.empty() && one.value.has_value());
  }
  if (const auto limit = probe::parse_unit_limit(text)) {
    require(!limit->soft.empty() && !limit->hard.empty());
  }
  static_cast<void>(probe::parse_process_stat(text));
  return 0;
}

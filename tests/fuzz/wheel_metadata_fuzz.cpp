// Any bytes as the files of a dist-info, as a requirement and as a marker.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "base/text.h"
#include "wheel/marker.h"
#include "wheel/metadata.h"
#include "wheel/record.h"
#include "wheel/requirement.h"

namespace goldenv::wheel {
namespace {

void require(bool holds, std::string_view promise, std::string_view text) {
  if (holds) return;
  std::cerr << "broken: " << promise << "\n[" << text << "]\n";
  std::abort();
}

void check_record(std::string_view text) {
  constexpr std::string_view kOwn = "a-1.dist-info/RECORD";
  const auto entries = parse_record(text, kOwn);
  if (!entries) return;
  for (const RecordEntry& entry : *entries) {
    require(path_fault(entry.path).empty() && entry.path.find("..") != 0, "paths stay inside",
            text);
  }
  const auto again = parse_record(render_record(*entries), kOwn);
  require(again && *again == *entries, "RECORD is written as it was read", text);
}

void check_marker(std::string_view text) {
  const auto marker = parse_marker(text);
  if (!marker) return;
  const MarkerEnvironment environment = linux_environment("3.11.7", "x86_64");
  const auto again = parse_marker(render(*marker));
  // A text with both kinds of quotes cannot be written; none is read either.
  require(again.has_value(), "a marker is written as one", text);
  require(evaluate(*again, environment) == evaluate(*marker, environment),
          "a marker written means the same", text);
}

void check_requirement(std::string_view text) {
  const auto requirement = parse_requirement(text);
  if (!requirement) return;
  require(is_name(requirement->name), "a requirement has a name", text);
  const auto again = parse_specifiers(render(requirement->specifiers));
  require(again && *again == requirement->specifiers, "specifiers are written as read", text);
  contains(requirement->specifiers, "1.0+cu121");
}

}  // namespace
}  // namespace goldenv::wheel

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace goldenv::wheel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_record(text);
  if (const auto metadata = parse_metadata(text)) {
    require(is_name(metadata->name) && !metadata->version.empty(), "a package has both", text);
  }
  if (const auto wheel = parse_wheel_file(text)) {
    require(wheel->wheel_version.starts_with('1'), "only version 1 is read", text);
  }
  if (const auto scripts = parse_entry_points(text)) {
    for (const EntryPoint& entry : *scripts) {
      require(entry.name.find('/') == std::string::npos, "a script is a file", text);
      require(entry.module.find_first_of(" \"'();\n") == std::string::npos, "a module is a name",
              text);
    }
  }
  const std::string_view line = text.substr(0, text.find('\n'));
  check_marker(line);
  check_requirement(line);
  return 0;
}

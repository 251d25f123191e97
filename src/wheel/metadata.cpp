#include "wheel/metadata.h"

#include <utility>

#include "base/text.h"
#include "version/number.h"
#include "version/version.h"

namespace goldenv::wheel {
namespace {

/// A header line with the lines that continue it.
struct Header {
  std::string name;  ///< lower case
  std::string value;
  std::size_t line = 0;
};

/// The headers up to the first line that is none: behind it stands the description. A line without
/// a colon ends them, too, as it does for every tool that reads these files as mail.
std::vector<Header> headers_of(std::string_view text) {
  std::vector<Header> headers;
  std::size_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    if (line.empty()) break;
    if (line.front() == ' ' || line.front() == '\t') {
      if (!headers.empty()) headers.back().value += " " + std::string(trim(line));
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) break;
    headers.push_back(
        {to_lower(trim(line.substr(0, colon))), std::string(trim(line.substr(colon + 1))), number});
  }
  return headers;
}

Error malformed(std::string_view file, std::size_t line, const std::string& what) {
  return Error{Errc::malformed,
               std::string(file) + (line == 0 ? "" : " line " + std::to_string(line)) + ": " + what,
               {}};
}

/// Whether the number before the first '.' is one of the digits.
bool has_major(std::string_view version, std::string_view digits) {
  const std::string_view major = version.substr(0, version.find('.'));
  return major.size() == 1 && digits.find(major) != std::string_view::npos;
}

}  // namespace

Result<Metadata> parse_metadata(std::string_view text) {
  constexpr std::string_view kFile = "METADATA";
  Metadata metadata;
  for (Header& header : headers_of(text)) {
    const auto fault = [&](const std::string& what) { return malformed(kFile, header.line, what); };
    if (!is_utf8(header.value)) return fault(header.name + " is no UTF-8");
    if (header.name == "metadata-version") {
      if (!has_major(header.value, "12")) {
        return fault("Metadata-Version " + version::quoted(header.value) + ", expected 1.x or 2.x");
      }
      metadata.metadata_version = std::move(header.value);
    } else if (header.name == "name" && metadata.name.empty()) {
      if (!is_name(header.value)) {
        return fault(version::quoted(header.value) + " names no package");
      }
      metadata.name = std::move(header.value);
    } else if (header.name == "version" && metadata.version.empty()) {
      const auto parsed = version::parse(version::Scheme::pep440, header.value);
      if (!parsed) return fault(parsed.error().message);
      metadata.version = parsed->text;
    } else if (header.name == "requires-python") {
      metadata.requires_python = std::move(header.value);
    } else if (header.name == "requires-dist") {
      auto requirement = parse_requirement(header.value);
      if (!requirement) return fault(requirement.error().message);
      metadata.requires_dist.push_back(*std::move(requirement));
    } else if (header.name == "provides-extra") {
      metadata.provides_extra.push_back(normalised_name(header.value));
    }
  }
  if (metadata.name.empty()) return malformed(kFile, 0, "no Name");
  if (metadata.version.empty()) return malformed(kFile, 0, "no Version");
  return metadata;
}

bool fits_python(const Metadata& metadata, std::string_view version) {
  const auto specifiers = parse_specifiers(metadata.requires_python);
  return !specifiers || contains(*specifiers, version);
}

Result<WheelFile> parse_wheel_file(std::string_view text) {
  constexpr std::string_view kFile = "WHEEL";
  WheelFile wheel;
  bool has_root = false;
  for (Header& header : headers_of(text)) {
    const auto fault = [&](const std::string& what) { return malformed(kFile, header.line, what); };
    if (header.name == "wheel-version") {
      if (!has_major(header.value, "1")) {
        return fault("Wheel-Version " + version::quoted(header.value) + ", expected 1.x");
      }
      wheel.wheel_version = std::move(header.value);
    } else if (header.name == "generator") {
      wheel.generator = std::move(header.value);
    } else if (header.name == "root-is-purelib") {
      const std::string value = to_lower(header.value);
      if (value != "true" && value != "false") {
        return fault("Root-Is-Purelib " + version::quoted(header.value) +
                     ", expected true or false");
      }
      has_root = true;
      wheel.root_is_purelib = value == "true";
    } else if (header.name == "build") {
      const std::string_view digits = version::leading_digits(header.value);
      const std::string_view number = version::significant(digits);
      if (!digits.empty()) {
        wheel.build = {number.empty() ? "0" : std::string(number),
                       header.value.substr(digits.size())};
      }
    } else if (header.name == "tag") {
      const std::vector<std::string_view> parts = split(header.value, '-');
      if (parts.size() != 3) return fault(version::quoted(header.value) + " is no tag");
      wheel.tags.push_back({to_lower(parts[0]), to_lower(parts[1]), to_lower(parts[2])});
    }
  }
  if (wheel.wheel_version.empty()) return malformed(kFile, 0, "no Wheel-Version");
  if (!has_root) return malformed(kFile, 0, "no Root-Is-Purelib");
  return wheel;
}

std::string disagreement(const WheelName& wheel, const Metadata& metadata) {
  if (normalised_name(metadata.name) != wheel.name) {
    return "METADATA has the name " + version::quoted(metadata.name) + ", the file " +
           version::quoted(wheel.name);
  }
  const version::Version file{version::Scheme::pep440, wheel.version};
  const version::Version inside{version::Scheme::pep440, metadata.version};
  if (version::order(file, inside) != 0) {
    return "METADATA has the version " + version::quoted(metadata.version) + ", the file " +
           version::quoted(wheel.version);
  }
  return "";
}

}  // namespace goldenv::wheel

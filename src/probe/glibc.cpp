#include <optional>

#include "base/text.h"
#include "elf/elf.h"
#include "loader/loader.h"
#include "probe/instances.h"
#include "probe/library_copies.h"
#include "probe/library_in_force.h"
#include "probe/library_owner.h"
#include "probe/path_text.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

/// What the C library says of itself. Sample behind the marker:
/// "(Debian GLIBC 2.36-9+deb12u14) stable release version 2.36."
/// "(GNU libc) stable release version 2.34, by Roland McGrath et al."
struct GlibcText {
  std::string version;
  std::string package;  ///< "2.36-9+deb12u14"; "" where the distribution wrote none
};

GlibcText parse_glibc_text(std::string_view text) {
  GlibcText parsed;
  constexpr std::string_view kBefore = "release version ";
  const std::size_t at = text.find(kBefore);
  if (at != std::string_view::npos) {
    std::string_view version = text.substr(at + kBefore.size());
    version = version.substr(0, version.find_first_not_of("0123456789."));
    while (version.ends_with('.')) {
      version.remove_suffix(1);
    }
    parsed.version = version;
  }
  const std::size_t close = text.find(')');
  if (text.starts_with('(') && close != std::string_view::npos) {
    const std::vector<std::string_view> inside = words(text.substr(1, close - 1));
    if (inside.size() >= 2 && inside[inside.size() - 2] == "GLIBC" && !parsed.version.empty() &&
        inside.back().starts_with(parsed.version)) {
      parsed.package = inside.back();
    }
  }
  return parsed;
}

/// "2.31" of libc-2.31.so, the name that the file had up to glibc 2.33.
std::string version_in_old_name(std::string_view name) {
  if (!name.starts_with("libc-") || !name.ends_with(".so")) {
    return {};
  }
  const std::string_view version = name.substr(5, name.size() - 8);
  return version.find_first_not_of("0123456789.") == std::string_view::npos ? std::string(version)
                                                                            : std::string();
}

/// Alpine and its like: the loader stands in /lib, and there is no libc.so.6.
std::optional<std::string> musl_loader(const host::Host& host) {
  const auto entries = host.list("/lib");
  if (entries) {
    for (const host::DirEntry& entry : *entries) {
      if (entry.name.starts_with("ld-musl-")) {
        return "/lib/" + entry.name;
      }
    }
  }
  return std::nullopt;
}

/// Debian writes the revision into the file; where the text has none, the package does. rpm
/// systems: rpm.package.glibc.
void add_package(Survey& survey, const GlibcText& text, const facts::Evidence& evidence) {
  if (!text.package.empty()) {
    survey.add("glibc.package", facts::Value::scalar(text.package), evidence);
    return;
  }
  const auto& packages = debian_packages(survey);
  const facts::Evidence status = seen("/var/lib/dpkg/status");
  if (!packages) {
    survey.add("glibc.package", facts::Unknown::from(packages.error()), status);
    return;
  }
  for (const auto& [name, version] : *packages) {
    if (name == "libc6") {
      survey.add("glibc.package", facts::Value::scalar(version), status);
      return;
    }
  }
  survey.add("glibc.package", facts::Absent{"no Debian package holds it"}, status);
}

void run(Survey& survey) {
  // Without the environment: what is meant is the C library of the system, not one that
  // LD_LIBRARY_PATH slips under a single program.
  const auto library =
      loader::resolve(survey.host(), {"libc.so.6", {}, "", {}, &loader_system(survey)});
  if (!library) {
    facts::Reading reading = facts::unread(library.error());
    facts::Evidence evidence;
    if (library.error().code == Errc::absent) {
      reading = facts::Absent{"the loader finds no libc.so.6"};
      if (const auto musl = musl_loader(survey.host())) {
        reading = facts::Absent{"musl"};
        evidence = seen(*musl);
      }
    }
    for (const std::string_view key : {"glibc", "glibc.package", "glibc.build_id"}) {
      survey.add(key, reading, evidence);
    }
    return;
  }
  facts::Evidence evidence{
      library->real_path, 0, "text in the file", "", {"found by " + library->why}};
  const facts::Reading build_id = build_id_reading(survey, library->real_path);
  if (const auto* value = std::get_if<facts::Value>(&build_id)) {
    evidence.build_id = value->text;
  }
  survey.add("glibc.build_id", build_id, evidence);

  const auto text = elf::text_after(survey.host(), library->real_path, "GNU C Library ", 160);
  if (!text) {
    for (const std::string_view key : {"glibc", "glibc.package"}) {
      survey.add(key, facts::Unknown::from(text.error()), evidence);
    }
    return;
  }
  const GlibcText parsed = *text ? parse_glibc_text(**text) : GlibcText{};
  std::string version = parsed.version;
  if (version.empty()) {
    version = version_in_old_name(base_name(library->real_path));
    evidence.basis = "file name";
  }
  if (version.empty()) {
    survey.add("glibc",
               facts::Unknown{facts::Why::not_stated, "neither the file's text nor its name", ""},
               evidence);
  } else {
    survey.add("glibc", facts::Value::scalar(version), evidence);
  }
  add_package(survey, parsed, evidence);
}

constexpr std::string_view kKeys[] = {"glibc", "glibc.package", "glibc.build_id"};

}  // namespace

extern const Probe glibc{.name = "glibc", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

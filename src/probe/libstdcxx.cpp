#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "probe/library_copies.h"
#include "probe/library_in_force.h"
#include "probe/probe.h"
#include "probe/python_target.h"
#include "version/version.h"

namespace goldenv::probe {
namespace {

constexpr std::string_view kSoname = "libstdc++.so.6";

/// The highest GLIBCXX version that a libstdc++ defines. Names such as GLIBCXX_DEBUG_MESSAGE_LENGTH
/// and GLIBCXX_TUNABLES stand among them and are no versions.
std::optional<std::string> highest_version(const elf::Image& image) {
  std::optional<version::Version> highest;
  for (const std::string_view name : image.version_definitions) {
    constexpr std::string_view kBefore = "GLIBCXX_";
    if (!name.starts_with(kBefore)) {
      continue;
    }
    const auto parsed = version::parse(version::Scheme::dotted, name.substr(kBefore.size()));
    if (parsed && (!highest || version::order(*highest, *parsed) < 0)) {
      highest = *parsed;
    }
  }
  return highest ? std::optional(highest->text) : std::nullopt;
}

facts::Reading read_version(Survey& survey, const std::string& real_path) {
  const Result<elf::Image>& image = image_of(survey, real_path);
  if (!image) {
    return facts::Unknown::from(image.error());
  }
  if (auto version = highest_version(*image)) {
    return facts::Value::scalar(*std::move(version));
  }
  return facts::Unknown{facts::Why::not_stated, "the file defines no GLIBCXX version", ""};
}

/// Whoever of torch names it first decides for the whole process; without torch the interpreter's
/// search paths do, so that conda's copy is found.
LibraryInForce find(Survey& survey) {
  LibraryInForce unknown;
  unknown.evidence.notes = python_choice(survey).why;
  if (const auto doubt = torch_in_doubt(survey)) {
    unknown.found = *doubt;
    return unknown;
  }
  for (const TorchObject& object : torch_objects(survey)) {
    const Result<elf::Image>& image = image_of(survey, object.path);
    if (!image) {
      unknown.found = facts::Unknown::from(image.error());  // it may be the one that asks
      return unknown;
    }
    if (std::ranges::find(image->needed, kSoname) != image->needed.end()) {
      return resolve_library(survey, kSoname, object.loaders);
    }
  }
  const Result<std::vector<std::string>> python = known_python_loaders(survey);
  if (!python) {
    unknown.found = facts::Unknown::from(python.error());
    return unknown;
  }
  return resolve_library(survey, kSoname, *python);
}

/// Copies for another machine (32-bit ones in /usr/lib32) can serve no Python here.
bool is_same_machine(Survey& survey, const std::string& a, const std::string& b) {
  const Result<elf::Image>& one = image_of(survey, a);
  const Result<elf::Image>& other = image_of(survey, b);
  return !one || !other || (one->machine == other->machine && one->is_64bit == other->is_64bit);
}

void run(Survey& survey) {
  const LibraryInForce library = find(survey);
  facts::Evidence evidence = library.evidence;
  if (library.is_found()) {
    const facts::Reading build_id = build_id_reading(survey, library.real_path);
    if (const auto* value = std::get_if<facts::Value>(&build_id)) {
      evidence.build_id = value->text;
    }
    survey.add("libstdcxx", read_version(survey, library.real_path), evidence);
    survey.add("libstdcxx.origin", library.origin, evidence);
  } else {
    survey.add("libstdcxx", library.found, evidence);
    survey.add("libstdcxx.origin", library.found, evidence);
  }
  if (!wants_copies(survey, {"libstdcxx"}, "")) {
    return;
  }
  for (const LibraryCopy& copy : library_copies(survey, "libstdc++").copies) {
    if (library.is_found() && !is_same_machine(survey, copy.real_path, library.real_path)) {
      continue;
    }
    survey.add(
        "libstdcxx@" + survey.tilde(copy.path), read_version(survey, copy.real_path),
        {survey.tilde(copy.real_path), 0, "read", "", {"of: " + facts::describe(copy.origin)}});
  }
}

constexpr std::string_view kKeys[] = {"libstdcxx", "libstdcxx.origin"};

}  // namespace

extern const Probe libstdcxx{.name = "libstdcxx", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

// AMD's stack: the ROCm release that is installed, its HIP, and the RCCL that torch would load.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "elf/elf.h"
#include "probe/header_version.h"
#include "probe/instances.h"
#include "probe/library_in_force.h"
#include "probe/path_text.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Evidence;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

struct Found {
  Reading reading;
  Evidence evidence;
};

/// $ROCM_PATH, else /opt/rocm.
std::string rocm_folder(const host::Host& host) {
  std::string folder = host.variable("ROCM_PATH").value_or("");
  return folder.starts_with('/') ? folder : "/opt/rocm";
}

/// The first of some files of a ROCm that is there.
Result<std::pair<std::string, std::string>> first_file(
    const host::Host& host, const std::string& folder,
    std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    std::string path = folder + std::string(name);
    Result<std::string> text = host.read_file(path, 64u << 10);
    if (text) {
      return std::pair(std::move(path), *std::move(text));
    }
    if (text.error().code != Errc::absent) {
      return text.error();
    }
  }
  return Error{Errc::absent, "no ROCm in " + folder, {}};
}

/// /opt/rocm/.info/version: "6.4.0-47".
Found release(Survey& survey) {
  const std::string folder = rocm_folder(survey.host());
  const auto file = first_file(survey.host(), folder, {"/.info/version", "/.info/version-dev"});
  if (!file) {
    if (file.error().code != Errc::absent) {
      return {Unknown::from(file.error()), seen(folder)};
    }
    const auto program = survey.host().status(folder + "/bin/rocminfo");
    return {program ? Reading(Unknown{Why::not_stated, "its files name no release", ""})
                    : facts::unread(program.error()),
            seen(folder)};
  }
  const std::string_view text = trim(file->second);
  const bool is_version = !text.empty() && text[0] >= '0' && text[0] <= '9' &&
                          text.find_first_of(" \t\n") == std::string_view::npos;
  Evidence evidence = seen(file->first);
  if (const auto real = survey.host().real_path(folder); real && *real != folder) {
    evidence.notes.push_back(folder + " is " + *real);
  }
  return {is_version ? Reading(Value::scalar(std::string(text)))
                     : Reading(Unknown{Why::unreadable, "no version stands in it", ""}),
          std::move(evidence)};
}

std::string value_of(std::string_view text, std::string_view name) {
  for (const std::string_view line : lines(text)) {
    if (line.starts_with(name) && line.substr(name.size()).starts_with('=')) {
      return std::string(trim(line.substr(name.size() + 1)));
    }
  }
  return "";
}

/// As hipconfig --version writes it, 6.4.43482-0f2d60242, from the file that it reads:
/// HIP_VERSION_MAJOR=6 and so on, a line each.
Found hip(Survey& survey) {
  const std::string folder = rocm_folder(survey.host());
  const auto file = first_file(survey.host(), folder,
                               {"/share/hip/version", "/bin/.hipVersion", "/hip/bin/.hipVersion"});
  if (!file) {
    return {facts::unread(file.error()), seen(folder + "/share/hip/version")};
  }
  const std::string& text = file->second;
  const std::string major = value_of(text, "HIP_VERSION_MAJOR");
  const std::string minor = value_of(text, "HIP_VERSION_MINOR");
  const std::string patch = value_of(text, "HIP_VERSION_PATCH");
  const std::string commit = value_of(text, "HIP_VERSION_GITHASH");
  if (!to_number(major) || !to_number(minor) || !to_number(patch)) {
    return {Unknown{Why::unreadable, "no version stands in it", ""}, seen(file->first)};
  }
  return {Value::scalar(major + "." + minor + "." + patch + (commit.empty() ? "" : "-" + commit)),
          seen(file->first)};
}

/// The text that it prints with NCCL_DEBUG=VERSION, else the header beside it.
Found rccl(Survey& survey) {
  constexpr auto kSonames = std::to_array<std::string_view>({"librccl.so.1"});
  const LibraryInForce& library = library_in_force(survey, "librccl", kSonames);
  if (!library.is_found()) {
    return {library.found, library.evidence};
  }
  Evidence evidence = library.evidence;
  for (const std::string_view marker :
       {"RCCL version 2.", "RCCL version : 2.", "RCCL version: 2."}) {
    const auto text =
        elf::text_after(survey.host(), library.real_path, marker, 64, survey.request().memory);
    if (!text) {
      return {Unknown::from(text.error()), std::move(evidence)};
    }
    if (*text) {
      const std::string version = "2." + **text;
      const std::string numbers = version.substr(0, version.find_first_not_of("0123456789."));
      evidence.basis = "text in the file";
      return {Value::scalar(numbers), std::move(evidence)};
    }
  }
  const std::string prefix(folder_of(folder_of(library.real_path)));
  const std::string header = prefix + "/include/rccl/rccl.h";
  const Result<std::string> text = survey.host().read_file(header);
  const auto version =
      text ? version_in_header(*text, {"NCCL_MAJOR", "NCCL_MINOR", "NCCL_PATCH"}) : std::nullopt;
  if (version) {
    evidence.basis = "the header beside it, " + survey.tilde(header);
    return {Value::scalar(*version), std::move(evidence)};
  }
  return {Unknown{Why::not_stated, "neither the file nor a header beside it names a version", ""},
          std::move(evidence)};
}

void run(Survey& survey) {
  const auto add = [&](std::string_view key, Found (*ask)(Survey&)) {
    if (survey.wants(key)) {
      Found found = ask(survey);
      survey.add(key, std::move(found.reading), std::move(found.evidence));
    }
  };
  add("rocm", release);
  add("rocm.hip", hip);
  add("rccl", rccl);
}

constexpr auto kKeys = std::to_array<std::string_view>({"rocm", "rocm.hip", "rccl"});

}  // namespace

extern const Probe rocm{.name = "rocm", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

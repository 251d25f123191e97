#include "tables/cuda_releases.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <utility>

namespace goldenv::tables {
namespace {

constexpr std::array<std::string_view, 7> kParts = {"cuda_cudart", "cuda_nvcc", "cuda_nvrtc",
                                                    "libcublas",   "libcufft",  "libnvjitlink",
                                                    "cuda_cupti"};

/// Their numbers begin with major.minor of the release; those of cuBLAS and cuFFT count by
/// themselves.
constexpr std::array<bool, 7> kTellsRelease = {true, true, true, false, false, true, true};

struct Row {
  std::string_view release;
  std::array<std::string_view, 7> numbers;  ///< by kParts; "" where it is not known or not shipped
};

constexpr std::string_view kDate = "2026-09-16";

// Sources: NVIDIA's release manifests redistrib_<release>.json (compute/cuda/redist), read whole
// for 11.4.2 to 13.4.2. Before 11.4.2 there are none: cudart and cuBLAS there from the recipes of
// NVIDIA's container images, cuFFT from the contents of the run files, 11.0.3 from its release
// notes.
constexpr auto kRows = std::to_array<Row>({
    // clang-format off
    // release, cudart, nvcc, nvrtc, cublas, cufft, nvjitlink, cupti
    {"11.0.1", {"11.0.171", "11.0.167", "", "11.0.0.191", "10.1.3.191", "", ""}},
    {"11.0.2", {"11.0.194", "", "", "11.1.0.229", "10.2.0.218", "", ""}},
    {"11.0.3", {"11.0.221", "11.0.221", "11.0.221", "11.2.0.252", "10.2.1.245", "", "11.0.221"}},
    {"11.1.0", {"11.1.74", "", "", "11.2.1.74", "10.3.0.74", "", ""}},
    {"11.1.1", {"11.1.74", "", "", "11.3.0.106", "10.3.0.105", "", ""}},
    {"11.2.0", {"11.2.72", "", "", "11.3.1.68", "10.4.0.72", "", ""}},
    {"11.2.1", {"11.2.146", "", "", "11.4.1.1026", "10.4.0.135", "", ""}},
    {"11.2.2", {"11.2.152", "", "", "11.4.1.1043", "10.4.1.152", "", ""}},
    {"11.3.0", {"11.3.58", "", "", "11.4.2.10064", "10.4.2.58", "", ""}},
    {"11.3.1", {"11.3.109", "", "", "11.5.1.109", "10.4.2.109", "", ""}},
    {"11.4.0", {"11.4.43", "", "", "11.5.2.43", "10.5.0.43", "", ""}},
    {"11.4.1", {"11.4.108", "", "", "11.5.4.8", "10.5.1.100", "", ""}},
    {"11.4.2", {"11.4.108", "11.4.120", "11.4.120", "11.6.1.51", "10.5.2.100", "", "11.4.120"}},
    {"11.4.3", {"11.4.148", "11.4.152", "11.4.152", "11.6.5.2", "10.5.2.100", "", "11.4.120"}},
    {"11.4.4", {"11.4.148", "11.4.152", "11.4.152", "11.6.5.2", "10.5.2.100", "", "11.4.120"}},
    {"11.5.0", {"11.5.50", "11.5.50", "11.5.50", "11.7.3.1", "10.6.0.54", "", "11.5.57"}},
    {"11.5.1", {"11.5.117", "11.5.119", "11.5.119", "11.7.4.6", "10.6.0.107", "", "11.5.114"}},
    {"11.5.2", {"11.5.117", "11.5.119", "11.5.119", "11.7.4.6", "10.6.0.107", "", "11.5.114"}},
    {"11.6.0", {"11.6.55", "11.6.55", "11.6.55", "11.8.1.74", "10.7.0.55", "", "11.6.55"}},
    {"11.6.1", {"11.6.55", "11.6.112", "11.6.112", "11.8.1.74", "10.7.1.112", "", "11.6.112"}},
    {"11.6.2", {"11.6.55", "11.6.124", "11.6.124", "11.9.2.110", "10.7.2.124", "", "11.6.124"}},
    {"11.7.0", {"11.7.60", "11.7.64", "11.7.50", "11.10.1.25", "10.7.2.50", "", "11.7.50"}},
    {"11.7.1", {"11.7.99", "11.7.99", "11.7.99", "11.10.3.66", "10.7.2.91", "", "11.7.101"}},
    {"11.8.0", {"11.8.89", "11.8.89", "11.8.89", "11.11.3.6", "10.9.0.58", "", "11.8.87"}},
    {"12.0.0", {"12.0.107", "12.0.76", "12.0.76", "12.0.1.189", "11.0.0.21", "12.0.76", "12.0.90"}},
    {"12.0.1", {"12.0.146", "12.0.140", "12.0.140", "12.0.2.224", "11.0.1.95", "12.0.140", "12.0.146"}},
    {"12.1.0", {"12.1.55", "12.1.66", "12.1.55", "12.1.0.26", "11.0.2.4", "12.1.55", "12.1.62"}},
    {"12.1.1", {"12.1.105", "12.1.105", "12.1.105", "12.1.3.1", "11.0.2.54", "12.1.105", "12.1.105"}},
    {"12.2.0", {"12.2.53", "12.2.91", "12.2.91", "12.2.1.16", "11.0.8.15", "12.2.91", "12.2.60"}},
    {"12.2.1", {"12.2.128", "12.2.128", "12.2.128", "12.2.4.5", "11.0.8.91", "12.2.128", "12.2.131"}},
    {"12.2.2", {"12.2.140", "12.2.140", "12.2.140", "12.2.5.6", "11.0.8.103", "12.2.140", "12.2.142"}},
    {"12.3.0", {"12.3.52", "12.3.52", "12.3.52", "12.3.2.9", "11.0.11.19", "12.3.52", "12.3.52"}},
    {"12.3.1", {"12.3.101", "12.3.103", "12.3.103", "12.3.4.1", "11.0.12.1", "12.3.101", "12.3.101"}},
    {"12.3.2", {"12.3.101", "12.3.107", "12.3.107", "12.3.4.1", "11.0.12.1", "12.3.101", "12.3.101"}},
    {"12.4.0", {"12.4.99", "12.4.99", "12.4.99", "12.4.2.65", "11.2.0.44", "12.4.99", "12.4.99"}},
    {"12.4.1", {"12.4.127", "12.4.131", "12.4.127", "12.4.5.8", "11.2.1.3", "12.4.127", "12.4.127"}},
    {"12.5.0", {"12.5.39", "12.5.40", "12.5.40", "12.5.2.13", "11.2.3.18", "12.5.40", "12.5.39"}},
    {"12.5.1", {"12.5.82", "12.5.82", "12.5.82", "12.5.3.2", "11.2.3.61", "12.5.82", "12.5.82"}},
    {"12.6.0", {"12.6.37", "12.6.20", "12.6.20", "12.6.0.22", "11.2.6.28", "12.6.20", "12.6.37"}},
    {"12.6.1", {"12.6.68", "12.6.68", "12.6.68", "12.6.1.4", "11.2.6.59", "12.6.68", "12.6.68"}},
    {"12.6.2", {"12.6.77", "12.6.77", "12.6.77", "12.6.3.3", "11.3.0.4", "12.6.77", "12.6.80"}},
    {"12.6.3", {"12.6.77", "12.6.85", "12.6.85", "12.6.4.1", "11.3.0.4", "12.6.85", "12.6.80"}},
    {"12.8.0", {"12.8.57", "12.8.61", "12.8.61", "12.8.3.14", "11.3.3.41", "12.8.61", "12.8.57"}},
    {"12.8.1", {"12.8.90", "12.8.93", "12.8.93", "12.8.4.1", "11.3.3.83", "12.8.93", "12.8.90"}},
    {"12.8.2", {"12.8.90", "12.8.93", "12.8.93", "12.8.5.5", "11.3.3.83", "12.8.93", "12.8.90"}},
    {"12.9.0", {"12.9.37", "12.9.41", "12.9.41", "12.9.0.13", "11.4.0.6", "12.9.41", "12.9.19"}},
    {"12.9.1", {"12.9.79", "12.9.86", "12.9.86", "12.9.1.4", "11.4.1.4", "12.9.86", "12.9.79"}},
    {"12.9.2", {"12.9.79", "12.9.86", "12.9.86", "12.9.2.10", "11.4.1.4", "12.9.86", "12.9.79"}},
    {"13.0.0", {"13.0.48", "13.0.48", "13.0.48", "13.0.0.19", "12.0.0.15", "13.0.39", "13.0.48"}},
    {"13.0.1", {"13.0.88", "13.0.88", "13.0.88", "13.0.2.14", "12.0.0.61", "13.0.88", "13.0.85"}},
    {"13.0.2", {"13.0.96", "13.0.88", "13.0.88", "13.1.0.3", "12.0.0.61", "13.0.88", "13.0.85"}},
    {"13.0.3", {"13.0.96", "13.0.88", "13.0.88", "13.1.1.3", "12.0.0.61", "13.0.88", "13.0.85"}},
    {"13.1.0", {"13.1.80", "13.1.80", "13.1.80", "13.2.0.9", "12.1.0.31", "13.1.80", "13.1.75"}},
    {"13.1.1", {"13.1.80", "13.1.115", "13.1.115", "13.2.1.1", "12.1.0.78", "13.1.115", "13.1.115"}},
    {"13.1.2", {"13.1.80", "13.1.115", "13.1.115", "13.2.2.2", "12.1.0.78", "13.1.115", "13.1.115"}},
    {"13.2.0", {"13.2.51", "13.2.51", "13.2.51", "13.3.0.5", "12.2.0.37", "13.2.51", "13.2.23"}},
    {"13.2.1", {"13.2.75", "13.2.78", "13.2.78", "13.4.0.1", "12.2.0.46", "13.2.78", "13.2.75"}},
    {"13.2.2", {"13.2.86", "13.2.86", "13.2.86", "13.4.1.3", "12.2.0.57", "13.2.86", "13.2.86"}},
    {"13.3.0", {"13.3.29", "13.3.33", "13.3.33", "13.5.1.27", "12.3.0.29", "13.3.33", "13.3.35"}},
    {"13.3.1", {"13.3.29", "13.3.73", "13.3.33", "13.6.0.2", "12.3.0.29", "13.3.33", "13.3.75"}},
    {"13.4.1", {"13.4.49", "13.4.59", "13.4.59", "13.7.0.27", "12.4.0.34", "13.4.52", "13.4.58"}},
    {"13.4.2", {"13.4.92", "13.4.92", "13.4.92", "13.8.0.4", "12.4.0.43", "13.4.92", "13.4.92"}},
    // clang-format on
});

std::string major_minor(std::string_view version) {
  const std::size_t first = version.find('.');
  const std::size_t second = first == std::string_view::npos ? first : version.find('.', first + 1);
  return first == std::string_view::npos ? std::string{} : std::string(version.substr(0, second));
}

/// Rows whose number of that part is this one.
std::set<std::size_t> rows_with(std::size_t part, std::string_view version) {
  std::set<std::size_t> rows;
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].numbers[part] == version) {
      rows.insert(i);
    }
  }
  return rows;
}

/// What the parts say together, part by part.
struct Findings {
  std::set<std::size_t> rows;  ///< that ship every number the table knows
  bool any_known = false;      ///< of the numbers
  bool any_unknown = false;
  std::set<std::string> prefixes;  ///< major.minor of everything that tells it
};

void add(Findings& findings, std::size_t part, std::string_view version, CudaRelease& release) {
  const std::set<std::size_t> rows = rows_with(part, version);
  CudaEvidence evidence{std::string(kParts[part]), std::string(version), {}};
  for (const std::size_t row : rows) {
    evidence.releases.emplace_back(kRows[row].release);
    findings.prefixes.insert(major_minor(kRows[row].release));
  }
  release.evidence.push_back(std::move(evidence));
  if (rows.empty()) {
    findings.any_unknown = true;
    if (const std::string prefix = major_minor(version); kTellsRelease[part] && !prefix.empty()) {
      findings.prefixes.insert(prefix);
    }
    return;
  }
  if (findings.any_known) {
    std::erase_if(findings.rows, [&rows](std::size_t row) { return !rows.contains(row); });
  } else {
    findings.rows = rows;
  }
  findings.any_known = true;
}

}  // namespace

CudaRelease find_cuda_release(std::span<const CudaPart> parts) {
  CudaRelease release;
  Findings findings;
  for (const CudaPart& part : parts) {
    const auto* const column = std::ranges::find(kParts, part.name);
    if (column != kParts.end() && !part.version.empty()) {
      add(findings, static_cast<std::size_t>(column - kParts.begin()), part.version, release);
    }
  }
  if (release.evidence.empty()) {
    return release;
  }
  if (findings.prefixes.size() > 1 || (findings.any_known && findings.rows.empty())) {
    release.kind = CudaRelease::Kind::mixed;
  } else if (findings.any_unknown) {
    // A release that came after the table may share its other numbers with one that is in it.
    release.kind = findings.prefixes.empty() ? CudaRelease::Kind::none : CudaRelease::Kind::prefix;
    release.prefix = findings.prefixes.empty() ? std::string{} : *findings.prefixes.begin();
  } else {
    release.kind = CudaRelease::Kind::releases;
    for (const std::size_t row : findings.rows) {
      release.releases.emplace_back(kRows[row].release);
    }
  }
  return release;
}

std::vector<std::string_view> cuda_releases() {
  std::vector<std::string_view> releases;
  for (const Row& row : kRows) {
    releases.push_back(row.release);
  }
  return releases;
}

std::string_view number_in_cuda(std::string_view release, std::string_view part) {
  const auto* const row = std::ranges::find(kRows, release, &Row::release);
  const auto* const column = std::ranges::find(kParts, part);
  return row == kRows.end() || column == kParts.end()
             ? std::string_view{}
             : row->numbers[static_cast<std::size_t>(column - kParts.begin())];
}

std::string_view cuda_table_date() { return kDate; }

bool is_cuda_label(std::string_view text) {
  const std::size_t last = text.rfind('.');
  const bool digits =
      std::ranges::all_of(text, [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
  // Updates count from 0; a date has eight digits.
  return digits && std::ranges::count(text, '.') == 2 && !text.starts_with('.') &&
         text.find("..") == std::string_view::npos && last + 1 < text.size() &&
         text.size() - last - 1 <= 3;
}

}  // namespace goldenv::tables

#include <array>

#include "base/text.h"
#include "probe/cuda_folder.h"
#include "tables/cuda_releases.h"

namespace goldenv::probe {
namespace {

/// The string that starts at text[at] == '"', escapes left as they are; moves `at` behind it. False
/// where it does not end.
bool take_string(std::string_view text, std::size_t& at, std::string& value) {
  value.clear();
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"') {
      ++at;
      return true;
    }
    if (text[at] == '\\' && at + 1 < text.size()) {
      value += text[at++];
    }
    value += text[at];
  }
  return false;
}

using Parts = std::vector<std::pair<std::string, std::string>>;

/// Those that tell most: what else is in a set of wheels is often of a neighbouring release.
bool is_main_part(std::string_view name) {
  return name == "cuda_cudart" || name == "libcublas" || name == "cuda_nvcc";
}

tables::CudaRelease look_up(const Parts& parts, bool main_only) {
  std::vector<tables::CudaPart> asked;
  for (const auto& [name, version] : parts) {
    if (!main_only || is_main_part(name)) {
      asked.push_back({name, version});
    }
  }
  return tables::find_cuda_release(asked);
}

std::string first_two(std::string_view version) {
  const std::size_t dot = version.find('.');
  return std::string(version.substr(0, version.find('.', dot + 1)));
}

/// "12.6" where every part is of some 12.6.x, else "".
std::string common_prefix(const tables::CudaRelease& release) {
  std::string common;
  for (const tables::CudaEvidence& part : release.evidence) {
    for (const std::string& of : part.releases) {
      const std::string prefix = first_two(of);
      if (!common.empty() && prefix != common) {
        return {};
      }
      common = prefix;
    }
  }
  return common;
}

}  // namespace

CudaReleaseReading release_of_parts(const Parts& parts) {
  tables::CudaRelease release = look_up(parts, false);
  CudaReleaseReading answer;
  if (release.kind == tables::CudaRelease::Kind::mixed) {
    for (const tables::CudaEvidence& part : release.evidence) {
      answer.notes.push_back(
          part.name + " " + part.version + " is of " +
          (part.releases.empty() ? "no release in the table" : join(part.releases, " or ")));
    }
    release = look_up(parts, true);
    answer.is_mixed = true;
  }
  answer.basis = "table of " + std::string(tables::cuda_table_date()) + ":";
  for (const tables::CudaEvidence& part : release.evidence) {
    answer.basis += " " + part.name + " " + part.version;
  }
  switch (release.kind) {
    case tables::CudaRelease::Kind::none:
      answer.reading = facts::Unknown{facts::Why::not_stated, "no part of it states a number", ""};
      answer.basis.clear();
      break;
    case tables::CudaRelease::Kind::releases:
      answer.reading = release.releases.size() == 1 ? facts::Value::scalar(release.releases.front())
                                                    : facts::Value::one_of(release.releases);
      break;
    case tables::CudaRelease::Kind::prefix:
      answer.reading = facts::Value::prefix(release.prefix);
      answer.notes.emplace_back("a number that the table does not have");
      break;
    case tables::CudaRelease::Kind::mixed:
      answer.reading =
          facts::Unknown{facts::Why::ambiguous, "its parts are of several releases", ""};
      if (std::string common = common_prefix(release); !common.empty()) {
        answer.reading = facts::Value::prefix(std::move(common));
      }
      break;
  }
  return answer;
}

std::vector<std::pair<std::string, std::string>> parse_version_json(std::string_view text) {
  // Only keys two levels deep matter, so a scan for strings and braces is reader enough.
  std::vector<std::pair<std::string, std::string>> versions;
  std::array<std::string, 3> key_at_depth;
  std::size_t depth = 0;
  std::string word;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      if (!take_string(text, at, word)) {
        return {};
      }
      const std::size_t next = text.find_first_not_of(" \t\r\n", at);
      const bool is_key = next != std::string_view::npos && text[next] == ':';
      if (is_key && depth < key_at_depth.size()) {
        key_at_depth[depth] = word;
      } else if (!is_key && depth == 2 && key_at_depth[2] == "version") {
        versions.emplace_back(key_at_depth[1], word);
      }
      continue;
    }
    if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) {
        return {};
      }
      --depth;
    }
    ++at;
  }
  return depth == 0 ? versions : std::vector<std::pair<std::string, std::string>>{};
}

}  // namespace goldenv::probe

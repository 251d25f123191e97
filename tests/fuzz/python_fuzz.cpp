// Any bytes as the small texts of Python installations: version.py, pyvenv.cfg, METADATA,
// direct_url.json, names of dist-infos and conda records.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "probe/python_names.h"

namespace goldenv::probe {
namespace {

void require(bool holds, std::string_view promise, std::string_view text) {
  if (holds) return;
  std::cerr << "broken: " << promise << "\n[" << text << "]\n";
  std::abort();
}

bool is_key(std::string_view name) {
  return std::ranges::all_of(
      name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

void check_name(std::string_view text) {
  if (const auto name = package_name(text)) {
    require(!name->empty() && is_key(*name), "a package's name is fit for a key", text);
    require(package_name(*name) == name, "a canonical name is its own canonical name", text);
  }
  if (const auto found = parse_distribution_name(text)) {
    require(is_key(found->name), "a distribution's name is fit for a key", text);
    require(!found->certain || (!found->name.empty() && !found->version.empty()),
            "what is certain is there", text);
  }
  if (const auto conda = parse_conda_name(text)) {
    require(!conda->name.empty() && !conda->version.empty() && !conda->build.empty(),
            "a conda record has three parts", text);
    require(conda->name.find('@') == std::string::npos, "a conda name is fit for a key", text);
  }
  const std::string release = leading_python_release(text);
  require(release.empty() || is_python_release(release), "a leading release is one", text);
  if (const auto series = python_series(text)) {
    require("python" + *series == text, "a series is what stands behind python", text);
  }
}

void check_text(std::string_view text) {
  const VenvConfig config = parse_venv_config(text);
  require(config.version.empty() || is_python_release(config.version), "a venv's version is one",
          text);
  const std::string patchlevel = python_of_patchlevel(text);
  require(patchlevel.empty() || is_python_release(patchlevel), "PY_VERSION is a release", text);
  const TorchVersion torch = parse_torch_version(text);
  for (const auto& field : {torch.version, torch.cuda, torch.hip, torch.git}) {
    require(!field || field->none || (!field->text.empty() && field->line > 0),
            "an assignment has a text and a line", text);
  }
  for (const std::string& line : parse_core_metadata(text).requires_dist) {
    if (const auto pin = pinned_version(line, "nvidia-nccl", "x86_64")) {
      require(!pin->empty() && pin->find('*') == std::string::npos, "a pin is one version", line);
    }
  }
  if (const auto url = parse_direct_url(text)) {
    require(url->sha256.empty() || url->sha256.size() == 64, "a digest has 64 digits", text);
    require(url->commit.find_first_of(" \n\x1b") == std::string::npos, "a commit is a word", text);
  }
}

}  // namespace
}  // namespace goldenv::probe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  goldenv::probe::check_text(text);
  goldenv::probe::check_name(text.substr(0, text.find('\n')));
  return 0;
}

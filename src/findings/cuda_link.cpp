#include <array>

#include "findings/rule.h"

namespace goldenv::findings {
namespace {

constexpr std::array<std::string_view, 3> kKeys = {"cuda.toolkit", "cuda.toolkit.link",
                                                   "cuda.toolkit.path"};

/// "12.1" of /usr/local/cuda-12.1, or "".
std::string_view release_in_name(std::string_view path) {
  const std::size_t at = path.rfind("/cuda-");
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view release = path.substr(at + 6);
  return release.find_first_not_of("0123456789.") == std::string_view::npos ? release
                                                                            : std::string_view{};
}

/// Whether `version` is `release` or one of its patches: 12.1.1 is of 12.1, 12.10 is not.
bool is_of(std::string_view version, std::string_view release) {
  return version.starts_with(release) &&
         (version.size() == release.size() || version[release.size()] == '.');
}

void look(const View& view, std::vector<Finding>& found) {
  const auto link = view.text("cuda.toolkit.link");
  const auto path = view.text("cuda.toolkit.path");
  const auto toolkit = view.text("cuda.toolkit");
  const std::string_view named = link ? release_in_name(*link) : std::string_view{};
  // cuda.toolkit may be another folder's: the first nvcc on PATH decides, not the link.
  if (!toolkit || named.empty() || path != link || is_of(*toolkit, named)) {
    return;
  }
  found.push_back({{},
                   facts::Level::should,
                   "/usr/local/cuda ends in " + *link + ", which holds CUDA " + *toolkit,
                   "scripts that go by the folder's name build and link against another release",
                   "install each release in the folder of its name",
                   {{"cuda.toolkit.link", ""}, {"cuda.toolkit", ""}}});
}

}  // namespace

extern const Rule cuda_link{"cuda-link", kKeys, look};

}  // namespace goldenv::findings

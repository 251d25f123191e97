#include "probe/program_search.h"

#include "base/text.h"
#include "probe/path_text.h"

namespace goldenv::probe {
namespace {

constexpr std::string_view kUsualPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

bool is_masquerade(std::string_view real_path) {
  const std::string_view name = base_name(real_path);
  return name == "ccache" || name == "distcc" || name == "sccache";
}

}  // namespace

Result<Program> find_program(Survey& survey, std::string_view name) {
  const host::Host& host = survey.host();
  const std::string path_variable = host.variable("PATH").value_or(std::string(kUsualPath));
  for (const std::string_view folder : split(path_variable, ':')) {
    if (!folder.starts_with('/')) {
      continue;  // depends on where the shell stands
    }
    const std::string path = std::string(folder) + "/" + std::string(name);
    const auto status = host.status(path);
    if (!status) {
      if (status.error().code == Errc::absent) {
        continue;
      }
      return status.error();
    }
    if (status->kind != host::FileStatus::Kind::file) {
      continue;
    }
    GOLDENV_TRY(const std::vector<std::string> hops, host.hops(path));
    if (!is_masquerade(hops.back())) {
      return Program{path, hops.back(), hops};
    }
  }
  return Error{Errc::absent, "no " + std::string(name) + " on PATH", {}};
}

}  // namespace goldenv::probe

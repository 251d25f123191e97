#include "probe/python_discovery.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "probe/presence.h"
#include "probe/python_names.h"
#include "probe/python_prefix.h"

namespace goldenv::probe {
namespace {

// login(1)'s and Docker's: what a tree that records no environment is taken to have.
constexpr std::string_view kUsualPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::size_t kPythonLimit = 500;

/// The version that pyenv would choose, and what says so. Source: pyenv-version-name and
/// pyenv-version-file: $PYENV_VERSION, .python-version here or in a folder above, the global file.
/// Errors: those of reading them.
Result<std::pair<std::string, std::string>> pyenv_choice(const host::Host& host,
                                                         const std::string& root) {
  const auto first_word = [](std::string_view text) {
    const std::vector<std::string_view> found = words(text.substr(0, text.find(':')));
    return found.empty() ? std::string() : std::string(found.front());
  };
  if (const auto variable = host.variable("PYENV_VERSION"); variable && !variable->empty()) {
    return std::pair<std::string, std::string>(first_word(*variable), "PYENV_VERSION");
  }
  std::string folder = host.variable("PWD").value_or("");
  while (folder.size() > 1 && folder.front() == '/') {
    const std::string file = path_in(folder, ".python-version");
    const auto text = host.read_file(file);
    if (text) {
      return std::pair(first_word(*text), file);
    }
    if (text.error().code != Errc::absent) {
      return text.error();
    }
    folder = folder_above(folder);
  }
  const std::string file = path_in(root, "version");
  const auto text = host.read_file(file);
  if (!text && text.error().code != Errc::absent) {
    return text.error();
  }
  return std::pair(text ? first_word(*text) : std::string("system"), file);
}

}  // namespace

PythonDiscovery::PythonDiscovery(const host::Host& host)
    : host_(host), settings_(python_settings(host)) {}

std::optional<std::size_t> PythonDiscovery::known(const std::string& prefix,
                                                  const std::string& series) const {
  const std::string real = host_.real_path(prefix).value_or(prefix);
  for (const auto& [path, index] : real_prefixes_) {
    if (path == real && (series.empty() || scene.pythons[index].series == series)) {
      return index;
    }
  }
  return std::nullopt;
}

Result<std::size_t> PythonDiscovery::at(const std::string& path) {
  const auto status = host_.status(path);
  if (!status) {
    return status.error();
  }
  std::string prefix = normal_path(path);
  std::string series;
  if (status->kind == host::FileStatus::Kind::file) {
    Result<PythonHome> home = python_home(host_, path);
    if (!home) {
      return std::move(home).error();
    }
    prefix = std::move(home->prefix);
    series = std::move(home->series);
  }
  if (const auto index = known(prefix, series)) {
    return *index;
  }
  GOLDENV_TRY(PrefixPythons found, pythons_in(host_, prefix));
  scene.unseen.insert(scene.unseen.end(), found.unseen.begin(), found.unseen.end());
  const std::string real = host_.real_path(prefix).value_or(prefix);
  for (Python& python : found.pythons) {
    if (scene.pythons.size() >= kPythonLimit) {
      break;
    }
    fill_path(host_, settings_, scene.listings, python);
    real_prefixes_.emplace_back(real, scene.pythons.size());
    scene.pythons.push_back(std::move(python));
  }
  if (const auto index = known(prefix, series)) {
    return *index;
  }
  return Error{
      Errc::absent, path + ": no interpreter of Python " + series + " stands in " + prefix, {}};
}

Result<std::string> PythonDiscovery::behind_shim(const std::string& shim) {
  const std::string root = folder_above(folder_above(shim));
  GOLDENV_TRY(const auto choice, pyenv_choice(host_, root));
  const auto& [version, from] = choice;
  if (version == "system" || version.empty()) {
    return std::string();
  }
  const std::string versions = path_in(root, "versions");
  std::string chosen = path_in(versions, version);
  GOLDENV_TRY(const bool is_chosen, is_there(host_, chosen));
  if (!is_chosen) {
    // "3.11" means its newest release that is installed.
    chosen.clear();
    std::uint64_t newest = 0;
    const auto entries = host_.list(versions);
    if (!entries && entries.error().code != Errc::absent) {
      return entries.error();
    }
    for (const host::DirEntry& entry : entries ? *entries : std::vector<host::DirEntry>{}) {
      if (entry.name.starts_with(version + ".")) {
        const auto patch = to_number(std::string_view(entry.name).substr(version.size() + 1));
        if (patch && *patch >= newest) {
          newest = *patch;
          chosen = path_in(versions, entry.name);
        }
      }
    }
  }
  if (chosen.empty()) {
    return Error{
        Errc::absent, shim + ": pyenv has no " + version + ", which " + from + " names", {}};
  }
  scene.why.push_back(shim + " is pyenv's: " + from + " names " + version);
  return chosen;
}

Result<std::optional<std::size_t>> PythonDiscovery::on_path(const std::string& name) {
  std::string path(kUsualPath);
  const auto variable = host_.variable("PATH");
  if (variable) {
    path = *variable;
  } else {
    scene.why.push_back("PATH is not known, taken as " + path);
  }
  for (const std::string_view folder : split(path, ':')) {
    if (!folder.starts_with('/')) {
      continue;
    }
    std::string candidate = path_in(normal_path(folder), name);
    const auto status = host_.status(candidate);
    if (!status) {
      if (status.error().code == Errc::absent) {
        continue;
      }
      scene.unseen.push_back(status.error());
      if (status.error().code == Errc::denied) {
        continue;  // the shell, too, goes on
      }
      return status.error();
    }
    if (status->kind != host::FileStatus::Kind::file) {
      continue;
    }
    const std::string beside = folder_above(candidate);
    Result<bool> is_shim = false;
    if (base_name(beside) == "shims") {
      is_shim = is_there(host_, folder_above(beside) + "/versions");
    }
    if (!is_shim) {
      return is_shim.error();
    }
    if (*is_shim) {
      Result<std::string> chosen = behind_shim(candidate);
      if (!chosen) {
        return std::move(chosen).error();
      }
      if (chosen->empty()) {
        continue;  // "system": the next one on PATH
      }
      candidate = *std::move(chosen);
    }
    const Result<std::size_t> index = at(candidate);
    if (!index) {
      return index.error();
    }
    return std::optional(*index);
  }
  return std::optional<std::size_t>();
}

/// A prefix in which a Python may stand. One that could not be looked at is told in `unseen`.
void PythonDiscovery::try_prefix(const std::string& prefix) {
  if (scene.pythons.size() >= kPythonLimit) {
    if (scene.unseen.empty() || scene.unseen.back().code != Errc::too_large) {
      scene.unseen.push_back(
          Error{Errc::too_large,
                "more than " + std::to_string(kPythonLimit) + " Pythons: not all are listed",
                {}});
    }
    return;
  }
  if (auto found = at(prefix); !found && found.error().code != Errc::absent) {
    scene.unseen.push_back(std::move(found).error());
  }
}

void PythonDiscovery::children(const std::string& folder) {
  const auto entries = host_.list(folder);
  if (!entries) {
    if (entries.error().code != Errc::absent) {
      scene.unseen.push_back(entries.error());
    }
    return;
  }
  // Folders first: uv and conda lay links with shorter names beside them.
  for (const auto kind : {host::FileStatus::Kind::folder, host::FileStatus::Kind::link}) {
    for (const host::DirEntry& entry : *entries) {
      if (entry.kind == kind) {
        try_prefix(path_in(folder, entry.name));
      }
    }
  }
}

void PythonDiscovery::usual_places() {
  const std::string& home = settings_.home;
  const auto in_home = [&](std::string_view name) {
    return home.starts_with('/') ? path_in(home, name) : std::string();
  };
  std::vector<std::string> prefixes{"/usr", "/usr/local", "/opt/venv", "/venv", "/app/.venv"};
  std::vector<std::string> conda{"/opt/conda", "/opt/miniconda3", "/opt/anaconda3",
                                 "/opt/miniforge3"};
  for (const char* name :
       {"miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".conda"}) {
    conda.push_back(in_home(name));
  }
  if (const auto root = host_.variable("MAMBA_ROOT_PREFIX")) {
    conda.push_back(*root);
  }
  for (const char* name : {"venv", ".venv", "env"}) {
    prefixes.push_back(in_home(name));
  }
  // Format: one prefix a line, written by conda at `conda create`.
  if (const std::string file = in_home(".conda/environments.txt"); !file.empty()) {
    const auto list = host_.read_file(file);
    for (const std::string_view line : list ? lines(*list) : std::vector<std::string_view>{}) {
      prefixes.emplace_back(trim(line));
    }
    if (!list && list.error().code != Errc::absent) {
      scene.unseen.push_back(list.error());
    }
  }
  std::vector<std::string> parents{
      host_.variable("PYENV_ROOT").value_or(in_home(".pyenv")) + "/versions",
      host_.variable("UV_PYTHON_INSTALL_DIR").value_or(in_home(".local/share/uv/python")),
      host_.variable("WORKON_HOME").value_or(in_home(".virtualenvs")),
  };
  for (const std::string& base : conda) {
    prefixes.push_back(base);
    parents.push_back(base + "/envs");
  }
  for (const std::string& prefix : prefixes) {
    if (prefix.starts_with('/')) {
      try_prefix(prefix);
    }
  }
  for (const std::string& parent : parents) {
    if (parent.starts_with('/')) {
      children(parent);
    }
  }
}

}  // namespace goldenv::probe

#include "probe/python_release.h"

#include <utility>
#include <vector>

#include "base/text.h"
#include "elf/elf.h"
#include "probe/python_names.h"
#include "probe/python_prefix.h"

namespace goldenv::probe {
namespace {

constexpr std::size_t kStatusLimitBytes = 64u << 20;  // dpkg's record of 10,000 packages is 12 MB

PythonRelease found(std::string text, std::string from, std::string basis = "read") {
  PythonRelease release;
  release.text = std::move(text);
  release.exact = true;
  release.evidence.from = std::move(from);
  release.evidence.basis = std::move(basis);
  return release;
}

/// The Version field of an installed package in dpkg's status file, or "". Stanzas are separated by
/// empty lines (deb-control(5), dpkg(1)).
std::string dpkg_version(std::string_view status, const std::string& package) {
  const std::string head = "Package: " + package + "\n";
  std::size_t at = status.starts_with(head) ? 0 : status.find("\n" + head);
  if (at == std::string_view::npos) {
    return {};
  }
  std::string_view stanza = status.substr(at == 0 ? 0 : at + 1);
  stanza = stanza.substr(0, stanza.find("\n\n"));
  std::string version;
  bool installed = false;
  for (const std::string_view line : lines(stanza)) {
    if (line.starts_with("Status: ")) {
      installed = line.ends_with(" installed");
    } else if (line.starts_with("Version: ")) {
      version = trim(line.substr(9));
    }
  }
  return installed ? version : std::string();
}

/// "3.11.2" of "3.11.2-6+deb12u5" and "1:3.11.2-6".
std::string upstream_of_debian(std::string_view version) {
  return leading_python_release(version.substr(version.find(':') + 1));
}

}  // namespace

PythonRelease python_release(const host::Host& host, const Python& python) {
  std::string series = python.series;
  if (series.ends_with('t')) {
    series.pop_back();
  }
  const auto fits = [&](const std::string& text) { return text.starts_with(series + "."); };

  // Before 3.8 the folder carried the ABI flag of pymalloc.
  for (const char* flag : {"", "m"}) {
    const std::string header =
        path_in(python.prefix, "include/python" + python.series + flag + "/patchlevel.h");
    if (const auto text = host.read_file(header)) {
      if (std::string release = python_of_patchlevel(*text); fits(release)) {
        return found(std::move(release), header);
      }
    }
  }
  if (python.kind == PythonKind::conda || python.kind == PythonKind::pixi) {
    const std::string folder = path_in(python.prefix, "conda-meta");
    const auto entries = host.list(folder);
    for (const host::DirEntry& entry : entries ? *entries : std::vector<host::DirEntry>{}) {
      const auto package = parse_conda_name(entry.name);
      if (package && package->name == "python" && fits(package->version) &&
          is_python_release(package->version)) {
        return found(package->version, path_in(folder, entry.name));
      }
    }
  }
  // ~/.pyenv/versions/3.11.7, uv/python/cpython-3.11.7-linux-x86_64-gnu.
  if (python.kind == PythonKind::pyenv || python.kind == PythonKind::uv) {
    for (const std::string_view part : split(base_name(python.prefix), '-')) {
      if (std::string release = leading_python_release(part); fits(release)) {
        return found(std::move(release), python.prefix, "derived");
      }
    }
  }
  if (python.kind == PythonKind::system) {
    constexpr const char* kStatus = "/var/lib/dpkg/status";
    if (const auto status = host.read_file(kStatus, kStatusLimitBytes)) {
      for (const std::string& package :
           {"python" + series + "-minimal", "python" + series, "libpython" + series + "-minimal"}) {
        if (std::string release = upstream_of_debian(dpkg_version(*status, package));
            fits(release)) {
          PythonRelease release_of_package = found(std::move(release), kStatus, "derived");
          release_of_package.evidence.notes.push_back("version of package " + package);
          return release_of_package;
        }
      }
    }
  }
  // PY_VERSION stands in libpython, or in an interpreter linked without one, as a text of its own.
  const std::string library = "libpython" + python.series + ".so.1.0";
  std::vector<std::string> binaries;
  for (const std::string_view lib :
       {"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"}) {
    binaries.push_back(path_in(path_in(python.prefix, lib), library));
  }
  binaries.push_back(python.interpreter);
  for (const std::string& binary : binaries) {
    if (binary.empty()) {
      continue;
    }
    const auto text = elf::text_after(host, binary, std::string(1, '\0') + series + ".", 32);
    if (text && *text) {
      std::string release = series + "." + **text;
      if (release.ends_with('+')) {
        release.pop_back();
      }
      if (is_python_release(release)) {
        return found(std::move(release), binary);
      }
    }
  }
  PythonRelease only_series;
  only_series.text = series;
  only_series.evidence.from = path_in(python.prefix, "lib/python" + python.series);
  only_series.evidence.basis = "derived";
  return only_series;
}

}  // namespace goldenv::probe

#include "compose/maps.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace goldenv::compose {
namespace {

// By their soname's beginnings: what recipes bring, and what the system must not lend.
constexpr std::array<std::string_view, 29> kBrought = {
    "libc10",    "libcaffe2",     "libcublas", "libcudart",   "libcudnn",      "libcufft",
    "libcufile", "libcupti",      "libcurand", "libcusolver", "libcusparse",   "libjax",
    "libmkl",    "libnccl",       "libnpp",    "libnvblas",   "libnvfatbin",   "libnvJitLink",
    "libnvjpeg", "libnvperf",     "libnvrtc",  "libnvshmem",  "libnvToolsExt", "libnvtx",
    "libnvvm",   "libtensorflow", "libtorch",  "libtriton",   "libxla"};

// What the driver package and the C library have, wherever a distribution puts them.
constexpr std::array<std::string_view, 9> kDriver = {
    "libcuda.so",       "libcudadebugger.so", "libnvidia-",     "libnvcuvid.so", "libnvoptix.so",
    "libvdpau_nvidia.", "libEGL_nvidia.",     "libGLX_nvidia.", "libnvgpucomp"};

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool begins_with_any(std::string_view text, const auto& beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](std::string_view one) { return text.starts_with(one); });
}

bool is_below(std::string_view path, std::string_view folder) {
  return !folder.empty() && path.size() > folder.size() && path.starts_with(folder) &&
         (folder.ends_with('/') || path[folder.size()] == '/');
}

bool is_of_system(std::string_view path, const MapSetting& setting) {
  constexpr std::array<std::string_view, 7> kFolders = {
      "/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/bin"};
  const std::string_view name = base_name(path);
  if (begins_with_any(name, kDriver)) {
    return true;
  }
  if (begins_with_any(name, kBrought)) {
    return false;
  }
  const auto in = [&](std::string_view folder) { return is_below(path, folder); };
  if (std::ranges::any_of(kFolders, in)) {
    // Distributions put packages of Python, too, below /usr/lib.
    return path.find("/dist-packages/") == std::string_view::npos &&
           path.find("/site-packages/") == std::string_view::npos;
  }
  return in(setting.python_prefix) && path.find("/site-packages/") == std::string_view::npos &&
         path.find("/dist-packages/") == std::string_view::npos;
}

MappedFile judged(std::string path, const MapSetting& setting) {
  constexpr std::string_view kDeleted = " (deleted)";
  MappedFile file{std::move(path), Provenance::foreign, ""};
  const std::string objects = setting.store + "/objects/";
  if (file.path.ends_with(kDeleted)) {
    file.path.resize(file.path.size() - kDeleted.size());
    file.provenance = Provenance::deleted;
  } else if (file.path.starts_with(objects)) {
    file.provenance = Provenance::object;
    const std::string_view rest = std::string_view(file.path).substr(objects.size());
    file.object = std::string(rest.substr(0, rest.find('/')));
  } else if (file.path.starts_with(setting.store + "/envs/")) {
    file.provenance = Provenance::environment;
  } else if (is_of_system(file.path, setting)) {
    file.provenance = Provenance::system;
  }
  return file;
}

}  // namespace

std::string_view name(Provenance provenance) {
  constexpr std::array<std::string_view, 5> kNames = {"object", "environment", "system", "foreign",
                                                      "deleted"};
  return kNames[static_cast<std::size_t>(provenance)];
}

std::vector<MappedFile> mapped_files(std::string_view maps, const MapSetting& setting) {
  std::vector<MappedFile> files;
  for (const std::string_view line : lines(maps)) {
    // "7f12c000-7f12e000 r-xp 00000000 fd:01 1234    /usr/lib/libnccl.so.2.18.3": nothing before
    // the path has a slash.
    const std::size_t slash = line.find('/');
    if (slash == std::string_view::npos) {
      continue;
    }
    const std::vector<std::string_view> fields = words(line.substr(0, slash));
    const auto inode = fields.size() == 5 ? to_number(fields[4]) : std::nullopt;
    if (!inode || *inode == 0) {
      continue;
    }
    std::string path(line.substr(slash));
    for (std::size_t at = path.find("\\012"); at != std::string::npos;
         at = path.find("\\012", at)) {
      path.replace(at++, 4, "\n");
    }
    const std::string_view name = base_name(path);
    // The loader's table: called like a library, and none.
    if (name == "ld.so.cache" || name == "ld.so.cache (deleted)") {
      continue;
    }
    const bool is_library = name.ends_with(".so") || name.find(".so.") != std::string_view::npos ||
                            name.ends_with(".so (deleted)");
    if (fields[1].find('x') != std::string_view::npos || is_library) {
      files.push_back(judged(std::move(path), setting));
    }
  }
  std::ranges::sort(files, {}, &MappedFile::path);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

}  // namespace goldenv::compose

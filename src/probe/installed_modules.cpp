#include "probe/installed_modules.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "archive/decompression.h"
#include "base/sha256.h"
#include "base/text.h"
#include "elf/modinfo.h"
#include "elf/module_signature.h"
#include "host/descriptor.h"
#include "host/wire.h"
#include "probe/instances.h"
#include "probe/kernel_names.h"
#include "probe/modprobe_config.h"
#include "probe/module_files.h"
#include "probe/presence.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Why;

constexpr std::string_view kModules = "/lib/modules";
constexpr std::size_t kDepLimitBytes = 16u << 20;
// nvidia.ko, the largest there is, has 50 to 100 MB.
constexpr std::uint64_t kFileLimitBytes = 256u << 20;
constexpr std::size_t kValueLimitBytes = 1024;

std::string folder_of(const std::string& release) { return std::string(kModules) + "/" + release; }

struct Installed {
  ModulePaths paths;
  std::set<std::string, std::less<>> builtin;
};

Result<Installed> read_installed(const host::Host& host, const std::string& release) {
  const std::string folder = folder_of(release);
  GOLDENV_TRY(const std::string dep, host.read_file(folder + "/modules.dep", kDepLimitBytes));
  std::vector<Error> unseen;
  const std::string builtin =
      text_or_none(host, folder + "/modules.builtin", unseen, kDepLimitBytes);
  if (!unseen.empty()) {
    return unseen.front();
  }
  return Installed{parse_module_paths(dep), parse_module_files("", builtin).builtin};
}

const Result<Installed>& installed(Survey& survey, const std::string& release) {
  using ByRelease = std::map<std::string, Result<Installed>>;
  auto& known = survey.shared<ByRelease>([] { return ByRelease(); });
  const auto it = known.find(release);
  return it != known.end()
             ? it->second
             : known.emplace(release, read_installed(survey.host(), release)).first->second;
}

/// Why a kernel has no modules.dep.
Reading without_dep(const host::Host& host, const std::string& release) {
  const std::string folder = folder_of(release);
  const Result<std::string> running = kernel_release(host).text;
  const auto has_folders = is_there(host, "/sys/module");
  if (!has_folders && leaves_open(has_folders.error())) {
    return Unknown::from(has_folders.error());
  }
  if (running && *running == release && has_folders.value_or(false)) {
    const Result<std::string> listed = host.read_file("/proc/modules");
    if (!listed && listed.error().code == Errc::absent) {
      return Absent{"kernel without loadable modules"};
    }
  }
  const auto status = host.status(folder);
  if (status) {
    return Unknown{Why::not_stated, folder + "/modules.dep is missing: depmod(8) has not run", ""};
  }
  if (status.error().code != Errc::absent) {
    return Unknown::from(status.error());
  }
  const auto releases = releases_with_modules(host);
  if (releases && !releases->empty()) {
    return Absent{"no modules of this kernel are installed"};
  }
  // A container has none of the kernel that it runs under.
  return Unknown{Why::not_stated, "no kernel's modules are installed here", ""};
}

/// The name under which the file is looked for. Errors: modprobe.d cannot be read.
Result<std::string> name_on_disk(Survey& survey, std::string_view module) {
  const Result<ModprobeConfig>& config = modprobe_config(survey);
  if (!config) {
    return config.error();
  }
  const auto install = config->installs.find(module);
  if (install != config->installs.end()) {
    InstallCommand command = parse_install_command(install->second.text);
    if (command.kind == InstallCommand::Kind::redirect) {
      return std::move(command.module);
    }
  }
  return std::string(module);
}

/// The whole content in memory, as a file.
Result<host::Descriptor> unpacked(int fd, std::string_view path) {
  const auto failed = [&] {
    return Error{
        Errc::failed, std::string(path) + ": no room to unpack it: " + std::strerror(errno), {}};
  };
  host::Descriptor memory(memfd_create("goldenv", MFD_CLOEXEC));
  if (!memory) {
    return failed();
  }
  const Result<void> done =
      archive::decompress(fd, path, kFileLimitBytes, [&](std::string_view piece) -> Result<void> {
        while (!piece.empty()) {
          const ssize_t put = write(memory.get(), piece.data(), piece.size());
          if (put < 0 && errno != EINTR) {
            return failed();
          }
          piece.remove_prefix(put > 0 ? static_cast<std::size_t>(put) : 0);
        }
        return {};
      });
  if (!done) {
    return done.error();
  }
  return memory;
}

Result<std::optional<std::string>> value_in(const elf::Modinfo& modinfo, std::string_view name,
                                            std::string_view path) {
  const auto value = elf::value_of(modinfo, name);
  if (value && value->size() > kValueLimitBytes) {
    return Error{Errc::malformed,
                 std::string(path) + ": its " + std::string(name) + " is longer than any",
                 {}};
  }
  return value ? std::optional(std::string(trim(*value))) : std::nullopt;
}

Result<ModuleFile> read_plain(int fd, std::string_view path, bool with_digest) {
  GOLDENV_TRY(const elf::Modinfo modinfo, elf::read_modinfo(fd, path));
  GOLDENV_TRY(const elf::ModuleSignature signature, elf::read_module_signature(fd, path));
  ModuleFile file;
  GOLDENV_TRY(file.version, value_in(modinfo, "version", path));
  GOLDENV_TRY(file.srcversion, value_in(modinfo, "srcversion", path));
  GOLDENV_TRY(file.vermagic, value_in(modinfo, "vermagic", path));
  GOLDENV_TRY(file.license, value_in(modinfo, "license", path));
  file.is_signed = signature.is_signed;
  file.signer = signature.signer;
  if (with_digest) {
    GOLDENV_TRY(const Sha256 digest, Sha256::of_file(fd));
    file.digest = digest.hex();
  }
  return file;
}

Result<ModuleFile> read_open(int fd, std::string_view path, bool with_digest) {
  std::string head(6, '\0');
  const ssize_t got = pread(fd, head.data(), head.size(), 0);
  head.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (archive::compression_of(head) == archive::Compression::none) {
    return read_plain(fd, path, with_digest);
  }
  GOLDENV_TRY(const host::Descriptor memory, unpacked(fd, path));
  return read_plain(memory.get(), path, with_digest);
}

std::string pack(const ModuleFile& file) {
  host::Encoder out;
  for (const auto* value : {&file.version, &file.srcversion, &file.vermagic, &file.license}) {
    out.texts(*value ? std::vector<std::string>{**value} : std::vector<std::string>());
  }
  out.number(file.is_signed ? 1 : 0);
  out.text(file.signer);
  out.text(file.digest);
  return out.take();
}

Result<ModuleFile> unpack(std::string_view bytes, std::string_view path) {
  host::Decoder in(bytes);
  ModuleFile file;
  for (auto* value : {&file.version, &file.srcversion, &file.vermagic, &file.license}) {
    std::vector<std::string> texts = in.texts();
    if (!texts.empty()) {
      *value = std::move(texts.front());
    }
  }
  file.is_signed = in.number() != 0;
  file.signer = in.text();
  file.digest = in.text();
  if (!in.done()) {
    return Error{Errc::failed, std::string(path) + ": half an answer came from who read it", {}};
  }
  return file;
}

Result<ModuleFile> read_file(Survey& survey, const std::string& path, bool with_digest) {
  const host::Host& host = survey.host();
  const auto learn = [&] {
    return host.inspect(path, [&](int fd) -> Result<std::string> {
      GOLDENV_TRY(const ModuleFile file, read_open(fd, path, with_digest));
      return pack(file);
    });
  };
  const std::string_view question = with_digest ? "kernel module and sha256 1" : "kernel module 1";
  GOLDENV_TRY(const std::string answer,
              survey.request().memory == nullptr
                  ? learn()
                  : survey.request().memory->recall(host, path, question, learn));
  return unpack(answer, path);
}

}  // namespace

ModulePaths parse_module_paths(std::string_view dep) {
  ModulePaths paths;
  for (const std::string_view line : lines(dep)) {
    const std::size_t colon = line.find(':');
    const std::string_view path = trim(line.substr(0, colon));
    const std::string_view file = path.substr(path.rfind('/') + 1);
    const std::size_t end = file.find(".ko");
    const bool inside = !path.starts_with('/') && !path.starts_with("../") &&
                        path.find("/../") == std::string_view::npos;
    if (colon != std::string_view::npos && inside && end != std::string_view::npos && end > 0) {
      paths.emplace(kernel_name_of(file.substr(0, end)), path);
    }
  }
  return paths;
}

Result<std::vector<std::string>> releases_with_modules(const host::Host& host) {
  GOLDENV_TRY(const std::vector<host::DirEntry> entries, host.list(kModules));
  std::vector<std::string> releases;
  for (const host::DirEntry& entry : entries) {
    if (entry.kind != host::FileStatus::Kind::file) {
      const auto dep = host.status(folder_of(entry.name) + "/modules.dep");
      if (dep || dep.error().code != Errc::absent) {
        releases.push_back(entry.name);
      }
    }
  }
  return releases;
}

ModuleLookup find_module(Survey& survey, const std::string& release, std::string_view module) {
  const std::string folder = folder_of(release);
  ModuleLookup lookup;
  lookup.evidence = seen(folder + "/modules.dep");
  const Result<Installed>& modules = installed(survey, release);
  if (!modules) {
    lookup.missing = modules.error().code == Errc::absent ? without_dep(survey.host(), release)
                                                          : Reading(Unknown::from(modules.error()));
    return lookup;
  }
  const Result<std::string> name = name_on_disk(survey, module);
  const auto found = modules->paths.find(name ? *name : std::string(module));
  if (found != modules->paths.end()) {
    lookup.relative = found->second;
    lookup.path = folder + "/" + found->second;
    if (const auto status = survey.host().status(lookup.path); !status) {
      lookup.missing = status.error().code == Errc::absent
                           ? Reading(Absent{"modules.dep names a file that is not there"})
                           : Reading(Unknown::from(status.error()));
      lookup.evidence = seen(lookup.path);
      lookup.path.clear();
    } else {
      lookup.evidence = seen(lookup.path);
    }
    return lookup;
  }
  if (modules->builtin.contains(module)) {
    lookup.missing = Absent{"builtin"};
    lookup.evidence = seen(folder + "/modules.builtin");
  } else if (!name) {
    lookup.missing = Unknown::from(name.error());  // it may lead to another name
  } else {
    lookup.missing = Absent{"not installed"};
  }
  return lookup;
}

const Result<ModuleFile>& module_file(Survey& survey, const std::string& path, bool with_digest) {
  using ByPath = std::map<std::pair<std::string, bool>, Result<ModuleFile>>;
  auto& known = survey.shared<ByPath>([] { return ByPath(); });
  for (const bool digest : {true, false}) {  // who knows the digest knows the rest
    const auto it = known.find({path, digest});
    if (it != known.end() && (digest || !with_digest)) {
      return it->second;
    }
  }
  return known.emplace(std::pair(path, with_digest), read_file(survey, path, with_digest))
      .first->second;
}

}  // namespace goldenv::probe

#include "loader/system.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace goldenv::loader {
namespace {

constexpr std::size_t kLoaderLimitBytes = 4u << 20;    // 0.2 to 1.3 MB with its symbols
constexpr std::size_t kProcessorHeadBytes = 8u << 10;  // of hundreds of processors the first
constexpr std::size_t kFolderNameLimitBytes = 512;

/// Of the release text behind `marker`.
std::optional<Release> release_in(std::string_view text) {
  constexpr std::string_view kBefore = "release version ";
  const std::size_t at = text.find(kBefore);
  return at == std::string_view::npos ? std::nullopt
                                      : parse_release(text.substr(at + kBefore.size(), 16));
}

/// Of ld-2.31.so, the name that the file had up to glibc 2.33.
std::optional<Release> release_in_name(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("ld-") && name.ends_with(".so") ? parse_release(name.substr(3))
                                                          : std::nullopt;
}

Error not_stated(Error error) {
  if (error.code == Errc::absent) {  // what is not there is not what was asked for
    error.code = Errc::unreadable;
  }
  return error;
}

bool is_library_folder(std::string_view text) {
  return text.size() > 1 && text.size() < kFolderNameLimitBytes && text.front() == '/' &&
         text.back() == '/' && text.find("/lib") != std::string_view::npos &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

std::vector<std::string> folders_in_loader(std::string_view bytes) {
  std::vector<std::string> best;
  std::vector<std::string> run;
  std::size_t run_end = 0;
  const auto end_run = [&] {
    if (run.size() > best.size()) {
      best = run;
    }
    run.clear();
  };
  constexpr std::string_view kEnd("/\0", 2);
  for (std::size_t at = bytes.find(kEnd); at != std::string_view::npos;
       at = bytes.find(kEnd, at + 1)) {
    const std::size_t before = bytes.substr(0, at).rfind('\0');
    const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view text = bytes.substr(start, at + 1 - start);
    if (!is_library_folder(text)) {
      continue;
    }
    if (start != run_end) {
      end_run();
    }
    run.emplace_back(text.substr(0, text.size() - 1));
    run_end = at + 2;
  }
  end_run();
  return best;
}

std::string processor_settings(const host::Host& host) {
  // Sources: glibc manual/tunables.texi (glibc.cpu, glibc.tune before 2.28) and ld.so(8).
  const std::string tunables = host.variable("GLIBC_TUNABLES").value_or("");
  for (const std::string_view one : split(tunables, ':')) {
    const std::string_view name = one.substr(0, one.find('='));
    if (name.ends_with(".hwcaps") || name.ends_with(".hwcap_mask")) {
      return "GLIBC_TUNABLES=" + std::string(one);
    }
  }
  const std::string mask = host.variable("LD_HWCAP_MASK").value_or("");
  return mask.empty() ? "" : "LD_HWCAP_MASK=" + mask;
}

const Result<std::vector<CacheEntry>>& System::cache() {
  if (!cache_) {
    cache_ = std::make_unique<const Result<std::vector<CacheEntry>>>(read_cache(host_));
  }
  return *cache_;
}

Interpreter System::read_interpreter(const Abi& abi) {
  Interpreter found;
  const Result<std::string> real = host_.real_path(abi.interpreter);
  if (!real) {
    found.release = not_stated(real.error());
    return found;
  }
  const Result<std::string> bytes = host_.read_file(*real, kLoaderLimitBytes);
  if (!bytes) {
    found.release = not_stated(bytes.error());
  } else {
    found.folders = folders_in_loader(*bytes);
    found.release = Error{Errc::unreadable, *real + ": does not state its release", {}};
    if (const auto release = release_in(*bytes)) {
      found.release = *release;
    }
  }
  if (const auto release = release_in_name(*real); release && !found.release) {
    found.release = *release;
  }
  if (!found.release) {
    const std::string libc = real->substr(0, real->rfind('/')) + "/libc.so.6";
    const auto text = elf::text_after(host_, libc, "GNU C Library ", 160);
    if (text && *text) {
      if (const auto release = release_in(**text)) {
        found.release = *release;
      }
    }
  }
  return found;
}

const Interpreter& System::interpreter(const Abi& abi) {
  auto at = interpreters_.find(abi.elf);
  if (at == interpreters_.end()) {
    at = interpreters_.emplace(abi.elf, read_interpreter(abi)).first;
  }
  return at->second;
}

const Capabilities& System::capabilities(const Abi& abi, const std::string& settings) {
  auto at = capabilities_.find({abi.elf, settings});
  if (at == capabilities_.end()) {
    if (!processor_) {
      const Result<std::string> text = host_.read_head("/proc/cpuinfo", kProcessorHeadBytes);
      processor_ = std::make_unique<const Result<Processor>>(
          text ? parse_processor(*text) : Result<Processor>(not_stated(text.error())));
    }
    at = capabilities_
             .emplace(std::pair(abi.elf, settings),
                      Capabilities(abi, interpreter(abi).release, *processor_, settings))
             .first;
  }
  return at->second;
}

const Result<elf::Image>& System::image(const std::string& path) {
  const auto at = images_.find(path);
  return at != images_.end() ? at->second
                             : images_.emplace(path, elf::read(host_, path)).first->second;
}

void System::same_image(const std::string& path, const std::string& real_path) {
  const auto at = images_.find(path);
  if (at != images_.end() && at->second) {  // an error names the path
    images_.emplace(real_path, at->second);
  }
}

const Abi* System::installed() {
  if (!installed_) {
    const auto at =
        std::ranges::find_if(kAbis, [&](const Abi* abi) { return host_.exists(abi->interpreter); });
    installed_ = at == std::end(kAbis) ? nullptr : *at;
  }
  return *installed_;
}

const Result<std::vector<std::string>>& System::special_folders(const Abi& abi,
                                                                const std::string& folder) {
  const auto known = special_folders_.find({abi.elf, folder});
  if (known != special_folders_.end()) {
    return known->second;
  }
  // /lib is mostly a link to /usr/lib, and both are searched.
  const Result<std::string> real = host_.real_path(folder);
  const std::string& where = real ? *real : folder;
  auto at = special_folders_.find({abi.elf, where});
  if (at == special_folders_.end()) {
    const bool is_there = real || real.error().code != Errc::absent;
    at = special_folders_
             .emplace(std::pair(abi.elf, where),
                      is_there ? find_special_folders(abi, where)
                               : Result<std::vector<std::string>>(std::vector<std::string>{}))
             .first;
  }
  return where == folder
             ? at->second
             : special_folders_.emplace(std::pair(abi.elf, folder), at->second).first->second;
}

Result<std::vector<std::string>> System::find_special_folders(const Abi& abi,
                                                              const std::string& folder) {
  std::vector<std::string> found;
  std::vector<std::string_view> names{"glibc-hwcaps", "tls", abi.platform};
  if (abi.elf == kX86.elf) {
    names.insert(names.end(), {"haswell", "xeon_phi", "avx512_1"});
  } else {
    names.insert(names.end(), {"atomics", "cpuid"});
  }
  for (const std::string_view name : names) {
    const auto status = host_.status((folder == "/" ? "" : folder) + "/" + std::string(name));
    if (status) {
      if (status->kind == host::FileStatus::Kind::folder) {
        found.emplace_back(name);
      }
    } else if (status.error().code != Errc::absent) {
      return status.error();
    }
  }
  return found;
}

std::string System::lib(const Abi& abi) {
  for (const std::string& folder : interpreter(abi).folders) {
    if (folder.starts_with("/usr/")) {
      return folder.substr(5);
    }
  }
  const std::string multiarch = "lib/" + std::string(abi.multiarch);
  return host_.exists("/usr/" + multiarch) ? multiarch : "lib64";
}

std::vector<std::string> System::default_folders(const Abi& abi) {
  const Interpreter& loader = interpreter(abi);
  if (!loader.folders.empty()) {
    return loader.folders;
  }
  // Debian's loader looks in the multiarch folders and then lib, Red Hat's in lib64; a folder that
  // a distribution does not use does not exist there, is a link to one that it does, or holds
  // libraries of another machine.
  const std::string multiarch(abi.multiarch);
  return {"/lib/" + multiarch, "/usr/lib/" + multiarch, "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
}

}  // namespace goldenv::loader

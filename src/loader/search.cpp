#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "elf/elf.h"
#include "loader/loader.h"

namespace goldenv::loader {
namespace {

/// What a machine's loader takes: elf(5) e_machine, the flags of its entries in ld.so.cache
/// (glibc sysdeps/generic/ldconfig.h: FLAG_ELF_LIBC6 with the machine's bits), its own name,
/// $PLATFORM.
struct Machine {
  std::uint16_t elf;
  std::uint32_t cache_flags;
  std::string_view interpreter;
  std::string_view platform;
  std::string_view multiarch;
};
constexpr Machine kMachines[] = {
    {62, 0x0303, "/lib64/ld-linux-x86-64.so.2", "x86_64", "x86_64-linux-gnu"},
    {183, 0x0a03, "/lib/ld-linux-aarch64.so.1", "aarch64", "aarch64-linux-gnu"},
};

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? "/" : std::string(path.substr(0, slash));
}

std::string in_folder(std::string_view folder, std::string_view name) {
  while (folder.ends_with('/')) {
    folder.remove_suffix(1);
  }
  return std::string(folder) + "/" + std::string(name);
}

/// The asker's machine, else the one whose loader is installed, else the kernel's.
Result<const Machine*> machine_of(const host::Host& host, const elf::Image* asker) {
  if (asker != nullptr) {
    for (const Machine& machine : kMachines) {
      if (machine.elf == asker->machine && asker->is_64bit) {
        return &machine;
      }
    }
    return Error{
        Errc::unreadable,
        "libraries of ELF machine " + std::to_string(asker->machine) + " are not looked for",
        {}};
  }
  for (const Machine& machine : kMachines) {
    if (host.exists(machine.interpreter)) {
      return &machine;
    }
  }
  const auto system = host.system_name();
  if (!system) {
    return system.error();
  }
  for (const Machine& machine : kMachines) {
    if (machine.platform == system->machine) {
      return &machine;
    }
  }
  return Error{Errc::unreadable, "libraries of " + system->machine + " are not looked for", {}};
}

class Search {
 public:
  Search(const host::Host& host, const Question& question) : host_(host), question_(question) {}

  Result<Answer> run() {
    // Objects from the asker up to the program. Only what the asker's search needs must be
    // readable.
    for (const std::string& path : question_.loaders) {
      images_.push_back(elf::read(host_, path));
    }
    if (!images_.empty() && !images_.front()) {
      return std::move(images_.front())
          .error()
          .while_doing("reading who asks for " + question_.soname);
    }
    const Result<const Machine*> machine =
        machine_of(host_, images_.empty() ? nullptr : &*images_.front());
    if (!machine) {
      return machine.error();
    }
    machine_ = *machine;

    if (question_.soname.find('/') != std::string::npos) {
      return by_path();
    }
    for (const auto step :
         {&Search::preloaded, &Search::already_loaded, &Search::rpaths, &Search::library_path,
          &Search::runpath, &Search::cache, &Search::default_folders}) {
      Result<bool> found = (this->*step)();
      if (!found) {
        return std::move(found).error().while_doing("looking for " + question_.soname);
      }
      if (*found) {
        return finish();
      }
    }
    return Error{Errc::absent, question_.soname + ": the loader finds none",
                 std::move(answer_.trace)};
  }

 private:
  Result<Answer> finish() {
    Result<std::string> real = host_.real_path(answer_.path);
    if (!real) {
      return std::move(real).error();
    }
    answer_.real_path = *std::move(real);
    return std::move(answer_);
  }

  Result<Answer> by_path() {
    const std::optional<std::string> path =
        expand(question_.soname, question_.loaders.empty() ? "" : question_.loaders.front());
    if (!path || !path->starts_with('/')) {
      return Error{
          Errc::unreadable, question_.soname + ": relative to a folder that is not known", {}};
    }
    Result<bool> found = take(*path, "named by its path");
    if (!found) {
      return std::move(found).error();
    }
    if (!*found) {
      return Error{Errc::absent, *path + ": not there", std::move(answer_.trace)};
    }
    return finish();
  }

  /// Whether the loader would open `path` here. A file of another machine or class is passed over;
  /// one that is no ELF file stops the real loader ("invalid ELF header") and is an error here.
  Result<bool> take(const std::string& path, const std::string& why) {
    Result<elf::Image> image = elf::read(host_, path);
    if (!image) {
      if (image.error().code == Errc::absent) {
        return false;
      }
      return std::move(image).error();
    }
    if (image->machine != machine_->elf || !image->is_64bit) {
      answer_.trace.push_back(why + ": " + path + " is of another machine");
      return false;
    }
    answer_.path = path;
    answer_.why = why;
    return true;
  }

  /// $ORIGIN, $LIB and $PLATFORM (with or without braces) filled in; none where $ORIGIN is asked
  /// for and no object is known. $ORIGIN is the folder of the path by which the object was opened:
  /// links are not resolved before `..` is walked.
  std::optional<std::string> expand(std::string_view text, std::string_view object) const {
    std::string expanded;
    while (!text.empty()) {
      const std::size_t dollar = text.find('$');
      expanded += text.substr(0, dollar);
      if (dollar == std::string_view::npos) {
        break;
      }
      text.remove_prefix(dollar);
      bool known = false;
      for (const std::string_view token : {"ORIGIN", "LIB", "PLATFORM"}) {
        const std::string plain = "$" + std::string(token);
        const std::string braced = "${" + std::string(token) + "}";
        const std::string_view written = text.starts_with(braced) ? braced : plain;
        if (!text.starts_with(written)) {
          continue;
        }
        if (token == "ORIGIN" && object.empty()) {
          return std::nullopt;
        }
        expanded += token == "ORIGIN" ? folder_of(object)
                    : token == "LIB"  ? lib_folder()
                                      : std::string(machine_->platform);
        text.remove_prefix(written.size());
        known = true;
        break;
      }
      if (!known) {
        expanded += '$';
        text.remove_prefix(1);
      }
    }
    return expanded;
  }

  /// What this machine's loader was built to put for $LIB: Debian's multiarch folder, else lib64.
  std::string lib_folder() const {
    const std::string multiarch = "lib/" + std::string(machine_->multiarch);
    return host_.exists("/usr/" + multiarch) ? multiarch : "lib64";
  }

  Result<bool> in_folders(const std::vector<std::string>& folders, std::string_view object,
                          const std::string& why) {
    for (const std::string& written : folders) {
      const std::optional<std::string> folder = expand(written, object);
      if (!folder || !folder->starts_with('/')) {
        // The current folder of a process that does not run yet.
        answer_.trace.push_back(why + ": \"" + written + "\" depends on the current folder");
        continue;
      }
      Result<bool> found = take(in_folder(*folder, question_.soname), why);
      if (!found || *found) {
        return found;
      }
      answer_.trace.push_back(why + ": not in " + *folder);
    }
    return false;
  }

  /// Preloaded objects are in memory before anything is searched. What matches is DT_SONAME, or the
  /// very name that was preloaded, not the file name (glibc elf/dl-load.c, _dl_map_object).
  Result<bool> preloaded() {
    for (const std::string& name : question_.preloaded) {
      std::string path = name;
      if (name.find('/') == std::string::npos) {
        Question inner = question_;
        inner.preloaded.clear();
        inner.soname = name;
        if (!question_.loaders.empty()) {
          inner.loaders = {question_.loaders.back()};
        }
        Result<Answer> found = resolve(host_, inner);
        if (!found && found.error().code != Errc::absent) {
          return std::move(found).error();
        }
        path = found ? found->path : "";
      }
      Result<elf::Image> image =
          path.empty() ? Error{Errc::absent, name + ": not found", {}} : elf::read(host_, path);
      if (!image && image.error().code != Errc::absent && image.error().code != Errc::malformed) {
        return std::move(image).error();
      }
      if (!image || image->machine != machine_->elf || !image->is_64bit) {
        answer_.trace.push_back("LD_PRELOAD: " + name + " cannot be preloaded");
        continue;
      }
      if (image->soname == question_.soname || name == question_.soname) {
        answer_.path = path;
        answer_.why = "LD_PRELOAD";
        return true;
      }
    }
    return false;
  }

  Result<bool> already_loaded() {
    // The loader itself, whatever libc's DT_NEEDED says.
    if (question_.soname == machine_->interpreter.substr(machine_->interpreter.rfind('/') + 1)) {
      answer_.path = machine_->interpreter;
      answer_.why = "loaded already";
      return true;
    }
    for (std::size_t i = 0; i < images_.size(); ++i) {
      if (images_[i] && images_[i]->soname == question_.soname) {
        answer_.path = question_.loaders[i];
        answer_.why = "loaded already";
        return true;
      }
    }
    return false;
  }

  Result<bool> rpaths() {
    if (images_.empty() || !images_.front()->runpath.empty()) {
      return false;
    }
    for (std::size_t i = 0; i < images_.size(); ++i) {
      if (!images_[i]) {
        return std::move(images_[i]).error();
      }
      Result<bool> found = in_folders(images_[i]->rpath, question_.loaders[i],
                                      "DT_RPATH of " + question_.loaders[i]);
      if (!found || *found) {
        return found;
      }
    }
    return false;
  }

  Result<bool> library_path() {
    if (question_.library_path.empty()) {
      return false;
    }
    std::string text = question_.library_path;
    std::ranges::replace(text, ';', ':');
    std::vector<std::string> folders;
    for (const std::string_view part : split(text, ':')) {
      folders.emplace_back(part);
    }
    // In a variable $ORIGIN is the program's.
    return in_folders(folders, question_.loaders.empty() ? "" : question_.loaders.back(),
                      "LD_LIBRARY_PATH");
  }

  Result<bool> runpath() {
    if (images_.empty()) {
      return false;
    }
    return in_folders(images_.front()->runpath, question_.loaders.front(),
                      "DT_RUNPATH of " + question_.loaders.front());
  }

  Result<bool> cache() {
    const Result<std::vector<CacheEntry>> own =
        question_.cache == nullptr ? read_cache(host_) : std::vector<CacheEntry>{};
    const Result<std::vector<CacheEntry>>& entries =
        question_.cache == nullptr ? own : *question_.cache;
    if (!entries) {
      if (entries.error().code == Errc::absent) {
        answer_.trace.emplace_back("ld.so.cache: there is none");
        return false;
      }
      return entries.error();
    }
    const CacheEntry* chosen = nullptr;
    for (const CacheEntry& entry : *entries) {
      if (entry.soname != question_.soname || entry.flags != machine_->cache_flags) {
        continue;
      }
      if (chosen == nullptr || (chosen->hwcap != 0 && entry.hwcap == 0)) {
        chosen = &entry;
      }
      if (entry.hwcap != 0) {
        answer_.trace.push_back("ld.so.cache: " + entry.path + " is for certain processors");
      }
    }
    if (chosen == nullptr) {
      answer_.trace.emplace_back("ld.so.cache: has none");
      return false;
    }
    const Result<bool> found = take(chosen->path, "ld.so.cache");
    if (found && !*found) {
      answer_.trace.push_back("ld.so.cache: " + chosen->path + " is not there any more");
    }
    return found;
  }

  /// Debian's loader looks in the multiarch folders and then lib, Red Hat's in lib64; a folder that
  /// a distribution does not use does not exist there or is a link to one that it does.
  Result<bool> default_folders() {
    const std::string multiarch(machine_->multiarch);
    return in_folders(
        {"/lib/" + multiarch, "/usr/lib/" + multiarch, "/lib64", "/usr/lib64", "/lib", "/usr/lib"},
        "", "default folders");
  }

  const host::Host& host_;
  const Question& question_;
  const Machine* machine_ = nullptr;
  std::vector<Result<elf::Image>> images_;
  Answer answer_;
};

}  // namespace

Result<Answer> resolve(const host::Host& host, const Question& question) {
  return Search(host, question).run();
}

}  // namespace goldenv::loader

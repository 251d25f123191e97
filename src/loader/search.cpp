#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "elf/elf.h"
#include "loader/abi.h"
#include "loader/capabilities.h"
#include "loader/loader.h"
#include "loader/system.h"
#include "loader/tokens.h"

namespace goldenv::loader {
namespace {

std::string in_folder(std::string_view folder, std::string_view name) {
  while (folder.ends_with('/')) {
    folder.remove_suffix(1);
  }
  return std::string(folder) + "/" + std::string(name);
}

/// The asker's machine, else the one whose loader is installed, else the kernel's.
Result<const Abi*> abi_of(System& system, const elf::Image* asker) {
  if (asker != nullptr) {
    for (const Abi* abi : kAbis) {
      if (abi->elf == asker->machine && asker->is_64bit) {
        return abi;
      }
    }
    return Error{
        Errc::unreadable,
        "libraries of ELF machine " + std::to_string(asker->machine) + " are not looked for",
        {}};
  }
  if (const Abi* abi = system.installed()) {
    return abi;
  }
  const auto name = system.host().system_name();
  if (!name) {
    return name.error();
  }
  for (const Abi* abi : kAbis) {
    if (abi->platform == name->machine) {
      return abi;
    }
  }
  return Error{Errc::unreadable, "libraries of " + name->machine + " are not looked for", {}};
}

/// Whether two sonames are one to the cache, which compares runs of digits as numbers: "libx.so.1"
/// and "libx.so.01" are. Source: _dl_cache_libcmp of glibc elf/dl-cache.c.
bool is_same_name(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number = [&](std::string_view& text) {
    while (text.size() > 1 && text[0] == '0' && is_digit(text[1])) {
      text.remove_prefix(1);
    }
    std::size_t end = 0;
    while (end < text.size() && is_digit(text[end])) {
      ++end;
    }
    const std::string_view digits = text.substr(0, end);
    text.remove_prefix(end);
    return digits;
  };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      if (number(a) != number(b)) {
        return false;
      }
    } else if (a[0] != b[0]) {
      return false;
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() && b.empty();
}

/// An empty DT_RPATH or DT_RUNPATH names no folder; an empty part of one is the current folder.
bool names_none(const std::vector<std::string>& folders) {
  return folders.empty() || (folders.size() == 1 && folders[0].empty());
}

class Search {
 public:
  Search(System& system, const Question& question) : system_(system), question_(question) {}

  Result<Answer> run() {
    // Objects from the asker up to the program. Only what the asker's search needs must be
    // readable.
    for (const std::string& path : question_.loaders) {
      images_.push_back(&system_.image(path));
    }
    if (!images_.empty() && !*images_.front()) {
      return Error(images_.front()->error())
          .while_doing("reading who asks for " + question_.soname);
    }
    const Result<const Abi*> abi = abi_of(system_, images_.empty() ? nullptr : &**images_.front());
    if (!abi) {
      return abi.error();
    }
    abi_ = *abi;

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
    Result<std::string> real = system_.host().real_path(answer_.path);
    if (!real) {
      return std::move(real).error();
    }
    answer_.real_path = *std::move(real);
    system_.same_image(answer_.path, answer_.real_path);
    return std::move(answer_);
  }

  [[nodiscard]] std::string asker() const {
    return question_.loaders.empty() ? "" : question_.loaders.front();
  }

  Result<std::optional<std::string>> expand(std::string_view text, std::string_view object) {
    return expand_tokens(system_, *abi_, question_.settings, text, object);
  }

  /// A path that a process names, absolute; none where it hangs on a folder that is not known.
  Result<std::optional<std::string>> absolute(std::string_view text, std::string_view object) {
    GOLDENV_TRY(std::optional<std::string> path, expand(text, object));
    if (path && !path->starts_with('/')) {
      path = question_.folder.empty()
                 ? std::nullopt
                 : std::optional(path->empty() ? question_.folder
                                               : in_folder(question_.folder, *path));
    }
    return path;
  }

  Result<Answer> by_path() {
    const Result<std::optional<std::string>> path = absolute(question_.soname, asker());
    if (!path) {
      return path.error();
    }
    if (!*path) {
      return Error{
          Errc::unreadable, question_.soname + ": relative to a folder that is not known", {}};
    }
    Result<bool> found = take(**path, "named by its path");
    if (!found) {
      return std::move(found).error();
    }
    if (!*found) {
      return Error{Errc::absent, **path + ": not there", std::move(answer_.trace)};
    }
    return finish();
  }

  /// Whether the loader would open `path` here. A file of another machine or class is passed over;
  /// one that is no ELF file stops the real loader ("invalid ELF header") and is an error here.
  Result<bool> take(const std::string& path, const std::string& why) {
    const Result<elf::Image>& image = system_.image(path);
    if (!image) {
      if (image.error().code == Errc::absent) {
        return false;
      }
      return image.error();
    }
    if (image->machine != abi_->elf || !image->is_64bit) {
      answer_.trace.push_back(why + ": " + path + " is of another machine");
      return false;
    }
    answer_.path = path;
    answer_.why = why;
    return true;
  }

  /// take for a copy that is for certain processors.
  Result<bool> take_special(const std::string& path, const std::string& why,
                            const std::string& kind, const Verdict& verdict) {
    if (verdict.used == Truth::no) {
      const auto status = system_.host().status(path);
      if (status) {
        answer_.trace.push_back(why + ": passed over " + path + ": " + verdict.because);
      }
      return false;
    }
    Result<bool> found = take(path, why);
    if (!found || !*found) {
      return found;
    }
    if (verdict.used == Truth::unknown) {
      return Error{Errc::unreadable, path + ": " + verdict.because, std::move(answer_.trace)};
    }
    answer_.choice = (kind.empty() ? "" : kind + ": ") + verdict.because;
    return true;
  }

  Result<bool> in_special_folders(const std::string& folder, const std::string& why) {
    const Result<std::vector<std::string>>& special = system_.special_folders(*abi_, folder);
    if (!special) {
      return special.error();
    }
    if (special->empty()) {
      return false;
    }
    for (const Subfolder& sub : system_.capabilities(*abi_, question_.settings).subfolders()) {
      const std::string first = sub.path.substr(0, sub.path.find('/'));
      if (std::ranges::find(*special, first) == special->end()) {
        continue;
      }
      Result<bool> found = take_special(in_folder(folder, sub.path + "/" + question_.soname), why,
                                        sub.path, sub.verdict);
      if (!found || *found) {
        return found;
      }
    }
    return false;
  }

  Result<bool> in_folders(const std::vector<std::string>& folders, std::string_view object,
                          const std::string& why) {
    for (const std::string& written : folders) {
      Result<std::optional<std::string>> folder = absolute(written, object);
      if (!folder) {
        return std::move(folder).error();
      }
      if (!*folder) {
        answer_.trace.push_back(why + ": \"" + written +
                                (written.starts_with("$ORIGIN") || written.starts_with("${ORIGIN}")
                                     ? "\" depends on a program that is not known"
                                     : "\" depends on the current folder"));
        continue;
      }
      Result<bool> found = in_special_folders(**folder, why);
      if (!found || *found) {
        return found;
      }
      found = take(in_folder(**folder, question_.soname), why);
      if (!found || *found) {
        return found;
      }
      answer_.trace.push_back(why + ": not in " + **folder);
    }
    return false;
  }

  /// Preloaded objects are in memory before anything is searched. What matches is DT_SONAME, or the
  /// very name that was preloaded, not the file name (glibc elf/dl-load.c, _dl_map_object).
  Result<bool> preloaded() {
    for (const std::string& name : question_.preloaded) {
      Question inner = question_;
      inner.preloaded.clear();
      inner.soname = name;
      if (!question_.loaders.empty()) {
        inner.loaders = {question_.loaders.back()};
      }
      const Result<Answer> found = Search(system_, inner).run();
      if (!found) {
        const Error& error = found.error();
        const bool relative = name.find('/') != std::string::npos && !name.starts_with('/') &&
                              error.code == Errc::unreadable && question_.folder.empty();
        if (error.code != Errc::absent && error.code != Errc::malformed && !relative) {
          return error;
        }
        answer_.trace.push_back(
            "LD_PRELOAD: " + name +
            (relative ? " depends on the current folder" : " cannot be preloaded"));
        continue;
      }
      const Result<elf::Image>& image = system_.image(found->path);
      if (image && (image->soname == question_.soname || name == question_.soname)) {
        answer_.path = found->path;
        answer_.why = "LD_PRELOAD";
        answer_.choice = found->choice;
        return true;
      }
    }
    return false;
  }

  Result<bool> already_loaded() {
    // The loader itself, whatever libc's DT_NEEDED says.
    if (question_.soname == abi_->interpreter.substr(abi_->interpreter.rfind('/') + 1)) {
      answer_.path = abi_->interpreter;
      answer_.why = "loaded already";
      return true;
    }
    for (std::size_t i = 0; i < images_.size(); ++i) {
      if (*images_[i] && (*images_[i])->soname == question_.soname) {
        answer_.path = question_.loaders[i];
        answer_.why = "loaded already";
        return true;
      }
    }
    return false;
  }

  Result<bool> rpaths() {
    if (images_.empty() || !(*images_.front())->runpath.empty()) {
      return false;
    }
    for (std::size_t i = 0; i < images_.size(); ++i) {
      if (!*images_[i]) {
        return images_[i]->error();
      }
      if (names_none((*images_[i])->rpath)) {
        continue;
      }
      Result<bool> found = in_folders((*images_[i])->rpath, question_.loaders[i],
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
    if (images_.empty() || names_none((*images_.front())->runpath)) {
      return false;
    }
    return in_folders((*images_.front())->runpath, asker(), "DT_RUNPATH of " + asker());
  }

  [[nodiscard]] bool no_default_folders() const {
    return !images_.empty() && (*images_.front())->no_default_folders;
  }

  Result<bool> cache() {
    const Result<std::vector<CacheEntry>>& entries = system_.cache();
    if (!entries) {
      if (entries.error().code == Errc::absent) {
        answer_.trace.emplace_back("ld.so.cache: there is none");
        return false;
      }
      return entries.error();
    }
    std::vector<const CacheEntry*> special;
    const CacheEntry* plain = nullptr;
    // What stands before the first digit is compared first: few of a thousand names share it.
    const std::string_view soname = question_.soname;
    const std::string_view start =
        soname.substr(0, std::min(soname.find_first_of("0123456789"), soname.size()));
    for (const CacheEntry& entry : *entries) {
      if (!entry.soname.starts_with(start) || entry.flags != abi_->cache_flags ||
          !is_same_name(entry.soname, soname)) {
        continue;
      }
      if (entry.hwcap == 0) {
        plain = &entry;
        break;
      }
      special.push_back(&entry);
    }
    if (!special.empty()) {
      Result<const CacheEntry*> chosen = choose(std::move(special));
      if (!chosen) {
        return std::move(chosen).error();
      }
      plain = *chosen != nullptr ? *chosen : plain;
    }
    if (plain == nullptr) {
      answer_.trace.emplace_back("ld.so.cache: has none");
      return false;
    }
    if (no_default_folders()) {
      for (const std::string& folder : system_.default_folders(*abi_)) {
        if (plain->path.starts_with(folder + "/")) {
          answer_.trace.push_back("ld.so.cache: passed over " + plain->path + ": " + asker() +
                                  " asks for no default folders");
          answer_.choice.clear();
          return false;
        }
      }
    }
    const Result<bool> found = take(plain->path, "ld.so.cache");
    if (!found || !*found) {
      answer_.choice.clear();
      answer_.trace.push_back("ld.so.cache: " + plain->path + " is not there any more");
    }
    return found;
  }

  /// Of entries for certain processors, in the order of the file, the one that is taken, or none.
  /// The loader chooses before it opens a file.
  Result<const CacheEntry*> choose(std::vector<const CacheEntry*> entries) {
    const Capabilities& capabilities = system_.capabilities(*abi_, question_.settings);
    std::ranges::stable_sort(entries, {},
                             [&](const CacheEntry* entry) { return capabilities.rank(*entry); });
    for (const CacheEntry* entry : entries) {
      const Verdict verdict = capabilities.judge(*entry);
      if (verdict.used == Truth::unknown) {
        return Error{Errc::unreadable, entry->path + ": " + verdict.because,
                     std::move(answer_.trace)};
      }
      if (verdict.used == Truth::yes) {
        answer_.choice =
            (entry->hwcap_name.empty() ? "" : "glibc-hwcaps/" + entry->hwcap_name + ": ") +
            verdict.because;
        return entry;
      }
      answer_.trace.push_back("ld.so.cache: passed over " + entry->path + ": " + verdict.because);
    }
    return static_cast<const CacheEntry*>(nullptr);
  }

  Result<bool> default_folders() {
    if (no_default_folders()) {
      answer_.trace.push_back("default folders: " + asker() + " asks for none");
      return false;
    }
    return in_folders(system_.default_folders(*abi_), "", "default folders");
  }

  System& system_;
  const Question& question_;
  const Abi* abi_ = nullptr;
  std::vector<const Result<elf::Image>*> images_;
  Answer answer_;
};

}  // namespace

Result<Answer> resolve(const host::Host& host, const Question& question) {
  if (question.system != nullptr) {
    return Search(*question.system, question).run();
  }
  System system(host);
  return Search(system, question).run();
}

}  // namespace goldenv::loader

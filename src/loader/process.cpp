// All that a program loads before it runs. Source: glibc elf/rtld.c (do_preload) and
// elf/dl-deps.c (_dl_map_object_deps).
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "loader/abi.h"
#include "loader/loader.h"
#include "loader/system.h"
#include "loader/tokens.h"

namespace goldenv::loader {
namespace {

constexpr std::size_t kObjectLimit = 20'000;

class Process {
 public:
  Process(System& system, const Question& common) : system_(system), common_(common) {}

  Result<std::vector<Loaded>> run(const std::string& program) {
    GOLDENV_TRY(const elf::Image image, system_.image(program));
    for (const Abi* abi : kAbis) {
      abi_ = abi->elf == image.machine && image.is_64bit ? abi : abi_;
    }
    if (abi_ == nullptr) {
      return Error{
          Errc::unreadable,
          "libraries of ELF machine " + std::to_string(image.machine) + " are not looked for",
          {}};
    }
    const std::string_view loader = abi_->interpreter;
    loader_names_ = {std::string(loader), std::string(loader.substr(loader.rfind('/') + 1))};
    // The loader knows neither the program's path nor its file: the kernel mapped it.
    add({program, program, "", 0}, {image.soname}, nullptr);
    for (const std::string& name : common_.preloaded) {
      Result<bool> done = need(name, 0, true);
      if (!done) {
        return std::move(done).error();
      }
    }
    for (std::size_t at = 0; at < objects_.size(); ++at) {
      if (objects_[at].path.empty()) {
        continue;
      }
      const Result<elf::Image>& asker = system_.image(objects_[at].path);
      if (!asker) {
        return asker.error();
      }
      for (const std::string& written : asker->needed) {
        // An object is known by its name with the tokens filled in.
        GOLDENV_TRY(const std::optional<std::string> name,
                    expand_tokens(system_, *abi_, common_.settings, written, objects_[at].path));
        Result<bool> done = need(name.value_or(written), at, false);
        if (!done) {
          return std::move(done).error();
        }
      }
    }
    return std::move(objects_);
  }

 private:
  struct Identity {
    std::vector<std::string> names;
    std::optional<std::pair<std::uint64_t, std::uint64_t>> file;  ///< device and inode
  };

  void add(Loaded object, std::vector<std::string> names, const host::FileStatus* status) {
    objects_.push_back(std::move(object));
    std::erase(names, "");
    identities_.push_back({std::move(names), std::nullopt});
    if (status != nullptr) {
      identities_.back().file = {status->device, status->inode};
    }
  }

  /// Loads what an object needs by a name, unless it is there.
  Result<bool> need(const std::string& name, std::size_t asker, bool preload) {
    if (std::ranges::find(loader_names_, name) != loader_names_.end()) {
      return true;
    }
    for (const Identity& identity : identities_) {
      if (std::ranges::find(identity.names, name) != identity.names.end()) {
        return true;
      }
    }
    if (objects_.size() >= kObjectLimit) {
      return Error{Errc::too_large, objects_[0].path + ": needs more libraries than any does", {}};
    }
    Question question = common_;
    question.soname = name;
    question.preloaded.clear();
    question.loaders.clear();
    for (std::size_t at = asker;; at = objects_[at].loader) {
      question.loaders.push_back(objects_[at].path);
      if (at == 0) {
        break;
      }
    }
    question.system = &system_;
    Result<Answer> answer = resolve(system_.host(), question);
    if (!answer) {
      const Errc code = answer.error().code;
      if (preload && (code == Errc::absent || code == Errc::malformed)) {
        return true;  // the loader says so and goes on
      }
      if (code != Errc::absent) {
        return std::move(answer).error();
      }
      // The loader remembers what it did not find only for show, and asks again.
      const bool shown = std::ranges::any_of(
          objects_, [&](const Loaded& o) { return o.path.empty() && o.name == name; });
      if (!shown) {
        add({name, "", "", asker, std::move(answer).error().trail}, {}, nullptr);
      }
      return true;
    }
    GOLDENV_TRY(const host::FileStatus status, system_.host().status(answer->path));
    for (Identity& identity : identities_) {
      if (identity.file == std::pair(status.device, status.inode)) {
        identity.names.push_back(name);
        return true;
      }
    }
    const Result<elf::Image>& image = system_.image(answer->path);
    std::vector<std::string> names{name, answer->path, image ? image->soname : ""};
    add({name, std::move(answer->path), preload ? "LD_PRELOAD" : std::move(answer->why), asker,
         std::move(answer->trace), std::move(answer->choice)},
        std::move(names), &status);
    return true;
  }

  System& system_;
  const Question& common_;
  const Abi* abi_ = nullptr;
  std::vector<std::string> loader_names_;
  std::vector<Loaded> objects_;
  std::vector<Identity> identities_;
};

}  // namespace

Result<std::vector<Loaded>> load(const host::Host& host, const std::string& program,
                                 const Question& common) {
  if (common.system != nullptr) {
    return Process(*common.system, common).run(program);
  }
  System system(host);
  return Process(system, common).run(program);
}

}  // namespace goldenv::loader

#include "provision/sources.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"
#include "provision/debs.h"
#include "provision/redist.h"
#include "provision/requests.h"
#include "wheel/name.h"

namespace goldenv::provision {
namespace {

/// Why no source of a component will do, where none of them can be asked.
Error no_source(const Component& component) {
  std::string text;
  for (const recipe::Source& source : component.expansion.sources) {
    text += (text.empty() ? "" : ", ") + called(source);
  }
  for (const std::string& passed : component.expansion.passed_over) {
    text += (text.empty() ? "" : "; ") + passed;
  }
  return {Errc::absent,
          "no source that can be fetched here" + (text.empty() ? "" : " (" + text + ")"),
          {}};
}

/// The package of a wheel source, with what a lock file says of it.
PackageWish wish_of(const Component& component, const recipe::Source& source,
                    const std::string& lock_file) {
  PackageWish wish{wheel::normalised_name(source.name), source.version, {}, {}};
  if (const auto pinned = Sha256::parse(component.sha256)) {
    wish.digests = {*pinned};
  }
  if (!component.locked) {
    return wish;
  }
  wish.digests = component.locked->digests;
  for (const wheel::LockedWheel& wheel : component.locked->wheels) {
    wheel::PageFile file;
    file.file = wheel.file;
    file.url = wheel.url;
    if (file.url.empty()) {
      const std::filesystem::path path =
          std::filesystem::absolute(lock_file).parent_path() / wheel.path;
      file.url = file_url(path.lexically_normal().string());
    }
    file.sha256 = wheel.sha256;
    file.size_bytes = wheel.size_bytes;
    wish.files.push_back(std::move(file));
  }
  return wish;
}

/// One component while its sources are gone through.
struct Walk {
  const Component* component = nullptr;
  std::optional<std::size_t> wish;  ///< of its wheel, among all that are asked for
  std::size_t next = 0;             ///< of its sources, the one to look at
  bool over = false;                ///< found, or nothing else may be taken
  Found found;

  void refuse(const recipe::Source& source, const Error& error) {
    if (found.error.message.empty()) {
      found.error = error;
    } else {
      found.error.message += "; " + called(source) + ": " + error.message;
    }
    if (component->locked || !component->sha256.empty()) {
      over = true;  // that file and no other
      return;
    }
    // Another source is taken where this one does not have it, not where that is not known.
    over = error.code != Errc::absent;
    ++next;
  }

  void take(const recipe::Source& source, std::vector<ObjectRequest> requests) {
    found.source = called(source);
    found.requests = std::move(requests);
    over = true;
    const bool is_library = source.kind == recipe::Kind::redist || source.kind == recipe::Kind::deb;
    if (is_library && component->key.starts_with("python.package.")) {
      found.remarks.push_back(component->key + " is taken from " + called(source) +
                              ": its libraries, and no Python package of that name");
    }
  }

  void take_parts(const recipe::Source& source, const RedistParts& parts,
                  const Interpreter& interpreter) {
    std::vector<ObjectRequest> requests;
    for (const RedistPart& part : parts) {
      requests.push_back(from_redist(*component, source, part, parts.size() == 1, interpreter));
    }
    take(source, std::move(requests));
  }
};

/// Whether a source is a Debian package that apt's lists have to be asked for.
bool is_of_apt(const recipe::Source& source) {
  return source.kind == recipe::Kind::deb && source.url.empty();
}

const recipe::Source* current(const Walk& walk) {
  const auto& sources = walk.component->expansion.sources;
  return walk.over || walk.next >= sources.size() ? nullptr : &sources[walk.next];
}

/// Goes on to where a component is found, or an index of NVIDIA's has to be asked, or to the end.
void go_on(Walk& walk, const std::vector<Result<PackageFile>>& packages, const SourceSearch& search,
           const store::Store& store) {
  while (const recipe::Source* const source = current(walk)) {
    if (source->kind == recipe::Kind::redist) {
      return;
    }
    if (source->kind == recipe::Kind::wheel && walk.wish) {
      const Result<PackageFile>& package = packages[*walk.wish];
      walk.wish.reset();  // a second wheel is not asked for
      if (package) {
        walk.take(*source, {from_wheel(*walk.component, *package, search.interpreter)});
        walk.found.remarks = package->remarks;
      } else {
        walk.refuse(*source, package.error());
      }
      continue;
    }
    if (is_of_apt(*source) && search.machine != nullptr) {
      const auto deb =
          look_for_deb(*walk.component, *source, search.interpreter, *search.machine, store);
      if (deb) {
        walk.take(*source, {from_deb(*walk.component, *deb, search.interpreter)});
      } else {
        walk.refuse(*source, deb.error());
      }
      continue;
    }
    if (auto request = from_archive(*walk.component, *source, search.interpreter)) {
      walk.take(*source, {*std::move(request)});
      continue;
    }
    ++walk.next;
  }
}

Result<void> ask_indices(std::vector<Walk>& walks, const SourceSearch& search,
                         const store::Store& store) {
  std::vector<RedistWish> wishes;
  std::vector<Walk*> asking;
  for (Walk& walk : walks) {
    const recipe::Source* const source = current(walk);
    if (source == nullptr) {
      continue;
    }
    RedistWish wish = redist_wish(*walk.component, *source, search.interpreter);
    const auto known =
        search.search.refresh ? std::optional<RedistParts>{} : remembered_redist(wish, store);
    if (known) {
      walk.take_parts(*source, *known, search.interpreter);
    } else if (search.search.offline) {
      walk.refuse(
          *source,
          {Errc::failed, "no index is asked with --offline, and this one is not remembered", {}});
    } else {
      wishes.push_back(std::move(wish));
      asking.push_back(&walk);
    }
  }
  GOLDENV_TRY(const auto answers, ask_redist(wishes, {}, store));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const recipe::Source& source = *current(*asking[i]);
    if (answers[i]) {
      asking[i]->take_parts(source, *answers[i], search.interpreter);
    } else {
      asking[i]->refuse(source, answers[i].error());
    }
  }
  return {};
}

/// Where no index had a wheel the last time, what was taken instead.
bool take_remembered(Walk& walk, const SourceSearch& search, const store::Store& store) {
  if (search.search.refresh || !walk.component->sha256.empty()) {
    return false;
  }
  for (const recipe::Source& source : walk.component->expansion.sources) {
    if (source.kind == recipe::Kind::redist) {
      const auto parts =
          remembered_redist(redist_wish(*walk.component, source, search.interpreter), store);
      if (parts) {
        walk.take_parts(source, *parts, search.interpreter);
        return true;
      }
    } else if (is_of_apt(source)) {
      const auto deb = remembered_deb(*walk.component, source, search.interpreter, store);
      if (deb) {
        walk.take(source, {from_deb(*walk.component, *deb, search.interpreter)});
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Result<std::vector<Found>> find_sources(const std::vector<Component>& components,
                                        const SourceSearch& search, const store::Store& store) {
  std::vector<Walk> walks(components.size());
  std::vector<PackageWish> wishes;
  for (std::size_t i = 0; i < components.size(); ++i) {
    walks[i].component = &components[i];
    const recipe::Source* const source = source_of(components[i], recipe::Kind::wheel);
    if (source != nullptr && !take_remembered(walks[i], search, store)) {
      walks[i].wish = wishes.size();
      wishes.push_back(wish_of(components[i], *source, search.lock_file));
    }
  }
  GOLDENV_TRY(const PackageAnswers packages,
              find_packages(wishes, search.interpreter, search.packages, search.search, store));
  const auto any_left = [&walks] {
    bool left = false;
    for (const Walk& walk : walks) {
      left = left || current(walk) != nullptr;
    }
    return left;
  };
  while (any_left()) {
    for (Walk& walk : walks) {
      go_on(walk, packages, search, store);
    }
    if (Result<void> asked = ask_indices(walks, search, store); !asked) {
      return std::move(asked).error();
    }
  }
  std::vector<Found> found;
  for (Walk& walk : walks) {
    if (walk.found.requests.empty() && walk.found.error.message.empty()) {
      walk.found.error = no_source(*walk.component);
    }
    found.push_back(std::move(walk.found));
  }
  return found;
}

}  // namespace goldenv::provision

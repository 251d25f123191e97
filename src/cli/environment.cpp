#include "cli/environment.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "base/sha256.h"
#include "base/text.h"
#include "cli/request.h"

namespace goldenv::cli {
namespace {

/// A store that is not there is like one without environments.
Result<store::Store> open_store(const std::string& folder) {
  Result<store::Store> opened = store::Store::open(folder, store::Access::read);
  if (!opened && opened.error().code == Errc::absent) {
    return Error{Errc::usage, "no environment: there is no store at " + folder + " yet", {}};
  }
  return opened;
}

/// A store with the environment in it that is meant.
struct Found {
  store::Store store;
  launch::Chosen chosen;
};

Result<Found> find_named(const std::string& word) {
  if (word.find('/') == std::string::npos) {
    GOLDENV_TRY(const std::string folder, store::Store::default_folder());
    GOLDENV_TRY(store::Store store, open_store(folder));
    GOLDENV_TRY(launch::Chosen chosen, launch::choose(store, word));
    return Found{std::move(store), std::move(chosen)};
  }
  GOLDENV_TRY(const launch::Place place, launch::place_of(word));
  GOLDENV_TRY(store::Store store, open_store(place.store));
  return Found{std::move(store), {place.digest, place.digest.substr(0, 12)}};
}

Result<Found> find_of_manifest(const std::string& file) {
  GOLDENV_TRY(const NamedManifest named, open_manifest(file));
  GOLDENV_TRY(const std::string folder, store::Store::default_folder());
  std::string next = named.file + " as it is has no environment yet; goldenv provision " +
                     named.file + " makes it";
  Result<store::Store> store = store::Store::open(folder, store::Access::read);
  if (!store) {
    return store.error().code == Errc::absent ? Error{Errc::usage, next, {}} : store.error();
  }
  GOLDENV_TRY(const std::vector<store::NamedRoot> roots, store->roots());
  const std::string wanted = root_of(named.manifest);
  const std::string& name = named.manifest.name;
  for (const store::NamedRoot& root : roots) {
    if (root.name == wanted) {
      return Found{*std::move(store),
                   {root.digest, name.empty() ? root.digest.substr(0, 12) : name}};
    }
    if (root.name == name) {  // of an earlier state of it, or of another of that name
      next += "; --env " + name + " is the one of that name";
    }
  }
  return Error{Errc::usage, next, {}};
}

}  // namespace

std::string root_of(const manifest::Manifest& manifest) {
  return "manifest-" + Sha256::of(manifest::render(manifest)).hex().substr(0, 32);
}

void say_strays(const store::Store& store, const store::RootFolder& names) {
  for (const store::StrayRoot& stray : names.strays) {
    say("passed over " + store.at("roots/" + stray.name) + ": " + stray.says);
  }
}

Result<InUse> open_environment(const Invocation& invocation) {
  if (invocation.has("--env") && !invocation.words.empty()) {
    return Error{Errc::usage,
                 "either a manifest or --env says which environment is meant, not both: " +
                     invocation.words.front(),
                 {}};
  }
  GOLDENV_TRY(Found found,
              invocation.has("--env")
                  ? find_named(invocation.value("--env"))
                  : find_of_manifest(invocation.words.empty() ? "" : invocation.words.front()));
  if (!invocation.has("--quiet")) {
    GOLDENV_TRY(const store::RootFolder names, found.store.root_folder());
    say_strays(found.store, names);
  }
  if (!found.store.has_generation(found.chosen.digest)) {
    return Error{Errc::usage,
                 "the environment " + found.chosen.name +
                     " is no longer there: " + found.store.generation(found.chosen.digest) +
                     "; goldenv provision of its manifest makes it anew",
                 {}};
  }
  GOLDENV_TRY(store::Lease lease, found.store.lease(found.chosen.digest));
  Result<launch::Opened> opened = launch::open_environment(found.store, found.chosen);
  if (!opened) {
    Error error = std::move(opened).error();
    if (error.code == Errc::absent || error.code == Errc::malformed) {
      error.message += "; goldenv provision of its manifest makes it anew";
    }
    return error;
  }
  if (const Result<void> has_python = launch::check_python(opened->environment); !has_python) {
    return has_python.error();
  }
  return InUse{std::move(lease), std::move(opened->environment), std::move(opened->expected)};
}

Result<launch::Choices> choices_of(const Invocation& invocation) {
  launch::Choices choices;
  choices.keep = invocation.values("--keep");
  choices.drop = invocation.values("--drop");
  choices.clean = invocation.has("--clean-env");
  for (const std::string& text : invocation.values("--set")) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{Errc::usage, "--set is NAME=VALUE, not \"" + text + "\"", {}};
    }
    choices.set.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return choices;
}

std::vector<launch::Variable> own_variables() { return launch::parse_environ(::environ); }

void say_decisions(const Invocation& invocation, const launch::Plan& plan) {
  if (invocation.has("--quiet")) {
    return;
  }
  std::vector<std::string> kept;
  for (const launch::Decision& decision : plan.decisions) {
    if (decision.action == launch::Action::drop) {
      say("dropped " + decision.name + ", which " + decision.reason);
    } else {
      kept.push_back(decision.name);
    }
  }
  if (!kept.empty()) {
    say("kept, though " + std::string(kept.size() == 1 ? "it changes" : "they change") +
        " what runs (--keep or --drop decides): " + join(kept, ", "));
  }
}

}  // namespace goldenv::cli

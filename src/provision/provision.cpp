#include "provision/provision.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"
#include "provision/sources.h"
#include "store/descriptor.h"
#include "wheel/name.h"

namespace goldenv::provision {
namespace {

constexpr std::size_t kMetadataLimitBytes = 16u << 20;

compose::BasePython base_of(const Interpreter& interpreter) {
  return {interpreter.base, interpreter.minor};
}

std::string name_of_file(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Where the packages of a requirements file come from, unless the user says something else.
void add_sources(const wheel::LockedSources& sources, PackageOptions& options) {
  if (options.index.empty() && sources.index_url) {
    options.index = *sources.index_url;
  }
  if (options.extra_indexes.empty()) {
    options.extra_indexes = sources.extra_index_urls;
  }
  options.find_links.insert(options.find_links.end(), sources.find_links.begin(),
                            sources.find_links.end());
  options.no_index = options.no_index || sources.no_index;
}

Step step_of(const Component& component, const std::string& source, ObjectRequest request,
             const store::Store& store) {
  Step step;
  step.key = component.key;
  step.version = component.version;
  step.source = source;
  request.key = object_key(request);
  store::Object object;
  object.key = request.key;
  object.name = request.name;
  object.version = request.version;
  step.object = object.id();
  step.present = store.has(request.key);
  step.request = std::move(request);
  return step;
}

Result<std::string> read_metadata(const store::Store& store, const std::string& id) {
  const std::string site = store.tree(id) + "/site";
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(site, none)) {
    if (!entry.path().filename().string().ends_with(".dist-info")) {
      continue;
    }
    const std::string path = entry.path().string() + "/METADATA";
    const store::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat status;
    if (!file || fstat(file.get(), &status) != 0 || status.st_size < 0 ||
        static_cast<std::size_t>(status.st_size) > kMetadataLimitBytes) {
      return Error{Errc::failed, "cannot read " + path, {}};
    }
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    if (read(file.get(), text.data(), text.size()) != status.st_size) {
      return Error{Errc::failed, "cannot read " + path, {}};
    }
    return text;
  }
  return Error{Errc::malformed, id + " has no METADATA", {}};
}

}  // namespace

bool Plan::is_present() const {
  return faults.empty() && std::ranges::all_of(steps, &Step::present);
}

std::string object_key(const ObjectRequest& request) {
  std::string text = "goldenv object 1\nkind " + request.kind + "\nname " + request.name +
                     "\nversion " + request.version + "\nartifact " + request.sha256 + "\npython " +
                     request.python + "\nstrip " + std::to_string(request.strip) + "\ncopy " +
                     (request.copy ? "1" : "0") + "\n";
  for (const recipe::Layout& layout : request.place) {
    text += "place " + layout.from + " " + layout.to + "\n";
  }
  for (const recipe::Variable& variable : request.environment) {
    text += "set " + variable.name + "=" + variable.value + "\n";
  }
  for (const std::string& folder : request.unfold) {
    text += "unfold " + folder + "\n";
  }
  return Sha256::of(text).hex();
}

Result<Plan> make_plan(const Goal& goal, const recipe::Collection& recipes, const Options& options,
                       const store::Store& store) {
  Plan plan;
  const manifest::Manifest& manifest = goal.manifest;
  const manifest::Pin* const python = manifest.find({"python", {}});
  InterpreterWish wish{options.python, "", manifest.target_python};
  if (python != nullptr && python->want.kind == facts::Want::Kind::exact) {
    wish.pinned = python->want.value.text;
  }
  GOLDENV_TRY(plan.interpreter, find_interpreter(wish, store));
  PackageOptions packages = options.packages;
  const Around around{plan.interpreter.target.machine, plan.interpreter.version, options.values};
  if (goal.lock_file.empty()) {
    GOLDENV_TRY(plan.wanted, wanted_of(manifest, recipes, around));
  } else {
    GOLDENV_TRY(const wheel::LockedSet set,
                wheel::parse_lock(goal.lock_text, wheel::lock_form(name_of_file(goal.lock_file)),
                                  goal.lock_file,
                                  wheel::linux_environment(plan.interpreter.version, around.arch)));
    plan.wanted = wanted_of(set, recipes, around);
    add_sources(set.sources, packages);
  }

  GOLDENV_TRY(std::vector<Found> found, find_sources(plan.wanted.components,
                                                     {plan.interpreter, packages, options.search,
                                                      goal.lock_file, options.machine},
                                                     store));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Component& component = plan.wanted.components[i];
    if (found[i].requests.empty()) {
      plan.faults.push_back({component.key, component.version, std::move(found[i].error)});
      continue;
    }
    for (ObjectRequest& request : found[i].requests) {
      if (!options.compile) {
        request.python.clear();
      }
      Step step = step_of(component, found[i].source, std::move(request), store);
      step.remarks = std::exchange(found[i].remarks, {});
      step.fetched = store.artifact(Sha256::parse(step.request.sha256).value_or({})).has_value();
      if (!step.present && !step.fetched) {
        plan.fetch_bytes += step.request.size_bytes.value_or(0);
        plan.unsized += step.request.size_bytes ? std::size_t{0} : std::size_t{1};
      }
      plan.steps.push_back(std::move(step));
    }
  }

  compat::Set versions = compat::versions_of(manifest);
  const wheel::Target& target = plan.interpreter.target;
  if (target.glibc_major != 0) {
    versions.put("glibc",
                 std::to_string(target.glibc_major) + "." + std::to_string(target.glibc_minor));
  }
  versions.put("python", plan.interpreter.version);
  for (compat::Answer& answer : compat::judge(versions)) {
    if (answer.verdict == compat::Verdict::incompatible) {
      plan.impossible.push_back(std::move(answer));
    }
  }
  if (plan.faults.empty() && !plan.steps.empty()) {
    std::vector<std::string> ids;
    for (const Step& step : plan.steps) {
      ids.push_back(step.object);
    }
    plan.digest = compose::generation_digest(std::move(ids), base_of(plan.interpreter));
    plan.composed =
        store.has_generation(plan.digest) && compose::is_intact(store, plan.digest).value_or(false);
  }
  return plan;
}

Result<Obstacles> realise_steps(const Plan& plan, const Options& options, const store::Store& store,
                                const Watch& watch) {
  Obstacles obstacles;
  RealiseRequest request;
  for (const Step& step : plan.steps) {
    if (!step.present) {
      request.objects.push_back(step.request);
    }
  }
  if (request.objects.empty()) {
    return obstacles;
  }
  request.store = store.folder();
  request.offline = options.search.offline;
  request.python = plan.interpreter.base;
  if (!options.search.offline) {
    // The index is known by now; what is asked for here is how the network is reached.
    const bool any_package = std::ranges::any_of(
        request.objects, [](const ObjectRequest& object) { return object.kind == "wheel"; });
    if (any_package) {
      GOLDENV_TRY(const Packages packages, packages_of(plan.interpreter, options.packages));
      request.network = packages.network;
    }
  }
  GOLDENV_TRY(RealiseReply reply, realise(request, watch));
  obstacles.refused = std::move(reply.refused);
  return obstacles;
}

Result<std::vector<Unmet>> open_requirements(const Plan& plan, const store::Store& store) {
  std::vector<Installed> set;
  for (const Step& step : plan.steps) {
    if (step.request.kind != "wheel") {
      continue;
    }
    GOLDENV_TRY(const std::string text, read_metadata(store, step.object));
    auto metadata = wheel::parse_metadata(text);
    if (!metadata) {
      return std::move(metadata).error().while_doing("reading METADATA of " + step.object);
    }
    set.push_back(
        {wheel::normalised_name(step.request.name), step.request.version, *std::move(metadata)});
  }
  return unmet_requirements(
      set, wheel::linux_environment(plan.interpreter.version, plan.interpreter.target.machine));
}

Result<Done> compose_steps(const Plan& plan, const store::Store& store) {
  Done done;
  done.digest = plan.digest;
  if (store.has_generation(plan.digest)) {
    GOLDENV_TRY(const bool intact, compose::is_intact(store, plan.digest));
    if (intact) {
      done.environment.folder = store.generation(plan.digest);
      done.environment.present = true;
      return done;
    }
  }
  std::vector<store::Object> objects;
  for (const Step& step : plan.steps) {
    GOLDENV_TRY(std::optional<store::Object> object, store.find(step.request.key));
    if (!object) {
      return Error{Errc::failed, step.object + " is not in the store", {}};
    }
    objects.push_back(*std::move(object));
  }
  GOLDENV_TRY(const compose::Plan composition,
              compose::plan(store, std::move(objects), base_of(plan.interpreter)));
  GOLDENV_TRY(done.environment, compose::compose(store, composition));
  done.digest = composition.digest;
  return done;
}

}  // namespace goldenv::provision

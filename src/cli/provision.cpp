#include "provision/provision.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

#include "base/text.h"
#include "cli/apply.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/output.h"
#include "cli/provision_text.h"
#include "cli/request.h"
#include "host/host.h"
#include "report/text.h"
#include "source/text_file.h"

namespace goldenv::cli {

extern const Command check;

namespace {

constexpr std::array<OptionSpec, 18> kOptions = {{
    {"--plan", "", "say what would be done, and do nothing", false, ""},
    {"--offline", "", "ask no index and fetch nothing: of what the store has", false, ""},
    {"--refresh", "", "ask indexes again for what is remembered", false, ""},
    {"--force", "", "also what tables say cannot work together", false, ""},
    {"--name", "NAME", "what the environment is called; default: the manifest's name", false, ""},
    {"--python", "P", "the Python to build on: its prefix or interpreter", false, ""},
    {"--index", "URL", "the package index, instead of the one that pip is set to use", false, ""},
    {"--extra-index", "URL", "a further index", true, ""},
    {"--find-links", "PLACE", "a folder or page with wheels", true, ""},
    {"--no-index", "", "ask no index, only --find-links", false, ""},
    {"--source-host", "NAME=URL", "a host of recipes' sources: nvidia=https://mirror.example", true,
     ""},
    {"--recipes", "DIR", "a folder of recipes, which win over goldenv's own", false, ""},
    {"--no-compile", "", "do not compile Python modules: the first import does", false, ""},
    {"--no-check", "", "do not check this machine against the manifest at the end", false, ""},
    kScriptOption,
    kApplyOption,
    kDigestOption,
    kRollbackOption,
}};

/// What everything else needs to know of the command line.
struct Setting {
  std::string file;  ///< the manifest's, or the lock file's
  provision::Goal goal;
  recipe::Collection recipes;
  provision::Options options;
  std::string root;  ///< the environment's name
  std::unique_ptr<host::Host> machine;
};

Result<recipe::Values> hosts_of(const Invocation& invocation, const recipe::Collection& recipes) {
  std::set<std::string> known;
  for (const recipe::Recipe* const recipe : recipes.all()) {
    for (const auto& [name, url] : recipe->hosts) {
      known.insert(name);
    }
  }
  recipe::Values values;
  for (const std::string& word : invocation.values("--source-host")) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{Errc::usage, "--source-host takes NAME=URL, not " + word, {}};
    }
    const std::string name = word.substr(0, equals);
    if (!known.contains(name)) {
      return Error{Errc::usage,
                   "--source-host " + name + ": no recipe has such a host; there are " +
                       join({known.begin(), known.end()}, ", "),
                   {}};
    }
    values["host." + name] = word.substr(equals + 1);
  }
  return values;
}

/// The recipes of a folder, beside goldenv's own.
Result<recipe::Collection> recipes_of(const Invocation& invocation) {
  recipe::Collection recipes = recipe::shipped_collection();
  const std::string folder = invocation.value("--recipes");
  if (folder.empty()) {
    return recipes;
  }
  std::error_code failure;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    if (entry.path().extension() == ".yaml") {
      names.push_back(entry.path().string());
    }
  }
  if (failure || names.empty()) {
    return Error{Errc::usage,
                 folder + (failure ? ": " + failure.message() : " has no *.yaml file in it"),
                 {}};
  }
  std::ranges::sort(names);
  std::vector<recipe::Text> texts;
  for (const std::string& name : names) {
    GOLDENV_TRY(std::string text, source::read_path(name));
    texts.push_back({name, std::move(text)});
  }
  if (const Result<void> added = recipes.add(texts); !added) {
    return added.error();
  }
  return recipes;
}

/// A lock file of another tool is told by its name.
bool is_lock_file(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  return name == "uv.lock" || name.ends_with(".txt") ||
         (name.starts_with("pylock.") && name.ends_with(".toml"));
}

Result<Setting> setting_of(const Invocation& invocation) {
  Setting setting;
  const std::string file = invocation.words.empty() ? default_manifest() : invocation.words.front();
  if (file == "-") {
    return Error{Errc::usage, "provision takes a file: it is read again for the check", {}};
  }
  if (is_lock_file(file)) {
    GOLDENV_TRY(setting.goal.lock_text, source::read_path(file));
    setting.file = setting.goal.lock_file = file;
  } else {
    GOLDENV_TRY(NamedManifest manifest, open_manifest(file));
    setting.file = std::move(manifest.file);
    setting.goal.manifest = std::move(manifest.manifest);
  }
  GOLDENV_TRY(setting.recipes, recipes_of(invocation));
  provision::Options& options = setting.options;
  options.python = invocation.value("--python");
  options.packages.index = invocation.value("--index");
  options.packages.extra_indexes = invocation.values("--extra-index");
  options.packages.find_links = invocation.values("--find-links");
  options.packages.no_index = invocation.has("--no-index");
  options.search.offline = invocation.has("--offline");
  options.search.refresh = invocation.has("--refresh");
  options.compile = !invocation.has("--no-compile");
  GOLDENV_TRY(options.values, hosts_of(invocation, setting.recipes));
  setting.machine = host::live_host();
  options.machine = setting.machine.get();
  setting.root = invocation.value("--name");
  if (!invocation.has("--name")) {
    const std::string name = !setting.goal.manifest.name.empty()
                                 ? setting.goal.manifest.name
                                 : std::filesystem::path(setting.file).stem().string();
    setting.root = store::reduced(name);
    if (setting.root != name && !invocation.has("--plan")) {
      say("the environment is called " + setting.root + " (--name gives it another name)");
    }
  }
  if (const Result<void> checked = store::check_name(setting.root); !checked) {
    return Error{checked.error().code,
                 checked.error().message + (invocation.has("--name") ? "" : "; give --name"),
                 {}};
  }
  return setting;
}

/// One line that is written over itself on a terminal; elsewhere nothing until the end.
class Display {
 public:
  Display() : terminal_(isatty(STDERR_FILENO) == 1) {}
  ~Display() { clear(); }
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  void show(const provision::Progress& progress) {
    if (!terminal_) {
      return;
    }
    clear();
    std::string line = std::to_string(progress.made) + " of " + std::to_string(progress.objects) +
                       " realised, " + bytes_text(progress.bytes);
    if (progress.of > progress.bytes) {
      line += " of " + bytes_text(progress.of);
    }
    std::fputs(line.c_str(), stderr);
    width_ = line.size();
  }

 private:
  void clear() {
    if (width_ > 0) {
      std::fprintf(stderr, "\r%*s\r", static_cast<int>(width_), "");
      width_ = 0;
    }
  }

  bool terminal_;
  std::size_t width_ = 0;
};

/// Why a plan cannot be carried out; nothing where it can.
Result<void> check_plan(const provision::Plan& plan, bool force) {
  if (plan.wanted.components.empty()) {
    return Error{Errc::usage, "the manifest pins nothing that goldenv realises", {}};
  }
  if (!plan.wanted.open.empty()) {
    return Error{Errc::usage,
                 "not exact: " + plan.wanted.open.front().key + " is left open (" +
                     std::to_string(plan.wanted.open.size()) +
                     " in all); `goldenv lock` closes pins from an installed environment",
                 {}};
  }
  if (!plan.impossible.empty() && !force) {
    return Error{
        Errc::usage, plan.impossible.front().reason + " (--force tries it all the same)", {}};
  }
  if (!plan.faults.empty()) {
    return Error{plan.faults.front().error.code == Errc::usage ? Errc::usage : Errc::failed,
                 plan.faults.front().key + " " + plan.faults.front().version + ": " +
                     plan.faults.front().error.message,
                 {}};
  }
  return {};
}

void say_lines(const std::string& text) {
  for (const std::string_view line : lines(text)) {
    say(line);
  }
}

int refuse(const std::vector<provision::Refused>& refused) {
  for (const provision::Refused& one : refused) {
    say((one.id.empty() ? "" : one.id + ": ") + one.error.message);
  }
  return kStepFailed;
}

/// Whether this machine, with the new environment, is what the manifest wants.
int check_environment(const Setting& setting, const std::string& prefix, bool on_screen) {
  Invocation invocation;
  invocation.options["--manifest"] = {setting.file};
  invocation.options["--python"] = {prefix};
  if (!on_screen) {
    invocation.options["--output"] = {"/dev/null"};
  }
  return check.run(invocation);
}

int carry_out(const Invocation& invocation, const Setting& setting, provision::Plan plan,
              const store::Store& store) {
  const bool on_screen =
      invocation.value("--format", "text") == "text" && invocation.value("--output", "-") == "-";
  {
    Display display;
    const auto obstacles = provision::realise_steps(
        plan, setting.options, store, [&](const provision::Progress& now) { display.show(now); });
    if (!obstacles) {
      return fail(obstacles.error());
    }
    if (!obstacles->refused.empty()) {
      return refuse(obstacles->refused);
    }
  }
  const auto unmet = provision::open_requirements(plan, store);
  if (!unmet) {
    return fail(unmet.error());
  }
  // A version that somebody pinned is what they want to see under the others; one that nobody
  // pinned would have to be chosen.
  std::vector<provision::Unmet> missing;
  for (const provision::Unmet& one : *unmet) {
    if (one.has.empty()) {
      missing.push_back(one);
    } else {
      say_lines(unmet_text({one}));
    }
  }
  if (!missing.empty()) {
    say("not exact: " + std::to_string(missing.size()) +
        (missing.size() == 1 ? " requirement is" : " requirements are") +
        " not met by what is pinned");
    say_lines(unmet_text(missing));
    return kUsage;
  }
  const auto done = provision::compose_steps(plan, store);
  if (!done) {
    return fail(done.error());
  }
  if (const Result<void> named = store.set_root(setting.root, done->digest); !named) {
    return fail(named.error());
  }
  if (setting.goal.lock_file.empty()) {
    // What `goldenv run MANIFEST` looks for: it follows from all that the manifest says.
    if (const Result<void> named = store.set_root(root_of(setting.goal.manifest), done->digest);
        !named) {
      return fail(named.error());
    }
  }
  const Rendering rendering{
      [&](report::Colour) {
        return "environment " + report::printable(setting.root) + ": " +
               report::printable(done->environment.folder) +
               (done->environment.mended    ? " (mended)"
                : done->environment.present ? " (was there)"
                                            : "") +
               "\n";
      },
      [&] {
        doc::Node node = plan_data(plan);
        node.entries.push_back({"name", {}, doc::Node::scalar(setting.root, true)});
        node.entries.push_back({"prefix", {}, doc::Node::scalar(done->environment.folder, true)});
        return node;
      },
      {}};
  const int delivered = deliver(invocation, rendering, kWell);
  if (delivered != kWell || invocation.has("--no-check") || !setting.goal.lock_file.empty()) {
    return delivered;
  }
  return check_environment(setting, done->environment.folder, on_screen);
}

/// --plan: also what takes root. A manifest may ask for that alone.
int show_plan(const Invocation& invocation, const Setting& setting, const provision::Plan& plan,
              const Result<void>& possible) {
  const auto machine =
      privileged_of(invocation, setting.goal.manifest, setting.recipes, setting.options.values);
  if (!machine) {
    return fail(machine.error());
  }
  if (invocation.has("--script") && !machine->script.empty()) {
    if (const Result<void> written = write_script(invocation.value("--script"), machine->script);
        !written) {
      return fail(written.error());
    }
  }
  const bool is_all_of_machine = plan.wanted.components.empty() && !machine->is_empty();
  const int status = possible || is_all_of_machine ? kWell : status_of(possible.error());
  const Rendering rendering{
      [&](report::Colour) { return plan_text(plan) + privileged_text(*machine); },
      [&] {
        doc::Node node = plan_data(plan);
        node.entries.push_back({"privileged", {}, privileged_data(*machine)});
        return node;
      },
      {}};
  return deliver(invocation, rendering, status);
}

/// A folder that is gone at the end.
class Shelter {
 public:
  Shelter() = default;
  Shelter(const Shelter&) = delete;
  Shelter& operator=(const Shelter&) = delete;
  ~Shelter() {
    std::error_code none;
    if (!folder_.empty()) {
      std::filesystem::remove_all(folder_, none);
    }
  }
  const std::string& make() const {
    std::error_code none;
    std::string pattern = (std::filesystem::temp_directory_path(none) / "goldenv-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) {
      folder_ = pattern;
    }
    return folder_;
  }

 private:
  mutable std::string folder_;
};

/// The store for a plan, in which nothing changes; where there is none, an empty one.
Result<store::Store> open_to_look(const std::string& folder, const Shelter& shelter) {
  auto store = store::Store::open(folder, store::Access::read);
  if (store || store.error().code != Errc::absent) {
    return store;
  }
  const std::string& empty = shelter.make();
  if (empty.empty()) {
    return Error{Errc::failed, "no temporary folder can be made", {}};
  }
  return store::Store::open(empty + "/store", store::Access::write);
}

int run_provision(const Invocation& invocation) {
  const bool is_plan = invocation.has("--plan");
  if (is_plan + invocation.has("--apply") + invocation.has("--rollback") > 1) {
    return fail({Errc::usage, "--plan, --apply and --rollback: one of them", {}});
  }
  if (invocation.has("--rollback")) {
    return run_rollback();
  }
  const auto setting = setting_of(invocation);
  if (!setting) {
    return fail(setting.error());
  }
  if (invocation.has("--apply") || (invocation.has("--script") && !is_plan)) {
    return run_privileged(invocation, setting->goal.manifest, setting->recipes,
                          setting->options.values);
  }
  const auto folder = store::Store::default_folder();
  if (!folder) {
    return fail(folder.error());
  }
  const Shelter shelter;
  const auto store =
      is_plan ? open_to_look(*folder, shelter) : store::Store::open(*folder, store::Access::write);
  if (!store) {
    return fail(store.error());
  }
  auto plan = provision::make_plan(setting->goal, setting->recipes, setting->options, *store);
  if (!plan) {
    return fail(plan.error());
  }
  const Result<void> possible = check_plan(*plan, invocation.has("--force"));
  if (is_plan) {
    return show_plan(invocation, *setting, *plan, possible);
  }
  if (!possible) {
    say_lines(plan_text(*plan));
    return fail(possible.error());
  }
  if (plan->interpreter.why.find(';') != std::string::npos) {
    say("Python " + plan->interpreter.version + ", " + plan->interpreter.why);
  }
  return carry_out(invocation, *setting, *std::move(plan), *store);
}

}  // namespace

extern const Command provision_command{"provision",
                                       "[MANIFEST]",
                                       0,
                                       1,
                                       "realise what a manifest pins, as an environment",
                                       "goldenv provision goldenv.yaml",
                                       kOptions,
                                       run_provision};

}  // namespace goldenv::cli

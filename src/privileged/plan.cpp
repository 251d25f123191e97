#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "diff/check.h"
#include "facts/catalogue.h"
#include "facts/want.h"
#include "privileged/boot_words.h"
#include "privileged/packages.h"
#include "privileged/privileged.h"

namespace goldenv::privileged {
namespace {

using facts::Layer;
using facts::Value;
using facts::Want;

constexpr std::string_view kNextBoot = "next_boot.";
constexpr std::string_view kSysctl = "sysctl.";
constexpr std::string_view kModule = "module.";
constexpr std::string_view kParameter = ".param.";
constexpr std::string_view kCommandLine = "kernel.cmdline";

/// The key without "next_boot.".
std::string_view base_of(std::string_view key) {
  return key.starts_with(kNextBoot) ? key.substr(kNextBoot.size()) : key;
}

bool is_module_parameter(std::string_view key) {
  return key.starts_with(kModule) && key.find(kParameter) != std::string_view::npos;
}

bool is_command_line(std::string_view key) {
  return key == kCommandLine ||
         (key.starts_with(kCommandLine) && key.substr(kCommandLine.size()).starts_with('.'));
}

/// Whether there are steps for a key of this kind.
bool has_steps(std::string_view key) {
  const std::string_view base = base_of(key);
  return base.starts_with(kSysctl) || is_module_parameter(base) || is_command_line(base) ||
         key == "cpu.governor" || key == "thp.enabled" || key == "thp.defrag" ||
         key == "cuda.toolkit.link" || key.starts_with(kDebianPackage);
}

/// Layers whose pins are named where nothing is done for them; what lies above follows from the
/// environment.
bool is_of_machine(Layer layer) {
  constexpr std::array<Layer, 9> kLayers = {Layer::firmware, Layer::hardware, Layer::kernel,
                                            Layer::driver,   Layer::network,  Layer::tuning,
                                            Layer::limits,   Layer::storage,  Layer::services};
  return std::ranges::find(kLayers, layer) != kLayers.end();
}

bool consists_of(std::string_view text, std::string_view more) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           more.find(c) != std::string_view::npos;
  });
}

/// Whether a text can stand in a line of a configuration file: printable ASCII without what has a
/// meaning of its own to one of its readers.
bool is_plain(std::string_view text, std::string_view without) {
  return std::ranges::all_of(text, [&](char c) {
    return c >= ' ' && c <= '~' && without.find(c) == std::string_view::npos;
  });
}

/// Whether a name of a sysctl stays below /proc/sys. Its dots part folders, its slashes are dots.
bool is_sysctl_name(std::string_view name) {
  if (!consists_of(name, "._-/:@+,")) {
    return false;
  }
  return std::ranges::none_of(split(name, '.'), [](std::string_view part) {
    return part.empty() || part == "/" || part == "//";
  });
}

/// Makes the steps of one plan.
class Planner {
 public:
  Planner(const manifest::Manifest& pins, const facts::Snapshot& snapshot,
          const recipe::Collection& recipes, const Around& around)
      : pins_(pins), snapshot_(snapshot), recipes_(recipes), around_(around) {}

  Plan take() {
    const diff::Check check = diff::check(pins_, snapshot_);
    add(check.differences);
    for (const diff::Undecided& undecided : check.undecided) {
      if (has_steps(undecided.key.name) || recipe_of(recipes_, undecided.key.name) != nullptr) {
        plan_.unknown.push_back(
            {undecided.key.text(), undecided.wanted,
             undecided.why.empty() ? facts::describe(undecided.b) : undecided.why});
      }
    }
    std::ranges::stable_sort(plan_.steps, [](const Step& a, const Step& b) {
      return a.kind != b.kind ? a.kind < b.kind : a.name < b.name;
    });
    return std::move(plan_);
  }

 private:
  void add(const std::vector<diff::Difference>& differences) {
    for (const diff::Difference& difference : differences) {
      key_ = difference.key.text();
      wanted_ = difference.wanted;
      have_ = facts::describe(difference.b);
      if (const manifest::Pin* const pin = pins_.find(difference.key)) {
        add(*pin, difference.b);
      }
      add(difference.with);
    }
  }

  void cannot(std::string why) { plan_.cannot.push_back({key_, wanted_, std::move(why)}); }
  void waits(std::string why) { plan_.waiting.push_back({key_, wanted_, std::move(why)}); }

  void add(const manifest::Pin& pin, const facts::Reading& found) {
    const std::string& key = pin.key.name;
    const std::string_view base = base_of(key);
    if (!pin.key.label.empty()) {
      return cannot("goldenv changes a machine as a whole, and not one instance");
    }
    if (is_command_line(base)) {
      return add_boot(pin, base);
    }
    const bool is_step = has_steps(key);
    const recipe::Recipe* const recipe = is_step ? nullptr : recipe_of(recipes_, key);
    if (!is_step && recipe == nullptr) {
      const recipe::Recipe* const any = recipes_.find(key);
      return cannot(any != nullptr && !any->cannot.empty() ? any->cannot
                                                           : "goldenv has no step for it");
    }
    if (pin.want.kind == Want::Kind::absent) {
      return cannot(key.starts_with(kDebianPackage) || recipe != nullptr
                        ? "goldenv removes no package"
                        : "what sets it has to be taken away by hand");
    }
    if (pin.want.kind != Want::Kind::exact || pin.want.value.form != Value::Form::scalar) {
      return cannot("it leaves a choice: pin one value");
    }
    const std::string& want = pin.want.value.text;
    if (want.find(facts::kMask) != std::string::npos) {
      return cannot("a part of it is masked as a secret");
    }
    if (base.starts_with(kSysctl)) {
      return add_sysctl(std::string(base.substr(kSysctl.size())), want, key == base, found);
    }
    if (is_module_parameter(base)) {
      return add_module_parameter(pin, base, want);
    }
    if (key.starts_with(kDebianPackage) || recipe != nullptr) {
      return add_package(pin, want, found);
    }
    if (key == "cuda.toolkit.link") {
      return add_link(want, found);
    }
    if (!consists_of(want, "_+-")) {
      return cannot("no such value");
    }
    if (std::holds_alternative<facts::Absent>(found)) {
      return cannot("this kernel has no such setting");
    }
    const bool is_governor = key == "cpu.governor";
    add({.kind = is_governor ? Step::Kind::governor : Step::Kind::huge_pages,
         .keys = {},
         .name = is_governor ? "" : key.substr(key.find('.') + 1),
         .want = want,
         .words = {},
         .have = {},
         .now = true,
         .lasting = false,
         .package = {}});
  }

  /// Two pins on one thing become one step, or contradict each other.
  void add(Step step) {
    step.keys = {key_};
    step.have = have_;
    const auto same = std::ranges::find_if(plan_.steps, [&](const Step& other) {
      return other.kind == step.kind && other.name == step.name;
    });
    if (same == plan_.steps.end()) {
      plan_.steps.push_back(std::move(step));
      return;
    }
    if (same->want != step.want || same->words != step.words) {
      return cannot(same->keys.front() + " wants another value of the same thing");
    }
    same->keys.push_back(key_);
    same->now = same->now || step.now;
    same->lasting = same->lasting || step.lasting;
  }

  void add_sysctl(std::string name, const std::string& want, bool now,
                  const facts::Reading& found) {
    if (!is_sysctl_name(name)) {
      return cannot("no such name of a sysctl");
    }
    if (!is_plain(want, "") || trim(want).empty()) {
      return cannot("its value cannot stand in a line of sysctl.d");
    }
    if (now && std::holds_alternative<facts::Absent>(found)) {
      return cannot("this kernel has no such sysctl");
    }
    add({.kind = Step::Kind::sysctl,
         .keys = {},
         .name = std::move(name),
         .want = want,
         .words = {},
         .have = {},
         .now = now,
         .lasting = true,
         .package = {}});
  }

  /// Whether the next boot will have what is wanted now.
  bool is_met_next_boot(const manifest::Pin& pin) {
    const facts::FactKey key{std::string(kNextBoot) + pin.key.name, {}};
    const facts::Entry* const entry = facts::entry_of(key.name);
    return entry != nullptr &&
           facts::meets(*entry, pin.want, snapshot_.read(key).reading,
                        snapshot_.read({"kernel.upstream", {}}).reading) == Truth::yes;
  }

  void add_module_parameter(const manifest::Pin& pin, std::string_view base,
                            const std::string& want) {
    if (is_met_next_boot(pin)) {
      return waits("is set for when the module is loaded anew");
    }
    const std::string_view rest = base.substr(kModule.size());
    const std::size_t at = rest.find(kParameter);
    const std::string module(rest.substr(0, at));
    std::string parameter(rest.substr(at + kParameter.size()));
    if (!consists_of(module, "_-") || !consists_of(parameter, "_-")) {
      return cannot("no such name of a module's parameter");
    }
    if (!is_plain(want, "\"'\\#")) {
      return cannot("its value cannot stand in a line of modprobe.d");
    }
    if (module == "nvidia" && !parameter.starts_with("NVreg_")) {
      parameter = "NVreg_" + parameter;
    }
    add({.kind = Step::Kind::module_parameter,
         .keys = {},
         .name = module + " " + parameter,
         .want = want,
         .words = {},
         .have = {},
         .now = false,
         .lasting = true,
         .package = {}});
  }

  void add_boot(const manifest::Pin& pin, std::string_view base) {
    const std::vector<BootParameter> wanted = wanted_boot_parameters(pin, base, snapshot_);
    if (pin.want.kind != Want::Kind::exact && pin.want.kind != Want::Kind::absent) {
      return cannot("it leaves a choice: pin one value");
    }
    if (pin.want.kind == Want::Kind::absent && base == kCommandLine) {
      return cannot("a kernel has a command line");
    }
    bool waiting = true;
    for (const BootParameter& parameter : wanted) {
      if (!is_set_next_boot(parameter, snapshot_)) {
        waiting = false;
        add_boot(parameter);
      }
    }
    if (waiting) {
      waits("is set for the next boot");
    }
  }

  void add_boot(const BootParameter& parameter) {
    constexpr std::string_view kMeaning = " \"'\\$`;&|<>(){}*?[]#~!";
    const auto is_word = [&](const std::string& word) {
      return is_plain(word, kMeaning) && word.find(facts::kMask) == std::string::npos;
    };
    if (!consists_of(parameter.name, "._-") || !std::ranges::all_of(parameter.words, is_word)) {
      return cannot("a boot loader's file cannot hold it");
    }
    if (!around_.grub) {
      return cannot("there is no update-grub here: how this machine boots is not known to goldenv");
    }
    add({.kind = Step::Kind::boot_parameter,
         .keys = {},
         .name = parameter.name,
         .want = join(parameter.words, " "),
         .words = parameter.words,
         .have = {},
         .now = false,
         .lasting = true,
         .package = {}});
  }

  void add_link(const std::string& want, const facts::Reading& found) {
    if (!std::holds_alternative<Value>(found)) {
      return cannot("/usr/local/cuda is no link");
    }
    if (!want.starts_with('/') || !is_plain(want, "") || want == "/usr/local/cuda") {
      return cannot("no folder that a link could lead to");
    }
    add({.kind = Step::Kind::link,
         .keys = {},
         .name = "/usr/local/cuda",
         .want = want,
         .words = {},
         .have = {},
         .now = true,
         .lasting = true,
         .package = {}});
  }

  void add_package(const manifest::Pin& pin, const std::string& want, const facts::Reading& found) {
    const std::string_view base = base_of(pin.key.name);
    if (!pin.key.name.starts_with(kDebianPackage)) {
      if (pin.key.name == base && is_met_next_boot(pin)) {
        return waits("is installed, and waits for the next boot");
      }
      if (base == "kernel" && has_installed_kernel(snapshot_, want)) {
        return cannot("is installed; the boot loader starts another one until it is told which");
      }
    }
    if (!around_.apt) {
      return cannot("there is no apt-get here");
    }
    const Result<Package> package = package_for(pin.key.name, want, found, recipes_, around_);
    if (!package) {
      return cannot(package.error().message);
    }
    const bool is_now = pin.key.name.starts_with(kDebianPackage);
    add({.kind = Step::Kind::package,
         .keys = {},
         .name = package->name,
         .want = package->version,
         .words = {},
         .have = {},
         .now = is_now,
         .lasting = true,
         .package = *package});
  }

  const manifest::Manifest& pins_;
  const facts::Snapshot& snapshot_;
  const recipe::Collection& recipes_;
  const Around& around_;
  Plan plan_;
  std::string key_;
  std::string wanted_;
  std::string have_;
};

}  // namespace

manifest::Manifest pins_of_machine(const manifest::Manifest& manifest,
                                   const recipe::Collection& recipes) {
  manifest::Manifest pins;
  pins.name = manifest.name;
  pins.target_python = manifest.target_python;
  std::ranges::copy_if(manifest.pins, std::back_inserter(pins.pins), [&](const auto& pin) {
    const std::string& key = pin.key.name;
    if (has_steps(key) || recipe_of(recipes, key) != nullptr) {
      return true;
    }
    const recipe::Recipe* const recipe = recipes.find(key);
    const facts::Entry* const entry = facts::entry_of(key);
    return recipe != nullptr ? !recipe->cannot.empty()
                             : entry != nullptr && is_of_machine(entry->layer);
  });
  return pins;
}

std::vector<facts::FactKey> keys_beside(const manifest::Manifest& pins) {
  std::vector<facts::FactKey> keys;
  for (const manifest::Pin& pin : pins.pins) {
    const std::string& key = pin.key.name;
    if (is_command_line(base_of(key))) {
      keys.push_back({"kernel.cmdline", {}});
      keys.push_back({"next_boot.kernel.cmdline", {}});
    } else if (is_module_parameter(key) || key == "driver" || key == "kernel") {
      keys.push_back({std::string(kNextBoot) + key, {}});
    }
    if (base_of(key) == "kernel") {
      keys.push_back({"kernel.installed", {}});
    }
  }
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

Plan make_plan(const manifest::Manifest& pins, const facts::Snapshot& snapshot,
               const recipe::Collection& recipes, const Around& around) {
  return Planner(pins, snapshot, recipes, around).take();
}

std::string_view effect_of(const Step& step) {
  switch (step.kind) {
    case Step::Kind::module_parameter:
      return "when the module is loaded anew, at the latest at the next boot";
    case Step::Kind::boot_parameter:
      return "at the next boot";
    case Step::Kind::package:
      return step.now ? "now" : "at the next boot";
    case Step::Kind::governor:
    case Step::Kind::huge_pages:
      return "now, and until the next boot";
    case Step::Kind::link:
      return "now";
    case Step::Kind::sysctl:
      break;
  }
  return step.now ? "now and at each boot" : "at the next boot";
}

}  // namespace goldenv::privileged

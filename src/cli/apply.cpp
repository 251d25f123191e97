#include "cli/apply.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/sha256.h"
#include "base/text.h"
#include "cli/output.h"
#include "cli/request.h"
#include "cli/root_shell.h"
#include "host/host.h"
#include "offer/offer.h"
#include "report/data.h"
#include "report/text.h"
#include "source/source.h"
#include "source/text_file.h"

namespace goldenv::cli {
namespace {

using report::printable;

/// What the distribution has of the components whose packages a manifest may ask for.
void add_offered(const host::Host& host, const manifest::Manifest& pins,
                 const recipe::Collection& recipes, privileged::Around& around) {
  std::vector<const recipe::Recipe*> seen;
  for (const manifest::Pin& pin : pins.pins) {
    const recipe::Recipe* const recipe = privileged::recipe_of(recipes, pin.key.name);
    if (recipe == nullptr || std::ranges::find(seen, recipe) != seen.end()) {
      continue;
    }
    seen.push_back(recipe);
    const offer::Offers offers = offer::from_distribution(host, *recipe);
    for (const offer::Offer& offer : offers.offers) {
      const std::size_t blank = offer.detail.find(' ');
      if (blank != std::string::npos) {
        around.offered.push_back({recipe->component, offer.version, offer.detail.substr(0, blank),
                                  offer.detail.substr(blank + 1)});
      }
    }
    if (around.unread.empty()) {
      around.unread = join(offers.unread, "; ");
    }
  }
}

std::string left_text(const std::vector<privileged::Left>& left, std::string_view title) {
  std::string text;
  for (const privileged::Left& one : left) {
    text += std::string(title) + printable(one.key) + " " + printable(one.want) + ": " +
            printable(one.why) + "\n";
  }
  return text;
}

/// All that is no step.
std::string lefts_text(const privileged::Plan& plan) {
  return left_text(plan.waiting, "waits: ") + left_text(plan.unknown, "not known: ") +
         left_text(plan.cannot, "not by goldenv: ");
}

doc::Node left_data(const std::vector<privileged::Left>& left) {
  doc::Node list = doc::Node::sequence({});
  for (const privileged::Left& one : left) {
    doc::Node node = doc::Node::mapping({});
    report::put(node, "key", one.key);
    report::put(node, "want", one.want);
    report::put(node, "why", one.why);
    list.items.push_back(std::move(node));
  }
  return list;
}

int apply(const Privileged& privileged, const Invocation& invocation) {
  const std::string file = invocation.value("--script");
  const std::string digest = invocation.value("--sha256");
  if (!file.empty()) {
    const Result<std::string> reviewed = source::read_path(file);
    if (!reviewed) {
      return fail(reviewed.error());
    }
    if (*reviewed != privileged.script) {
      say(file + " (sha256 " + Sha256::of(*reviewed).hex() +
          ") is not what would be made now (sha256 " + privileged.sha256 +
          "): the manifest, this machine or goldenv is another since; look at it again");
      return kStepFailed;
    }
  }
  if (!digest.empty() && digest != privileged.sha256) {
    say("the script has sha256 " + privileged.sha256 + " now, not " + digest +
        ": look at it again");
    return kStepFailed;
  }
  if (file.empty() && digest.empty() && !print(privileged.script)) {
    return kStepFailed;
  }
  say("the script has sha256 " + privileged.sha256);
  std::fflush(stdout);
  const Result<int> ended = run_script(privileged.script);
  if (!ended) {
    return fail(ended.error());
  }
  if (*ended > 128) {
    say("the script was ended by signal " + std::to_string(*ended - 128) +
        "; goldenv provision --rollback puts back what it changed");
  }
  return *ended == 0 ? kWell : kStepFailed;
}

/// Puts back what a killed apply changed, so that what is looked at is what was there. Whether
/// there is nothing unfinished any more.
Result<bool> finish_unfinished() {
  GOLDENV_TRY(const std::optional<Applied> last, last_applied());
  if (!last || last->finished) {
    return true;
  }
  say("apply " + std::to_string(last->number) +
      " was not finished; what it changed is put back first");
  GOLDENV_TRY(const int ended, run_script_file(last->folder + "/undo"));
  return ended == 0;
}

}  // namespace

bool Privileged::is_empty() const {
  return plan.steps.empty() && plan.waiting.empty() && plan.unknown.empty() && plan.cannot.empty();
}

Result<Privileged> privileged_of(const Invocation& invocation, const manifest::Manifest& manifest,
                                 const recipe::Collection& recipes, const recipe::Values& values) {
  Privileged privileged;
  const manifest::Manifest pins = privileged::pins_of_machine(manifest, recipes);
  if (pins.pins.empty()) {
    return privileged;
  }
  probe::Request request = request_for(pins, invocation);
  std::ranges::move(privileged::keys_beside(pins), std::back_inserter(request.named));
  GOLDENV_TRY(const source::Source live, source::parse("@live"));
  GOLDENV_TRY(const facts::Snapshot snapshot, source::look(live, request));
  const std::unique_ptr<host::Host> host = host::live_host();
  privileged::Around around;
  around.grub = host->exists("/usr/sbin/update-grub") || host->exists("/sbin/update-grub");
  around.apt = host->exists("/usr/bin/apt-get");
  add_offered(*host, pins, recipes, around);
  around.values = values;
  privileged::ScriptOptions options;
  options.manifest = manifest.name;
  if (const auto name = host->system_name()) {
    around.values.emplace("arch", name->machine);
    options.host = name->node;
  }
  privileged.plan = privileged::make_plan(pins, snapshot, recipes, around);
  if (!privileged.plan.steps.empty()) {
    privileged.script = privileged::script_text(privileged.plan.steps, options);
    privileged.sha256 = Sha256::of(privileged.script).hex();
  }
  return privileged;
}

std::string privileged_text(const Privileged& privileged) {
  if (privileged.is_empty()) {
    return {};
  }
  std::string text;
  if (!privileged.plan.steps.empty()) {
    text += "takes root:\n";
    std::vector<std::vector<std::string>> rows;
    for (const privileged::Step& step : privileged.plan.steps) {
      std::vector<std::string> keys = step.keys;
      std::ranges::transform(keys, keys.begin(), [](const auto& key) { return printable(key); });
      rows.push_back({join(keys, ", "), step.want.empty() ? "absent" : printable(step.want),
                      "is " + printable(step.have), std::string(privileged::effect_of(step))});
    }
    text += report::table(rows, 2);
  }
  text += lefts_text(privileged.plan);
  if (!privileged.script.empty()) {
    text += "the script for it has sha256 " + privileged.sha256 +
            "; --script FILE writes it, --apply runs it:\n" + privileged.script;
  }
  return text;
}

doc::Node privileged_data(const Privileged& privileged) {
  doc::Node steps = doc::Node::sequence({});
  for (const privileged::Step& step : privileged.plan.steps) {
    doc::Node keys = doc::Node::sequence({});
    for (const std::string& key : step.keys) {
      keys.items.push_back(doc::Node::scalar(key, true));
    }
    doc::Node node = doc::Node::mapping({});
    report::put(node, "keys", std::move(keys));
    report::put(node, "want", doc::Node::scalar(step.want, true));
    report::put(node, "have", doc::Node::scalar(step.have, true));
    report::put(node, "effect", privileged::effect_of(step));
    report::put(node, "package", step.package.name);
    report::put(node, "package_version", step.package.version);
    steps.items.push_back(std::move(node));
  }
  doc::Node node = doc::Node::mapping({});
  report::put(node, "steps", std::move(steps));
  report::put(node, "waiting", left_data(privileged.plan.waiting));
  report::put(node, "unknown", left_data(privileged.plan.unknown));
  report::put(node, "cannot", left_data(privileged.plan.cannot));
  report::put(node, "script", privileged.script);
  report::put(node, "script_sha256", privileged.sha256);
  return node;
}

Result<void> write_script(const std::string& file, const std::string& script) {
  const std::string fresh = file + ".goldenv-new";
  const auto failed = [&fresh](const std::string& path) {
    const Error error{
        errno == EACCES ? Errc::denied : Errc::failed, path + ": " + std::strerror(errno), {}};
    unlink(fresh.c_str());
    return error;
  };
  unlink(fresh.c_str());
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
  if (fd < 0) {
    return failed(fresh);
  }
  for (std::size_t at = 0; at < script.size();) {
    const ssize_t wrote = write(fd, script.data() + at, script.size() - at);
    if (wrote <= 0) {
      const Error error = failed(fresh);
      close(fd);
      return error;
    }
    at += static_cast<std::size_t>(wrote);
  }
  if (fchmod(fd, 0700) != 0 || close(fd) != 0 || rename(fresh.c_str(), file.c_str()) != 0) {
    return failed(file);
  }
  return {};
}

int run_privileged(const Invocation& invocation, const manifest::Manifest& manifest,
                   const recipe::Collection& recipes, const recipe::Values& values) {
  const std::string file = invocation.value("--script");
  const bool is_apply = invocation.has("--apply");
  if (is_apply && geteuid() != 0) {
    say("this takes root: " + (file.empty() ? "--script FILE writes the script, then sudo sh FILE"
                                            : "sudo sh " + report::shell_word(file)));
    return kUsage;
  }
  if (is_apply) {
    const Result<bool> finished = finish_unfinished();
    if (!finished) {
      return fail(finished.error());
    }
    if (!*finished) {
      return kStepFailed;
    }
  }
  const Result<Privileged> privileged = privileged_of(invocation, manifest, recipes, values);
  if (!privileged) {
    return fail(privileged.error());
  }
  if (!is_apply) {
    if (!privileged->script.empty()) {
      if (const Result<void> written = write_script(file, privileged->script); !written) {
        return fail(written.error());
      }
    }
    const Rendering rendering{[&](report::Colour) { return privileged_text(*privileged); },
                              [&] {
                                doc::Node node = report::new_document();
                                report::put(node, "privileged", privileged_data(*privileged));
                                return node;
                              },
                              {}};
    const int delivered = deliver(invocation, rendering, kWell);
    if (privileged->script.empty()) {
      say("nothing that goldenv could do as root differs: no script was written");
    }
    return delivered;
  }
  const std::string lefts = lefts_text(privileged->plan);
  for (const std::string_view line : lines(lefts)) {
    say(line);
  }
  if (privileged->script.empty()) {
    say("nothing to do");
    return kWell;
  }
  return apply(*privileged, invocation);
}

int run_rollback() {
  if (geteuid() != 0) {
    say("this takes root: sudo goldenv provision --rollback");
    return kUsage;
  }
  const auto last = last_applied();
  if (!last) {
    return fail(last.error());
  }
  if (!*last) {
    say("nothing is applied that could be undone");
    return kUsage;
  }
  const Result<int> ended = run_script_file((*last)->folder + "/undo");
  if (!ended) {
    return fail(ended.error());
  }
  return *ended == 0 ? kWell : kStepFailed;
}

}  // namespace goldenv::cli

#include "diff/check.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/request.h"
#include "facts/member_hints.h"
#include "report/data.h"
#include "report/differences.h"
#include "report/findings.h"

namespace goldenv::cli {
namespace {

constexpr std::array<OptionSpec, 5> kOptions = {{
    {"--manifest", "FILE", "the manifest, where the words are all sources", false, ""},
    {"--fail-on", "LEVEL", "what weighs enough for status 1; default must", false,
     "must|should|info"},
    {"--allow-unknown", "", "a pin of which nobody can tell is no reason for status 3", false, ""},
    {"--fast", "", "read no file for its digest: pins under files: are unknown", false, ""},
    {"--python", "P", "the Python that is meant; default: the manifest's target_python", false, ""},
}};

/// Words and manifest: the first word is the manifest if it is a file and one.
struct Plan {
  NamedManifest manifest;
  std::vector<source::Source> sources;
};

/// A manifest that stands where a machine is expected, while none was named to check against: the
/// words were swapped.
Result<void> check_order(const std::vector<source::Source>& sources) {
  for (const source::Source& source : sources) {
    if (source.is_machine() || source.kind == source::Source::Kind::input ||
        !source::is_manifest(source)) {
      continue;
    }
    std::string others;
    for (const source::Source& other : sources) {
      others += &other == &source ? "" : " " + other.text;
    }
    return Error{Errc::usage,
                 source.text +
                     " is a manifest, and none stands before it: did you mean goldenv check " +
                     source.text + others + "? (--manifest FILE names another to check it against)",
                 {}};
  }
  return {};
}

/// Words in manifests that are no error and look like a slip.
void say_slips(const manifest::Manifest& manifest) {
  for (const manifest::Pin& pin : manifest.pins) {
    if (const std::string near = facts::nearest_member(pin.key); !near.empty()) {
      say(pin.file + ":" + std::to_string(pin.mark.line) + ": " + pin.key.text() +
          " is no well-known name; did you mean " + near + "?");
    }
  }
}

Result<Plan> make_plan(const Invocation& invocation) {
  std::vector<std::string> words = invocation.words;
  std::string file = invocation.value("--manifest");
  Plan plan;
  if (file.empty() && !words.empty()) {
    GOLDENV_TRY(source::Source first, source::parse(words.front()));
    if (!first.is_machine()) {
      GOLDENV_TRY(source::Document document, source::read_document(first));
      if (document.kind == source::Document::Kind::manifest) {
        plan.manifest = {first.text, std::move(document.manifest)};
        words.erase(words.begin());
        GOLDENV_TRY(plan.sources, parse_sources(words));
        return plan;
      }
      if (first.kind == source::Source::Kind::input) {
        return Error{Errc::usage,
                     "standard input is a snapshot: name the manifest with --manifest FILE",
                     {}};
      }
    }
  }
  GOLDENV_TRY(plan.sources, parse_sources(words));
  if (file.empty()) {
    if (const Result<void> order = check_order(plan.sources); !order) {
      return order.error();
    }
  }
  GOLDENV_TRY(plan.manifest, open_manifest(file));
  return plan;
}

/// From so many machines on the answer is groups.
constexpr std::size_t kGrouped = 3;

struct Checked {
  report::Named machine;
  diff::Check check;
  facts::Snapshot snapshot;  ///< what was probed for it
  std::vector<findings::Finding> found;
};

std::string text_of(const Checked& one, const NamedManifest& manifest, report::Colour colour) {
  return report::check_text(one.check, one.machine, manifest.file, manifest.manifest.name, colour) +
         report::findings_text(one.found, one.snapshot, colour);
}

/// Of three machines and more those together of which the same is to be said, the largest group
/// first.
std::string grouped_text(const std::vector<Checked>& all, const NamedManifest& manifest,
                         report::Colour colour) {
  std::map<std::string, std::vector<const Checked*>> same;
  for (const Checked& one : all) {
    // Without its name and source.
    Checked nameless = one;
    nameless.machine = {};
    same[text_of(nameless, manifest, report::Colour::none)].push_back(&one);
  }
  std::vector<const std::vector<const Checked*>*> groups;
  for (const auto& [text, members] : same) {
    groups.push_back(&members);
  }
  std::ranges::stable_sort(groups, [](const auto* a, const auto* b) {
    return a->size() != b->size() ? a->size() > b->size() : a->front() < b->front();
  });
  std::string out;
  for (const auto* members : groups) {
    if (members->size() == 1) {
      out += text_of(*members->front(), manifest, colour);
      continue;
    }
    constexpr std::size_t kNamed = 12;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(members->size(), kNamed); ++i) {
      names.push_back(report::printable(shortened((*members)[i]->machine.title)));
    }
    if (members->size() > kNamed) {
      names.push_back("and " + std::to_string(members->size() - kNamed) + " more");
    }
    Checked first = *members->front();
    first.machine.title = "each of " + std::to_string(members->size()) + " machines";
    std::string text = text_of(first, manifest, colour);
    text.insert(text.find('\n') + 1, "  " + join(names, ", ") + "\n");
    out += text;
  }
  return out;
}

doc::Node node_of(const Checked& one, const NamedManifest& manifest) {
  doc::Node node =
      report::check_node(one.check, one.machine, manifest.file, manifest.manifest.name);
  if (!one.found.empty()) {
    report::put(node, "findings", report::findings_node(one.found));
  }
  return node;
}

/// Whether the manifest wants it so: everything that contradicts is pinned, and found as pinned. A
/// golden machine may have its oddities, and its equal twin matches without a word.
bool is_wanted(const findings::Finding& finding, const manifest::Manifest& manifest,
               const diff::Check& check) {
  return std::ranges::all_of(finding.facts, [&](const facts::FactKey& key) {
    const auto is_key = [&](const auto& item) { return item.key == key; };
    return std::ranges::any_of(manifest.pins, is_key) &&
           std::ranges::none_of(check.undecided, is_key) &&
           std::ranges::none_of(check.differences, [&](const diff::Difference& difference) {
             return difference.key == key || std::ranges::any_of(difference.with, is_key);
           });
  });
}

facts::Level fail_level(const Invocation& invocation) {
  return facts::parse_level(invocation.value("--fail-on", "must")).value_or(facts::Level::must);
}

int run_check(const Invocation& invocation) {
  const Result<Plan> plan = make_plan(invocation);
  if (!plan) {
    return fail(plan.error());
  }
  const manifest::Manifest& manifest = plan->manifest.manifest;
  if (const Result<void> wants = check_wants(plan->manifest); !wants) {
    return fail(wants.error());
  }
  say_slips(manifest);
  const probe::Request request = request_for(manifest, invocation);
  std::vector<Checked> all;
  std::size_t unreached = 0;
  Viewer viewer(invocation);
  for (const source::Source& source : plan->sources) {
    auto snapshots = viewer.look(source, request);
    if (!snapshots) {
      const int failed = fail(snapshots.error());
      if (failed == kUsage) {
        return failed;
      }
      ++unreached;
      continue;
    }
    for (facts::Snapshot& snapshot : *snapshots) {
      Checked& one = all.emplace_back();
      one.snapshot = std::move(snapshot);
      one.machine = {one.snapshot.title(),
                     snapshots->size() == 1 ? source.text : one.snapshot.source};
      one.check = diff::check(manifest, one.snapshot);
      one.found = findings::contradictions(one.snapshot);
      std::erase_if(one.found, [&](const findings::Finding& finding) {
        return is_wanted(finding, manifest, one.check);
      });
    }
  }
  if (const Result<void> python = viewer.python_found(); !python) {
    return fail(python.error());
  }
  const facts::Level level = fail_level(invocation);
  bool differs = false;
  bool undecided = false;
  for (const Checked& one : all) {
    differs = differs || diff::differs_at(one.check, level);
    undecided = undecided || diff::undecided_at(one.check, level);
  }
  const int status = differs                                           ? kDiffers
                     : undecided && !invocation.has("--allow-unknown") ? kUndecided
                     : unreached != 0                                  ? kStepFailed
                                                                       : kWell;
  if (all.empty()) {
    return status;
  }
  const Rendering rendering{[&](report::Colour colour) {
                              std::string text;
                              if (all.size() >= kGrouped) {
                                text = grouped_text(all, plan->manifest, colour);
                              } else {
                                for (const Checked& one : all) {
                                  text += text_of(one, plan->manifest, colour);
                                }
                              }
                              return text + report::unreached_text(unreached, plan->sources.size());
                            },
                            [&] {
                              // Its form hangs on what was asked, not on what answered.
                              if (all.size() == 1 && plan->sources.size() == 1) {
                                return node_of(all.front(), plan->manifest);
                              }
                              doc::Node list = doc::Node::sequence({});
                              for (const Checked& one : all) {
                                list.items.push_back(node_of(one, plan->manifest));
                              }
                              doc::Node node = report::new_document();
                              report::put(node, "checks", std::move(list));
                              report::put(node, "unreached", unreached);
                              return node;
                            },
                            ""};
  return deliver(invocation, rendering, status);
}

}  // namespace

extern const Command check{"check",
                           "[MANIFEST] [SOURCE..]",
                           0,
                           10'000,
                           "does a machine match a manifest?",
                           "goldenv check golden.yaml node17.yaml --fail-on should",
                           kOptions,
                           run_check};

}  // namespace goldenv::cli

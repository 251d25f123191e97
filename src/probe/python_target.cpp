#include "probe/python_target.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "host/process.h"
#include "probe/library_copies.h"
#include "probe/path_text.h"
#include "probe/presence.h"
#include "probe/python_discovery.h"
#include "probe/python_prefix.h"
#include "probe/python_process.h"
#include "probe/python_words.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Evidence;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

/// What stands in the way of the target, as a reading. That the one asked for is not there makes
/// nothing absent: which Python is meant is then not known.
Reading unmet(const Error& error) {
  Unknown unknown = Unknown::from(error);
  if (error.code == Errc::absent) {
    unknown.why = Why::unreadable;
  }
  unknown.detail = error.message;
  return unknown;
}

/// The same where a process would not show it.
Reading unmet(const Error& error, const std::string& process) {
  Reading reading = unmet(error);
  auto& unknown = std::get<Unknown>(reading);
  unknown.detail = "which Python " + process + " runs is not known: " + error.message;
  if (unknown.why == Why::denied) {
    unknown.needs = "same-user";
  }
  return reading;
}

class Choice {
 public:
  explicit Choice(Survey& survey)
      : survey_(survey), host_(survey.host()), discovery_(survey.host()) {}

  const PythonScene& choice() {
    if (!is_made_) {
      is_made_ = true;
      const probe::Request& request = survey_.request();
      const bool settled = !request.python.empty()          ? by_request(request.python)
                           : by_process()                   ? true
                           : !request.target_python.empty() ? by_request(request.target_python)
                                                            : by_variable();
      if (!settled) {
        by_torch();
      }
    }
    return discovery_.scene;
  }

  const PythonScene& scene() {
    choice();
    find_all();
    return discovery_.scene;
  }

 private:
  /// The usual places cost a look at every Python of the machine: not before one must know.
  void find_all() {
    if (!is_whole_) {
      is_whole_ = true;
      discovery_.usual_places();
    }
  }

  void choose(std::size_t index, std::string rule) {
    discovery_.scene.chosen = index;
    std::vector<std::string>& why = discovery_.scene.why;
    why.insert(why.begin(), std::move(rule));
  }

  void leave_open(Reading reading) { discovery_.scene.otherwise = std::move(reading); }

  /// The Python that the process runs, if the source is one.
  bool by_process() {
    const host::Process* process = host_.process();
    if (process == nullptr) {
      return false;
    }
    if (process->pid == 0 && !survey_.request().target_python.empty()) {
      return false;  // of a unit that is not running, the one that it is meant to run
    }
    const Result<std::vector<ProcessPython>> runs = pythons_of_process(host_);
    if (!runs) {
      leave_open(unmet(runs.error(), process->name));
      return true;
    }
    std::optional<Error> failed;
    for (const ProcessPython& python : *runs) {
      const auto found = discovery_.at(python.path);
      if (found) {
        std::vector<std::string>& why = discovery_.scene.why;
        why.insert(why.begin(), process->notes.begin(), process->notes.end());
        choose(*found, python.rule);
        return true;
      }
      failed = failed ? std::move(failed) : std::optional(found.error());
    }
    if (failed) {
      leave_open(unmet(*failed));
      return true;
    }
    discovery_.scene.why.push_back(process->name + " runs " + *process->program +
                                   ", which is no Python");
    return false;
  }

  bool by_request(const std::string& asked) {
    std::string path = asked;
    Error error{Errc::unreadable, "the Python asked for, " + asked, {}};
    const bool below_home = asked == "~" || asked.starts_with("~/");
    const std::string& home = discovery_.settings().home;
    if (below_home && home.starts_with('/')) {
      path = home + asked.substr(1);
    }
    if (below_home && !home.starts_with('/')) {
      error.message += std::string(": ~ stands for the home folder, and HOME is ") +
                       (home.empty() ? "not set" : "no absolute path");
    } else if (path.find('/') == std::string::npos) {
      const auto found = discovery_.on_path(path);
      if (found && *found) {
        choose(**found, asked + " on PATH was asked for");
        return true;
      }
      error.message += found ? ": no such command on PATH" : ": " + found.error().message;
    } else if (!path.starts_with('/')) {
      error.message += ": not an absolute path";
    } else {
      const auto found = discovery_.at(path);
      if (found) {
        choose(*found, asked + " was asked for");
        return true;
      }
      error.code = found.error().code;
      error.message += ": " + found.error().message;
    }
    leave_open(unmet(error));
    return true;
  }

  bool by_variable() {
    if (const auto known = variables_known(host_); !known) {
      leave_open(unmet(known.error()));
      return true;
    }
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
      const auto path = host_.variable(name);
      if (!path || path->empty()) {
        continue;
      }
      const std::string rule = std::string(name) + " is " + *path;
      const auto found = discovery_.at(*path);
      if (found) {
        choose(*found, rule);
        return true;
      }
      if (found.error().code != Errc::absent) {
        leave_open(unmet(found.error()));
        return true;
      }
      discovery_.scene.why.push_back(rule + ", where no Python is");
    }
    return false;
  }

  void by_torch() {
    const auto on_path = discovery_.on_path("python3");
    if (on_path && !discovery_.scene.unseen.empty() && !host_.live()) {
      // A shell of ours goes on to the next folder; one of the source's own user may have seen it.
      const Error hidden = discovery_.scene.unseen.front();
      find_all();
      leave_open(unmet(hidden));
      return;
    }
    find_all();
    const std::deque<Python>& pythons = discovery_.scene.pythons;
    if (!on_path) {
      leave_open(unmet(on_path.error()));
      return;
    }
    if (*on_path) {
      const Python& python = pythons[**on_path];
      if (!python.torch.empty()) {
        choose(**on_path, "the python3 on PATH holds torch");
        return;
      }
      if (python.torch_error && python.torch_error->code != Errc::denied) {
        leave_open(unmet(*python.torch_error));
        return;
      }
    }
    // Another may hold torch where nobody could look, and then the choice would be another.
    std::optional<Error> doubt;
    std::optional<Error> doubt_of_path;
    if (!discovery_.scene.unseen.empty() && !host_.live()) {
      doubt = discovery_.scene.unseen.front();
    }
    std::vector<std::size_t> holders;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < pythons.size(); ++i) {
      if (!pythons[i].torch.empty()) {
        holders.push_back(i);
        names.push_back(survey_.tilde(pythons[i].label));
      } else if (pythons[i].torch_error) {
        discovery_.scene.why.push_back("whether " + pythons[i].label + " holds torch is not known");
        const bool is_on_path = *on_path && **on_path == i;
        (is_on_path ? doubt_of_path : doubt) = pythons[i].torch_error;
      }
    }
    // Where no other holds torch, the python3 on PATH is the choice whether or not it does.
    if (!holders.empty() && doubt_of_path) {
      doubt = doubt_of_path;
    }
    std::ranges::sort(names);
    if (doubt && holders.size() <= 1) {
      leave_open(unmet(*doubt));
    } else if (holders.size() == 1) {
      choose(holders.front(), "the only Python found that holds torch");
    } else if (holders.size() > 1) {
      leave_open(Unknown{Why::ambiguous,
                         "torch is in " + join(names, ", ") +
                             " and not in the python3 on PATH; name one with --python",
                         ""});
    } else if (*on_path) {
      choose(**on_path, doubt_of_path ? "the python3 on PATH; no other Python found holds torch"
                                      : "the python3 on PATH; no Python found holds torch");
    } else if (const std::vector<Error>& unseen = discovery_.scene.unseen; !unseen.empty()) {
      // One may stand where nobody could look.
      leave_open(unmet(unseen.front()));
    } else {
      leave_open(Absent{pythons.empty() ? "no Python found"
                                        : "no python3 on PATH; there is " +
                                              survey_.tilde(pythons.front().label)});
    }
  }

  Survey& survey_;
  const host::Host& host_;
  PythonDiscovery discovery_;
  bool is_made_ = false;
  bool is_whole_ = false;
};

Reading version_of(const Python& python) {
  return python.exact ? Value::scalar(python.version) : Value::prefix(python.version);
}

Reading kind_of(const Python& python) {
  return python.kind_error ? Reading(Unknown::from(*python.kind_error))
                           : Reading(Value::scalar(std::string(name(python.kind))));
}

Evidence version_evidence(const Survey& survey, const Python& python) {
  Evidence evidence = python.version_evidence;
  evidence.from = survey.tilde(evidence.from);
  for (const std::string& note : python.notes) {
    evidence.notes.push_back(tilde_within(survey, note));
  }
  return evidence;
}

/// A list that may lack some is no list.
Reading added_paths(const Survey& survey, const Python& python) {
  std::vector<std::string> added;
  for (const SiteFolder& folder : python.folders) {
    if (folder.origin == SiteFolder::Origin::python_path ||
        folder.origin == SiteFolder::Origin::pth) {
      added.push_back(survey.tilde(folder.path));
    }
  }
  if (!python.unlisted.empty()) {
    Unknown unknown = Unknown::from(python.unlisted.front().error);
    if (!added.empty()) {
      unknown.detail += "; added by what could be read: " + join(added, ", ");
    }
    return unknown;
  }
  if (added.empty()) {
    return Absent{"neither PYTHONPATH nor a .pth file adds a folder"};
  }
  return Value::list(std::move(added));
}

void add_target(Survey& survey, const PythonScene& scene) {
  Evidence choice;
  choice.basis = "derived";
  choice.notes = why_of(survey, scene);
  const Python* target = scene.target();
  if (target == nullptr) {
    for (const char* key :
         {"python", "python.prefix", "python.kind", "python.user_site", "python.added_paths"}) {
      survey.add(key, scene.otherwise, choice);
    }
    return;
  }
  Evidence version = version_evidence(survey, *target);
  version.notes.insert(version.notes.begin(), choice.notes.begin(), choice.notes.end());
  survey.add("python", version_of(*target), std::move(version));
  choice.from = survey.tilde(target->interpreter);
  survey.add("python.prefix", Value::scalar(survey.tilde(target->prefix)), choice);
  Evidence kind;
  kind.from = survey.tilde(target->prefix);
  if (target->kind == PythonKind::venv && !target->base_prefix.empty()) {
    kind.notes.push_back("of " + survey.tilde(target->base_prefix));
  }
  survey.add("python.kind", kind_of(*target), kind);
  survey.add("python.user_site", target->user_site_error
                                     ? Reading(Unknown::from(*target->user_site_error))
                                     : Reading(Value::boolean(target->user_site)));
  Evidence added;
  for (const std::string& file : target->run_at_start) {
    added.notes.push_back(survey.tilde(file) + " runs code at every start");
  }
  for (const UnlistedFolder& folder : target->unlisted) {
    added.notes.push_back(tilde_within(survey, folder.error.message));
  }
  survey.add("python.added_paths", added_paths(survey, *target), std::move(added));
}

void run(Survey& survey) {
  if (!wants_copies(survey, {"python", "python.kind"}, "python.copies")) {
    add_target(survey, python_choice(survey));
    return;
  }
  const PythonScene& scene = python_scene(survey);
  std::vector<Reading> versions;
  for (const Python& python : scene.pythons) {
    const std::string label = survey.tilde(python.label);
    survey.add("python@" + label, version_of(python), version_evidence(survey, python));
    survey.add("python.kind@" + label, kind_of(python));
    versions.push_back(version_of(python));
  }
  Reading copies = copies_reading(versions, scene.unseen);
  if (std::holds_alternative<Absent>(copies)) {
    copies = Absent{"no Python found"};
  }
  survey.add("python.copies", std::move(copies), unseen_evidence(survey, scene.unseen));
  add_target(survey, scene);
}

constexpr std::array<std::string_view, 6> kKeys{
    "python",           "python.prefix",      "python.kind",
    "python.user_site", "python.added_paths", "python.copies"};

}  // namespace

std::string_view name(PythonKind kind) {
  switch (kind) {
    case PythonKind::system:
      return "system";
    case PythonKind::venv:
      return "venv";
    case PythonKind::conda:
      return "conda";
    case PythonKind::pyenv:
      return "pyenv";
    case PythonKind::uv:
      return "uv";
    case PythonKind::pixi:
      return "pixi";
    case PythonKind::source:
      break;
  }
  return "source";
}

const PythonScene& python_scene(Survey& survey) {
  return survey.shared<Choice>([&survey] { return Choice(survey); }).scene();
}

const PythonScene& python_choice(Survey& survey) {
  return survey.shared<Choice>([&survey] { return Choice(survey); }).choice();
}

SiteOf site_of(Survey& survey, std::string_view path) {
  const auto find_in = [path](const Python& python) {
    const auto found = std::ranges::find_if(
        python.folders, [path](const SiteFolder& folder) { return is_below(path, folder.path); });
    return found == python.folders.end() ? SiteOf{} : SiteOf{&python, &*found};
  };
  if (const Python* target = python_choice(survey).target()) {
    if (const SiteOf site = find_in(*target); site.folder != nullptr) {
      return site;
    }
  }
  if (path.find("/site-packages/") == std::string_view::npos &&
      path.find("/dist-packages/") == std::string_view::npos) {
    return {};
  }
  for (const Python& python : python_scene(survey).pythons) {
    if (const SiteOf site = find_in(python); site.folder != nullptr) {
      return site;
    }
  }
  return {};
}

std::string tilde_within(const Survey& survey, std::string_view text) {
  std::string written;
  while (!text.empty()) {
    const std::size_t slash = text.find('/');
    written += text.substr(0, slash);
    if (slash == std::string_view::npos) {
      break;
    }
    text.remove_prefix(slash);
    const std::string_view path = text.substr(0, text.find_first_of(" \t\n\"',;:()"));
    written += survey.tilde(path);
    text.remove_prefix(path.size());
  }
  return written;
}

Evidence unseen_evidence(const Survey& survey, const std::vector<Error>& unseen) {
  Evidence evidence;
  for (const Error& error : unseen) {
    std::string note = "not seen: " + tilde_within(survey, error.message);
    if (std::ranges::find(evidence.notes, note) == evidence.notes.end()) {
      evidence.notes.push_back(std::move(note));
    }
  }
  return evidence;
}

std::vector<std::string> why_of(const Survey& survey, const PythonScene& scene) {
  std::vector<std::string> notes;
  for (const std::string& note : scene.why) {
    notes.push_back(tilde_within(survey, note));
  }
  return notes;
}

extern const Probe python_target{.name = "python_target", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

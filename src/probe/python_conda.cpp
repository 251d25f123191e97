#include <array>
#include <utility>

#include "probe/python_origin.h"
#include "probe/python_prefix.h"
#include "probe/python_target.h"
#include "probe/python_words.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Evidence;
using facts::Reading;
using facts::Value;

void answer_named(Survey& survey, const Reading& reading, const Evidence& evidence) {
  for (const char* family : {"conda.package", "conda.build"}) {
    for (const std::string& member : survey.named_below(family)) {
      survey.add(std::string(family) + "." + member, reading, evidence);
    }
  }
}

/// The environment in force is the target Python's, also where a venv was made from it: `conda
/// list` of that environment is what its libraries come from.
void run(Survey& survey) {
  const PythonScene& scene = python_choice(survey);
  const Python* target = scene.target();
  Evidence evidence;
  if (target == nullptr) {
    evidence.notes = why_of(survey, scene);
    answer_named(survey, scene.otherwise, evidence);
    return;
  }
  if (target->kind != PythonKind::conda && target->kind != PythonKind::pixi) {
    answer_named(survey, Absent{"the target Python is of kind " + std::string(name(target->kind))},
                 {});
    return;
  }
  const std::string folder = path_in(target->prefix, "conda-meta");
  evidence.from = survey.tilde(folder);
  const auto packages = conda_packages(survey.host(), target->prefix);
  if (!packages) {
    answer_named(survey, facts::unread(packages.error()), evidence);
    return;
  }
  answer_named(survey, Absent{"not in " + survey.tilde(folder)}, evidence);
  for (const CondaName& package : *packages) {
    Evidence record;
    record.from = survey.tilde(
        path_in(folder, package.name + "-" + package.version + "-" + package.build + ".json"));
    record.basis = "read";
    survey.add("conda.package." + package.name, Value::scalar(package.version), record);
    survey.add("conda.build." + package.name, Value::scalar(package.build), record);
  }
  for (const char* family : {"conda.package", "conda.build"}) {
    if (survey.wants(family)) {
      survey.listed(family);
    }
  }
}

constexpr std::array<std::string_view, 2> kKeys{"conda.package.**", "conda.build.**"};

}  // namespace

extern const Probe python_conda{.name = "python_conda", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

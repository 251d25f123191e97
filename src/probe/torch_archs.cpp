// The GPU architectures that a torch holds code for, from the library itself: what it was built for
// is said by torch.cuda.get_arch_list(), which would need it to be imported.
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "elf/gpu_code.h"
#include "probe/instances.h"
#include "probe/probe.h"
#include "probe/python_names.h"
#include "probe/python_prefix.h"
#include "probe/python_target.h"
#include "probe/python_words.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Evidence;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kKey = "torch.archs";

struct Found {
  Reading reading;
  Evidence evidence;
};

Found archs_of(Survey& survey, const Python& python) {
  Found found;
  const std::string version = path_in(python.torch, "version.py");
  found.evidence.from = survey.tilde(version);
  const auto text = survey.host().read_file(version);
  if (!text) {
    found.reading = Unknown::from(text.error());
    return found;
  }
  const TorchVersion stated = parse_torch_version(*text);
  if (stated.hip && !stated.hip->none) {
    found.reading = Unknown{Why::unsupported, "code for AMD's GPUs is not looked into", ""};
    return found;
  }
  if (stated.cuda && stated.cuda->none) {
    found.reading = Absent{"a build without CUDA"};
    return found;
  }
  // Split in two before 1.13, to stay below a limit of the linker.
  std::set<std::string> archs;
  bool any = false;
  for (const std::string_view name :
       {"lib/libtorch_cuda.so", "lib/libtorch_cuda_cu.so", "lib/libtorch_cuda_cpp.so"}) {
    const std::string path = path_in(python.torch, name);
    const auto of_file = elf::gpu_architectures(survey.host(), path, survey.request().memory);
    if (!of_file && of_file.error().code == Errc::absent) {
      continue;
    }
    if (!of_file) {
      return {Unknown::from(of_file.error()), seen(survey.tilde(path))};
    }
    if (!any || !of_file->empty()) {
      found.evidence.from = survey.tilde(path);
    }
    any = true;
    archs.insert(of_file->begin(), of_file->end());
  }
  found.evidence.basis = "heads of its fat binaries";
  found.reading =
      archs.empty()
          ? Reading(Unknown{Why::not_stated,
                            any ? "the library holds no fat binary" : "it has no libtorch_cuda.so",
                            ""})
          : Reading(Value::set({archs.begin(), archs.end()}));
  return found;
}

void run(Survey& survey) {
  if (!survey.wants(kKey)) {
    return;
  }
  const PythonScene& scene = python_scene(survey);
  const Python* target = scene.target();
  std::optional<Found> ours;
  for (const Python& python : scene.pythons) {
    if (python.torch.empty()) {
      continue;
    }
    Found found = archs_of(survey, python);
    survey.add(std::string(kKey) + "@" + survey.tilde(python.label), found.reading, found.evidence);
    if (&python == target) {
      ours = std::move(found);
    }
  }
  if (!ours) {
    ours = Found{scene.otherwise, {}};
    if (target != nullptr) {
      ours->reading = target->torch_error ? Reading(Unknown::from(*target->torch_error))
                                          : Reading(Absent{"no torch"});
    }
    ours->evidence.notes = why_of(survey, scene);
  }
  survey.add(kKey, std::move(ours->reading), std::move(ours->evidence));
}

constexpr auto kKeys = std::to_array<std::string_view>({kKey});

}  // namespace

extern const Probe torch_archs{.name = "torch_archs", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

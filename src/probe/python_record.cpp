// Whether the files of installed packages are still those that the installer wrote.
//
// To read all of torch and NVIDIA's wheels takes seconds. A scan compares the sizes of their
// libraries, which differ from build to build, and what is remembered of their bytes; a key that is
// asked for by name has every file of the package read.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/path_text.h"
#include "probe/probe.h"
#include "probe/python_packages.h"
#include "probe/python_prefix.h"
#include "probe/python_target.h"
#include "probe/wheel_record.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Evidence;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kFamily = "python.package.";
constexpr std::string_view kMember = ".record";
constexpr std::size_t kRecordBytes = 64u << 20;
constexpr std::size_t kNotes = 16;

bool is_watched(std::string_view name) {
  return name == "torch" || name == "triton" || name == "pytorch-triton" ||
         name.starts_with("nvidia-");
}

/// Whether the whole of every file is compared, or what can be known without reading it.
enum class Depth { sizes, digests };

/// A file of a package and which packages besides say that they wrote it.
struct Claims {
  std::map<std::string, std::set<std::string>> by_path;
};

class Records {
 public:
  Records(Survey& survey, const PythonScene& scene, const Python& python)
      : survey_(survey),
        python_(python),
        installed_(installed_packages(survey.host(), scene, python)) {}

  [[nodiscard]] std::vector<std::string> watched() const {
    std::vector<std::string> names;
    for (const Distribution& one : installed_.distributions) {
      if (is_watched(one.name) && (names.empty() || names.back() != one.name)) {
        names.push_back(one.name);
      }
    }
    return names;
  }

  void add(const std::string& name, const std::string& label, Depth depth) {
    const std::string key = std::string(kFamily) + name + std::string(kMember);
    Evidence evidence;
    Reading reading = compare(name, depth, evidence);
    survey_.add(label.empty() ? key : key + "@" + label, std::move(reading), std::move(evidence));
  }

  /// Which packages wrote the same file, as far as they are among `names`.
  void find_claims(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const Distributions same = distributions_of(installed_, name);
      for (const Distribution* one = same.first; one != same.last; ++one) {
        for (const RecordedFile& file : record_of(*one, true).value_or({})) {
          claims_.by_path[path_of(*one, file)].insert(name + " " + one->version);
        }
      }
    }
  }

 private:
  [[nodiscard]] std::string folder_of(const Distribution& one) const {
    return python_.folders[one.folder].path;
  }

  [[nodiscard]] std::string path_of(const Distribution& one, const RecordedFile& file) const {
    return file.path.starts_with('/') ? file.path : without_dots(folder_of(one) + "/" + file.path);
  }

  /// Errors: absent where there is none.
  Result<std::vector<RecordedFile>> record_of(const Distribution& one, bool only_libraries) {
    const std::string path = path_in(path_in(folder_of(one), one.entry), "RECORD");
    auto at = texts_.find(path);
    if (at == texts_.end()) {
      at = texts_.emplace(path, survey_.host().read_file(path, kRecordBytes)).first;
    }
    if (!at->second) {
      return at->second.error();
    }
    return parse_record(*at->second, only_libraries);
  }

  Reading compare(const std::string& name, Depth depth, Evidence& evidence) {
    const Distributions same = distributions_of(installed_, name);
    if (same.empty()) {
      return python_.unlisted.empty()
                 ? Reading(Absent{"not installed in " + survey_.tilde(python_.label)})
                 : Reading(Unknown::from(python_.unlisted.front().error));
    }
    const Distribution& one = *same.first;
    evidence.from = survey_.tilde(path_in(path_in(folder_of(one), one.entry), "RECORD"));
    if (same.doubled()) {
      return Unknown{Why::ambiguous, "it has two dist-infos", ""};
    }
    const auto files = record_of(one, depth == Depth::sizes);
    if (!files) {
      return files.error().code == Errc::absent ? Reading(Value::scalar("no record"))
                                                : Reading(Unknown::from(files.error()));
    }
    return judge(one, *files, depth, evidence);
  }

  /// What is known of one file.
  enum class State { same, changed, missing, open };

  State look_at(const std::string& path, const RecordedFile& file, Depth depth,
                std::optional<Error>& error) {
    const auto status = survey_.host().status(path);
    if (!status) {
      if (status.error().code != Errc::absent) {
        error = status.error();
        return State::open;
      }
      return State::missing;
    }
    if (file.size_bytes && *file.size_bytes != status->size_bytes) {
      return State::changed;
    }
    if (!file.digest) {
      return State::same;  // compiled at the installation, or RECORD itself
    }
    std::optional<std::string> digest;
    host::Memory* memory = survey_.request().memory;
    if (depth == Depth::digests || claimed_by_others(path)) {
      const Result<std::string> read = digest_of(path);
      if (!read) {
        error = read.error();
        return State::open;
      }
      digest = *read;
    } else if (memory != nullptr) {
      digest = memory->get(*status, "sha256");
    }
    if (!digest) {
      return State::open;
    }
    return *digest == file.digest->hex() ? State::same : State::changed;
  }

  [[nodiscard]] bool claimed_by_others(const std::string& path) const {
    const auto at = claims_.by_path.find(path);
    return at != claims_.by_path.end() && at->second.size() > 1;
  }

  Result<std::string> digest_of(const std::string& path) {
    const host::Host& host = survey_.host();
    const auto learn = [&] {
      return host.ask(path, "sha256", [](int fd) -> Result<std::string> {
        const Result<Sha256> digest = Sha256::of_file(fd);
        if (!digest) {
          return digest.error();
        }
        return digest->hex();
      });
    };
    return survey_.request().memory == nullptr
               ? learn()
               : survey_.request().memory->recall(host, path, "sha256", learn);
  }

  Reading judge(const Distribution& one, const std::vector<RecordedFile>& files, Depth depth,
                Evidence& evidence) {
    std::size_t changed = 0;
    std::size_t missing = 0;
    std::size_t open = 0;
    std::optional<Error> error;
    const auto note = [&](const char* what, const std::string& path) {
      if (evidence.notes.size() >= kNotes) {
        return;
      }
      std::string text = what + survey_.tilde(path);
      const auto at = claims_.by_path.find(path);
      for (const std::string& other :
           at == claims_.by_path.end() ? std::set<std::string>{} : at->second) {
        text += other == one.name + " " + one.version ? "" : ", which is also in " + other;
      }
      evidence.notes.push_back(std::move(text));
    };
    for (const RecordedFile& file : files) {
      const std::string path = path_of(one, file);
      const State state = look_at(path, file, depth, error);
      if (state == State::changed) {
        ++changed;
        note("changed: ", path);
      } else if (state == State::missing) {
        ++missing;
        note("missing: ", path);
      } else if (state == State::open) {
        ++open;
      }
    }
    evidence.basis = depth == Depth::digests
                         ? "sizes and digests of " + std::to_string(files.size()) + " files"
                         : "sizes of " + std::to_string(files.size()) + " libraries";
    if (changed != 0 || missing != 0) {
      return Value::scalar(changed != 0 ? "changed" : "missing");
    }
    if (error) {
      return Unknown::from(*error);
    }
    if (open != 0 || depth == Depth::sizes) {
      // Of the other files nothing was looked at, and of some libraries the size alone.
      return Unknown{Why::not_probed,
                     "its libraries have the right sizes; all is read where the key is asked for "
                     "by name",
                     ""};
    }
    return Value::scalar("ok");
  }

  Survey& survey_;
  const Python& python_;
  Installed installed_;
  Claims claims_;
  std::map<std::string, Result<std::string>> texts_;
};

/// "nvidia-nccl-cu12" of "nvidia-nccl-cu12.record"; "" of other members.
std::string package_of(std::string_view member) {
  return member.ends_with(kMember) ? std::string(member.substr(0, member.size() - kMember.size()))
                                   : std::string();
}

/// In a whole scan keys are named because another side has them (a diff): that asks for no more.
Depth depth_of_named(const Request& request) {
  return request.only_named || !request.selection.empty() ? Depth::digests : Depth::sizes;
}

void run(Survey& survey) {
  const Depth deep = depth_of_named(survey.request());
  std::set<std::string> named;
  for (const std::string& member : survey.named_below("python.package")) {
    if (std::string name = package_of(member); !name.empty()) {
      named.insert(std::move(name));
    }
  }
  const bool scans = survey.wants("python.package.nvidia.record");
  if (named.empty() && !scans) {
    return;
  }
  const PythonScene& scene = python_scene(survey);
  const Python* target = scene.target();
  if (target == nullptr) {
    for (const std::string& name : named) {
      survey.add(std::string(kFamily) + name + std::string(kMember), scene.otherwise, {});
    }
  } else {
    Records records(survey, scene, *target);
    const std::vector<std::string> watched = records.watched();
    records.find_claims(watched);
    for (const std::string& name : scans ? watched : std::vector<std::string>{}) {
      if (!named.contains(name)) {
        records.add(name, "", Depth::sizes);
      }
    }
    for (const std::string& name : named) {
      records.add(name, "", deep);
    }
  }
  for (const facts::FactKey& key : survey.request().named) {
    const std::string name = key.name.starts_with(kFamily) && !key.label.empty()
                                 ? package_of(key.name.substr(kFamily.size()))
                                 : "";
    if (name.empty()) {
      continue;
    }
    for (const Python& python : scene.pythons) {
      if (key.label == python.label || key.label == survey.tilde(python.label)) {
        Records(survey, scene, python).add(name, key.label, deep);
      }
    }
  }
}

constexpr auto kKeys = std::to_array<std::string_view>({"python.package.*.record"});

}  // namespace

extern const Probe python_record{.name = "python_record", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

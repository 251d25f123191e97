#include "provision/origin.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "host/host.h"
#include "source/program.h"
#include "wheel/name.h"

namespace goldenv::provision {
namespace {

constexpr std::string_view kFolders =
    "import site,sysconfig\n"
    "p=sysconfig.get_paths()\n"
    "print('\\n'.join(dict.fromkeys([p['purelib'],p['platlib'],*site.getsitepackages()])))\n";
constexpr std::chrono::milliseconds kDeadline{20'000};
constexpr std::size_t kRecordLimitBytes = 64u << 20;

/// Packages, and the Python that they are for: what else a machine pins may contradict itself.
manifest::Manifest packages_of(const manifest::Manifest& manifest) {
  manifest::Manifest packages = manifest;
  std::erase_if(packages.pins, [](const manifest::Pin& pin) {
    const std::string& key = pin.key.name;
    return !key.starts_with("python.package.") && key != "torch" && key != "python";
  });
  return packages;
}

Result<std::vector<std::string>> site_folders(const std::string& python) {
  source::Program program;
  program.words = {python, "-I", "-c", std::string(kFolders)};
  program.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"};
  program.deadline = kDeadline;
  const source::Ended ended = source::run(program);
  if (ended.how != source::Ended::How::by_itself || ended.status != 0) {
    return Error{Errc::failed, python + " does not say where its packages lie", {}};
  }
  std::vector<std::string> folders;
  for (const std::string_view line : lines(ended.output)) {
    if (line.starts_with('/')) {
      folders.emplace_back(line);
    }
  }
  return folders;
}

/// The .dist-info folder of each project; the first that the interpreter would find.
std::map<std::string, std::string> installed_in(const std::vector<std::string>& folders,
                                                const host::Host& host) {
  constexpr std::string_view kEnd = ".dist-info";
  std::map<std::string, std::string> all;
  for (const std::string& folder : folders) {
    const auto entries = host.list(folder);
    if (!entries) {
      continue;
    }
    for (const host::DirEntry& entry : *entries) {
      const std::size_t dash = entry.name.find('-');
      if (entry.name.ends_with(kEnd) && dash != std::string::npos) {
        all.try_emplace(wheel::normalised_name(entry.name.substr(0, dash)),
                        folder + "/" + entry.name);
      }
    }
  }
  return all;
}

/// What an installer writes by itself, whatever the artifact has.
bool is_installers(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const bool is_info = path.find(".dist-info/") != std::string_view::npos;
  return path.ends_with(".pyc") ||
         (is_info && (name == "RECORD" || name == "INSTALLER" || name == "REQUESTED" ||
                      name == "direct_url.json" || name == "uv_cache.json"));
}

/// A file beside site-packages is a program, or lies where the installer's scheme has such files:
/// only its digest is the artifact's.
bool is_program(std::string_view path) {
  return path.starts_with("bin/") || path.find("/bin/") != std::string_view::npos;
}

std::string why_not(const ObjectRequest& request, const std::string& object,
                    const std::map<std::string, std::string>& installed, const host::Host& host,
                    const store::Store& store) {
  const auto at = installed.find(wheel::normalised_name(request.name));
  if (at == installed.end()) {
    return "it is not where this Python's packages are";
  }
  const auto text = host.read_file(at->second + "/RECORD", kRecordLimitBytes);
  if (!text) {
    return text.error().code == Errc::absent ? "what is installed has no RECORD"
                                             : text.error().message;
  }
  auto record = wheel::parse_installed_record(*text);
  if (!record) {
    return record.error().message;
  }
  const auto files = store.files(object);
  return files ? difference_of(*record, *files) : files.error().message;
}

}  // namespace

std::string difference_of(const std::vector<wheel::RecordEntry>& record,
                          const std::vector<store::File>& files) {
  constexpr std::string_view kSite = "site/";
  std::map<std::string, std::string> inside;  // path, digest
  std::multiset<std::string> beside;          // digests
  for (const store::File& file : files) {
    if (file.path.starts_with(kSite)) {
      const std::string path = file.path.substr(kSite.size());
      if (!is_installers(path)) {
        inside.emplace(path, file.sha256.hex());
      }
    } else if (!is_program(file.path)) {
      beside.insert(file.sha256.hex());
    }
  }
  for (const wheel::RecordEntry& entry : record) {
    if (is_installers(entry.path)) {
      continue;
    }
    const std::string digest = entry.sha256 ? entry.sha256->hex() : "";
    if (entry.path.starts_with("../") || entry.path.starts_with("/")) {
      if (is_program(entry.path)) {
        continue;
      }
      const auto same = beside.find(digest);
      if (same == beside.end()) {
        return "another build of the same version: " + shortened(entry.path) + " is not of it";
      }
      beside.erase(same);
      continue;
    }
    const auto same = inside.find(entry.path);
    if (same == inside.end()) {
      return "another build of the same version: it has no " + shortened(entry.path);
    }
    if (same->second != digest) {
      return "another build of the same version: " + shortened(entry.path) + " has other bytes";
    }
    inside.erase(same);
  }
  if (!inside.empty() || !beside.empty()) {
    return "another build of the same version: " +
           (inside.empty() ? std::string("a file beside site-packages")
                           : shortened(inside.begin()->first)) +
           " is not installed";
  }
  return {};
}

Result<std::vector<Origin>> find_origins(const manifest::Manifest& manifest,
                                         const recipe::Collection& recipes, const Options& options,
                                         const store::Store& store, const Watch& watch) {
  GOLDENV_TRY(Plan plan, make_plan({packages_of(manifest), "", ""}, recipes, options, store));
  std::erase_if(plan.steps, [](const Step& step) { return step.request.kind != "wheel"; });
  GOLDENV_TRY(const Obstacles obstacles, realise_steps(plan, options, store, watch));
  GOLDENV_TRY(const std::vector<std::string> folders, site_folders(plan.interpreter.program));
  const auto host = host::live_host();
  const auto installed = installed_in(folders, *host);
  std::vector<Origin> origins;
  for (const Fault& fault : plan.faults) {
    origins.push_back({fault.key, fault.version, "", "", fault.error.message});
  }
  for (const Step& step : plan.steps) {
    Origin origin{step.key, step.version, step.request.file, step.request.sha256, ""};
    const auto refused = std::ranges::find(obstacles.refused, step.request.id, &Refused::id);
    origin.why = refused != obstacles.refused.end()
                     ? refused->error.message
                     : why_not(step.request, step.object, installed, *host, store);
    origins.push_back(std::move(origin));
  }
  return origins;
}

}  // namespace goldenv::provision

#include "probe/python_path.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "probe/presence.h"
#include "probe/python_prefix.h"
#include "probe/redact.h"

namespace goldenv::probe {
namespace {

using Origin = SiteFolder::Origin;

constexpr std::size_t kPthLimitBytes = 1u << 20;
constexpr std::size_t kFolderLimit = 1000;  // of one sys.path

class Path {
 public:
  Path(const host::Host& host, const PythonSettings& settings, Listings& listings, Python& python)
      : host_(host), settings_(settings), listings_(listings), python_(python) {}

  void fill() {
    if (settings_.unseen) {
      doubt("PYTHONPATH", *settings_.unseen);
    }
    python_path();
    if (python_.kind == PythonKind::venv) {
      site(path_in(python_.prefix, "lib/python" + python_.series + "/site-packages"));
    }
    if (python_.kind != PythonKind::venv || python_.system_site) {
      user_site();
      if (!python_.base_prefix.empty()) {
        installation();
      }
    }
    find_torch();
  }

 private:
  void python_path() {
    if (settings_.python_path.empty()) {
      return;
    }
    for (const std::string_view part : split(settings_.python_path, ':')) {
      if (part.starts_with('/')) {
        add({normal_path(part), Origin::python_path});
      } else {
        python_.notes.push_back("PYTHONPATH holds \"" + std::string(part) +
                                "\", which depends on the current folder");
      }
    }
  }

  // Source: site.py, check_enableusersite and getusersitepackages.
  void user_site() {
    if (settings_.no_user_site || settings_.user_base.empty()) {
      return;
    }
    const std::string path =
        path_in(settings_.user_base, "lib/python" + python_.series + "/site-packages");
    python_.user_site = site(path, Origin::user);
    if (!python_.unlisted.empty() && python_.unlisted.back().path == path) {
      python_.user_site_error = python_.unlisted.back().error;
    }
  }

  void installation() {
    const std::string& prefix = python_.base_prefix;
    const std::string python = "python" + python_.series;
    if (is_debian(prefix)) {
      // Debian's patch of site.py; its own packages never lie in site-packages.
      site("/usr/local/lib/" + python + "/dist-packages");
      site("/usr/lib/python3/dist-packages", Origin::site, true);
      site("/usr/lib/" + python + "/dist-packages", Origin::site, true);
      return;
    }
    // sys.platlibdir is lib64 where the standard library is: Fedora, Red Hat, SUSE. Their patch
    // puts /usr/local before /usr.
    std::vector<std::string> libs{"lib"};
    const std::string landmark = path_in(prefix, "lib64/" + python + "/os.py");
    const auto there = is_there(host_, landmark);
    if (!there) {
      doubt(landmark, there.error());
    } else if (*there) {
      const auto lib = host_.real_path(path_in(prefix, "lib"));
      const auto lib64 = host_.real_path(path_in(prefix, "lib64"));
      if (!lib || !lib64 || *lib != *lib64) {
        libs.insert(libs.begin(), "lib64");
      }
    }
    const bool system = prefix == "/usr";
    if (system && libs.size() > 1) {
      for (const std::string& lib : libs) {
        site("/usr/local/" + lib + "/" + python + "/site-packages");
      }
    }
    for (const std::string& lib : libs) {
      site(path_in(prefix, lib + "/" + python + "/site-packages"), Origin::site, system);
    }
  }

  /// Whether Debian's patch of site.py is at work.
  bool is_debian(const std::string& prefix) {
    if (prefix != "/usr") {
      return false;
    }
    for (const std::string_view sign : {"/usr/lib/python3/dist-packages", "/etc/debian_version"}) {
      const auto there = is_there(host_, sign);
      if (there && *there) {
        return true;
      }
      if (!there) {
        doubt(std::string(sign), there.error());
      }
    }
    return false;
  }

  /// What stands behind this place in the path is not certain, unless Python passes over it.
  void doubt(const std::string& path, Error error, bool is_passed_over = false) {
    python_.unlisted.push_back({path, std::move(error), python_.folders.size(), is_passed_over});
  }

  /// Whether the folder exists. What its .pth files add stands behind it.
  bool site(const std::string& path, Origin origin = Origin::site, bool distribution = false) {
    const std::vector<host::DirEntry>* entries = add({path, origin, "", distribution});
    if (entries == nullptr) {
      return false;
    }
    std::vector<std::string> names;
    for (const host::DirEntry& entry : *entries) {
      if (entry.name.ends_with(".pth") && !entry.name.starts_with('.')) {
        names.push_back(entry.name);
      }
    }
    for (const std::string& name : names) {
      path_file(path, name);
    }
    return true;
  }

  // Source: site.py, addpackage. Lines that begin with "import" are run by Python and not by us.
  void path_file(const std::string& folder, const std::string& name) {
    const std::string file = path_in(folder, name);
    const auto text = host_.read_file(file, kPthLimitBytes);
    if (!text) {
      // A dangling link of an editable install that was moved adds nothing.
      if (text.error().code != Errc::absent) {
        python_.notes.push_back(text.error().message);
        doubt(file, text.error(), text.error().code == Errc::denied);
      }
      return;
    }
    bool runs = false;
    for (const std::string_view written : lines(*text)) {
      const std::string_view line = trim(written);
      if (line.empty() || line.starts_with('#')) {
        continue;
      }
      if (written.starts_with("import ") || written.starts_with("import\t")) {
        runs = true;
        continue;
      }
      if (line.find('\0') != std::string_view::npos) {
        continue;
      }
      add({normal_path(line.starts_with('/') ? line : path_in(folder, line)), Origin::pth, file});
    }
    if (runs) {
      python_.run_at_start.push_back(file);
    }
  }

  /// The folder's entries where it was added: it is there, can be listed and was not known before.
  const std::vector<host::DirEntry>* add(SiteFolder folder) {
    if (python_.folders.size() >= kFolderLimit || !known_.insert(folder.path).second) {
      return nullptr;
    }
    auto listed = listings_.find(folder.path);
    if (listed == listings_.end()) {
      auto entries = host_.list(folder.path);
      if (!entries) {
        refuse(folder.path, std::move(entries).error());
        return nullptr;
      }
      listed = listings_.emplace(folder.path, *std::move(entries)).first;
    }
    python_.folders.push_back(std::move(folder));
    return &listed->second;
  }

  void refuse(const std::string& path, Error error) {
    if (error.code == Errc::absent) {
      return;
    }
    const auto status = host_.status(path);
    if (status && status->kind == host::FileStatus::Kind::file) {
      python_.notes.push_back(path + " is an archive, into which is not looked");
      return;
    }
    const bool is_passed_over = error.code == Errc::denied;
    doubt(path, std::move(error), is_passed_over);
  }

  /// A regular package wins over a folder without __init__.py wherever that stands (PEP 420).
  void find_torch() {
    for (std::size_t i = 0; i < python_.folders.size(); ++i) {
      const SiteFolder& folder = python_.folders[i];
      const auto& entries = listings_.at(folder.path);
      const bool named = std::ranges::binary_search(
          entries, std::string_view("torch"), {},
          [](const host::DirEntry& entry) { return std::string_view(entry.name); });
      if (!named) {
        continue;
      }
      const std::string torch = path_in(folder.path, "torch");
      const auto status = host_.status(torch + "/__init__.py");
      const UnlistedFolder* doubt = doubt_before(python_, i);
      if (status && doubt == nullptr) {
        python_.torch = torch;
        return;
      }
      if (status || status.error().code != Errc::absent) {
        python_.torch_error = status ? doubt->error : status.error();
        return;
      }
    }
    for (const SiteFolder& folder : python_.folders) {
      for (const host::DirEntry& entry : listings_.at(folder.path)) {
        if (entry.name.starts_with("__editable___torch_") && entry.name.ends_with("_finder.py")) {
          editable_torch(path_in(folder.path, entry.name));
        }
      }
    }
    // Whether there is one in what was not seen, nobody knows.
    if (python_.torch.empty() && !python_.torch_error && !python_.unlisted.empty()) {
      python_.torch_error = python_.unlisted.front().error;
    }
  }

  /// setuptools' finder of an editable install: `MAPPING: dict[str, str] = {'torch':
  /// '/src/torch'}`.
  void editable_torch(const std::string& finder) {
    const auto text = host_.read_file(finder, kPthLimitBytes);
    if (!text) {
      python_.torch_error = text.error();
      return;
    }
    constexpr std::string_view kKey = "'torch': '";
    const std::size_t at = text->find(kKey);
    const std::size_t end = at == std::string::npos ? at : text->find('\'', at + kKey.size());
    if (end != std::string::npos) {
      const std::string folder = text->substr(at + kKey.size(), end - at - kKey.size());
      if (folder.starts_with('/')) {
        const auto there = is_there(host_, folder + "/__init__.py");
        if (!there) {
          python_.torch_error = there.error();
        } else if (*there) {
          python_.torch = folder;
        }
      }
    }
  }

  const host::Host& host_;
  const PythonSettings& settings_;
  Listings& listings_;
  Python& python_;
  std::set<std::string> known_;
};

}  // namespace

PythonSettings python_settings(const host::Host& host) {
  PythonSettings settings;
  if (const auto known = variables_known(host); !known) {
    settings.unseen = known.error();
  }
  const auto home = host.variable("HOME");
  // A tree that records no environment is mostly an image, which root runs.
  settings.home = home ? *home : (host.live() ? "" : "/root");
  settings.python_path = redact(host.variable("PYTHONPATH").value_or(""));
  settings.no_user_site = !host.variable("PYTHONNOUSERSITE").value_or("").empty();
  settings.user_base = host.variable("PYTHONUSERBASE").value_or("");
  if (settings.user_base.empty() && settings.home.starts_with('/')) {
    settings.user_base = path_in(settings.home, ".local");
  }
  return settings;
}

const UnlistedFolder* doubt_before(const Python& python, std::size_t position) {
  for (const UnlistedFolder& folder : python.unlisted) {
    if (folder.position <= position && !folder.is_passed_over) {
      return &folder;
    }
  }
  return nullptr;
}

void fill_path(const host::Host& host, const PythonSettings& settings, Listings& listings,
               Python& python) {
  Path(host, settings, listings, python).fill();
}

}  // namespace goldenv::probe

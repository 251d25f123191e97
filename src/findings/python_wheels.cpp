#include <array>

#include "base/text.h"
#include "findings/rule.h"

namespace goldenv::findings {
namespace {

struct Library {
  std::string_view key;      ///< the version in force
  std::string_view origin;   ///< where its file comes from
  std::string_view package;  ///< what the names of its wheels begin with
};

constexpr std::array<Library, 2> kLibraries = {{
    {"cudnn", "cudnn.origin", "python.package.nvidia-cudnn-"},
    {"nccl", "nccl.origin", "python.package.nvidia-nccl-"},
}};
constexpr std::array<std::string_view, 6> kKeys = {
    "cudnn", "cudnn.origin", "nccl", "nccl.origin", "python.duplicates", "python.package"};

/// The wheels for CUDA 12 and 13 write the same paths: the one installed last wins, and removing
/// either takes the files of both.
void look_at(const View& view, const Library& library, std::vector<Finding>& found) {
  const auto version = view.text(library.key);
  if (!version || view.text(library.origin) != "wheel") {
    return;
  }
  std::vector<const facts::Fact*> wheels;
  for (const facts::Fact& fact : view.below(library.package)) {
    const auto* value = std::get_if<facts::Value>(&fact.reading);
    const std::string_view rest = std::string_view(fact.key.name).substr(library.package.size());
    if (value != nullptr && fact.key.label.empty() && rest.starts_with("cu") &&
        rest.find('.') == std::string_view::npos) {
      wheels.push_back(&fact);
    }
  }
  constexpr std::size_t kFamily = std::string_view("python.package.").size();
  Finding finding{{},
                  facts::Level::must,
                  {},
                  "the file is not what the package list says: the wheels for two CUDA versions "
                  "write one path, or it was copied over",
                  "uninstall all of them, then install the one that is meant",
                  {{std::string(library.key), ""}}};
  std::string listed;
  bool one_fits = false;
  for (const facts::Fact* wheel : wheels) {
    const std::string& text = std::get<facts::Value>(wheel->reading).text;
    listed += (listed.empty() ? "" : ", ") + wheel->key.name.substr(kFamily) + " " + text;
    // A wheel's fourth part may be a build of its own ("8.9.7.29"): NCCL states three.
    one_fits = one_fits || text == *version || text.starts_with(*version + ".");
    finding.facts.push_back(wheel->key);
  }
  if (wheels.empty() || (one_fits && wheels.size() == 1)) {
    return;
  }
  finding.level = one_fits ? facts::Level::should : facts::Level::must;
  finding.summary = std::string(library.key) + " in force is " + *version + ", installed " +
                    (wheels.size() == 1 ? "is " : "are ") + listed;
  found.push_back(std::move(finding));
}

void look(const View& view, std::vector<Finding>& found) {
  for (const Library& library : kLibraries) {
    look_at(view, library, found);
  }
  const facts::Value* twice = view.value("python.duplicates");
  if (twice != nullptr && !twice->items.empty()) {
    found.push_back({{},
                     facts::Level::should,
                     "two dist-infos of one name: " + join(twice->items, ", "),
                     "which version pip and importlib report depends on the order of the folder",
                     "install the packages again with pip install --force-reinstall",
                     {{"python.duplicates", ""}}});
  }
}

}  // namespace

extern const Rule python_wheels{"python-wheels", kKeys, look};

}  // namespace goldenv::findings

#include <array>

#include "findings/rule.h"

namespace goldenv::findings {
namespace {

constexpr std::array<std::string_view, 1> kKeys = {"python.package"};
constexpr std::string_view kFamily = "python.package.";
constexpr std::string_view kMember = ".record";

/// What a wheel's RECORD says of its files against the files.
void look(const View& view, std::vector<Finding>& found) {
  for (const facts::Fact& fact : view.below(kFamily)) {
    const auto* value = std::get_if<facts::Value>(&fact.reading);
    const std::string& name = fact.key.name;
    if (value == nullptr || !fact.key.label.empty() || !name.ends_with(kMember) ||
        (value->text != "changed" && value->text != "missing")) {
      continue;
    }
    const std::string package =
        name.substr(kFamily.size(), name.size() - kFamily.size() - kMember.size());
    const auto version = view.text(std::string(kFamily) + package);
    Finding finding{{},
                    facts::Level::must,
                    package + (version ? " " + *version : "") +
                        ": its files are not those that "
                        "it installed",
                    "what runs is not the version that pip and the package list name",
                    "install it again with pip install --force-reinstall --no-deps; of wheels for "
                    "two CUDA versions remove all, then install the one that is meant",
                    {fact.key}};
    if (!fact.evidence.notes.empty()) {
      finding.summary += " (" + fact.evidence.notes.front() + ")";
    }
    found.push_back(std::move(finding));
  }
}

}  // namespace

extern const Rule python_files{"python-files", kKeys, look};

}  // namespace goldenv::findings

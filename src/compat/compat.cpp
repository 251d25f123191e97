#include "compat/compat.h"

#include <algorithm>
#include <variant>

#include "base/text.h"
#include "compat/rule.h"
#include "facts/reading.h"
#include "facts/want.h"
#include "version/version.h"

namespace goldenv::compat {
namespace {

/// Incompatible before unknown before compatible.
int rank(Verdict verdict) {
  return verdict == Verdict::incompatible ? 0 : verdict == Verdict::unknown ? 1 : 2;
}

/// "2_28" of "manylinux_2_28_x86_64" as "2.28"; "" where the tag is not so.
std::string numbered_floor(std::string_view tag) {
  constexpr std::string_view kBegin = "manylinux_";
  if (!tag.starts_with(kBegin)) {
    return {};
  }
  const std::string_view rest = tag.substr(kBegin.size());
  const std::vector<std::string_view> parts = split(rest, '_');
  return parts.size() >= 3 && to_number(parts[0]) && to_number(parts[1])
             ? std::string(parts[0]) + "." + std::string(parts[1])
             : std::string{};
}

}  // namespace

Set& Set::add(std::string_view key, std::string_view version) {
  std::vector<std::string>& all = versions_[std::string(key)];
  if (std::ranges::find(all, version) == all.end()) {
    all.emplace_back(version);
  }
  return *this;
}

Set& Set::put(std::string_view key, std::string_view version) {
  versions_.insert_or_assign(std::string(key), std::vector<std::string>{std::string(version)});
  return *this;
}

std::span<const std::string> Set::all(std::string_view key) const {
  const auto at = versions_.find(key);
  return at == versions_.end() ? std::span<const std::string>{} : at->second;
}

std::optional<std::string_view> Set::one(std::string_view key) const {
  const std::span<const std::string> found = all(key);
  return found.size() == 1 ? std::optional<std::string_view>(found.front()) : std::nullopt;
}

Set versions_of(const manifest::Manifest& manifest) {
  Set versions;
  for (const manifest::Pin& pin : manifest.pins) {
    if (!pin.when && pin.key.label.empty() && pin.want.kind == facts::Want::Kind::exact &&
        pin.want.value.form == facts::Value::Form::scalar) {
      versions.add(pin.key.name, pin.want.value.text);
    }
  }
  return versions;
}

Set versions_of(const facts::Snapshot& snapshot) {
  Set versions;
  for (const facts::Fact& fact : snapshot.facts) {
    const auto* const value = std::get_if<facts::Value>(&fact.reading);
    if (value == nullptr || !fact.key.label.empty()) {
      continue;
    }
    if (value->form == facts::Value::Form::scalar) {
      versions.add(fact.key.name, value->text);
    } else if (value->form == facts::Value::Form::tally) {
      for (const auto& [version, count] : value->entries) {
        versions.add(fact.key.name, version);
      }
    }
  }
  return versions;
}

std::string_view name(Verdict verdict) {
  return verdict == Verdict::compatible     ? "compatible"
         : verdict == Verdict::incompatible ? "incompatible"
                                            : "unknown";
}

std::string_view name(tables::Confidence confidence) {
  return confidence == tables::Confidence::certain    ? "certain"
         : confidence == tables::Confidence::reported ? "reported"
                                                      : "guess";
}

std::vector<Answer> judge(const Set& versions) {
  std::vector<Answer> answers;
  for (const Rule* rule : rules()) {
    const std::size_t before = answers.size();
    rule->judge(versions, answers);
    for (std::size_t i = before; i < answers.size(); ++i) {
      answers[i].rule = rule->name;
    }
  }
  std::ranges::stable_sort(answers, {}, [](const Answer& answer) { return rank(answer.verdict); });
  return answers;
}

Verdict worst(std::span<const Answer> answers) {
  const auto at =
      std::ranges::min_element(answers, {}, [](const Answer& one) { return rank(one.verdict); });
  return at == answers.end() ? Verdict::compatible : at->verdict;
}

std::string glibc_floor(std::string_view platform_tag) {
  std::string least;
  for (const std::string_view tag : split(platform_tag, '.')) {
    const std::string floor = tag.starts_with("manylinux1_")      ? "2.5"
                              : tag.starts_with("manylinux2010_") ? "2.12"
                              : tag.starts_with("manylinux2014_") ? "2.17"
                                                                  : numbered_floor(tag);
    if (!floor.empty() && (least.empty() || older(floor, least))) {
      least = floor;
    }
  }
  return least;
}

std::optional<std::strong_ordering> order(std::string_view a, std::string_view b) {
  const auto first = version::parse(version::Scheme::dotted, a);
  const auto second = version::parse(version::Scheme::dotted, b);
  if (!first || !second) {
    return std::nullopt;
  }
  return version::order(*first, *second);
}

bool older(std::string_view a, std::string_view b) {
  const auto found = order(a, b);
  return found && *found == std::strong_ordering::less;
}

std::string_view major_of(std::string_view version) { return version.substr(0, version.find('.')); }

std::string_view minor_of(std::string_view version) {
  const std::size_t first = version.find('.');
  return first == std::string_view::npos ? version
                                         : version.substr(0, version.find('.', first + 1));
}

std::optional<Choice> first_of(const Set& versions, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const auto version = versions.one(key)) {
      return Choice{std::string(key), std::string(*version)};
    }
  }
  return std::nullopt;
}

std::optional<Choice> nccl_of(const Set& versions) {
  return first_of(versions, {"nccl", "python.package.nvidia-nccl-cu13",
                             "python.package.nvidia-nccl-cu12", "python.package.nvidia-nccl-cu11"});
}

std::optional<Choice> cudnn_of(const Set& versions) {
  return first_of(versions,
                  {"cudnn", "python.package.nvidia-cudnn-cu13", "python.package.nvidia-cudnn-cu12",
                   "python.package.nvidia-cudnn-cu11"});
}

std::optional<Choice> torch_of(const Set& versions) { return first_of(versions, {"torch"}); }

}  // namespace goldenv::compat

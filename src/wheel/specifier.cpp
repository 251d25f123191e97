#include "wheel/specifier.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "version/number.h"
#include "version/pep440.h"

namespace goldenv::wheel {
namespace {

constexpr std::size_t kMaxBytes = 4096;
constexpr std::string_view kArbitrary = "===";

Result<Specifier> parse_specifier(std::string_view text) {
  Specifier specifier;
  if (text.starts_with(kArbitrary)) {
    specifier.arbitrary = true;
    specifier.text = std::string(trim(text.substr(kArbitrary.size())));
    if (specifier.text.empty() || specifier.text.find_first_of(" \t;)") != std::string::npos) {
      return Error{
          Errc::malformed, version::quoted(text) + " is no specifier: === takes one word", {}};
    }
    return specifier;
  }
  if (text.find_first_of("=!<>~") != 0) {  // a constraint may be "12.1.*"
    return Error{
        Errc::malformed,
        version::quoted(text) + " is no specifier: expected ==, !=, >=, >, <=, <, ~= or ===",
        {}};
  }
  GOLDENV_TRY(specifier.constraint, version::parse_constraint(version::Scheme::pep440, text));
  return specifier;
}

/// What === compares: the version in its normal spelling, in lower case.
std::string normal_spelling(std::string_view text) {
  const auto parts = version::pep440::parse(text);
  if (!parts) return to_lower(text);
  const auto number = [](std::string_view digits) {
    const std::string_view shown = version::significant(digits);
    return shown.empty() ? std::string("0") : std::string(shown);
  };
  std::string out;
  if (!version::significant(parts->epoch).empty()) out += number(parts->epoch) + "!";
  for (std::size_t i = 0; i < parts->release.size(); ++i) {
    out += (i == 0 ? "" : ".") + number(parts->release[i]);
  }
  if (parts->pre) {
    using Stage = version::pep440::Parts::Stage;
    const Stage stage = parts->pre->stage;
    out += stage == Stage::a ? "a" : (stage == Stage::b ? "b" : "rc");
    out += number(parts->pre->number);
  }
  if (parts->post) out += ".post" + number(*parts->post);
  if (parts->dev) out += ".dev" + number(*parts->dev);
  for (std::size_t i = 0; i < parts->local.size(); ++i) {
    const std::string& label = parts->local[i];
    const bool digits = version::leading_digits(label) == label;
    out += (i == 0 ? "+" : ".") + (digits ? number(label) : label);
  }
  return out;
}

}  // namespace

Result<Specifiers> parse_specifiers(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return Error{Errc::malformed, version::quoted(text) + " is no set of specifiers: too long", {}};
  }
  Specifiers found;
  for (const std::string_view piece : split(text, ',')) {
    if (trim(piece).empty()) continue;
    GOLDENV_TRY(Specifier specifier, parse_specifier(trim(piece)));
    found.clauses.push_back(std::move(specifier));
  }
  return found;
}

bool contains(const Specifiers& specifiers, std::string_view version) {
  const std::string normal = normal_spelling(version);
  const version::Version parsed{version::Scheme::pep440, std::string(version)};
  const bool valid = version::pep440::parse(version).has_value();
  return std::ranges::all_of(specifiers.clauses, [&](const Specifier& clause) {
    if (clause.arbitrary) return normal == to_lower(clause.text);
    return valid && version::meets(clause.constraint, parsed) == Truth::yes;
  });
}

std::string exact_version(const Specifiers& specifiers) {
  if (specifiers.clauses.size() != 1) return "";
  const Specifier& only = specifiers.clauses.front();
  if (only.arbitrary) return version::pep440::parse(only.text) ? only.text : "";
  const version::Clause& clause = only.constraint.clauses.front();
  return clause.op == version::Op::eq ? clause.text : "";
}

std::string render(const Specifiers& specifiers) {
  std::string out;
  for (const Specifier& clause : specifiers.clauses) {
    if (!out.empty()) out += ',';
    if (clause.arbitrary) {
      out += std::string(kArbitrary) + clause.text;
      continue;
    }
    // A constraint's own wildcard has no operator.
    const bool wildcard = clause.constraint.clauses.front().op == version::Op::wildcard;
    out += (wildcard ? "==" : "") + render(clause.constraint);
  }
  return out;
}

}  // namespace goldenv::wheel

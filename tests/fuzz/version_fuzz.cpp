// Lines of any bytes as versions, constraints, releases and prefixes, in every scheme.
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "version/version.h"

namespace goldenv::version {
namespace {

constexpr Scheme kSchemes[] = {Scheme::dotted, Scheme::kernel, Scheme::debian,
                               Scheme::rpm,    Scheme::pep440, Scheme::conda};

/// More lines than this make pairs and triples slow without making them odder.
constexpr std::size_t kMaxLines = 4;

void require(bool holds, std::string_view promise, Scheme scheme, std::string_view a,
             std::string_view b = {}, std::string_view c = {}) {
  if (holds) return;
  std::cerr << "broken in " << name(scheme) << ": " << promise << "\n[" << a << "]\n[" << b
            << "]\n[" << c << "]\n";
  std::abort();
}

void require_error(const Error& error, Scheme scheme, std::string_view text) {
  require(error.code == Errc::malformed && !error.message.empty(),
          "errors are malformed and say why", scheme, text);
  require(is_utf8(error.message) && error.message.size() < 500, "messages are short and readable",
          scheme, text);
}

void check_pair(const Version& a, const Version& b) {
  const auto seen = order(a, b);
  require(order(b, a) == (0 <=> seen), "order is antisymmetric", a.scheme, a.text, b.text);
  const Change forth = change(a, b);
  const Change back = change(b, a);
  require((forth.direction == Direction::same) == (seen == 0), "same is equal order", a.scheme,
          a.text, b.text);
  require((forth.part == Part::none) == (a.text == b.text), "none is the same text", a.scheme,
          a.text, b.text);
  require(forth.part == back.part, "the part is the same both ways", a.scheme, a.text, b.text);
}

void check_triple(const Version& a, const Version& b, const Version& c) {
  if (order(a, b) <= 0 && order(b, c) <= 0) {
    require(order(a, c) <= 0, "order is transitive", a.scheme, a.text, b.text, c.text);
    if (order(a, c) == 0) {
      require(order(a, b) == 0 && order(b, c) == 0, "equals have nothing between them", a.scheme,
              a.text, b.text, c.text);
    }
  }
}

void check_constraint(Scheme scheme, std::string_view text,
                      const std::vector<std::string_view>& others) {
  const Result<Constraint> constraint = parse_constraint(scheme, text);
  if (!constraint) return require_error(constraint.error(), scheme, text);
  const std::string rendered = render(*constraint);
  const Result<Constraint> again = parse_constraint(scheme, rendered);
  require(again && *again == *constraint, "parse and render are inverses", scheme, text, rendered);
  require(looks_like_constraint(text), "a constraint looks like one", scheme, text);
  for (const std::string_view whole : others) {
    const Result<Version> version = parse(scheme, whole);
    if (!version) continue;
    const Truth met = meets(*constraint, *version);
    require((meets(ordered_clauses(*constraint), *version) &
             meets(exact_clauses(*constraint), *version)) == met,
            "ordered and other clauses make the whole", scheme, text, whole);
    // A prefix of a kernel release is not one of its upstream level.
    const Constraint about = scheme == Scheme::kernel ? exact_clauses(*constraint) : *constraint;
    for (const std::string_view prefix : others) {
      if (prefix.empty() || !is_prefix(prefix, whole) || !parse(scheme, prefix)) continue;
      // An epoch is part of the prefix or not there.
      if (whole.find_first_of("!:", prefix.size()) != std::string_view::npos) continue;
      const Truth known = meets_prefix(about, prefix);
      const Truth all = meets(about, *version);
      require(known == Truth::unknown || all == Truth::unknown || known == all,
              "what is known of a prefix holds for the whole", scheme, text, prefix, whole);
    }
  }
}

void check(std::string_view bytes) {
  std::vector<std::string_view> texts = split(bytes, '\n');
  if (texts.size() > kMaxLines) texts.resize(kMaxLines);
  for (const Scheme scheme : kSchemes) {
    std::vector<Version> versions;
    for (const std::string_view text : texts) {
      const Result<Version> version = parse(scheme, text);
      if (version) {
        require(version->text == text, "the text is kept", scheme, text);
        versions.push_back(*version);
      } else {
        require_error(version.error(), scheme, text);
      }
      check_constraint(scheme, text, texts);
    }
    for (const Version& a : versions) {
      for (const Version& b : versions) {
        check_pair(a, b);
        for (const Version& c : versions) check_triple(a, b, c);
      }
    }
  }
  texts.resize(3);
  const Result<Upstream> upstream = kernel_upstream(texts[0], texts[1], texts[2]);
  if (upstream) {
    require(parse(Scheme::dotted, upstream->text).has_value(), "an upstream level is dotted",
            Scheme::kernel, texts[0], upstream->text);
  }
  for (const Code code : {Code::nccl, Code::cudnn, Code::cuda}) {
    const Result<std::uint64_t> value = to_code(code, texts[0]);
    if (value) {
      const Result<std::string> text = from_code(code, *value);
      require(text.has_value(), "a code has a text", Scheme::dotted, texts[0]);
    }
    if (const auto number = to_number(texts[0])) {
      const Result<std::string> text = from_code(code, *number);
      require(!text || to_code(code, *text).value_or(0) == *number, "codes come back",
              Scheme::dotted, texts[0]);
    }
  }
}

}  // namespace
}  // namespace goldenv::version

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  goldenv::version::check({reinterpret_cast<const char*>(data), size});
  return 0;
}

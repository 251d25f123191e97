#include "facts/condition.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "doc/node.h"
#include "facts/catalogue.h"

namespace goldenv::facts {

/// A comparison, or others joined. Chains of `and` and `or` lie side by side, so that only
/// parentheses and `not` nest, and those are few.
struct Condition::Term {
  enum class Kind { compare, all, any, negation };
  Kind kind = Kind::compare;
  std::vector<Term> terms;
  Resolved key;
  Want want;

  [[nodiscard]] Truth holds(const Snapshot& snapshot, const Reading& upstream) const {
    switch (kind) {
      case Kind::compare:
        return meets(*key.entry, want, snapshot.read({key.name, key.label}).reading, upstream);
      case Kind::negation:
        return !terms.front().holds(snapshot, upstream);
      case Kind::all: {
        Truth all = Truth::yes;
        for (const Term& term : terms) {
          all = all & term.holds(snapshot, upstream);
        }
        return all;
      }
      case Kind::any: {
        Truth any = Truth::no;
        for (const Term& term : terms) {
          any = any | term.holds(snapshot, upstream);
        }
        return any;
      }
    }
    return Truth::unknown;
  }

  [[nodiscard]] std::string why_unknown(const Snapshot& snapshot, const Reading& upstream) const {
    if (holds(snapshot, upstream) != Truth::unknown) {
      return {};
    }
    if (kind == Kind::compare) {
      const Fact fact = snapshot.read({key.name, key.label});
      const std::string why = why_undecided(*key.entry, want, fact.reading);
      return why.empty() ? why : fact.key.text() + ": " + why;
    }
    for (const Term& term : terms) {
      if (std::string why = term.why_unknown(snapshot, upstream); !why.empty()) {
        return why;
      }
    }
    return {};
  }

  void add_keys(std::vector<FactKey>& keys) const {
    if (kind == Kind::compare) {
      FactKey mine{key.name, key.label};
      if (std::ranges::find(keys, mine) == keys.end()) {
        keys.push_back(std::move(mine));
      }
    }
    for (const Term& term : terms) {
      term.add_keys(keys);
    }
  }

  class Parser;
};

namespace {

constexpr std::size_t kMaxBytes = 4096;
constexpr std::size_t kMaxDepth = 32;
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::array<std::string_view, 7> kOperators{"==", "!=", "<=", ">=", "~=", "<", ">"};

struct Token {
  enum class Kind { word, quoted, sign, open, close, end };
  Kind kind = Kind::end;
  std::string text;
  std::size_t at = 0;  ///< byte in the condition
};

/// What a token is called in a message.
std::string called(const Token& token) {
  constexpr std::size_t kLongest = 40;
  if (token.kind == Token::Kind::end) {
    return "the end";
  }
  return doc::quote_json(std::string_view(token.text).substr(0, kLongest));
}

Error wrong(std::size_t at, const std::string& what) {
  return Error{Errc::malformed, "byte " + std::to_string(at) + ": " + what, {}};
}

bool is_operator(std::string_view text) {
  return std::ranges::find(kOperators, text) != kOperators.end();
}

/// Cuts a condition into tokens. What ends a word depends on where it stands: a key ends before an
/// operator, a value may hold one.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<Token> next(bool value) {
    at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
    Token token;
    token.at = at_;
    if (at_ == text_.size()) {
      return token;
    }
    const char c = text_[at_];
    if (c == '(' || c == ')') {
      token.kind = c == '(' ? Token::Kind::open : Token::Kind::close;
      token.text = std::string(1, c);
      ++at_;
      return token;
    }
    if (c == '"' || c == '\'') {
      return quoted(c);
    }
    if (!value) {
      if (const std::string_view sign = sign_at(at_); !sign.empty()) {
        token.kind = Token::Kind::sign;
        token.text = sign;
        at_ += sign.size();
        return token;
      }
      if (c == '=' || c == '!') {
        return wrong(
            at_, std::string("'") + c + "' is no comparison; expected ==, !=, <, <=, >, >= or ~=");
      }
    }
    token.kind = Token::Kind::word;
    const std::size_t begin = at_;
    while (at_ < text_.size() && !ends_word(value)) {
      ++at_;
    }
    token.text = text_.substr(begin, at_ - begin);
    return token;
  }

 private:
  [[nodiscard]] std::string_view sign_at(std::size_t at) const {
    for (const std::string_view sign : kOperators) {
      if (text_.substr(at).starts_with(sign)) {
        return sign;
      }
    }
    return {};
  }

  [[nodiscard]] bool ends_word(bool value) const {
    const char c = text_[at_];
    return kBlanks.find(c) != std::string_view::npos || c == '(' || c == ')' ||
           (!value && (c == '=' || c == '!' || !sign_at(at_).empty()));
  }

  /// A text in quotes; in double ones a backslash stands before a quote or another backslash.
  Result<Token> quoted(char quote) {
    Token token{Token::Kind::quoted, {}, at_};
    for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == quote) {
        at_ = i + 1;
        return token;
      }
      if (quote == '"' && c == '\\') {
        ++i;
        if (i == text_.size() || (text_[i] != '"' && text_[i] != '\\')) {
          return wrong(i - 1, "an unknown escape; expected \\\\ or \\\"");
        }
      }
      token.text += text_[i];
    }
    return wrong(at_, "a quote that nothing closes; expected another at the end of the text");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

class Condition::Term::Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Result<Term> parse() {
    GOLDENV_TRY(token_, lexer_.next(false));
    GOLDENV_TRY(Term term, chain(Kind::any, 0));
    if (token_.kind != Token::Kind::end) {
      return wrong(token_.at, called(token_) + " is too much; expected and, or, or the end");
    }
    return term;
  }

 private:
  Result<void> advance(bool value = false) {
    auto token = lexer_.next(value);
    if (!token) {
      return std::move(token).error();
    }
    token_ = *std::move(token);
    return {};
  }

  [[nodiscard]] bool at_word(std::string_view word) const {
    return token_.kind == Token::Kind::word && token_.text == word;
  }

  /// Terms joined by `or` (any) or `and` (all).
  Result<Term> chain(Kind joining, std::size_t depth) {
    const std::string_view joint = joining == Kind::any ? "or" : "and";
    Term whole;
    whole.kind = joining;
    while (true) {
      auto term = joining == Kind::any ? chain(Kind::all, depth) : negation(depth);
      if (!term) {
        return std::move(term).error();
      }
      whole.terms.push_back(*std::move(term));
      if (!at_word(joint)) {
        break;
      }
      if (auto next = advance(); !next) {
        return std::move(next).error();
      }
    }
    if (whole.terms.size() == 1) {
      Term only = std::move(whole.terms.front());
      return only;
    }
    return whole;
  }

  Result<Term> negation(std::size_t depth) {
    if (depth > kMaxDepth) {
      return wrong(token_.at, "nested more than " + std::to_string(kMaxDepth) +
                                  " levels deep; expected fewer");
    }
    if (at_word("not")) {
      if (auto next = advance(); !next) {
        return std::move(next).error();
      }
      GOLDENV_TRY(Term inner, negation(depth + 1));
      Term term;
      term.kind = Kind::negation;
      term.terms.push_back(std::move(inner));
      return term;
    }
    if (token_.kind != Token::Kind::open) {
      return comparison();
    }
    const std::size_t opened = token_.at;
    if (auto next = advance(); !next) {
      return std::move(next).error();
    }
    GOLDENV_TRY(Term inner, chain(Kind::any, depth + 1));
    if (token_.kind != Token::Kind::close) {
      return wrong(token_.at, called(token_) + " within the parenthesis of byte " +
                                  std::to_string(opened) + "; expected and, or, or ')'");
    }
    if (auto next = advance(); !next) {
      return std::move(next).error();
    }
    return inner;
  }

  Result<Term> comparison() {
    if ((token_.kind != Token::Kind::word && token_.kind != Token::Kind::quoted) ||
        at_word("and") || at_word("or")) {
      return wrong(token_.at, called(token_) + " where a comparison begins; expected KEY OP VALUE");
    }
    const Token written = token_;
    Term term;
    auto resolved = resolve(written.text);
    if (!resolved) {
      return wrong(written.at, resolved.error().message);
    }
    term.key = *std::move(resolved);
    if (auto next = advance(); !next) {
      return std::move(next).error();
    }
    if (token_.kind != Token::Kind::sign) {
      return wrong(token_.at, called(token_) + " behind the key " + doc::quote_json(written.text) +
                                  "; expected ==, !=, <, <=, >, >= or ~=");
    }
    const std::string sign = token_.text;
    if (auto next = advance(true); !next) {
      return std::move(next).error();
    }
    if (token_.kind != Token::Kind::word && token_.kind != Token::Kind::quoted) {
      return wrong(token_.at, called(token_) + " behind " + sign + "; expected a value");
    }
    if (token_.kind == Token::Kind::word && is_operator(token_.text)) {
      return wrong(token_.at, called(token_) + " behind " + sign +
                                  "; expected a value (an odd one in quotes)");
    }
    const Token value = token_;
    if (value.kind == Token::Kind::word && value.text == "absent") {
      if (sign != "==" && sign != "!=") {
        return wrong(value.at, "absent has no order; expected == or != before it");
      }
      term.want.kind = Want::Kind::absent;
      if (sign == "!=") {
        Term there;
        there.kind = Kind::negation;
        there.terms.push_back(std::move(term));
        term = std::move(there);
      }
    } else {
      GOLDENV_TRY(term.want, parse_value(term.key, sign, value));
    }
    if (auto next = advance(); !next) {
      return std::move(next).error();
    }
    return term;
  }

  static Result<Want> parse_value(const Resolved& resolved, const std::string& sign,
                                  const Token& value) {
    const bool equality = sign == "==" || sign == "!=";
    const bool ordered = resolved.entry->type == Type::version || !equality;
    if (ordered && value.text.find(',') != std::string::npos) {
      return wrong(value.at, "a list " + called(value) + "; expected one value");
    }
    // Without order a text is itself, whatever it looks like; pins spell that with == before it.
    const bool literal = !ordered && value.text.find(',') == std::string::npos;
    // == before what is no version takes it as a text; here only quotes say that this is meant.
    if (resolved.entry->type == Type::version && value.kind == Token::Kind::word) {
      const auto constraint = version::parse_constraint(resolved.entry->scheme, sign + value.text);
      if (!constraint) {
        return wrong(value.at, constraint.error().message);
      }
    }
    // Behind != a value must have the form of the key's; == would take others as they stand.
    auto parsed = parse_want(resolved,
                             doc::Node::scalar(ordered   ? sign + value.text
                                               : literal ? "!=" + value.text
                                                         : value.text,
                                               true),
                             "");
    if (!parsed) {
      // Its position is that of the node, which stands nowhere.
      std::string message = std::move(parsed).error().message;
      constexpr std::string_view kNowhere = ":1:1: ";
      return wrong(value.at,
                   message.starts_with(kNowhere) ? message.substr(kNowhere.size()) : message);
    }
    if (!ordered && (parsed->kind == Want::Kind::exact || parsed->kind == Want::Kind::differs)) {
      parsed->kind = sign == "!=" ? Want::Kind::differs : Want::Kind::exact;
    }
    return parsed;
  }

  Lexer lexer_;
  Token token_;
};

Result<Condition> Condition::parse(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return wrong(
        0, std::to_string(text.size()) + " bytes; expected at most " + std::to_string(kMaxBytes));
  }
  GOLDENV_TRY(Term root, Term::Parser(text).parse());
  Condition condition;
  condition.text_ = text;
  condition.root_ = std::make_shared<const Term>(std::move(root));
  return condition;
}

Truth Condition::holds(const Snapshot& snapshot) const {
  return root_ == nullptr ? Truth::yes
                          : root_->holds(snapshot, snapshot.read({"kernel.upstream", ""}).reading);
}

std::string Condition::why_unknown(const Snapshot& snapshot) const {
  return root_ == nullptr
             ? ""
             : root_->why_unknown(snapshot, snapshot.read({"kernel.upstream", ""}).reading);
}

std::vector<FactKey> Condition::keys() const {
  std::vector<FactKey> keys;
  if (root_ != nullptr) {
    root_->add_keys(keys);
  }
  return keys;
}

}  // namespace goldenv::facts

#include "wheel/marker.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "version/number.h"
#include "wheel/marker_variables.h"

namespace goldenv::wheel {
namespace {

constexpr std::size_t kMaxBytes = 16'384;
constexpr std::size_t kMaxDepth = 64;

constexpr bool is_word(char c) {
  return version::is_letter(c) || version::is_digit(c) || c == '_' || c == '.';
}

/// Recursive descent, as the grammar of PEP 508 has it; `and` binds tighter than `or`.
class MarkerReader {
 public:
  explicit MarkerReader(std::string_view text) : text_(text) {}

  Result<Marker> read() {
    GOLDENV_TRY(Marker marker, read_any(0));
    if (at_ < text_.size()) return fault("expected and, or, or the end");
    return marker;
  }

 private:
  Error fault(std::string_view expected) const {
    return Error{Errc::malformed,
                 version::quoted(text_) + " is no marker: " + std::string(expected) + " at byte " +
                     std::to_string(at_ + 1),
                 {}};
  }

  void pass_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  [[nodiscard]] std::string_view word() const {
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  bool take_word(std::string_view wanted) {
    if (word() != wanted) return false;
    at_ += wanted.size();
    pass_blanks();
    return true;
  }

  /// Several parts as one marker; a single part is itself.
  static Marker joined(Marker::Kind kind, std::vector<Marker> parts) {
    if (parts.size() == 1) return std::move(parts.front());
    Marker marker;
    marker.kind = kind;
    marker.parts = std::move(parts);
    return marker;
  }

  Result<Marker> read_any(std::size_t depth) {
    std::vector<Marker> parts;
    do {
      GOLDENV_TRY(Marker part, read_all(depth));
      parts.push_back(std::move(part));
    } while (take_word("or"));
    return joined(Marker::Kind::any, std::move(parts));
  }

  Result<Marker> read_all(std::size_t depth) {
    std::vector<Marker> parts;
    do {
      GOLDENV_TRY(Marker part, read_atom(depth));
      parts.push_back(std::move(part));
    } while (take_word("and"));
    return joined(Marker::Kind::all, std::move(parts));
  }

  Result<Marker> read_atom(std::size_t depth) {
    pass_blanks();
    if (at_ == text_.size() || text_[at_] != '(') return read_comparison();
    if (depth == kMaxDepth) return fault("parentheses nested too deeply");
    ++at_;
    GOLDENV_TRY(Marker marker, read_any(depth + 1));
    if (at_ == text_.size() || text_[at_] != ')') return fault("expected \")\"");
    ++at_;
    pass_blanks();
    return marker;
  }

  Result<Marker> read_comparison() {
    Marker marker;
    const Result<void> left = read_side(marker.left, marker.left_is_variable);
    if (!left) return left.error();
    GOLDENV_TRY(marker.op, read_operator());
    const Result<void> right = read_side(marker.right, marker.right_is_variable);
    if (!right) return right.error();
    return marker;
  }

  Result<void> read_side(std::string& side, bool& is_variable) {
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const std::size_t close = text_.find(text_[at_], at_ + 1);
      if (close == std::string_view::npos) return fault("unclosed quote");
      side = std::string(text_.substr(at_ + 1, close - at_ - 1));
      at_ = close + 1;
    } else {
      const std::string_view name = variable_name(word());
      if (name.empty()) return fault("expected a variable or a text in quotes");
      side = std::string(name);
      is_variable = true;
      at_ += word().size();
    }
    pass_blanks();
    return {};
  }

  Result<std::string> read_operator() {
    if (take_word("in")) return std::string("in");
    if (take_word("not")) {
      if (!take_word("in")) return fault("expected in behind not");
      return std::string("not in");
    }
    constexpr std::array<std::string_view, 8> kOperators{
        "===", "==", "~=", "!=", "<=", ">=", "<", ">"};
    for (const std::string_view op : kOperators) {
      if (text_.substr(at_, op.size()) != op) continue;
      at_ += op.size();
      pass_blanks();
      return std::string(op);
    }
    return fault("expected an operator (<=, <, !=, ==, >=, >, ~=, ===, in, not in)");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string side_text(const std::string& side, bool is_variable) {
  if (is_variable) return side;
  const char quote = side.find('"') == std::string::npos ? '"' : '\'';
  return quote + side + quote;
}

}  // namespace

Result<Marker> parse_marker(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return Error{
        Errc::malformed, version::quoted(text) + " is no marker: longer than 16384 bytes", {}};
  }
  return MarkerReader(text).read();
}

std::string render(const Marker& marker) {
  if (marker.kind == Marker::Kind::comparison) {
    return side_text(marker.left, marker.left_is_variable) + " " + marker.op + " " +
           side_text(marker.right, marker.right_is_variable);
  }
  std::string out;
  for (const Marker& part : marker.parts) {
    if (!out.empty()) out += marker.kind == Marker::Kind::all ? " and " : " or ";
    const bool plain = part.kind == Marker::Kind::comparison;
    out += plain ? render(part) : "(" + render(part) + ")";
  }
  return out;
}

}  // namespace goldenv::wheel

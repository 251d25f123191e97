#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/truth.h"
#include "facts/snapshot.h"
#include "facts/want.h"

namespace goldenv::facts {

/// A pin's `when`: KEY OP VALUE joined by `and`, `or`, `not` and parentheses. The text is kept.
/// OP is == != < <= > >= ~= ; the value is a word or a quoted text, `absent` allowed.
class Condition {
 public:
  /// Errors: malformed, message "byte N: ..." (N counts from 0 in `text`).
  static Result<Condition> parse(std::string_view text);
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] Truth holds(const Snapshot& snapshot) const;
  /// Where `holds` is unknown: which key leaves it open and why, `os.id: it is the text "debian",
  /// and text has no order`. "" where nothing more can be said.
  [[nodiscard]] std::string why_unknown(const Snapshot& snapshot) const;
  /// The keys it looks at, canonical, in the order of the text.
  [[nodiscard]] std::vector<FactKey> keys() const;

  friend bool operator==(const Condition& a, const Condition& b) { return a.text_ == b.text_; }

 private:
  struct Term;
  std::string text_;
  std::shared_ptr<const Term> root_;
};

}  // namespace goldenv::facts

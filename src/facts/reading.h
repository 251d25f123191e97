#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace goldenv::facts {

/// A value that was observed. Everything is text: the catalogue says what type a key has, and a
/// version such as 12.10 must never pass through a number.
struct Value {
  enum class Form {
    scalar,  ///< text
    prefix,  ///< text is the beginning of the true value ("570.124" of 570.124.06)
    one_of,  ///< items, sorted: the value is one of these and nothing says which
    list,    ///< items, in order, repeats kept
    set,     ///< items, sorted, no duplicates
    map,     ///< entries, sorted by name, no duplicates
    tally,   ///< entries: value -> count, where instances that count at once disagree
  };
  Form form = Form::scalar;
  std::string text;
  std::vector<std::string> items;
  std::vector<std::pair<std::string, std::string>> entries;

  static Value scalar(std::string text);
  static Value prefix(std::string text);
  static Value one_of(std::vector<std::string> items);
  static Value list(std::vector<std::string> items);
  static Value set(std::vector<std::string> items);
  static Value map(std::vector<std::pair<std::string, std::string>> entries);
  static Value tally(std::vector<std::pair<std::string, std::string>> entries);
  static Value number(std::uint64_t number);
  static Value boolean(bool on);

  friend bool operator==(const Value&, const Value&) = default;
};

/// Looked, and it is not there.
struct Absent {
  std::string reason;  ///< "not loaded"; empty where the name says it all
  /// Two absents are the same fact whatever the reasons.
  friend bool operator==(const Absent&, const Absent&) { return true; }
};

enum class Why {
  denied,
  unreadable,
  timed_out,
  not_collected,
  not_stated,
  ambiguous,
  not_live,
  not_probed,
  unsupported,
};

/// Could not look, or cannot tell.
struct Unknown {
  Why why = Why::not_probed;
  std::string detail;  ///< what stood in the way, for people
  std::string needs;   ///< "root", "same-user", "nvml", "ptrace" where that would help

  /// From a failed read: denied, unreadable (also malformed, too_large, failed), timed-out,
  /// not-live, not-collected. The error's message becomes the detail.
  static Unknown from(const Error& error);

  friend bool operator==(const Unknown&, const Unknown&) = default;
};

using Reading = std::variant<Value, Absent, Unknown>;

/// What stands in a text in the place of a secret. Behind two equal ones two secrets may stand.
inline constexpr std::string_view kMask = "***";

/// From a read that may have failed: Errc::absent gives Absent, other errors Unknown.
Reading unread(const Error& error);

std::string_view name(Why why);  ///< "denied", "timed-out", "not-collected", ...
Result<Why> parse_why(std::string_view name);

/// Where a reading came from; stands beside it in every state.
struct Evidence {
  std::string from;        ///< path or interface, home folders as ~
  std::uint32_t line = 0;  ///< 0: the whole file
  std::string basis;  ///< how it was learned: "read", "resolved", "table ...", "derived", "default"
  std::string build_id;            ///< ELF build-id of the file, where it has one
  std::vector<std::string> notes;  ///< further lines: hops of a link, trace, signs seen

  friend bool operator==(const Evidence&, const Evidence&) = default;
};

/// What is asked about: a catalogue key with its placeholders filled in, and of which instance.
/// Text form `name` or `name@label`; the label runs to the end and may hold anything.
struct FactKey {
  std::string name;
  std::string label;

  /// Splits at the first '@'. No validation: see Catalogue::resolve.
  static FactKey parse(std::string_view text);
  [[nodiscard]] std::string text() const;

  friend auto operator<=>(const FactKey&, const FactKey&) = default;
};

struct Fact {
  FactKey key;
  Reading reading;
  Evidence evidence;

  friend bool operator==(const Fact&, const Fact&) = default;
};

/// One line for people: "535.129.03", "absent (not loaded)", "unknown (denied, needs root)",
/// lists with blanks between, sets with ", ", tallies "a x 7, b x 1", one_of "12.1.0 or 12.1.1",
/// prefixes "570.124...". Not escaped for terminals.
std::string describe(const Reading& reading);

}  // namespace goldenv::facts

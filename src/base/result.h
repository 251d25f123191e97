#pragma once

#include <cassert>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace goldenv {

/// What kind of failure, to branch on. A code never says where; the message does.
enum class Errc {
  absent,         ///< looked, and it is not there
  denied,         ///< EACCES, EPERM
  unreadable,     ///< it is there and cannot be read: EIO, not a regular file, a loop of links
  timed_out,      ///< a deadline passed (dead mount, wedged driver)
  too_large,      ///< larger than the reader's limit
  not_live,       ///< the source is no running machine
  not_collected,  ///< the source did not record it
  malformed,      ///< text that is not in its format
  usage,          ///< the command line asks for something that does not exist
  failed,         ///< a step outside the program failed (I/O, child process)
};

/// Why something could not be done: a code to branch on, one sentence that names the file, key or
/// URL, and what was being done, innermost first.
struct Error {
  Errc code = Errc::failed;
  std::string message;
  std::vector<std::string> trail;

  /// The same error with one more step of what was being done.
  [[nodiscard]] Error while_doing(std::string step) && {
    trail.push_back(std::move(step));
    return std::move(*this);
  }

  friend bool operator==(const Error&, const Error&) = default;
};

/// A value or an Error, with the names of std::expected (which g++ 12 has in C++23 mode only and
/// clang 14 cannot see), so that it can become an alias later.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  // Implicit on purpose: `return value;` and `return Error{...};` read as they should.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  explicit operator bool() const { return state_.index() == 0; }
  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  T& operator*() & {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& operator*() const& {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  T&& operator*() && {
    assert(has_value());
    return std::move(*std::get_if<0>(&state_));
  }
  T* operator->() {
    assert(has_value());
    return std::get_if<0>(&state_);
  }
  const T* operator->() const {
    assert(has_value());
    return std::get_if<0>(&state_);
  }
  Error& error() & {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }
  [[nodiscard]] const Error& error() const& {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    assert(!has_value());
    return std::move(*std::get_if<1>(&state_));
  }
  [[nodiscard]] T value_or(T fallback) const& { return has_value() ? **this : std::move(fallback); }
  [[nodiscard]] T value_or(T fallback) && {
    return has_value() ? std::move(**this) : std::move(fallback);
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}  // NOLINT
  explicit operator bool() const { return !failed_; }
  [[nodiscard]] bool has_value() const { return !failed_; }
  [[nodiscard]] const Error& error() const& {
    assert(failed_);
    return error_;
  }
  Error&& error() && {
    assert(failed_);
    return std::move(error_);
  }

 private:
  Error error_;
  bool failed_ = false;
};

}  // namespace goldenv

#define GOLDENV_CONCAT_(a, b) a##b
#define GOLDENV_CONCAT(a, b) GOLDENV_CONCAT_(a, b)
/// GOLDENV_TRY(auto x, f()): x is f's value, or the enclosing function returns f's error.
#define GOLDENV_TRY(declaration, expression)                  \
  auto GOLDENV_CONCAT(try_, __LINE__) = (expression);         \
  if (!GOLDENV_CONCAT(try_, __LINE__)) {                      \
    return std::move(GOLDENV_CONCAT(try_, __LINE__)).error(); \
  }                                                           \
  declaration = *std::move(GOLDENV_CONCAT(try_, __LINE__))

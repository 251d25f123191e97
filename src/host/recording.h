#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::host {

/// Every question that was asked of a machine, with its answer: what `scan --record` writes and
/// root:DIR answers from, on any other machine. docs/RECORD.md has the form.
///
/// Why answers, where a copy of the tree would do for small files: of a library of 500 MB a few
/// hundred bytes are looked at, a device node cannot be made without root, and a copy has another
/// inode and time than what it was made of.
struct Recording {
  struct Place {
    std::optional<FileStatus> status;
    std::optional<std::string> link;             ///< its text, where it is one
    std::optional<std::vector<DirEntry>> names;  ///< of a folder that was listed
    bool has_content = false;                    ///< stands in the tree
    std::map<std::string, std::string> answers;  ///< of named looks (Host::ask), by name
  };
  std::map<std::string, Place> places;  ///< by path, links in it followed but for the last
  std::set<std::string> absent;         ///< looked for, and not there
  /// What failed otherwise than by its place, by verb and path as asked for.
  std::map<std::pair<std::string, std::string>, Error> failures;
  std::map<std::string, Space> spaces;
  std::optional<SystemName> name;
  std::map<std::string, std::string> variables;
  std::set<std::string> withheld;  ///< variables that were set, without their values

  /// Where a path leads. Errors: absent, not_collected, unreadable (a loop of links).
  struct Found {
    std::string path;
    const Place* place = nullptr;
  };
  enum class Last { follow, keep };
  [[nodiscard]] Result<Found> find(std::string_view path, Last last) const;
  /// The first part of the way to a path of which nothing is known; "" where there is none.
  [[nodiscard]] std::string first_unknown(std::string_view path, Last last) const;
  /// As Host::hops.
  [[nodiscard]] Result<std::vector<std::string>> hops(std::string_view path) const;

  /// Inverses. Errors: malformed, too_large.
  [[nodiscard]] std::string render() const;
  static Result<Recording> parse(std::string_view text, std::string_view file);
  /// Whether the text of a record.yaml is one of these.
  static bool is_one(std::string_view text);

 private:
  Result<Found> walk(std::string_view path, Last last, std::string& unknown) const;
};

/// What of a machine may stand in a record.
struct Discretion {
  std::function<std::string(std::string_view path, std::string_view text)> text;
  /// None: the value is withheld.
  std::function<std::optional<std::string>(std::string_view name, std::string_view value)> variable;
};

/// A machine that notes what it is asked and how it answers.
class Recorder {
 public:
  Recorder(std::unique_ptr<Host> machine, Discretion discretion);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  [[nodiscard]] const Host& host() const;
  /// Writes it as a new folder, or in place of an empty one, whole or not at all. Errors: usage (a
  /// file or a folder that is not empty), failed.
  Result<void> write(const std::string& folder) const;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

/// Whether a record can be written there. Errors: as Recorder::write.
Result<void> check_record_folder(const std::string& folder);

/// A machine that answers from a recording; `read` gives the content of a place. It passes for a
/// running one (live()), so that what is asked of it is what was asked of that.
std::unique_ptr<Host> recorded_host(
    Recording recording,
    std::function<Result<std::string>(std::string_view path, std::size_t limit_bytes)> read);

}  // namespace goldenv::host

#pragma once

#include <any>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "facts/catalogue.h"
#include "facts/reading.h"
#include "facts/snapshot.h"
#include "host/host.h"
#include "host/memory.h"

namespace goldenv::probe {

/// What is asked of a machine.
struct Request {
  /// Keys asked for by name: those that a manifest pins, that `--only` or `explain` spells out.
  /// Probed also where the default scan leaves them out (kernel.config.X, file@PATH, env.X off the
  /// list).
  std::vector<facts::FactKey> named;
  /// Families of which every member is asked for ("env", "python.package"): those that a manifest
  /// closes, or that `--only` names with a glob.
  std::vector<std::string> families;
  /// Probe nothing but `named` and `families`.
  bool only_named = false;
  /// `--only`: of what is probed, that of which it may select something; beside it `named` and
  /// `families`. More than it selects may come back. Empty: everything.
  facts::Selection selection;
  /// Every member of every family (all sysctls).
  bool all = false;
  /// --python: a prefix or an interpreter.
  std::string python;
  /// The manifest's target_python, likewise. It gives way to what a process runs.
  std::string target_python;
  /// What was once learned of large files (their digests); none: nothing is remembered.
  host::Memory* memory = nullptr;
};

/// One look at one machine: what is wanted goes in, facts come out; what several probes need
/// (the target Python) is found once.
class Survey {
 public:
  Survey(const host::Host& host, Request request);

  [[nodiscard]] const host::Host& host() const { return host_; }
  [[nodiscard]] const Request& request() const { return request_; }

  /// Whether a key (canonical name, no label) or a whole family is wanted. True for everything in a
  /// full scan; of a selection also where only something below the name is.
  [[nodiscard]] bool wants(std::string_view name) const;
  /// Whether any member of a family ("sysctl", "python.package") is wanted.
  [[nodiscard]] bool wants_below(std::string_view family) const;
  /// Names behind `family.` that were asked for by name, sorted, without labels.
  [[nodiscard]] std::vector<std::string> named_below(std::string_view family) const;
  /// Labels that were asked for of one key (file@/a -> "/a"), sorted.
  [[nodiscard]] std::vector<std::string> labels_of(std::string_view name) const;

  /// Records a fact, if its name is wanted. `key` is `name` or `name@label`, canonical.
  void add(std::string_view key, facts::Reading reading, facts::Evidence evidence = {});
  /// Whether a fact of this key was recorded.
  [[nodiscard]] bool holds(std::string_view key) const;
  /// Declares that a family was listed whole: a member that was not added is absent.
  void listed(std::string_view family);

  /// A path with the home folder of the source's user written `~`.
  [[nodiscard]] std::string tilde(std::string_view path) const;
  /// The inverse, for labels that a person wrote: `~` and `~/x` as the path they stand for; as
  /// written where the home folder is not known.
  [[nodiscard]] std::string untilde(std::string_view label) const;

  /// The one T of this survey, made at first use.
  template <typename T, typename Make>
  T& shared(Make make) {
    std::any& slot = shared_[std::type_index(typeid(T))];
    if (!slot.has_value()) {
      slot = std::make_shared<T>(make());
    }
    return *std::any_cast<std::shared_ptr<T>&>(slot);
  }

  /// Everything recorded so far, as a snapshot of `source`.
  [[nodiscard]] facts::Snapshot snapshot(std::string source) &&;

 private:
  /// Whether a scan without names takes it.
  [[nodiscard]] bool takes(std::string_view name) const;

  const host::Host& host_;
  Request request_;
  std::vector<std::string> wanted_;  // sorted names of request_.named, views as what they are of
  std::vector<facts::Fact> facts_;
  std::vector<std::string> listed_;
  std::map<std::type_index, std::any> shared_;
  std::string home_;
};

/// A way to learn facts.
struct Probe {
  std::string_view name;
  /// Keys it can give, as globs over canonical names: "driver", "module.**", "sysctl.**".
  std::span<const std::string_view> keys;
  void (*run)(Survey& survey);
};

/// All probes, sorted by name.
std::span<const Probe* const> probes();

/// Runs the probes that can give what is wanted.
facts::Snapshot look(const host::Host& host, const Request& request, std::string source);

/// Value of a one-line file of /proc or /sys: final newline cut, blanks trimmed; failed reads by
/// facts::unread; unreadable where there is not even an empty line.
facts::Reading one_line(const host::Host& host, std::string_view path);

}  // namespace goldenv::probe

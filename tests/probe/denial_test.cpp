// What cannot be looked at must not change what is told of anything else. On recorded machines
// every path that a scan touches is denied in turn (or times out, or hides its bytes alone): each
// fact then is as it was, or unknown.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/text.h"
#include "facts/reading.h"
#include "facts/snapshot.h"
#include "host/host.h"
#include "host/recording.h"
#include "probe/probe.h"
#include "scan.h"
#include "support/temp_dir.h"

namespace goldenv::probe {
namespace {

namespace fs = std::filesystem;

/// How a path answers. `contents`: the file or folder is seen, its bytes or names are not.
struct Refusal {
  std::string_view list;
  std::string_view word;
};
constexpr auto kRefusals = std::to_array<Refusal>({{"answers", "denied"},
                                                   {"answers", "timed-out"},
                                                   {"contents", "denied"},
                                                   {"answers", "unreadable"},
                                                   {"contents", "unreadable"}});

/// A fact that is told otherwise.
struct Change {
  std::string key;
  std::string text;
};

std::unique_ptr<host::Host> opened(const std::string& folder) {
  auto machine = host::tree_host(folder);
  if (!machine) {
    throw std::runtime_error(machine.error().message);
  }
  return *std::move(machine);
}

/// Whether a value says no more than that one is among what it allows: a beginning of it, or
/// several of which it is one.
bool allows(const facts::Value& wide, const facts::Value& narrow) {
  using Form = facts::Value::Form;
  if (wide == narrow) {
    return true;
  }
  if (wide.form == Form::prefix) {
    return (narrow.form == Form::scalar || narrow.form == Form::prefix) &&
           narrow.text.starts_with(wide.text);
  }
  const auto holds = [&](const std::string& text) {
    return std::ranges::find(wide.items, text) != wide.items.end();
  };
  return wide.form == Form::one_of &&
         (narrow.form == Form::one_of ? std::ranges::all_of(narrow.items, holds)
                                      : narrow.form == Form::scalar && holds(narrow.text));
}

/// Whether a fact is told as before, or less of it.
bool is_no_other(const facts::Reading& before, const facts::Reading& after) {
  if (std::holds_alternative<facts::Unknown>(after)) {
    return true;
  }
  const auto* was = std::get_if<facts::Value>(&before);
  const auto* is = std::get_if<facts::Value>(&after);
  return was != nullptr && is != nullptr ? allows(*is, *was) : before == after;
}

/// A recorded machine in a copy of its own, of which any path can be made to refuse.
class Machine {
 public:
  Machine(std::string_view name, Request request)
      : request_(std::move(request)),
        folder_(copy_.at("machine")),
        record_(folder_ + "/record.yaml") {
    const std::string from = GOLDENV_SOURCE_DIR "/tests/hosts/" + std::string(name);
    fs::copy(from, folder_, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    text_ = test::read_file(record_);
    const std::size_t end = text_.find('\n');
    head_ = text_.substr(0, end + 1);
    rest_ = text_.substr(end + 1);
    known_ = scan();
  }

  [[nodiscard]] const facts::Snapshot& known() const { return known_; }

  /// Paths that a scan asks of, those that are not there as well, without what the record itself
  /// says of them. Sorted.
  [[nodiscard]] std::vector<std::string> touched() const {
    host::Recorder recorder(
        opened(folder_),
        {[](std::string_view, std::string_view text) { return std::string(text); },
         [](std::string_view, std::string_view value) { return std::string(value); }});
    static_cast<void>(look(recorder.host(), request_, "@test"));
    const std::string written = copy_.at("record");
    if (auto done = recorder.write(written); !done) {
      throw std::runtime_error(done.error().message);
    }
    const auto recording = host::Recording::parse(test::read_file(written + "/record.yaml"), "it");
    if (!recording) {
      throw std::runtime_error(recording.error().message);
    }
    std::set<std::string> paths = recording->absent;
    for (const auto& [path, place] : recording->places) {
      paths.insert(path);
    }
    std::erase_if(paths, [&](const std::string& path) {
      return path == "/" || text_.find("\n  " + path + ":") != std::string::npos;
    });
    return {paths.begin(), paths.end()};
  }

  /// What a scan tells where these paths refuse.
  [[nodiscard]] facts::Snapshot refused(const std::vector<std::string>& paths,
                                        const Refusal& refusal) const {
    refuse(paths, refusal);
    return scan();
  }

  /// Each fact that is then told otherwise than before, and not as unknown.
  [[nodiscard]] std::vector<Change> changes(const std::vector<std::string>& paths,
                                            const Refusal& refusal) const {
    const facts::Snapshot now = refused(paths, refusal);
    std::vector<Change> changes;
    const auto compare = [&](const facts::FactKey& key) {
      const facts::Reading before = known_.read(key).reading;
      const facts::Reading after = now.read(key).reading;
      if (!is_no_other(before, after)) {
        changes.push_back({key.text(), key.text() + ": " + facts::describe(before) + " -> " +
                                           facts::describe(after)});
      }
    };
    for (const facts::Fact& fact : known_.facts) {
      compare(fact.key);
    }
    for (const facts::Fact& fact : now.facts) {
      // A file's facts bear the name by which it was found: another name is another fact.
      if (known_.find(fact.key) == nullptr && fact.key.label.empty()) {
        compare(fact.key);
      }
    }
    return changes;
  }

 private:
  [[nodiscard]] facts::Snapshot scan() const { return look(*opened(folder_), request_, "@test"); }

  void refuse(const std::vector<std::string>& paths, const Refusal& refusal) const {
    std::string entry;
    for (const std::string& path : paths) {
      entry += "  \"" + path + "\": " + std::string(refusal.word) + "\n";
    }
    std::string text = head_;
    const std::string key = std::string(refusal.list) + ":\n";
    const std::size_t at = rest_.find(key);
    if (at == std::string::npos) {
      text += key + entry + rest_;
    } else {
      text += rest_.substr(0, at + key.size()) + entry + rest_.substr(at + key.size());
    }
    std::ofstream(record_, std::ios::trunc) << text;
  }

  Request request_;
  test::TempDir copy_;
  std::string folder_;
  std::string record_;
  std::string text_;
  std::string head_;
  std::string rest_;
  facts::Snapshot known_;
};

/// Facts that say what the user who looks may see: another answer to that user is another value.
/// None of them is among what recorded machines show; one that comes to be stands here with why.
constexpr std::array<std::string_view, 0> kOfTheUser{};

struct Plan {
  std::string_view machine;
  bool all = false;         ///< with every member of every family
  std::size_t groups = 0;   ///< into which what is no folder is divided, each denied at once
  std::size_t folders = 0;  ///< how many of the others are denied, each alone
};

void PrintTo(const Plan& plan, std::ostream* out) { *out << plan.machine; }

class Denial : public testing::TestWithParam<Plan> {};

TEST_P(Denial, LeavesEachFactAsItWasOrUnknown) {
  const Plan& plan = GetParam();
  Request request;
  request.all = plan.all;
  const Machine machine(plan.machine, request);
  const std::vector<std::string> paths = machine.touched();
  ASSERT_GT(paths.size(), 200u);
  std::vector<std::string> files;
  std::vector<std::string> folders;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const bool is_above = i + 1 < paths.size() && paths[i + 1].starts_with(paths[i] + "/");
    (is_above ? folders : files).push_back(paths[i]);
  }
  const auto hold = [&](const std::vector<std::string>& refused, const Refusal& refusal) {
    for (const Change& change : machine.changes(refused, refusal)) {
      if (std::ranges::find(kOfTheUser, change.key) == kOfTheUser.end()) {
        ADD_FAILURE() << change.text << "\nwhere " << join(refused, " ") << " " << refusal.list
                      << " " << refusal.word;
      }
    }
  };
  // All there is, one by one and in every way: minutes.
  if (std::getenv("GOLDENV_DENY_EVERY_PATH") != nullptr) {
    for (const std::string& path : paths) {
      for (const Refusal& refusal : kRefusals) {
        hold({path}, refusal);
      }
    }
    return;
  }
  for (std::size_t group = 0; group < plan.groups; ++group) {
    std::vector<std::string> refused;
    for (std::size_t i = group; i < files.size(); i += plan.groups) {
      refused.push_back(files[i]);
    }
    hold(refused, kRefusals[group % kRefusals.size()]);
  }
  const std::size_t step = std::max<std::size_t>(1, folders.size() / plan.folders);
  for (std::size_t i = 0; i < folders.size(); i += step) {
    hold({folders[i]}, kRefusals[i / step % kRefusals.size()]);
  }
}

INSTANTIATE_TEST_SUITE_P(RecordedMachines, Denial,
                         testing::Values(Plan{"rack-a", true, 6, 6}, Plan{"container", false, 4, 5},
                                         Plan{"conda-llvm", false, 5, 6}),
                         [](const auto& plan) {
                           std::string name(plan.param.machine);
                           std::erase(name, '-');
                           return name;
                         });

/// A single look that once made another value, an absent or a difference.
struct Case {
  std::string_view machine;
  std::string_view path;
  std::string_view key;
  std::string_view known;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.path << " " << one.key; }

class DeniedPath : public testing::TestWithParam<Case> {};

TEST_P(DeniedPath, MakesWhatHangsOnItUnknown) {
  const Case& one = GetParam();
  const Machine machine(one.machine, test::only({std::string(one.key)}));
  const facts::FactKey key = facts::FactKey::parse(one.key);
  EXPECT_EQ(facts::describe(machine.known().read(key).reading), one.known);
  const facts::Snapshot now = machine.refused({std::string(one.path)}, kRefusals.front());
  const facts::Reading reading = now.read(key).reading;
  const auto* unknown = std::get_if<facts::Unknown>(&reading);
  ASSERT_NE(unknown, nullptr) << facts::describe(reading);
  EXPECT_EQ(unknown->why, facts::Why::denied);
}

constexpr std::string_view kSite = "/opt/venv/lib/python3.10/site-packages";
constexpr std::string_view kNetwork = "/sys/devices/pci0000:20/0000:21:00.0/net";

INSTANTIATE_TEST_SUITE_P(
    Once, DeniedPath,
    testing::Values(Case{"rack-a", kSite, "nccl", "2.18.1"},
                    Case{"rack-a", kSite, "cuda", "12.1.1"},
                    Case{"rack-a", kSite, "library.origin.libnccl.so.2", "wheel"},
                    Case{"rack-a", "/opt/venv/pyvenv.cfg", "cudnn.copies", "8.9.2.26: 1"},
                    Case{"rack-a", "/usr/local/cuda-12.2/version.json", "cuda.toolkit.copies",
                         "12.1.1: 1, 12.2.2: 1"},
                    Case{"rack-a", kNetwork, "nic.kind", "physical"},
                    Case{"container", "/proc/1/comm", "host.container", "docker"},
                    Case{"container", "/proc/self/mountinfo", "host.container", "docker"},
                    Case{"conda-llvm", "/proc/self/environ", "python", "3.10.14"},
                    Case{"conda-llvm", "/sys", "host.hypervisor", "kvm"},
                    Case{"conda-llvm", "/var/lib/dpkg/status", "llvm.copies",
                         "14.0.6: 1, 15.0.7: 1"},
                    Case{"gh200", "/sys/devices/system/cpu/cpu6/topology/thread_siblings_list",
                         "cpu.cores", "8"}));

}  // namespace
}  // namespace goldenv::probe

#include "report/overview.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "report/data.h"
#include "report/differences.h"
#include "report/findings.h"

namespace goldenv::report {
namespace {

using facts::Fact;
using facts::Value;

constexpr std::array<std::string_view, 22> kKeys = {"cuda.runtime.origin",
                                                    "host.name",
                                                    "os.name",
                                                    "kernel",
                                                    "gpu.count",
                                                    "gpu.name",
                                                    "driver",
                                                    "driver.flavor",
                                                    "driver.libcuda",
                                                    "driver.userland",
                                                    "cuda",
                                                    "cuda.toolkit",
                                                    "cudnn",
                                                    "torch",
                                                    "nccl",
                                                    "nccl.origin",
                                                    "python",
                                                    "python.prefix",
                                                    "glibc",
                                                    "cpu.model",
                                                    "host.container",
                                                    "host.hypervisor"};

class Sketch {
 public:
  explicit Sketch(const facts::Snapshot& snapshot) : snapshot_(snapshot) {}

  [[nodiscard]] const Value* value(std::string_view name) const {
    const Fact* fact = snapshot_.find({std::string(name), ""});
    return fact == nullptr ? nullptr : std::get_if<Value>(&fact->reading);
  }

  /// The value, or "absent", or "unknown": never a blank that could mean either.
  [[nodiscard]] std::string text(std::string_view name) const {
    const Fact* fact = snapshot_.find({std::string(name), ""});
    if (fact == nullptr || std::holds_alternative<facts::Unknown>(fact->reading)) {
      return "unknown";
    }
    return std::holds_alternative<facts::Absent>(fact->reading)
               ? "absent"
               : printable(facts::describe(fact->reading));
  }

  [[nodiscard]] std::string in_brackets(std::string_view name) const {
    return value(name) == nullptr ? "" : " (" + text(name) + ")";
  }

 private:
  const facts::Snapshot& snapshot_;
};

std::string gpus(const Sketch& sketch) {
  const Value* count = sketch.value("gpu.count");
  if (count == nullptr) {
    return "GPUs " + sketch.text("gpu.count");
  }
  if (count->text == "0") {
    return "no GPU";
  }
  const Value* model = sketch.value("gpu.name");
  if (model != nullptr && model->form == Value::Form::tally) {
    return sketch.text("gpu.name");
  }
  return count->text + " x " + (model == nullptr ? "GPU of unknown name" : sketch.text("gpu.name"));
}

}  // namespace

std::vector<facts::FactKey> overview_keys() {
  std::vector<facts::FactKey> keys;
  for (const std::string_view key : kKeys) {
    keys.push_back({std::string(key), ""});
  }
  return keys;
}

std::string overview_text(const Overview& overview, Colour colour) {
  const Sketch sketch(overview.snapshot);
  std::string out = paint(colour, Ink::bold, printable(shortened(overview.snapshot.title()))) +
                    "  " + sketch.text("os.name") + ", kernel " + sketch.text("kernel") + ", " +
                    gpus(sketch) + "\n";
  std::vector<std::string> of_cuda;
  if (sketch.value("cuda") != nullptr && sketch.value("cuda.runtime.origin") != nullptr) {
    of_cuda.push_back(sketch.text("cuda.runtime.origin"));
  }
  if (sketch.value("cuda.toolkit") != nullptr &&
      sketch.text("cuda.toolkit") != sketch.text("cuda")) {
    of_cuda.push_back("toolkit " + sketch.text("cuda.toolkit"));
  }
  const std::string toolkit = of_cuda.empty() ? "" : " (" + join(of_cuda, "; ") + ")";
  out += "driver " + sketch.text("driver") + sketch.in_brackets("driver.flavor") + "   cuda " +
         sketch.text("cuda") + toolkit + "   cudnn " + sketch.text("cudnn") + "\n";
  out += "torch " + sketch.text("torch") + "   nccl " + sketch.text("nccl") +
         sketch.in_brackets("nccl.origin") + "   python " + sketch.text("python") +
         sketch.in_brackets("python.prefix") + "   glibc " + sketch.text("glibc") + "\n";
  if (!overview.check) {
    out += "no manifest: goldenv lock -o goldenv.yaml makes one\n";
  } else {
    const diff::Check& check = *overview.check;
    std::array<std::size_t, 4> counts{};
    for (const diff::Difference& difference : check.differences) {
      ++counts.at(static_cast<std::size_t>(difference.level));
      for (const diff::Difference& inner : difference.with) {
        ++counts.at(static_cast<std::size_t>(inner.level));
      }
    }
    const std::string file = printable(overview.manifest_file);
    if (check.differences.empty()) {
      out += agreement_text(check, file, colour);
    } else {
      out += paint(colour, Ink::red, "does not match ") + file + ": " + std::to_string(counts[0]) +
             " must, " + std::to_string(counts[1]) + " should, " + std::to_string(counts[2]) +
             " info   (goldenv check)\n";
    }
    if (!check.undecided.empty()) {
      std::vector<std::string> keys;
      constexpr std::size_t kNamed = 4;
      for (std::size_t i = 0; i < std::min(check.undecided.size(), kNamed); ++i) {
        keys.push_back(printable(check.undecided[i].key.text()));
      }
      out += counted(check.undecided.size(), "pin") + " could not be decided: " + join(keys, ", ") +
             (check.undecided.size() > kNamed ? ", ..." : "") + "\n";
    }
  }
  out += findings_line(overview.found, colour);
  std::vector<std::string> need_root;
  for (const Fact& fact : overview.snapshot.facts) {
    const auto* unknown = std::get_if<facts::Unknown>(&fact.reading);
    if (unknown != nullptr && unknown->needs == "root" && fact.key.label.empty()) {
      need_root.push_back(printable(fact.key.text()));
    }
  }
  if (!need_root.empty()) {
    out += counted(need_root.size(), "fact") + " need root: " + join(need_root, ", ") + "\n";
  }
  return out;
}

doc::Node overview_node(const Overview& overview) {
  doc::Node node = new_document();
  put(node, "snapshot", facts::to_node(overview.snapshot));
  if (overview.check) {
    put(node, "manifest", overview.manifest_file);
    put(node, "differences", diff::count(overview.check->differences));
    put(node, "unknown", overview.check->undecided.size());
  }
  if (!overview.found.empty()) {
    put(node, "findings", findings_node(overview.found));
  }
  return node;
}

}  // namespace goldenv::report

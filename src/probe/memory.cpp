// Memory, NUMA nodes, huge pages, swap.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "probe/bracketed.h"
#include "probe/instances.h"
#include "probe/kernel_names.h"
#include "probe/memory_text.h"
#include "probe/probe.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::string_view kMeminfo = "/proc/meminfo";
constexpr std::string_view kNodes = "/sys/devices/system/node";

void add_meminfo(Survey& survey) {
  struct Amount {
    std::string_view key;
    std::string_view field;
  };
  constexpr auto kAmounts = std::to_array<Amount>({
      {"memory.total", "MemTotal"},
      {"memory.anon_hugepages", "AnonHugePages"},
      {"hugepages.total", "HugePages_Total"},
      {"hugepages.default_size", "Hugepagesize"},
      {"swap.total", "SwapTotal"},
  });
  if (std::ranges::none_of(kAmounts, [&](const Amount& a) { return survey.wants(a.key); })) {
    return;
  }
  const Result<std::string> text = survey.host().read_file(kMeminfo, 1u << 20);
  // Every kernel says how much memory there is, before all else.
  const bool is_cut = text && !find_memory_line(*text, "MemTotal");
  for (const Amount& amount : kAmounts) {
    if (!text) {
      survey.add(amount.key, Unknown::from(text.error()), seen(kMeminfo));
      continue;
    }
    // A kernel without huge pages or swap has no such line.
    const std::optional<MemoryLine> line = find_memory_line(*text, amount.field);
    Reading reading = Absent{"this kernel has no such line"};
    if (line) {
      reading = line->amount ? Reading(Value::number(*line->amount))
                             : Reading(Unknown{Why::unreadable, "no number", ""});
    } else if (is_cut) {
      reading = Unknown{Why::unreadable, "no MemTotal: the text is cut short", ""};
    }
    survey.add(amount.key, std::move(reading), seen(kMeminfo, line ? line->line : 0));
  }
}

/// The kernel hands each program its page size (AT_PAGESZ); a tree without that says it by
/// architecture.
void add_page_size(Survey& survey) {
  constexpr std::string_view kAuxv = "/proc/self/auxv";
  if (!survey.wants("memory.page_size")) {
    return;
  }
  const host::Host& host = survey.host();
  const Result<std::string> bytes = host.read_file(kAuxv, 4096);
  if (bytes) {
    if (const auto size = page_size_in_auxv(*bytes)) {
      survey.add("memory.page_size", Value::number(*size), seen(kAuxv));
      return;
    }
  }
  const Result<host::SystemName> uname = host.system_name();
  facts::Evidence evidence = seen("uname machine");
  evidence.basis = "derived";
  // "64k" in its release decides it without the machine, which a tree may not state.
  const std::string release = kernel_release(host).text.value_or("");
  if (uname && uname->machine == "x86_64") {
    survey.add("memory.page_size", Value::number(4096), std::move(evidence));
    return;
  }
  if (release.find("64k") != std::string::npos) {
    evidence.notes.push_back("the kernel's name says 64k");
    survey.add("memory.page_size", Value::number(65536), std::move(evidence));
    return;
  }
  survey.add("memory.page_size",
             bytes ? Reading(Unknown{Why::unreadable, "no AT_PAGESZ", ""})
                   : Reading(Unknown::from(bytes.error())),
             seen(kAuxv));
}

/// "1GiB" of the folder hugepages-1048576kB.
std::string size_name(std::uint64_t kib) {
  if (kib != 0 && kib % (1u << 20) == 0) {
    return std::to_string(kib >> 20) + "GiB";
  }
  return kib != 0 && kib % (1u << 10) == 0 ? std::to_string(kib >> 10) + "MiB"
                                           : std::to_string(kib) + "KiB";
}

void add_reserved(Survey& survey) {
  if (!survey.wants_below("hugepages.reserved")) {
    return;
  }
  constexpr std::string_view kStart = "hugepages-";
  const host::Host& host = survey.host();
  const std::string root = "/sys/kernel/mm/hugepages";
  const auto sizes = host.list(root);
  for (const std::string& name : survey.named_below("hugepages.reserved")) {
    survey.add("hugepages.reserved." + name,
               sizes ? Reading(Absent{"this size is not supported"}) : facts::unread(sizes.error()),
               seen(root));
  }
  if (!sizes) {
    return;
  }
  for (const host::DirEntry& entry : *sizes) {
    std::string_view size = entry.name;
    if (!size.starts_with(kStart) || !size.ends_with("kB")) {
      continue;
    }
    size = size.substr(kStart.size(), size.size() - kStart.size() - 2);
    if (const auto kib = to_number(size)) {
      const std::string path = root + "/" + entry.name + "/nr_hugepages";
      survey.add("hugepages.reserved." + size_name(*kib), one_line(host, path), seen(path));
    }
  }
}

void add_nodes(Survey& survey) {
  constexpr auto kFacts =
      std::to_array<std::string_view>({"numa.count", "numa.distance", "numa.cpus", "numa.memory"});
  if (std::ranges::none_of(kFacts, [&](std::string_view key) { return survey.wants(key); })) {
    return;
  }
  const host::Host& host = survey.host();
  const std::string online = std::string(kNodes) + "/online";
  const Result<std::string> text = host.read_file(online, 4096);
  if (!text) {
    for (const std::string_view key : kFacts) {
      survey.add(key,
                 text.error().code == Errc::absent ? Reading(Absent{"kernel without NUMA"})
                                                   : Reading(Unknown::from(text.error())),
                 seen(online));
    }
    return;
  }
  const std::vector<std::uint32_t> nodes = expand_ranges(*text, 4096);
  Instances cpus(std::string(kNodes) + "/node*/cpulist");
  Instances memory(std::string(kNodes) + "/node*/meminfo");
  std::vector<std::string> rows;
  std::optional<Error> unread_row;
  for (const std::uint32_t node : nodes) {
    const std::string label = std::to_string(node);
    const std::string folder = std::string(kNodes) + "/node" + label;
    cpus.add(label, ranges(host, folder + "/cpulist"), seen(folder + "/cpulist"));
    const Result<std::string> amounts = host.read_file(folder + "/meminfo", 64u << 10);
    const auto total = amounts ? find_memory_line(*amounts, "MemTotal") : std::nullopt;
    Reading reading = Unknown{Why::unreadable, "no MemTotal", ""};
    if (total && total->amount) {
      reading = Value::number(*total->amount);
    } else if (!amounts) {
      reading = Unknown::from(amounts.error());
    }
    memory.add(label, std::move(reading), seen(folder + "/meminfo"));
    const Result<std::string> row = host.read_file(folder + "/distance", 64u << 10);
    if (row) {
      rows.emplace_back(trim(*row));
    } else {
      unread_row = row.error();
    }
  }
  const Reading none = Unknown{Why::unreadable, "no node in " + online, ""};
  survey.add("numa.count", nodes.empty() ? none : Reading(Value::number(nodes.size())),
             seen(online));
  survey.add("numa.distance",
             unread_row ? Reading(Unknown::from(*unread_row))
                        : (rows.empty() ? none : Reading(Value::list(std::move(rows)))),
             seen(std::string(kNodes) + "/node*/distance"));
  cpus.record(survey, "numa.cpus", none);
  memory.record(survey, "numa.memory", none);
}

void add_bracketed(Survey& survey, std::string_view key, std::string_view path) {
  if (survey.wants(key)) {
    survey.add(key, bracketed(survey.host(), path), seen(path));
  }
}

void run(Survey& survey) {
  add_meminfo(survey);
  add_page_size(survey);
  add_reserved(survey);
  add_nodes(survey);
  add_bracketed(survey, "thp.enabled", "/sys/kernel/mm/transparent_hugepage/enabled");
  add_bracketed(survey, "thp.defrag", "/sys/kernel/mm/transparent_hugepage/defrag");
}

constexpr auto kKeys = std::to_array<std::string_view>({
    "memory.total",
    "memory.page_size",
    "memory.anon_hugepages",
    "hugepages.**",
    "swap.total",
    "numa.*",
    "thp.enabled",
    "thp.defrag",
});

}  // namespace

extern const Probe memory{.name = "memory", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

// What jobs that died have left behind: nothing that lives may be counted, since people delete what
// is told here.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/truth.h"
#include "probe/instances.h"
#include "probe/presence.h"
#include "probe/probe.h"
#include "probe/process_table.h"
#include "probe/unit_state.h"

namespace goldenv::probe {
namespace {

using facts::Absent;
using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

constexpr std::size_t kNotes = 8;

/// One thing that could be left over.
struct Item {
  std::string path;
  host::FileStatus status;
};

/// All things of one kind, and what is known of them.
struct Kind {
  std::string_view name;  ///< "pymp": behind "leftover."
  std::string where;      ///< for evidence
  std::vector<Item> items;
  std::vector<Error> unseen;
};

/// Whether what is left over belongs to nobody who lives; where that cannot be told, why.
using IsDead = std::function<Truth(const Item& item, std::optional<Error>& error)>;

/// Entries of a folder by the beginning of their names.
void collect(const host::Host& host, const std::string& folder, std::string_view start,
             Kind& kind) {
  const auto entries = host.list(folder);
  if (!entries) {
    note_unseen(entries.error(), kind.unseen);
    return;
  }
  for (const host::DirEntry& entry : *entries) {
    if (!entry.name.starts_with(start) || entry.kind == host::FileStatus::Kind::link) {
      continue;
    }
    std::string path = folder + "/" + entry.name;
    const auto status = host.status(path);
    if (status) {
      kind.items.push_back({std::move(path), *status});
    } else {
      note_unseen(status.error(), kind.unseen);
    }
  }
}

/// Room that an item takes: of a folder the files in it.
Result<std::uint64_t> bytes_of(const host::Host& host, const Item& item) {
  if (item.status.kind != host::FileStatus::Kind::folder) {
    return item.status.size_bytes;
  }
  GOLDENV_TRY(const auto entries, host.list(item.path));
  std::uint64_t sum = 0;
  for (const host::DirEntry& entry : entries) {
    if (entry.kind == host::FileStatus::Kind::file) {
      const auto status = host.status(item.path + "/" + entry.name);
      if (!status && status.error().code != Errc::absent) {
        return status.error();
      }
      sum += status ? status->size_bytes : 0;  // removed meanwhile: it takes no room
    }
  }
  return sum;
}

void add_unknown(Survey& survey, const Kind& kind, const Unknown& unknown) {
  const std::string key = "leftover." + std::string(kind.name);
  for (const std::string_view member : {"", ".bytes", ".oldest"}) {
    survey.add(key + std::string(member), unknown, seen(kind.where));
  }
}

std::string words_of(std::size_t dead, std::size_t open) {
  return std::to_string(dead) + " of dead processes, of " + std::to_string(open) +
         " nobody can tell";
}

void add_kind(Survey& survey, const Kind& kind, const IsDead& is_dead) {
  const host::Host& host = survey.host();
  if (!kind.unseen.empty()) {
    add_unknown(survey, kind, Unknown::from(kind.unseen.front()));
    return;
  }
  std::vector<const Item*> dead;
  std::size_t open = 0;
  std::optional<Error> why;
  for (const Item& item : kind.items) {
    const Truth truth = is_dead(item, why);
    if (truth == Truth::yes) {
      dead.push_back(&item);
    }
    open += truth == Truth::unknown ? 1 : 0;
  }
  if (open != 0) {
    Unknown unknown =
        why ? Unknown::from(*why) : Unknown{Why::ambiguous, "a living process could own it", ""};
    unknown.detail = words_of(dead.size(), open) + ": " + unknown.detail;
    if (unknown.why == Why::denied) {
      unknown.needs = "root";
    }
    add_unknown(survey, kind, unknown);
    return;
  }
  facts::Evidence evidence = seen(kind.where);
  std::map<std::uint32_t, std::size_t> owners;
  std::uint64_t sum = 0;
  std::optional<Error> unsized;
  std::optional<std::int64_t> oldest_ns;
  for (const Item* item : dead) {
    ++owners[item->status.uid];
    if (evidence.notes.size() < kNotes) {
      evidence.notes.push_back(survey.tilde(item->path));
    }
    const Result<std::uint64_t> bytes = bytes_of(host, *item);
    if (bytes) {
      sum += *bytes;
    } else {
      unsized = bytes.error();
    }
    oldest_ns = std::min(oldest_ns.value_or(item->status.mtime_ns), item->status.mtime_ns);
  }
  for (const auto& [uid, count] : owners) {
    evidence.notes.push_back("user " + std::to_string(uid) + ": " + std::to_string(count));
  }
  const std::string key = "leftover." + std::string(kind.name);
  survey.add(key, Value::number(dead.size()), evidence);
  survey.add(key + ".bytes",
             unsized ? Reading(Unknown::from(*unsized)) : Reading(Value::number(sum)), evidence);
  Reading oldest = Absent{"none is left over"};
  if (oldest_ns) {
    const auto now = machine_time(host);
    const std::int64_t then = *oldest_ns / 1'000'000'000;
    oldest = now ? Reading(Value::number(
                       *now > static_cast<std::uint64_t>(std::max<std::int64_t>(then, 0))
                           ? *now - static_cast<std::uint64_t>(then)
                           : 0))
                 : Reading(Unknown{Why::not_live, "the machine's clock is not known", ""});
  }
  survey.add(key + ".oldest", std::move(oldest), std::move(evidence));
}

bool wants_kind(const Survey& survey, std::string_view name) {
  const std::string key = "leftover." + std::string(name);
  return survey.wants(key) || survey.wants(key + ".bytes") || survey.wants(key + ".oldest");
}

/// NCCL's segments have a name without a process in it and permissions for their owner alone.
void add_nccl(Survey& survey) {
  Kind kind{"shm_nccl", "/dev/shm/nccl-*", {}, {}};
  collect(survey.host(), "/dev/shm", "nccl-", kind);
  add_kind(survey, kind, [&](const Item& item, std::optional<Error>& error) {
    return !process_table(survey).is_mapped(item.path, item.status.uid, error);
  });
}

/// torch_<pid>_<random>_<count>. What no process maps can be on its way to one: the process that
/// made it is alive then, or the torch_shm_manager that will remove it. Source: torch's
/// libshm/core.cpp and c10/core/MapAllocator.
Truth is_torch_dead(ProcessTable& table, const Item& item, std::optional<Error>& error) {
  const auto& all = table.all();
  if (!all) {
    error = all.error();
    return Truth::unknown;
  }
  const std::string_view name = std::string_view(item.path).substr(item.path.rfind('/') + 1);
  const auto parts = split(name, '_');
  const auto maker = parts.size() > 1 ? to_number(parts[1]) : std::nullopt;
  for (const ProcessTable::Entry& entry : *all) {
    if (entry.uid != item.status.uid) {
      continue;
    }
    const auto& stat = table.stat(entry.pid);
    if (entry.pid == maker || (stat && stat->name == "torch_shm_manag")) {
      return Truth::no;
    }
  }
  return !table.is_mapped(item.path, item.status.uid, error);
}

void add_torch(Survey& survey) {
  Kind kind{"shm_torch", "/dev/shm/torch_*", {}, {}};
  collect(survey.host(), "/dev/shm", "torch_", kind);
  add_kind(survey, kind, [&](const Item& item, std::optional<Error>& error) {
    return is_torch_dead(process_table(survey), item, error);
  });
}

/// Python's multiprocessing makes such a folder for the sockets at which others may call a process.
/// One in which somebody listens is alive; else any living process of its owner that is as old may
/// be the one that made it. Source: CPython's Lib/multiprocessing/util.py, get_temp_dir.
Truth is_pymp_dead(Survey& survey, const std::string& sockets, const Item& item,
                   std::optional<Error>& error) {
  const host::Host& host = survey.host();
  if (sockets.find(" " + item.path + "/") != std::string::npos) {
    return Truth::no;
  }
  ProcessTable& table = process_table(survey);
  const auto& all = table.all();
  if (!all) {
    error = all.error();
    return Truth::unknown;
  }
  const auto boot = boot_time(host);
  const std::int64_t changed_s = item.status.mtime_ns / 1'000'000'000;
  bool may_live = false;
  for (const ProcessTable::Entry& entry : *all) {
    const auto& stat = entry.uid == item.status.uid ? table.stat(entry.pid) : std::nullopt;
    may_live =
        may_live ||
        (stat && (!boot || static_cast<std::int64_t>(*boot + stat->start_s) <= changed_s + 1));
  }
  if (!may_live && !table.hides_others()) {
    return Truth::yes;
  }
  // Sockets at which nobody listens any more: who made them is gone.
  const auto entries = host.list(item.path);
  if (!entries) {
    error = entries.error();
    return Truth::unknown;
  }
  return entries->empty() ? Truth::unknown : Truth::yes;
}

void add_pymp(Survey& survey) {
  Kind kind{"pymp", "/tmp/pymp-*", {}, {}};
  collect(survey.host(), "/tmp", "pymp-", kind);
  std::string sockets;
  if (!kind.items.empty()) {
    Result<std::string> text = survey.host().read_file("/proc/net/unix", 64u << 20);
    if (!text) {
      add_unknown(survey, kind, Unknown::from(text.error()));
      return;
    }
    sockets = *std::move(text);
  }
  add_kind(survey, kind, [&](const Item& item, std::optional<Error>& error) {
    return is_pymp_dead(survey, sockets, item, error);
  });
}

/// Whoever builds an extension holds its lock open; one that stays makes every later import wait
/// for ever. Source: torch's torch/utils/file_baton.py, cpp_extension.py.
void add_locks(Survey& survey) {
  const host::Host& host = survey.host();
  std::string root = host.variable("TORCH_EXTENSIONS_DIR").value_or("");
  const std::string cache = host.variable("XDG_CACHE_HOME").value_or("");
  const auto home = host.variable("HOME");
  if (root.empty() && cache.empty() && !home) {
    Kind kind{"extension_locks", "~/.cache/torch_extensions", {}, {}};
    add_unknown(survey, kind,
                Unknown::from(Error{
                    home.error().code == Errc::absent ? Errc::not_collected : home.error().code,
                    "the home folder is not known",
                    {}}));
    return;
  }
  if (root.empty()) {
    root = (cache.empty() ? *home + "/.cache" : cache) + "/torch_extensions";
  }
  Kind kind{"extension_locks", survey.tilde(root), {}, {}};
  const auto folders_in = [&](const std::string& folder) {
    std::vector<std::string> found;
    const auto entries = host.list(folder);
    if (!entries) {
      note_unseen(entries.error(), kind.unseen);
    }
    for (const host::DirEntry& entry : entries ? *entries : std::vector<host::DirEntry>{}) {
      if (entry.kind == host::FileStatus::Kind::folder) {
        found.push_back(folder + "/" + entry.name);
      }
      if (entry.name == "lock") {
        const auto status = host.status(folder + "/lock");
        if (status) {
          kind.items.push_back({folder + "/lock", *status});
        } else {
          note_unseen(status.error(), kind.unseen);
        }
      }
    }
    return found;
  };
  // <root>/py310_cu121/<extension>/lock, or <root>/<extension>/lock where the variable is set.
  for (const std::string& folder : folders_in(root)) {
    for (const std::string& inner : folders_in(folder)) {
      folders_in(inner);
    }
  }
  add_kind(survey, kind, [&](const Item& item, std::optional<Error>& error) {
    return !process_table(survey).is_open(item.path, item.status.uid, error);
  });
}

void run(Survey& survey) {
  struct Part {
    std::string_view name;
    void (*add)(Survey&);
  };
  for (const Part& part : {Part{"pymp", add_pymp}, Part{"shm_nccl", add_nccl},
                           Part{"shm_torch", add_torch}, Part{"extension_locks", add_locks}}) {
    if (wants_kind(survey, part.name)) {
      part.add(survey);
    }
  }
}

constexpr auto kKeys = std::to_array<std::string_view>(
    {"leftover.pymp", "leftover.pymp.*", "leftover.shm_nccl", "leftover.shm_nccl.*",
     "leftover.shm_torch", "leftover.shm_torch.*", "leftover.extension_locks",
     "leftover.extension_locks.*"});

}  // namespace

extern const Probe leftovers{.name = "leftovers", .keys = kKeys, .run = run};

}  // namespace goldenv::probe

#include "store/store.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/output.h"
#include "compose/compose.h"
#include "store/gc.h"
#include "store/verify.h"

namespace goldenv::cli {
namespace {

using doc::Node;
using report::printable;

constexpr std::array<OptionSpec, 4> kOptions = {{
    {"--store", "DIR", "the store; default: $GOLDENV_STORE, else the user's", false, ""},
    {"--dry-run", "", "gc: say what would go, and touch nothing", false, ""},
    {"--min-age", "SECONDS", "gc: what is younger stays; default: 3600", false, ""},
    {"--assume-idle", "", "gc: processes that may not be looked at use nothing", false, ""},
}};

Node text(std::string_view value) { return Node::scalar(std::string(value), true); }
Node number(std::uint64_t value) { return Node::scalar(std::to_string(value)); }

Node headed(const store::Store& store) {
  Node node = Node::mapping({});
  node.entries.push_back({"schema_version", {}, number(0)});
  node.entries.push_back({"store", {}, text(store.folder())});
  return node;
}

void put(Node& node, std::string key, Node value) {
  node.entries.push_back({std::move(key), {}, std::move(value)});
}

/// "1.6 GB": in powers of ten, as disks are sold and df -H counts.
std::string size_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  std::uint64_t tenths = bytes * 10;
  while (tenths >= 10'000 && unit + 1 < kUnits.size()) {
    tenths /= 1000;
    ++unit;
  }
  const std::string whole = std::to_string(tenths / 10);
  return (unit == 0 ? std::to_string(bytes) : whole + "." + std::to_string(tenths % 10)) + " " +
         kUnits[unit];
}

Result<store::Store> open(const Invocation& invocation, store::Access access) {
  std::string folder = invocation.value("--store");
  if (folder.empty()) {
    GOLDENV_TRY(folder, store::Store::default_folder());
  }
  return store::Store::open(folder, access);
}

// list

struct Environment {
  std::string digest;
  std::vector<std::string> names;
  std::vector<std::string> objects;
};

struct Listing {
  std::vector<store::Object> objects;
  std::vector<Environment> environments;
};

Result<Listing> list(const store::Store& store) {
  Listing listing;
  GOLDENV_TRY(listing.objects, store.list());
  GOLDENV_TRY(const store::RootFolder names, store.root_folder());
  say_strays(store, names);
  GOLDENV_TRY(const std::vector<std::string> digests, store.generations());
  for (const std::string& digest : digests) {
    Environment one{digest, {}, {}};
    GOLDENV_TRY(one.objects, store.objects_of(digest));
    for (const store::NamedRoot& root : names.roots) {
      if (root.digest == digest) {
        one.names.push_back(root.name);
      }
    }
    listing.environments.push_back(std::move(one));
  }
  return listing;
}

std::string list_text(const store::Store& store, const Listing& listing) {
  std::map<std::string, std::size_t> uses;
  std::vector<std::vector<std::string>> rows;
  std::string out = printable(store.folder()) + "\n";
  for (const Environment& one : listing.environments) {
    for (const std::string& id : one.objects) {
      ++uses[id];
    }
    rows.push_back({one.digest.substr(0, 12), printable(join(one.names, ", ")),
                    report::counted(one.objects.size(), "object")});
  }
  if (!rows.empty()) {
    out += "\nenvironments\n" + report::table(rows, 2);
  }
  rows.clear();
  std::uint64_t bytes = 0;
  for (const store::Object& object : listing.objects) {
    bytes += object.size_bytes;
    rows.push_back({printable(object.name), printable(object.version), size_text(object.size_bytes),
                    "in " + report::counted(uses[object.id()], "environment")});
  }
  if (!rows.empty()) {
    out += "\nobjects\n" + report::table(rows, 2);
  }
  return out + "\n" + report::counted(listing.objects.size(), "object") + ", " + size_text(bytes) +
         "; " + report::counted(listing.environments.size(), "environment") + "\n";
}

Node list_node(const store::Store& store, const Listing& listing) {
  std::vector<Node> environments;
  for (const Environment& one : listing.environments) {
    Node node = Node::mapping({});
    put(node, "digest", text(one.digest));
    std::vector<Node> names;
    for (const std::string& name : one.names) {
      names.push_back(text(name));
    }
    put(node, "names", Node::sequence(std::move(names)));
    std::vector<Node> objects;
    for (const std::string& id : one.objects) {
      objects.push_back(text(id));
    }
    put(node, "objects", Node::sequence(std::move(objects)));
    environments.push_back(std::move(node));
  }
  std::vector<Node> objects;
  for (const store::Object& object : listing.objects) {
    Node node = Node::mapping({});
    put(node, "id", text(object.id()));
    put(node, "name", text(object.name));
    put(node, "version", text(object.version));
    put(node, "kind", text(object.kind));
    put(node, "size_bytes", number(object.size_bytes));
    put(node, "artifact", text(object.artifact.file));
    put(node, "sha256", text(object.artifact.sha256));
    objects.push_back(std::move(node));
  }
  Node node = headed(store);
  put(node, "environments", Node::sequence(std::move(environments)));
  put(node, "objects", Node::sequence(std::move(objects)));
  return node;
}

int run_list(const Invocation& invocation) {
  const auto store = open(invocation, store::Access::read);
  if (!store) {
    return fail(store.error());
  }
  const Result<Listing> listing = list(*store);
  if (!listing) {
    return fail(listing.error());
  }
  return deliver(invocation,
                 {[&](report::Colour) { return list_text(*store, *listing); },
                  [&] { return list_node(*store, *listing); }, ""},
                 kWell);
}

// verify

struct Verification {
  store::Verified totals;
  std::vector<store::Difference> differences;
  std::vector<store::Difference> added;  ///< to environments, by their users: no fault of theirs
};

/// What has become of the environments; their real folders may be written by their owner.
Result<void> check_environments(const store::Store& store, Verification& found) {
  using Kind = store::Difference::Kind;
  GOLDENV_TRY(const std::vector<std::string> digests, store.generations());
  const auto say = [&](Kind kind, std::string path, std::string says) {
    ++found.totals.differences;
    found.totals.unreadable += kind == Kind::unreadable ? 1 : 0;
    found.differences.push_back({kind, std::move(path), std::move(says)});
  };
  for (const std::string& digest : digests) {
    const std::string path = "envs/" + digest;
    const auto drifts = compose::check_generation(store, digest);
    if (!drifts) {
      const Errc code = drifts.error().code;
      const bool unread = code == Errc::denied || code == Errc::failed;
      say(unread ? Kind::unreadable : Kind::changed, path, drifts.error().message);
      continue;
    }
    for (const compose::Drift& drift : *drifts) {
      std::string at = path + "/" + drift.path;
      switch (drift.kind) {
        case compose::Drift::Kind::missing:
          say(Kind::missing, std::move(at), "it is not there");
          break;
        case compose::Drift::Kind::changed:
          say(Kind::changed, std::move(at), "not as it was composed");
          break;
        case compose::Drift::Kind::stray:
          found.added.push_back({Kind::stray, std::move(at), "added since it was composed"});
          break;
      }
    }
  }
  return {};
}

std::string verify_text(const Verification& found) {
  std::vector<std::vector<std::string>> rows;
  for (const auto* list : {&found.differences, &found.added}) {
    for (const store::Difference& one : *list) {
      rows.push_back({std::string(list == &found.added ? "added" : store::name(one.kind)),
                      printable(one.path), printable(one.says)});
    }
  }
  const store::Verified& totals = found.totals;
  return report::table(rows) + report::counted(totals.objects, "object") + ", " +
         report::counted(totals.artifacts, "artifact") + ", " +
         report::counted(totals.files, "file") + ", " + size_text(totals.size_bytes) + ": " +
         (totals.differences == 0 ? "all as it was made"
                                  : report::counted(totals.differences, "difference")) +
         "\n";
}

Node verify_node(const store::Store& store, const Verification& found) {
  Node node = headed(store);
  put(node, "objects", number(found.totals.objects));
  put(node, "artifacts", number(found.totals.artifacts));
  put(node, "files", number(found.totals.files));
  put(node, "size_bytes", number(found.totals.size_bytes));
  for (const auto& [key, list] :
       {std::pair("differences", &found.differences), std::pair("added", &found.added)}) {
    std::vector<Node> items;
    for (const store::Difference& one : *list) {
      Node item = Node::mapping({});
      put(item, "kind", text(store::name(one.kind)));
      put(item, "path", text(one.path));
      put(item, "says", text(one.says));
      items.push_back(std::move(item));
    }
    put(node, key, Node::sequence(std::move(items)));
  }
  return node;
}

int run_verify(const Invocation& invocation) {
  const auto store = open(invocation, store::Access::read);
  if (!store) {
    return fail(store.error());
  }
  Verification found;
  const auto totals = store::verify(
      *store, [&](const store::Difference& one) { found.differences.push_back(one); });
  if (!totals) {
    return fail(totals.error());
  }
  found.totals = *totals;
  if (const Result<void> checked = check_environments(*store, found); !checked) {
    return fail(checked.error());
  }
  const int status = found.totals.unreadable != 0    ? kStepFailed
                     : found.totals.differences != 0 ? kDiffers
                                                     : kWell;
  return deliver(invocation,
                 {[&](report::Colour) { return verify_text(found); },
                  [&] { return verify_node(*store, found); }, ""},
                 status);
}

// gc

std::string gc_text(const store::Collected& collected, bool dry_run) {
  std::vector<std::vector<std::string>> rows;
  for (const store::Gone& one : collected.gone) {
    rows.push_back({std::string(store::name(one.kind)), printable(one.name), size_text(one.bytes)});
  }
  for (const store::Kept& one : collected.kept) {
    rows.push_back({"kept", one.digest, one.why});
  }
  return report::table(rows) + (dry_run ? "would free " : "freed ") +
         size_text(collected.freed_bytes) + "\n";
}

Node gc_node(const store::Store& store, const store::Collected& collected, bool dry_run) {
  Node node = headed(store);
  put(node, "dry_run", Node::scalar(dry_run ? "true" : "false"));
  put(node, "freed_bytes", number(collected.freed_bytes));
  std::vector<Node> gone;
  for (const store::Gone& one : collected.gone) {
    Node item = Node::mapping({});
    put(item, "kind", text(store::name(one.kind)));
    put(item, "name", text(one.name));
    put(item, "bytes", number(one.bytes));
    gone.push_back(std::move(item));
  }
  put(node, "gone", Node::sequence(std::move(gone)));
  std::vector<Node> kept;
  for (const store::Kept& one : collected.kept) {
    Node item = Node::mapping({});
    put(item, "digest", text(one.digest));
    put(item, "why", text(one.why));
    kept.push_back(std::move(item));
  }
  put(node, "kept", Node::sequence(std::move(kept)));
  put(node, "unseen_processes", number(collected.unseen));
  return node;
}

int run_gc(const Invocation& invocation) {
  store::GcOptions options;
  options.dry_run = invocation.has("--dry-run");
  options.assume_idle = invocation.has("--assume-idle");
  if (invocation.has("--min-age")) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 40U;
    const auto seconds = to_number(invocation.value("--min-age"));
    if (!seconds || *seconds > kMost) {
      return fail(
          {Errc::usage,
           "--min-age is a number of seconds, not \"" + invocation.value("--min-age") + "\"",
           {}});
    }
    options.min_age = std::chrono::seconds(*seconds);
  }
  // To be swept a store must be there: none is made for it.
  if (const auto there = open(invocation, store::Access::read); !there) {
    return fail(there.error());
  }
  const auto store = open(invocation, store::Access::write);
  if (!store) {
    return fail(store.error());
  }
  const auto collected = store::gc(*store, options);
  if (!collected) {
    return fail(collected.error());
  }
  if (collected->unseen != 0) {
    say("objects and environments stay: " + std::to_string(collected->unseen) +
        " of the processes here" +
        " may not be looked at and may use them; run it as root, or with --assume-idle");
  }
  return deliver(invocation,
                 {[&](report::Colour) { return gc_text(*collected, options.dry_run); },
                  [&] { return gc_node(*store, *collected, options.dry_run); }, ""},
                 kWell);
}

// forget

int run_forget(const Invocation& invocation, const std::string& name) {
  if (const auto there = open(invocation, store::Access::read); !there) {
    return fail(there.error());
  }
  const auto store = open(invocation, store::Access::write);
  if (!store) {
    return fail(store.error());
  }
  const auto roots = store->roots();
  if (!roots) {
    return fail(roots.error());
  }
  const auto root = std::ranges::find(*roots, name, &store::NamedRoot::name);
  if (root == roots->end()) {
    return fail({Errc::usage,
                 "no environment in " + store->folder() + " has the name " + name +
                     "; goldenv store list shows those there are",
                 {}});
  }
  if (const Result<void> removed = store->remove_root(name); !removed) {
    return fail(removed.error());
  }
  return deliver(invocation,
                 {[&](report::Colour) {
                    return printable(name) + " named " + root->digest.substr(0, 12) +
                           "; goldenv store gc frees what nothing needs\n";
                  },
                  [&] {
                    Node node = headed(*store);
                    put(node, "name", text(name));
                    put(node, "digest", text(root->digest));
                    return node;
                  },
                  ""},
                 kWell);
}

int run_store(const Invocation& invocation) {
  const std::string& what = invocation.words.front();
  if (what != "gc") {
    for (const char* option : {"--dry-run", "--min-age", "--assume-idle"}) {
      if (invocation.has(option)) {
        return fail({Errc::usage, std::string(option) + " is of store gc", {}});
      }
    }
  }
  if (const bool takes_name = what == "forget"; takes_name != (invocation.words.size() == 2)) {
    return fail({Errc::usage,
                 takes_name ? "store forget takes the name of an environment"
                            : "store " + what + " takes no name",
                 {}});
  }
  if (what == "forget") {
    return run_forget(invocation, invocation.words.back());
  }
  if (what == "list") {
    return run_list(invocation);
  }
  if (what == "verify") {
    return run_verify(invocation);
  }
  if (what == "gc") {
    return run_gc(invocation);
  }
  return fail({Errc::usage, "store does list, verify, gc and forget, not \"" + what + "\"", {}});
}

}  // namespace

extern const Command store_command{"store",
                                   "list|verify|gc|forget [NAME]",
                                   1,
                                   2,
                                   "what was realised here: list it, verify every byte, free what "
                                   "nothing needs, forget an environment's name",
                                   "goldenv store verify",
                                   kOptions,
                                   run_store};

}  // namespace goldenv::cli

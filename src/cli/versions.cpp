#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/request.h"
#include "compat/compat.h"
#include "facts/catalogue.h"
#include "host/host.h"
#include "offer/offer.h"
#include "provision/packages.h"
#include "recipe/recipe.h"
#include "report/data.h"
#include "report/text.h"
#include "store/store.h"
#include "tables/releases.h"
#include "wheel/name.h"

namespace goldenv::cli {
namespace {

constexpr std::array<OptionSpec, 4> kOptions = {{
    {"--between", "A..B", "only versions from A to B, both included; either may be left out", false,
     ""},
    {"--online", "", "also ask the package index that pip is set to use", false, ""},
    {"--index", "URL", "also ask this package index", false, ""},
    {"--python", "P", "the Python that is meant: its prefix or interpreter", false, ""},
}};

/// The origins in the order in which they are told.
constexpr std::array<std::string_view, 5> kOrigins = {"installed", "store", "distribution", "index",
                                                      "table"};

/// What is known of one component.
struct Listing {
  std::string component;  ///< canonical key
  version::Scheme scheme = version::Scheme::dotted;
  std::string source;
  tables::ReleaseList table;  ///< without its releases where there is none
  std::vector<offer::Version> versions;
  std::vector<std::string> unread;
  std::string cannot;  ///< why it cannot be provisioned
};

/// The component that a word means. Errors: usage, with the nearest.
Result<facts::Resolved> parse_component(const std::string& word) {
  Result<facts::Resolved> key = facts::resolve(word);
  if (!key) {
    return Error{Errc::usage, key.error().message, {}};
  }
  if (key->entry->type != facts::Type::version || !key->label.empty()) {
    return Error{Errc::usage,
                 "\"" + shortened(word) +
                     "\" is no component; expected a key that is a version, such as nccl, driver "
                     "or python.package.numpy",
                 {}};
  }
  return key;
}

void add(offer::Offers more, std::vector<offer::Offer>& offers, std::vector<std::string>& unread) {
  std::ranges::move(more.offers, std::back_inserter(offers));
  std::ranges::move(more.unread, std::back_inserter(unread));
}

/// What the distribution of a machine that can be looked at offers.
offer::Offers from_distribution(const source::Source& source, const recipe::Recipe& recipe) {
  std::unique_ptr<host::Host> host;
  if (source.kind == source::Source::Kind::live) {
    host = host::live_host();
  } else if (source.kind == source::Source::Kind::tree) {
    Result<std::unique_ptr<host::Host>> tree = host::tree_host(source.place);
    if (!tree) {
      return {{}, {tree.error().message}};
    }
    host = *std::move(tree);
  } else {
    return {};
  }
  return offer::from_distribution(*host, recipe);
}

/// What the caller's store holds under one of these keys.
offer::Offers from_store(const std::vector<std::string>& keys) {
  offer::Offers offers;
  const Result<std::string> folder = store::Store::default_folder();
  if (!folder) {
    return offers;  // nobody's: no home
  }
  const Result<store::Store> store = store::Store::open(*folder, store::Access::read);
  if (!store) {
    if (store.error().code != Errc::absent) {
      offers.unread.push_back(store.error().message);
    }
    return offers;
  }
  const Result<std::vector<store::Object>> objects = store->list();
  if (!objects) {
    offers.unread.push_back(objects.error().message);
    return offers;
  }
  for (const store::Object& object : *objects) {
    const Result<facts::Resolved> key = facts::resolve("python.package." + object.name);
    const bool is_wheel =
        object.kind == "wheel" && key && std::ranges::find(keys, key->name) != keys.end();
    if (is_wheel || std::ranges::find(keys, object.name) != keys.end()) {
      offers.offers.push_back({object.version, "store", object.name, ""});
    }
  }
  return offers;
}

/// The projects of an index that have a component, under the same numbers.
std::set<std::string> projects_of(const std::vector<std::string>& keys) {
  constexpr std::string_view kPackages = "python.package.";
  std::set<std::string> projects;
  for (const std::string& key : keys) {
    if (key.starts_with(kPackages)) {
      projects.insert(wheel::normalised_name(key.substr(kPackages.size())));
    }
  }
  return projects;
}

/// What the index has that the command line names, or that pip is set to use.
offer::Offers from_index(const Invocation& invocation, const std::vector<std::string>& keys) {
  const std::set<std::string> projects = projects_of(keys);
  if (projects.empty()) {
    return {{}, {"the index: no project of it is numbered like " + keys.front()}};
  }
  provision::Interpreter interpreter;
  interpreter.program = provision::python_program(invocation.value("--python"));
  provision::PackageOptions options;
  options.index = invocation.value("--index");
  const auto found = provision::index_versions(projects, interpreter, options);
  if (!found) {
    return {{}, {"the index: " + found.error().message}};
  }
  offer::Offers offers{{}, found->unread};
  for (const auto& one : found->versions) {
    offers.offers.push_back({one.version, "index", one.project, ""});
  }
  return offers;
}

/// The facts of the source that tell which versions it has.
Result<facts::Snapshot> look(const Invocation& invocation, const source::Source& source,
                             const std::vector<std::string>& keys) {
  probe::Request request = request_for({}, invocation);
  for (const std::string& key : offer::keys_to_look_at(keys)) {
    request.named.push_back({key, ""});
  }
  if (!source.is_machine()) {
    return source::look(source, request);
  }
  Viewer viewer(invocation);
  GOLDENV_TRY(std::vector<facts::Snapshot> all, viewer.look(source, request));
  if (Result<void> python = viewer.python_found(); !python) {
    return std::move(python).error();
  }
  return std::move(all.front());
}

Result<Listing> list(const Invocation& invocation, const facts::Resolved& component,
                     const source::Source& source, const offer::Interval& interval) {
  Listing listing;
  listing.component = component.name;
  listing.scheme = component.entry->scheme;
  listing.source = source.text;
  const recipe::Collection collection = recipe::shipped_collection();
  const recipe::Recipe* const recipe = collection.find(component.name);
  std::vector<std::string> keys = {component.name};
  // Of a family's recipe the member is meant and nothing else.
  const bool has_own = recipe != nullptr && !recipe->is_generic();
  if (has_own) {
    keys = recipe::keys_of(*recipe, {{"name", component.member}});
    listing.cannot = recipe->cannot;
  }
  std::vector<offer::Offer> offers;
  GOLDENV_TRY(const facts::Snapshot snapshot, look(invocation, source, keys));
  add(offer::from_snapshot(snapshot, keys), offers, listing.unread);
  if (source.kind == source::Source::Kind::live) {
    add(from_store(keys), offers, listing.unread);
  }
  if (recipe != nullptr) {
    add(from_distribution(source, *recipe), offers, listing.unread);
  }
  if (invocation.has("--online") || invocation.has("--index")) {
    add(from_index(invocation, keys), offers, listing.unread);
  }
  const std::string_view listed = has_own ? std::string_view(recipe->component) : component.name;
  add(offer::from_tables(listed), offers, listing.unread);
  listing.table = tables::releases_of(listed);
  listing.versions = offer::merge(std::move(offers), listing.scheme, interval);
  return listing;
}

/// The newest version of an origin; nullptr where it has none.
const offer::Version* newest(const Listing& listing, std::string_view origin) {
  const auto has = [origin](const offer::Version& version) {
    return std::ranges::find(version.offers, origin, &offer::Offer::origin) != version.offers.end();
  };
  const auto at = std::ranges::find_if(listing.versions, has);
  return at == listing.versions.end() ? nullptr : &*at;
}

std::string date_of(const offer::Version& version) {
  for (const offer::Offer& one : version.offers) {
    if (!one.date.empty()) {
      return one.date;
    }
  }
  return {};
}

/// "installed (nccl, nccl.copies); table".
std::string places_of(const offer::Version& version) {
  std::string out;
  for (const std::string_view origin : kOrigins) {
    std::vector<std::string> details;
    bool there = false;
    for (const offer::Offer& one : version.offers) {
      if (one.origin == origin) {
        there = true;
        if (!one.detail.empty()) {
          details.push_back(one.detail);
        }
      }
    }
    if (there) {
      out += (out.empty() ? "" : "; ") + std::string(origin) +
             (details.empty() ? std::string() : " (" + join(details, ", ") + ")");
    }
  }
  return out;
}

std::string as_text(const Listing& listing, report::Colour colour) {
  using report::printable;
  std::string out = report::paint(colour, report::Ink::bold, printable(listing.component)) + "  " +
                    report::counted(listing.versions.size(), "version") + ", newest first\n";
  std::vector<std::vector<std::string>> rows;
  for (const offer::Version& version : listing.versions) {
    rows.push_back({printable(version.text), date_of(version), printable(places_of(version))});
  }
  out += report::table(rows, 2);
  if (listing.versions.empty()) {
    out += "  none is known here\n";
  }
  std::vector<std::vector<std::string>> ends;
  for (const std::string_view origin : kOrigins) {
    if (const offer::Version* version = newest(listing, origin)) {
      ends.push_back({"newest, " + std::string(origin), printable(version->text)});
    }
  }
  if (!listing.table.component.empty()) {
    ends.push_back({"table", std::string(listing.table.source) + ", as of " +
                                 std::string(listing.table.as_of) + " (" +
                                 std::string(compat::name(listing.table.confidence)) +
                                 "); what came later is not in it"});
  }
  if (!listing.cannot.empty()) {
    ends.push_back({"not provisioned", printable(listing.cannot)});
  }
  for (const std::string& unread : listing.unread) {
    ends.push_back({"not read", printable(unread)});
  }
  return ends.empty() ? out : out + report::table(ends, 2);
}

doc::Node as_node(const Listing& listing) {
  doc::Node node = report::new_document();
  report::put(node, "component", listing.component);
  report::put(node, "scheme", version::name(listing.scheme));
  report::put(node, "source", listing.source);
  std::vector<doc::Node> versions;
  for (const offer::Version& version : listing.versions) {
    doc::Node one = doc::Node::mapping({});
    one.entries.push_back({"version", {}, doc::Node::scalar(version.text, true)});
    report::put(one, "date", date_of(version));
    std::vector<doc::Node> origins;
    for (const offer::Offer& offer : version.offers) {
      doc::Node origin = doc::Node::mapping({});
      report::put(origin, "origin", offer.origin);
      report::put(origin, "detail", offer.detail);
      origins.push_back(std::move(origin));
    }
    report::put(one, "origins", doc::Node::sequence(std::move(origins)));
    versions.push_back(std::move(one));
  }
  report::put(node, "versions", doc::Node::sequence(std::move(versions)));
  doc::Node ends = doc::Node::mapping({});
  for (const std::string_view origin : kOrigins) {
    if (const offer::Version* version = newest(listing, origin)) {
      ends.entries.push_back({std::string(origin), {}, doc::Node::scalar(version->text, true)});
    }
  }
  report::put(node, "newest", std::move(ends));
  if (!listing.table.component.empty()) {
    doc::Node table = doc::Node::mapping({});
    report::put(table, "source", listing.table.source);
    report::put(table, "as_of", listing.table.as_of);
    report::put(table, "confidence", compat::name(listing.table.confidence));
    report::put(node, "table", std::move(table));
  }
  report::put(node, "cannot", listing.cannot);
  std::vector<doc::Node> unread;
  for (const std::string& one : listing.unread) {
    unread.push_back(doc::Node::scalar(one, true));
  }
  report::put(node, "unread", doc::Node::sequence(std::move(unread)));
  return node;
}

int run_versions(const Invocation& invocation) {
  const auto component = parse_component(invocation.words.front());
  if (!component) {
    return fail(component.error());
  }
  offer::Interval interval;
  if (invocation.has("--between")) {
    auto parsed = offer::parse_interval(invocation.value("--between"), component->entry->scheme);
    if (!parsed) {
      return fail(parsed.error());
    }
    interval = *std::move(parsed);
  }
  const auto sources = parse_sources({invocation.words.begin() + 1, invocation.words.end()});
  if (!sources) {
    return fail(sources.error());
  }
  const auto listing = list(invocation, *component, sources->front(), interval);
  if (!listing) {
    return fail(listing.error());
  }
  const Rendering rendering{[&](report::Colour colour) { return as_text(*listing, colour); },
                            [&] { return as_node(*listing); }, ""};
  // Where a place could not be looked at, that there is none is not known.
  const bool undecided = listing->versions.empty() && !listing->unread.empty();
  return deliver(invocation, rendering, undecided ? kUndecided : kWell);
}

}  // namespace

extern const Command versions{"versions",
                              "COMPONENT [SOURCE]",
                              1,
                              2,
                              "versions of a component: known, offered, installed, in the store",
                              "goldenv versions nccl --between 2.18..2.20.5",
                              kOptions,
                              run_versions};

}  // namespace goldenv::cli

#include "cli/request.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "base/url.h"
#include "diff/check.h"
#include "facts/member_hints.h"

namespace goldenv::cli {
namespace {

bool has_wildcard(std::string_view text) {
  return text.find_first_of("*?") != std::string_view::npos;
}

/// A path relative to the current folder as an absolute one; names of commands, `~` and absolute
/// paths as they are.
std::string absolute_python(const std::string& word) {
  std::error_code none;
  const std::filesystem::path path(word);
  const bool is_path =
      word.find('/') != std::string::npos || std::filesystem::is_directory(path, none);
  if (!is_path || path.is_absolute() || word.starts_with('~')) {
    return word;
  }
  const std::filesystem::path whole = std::filesystem::absolute(path, none);
  return none ? word : whole.lexically_normal().string();
}

}  // namespace

void say_what_is_not_mounted(const facts::Snapshot& snapshot) {
  for (const std::string_view top : {"/proc", "/sys"}) {
    const std::string ending = std::string(top) + " is not mounted";
    const auto lacks = [&](const facts::Fact& fact) {
      const auto* unknown = std::get_if<facts::Unknown>(&fact.reading);
      return unknown != nullptr && unknown->why == facts::Why::not_collected &&
             unknown->detail.ends_with(ending);
    };
    if (std::ranges::any_of(snapshot.facts, lacks)) {
      say(ending + " here: what only it tells is unknown");
    }
  }
}

Result<Only> parse_only(const Invocation& invocation) {
  Only only;
  only.request.python = invocation.value("--python");
  const std::vector<std::string> patterns = invocation.values("--only");
  if (patterns.empty()) {
    return only;
  }
  Result<facts::Selection> selection = facts::Selection::parse(patterns);
  if (!selection) {
    for (const std::string& pattern : patterns) {
      // Such a word is cut at its '@' into a key and an instance: its user part must not be shown.
      if (const std::string masked = mask_users(pattern); masked != pattern) {
        return Error{Errc::usage, "--only: \"" + masked + "\" is no pattern of keys", {}};
      }
    }
    return Error{Errc::usage, "--only: " + selection.error().message, {}};
  }
  only.selection = *std::move(selection);
  only.request.selection = only.selection;
  only.request.named.push_back({"host.name", ""});
  if (!only.request.python.empty()) {
    only.request.named.push_back({"python", ""});
  }
  for (const std::string& pattern : patterns) {
    if (pattern.starts_with('!')) {
      continue;
    }
    facts::FactKey key = facts::FactKey::parse(pattern);
    const auto resolved = facts::resolve(key.name);
    if (!pattern.starts_with("layer:") && !has_wildcard(pattern) && resolved) {
      only.request.named.push_back({resolved->name, std::move(key.label)});
      if (const std::string near = facts::nearest_member(only.request.named.back());
          !near.empty()) {
        say("--only " + pattern + " is no well-known name; did you mean " + near + "?");
      }
    }
  }
  return only;
}

void ask_for_headlines(const facts::Selection& selection, probe::Request& request) {
  if (selection.empty()) {
    return;
  }
  request.named.push_back({"driver.numbering", ""});
  for (const facts::Entry& entry : facts::catalogue()) {
    if (entry.with.empty() || !selection.may_select(entry)) {
      continue;
    }
    const std::size_t open = entry.with.find('<');
    if (open == std::string_view::npos) {
      request.named.push_back({std::string(entry.with), ""});
    } else {
      request.families.emplace_back(entry.with.substr(0, open - 1));
    }
  }
}

bool has_selected(const facts::Snapshot& snapshot, const facts::Selection& selection) {
  return std::ranges::any_of(snapshot.facts, [&](const facts::Fact& fact) {
    return selection.selects(fact.key.name, fact.key.label);
  });
}

std::string only_text(const Invocation& invocation) {
  return "--only " + join(invocation.values("--only"), ", ");
}

probe::Request request_for(const manifest::Manifest& manifest, const Invocation& invocation) {
  probe::Request request;
  request.named = diff::keys_of(manifest);
  request.families = diff::families_of(manifest);
  // A closed glob that could mean any family asks for everything.
  request.only_named = std::ranges::find(request.families, "") == request.families.end();
  request.python = invocation.value("--python");
  request.target_python = manifest.target_python;
  if (!request.python.empty()) {
    request.named.push_back({"python", ""});
  }
  if (invocation.has("--fast")) {
    std::erase_if(request.named, [](const facts::FactKey& key) { return key.name == "file"; });
  }
  return request;
}

Result<std::vector<source::Source>> parse_sources(const std::vector<std::string>& words) {
  std::vector<source::Source> sources;
  bool input = false;
  for (const std::string& word : words.empty() ? std::vector<std::string>{"@live"} : words) {
    GOLDENV_TRY(source::Source one, source::parse(word));
    if (one.kind == source::Source::Kind::input && std::exchange(input, true)) {
      return Error{Errc::usage, "standard input (-) can be read only once", {}};
    }
    sources.push_back(std::move(one));
  }
  return sources;
}

Result<std::vector<facts::Snapshot>> Viewer::look(const source::Source& source,
                                                  probe::Request request) {
  if (source.kind == source::Source::Kind::live && !request.python.empty()) {
    request.python = absolute_python(request.python);
  }
  auto all = source::look_all(source, request);
  if (all && source.kind == source::Source::Kind::live) {
    say_what_is_not_mounted(all->front());
  }
  if (!all || python_.empty() || !source.is_machine()) {
    return all;
  }
  // One that is asked for is the target or nothing is; what could not be looked at may be one.
  const facts::Reading reading = all->front().read({"python", ""}).reading;
  const auto* unknown = std::get_if<facts::Unknown>(&reading);
  if (unknown == nullptr || unknown->why != facts::Why::unreadable) {
    found_ = true;
  } else if (missing_.empty()) {
    missing_ = unknown->detail;
  }
  return all;
}

Result<void> Viewer::python_found() const {
  if (found_ || missing_.empty()) {
    return {};
  }
  return Error{Errc::usage, "--python: " + missing_, {}};
}

std::string default_manifest() {
  std::string name = source::default_manifest();
  const char* named = std::getenv("GOLDENV_MANIFEST");
  if (named != nullptr && *named != '\0' && name != named) {
    std::error_code none;
    if (!std::filesystem::equivalent(name, named, none)) {
      say("./" + name + " is taken; $GOLDENV_MANIFEST (" + named + ") is passed over for it");
    }
  }
  return name;
}

Result<NamedManifest> open_manifest(const std::string& file) {
  const std::string name = file.empty() ? default_manifest() : file;
  if (name.empty()) {
    return Error{
        Errc::usage,
        "no manifest: neither ./goldenv.yaml, $GOLDENV_MANIFEST nor /etc/goldenv/golden.yaml "
        "is there (goldenv lock -o goldenv.yaml makes one)",
        {}};
  }
  GOLDENV_TRY(source::Source source, source::parse(name));
  GOLDENV_TRY(manifest::Manifest manifest, source::read_manifest(source));
  return NamedManifest{name, std::move(manifest)};
}

Result<void> check_wants(const NamedManifest& manifest) {
  if (manifest.manifest.pins.empty() && manifest.manifest.closed.empty()) {
    return Error{
        Errc::usage,
        manifest.file + ": nothing is pinned and nothing closed, so that every machine would match",
        {}};
  }
  return {};
}

}  // namespace goldenv::cli

#include "cli/request.h"

#include <algorithm>

#include "base/text.h"
#include "base/url.h"
#include "diff/check.h"

namespace goldenv::cli {
namespace {

/// The part of a pattern that stands before its first wildcard, up to a dot: the family to be
/// probed. Empty where that could be anything.
std::string fixed_part(std::string_view pattern) {
  const std::string_view name = pattern.substr(0, pattern.find('@'));
  const std::size_t wild = name.find_first_of("*?");
  if (wild == std::string_view::npos) {
    const auto resolved = facts::resolve(name);
    return resolved ? resolved->name : std::string(name);
  }
  const std::size_t dot = name.substr(0, wild).rfind('.');
  return dot == std::string_view::npos ? "" : std::string(name.substr(0, dot));
}

}  // namespace

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
  only.request.only_named = true;
  only.request.named.push_back({"host.name", ""});
  for (const std::string& pattern : patterns) {
    if (pattern.starts_with('!')) {
      continue;
    }
    const std::string family = pattern.starts_with("layer:") ? "" : fixed_part(pattern);
    if (family.empty()) {
      only.request.only_named = false;
      continue;
    }
    only.request.families.push_back(family);
    facts::FactKey key = facts::FactKey::parse(pattern);
    only.request.named.push_back({family, std::move(key.label)});
  }
  return only;
}

probe::Request request_for(const manifest::Manifest& manifest, const Invocation& invocation) {
  probe::Request request;
  request.named = diff::keys_of(manifest);
  request.families = diff::families_of(manifest);
  // A closed glob that could mean any family asks for everything.
  request.only_named = std::ranges::find(request.families, "") == request.families.end();
  request.python = invocation.value("--python");
  request.target_python = manifest.target_python;
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

Result<NamedManifest> open_manifest(const std::string& file) {
  const std::string name = file.empty() ? source::default_manifest() : file;
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

}  // namespace goldenv::cli

#include "source/source.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "base/url.h"
#include "facts/want.h"
#include "host/host.h"
#include "host/memory.h"
#include "host/process.h"
#include "probe/redact.h"
#include "source/git.h"
#include "source/image.h"
#include "source/manifest_secrets.h"
#include "source/record.h"
#include "source/ssh.h"
#include "source/ssh_hosts.h"
#include "source/text_file.h"
#include "source/unit.h"

namespace goldenv::source {
namespace {

/// PID_MAX_LIMIT of 64-bit kernels.
constexpr std::uint64_t kLargestPid = 4u << 20;

/// "ssh" of "ssh:gpu17": a word before a colon that could be the name of a source. A path with a
/// colon in it is written ./a:b.
std::string_view scheme_of(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    return {};
  }
  for (const char c : word.substr(0, colon)) {
    if (c < 'a' || c > 'z') {
      return {};
    }
  }
  return word.substr(0, colon);
}

Error unknown_source(std::string_view word, std::string_view what) {
  return {Errc::usage,
          "unknown source \"" + std::string(what) + "\" in " + mask_source_user(word) +
              "; known are: " + std::string(known_sources()),
          {}};
}

/// Whether a path is below its folder: relative, and never stepping out.
bool stays_below(std::string_view path) {
  if (path.empty() || path.starts_with('/')) {
    return false;
  }
  for (const std::string_view part : split(path, '/')) {
    if (part == "..") {
      return false;
    }
  }
  return true;
}

/// Looks at a machine; what large files once said is remembered between runs.
facts::Snapshot look_at(const host::Host& host, const probe::Request& request,
                        const std::string& name) {
  host::Memory memory(host::Memory::default_folder());
  probe::Request remembering = request;
  remembering.memory = &memory;
  return probe::look(host, remembering, name);
}

/// Looks at this machine as a process has it.
Result<facts::Snapshot> look_at_process(Result<std::unique_ptr<host::Host>> host,
                                        const probe::Request& request, const std::string& name) {
  if (!host) {
    Error error = std::move(host).error();
    error.code = error.code == Errc::absent ? Errc::usage : error.code;
    return error;
  }
  facts::Snapshot snapshot = look_at(**host, request, name);
  if (Result<void> same = host::confirm_process(**host); !same) {
    return std::move(same).error();
  }
  return snapshot;
}

/// What no parser needs to see: an empty text, and what `scan` prints for people.
Result<void> check_text(std::string_view text, const std::string& name) {
  if (trim(text).empty()) {
    return Error{
        Errc::malformed, name + ":1:1: it is empty; expected a snapshot or a manifest", {}};
  }
  const std::string_view first = text.substr(0, text.find('\n'));
  const std::size_t colon = first.rfind(": ");
  if (colon == std::string_view::npos || first.front() == '"') {
    return {};
  }
  const std::vector<std::string_view> said = words(first.substr(colon + 2));
  if (said.size() == 2 && to_number(said[0]) && (said[1] == "fact" || said[1] == "facts")) {
    return doc::error_at(name, {1, 1},
                         "the text form of a scan, for people; expected a snapshot: goldenv scan "
                         "--format yaml (or -o FILE.yaml) gives one that can be read back");
  }
  return {};
}

/// The snapshots of a scan of several sources.
Result<std::vector<facts::Snapshot>> several_of(doc::Node& node, const std::string& name) {
  for (const doc::Node::Entry& entry : node.entries) {
    if (entry.key != "snapshots" && entry.key != "schema_version") {
      return doc::error_at(name, entry.mark,
                           "unknown field \"" + entry.key +
                               "\" beside snapshots; expected schema_version and snapshots");
    }
  }
  const auto list = std::ranges::find(node.entries, "snapshots", &doc::Node::Entry::key);
  if (!list->value.is_sequence() || list->value.items.empty()) {
    return doc::error_at(name, list->value.mark, "expected a list of snapshots, at least one");
  }
  std::vector<facts::Snapshot> all;
  for (doc::Node& item : list->value.items) {
    GOLDENV_TRY(facts::Snapshot one, facts::from_node(std::move(item), name));
    probe::redact(one);
    all.push_back(std::move(one));
  }
  return all;
}

/// A file of git's that `extends` names.
Result<manifest::Text> fetch_git(const GitFile& file) {
  GOLDENV_TRY(std::string text, read_git(file));
  return manifest::Text{file.text(), std::move(text)};
}

/// The folder of a text that `extends` another; "" is the current one.
Result<std::string> folder_of(std::string_view from) {
  constexpr std::string_view kGit = "git:";
  if (from.starts_with(kGit)) {
    GOLDENV_TRY(const GitFile file, parse_git(from.substr(kGit.size())));
    return file.folder();
  }
  return std::filesystem::path(from).parent_path().string();
}

/// Texts that `extends` names: files beside or below the one that names them, in the same revision
/// where that is git's; or a file of git's at a full commit, of which a relative repository is
/// beside or below it too.
Result<manifest::Text> fetch_beside(std::string_view name, std::string_view from) {
  constexpr std::string_view kGit = "git:";
  if (name.starts_with(kGit)) {
    GOLDENV_TRY(const std::string folder, folder_of(from));
    GOLDENV_TRY(const GitFile file, parse_git(name.substr(kGit.size()), folder));
    if (!is_full_commit(file.revision)) {
      return Error{Errc::malformed, "\"" + file.revision + "\" is no full commit", {}};
    }
    return fetch_git(file);
  }
  if (!stays_below(name)) {
    return Error{Errc::malformed,
                 "\"" + mask_source_user(name) + "\" must be a file below the folder of " +
                     std::string(from),
                 {}};
  }
  if (from.starts_with(kGit)) {
    GOLDENV_TRY(GitFile file, parse_git(from.substr(kGit.size())));
    file.path = (std::filesystem::path(file.path).parent_path() / name).lexically_normal().string();
    return fetch_git(file);
  }
  const std::filesystem::path path =
      (std::filesystem::path(from).parent_path() / name).lexically_normal();
  Result<std::string> text = read_path(path.string());
  if (!text) {
    return std::move(text).error();
  }
  return manifest::Text{path.string(), *std::move(text)};
}

}  // namespace

std::string_view known_sources() {
  return "@live, PATH, - (standard input), root:DIR, image:FILE, git:REPO@REV:PATH, "
         "ssh:HOST, pid:N, unit:NAME";
}

Result<Source> parse(std::string_view word) {
  if (word.empty()) {
    return Error{Errc::usage,
                 "an empty word names no source; known are: " + std::string(known_sources()),
                 {}};
  }
  if (word == "@live") {
    return Source{Source::Kind::live, std::string(word), ""};
  }
  if (word.starts_with('@')) {
    return unknown_source(word, mask_source_user(word));
  }
  if (word == "-") {
    return Source{Source::Kind::input, "-", ""};
  }
  const std::string_view scheme = scheme_of(word);
  if (scheme == "root") {
    const std::string_view folder = word.substr(scheme.size() + 1);
    if (folder.empty()) {
      return Error{Errc::usage, "root: needs a folder: root:DIR", {}};
    }
    return Source{Source::Kind::tree, std::string(word), std::string(folder)};
  }
  if (scheme == "image") {
    const std::string_view file = word.substr(scheme.size() + 1);
    if (file.empty()) {
      return Error{Errc::usage, "image: needs the archive of an image: image:FILE", {}};
    }
    return Source{Source::Kind::image, std::string(word), std::string(file)};
  }
  if (scheme == "git") {
    const std::string_view place = word.substr(scheme.size() + 1);
    GOLDENV_TRY(const GitFile file, parse_git(place));
    return Source{Source::Kind::git, file.text(), std::string(place)};
  }
  if (scheme == "ssh") {
    GOLDENV_TRY(std::string host, parse_ssh_host(word.substr(scheme.size() + 1)));
    return Source{Source::Kind::ssh, std::string(word), std::move(host)};
  }
  if (scheme == "pid") {
    const std::string_view number = word.substr(scheme.size() + 1);
    const auto pid = to_number(number);
    if (!pid || *pid == 0 || *pid > kLargestPid) {
      return Error{Errc::usage, "pid: needs the number of a process: pid:4711", {}};
    }
    return Source{Source::Kind::pid, std::string(word), std::to_string(*pid)};
  }
  if (scheme == "unit") {
    GOLDENV_TRY(std::string unit, unit_name(word.substr(scheme.size() + 1)));
    return Source{Source::Kind::unit, std::string(word), std::move(unit)};
  }
  if (!scheme.empty()) {
    return unknown_source(word, std::string(scheme) + ":");
  }
  return Source{Source::Kind::file, std::string(word), std::string(word)};
}

Result<std::string> read_text(const Source& source) {
  if (source.kind == Source::Kind::git) {
    GOLDENV_TRY(const GitFile file, parse_git(source.place));
    return read_git(file);
  }
  if (source.kind == Source::Kind::input) {
    return read_standard_input();
  }
  Result<std::string> text = read_path(source.place);
  if (!text && text.error().message == "no such file: " + source.place &&
      parse_ssh_host(source.place) && is_known_host(source.place)) {
    text.error().message += "; did you mean ssh:" + source.place + "?";
  }
  return text;
}

Result<Document> read_document(const Source& source) {
  GOLDENV_TRY(std::string text, read_text(source));
  const std::string name = source.kind == Source::Kind::input ? "standard input"
                           : source.kind == Source::Kind::git ? source.text
                                                              : source.place;
  if (const Result<void> fit = check_text(text, name); !fit) {
    return fit.error();
  }
  facts::SnapshotReader reader(name, text.size());
  doc::Parts parts{facts::SnapshotReader::kParts,
                   [&](doc::Node::Entry& fact) { reader.take(fact); }};
  auto parsed = doc::parse_parts(text, doc::guess_format(text), name, parts);
  if (!parsed) {
    return manifest::explain_syntax(std::move(parsed).error(), text, name);
  }
  doc::Node node = *std::move(parsed);
  Document document;
  document.name = name;
  document.mark = node.mark;
  if (facts::is_snapshot(node)) {
    GOLDENV_TRY(document.snapshot, std::move(reader).finish(node));
    document.snapshot.source = source.text;
    probe::redact(document.snapshot);
    return document;
  }
  if (node.is_mapping() && (node.find("goldenv") != nullptr || node.find("pins") != nullptr)) {
    document.kind = Document::Kind::manifest;
    GOLDENV_TRY(document.manifest, manifest::load(text, name, fetch_beside));
    redact(document.manifest);
    return document;
  }
  if (node.is_mapping() && node.find("snapshots") != nullptr) {
    document.kind = Document::Kind::snapshots;
    GOLDENV_TRY(document.several, several_of(node, name));
    return document;
  }
  return doc::error_at(name, node.mark,
                       "neither a snapshot (it has no goldenv_snapshot) nor a manifest (it has no "
                       "goldenv)");
}

bool is_manifest(const Source& source) {
  const Result<std::string> text = read_text(source);
  // Snapshots may be many and large; they say at once what they are.
  constexpr std::size_t kHeadBytes = 4096;
  if (!text || text->substr(0, kHeadBytes).find("goldenv_snapshot") != std::string::npos) {
    return false;
  }
  const Result<Document> document = read_document(source);
  return document && document->kind == Document::Kind::manifest;
}

Result<facts::Snapshot> look(const Source& source, const probe::Request& request) {
  switch (source.kind) {
    case Source::Kind::live: {
      if (!source.record.empty()) {
        return record(request, source.record);
      }
      const std::unique_ptr<host::Host> host = host::live_host();
      return look_at(*host, request, source.text);
    }
    case Source::Kind::tree: {
      Result<std::unique_ptr<host::Host>> host = host::tree_host(source.place);
      if (!host) {
        Error error = std::move(host).error();
        if (error.code == Errc::absent || error.code == Errc::unreadable) {
          error.code = Errc::usage;
        }
        if (!error.message.starts_with(source.place) && error.message.starts_with('/')) {
          // Of a file inside it, named as it is seen from there.
          error.message = source.text + ": " + error.message;
        }
        return error;
      }
      facts::Snapshot snapshot = look_at(**host, request, source.text);
      if (const Result<void> there = (*host)->still_there(); !there) {
        return there.error();
      }
      return snapshot;
    }
    case Source::Kind::image:
      return look_at_image(source.place, request, source.text);
    case Source::Kind::ssh:
      return look_at_ssh(source.place, request, source.text);
    case Source::Kind::pid: {
      const std::uint64_t pid = to_number(source.place).value_or(0);
      return look_at_process(host::process_host(host::live_host(), static_cast<std::uint32_t>(pid)),
                             request, source.text);
    }
    case Source::Kind::unit:
      return look_at_process(unit_host(host::live_host(), source.place), request, source.text);
    case Source::Kind::git:
    case Source::Kind::file:
    case Source::Kind::input:
      break;
  }
  GOLDENV_TRY(Document document, read_document(source));
  if (document.kind == Document::Kind::snapshots) {
    if (document.several.size() != 1) {
      return doc::error_at(document.name, document.mark,
                           std::to_string(document.several.size()) +
                               " snapshots; expected one here (scan, check and diff take several)");
    }
    return std::move(document.several.front());
  }
  return document.kind == Document::Kind::snapshot ? std::move(document.snapshot)
                                                   : snapshot_of(document.manifest, source.text);
}

Result<std::vector<facts::Snapshot>> look_all(const Source& source, const probe::Request& request) {
  std::vector<facts::Snapshot> all;
  if (!source.is_machine()) {
    GOLDENV_TRY(Document document, read_document(source));
    if (document.kind == Document::Kind::snapshots) {
      return std::move(document.several);
    }
    all.push_back(document.kind == Document::Kind::snapshot
                      ? std::move(document.snapshot)
                      : snapshot_of(document.manifest, source.text));
    return all;
  }
  GOLDENV_TRY(facts::Snapshot one, look(source, request));
  all.push_back(std::move(one));
  return all;
}

Result<manifest::Manifest> read_manifest(const Source& source) {
  GOLDENV_TRY(Document document, read_document(source));
  if (document.kind != Document::Kind::manifest) {
    return doc::error_at(document.name, document.mark,
                         "a snapshot; expected a manifest (goldenv lock makes one of it)");
  }
  return std::move(document.manifest);
}

std::string default_manifest() {
  // One that cannot be looked at is taken all the same: reading it says why, where passing it over
  // would check against another in silence.
  const auto may_be_there = [](const std::string& path) {
    std::error_code none;
    const std::filesystem::path whole = std::filesystem::absolute(path, none);
    const auto status = host::live_host()->status(whole.string());
    return status || status.error().code != Errc::absent;
  };
  const char* named = std::getenv("GOLDENV_MANIFEST");
  if (may_be_there("goldenv.yaml")) {
    return "goldenv.yaml";
  }
  if (named != nullptr && *named != '\0') {
    return named;
  }
  constexpr const char* kSystem = "/etc/goldenv/golden.yaml";
  return may_be_there(kSystem) ? kSystem : "";
}

facts::Snapshot snapshot_of(const manifest::Manifest& manifest, std::string source) {
  std::vector<facts::Fact> all;
  for (const manifest::Pin& pin : manifest.pins) {
    facts::Fact fact;
    fact.key = pin.key;
    fact.evidence.from = pin.file;
    fact.evidence.line = static_cast<std::uint32_t>(pin.mark.line);
    fact.evidence.basis = "pinned";
    switch (pin.want.kind) {
      case facts::Want::Kind::exact:
        fact.reading = pin.want.value;
        break;
      case facts::Want::Kind::absent:
        fact.reading = facts::Absent{"pinned as absent"};
        break;
      default:
        fact.reading = facts::Unknown{facts::Why::not_stated,
                                      "only wanted as " + facts::describe(pin.want), ""};
    }
    all.push_back(std::move(fact));
  }
  facts::Snapshot snapshot = facts::make_snapshot(std::move(source), {}, std::move(all));
  probe::redact(snapshot);
  return snapshot;
}

}  // namespace goldenv::source

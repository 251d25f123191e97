#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/url.h"
#include "doc/node.h"
#include "version/number.h"
#include "wheel/name.h"
#include "wheel/page.h"
#include "wheel/page_links.h"

namespace goldenv::wheel {
namespace {

using doc::Node;

// A file has a dozen values, and a page that is full has as many files as its limit allows.
constexpr std::size_t kNodesPerFile = 40;

bool is_string(const Node& node) { return node.is_scalar() && node.quoted; }
bool is_true(const Node& node) { return node.is_scalar() && !node.quoted && node.text == "true"; }
bool is_false(const Node& node) { return node.is_scalar() && !node.quoted && node.text == "false"; }

/// The value under a key, a null being none.
const Node* find(const Node& node, std::string_view key) {
  const Node* found = node.find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

/// A key's text; what is wrong goes into `fault`.
std::string text_of(const Node& node, std::string_view key, std::string& fault) {
  const Node* found = find(node, key);
  if (found == nullptr) return "";
  if (!is_string(*found)) fault = std::string(key) + " is no text";
  return found->text;
}

void take_metadata(const Node& node, PageFile& file, std::string& fault) {
  const Node* metadata = find(node, "core-metadata");
  if (metadata == nullptr) metadata = find(node, "dist-info-metadata");
  if (metadata == nullptr || is_false(*metadata)) return;
  if (is_true(*metadata)) {
    file.has_metadata = true;
    return;
  }
  if (!metadata->is_mapping()) {
    fault = "core-metadata is neither true, false nor digests";
    return;
  }
  const Node* sha256 = find(*metadata, "sha256");
  file.has_metadata = true;
  if (sha256 == nullptr) return;
  const Result<Sha256> digest = Sha256::parse(sha256->text);
  if (!digest) {
    fault = "the sha256 of core-metadata is no digest";
    return;
  }
  file.metadata_sha256 = *digest;
}

void take_yanked(const Node& node, PageFile& file, std::string& fault) {
  const Node* yanked = find(node, "yanked");
  if (yanked == nullptr || is_false(*yanked)) return;
  if (is_true(*yanked)) {
    file.yanked = "";
  } else if (is_string(*yanked)) {
    if (!yanked->text.empty()) file.yanked = yanked->text;
  } else {
    fault = "yanked is neither true, false nor a reason";
  }
}

/// What the page says of a file; empty `fault` where all of it is of its type.
OfferedLink link_of(const Node& node, std::string& fault) {
  OfferedLink link;
  link.href = text_of(node, "url", fault);
  link.file = text_of(node, "filename", fault);
  if (link.file.empty() && fault.empty()) fault = "no filename";
  if (link.href.empty() && fault.empty()) fault = "no url";
  PageFile& file = link.fields;
  const Node* hashes = find(node, "hashes");
  if (hashes == nullptr || !hashes->is_mapping()) {
    fault = "no hashes";
  } else {
    for (const Node::Entry& entry : hashes->entries) {
      if (!take_digest(entry.key, entry.value.text, file)) fault = "its sha256 is no digest";
    }
  }
  file.requires_python = std::string(trim(text_of(node, "requires-python", fault)));
  file.upload_time = text_of(node, "upload-time", fault);
  if (const Node* size = find(node, "size")) {
    file.size_bytes = size->quoted ? std::nullopt : to_number(size->text);
    if (!file.size_bytes) fault = "size is no number";
  }
  take_metadata(node, file, fault);
  take_yanked(node, file, fault);
  return link;
}

}  // namespace

Result<Page> parse_json_page(std::string_view text, std::string_view url,
                             const PageLimits& limits) {
  if (const auto fits = check_size(text, url, limits); !fits) return fits.error();
  const std::string name = mask_users(url);
  const doc::Limits bounds{
      .bytes = limits.bytes, .depth = 16, .nodes = (limits.files + 1000) * kNodesPerFile};
  GOLDENV_TRY(const Node root, doc::parse(text, doc::Format::json, name, bounds));
  const Node* meta = find(root, "meta");
  const Node* version = meta == nullptr ? nullptr : find(*meta, "api-version");
  if (version == nullptr) {
    return doc::error_at(name, root.mark, "no index page: it has no meta.api-version");
  }
  if (const auto fits = check_api_version(version->text, url); !fits) return fits.error();
  const Node* files = find(root, "files");
  if (files == nullptr || !files->is_sequence()) {
    return doc::error_at(name, root.mark, "no index page of a project: it has no list of files");
  }
  LinkCollector links(url, limits);
  links.page.api_version = version->text;
  if (const Node* project = find(root, "name")) {
    links.page.name = normalised_name(project->text);
  }
  if (const Node* versions = find(root, "versions")) {
    for (const Node& item : versions->items) {
      if (is_string(item)) links.page.versions.push_back(item.text);
    }
  }
  for (const Node& item : files->items) {
    std::string fault;
    OfferedLink link = link_of(item, fault);
    const auto taken = fault.empty() ? links.add(std::move(link))
                                     : links.skip(link.file.empty() ? link.href : link.file, fault);
    if (!taken) return taken.error();
  }
  return std::move(links.page);
}

Result<Page> parse_page(std::string_view text, std::string_view content_type, std::string_view url,
                        const PageLimits& limits) {
  const std::string type = to_lower(content_type.substr(0, content_type.find(';')));
  if (type.find("json") != std::string::npos) return parse_json_page(text, url, limits);
  if (type.find("html") != std::string::npos) return parse_html_page(text, url, limits);
  const std::string_view shown = trim(text);
  if (shown.starts_with('{')) return parse_json_page(text, url, limits);
  if (shown.starts_with('<')) return parse_html_page(text, url, limits);
  return Error{Errc::malformed,
               mask_users(url) + ": no index page: " +
                   (shown.empty() ? "it is empty"
                                  : "it begins with " + version::quoted(shown.substr(0, 20))),
               {}};
}

std::string project_url(std::string_view index, std::string_view name) {
  if (!is_name(name)) return "";
  std::string url(index);
  if (!url.ends_with('/')) url += '/';
  return url + normalised_name(name) + "/";
}

}  // namespace goldenv::wheel

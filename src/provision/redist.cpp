#include "provision/redist.h"

#include <algorithm>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"
#include "doc/node.h"
#include "provision/packages.h"
#include "provision/remembered.h"

namespace goldenv::provision {
namespace {

using doc::Node;

constexpr std::string_view kAccept = "application/json, */*;q=0.1";
constexpr std::string_view kPlainSigns = "-._~+";
constexpr std::size_t kNamesToTell = 8;

std::string file_of_url(const std::string& url) { return url.substr(url.rfind('/') + 1); }

Error missing(const RedistWish& wish, const std::string& what) {
  return {Errc::absent, file_of_url(wish.index) + " " + what, {}};
}

Error wrong(const RedistWish& wish, const std::string& what) {
  return {Errc::malformed, file_of_url(wish.index) + ": " + what, {}};
}

/// "a, b, c" of the mappings below a node that begin in some way, the first few.
std::string names_below(const Node& node, std::string_view begin) {
  std::vector<std::string> names;
  for (const Node::Entry& entry : node.entries) {
    if (entry.value.is_mapping() && entry.key.starts_with(begin)) {
      names.push_back(shortened(entry.key, 40));
    }
  }
  const bool is_more = names.size() > kNamesToTell;
  names.resize(std::min(names.size(), kNamesToTell));
  return join(names, ", ") + (is_more ? ", ..." : "");
}

/// Whether a path of an index leads from the index's folder downwards, in signs that a URL needs
/// no escapes for.
bool is_plain_path(std::string_view path) {
  for (const std::string_view part : split(path, '/')) {
    const bool plain = std::ranges::all_of(part, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             kPlainSigns.find(c) != std::string_view::npos;
    });
    if (part.empty() || part == "." || part == ".." || !plain) {
      return false;
    }
  }
  return true;
}

bool is_archive(const Node& node) { return node.find("relative_path") != nullptr; }

/// The archive of a platform: below its variant, or without that level. One object may have both
/// (cuDNN 9.27.0): what is asked for by name goes first.
Result<const Node*> archive_of(const Node& platform, const std::string& part,
                               const RedistWish& wish) {
  const Node* const variant = wish.variant.empty() ? nullptr : platform.find(wish.variant);
  if (variant != nullptr && variant->is_mapping()) {
    return variant;
  }
  if (is_archive(platform)) {
    return &platform;
  }
  const auto is_level = [](const Node::Entry& entry) { return entry.value.is_mapping(); };
  if (wish.variant.empty() && std::ranges::count_if(platform.entries, is_level) == 1) {
    return &std::ranges::find_if(platform.entries, is_level)->value;
  }
  return missing(wish, "has " + part + " for " + wish.platform + " as " +
                           names_below(platform, "") + ", not " +
                           (wish.variant.empty() ? "in one form" : "as " + wish.variant));
}

bool is_version_wanted(const std::string& version, const std::string& wanted) {
  return wanted.empty() || version == wanted || version.starts_with(wanted + ".");
}

Result<RedistPart> part_of(const Node& index, const std::string& name, const RedistWish& wish) {
  const Node* const component = index.find(name);
  if (component == nullptr || !component->is_mapping()) {
    const std::string alike = names_below(index, name.substr(0, name.find('_')));
    return missing(wish,
                   "has no part " + name + (alike.empty() ? "" : " (there is " + alike + ")"));
  }
  RedistPart part;
  part.name = name;
  part.version = text_at(*component, "version");
  if (!is_version_wanted(part.version, wish.version)) {
    return missing(wish,
                   "has " + name + " " + shortened(part.version, 40) + ", not " + wish.version);
  }
  const Node* const platform = component->find(wish.platform);
  if (platform == nullptr || !platform->is_mapping()) {
    return missing(wish, "has no " + name + " for " + wish.platform + " (there is " +
                             names_below(*component, "") + ")");
  }
  GOLDENV_TRY(const Node* const archive, archive_of(*platform, name, wish));
  const std::string path = text_at(*archive, "relative_path");
  const auto digest = Sha256::parse(text_at(*archive, "sha256"));
  if (part.version.empty() || !is_plain_path(path) || !digest) {
    return wrong(wish, name + " for " + wish.platform + " has no " +
                           (part.version.empty() ? "version"
                            : digest             ? "path below the index"
                                                 : "sha256"));
  }
  part.url = wish.index.substr(0, wish.index.rfind('/') + 1) + path;
  part.sha256 = digest->hex();
  part.size_bytes = to_number(text_at(*archive, "size"));  // a text in all that were ever served
  return part;
}

std::string question_of(const RedistWish& wish) {
  return "redist 1\n" + wish.index + "\n" + join(wish.parts, " ") + "\n" + wish.platform + " " +
         wish.variant + "\n" + wish.version + "\n" + wish.context;
}

Node answer_of(const RedistParts& parts) {
  std::vector<Node> items;
  for (const RedistPart& part : parts) {
    Node item;
    put(item, "name", text_node(part.name));
    put(item, "version", text_node(part.version));
    put(item, "url", text_node(part.url));
    put(item, "sha256", text_node(part.sha256));
    if (part.size_bytes) {
      put(item, "size_bytes", number_node(*part.size_bytes));
    }
    items.push_back(std::move(item));
  }
  Node node;
  put(node, "parts", Node::sequence(std::move(items)));
  return node;
}

Result<RedistParts> answer_to(const RedistWish& wish, const std::string& id,
                              const RealiseReply& reply) {
  const auto got = std::ranges::find(reply.got, id, &Got::id);
  if (got == reply.got.end()) {
    const auto refused = std::ranges::find_if(
        reply.refused, [&](const Refused& one) { return one.id == id || one.id.empty(); });
    return refused != reply.refused.end() ? refused->error
                                          : Error{Errc::failed, "no answer from " + wish.index, {}};
  }
  if (got->status == 404 || got->status == 410) {
    return Error{Errc::absent, "there is no " + file_of_url(wish.index), {}};
  }
  if (got->status >= 400) {
    return Error{
        Errc::failed,
        file_of_url(wish.index) + ": the server answers with status " + std::to_string(got->status),
        {}};
  }
  return parse_redist(got->body, wish);
}

}  // namespace

Result<RedistParts> parse_redist(std::string_view text, const RedistWish& wish) {
  GOLDENV_TRY(const Node index, doc::parse(text, doc::Format::json, file_of_url(wish.index)));
  if (!index.is_mapping()) {
    return wrong(wish, "no index of NVIDIA's: no mapping");
  }
  RedistParts parts;
  for (const std::string& name : wish.parts) {
    GOLDENV_TRY(RedistPart part, part_of(index, name, wish));
    parts.push_back(std::move(part));
  }
  return parts;
}

std::optional<RedistParts> remembered_redist(const RedistWish& wish, const store::Store& store) {
  const auto answer = recall(store, question_of(wish));
  const Node* const items = answer ? answer->find("parts") : nullptr;
  if (items == nullptr || items->items.size() != wish.parts.size()) {
    return std::nullopt;
  }
  RedistParts parts;
  for (const Node& item : items->items) {
    RedistPart part{text_at(item, "name"), text_at(item, "version"), text_at(item, "url"),
                    text_at(item, "sha256"), number_at(item, "size_bytes")};
    if (part.name != wish.parts[parts.size()] || part.url.empty() || part.version.empty() ||
        !Sha256::parse(part.sha256)) {
      return std::nullopt;
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<std::vector<Result<RedistParts>>> ask_redist(const std::vector<RedistWish>& wishes,
                                                    const Network& network,
                                                    const store::Store& store) {
  std::vector<Result<RedistParts>> answers;
  if (wishes.empty()) {
    return answers;
  }
  RealiseRequest request;
  request.store = store.folder();
  request.network = network;
  for (const RedistWish& wish : wishes) {
    if (Result<void> checked = check_origin(wish.index, {}); !checked) {
      return std::move(checked).error();
    }
    // One index serves several components.
    if (std::ranges::find(request.get, wish.index, &Get::id) == request.get.end()) {
      request.get.push_back({wish.index, wish.index, std::string(kAccept)});
    }
  }
  GOLDENV_TRY(const RealiseReply reply, realise(request, {}));
  for (const RedistWish& wish : wishes) {
    answers.push_back(answer_to(wish, wish.index, reply));
    if (const auto& answer = answers.back()) {
      remember(store, question_of(wish), answer_of(*answer));
    }
  }
  return answers;
}

}  // namespace goldenv::provision

#include "image/description.h"

#include <algorithm>

#include "base/text.h"
#include "doc/node.h"

namespace goldenv::image {
namespace {

constexpr std::size_t kManifestLimit = 10'000;  // in one index
constexpr std::size_t kLayerLimit = 1'000;      // overlayfs takes 500, Docker 127

using doc::Node;

std::string word(const Node& node, std::string_view key) {
  const Node* value = node.find(key);
  return value != nullptr && value->is_scalar() ? value->text : std::string();
}

Error expected(const std::string& name, const Node& node, std::string_view what) {
  return doc::error_at(name, node.mark, "expected " + std::string(what));
}

Result<Node> document(std::string_view text, const std::string& name) {
  GOLDENV_TRY(Node node, doc::parse(text, doc::Format::json, name));
  return node;
}

Platform platform_of(const Node& node) {
  return {word(node, "os"), word(node, "architecture"), word(node, "variant")};
}

Result<Reference> reference_of(const Node& node, const std::string& name) {
  Reference reference;
  reference.media_type = word(node, "mediaType");
  reference.digest = word(node, "digest");
  if (!node.is_mapping() || !is_digest(reference.digest)) {
    return expected(name, node, "a descriptor with a digest such as sha256:9f86d081...");
  }
  const auto size = to_number(word(node, "size"));
  if (!size) {
    return expected(name, node, "a descriptor with a size");
  }
  reference.size_bytes = *size;
  if (const Node* platform = node.find("platform"); platform != nullptr) {
    reference.platform = platform_of(*platform);
  }
  if (const Node* notes = node.find("annotations"); notes != nullptr && notes->is_mapping()) {
    // The second is containerd's and Docker's, a full name where the first may be a tag alone.
    for (const std::string_view key :
         {"io.containerd.image.name", "org.opencontainers.image.ref.name"}) {
      std::string text = word(*notes, key);
      if (!text.empty() && std::ranges::find(reference.names, text) == reference.names.end()) {
        reference.names.push_back(std::move(text));
      }
    }
    reference.is_attestation = word(*notes, "vnd.docker.reference.type") == "attestation-manifest";
  }
  return reference;
}

Result<std::vector<Reference>> references_of(const Node& list, std::size_t limit,
                                             const std::string& name) {
  if (!list.is_sequence() || list.items.size() > limit) {
    return expected(name, list, "a list of at most " + std::to_string(limit) + " descriptors");
  }
  std::vector<Reference> references;
  for (const Node& item : list.items) {
    GOLDENV_TRY(Reference reference, reference_of(item, name));
    references.push_back(std::move(reference));
  }
  return references;
}

/// A list of texts; none where there is no such field, or null, which Go writes for no list.
Result<std::vector<std::string>> texts_of(const Node& node, std::string_view key,
                                          const std::string& name) {
  std::vector<std::string> texts;
  const Node* list = node.find(key);
  if (list == nullptr || list->is_null()) {
    return texts;
  }
  if (!list->is_sequence()) {
    return expected(name, *list, "a list of texts");
  }
  for (const Node& item : list->items) {
    if (!item.is_scalar()) {
      return expected(name, item, "a text");
    }
    texts.push_back(item.text);
  }
  return texts;
}

bool is_hexadecimal(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

std::string Platform::text() const {
  std::string text = os;
  for (const std::string& part : {architecture, variant}) {
    text += part.empty() ? "" : (text.empty() ? "" : "/") + part;
  }
  return text;
}

bool is_digest(std::string_view text) {
  constexpr std::string_view kSha256 = "sha256:";
  return text.starts_with(kSha256) && text.size() == kSha256.size() + 64 &&
         is_hexadecimal(text.substr(kSha256.size()));
}

Result<Description> parse_description(std::string_view text, const std::string& name) {
  GOLDENV_TRY(const Node node, document(text, name));
  Description description;
  if (const Node* manifests = node.find("manifests"); manifests != nullptr) {
    GOLDENV_TRY(description.manifests, references_of(*manifests, kManifestLimit, name));
    return description;
  }
  const Node* config = node.find("config");
  const Node* layers = node.find("layers");
  if (config == nullptr || layers == nullptr) {
    return expected(name, node, "an image index (manifests) or manifest (config, layers)");
  }
  description.kind = Description::Kind::manifest;
  GOLDENV_TRY(description.config, reference_of(*config, name));
  GOLDENV_TRY(description.layers, references_of(*layers, kLayerLimit, name));
  return description;
}

Result<Config> parse_config(std::string_view text, const std::string& name) {
  GOLDENV_TRY(const Node node, document(text, name));
  const Node* files = node.find("rootfs");
  if (files == nullptr || !files->is_mapping()) {
    return expected(name, node, "the configuration of an image of a root file system (rootfs)");
  }
  Config config;
  config.platform = platform_of(node);
  GOLDENV_TRY(config.diff_ids, texts_of(*files, "diff_ids", name));
  for (std::size_t i = 0; i < config.diff_ids.size(); ++i) {
    if (!is_digest(config.diff_ids[i])) {
      return expected(name, files->find("diff_ids")->items[i],
                      "the digest of a layer (diff_ids) such as sha256:9f86d081...");
    }
  }
  const Node* inner = node.find("config");
  if (inner == nullptr || inner->is_null()) {
    return config;
  }
  if (!inner->is_mapping()) {
    return expected(name, *inner, "a mapping");
  }
  GOLDENV_TRY(config.environment, texts_of(*inner, "Env", name));
  const Node* labels = inner->find("Labels");
  if (labels != nullptr && labels->is_mapping()) {
    for (const Node::Entry& label : labels->entries) {
      if (label.value.is_scalar()) {
        config.labels.emplace(label.key, label.value.text);
      }
    }
  }
  return config;
}

Result<std::vector<SavedImage>> parse_saved(std::string_view text, const std::string& name) {
  GOLDENV_TRY(const Node node, document(text, name));
  if (!node.is_sequence() || node.items.size() > kManifestLimit) {
    return expected(name, node, "a list of images (Config, RepoTags, Layers)");
  }
  std::vector<SavedImage> images;
  for (const Node& item : node.items) {
    SavedImage image;
    image.config = word(item, "Config");
    if (!item.is_mapping() || image.config.empty()) {
      return expected(name, item, "an image with its Config");
    }
    GOLDENV_TRY(image.names, texts_of(item, "RepoTags", name));
    GOLDENV_TRY(image.layers, texts_of(item, "Layers", name));
    if (image.layers.size() > kLayerLimit) {
      return expected(name, item, "at most " + std::to_string(kLayerLimit) + " layers");
    }
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace goldenv::image

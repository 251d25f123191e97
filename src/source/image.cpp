#include "source/image.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "image/image_host.h"

namespace goldenv::source {
namespace {

constexpr std::string_view kKey = "image.id";

/// Whether a request takes in what no probe knows.
bool wants_id(const probe::Request& request) {
  const auto is_id = [](const facts::FactKey& key) { return key.name == kKey; };
  const bool named = std::ranges::any_of(request.named, is_id);
  return named || (!request.only_named &&
                   (request.selection.empty() || request.selection.selects(kKey, "")));
}

facts::Fact id_fact(const image::Image& image, const std::string& place) {
  facts::Fact fact;
  fact.key = {std::string(kKey), ""};
  fact.reading = facts::Value::scalar(image.id);
  fact.evidence.from = place;
  fact.evidence.basis = "read";
  std::vector<std::string>& notes = fact.evidence.notes;
  if (!image.name.empty()) {
    notes.push_back("named " + image.name);
  }
  if (const std::string platform = image.config.platform.text(); !platform.empty()) {
    notes.push_back("for " + platform);
  }
  // What a builder says of the image below; nothing proves it.
  for (const std::string_view label :
       {"org.opencontainers.image.base.name", "org.opencontainers.image.base.digest"}) {
    const auto it = image.config.labels.find(std::string(label));
    if (it != image.config.labels.end()) {
      notes.push_back(std::string(label) + " " + it->second);
    }
  }
  return fact;
}

/// "FILE" and "NAME" of "FILE#NAME".
std::pair<std::string, std::string> split_place(const std::string& place) {
  std::error_code none;
  const std::size_t hash = place.rfind('#');
  if (hash == std::string::npos || std::filesystem::exists(place, none)) {
    return {place, ""};
  }
  return {place.substr(0, hash), place.substr(hash + 1)};
}

}  // namespace

Result<facts::Snapshot> look_at_image(const std::string& place, const probe::Request& request,
                                      const std::string& name) {
  const auto [file, wanted] = split_place(place);
  GOLDENV_TRY(const std::unique_ptr<image::ImageHost> host, image::open(file, wanted));
  while (true) {
    facts::Snapshot snapshot = probe::look(*host, request, name);
    GOLDENV_TRY(const bool again, host->fetch());
    if (again) {
      continue;
    }
    if (!wants_id(request)) {
      return snapshot;
    }
    std::vector<facts::Fact> all = std::move(snapshot.facts);
    all.push_back(id_fact(host->image(), file));
    return facts::make_snapshot(name, std::move(snapshot.listed), std::move(all));
  }
}

}  // namespace goldenv::source

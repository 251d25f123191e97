#include "image/choice.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/sha256.h"
#include "base/text.h"

namespace goldenv::image {
namespace {

constexpr std::size_t kTextLimitBytes = 8u << 20;
constexpr int kIndexDepth = 4;
constexpr std::size_t kCandidateLimit = 10'000;
constexpr std::size_t kShownLimit = 12;
constexpr std::size_t kShortestDigest = 7;  // of what a person would write
constexpr std::string_view kSha256 = "sha256:";

/// An image before its layers are looked for.
struct Candidate {
  std::size_t group = 0;  ///< of one entry of the outermost index: the same image
  std::vector<std::string> names;
  std::vector<std::string> digests;  ///< of the manifest and of those above it
  Platform platform;
  std::optional<SavedImage> saved;  ///< of a `docker save` of old
};

Error refuse(const Package& package, const std::string& what) {
  return {Errc::malformed, package.path() + ": " + what, {}};
}

std::string blob_of(const std::string& digest) {
  std::string path = "blobs/" + digest;
  path[path.find(':')] = '/';
  return path;
}

/// The text of a blob, if its bytes are those that its digest stands for.
Result<std::string> blob_text(const Package& package, const std::string& digest) {
  GOLDENV_TRY(std::string text, package.text(blob_of(digest), kTextLimitBytes));
  if (digest != std::string(kSha256) + Sha256::of(text).hex()) {
    return refuse(package, blob_of(digest) + " does not have the digest that its name says");
  }
  return text;
}

void add_names(std::vector<std::string>& names, const std::vector<std::string>& more) {
  for (const std::string& name : more) {
    if (std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  }
}

/// Which entries of the outermost index are of one image: those of the same name, or of none, that
/// are for different platforms.
std::vector<std::size_t> groups_of(const std::vector<Reference>& entries) {
  struct Group {
    std::size_t number = 0;
    std::set<std::string> platforms;
  };
  std::map<std::vector<std::string>, Group> known;
  std::vector<std::size_t> groups;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string platform = entries[i].platform.text();
    groups.push_back(i);
    if (platform.empty() || entries[i].is_attestation) {
      continue;
    }
    Group& group = known.try_emplace(entries[i].names, Group{i, {}}).first->second;
    if (group.platforms.insert(platform).second) {
      groups.back() = group.number;
    }
  }
  return groups;
}

/// Looks through an index and those in it.
class Gathering {
 public:
  explicit Gathering(const Package& package) : package_(package) {}

  Result<std::vector<Candidate>> all() {
    GOLDENV_TRY(const std::string text, package_.text("index.json", kTextLimitBytes));
    GOLDENV_TRY(const Description top, parse_description(text, package_.path() + ":index.json"));
    if (top.kind == Description::Kind::manifest) {
      return refuse(package_, "its index.json is a manifest; expected an index");
    }
    const std::vector<std::size_t> groups = groups_of(top.manifests);
    for (std::size_t i = 0; i < top.manifests.size(); ++i) {
      Candidate from;
      from.group = groups[i];
      const bool is_one_of_several = std::ranges::count(groups, groups[i]) > 1;
      if (const Result<void> added = add(top.manifests[i], from, is_one_of_several ? 1 : 0);
          !added) {
        return added.error();
      }
    }
    return std::move(found_);
  }

 private:
  Result<void> add(const Reference& reference, Candidate from, int depth) {
    if (reference.is_attestation) {
      return {};
    }
    if (depth > kIndexDepth || ++seen_ > kCandidateLimit) {
      return refuse(package_, "its indexes lie too deep in one another");
    }
    add_names(from.names, reference.names);
    from.digests.push_back(reference.digest);
    if (!reference.platform.text().empty()) {
      from.platform = reference.platform;
    }
    // Of an image for many platforms mostly one has its blobs in the archive.
    if (!package_.has(blob_of(reference.digest)) && depth > 0) {
      return {};
    }
    GOLDENV_TRY(const std::string text, blob_text(package_, reference.digest));
    GOLDENV_TRY(const Description description,
                parse_description(text, package_.path() + ":" + blob_of(reference.digest)));
    if (description.kind == Description::Kind::index) {
      for (const Reference& inner : description.manifests) {
        if (const Result<void> added = add(inner, from, depth + 1); !added) {
          return added;
        }
      }
      return {};
    }
    // Two names of one image are two entries.
    for (Candidate& known : found_) {
      if (known.digests.back() == from.digests.back()) {
        add_names(known.names, from.names);
        return {};
      }
    }
    from.digests.insert(from.digests.begin(), description.config.digest);
    found_.push_back(std::move(from));
    return {};
  }

  const Package& package_;
  std::vector<Candidate> found_;
  std::size_t seen_ = 0;
};

Result<std::vector<Candidate>> candidates_of(const Package& package) {
  if (package.has("index.json")) {
    return Gathering(package).all();
  }
  if (!package.has("manifest.json")) {
    return Error{Errc::usage,
                 package.path() +
                     " is no archive of an image: neither index.json (an OCI layout) nor "
                     "manifest.json (docker save) is in it",
                 {}};
  }
  GOLDENV_TRY(const std::string text, package.text("manifest.json", kTextLimitBytes));
  GOLDENV_TRY(std::vector<SavedImage> saved, parse_saved(text, package.path() + ":manifest.json"));
  std::vector<Candidate> all;
  for (SavedImage& image : saved) {
    Candidate candidate;
    candidate.group = all.size();
    candidate.names = image.names;
    candidate.saved = std::move(image);
    all.push_back(std::move(candidate));
  }
  return all;
}

/// Whether `wanted` is the beginning of a digest.
bool begins(const std::string& digest, std::string_view wanted) {
  const bool whole = digest.starts_with(wanted) && wanted.size() > kSha256.size();
  return whole || (wanted.size() >= kShortestDigest &&
                   std::string_view(digest).substr(digest.find(':') + 1).starts_with(wanted));
}

bool fits(const Candidate& candidate, std::string_view wanted) {
  // "app:1" is said of docker.io/library/app:1.
  const auto is_named = [&](const std::string& name) {
    return name == wanted || name.ends_with("/" + std::string(wanted));
  };
  return std::ranges::any_of(candidate.names, is_named) || candidate.platform.text() == wanted ||
         std::ranges::any_of(candidate.digests,
                             [&](const std::string& digest) { return begins(digest, wanted); });
}

std::string word_for(const Candidate& candidate) {
  if (!candidate.names.empty()) {
    return candidate.names.front();
  }
  return candidate.digests.empty() ? "(without a name)"
                                   : candidate.digests.front().substr(0, kSha256.size() + 12);
}

std::string list_of(const std::vector<Candidate>& candidates) {
  std::vector<std::string> words;
  for (const Candidate& candidate : candidates) {
    const std::string platform = candidate.platform.text();
    std::string word = word_for(candidate) + (platform.empty() ? "" : " (" + platform + ")");
    if (words.size() == kShownLimit) {
      words.emplace_back("...");
      break;
    }
    words.push_back(std::move(word));
  }
  return join(words, ", ");
}

/// The digest of a configuration of `docker save` is worked out; of the others it is known.
Result<void> add_saved_digests(const Package& package, std::vector<Candidate>& all) {
  for (Candidate& candidate : all) {
    if (candidate.saved) {
      GOLDENV_TRY(const std::string text, package.text(candidate.saved->config, kTextLimitBytes));
      candidate.digests = {std::string(kSha256) + Sha256::of(text).hex()};
    }
  }
  return {};
}

Result<Candidate> pick(const Package& package, std::vector<Candidate> all,
                       std::string_view wanted) {
  if (all.empty()) {
    return refuse(package, "there is no image in it");
  }
  if (const Result<void> known = add_saved_digests(package, all); !known) {
    return known.error();
  }
  std::vector<Candidate> fitting;
  for (const Candidate& candidate : all) {
    if (wanted.empty() || fits(candidate, wanted)) {
      fitting.push_back(candidate);
    }
  }
  if (fitting.empty()) {
    return Error{
        Errc::usage,
        "no image " + std::string(wanted) + " in " + package.path() + "; in it are " + list_of(all),
        {}};
  }
  const auto several = [&](const std::vector<Candidate>& these, std::string_view of) {
    return Error{Errc::usage,
                 package.path() + " holds several " + std::string(of) + ": " + list_of(these) +
                     "; name one behind a #: image:" + package.path() + "#" +
                     (of == "images" ? word_for(these.front()) : these.front().platform.text()),
                 {}};
  };
  if (std::ranges::any_of(fitting, [&](const Candidate& candidate) {
        return candidate.group != fitting.front().group;
      })) {
    return several(fitting, "images");
  }
  if (fitting.size() == 1) {
    return fitting.front();
  }
  std::vector<Candidate> usual;
  std::ranges::copy_if(fitting, std::back_inserter(usual), [](const Candidate& candidate) {
    return candidate.platform.os == "linux" && candidate.platform.architecture == "amd64";
  });
  return usual.empty() ? Result<Candidate>(several(fitting, "platforms")) : usual.front();
}

Result<Layer> layer_of(const Package& package, const std::string& member, std::size_t number) {
  Layer layer;
  layer.name = package.path() + ": layer " + std::to_string(number + 1);
  Result<archive::Part> part = package.find(member);
  if (!part) {
    return std::move(part).error().while_doing("looking for " + layer.name);
  }
  layer.part = *part;
  return layer;
}

/// Holds the configuration to the layers, and each layer to what the configuration states of it.
Result<void> add_config(const Package& package, Image& image) {
  const Platform& platform = image.config.platform;
  if (!platform.os.empty() && platform.os != "linux") {
    return Error{
        Errc::usage,
        package.path() + " is an image for " + platform.text() + "; only those for Linux are read",
        {}};
  }
  if (image.config.diff_ids.size() != image.layers.size()) {
    return refuse(package, "its configuration names " +
                               std::to_string(image.config.diff_ids.size()) +
                               " layers, its manifest " + std::to_string(image.layers.size()));
  }
  for (std::size_t i = 0; i < image.layers.size(); ++i) {
    image.layers[i].diff_id = image.config.diff_ids[i];
  }
  return {};
}

Result<Image> saved_image(const Package& package, const Candidate& candidate) {
  Image image;
  image.id = candidate.digests.front();
  GOLDENV_TRY(const std::string text, package.text(candidate.saved->config, kTextLimitBytes));
  GOLDENV_TRY(image.config, parse_config(text, package.path() + ":" + candidate.saved->config));
  for (const std::string& member : candidate.saved->layers) {
    GOLDENV_TRY(Layer layer, layer_of(package, member, image.layers.size()));
    image.layers.push_back(std::move(layer));
  }
  if (const Result<void> fit = add_config(package, image); !fit) {
    return fit.error();
  }
  return image;
}

Result<Image> oci_image(const Package& package, const Candidate& candidate) {
  const std::string& digest = candidate.digests.back();
  GOLDENV_TRY(const std::string text, blob_text(package, digest));
  GOLDENV_TRY(const Description manifest,
              parse_description(text, package.path() + ":" + blob_of(digest)));
  Image image;
  image.id = manifest.config.digest;
  GOLDENV_TRY(const std::string config, blob_text(package, image.id));
  GOLDENV_TRY(image.config, parse_config(config, package.path() + ":" + blob_of(image.id)));
  for (const Reference& reference : manifest.layers) {
    if (reference.media_type.ends_with("+encrypted")) {
      return refuse(package, "its layers are encrypted");
    }
    GOLDENV_TRY(Layer layer, layer_of(package, blob_of(reference.digest), image.layers.size()));
    layer.digest = reference.digest;
    image.layers.push_back(std::move(layer));
  }
  if (const Result<void> fit = add_config(package, image); !fit) {
    return fit.error();
  }
  return image;
}

}  // namespace

Result<Image> choose(const Package& package, std::string_view wanted) {
  GOLDENV_TRY(std::vector<Candidate> all, candidates_of(package));
  GOLDENV_TRY(const Candidate candidate, pick(package, std::move(all), wanted));
  GOLDENV_TRY(Image image,
              candidate.saved ? saved_image(package, candidate) : oci_image(package, candidate));
  image.name = candidate.names.empty() ? "" : candidate.names.front();
  return image;
}

}  // namespace goldenv::image

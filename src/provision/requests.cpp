#include "provision/requests.h"

#include <algorithm>

#include "base/text.h"
#include "provision/debs.h"
#include "wheel/name.h"
#include "wheel/tags.h"

namespace goldenv::provision {
namespace {

std::string file_of_url(const std::string& url) { return url.substr(url.rfind('/') + 1); }

/// How an archive is packed, by its name; "" where goldenv cannot unpack it.
std::string archive_kind(std::string_view url) {
  if (url.ends_with(".zip")) {
    return "zip";
  }
  for (const std::string_view end : {".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.zst"}) {
    if (url.ends_with(end)) {
      return "tar";
    }
  }
  return url.ends_with(".deb") ? "deb" : "";
}

/// A layout as goldenv-realise takes it for archives, whose tree is the environment's: `data` is
/// its top, `site` the folder of the interpreter's packages.
std::vector<recipe::Layout> placed(const std::vector<recipe::Layout>& layout,
                                   const Interpreter& interpreter) {
  const std::string site = "lib/python" + interpreter.minor + "/site-packages";
  std::vector<recipe::Layout> place = layout;
  for (recipe::Layout& one : place) {
    const std::size_t slash = one.to.find('/');
    const std::string first = one.to.substr(0, slash);
    const std::string rest = slash == std::string::npos ? "" : one.to.substr(slash + 1);
    if (first == "data") {
      one.to = rest.empty() ? "." : rest;
    } else if (first == "site") {
      one.to = site + (rest.empty() ? "" : "/" + rest);
    }
  }
  return place;
}

}  // namespace

ObjectRequest request_for(const Component& component) {
  ObjectRequest request;
  request.id = component.key + " " + component.version;
  request.environment = component.recipe->environment;
  request.unfold = component.recipe->unfold;
  request.copy = component.recipe->place == recipe::Place::copy;
  return request;
}

std::string name_for(const Component& component) {
  return component.recipe->is_generic() ? component.key : component.recipe->component;
}

std::string called(const recipe::Source& source) {
  const std::string& what = !source.name.empty()        ? source.name
                            : source.components.empty() ? source.url
                                                        : source.components.front();
  return std::string(recipe::name(source.kind)) + " " + what;
}

ObjectRequest from_wheel(const Component& component, const PackageFile& file,
                         const Interpreter& interpreter) {
  ObjectRequest request = request_for(component);
  request.kind = "wheel";
  request.name = wheel::escaped_name(file.project);
  request.version = file.version;
  request.file = file.file;
  request.urls = {file.url};
  request.sha256 = file.sha256;
  request.size_bytes = file.size_bytes;
  request.python = wheel::abi_tag(interpreter.target);
  return request;
}

std::optional<ObjectRequest> from_archive(const Component& component, const recipe::Source& source,
                                          const Interpreter& interpreter) {
  const bool whole = (source.kind == recipe::Kind::archive || source.kind == recipe::Kind::deb) &&
                     !source.url.empty() && source.sha256.size() == 1;
  const std::string kind = whole ? archive_kind(source.url) : "";
  if (kind.empty()) {
    return std::nullopt;
  }
  ObjectRequest request = request_for(component);
  request.kind = kind;
  request.name = name_for(component);
  request.version = component.version;
  request.file = file_of_url(source.url);
  request.urls = {source.url};
  request.sha256 = source.sha256.begin()->second;
  request.strip = source.strip;
  request.place = kind == "deb" ? deb_layout(interpreter) : placed(source.layout, interpreter);
  return request;
}

ObjectRequest from_redist(const Component& component, const recipe::Source& source,
                          const RedistPart& part, bool alone, const Interpreter& interpreter) {
  ObjectRequest request = request_for(component);
  if (!alone) {
    request.id += " (" + part.name + ")";
  }
  request.kind = archive_kind(part.url) == "zip" ? "zip" : "tar";
  request.name = alone ? name_for(component) : part.name;
  request.version = alone ? component.version : part.version;
  request.file = file_of_url(part.url);
  request.urls = {part.url};
  request.sha256 = part.sha256;
  request.size_bytes = part.size_bytes;
  request.strip = source.strip;
  request.place = placed(source.layout, interpreter);
  return request;
}

RedistWish redist_wish(const Component& component, const recipe::Source& source,
                       const Interpreter& interpreter) {
  const wheel::Target& target = interpreter.target;
  RedistWish wish;
  wish.index = source.url;
  wish.parts = source.components;
  wish.platform = recipe::fill("{arch.nvidia}", {{"arch", target.machine}}).value_or("");
  wish.variant = source.variant;
  // Where the index is not of the component's own version, its part must be it: the index of
  // CUDA 12.1.1 has one libcudart.
  const bool of_version = source.url.ends_with("redistrib_" + component.version + ".json");
  if (!of_version && source.components.size() == 1) {
    wish.version = component.version;
  }
  // It is asked where no wheel is for this Python, so what was found holds for it.
  wish.context = component.key + " " + component.version + "\n" + interpreter.version + " " +
                 wheel::abi_tag(target) + " glibc " + std::to_string(target.glibc_major) + "." +
                 std::to_string(target.glibc_minor);
  return wish;
}

const recipe::Source* source_of(const Component& component, recipe::Kind kind) {
  const auto& sources = component.expansion.sources;
  const auto at = std::ranges::find(sources, kind, &recipe::Source::kind);
  return at == sources.end() ? nullptr : &*at;
}

}  // namespace goldenv::provision

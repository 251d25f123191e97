#include "realise/request.h"

#include <algorithm>
#include <initializer_list>

#include "base/text.h"
#include "doc/node.h"
#include "fetch/place.h"

namespace goldenv::realise {
namespace {

using doc::Node;

constexpr std::string_view kName = "request";
constexpr std::uint64_t kMost = std::uint64_t{1} << 62;

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

/// The values of one mapping; the first that is wrong is kept, and all after it are empty.
class Reader {
 public:
  Reader(const Node& node, std::optional<Error>& error) : node_(node), error_(error) {}

  /// Refuses keys other than these.
  void allow(std::initializer_list<std::string_view> keys) {
    if (!node_.is_mapping()) {
      refuse(node_, "a mapping was expected");
      return;
    }
    for (const Node::Entry& entry : node_.entries) {
      if (std::find(keys.begin(), keys.end(), entry.key) == keys.end()) {
        fail(entry.mark, "'" + shortened(entry.key) + "' is no known key");
      }
    }
  }

  std::string text(std::string_view key, bool needed = false) {
    const Node* node = find(key, needed);
    if (node == nullptr) {
      return "";
    }
    if (!node->is_scalar() || !node->quoted || node->text.find('\0') != std::string::npos) {
      refuse(*node, "'" + std::string(key) + "' is no text");
      return "";
    }
    return node->text;
  }

  std::uint64_t number(std::string_view key, std::uint64_t fallback, std::uint64_t most = kMost) {
    return optional_number(key, most).value_or(fallback);
  }

  std::optional<std::uint64_t> optional_number(std::string_view key, std::uint64_t most = kMost) {
    const Node* node = find(key, false);
    if (node == nullptr) {
      return std::nullopt;
    }
    const auto value = node->is_scalar() && !node->quoted ? to_number(node->text) : std::nullopt;
    if (!value || *value > most) {
      refuse(*node, "'" + std::string(key) + "' is no number from 0 to " + std::to_string(most));
      return std::nullopt;
    }
    return value;
  }

  bool flag(std::string_view key, bool fallback) {
    const Node* node = find(key, false);
    if (node == nullptr) {
      return fallback;
    }
    if (!node->is_scalar() || node->quoted || (node->text != "true" && node->text != "false")) {
      refuse(*node, "'" + std::string(key) + "' is neither true nor false");
      return fallback;
    }
    return node->text == "true";
  }

  const std::vector<Node>& items(std::string_view key) {
    static const std::vector<Node> kNone;
    const Node* node = find(key, false);
    if (node != nullptr && !node->is_sequence()) {
      refuse(*node, "'" + std::string(key) + "' is no list");
      return kNone;
    }
    return node == nullptr ? kNone : node->items;
  }

  std::vector<std::string> texts(std::string_view key) {
    std::vector<std::string> all;
    for (const Node& item : items(key)) {
      if (!item.is_scalar() || !item.quoted || item.text.find('\0') != std::string::npos) {
        refuse(item, "'" + std::string(key) + "' holds something else than texts");
      }
      all.push_back(item.text);
    }
    return all;
  }

  const Node* find(std::string_view key, bool needed) {
    const Node* node = node_.find(key);
    if (node != nullptr && node->is_null()) {
      node = nullptr;
    }
    if (node == nullptr && needed) {
      refuse(node_, "'" + std::string(key) + "' is missing");
    }
    return node;
  }

  void refuse(const Node& node, std::string_view what) { fail(node.mark, what); }

 private:
  void fail(doc::Mark mark, std::string_view what) {
    if (!error_) {
      error_ = doc::error_at(kName, mark, what);
    }
  }

  const Node& node_;
  std::optional<Error>& error_;
};

fetch::Settings read_network(const Node& node, std::optional<Error>& error) {
  Reader reader(node, error);
  reader.allow({"proxy", "cert", "client_cert", "netrc", "timeout_s", "retries", "backoff_ms",
                "credentials"});
  fetch::Settings settings;
  settings.proxy = reader.text("proxy");
  settings.authorities = reader.text("cert");
  settings.client_certificate = reader.text("client_cert");
  settings.netrc = reader.flag("netrc", true);
  settings.timeout =
      std::chrono::seconds(std::max<std::uint64_t>(1, reader.number("timeout_s", 30, 86'400)));
  settings.retries = static_cast<unsigned>(reader.number("retries", 5, 100));
  settings.backoff = std::chrono::milliseconds(reader.number("backoff_ms", 500, 60'000));
  settings.credentials = reader.texts("credentials");
  if (!fetch::Credentials::of(settings.credentials)) {
    reader.refuse(node, "'credentials' holds something else than http or https URLs with a user");
  }
  return settings;
}

Get read_get(const Node& node, std::optional<Error>& error) {
  Reader reader(node, error);
  reader.allow({"id", "url", "accept", "limit_bytes", "only_safe"});
  Get get;
  get.id = reader.text("id", true);
  get.url = reader.text("url", true);
  get.accept = reader.text("accept");
  get.limit_bytes = reader.number("limit_bytes", get.limit_bytes);
  get.only_safe = reader.flag("only_safe", false);
  if (has_control(get.accept)) {
    reader.refuse(node, "'accept' has a line end or another control character in it");
  }
  return get;
}

std::optional<unpack::Kind> kind_of(std::string_view word) {
  if (word == "wheel") return unpack::Kind::wheel;
  if (word == "tar") return unpack::Kind::tar;
  if (word == "zip") return unpack::Kind::zip;
  if (word == "deb") return unpack::Kind::deb;
  return std::nullopt;
}

Item read_item(const Node& node, std::optional<Error>& error) {
  Reader reader(node, error);
  reader.allow({"id", "key", "kind", "name", "version", "file", "urls", "sha256", "size_bytes",
                "python", "strip", "place", "environment", "unfold", "copy"});
  Item item;
  item.id = reader.text("id", true);
  item.job.key = reader.text("key", true);
  if (const auto key = Sha256::parse(item.job.key); !key || key->hex() != item.job.key) {
    reader.refuse(node, "'key' is not 64 lower-case hexadecimal digits");
  }
  const auto kind = kind_of(reader.text("kind", true));
  if (!kind) {
    reader.refuse(node, "'kind' is none of wheel, tar, zip, deb");
  }
  item.job.kind = kind.value_or(unpack::Kind::wheel);
  item.job.name = reader.text("name", true);
  item.job.version = reader.text("version", true);
  item.job.artifact.file = reader.text("file", true);
  const std::string& file = item.job.artifact.file;
  if (file.empty() || file.find('/') != std::string::npos || file == "." || file == "..") {
    reader.refuse(node, "'file' is no file name");
  }
  item.urls = reader.texts("urls");
  item.job.artifact.sha256 = to_lower(reader.text("sha256", true));
  if (const auto digest = Sha256::parse(item.job.artifact.sha256)) {
    item.sha256 = *digest;
  } else {
    reader.refuse(node, "'sha256' is not 64 hexadecimal digits");
  }
  item.size_bytes = reader.optional_number("size_bytes");
  item.job.compiler.tag = reader.text("python");
  item.job.strip = static_cast<unsigned>(reader.number("strip", 0, 100));
  for (const Node& one : reader.items("place")) {
    Reader place(one, error);
    place.allow({"from", "to"});
    item.job.place.push_back({place.text("from", true), place.text("to", true)});
    for (const std::string& path : {item.job.place.back().from, item.job.place.back().to}) {
      if (!path.empty() && path != "." && !store::is_tree_path(path)) {
        place.refuse(one, "'" + shortened(path) + "' is no path inside an archive");
      }
    }
  }
  for (const Node& one : reader.items("environment")) {
    Reader variable(one, error);
    variable.allow({"name", "value"});
    item.job.environment.push_back({variable.text("name", true), variable.text("value", true)});
  }
  item.job.unfold = reader.texts("unfold");
  item.job.copies_all = reader.flag("copy", false);
  return item;
}

}  // namespace

Result<Request> parse_request(std::string_view text) {
  doc::Limits limits;
  limits.bytes = 64u << 20;
  limits.nodes = 1u << 22;
  GOLDENV_TRY(const Node node, doc::parse(text, doc::Format::json, kName, limits));
  std::optional<Error> error;
  Reader reader(node, error);
  reader.allow({"goldenv_realise", "store", "offline", "connections", "workers", "python",
                "network", "get", "objects"});
  if (!error && reader.number("goldenv_realise", 0) != 1) {
    reader.refuse(node, "'goldenv_realise' is not 1: the programs are of different versions");
  }
  Request request;
  if (const Node* network = reader.find("network", false)) {
    request.network = read_network(*network, error);
  }
  request.store = reader.text("store");
  request.network.offline = reader.flag("offline", false);
  request.network.connections =
      static_cast<unsigned>(std::max<std::uint64_t>(1, reader.number("connections", 8, 256)));
  request.workers = static_cast<unsigned>(reader.number("workers", 0, 256));
  const std::string python = reader.text("python");
  for (const Node& one : reader.items("get")) {
    request.gets.push_back(read_get(one, error));
  }
  for (const Node& one : reader.items("objects")) {
    request.items.push_back(read_item(one, error));
    request.items.back().job.compiler.interpreter =
        request.items.back().job.compiler.tag.empty() ? "" : python;
    if (python.empty()) {
      request.items.back().job.compiler.tag.clear();
    }
  }
  if (!request.items.empty() && !request.store.starts_with('/')) {
    reader.refuse(node, "'store' is no absolute path");
  }
  if (error) {
    return *std::move(error);
  }
  return request;
}

}  // namespace goldenv::realise

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "fetch/fetcher.h"
#include "unpack/unpack.h"

// The program goldenv-realise: what reaches the network and opens archives from outside. It is a
// program of its own so that goldenv starts without libcurl, and so that neither can bring the
// other down. docs/REALISE.md tells the protocol.
namespace goldenv::realise {

/// A text to fetch.
struct Get {
  std::string id;
  std::string url;
  std::string accept;
  std::uint64_t limit_bytes = 64u << 20;
  bool only_safe = false;  ///< as fetch::Want::only_safe
};

/// An object to make.
struct Item {
  std::string id;
  unpack::Job job;
  std::vector<std::string> urls;
  Sha256 sha256;
  std::optional<std::uint64_t> size_bytes;
};

struct Request {
  std::string store;
  unsigned workers = 0;  ///< 0: as many as processors
  fetch::Settings network;
  std::vector<Get> gets;
  std::vector<Item> items;
};

/// One JSON document; keys that are not known are refused. Errors: malformed ("request:1:17: ...").
Result<Request> parse_request(std::string_view text);

}  // namespace goldenv::realise

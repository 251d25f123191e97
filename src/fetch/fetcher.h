#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"

// URLs to verified files or texts in memory.
//
// Chosen: libcurl's multi interface in one thread. It has the protocols, TLS, proxies and netrc of
// twenty years; one thread is enough, as what costs time besides the network is one SHA-256 over
// what comes. Redirects are followed here and not by libcurl, which takes a step from https to http
// in a chain that began with http. file:// is read here: libcurl waits for ever for a named pipe.
namespace goldenv::fetch {

struct Settings {
  unsigned connections = 8;  ///< at once
  std::string proxy;         ///< URL; "": as http_proxy, https_proxy, all_proxy, no_proxy say
  std::string authorities;   ///< PEM file or folder of them; "": $SSL_CERT_FILE, else the system's
  std::string client_certificate;  ///< PEM file with certificate and key; "": none
  bool netrc = true;               ///< $NETRC, else ~/.netrc
  /// http and https URLs with user and password, lent to every URL of the same origin that has
  /// none of its own; of several for one origin that with the most of the path in common.
  std::vector<std::string> credentials;
  std::chrono::seconds timeout{30};  ///< to connect; and with hardly a byte in it
  unsigned retries = 5;              ///< after the first try of a place, where it brought nothing
  std::chrono::milliseconds backoff{500};  ///< before the first of them; doubles, at most 30 s
  bool offline = false;                    ///< file:// alone
};

/// What is wanted.
struct Want {
  /// What messages call it: "numpy-1.26.4-...whl". Empty: they begin with the place.
  std::string name;
  std::vector<std::string> urls;  ///< the same thing in several places, tried in order
  std::string accept;             ///< the header of that name; "": anything
  std::string file;               ///< is made, and removed where it fails; "": into memory
  std::optional<Sha256> sha256;
  std::optional<std::uint64_t> size_bytes;
  std::uint64_t limit_bytes = std::uint64_t{16} << 30;
  /// Redirects lead to https, or to http on this machine, and nowhere else: for what tells digests.
  bool only_safe = false;
};

struct Got {
  std::string place;  ///< which of the URLs, without user and password
  std::string url;    ///< where redirects led, without user and password
  /// 200. Of what is wanted in memory also another 4xx that is an answer: 404, 410 and the like,
  /// but none that asks for a name or to come later.
  long status = 0;
  std::string type;  ///< Content-Type as sent
  std::string body;  ///< of what is wanted in memory
  std::uint64_t size_bytes = 0;
  Sha256 sha256;
};

/// Transfers in progress. Every member but wake() is for one thread.
class Fetcher {
 public:
  /// Errors: failed (libcurl does not start), absent (a file that the settings name), malformed
  /// (credentials).
  static Result<std::unique_ptr<Fetcher>> start(const Settings& settings);

  virtual ~Fetcher() = default;

  /// Begins, or queues where enough are in progress; a ticket for what becomes of it.
  virtual std::size_t add(Want want) = 0;

  struct Done {
    std::size_t ticket = 0;
    /// Errors: failed, denied (the server wants other credentials), too_large (than declared, or
    /// than the limit), malformed (other bytes than the digest says, no URL), absent (file://).
    /// The message begins with the want's name, where it has one, and names each place that was
    /// tried, never a password or a query.
    Result<Got> got;
  };
  /// Works for about as long as `wait`, and returns as soon as something is done.
  virtual std::vector<Done> step(std::chrono::milliseconds wait) = 0;
  /// Bytes that a transfer in progress has; none where there is no such.
  [[nodiscard]] virtual std::optional<std::uint64_t> received(std::size_t ticket) const = 0;
  /// Whether nothing is in progress or queued.
  [[nodiscard]] virtual bool idle() const = 0;
  /// Ends the step that is waiting. From any thread.
  virtual void wake() = 0;
};

}  // namespace goldenv::fetch

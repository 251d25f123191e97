#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "recipe/recipe.h"

// goldenv-realise, the program that fetches and unpacks: it is started where something is missing,
// so that what needs no network links none of its libraries. docs/REALISE.md tells what both say to
// each other.
namespace goldenv::provision {

/// How the network is reached.
struct Network {
  std::string proxy;
  std::string cert;         ///< file or folder of certificates; "" the system's
  std::string client_cert;  ///< file with key and certificate
  /// URLs with user and password: for those of their origins that have none. Never shown.
  std::vector<std::string> credentials;
  unsigned timeout_s = 15;
  unsigned retries = 5;
};

/// A document to be fetched.
struct Get {
  std::string id;
  std::string url;
  std::string accept;
  bool only_safe = true;  ///< no redirect to where anybody could change what is said
};

/// An object to be made.
struct ObjectRequest {
  std::string id;    ///< for messages: "numpy 1.26.4"
  std::string key;   ///< 64 hexadecimal digits
  std::string kind;  ///< wheel, tar, zip, deb
  std::string name;
  std::string version;
  std::string file;
  std::vector<std::string> urls;
  std::string sha256;
  std::optional<std::uint64_t> size_bytes;
  std::string python;  ///< "cp311", for which modules are compiled; "" for none
  std::size_t strip = 0;
  std::vector<recipe::Layout> place;
  std::vector<recipe::Variable> environment;
  std::vector<std::string> unfold;
  bool copy = false;
};

struct RealiseRequest {
  std::string store;
  bool offline = false;
  std::string python;  ///< the program that compiles modules
  Network network;
  std::vector<Get> get;
  std::vector<ObjectRequest> objects;
};

struct Got {
  std::string id;
  std::string url;  ///< where it was in the end
  unsigned status = 0;
  std::string type;
  std::string body;
};

struct Made {
  std::string id;
  std::string object;  ///< the store's
  std::string how;     ///< present, realised, raced
};

struct Refused {
  std::string id;
  Error error;
};

struct RealiseReply {
  std::vector<Got> got;
  std::vector<Made> made;
  std::vector<Refused> refused;
};

/// What happened so far.
struct Progress {
  std::uint64_t bytes = 0;  ///< fetched
  std::uint64_t of = 0;     ///< of so many as are known
  std::size_t made = 0;     ///< objects
  std::size_t objects = 0;
  std::string last;  ///< id of what was fetched or made last
};
using Watch = std::function<void(const Progress& progress)>;

/// Errors: failed (the program is not there, died, or said something else than its protocol).
Result<RealiseReply> realise(const RealiseRequest& request, const Watch& watch);

/// What is written to its standard input.
std::string request_text(const RealiseRequest& request);

/// Takes what it writes to its standard output, line by line.
class ReplyReader {
 public:
  ReplyReader(std::size_t objects, Watch watch) : watch_(std::move(watch)) {
    progress_.objects = objects;
  }
  /// Errors: malformed.
  Result<void> line(std::string_view text);
  [[nodiscard]] bool done() const { return done_; }
  RealiseReply take() { return std::move(reply_); }

 private:
  Watch watch_;
  Progress progress_;
  RealiseReply reply_;
  std::vector<std::pair<std::string, std::pair<std::uint64_t, std::uint64_t>>> running_;
  bool done_ = false;
};

}  // namespace goldenv::provision

#pragma once

#include <curl/curl.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fetch/failure.h"
#include "fetch/fetcher.h"
#include "fetch/place.h"
#include "fetch/sink.h"

namespace goldenv::fetch {

using Clock = std::chrono::steady_clock;

/// One want on its way: its places, how often each was tried, and the try in progress.
class Transfer {
 public:
  /// `settings` and `credentials` outlive it.
  Transfer(Want want, const Settings& settings, const Credentials& credentials);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer();

  /// What became of it; none as long as there is more to try.
  [[nodiscard]] std::optional<Result<Got>>& result() { return result_; }
  /// The next try must not begin before.
  [[nodiscard]] Clock::time_point not_before() const { return not_before_; }
  [[nodiscard]] std::uint64_t received() const { return sink_.size_bytes(); }

  /// Begins the next try. A handle for libcurl's multi interface; nullptr where the place is a file
  /// (then read_piece goes on) or where there is a result.
  CURL* begin();
  [[nodiscard]] bool is_local() const { return local_ >= 0; }
  /// The next piece of a file.
  void read_piece();
  /// libcurl has ended the try.
  void end(CURLcode code);

 private:
  struct Mirror {
    Place place;
    std::string asked;  ///< for messages
    unsigned failures = 0;
    Failure last;
    bool is_given_up = false;
    Clock::time_point not_before;
  };

  /// What the server says before the body.
  struct Answer {
    bool is_decided = false;  ///< what to do with the body
    bool is_wanted = false;
    std::string validator;  ///< ETag (a strong one), else Last-Modified
    std::string type;
    std::optional<std::uint64_t> range_begin;
  };

  /// What is said of the want, behind its name if it has one.
  [[nodiscard]] std::string named(std::string what) const;
  static std::size_t take_header(char* bytes, std::size_t size, std::size_t count, void* self);
  static std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* self);

  void open_local();
  void close_local();
  CURL* configure();
  [[nodiscard]] long status() const;
  void header(std::string_view line);
  /// Whether the body that begins is to be kept; begins the sink anew where it is the whole.
  std::optional<Failure> decide();
  void complete();
  void fail(Failure failure, std::optional<std::chrono::seconds> retry_after = std::nullopt);
  void give_up();
  void follow();

  Want want_;
  const Settings& settings_;
  const Credentials& credentials_;
  Sink sink_;
  std::vector<Mirror> mirrors_;
  std::size_t at_ = 0;  ///< the mirror in turn
  Place hop_;           ///< of it, or where it redirects to
  unsigned hops_ = 0;
  Clock::time_point not_before_;
  std::optional<Result<Got>> result_;
  long last_status_ = 0;
  /// Of the bytes that the sink has: whence, and by what to know the same content again.
  std::string sink_url_;
  std::string sink_validator_;
  std::uint64_t most_ = 0;  ///< that the sink ever had
  bool is_resumed_ = false;
  bool may_resume_ = true;
  CURL* easy_ = nullptr;
  curl_slist* headers_ = nullptr;
  std::string curl_words_;
  Answer answer_;
  std::optional<Failure> refused_;  ///< why we ended the try ourselves
  int local_ = -1;
};

}  // namespace goldenv::fetch

#include "fetch/fetcher.h"

#include <curl/curl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <utility>

#include "fetch/transfer.h"

namespace goldenv::fetch {
namespace {

/// libcurl knows nothing of the variable that OpenSSL's other users go by.
Settings with_authorities(Settings settings) {
  const char* const file = std::getenv("SSL_CERT_FILE");
  struct stat status {};
  if (settings.authorities.empty() && file != nullptr && stat(file, &status) == 0) {
    settings.authorities = file;
  }
  return settings;
}

class CurlFetcher final : public Fetcher {
 public:
  CurlFetcher(const Settings& settings, Credentials credentials, CURLM* multi)
      : settings_(with_authorities(settings)), credentials_(std::move(credentials)), multi_(multi) {
    curl_multi_setopt(multi_, CURLMOPT_MAX_TOTAL_CONNECTIONS,
                      static_cast<long>(std::max(1u, settings_.connections)));
  }
  CurlFetcher(const CurlFetcher&) = delete;
  CurlFetcher& operator=(const CurlFetcher&) = delete;
  ~CurlFetcher() override {
    for (auto& [ticket, entry] : entries_) {
      release(entry);
    }
    entries_.clear();
    curl_multi_cleanup(multi_);
  }

  std::size_t add(Want want) override {
    const std::size_t ticket = next_++;
    entries_[ticket].transfer =
        std::make_unique<Transfer>(std::move(want), settings_, credentials_);
    return ticket;
  }

  std::vector<Done> step(std::chrono::milliseconds wait) override {
    const Clock::time_point end = Clock::now() + wait;
    while (true) {
      begin();
      const bool has_local = read_local();
      int running = 0;
      curl_multi_perform(multi_, &running);
      take_messages();
      std::vector<Done> done = collect();
      const Clock::time_point now = Clock::now();
      if (!done.empty() || woken_.exchange(false) || now >= end) {
        return done;
      }
      auto pause = std::min(end, next_begin(now)) - now;
      if (has_local) {
        pause = Clock::duration::zero();
      }
      // Rounded up: a pause of less than a millisecond must not spin.
      const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(
          std::max(pause, Clock::duration::zero()) + std::chrono::microseconds(999));
      curl_multi_poll(multi_, nullptr, 0, static_cast<int>(whole.count()), nullptr);
    }
  }

  std::optional<std::uint64_t> received(std::size_t ticket) const override {
    const auto found = entries_.find(ticket);
    return found == entries_.end() ? std::nullopt
                                   : std::optional(found->second.transfer->received());
  }

  bool idle() const override { return entries_.empty(); }

  void wake() override {
    woken_ = true;
    curl_multi_wakeup(multi_);
  }

 private:
  struct Entry {
    std::unique_ptr<Transfer> transfer;
    CURL* easy = nullptr;    ///< in progress over the network
    bool is_active = false;  ///< in progress at all
  };

  void release(Entry& entry) {
    if (entry.easy != nullptr) {
      curl_multi_remove_handle(multi_, entry.easy);
    }
    entry.easy = nullptr;
    entry.is_active = false;
  }

  void begin() {
    auto active = std::count_if(entries_.begin(), entries_.end(),
                                [](const auto& one) { return one.second.is_active; });
    const Clock::time_point now = Clock::now();
    for (auto& [ticket, entry] : entries_) {
      if (active >= static_cast<std::ptrdiff_t>(std::max(1u, settings_.connections))) {
        return;
      }
      if (entry.is_active || entry.transfer->result() || entry.transfer->not_before() > now) {
        continue;
      }
      entry.easy = entry.transfer->begin();
      entry.is_active = entry.easy != nullptr || entry.transfer->is_local();
      if (entry.easy != nullptr) {
        curl_multi_add_handle(multi_, entry.easy);
      }
      active += entry.is_active ? 1 : 0;
    }
  }

  bool read_local() {
    bool any = false;
    for (auto& [ticket, entry] : entries_) {
      if (entry.is_active && entry.transfer->is_local()) {
        entry.transfer->read_piece();
        entry.is_active = entry.transfer->is_local();
        any = true;
      }
    }
    return any;
  }

  void take_messages() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) {
        continue;
      }
      const CURLcode code = message->data.result;
      CURL* const easy = message->easy_handle;
      for (auto& [ticket, entry] : entries_) {
        if (entry.easy == easy) {
          release(entry);
          entry.transfer->end(code);
          break;
        }
      }
    }
  }

  std::vector<Done> collect() {
    std::vector<Done> done;
    for (auto one = entries_.begin(); one != entries_.end();) {
      if (one->second.transfer->result()) {
        release(one->second);
        done.push_back({one->first, *std::move(one->second.transfer->result())});
        one = entries_.erase(one);
      } else {
        ++one;
      }
    }
    return done;
  }

  /// When the first of those that wait may begin, if a place is free then.
  Clock::time_point next_begin(Clock::time_point now) const {
    Clock::time_point first = Clock::time_point::max();
    std::size_t active = 0;
    for (const auto& [ticket, entry] : entries_) {
      if (entry.is_active) {
        ++active;
      } else {
        first = std::min(first, std::max(now, entry.transfer->not_before()));
      }
    }
    return active >= std::max(1u, settings_.connections) ? Clock::time_point::max() : first;
  }

  const Settings settings_;
  const Credentials credentials_;
  CURLM* multi_;
  std::map<std::size_t, Entry> entries_;
  std::size_t next_ = 0;
  std::atomic<bool> woken_ = false;
};

}  // namespace

Result<std::unique_ptr<Fetcher>> Fetcher::start(const Settings& settings) {
  GOLDENV_TRY(Credentials credentials, Credentials::of(settings.credentials));
  static const CURLcode kStarted = curl_global_init(CURL_GLOBAL_DEFAULT);
  for (const std::string& file : {settings.authorities, settings.client_certificate}) {
    struct stat status {};
    if (!file.empty() && stat(file.c_str(), &status) != 0) {
      return Error{
          Errc::absent, file + ": the certificates of the network settings are not there", {}};
    }
  }
  CURLM* const multi = kStarted == CURLE_OK ? curl_multi_init() : nullptr;
  if (multi == nullptr) {
    return Error{Errc::failed, "libcurl does not start", {}};
  }
  return std::unique_ptr<Fetcher>(
      std::make_unique<CurlFetcher>(settings, std::move(credentials), multi));
}

}  // namespace goldenv::fetch

#include "fetch/transfer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/text.h"

namespace goldenv::fetch {
namespace {

constexpr unsigned kHops = 10;
constexpr std::chrono::seconds kLongestWait{30};
constexpr std::chrono::seconds kLongestRetryAfter{60};
// A try that got so much further was worth it, and is not counted.
constexpr std::uint64_t kProgressBytes = 64u << 10;
constexpr std::size_t kPieceBytes = 1u << 20;

/// "Name: value" of a header line with that name, in lower case.
std::optional<std::string_view> value_of(std::string_view line, std::string_view name) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || to_lower(line.substr(0, colon)) != name) {
    return std::nullopt;
  }
  return trim(line.substr(colon + 1));
}

bool is_redirect(long status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

}  // namespace

Transfer::Transfer(Want want, const Settings& settings, const Credentials& credentials)
    : want_(std::move(want)), settings_(settings), credentials_(credentials), sink_(want_) {
  std::string not_asked;
  for (const std::string& url : want_.urls) {
    Result<Place> place = Place::parse(url);
    if (!place) {
      result_ = Error{place.error().code, named(place.error().message), {}};
      return;
    }
    if (settings.offline && place->scheme != Place::Scheme::file) {
      not_asked = shown(place->url);
      continue;
    }
    credentials_.lend(*place);
    const std::string asked = shown(place->url);
    mirrors_.push_back({*std::move(place), asked, 0, {}, false, {}});
  }
  if (mirrors_.empty()) {
    const std::string offline = "the network is not to be used (offline)";
    result_ = Error{Errc::failed,
                    not_asked.empty() ? named("no place is known to get it from")
                    : want_.name.empty()
                        ? not_asked + " is not asked: " + offline
                        : named("is neither in the store nor a local file, and " + offline),
                    {}};
    return;
  }
  hop_ = mirrors_[0].place;
}

Transfer::~Transfer() {
  close_local();
  curl_slist_free_all(headers_);
  curl_easy_cleanup(easy_);
}

std::string Transfer::named(std::string what) const {
  return want_.name.empty() ? what : want_.name + ": " + what;
}

CURL* Transfer::begin() {
  answer_ = {};
  refused_.reset();
  if (hop_.scheme == Place::Scheme::file) {
    open_local();
    return nullptr;
  }
  CURL* const easy = configure();
  if (easy == nullptr) {
    fail({Errc::failed, "cannot be asked: libcurl does not start", false});
  }
  return easy;
}

void Transfer::open_local() {
  // A pipe would wait for its writer for ever.
  local_ = open(hop_.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (local_ < 0 || fstat(local_, &status) != 0) {
    const Errc code = errno == ENOENT || errno == ENOTDIR ? Errc::absent
                      : errno == EACCES || errno == EPERM ? Errc::denied
                                                          : Errc::failed;
    fail({code, std::string("cannot be read: ") + std::strerror(errno), false});
    return;
  }
  if (!S_ISREG(status.st_mode)) {
    fail({Errc::failed, "is no regular file", false});
    return;
  }
  if (auto failure = sink_.restart()) {
    fail(*std::move(failure));
  }
}

void Transfer::close_local() {
  if (local_ >= 0) {
    close(local_);
    local_ = -1;
  }
}

void Transfer::read_piece() {
  thread_local std::string piece(kPieceBytes, '\0');
  const ssize_t got = read(local_, piece.data(), piece.size());
  if (got < 0) {
    if (errno != EINTR) {
      fail({Errc::failed, std::string("cannot be read: ") + std::strerror(errno), false});
    }
    return;
  }
  if (got == 0) {
    last_status_ = 200;
    complete();
    return;
  }
  if (auto failure =
          sink_.write(std::string_view(piece).substr(0, static_cast<std::size_t>(got)))) {
    fail(*std::move(failure));
  }
}

CURL* Transfer::configure() {
  if (easy_ == nullptr) {
    easy_ = curl_easy_init();
  } else {
    curl_easy_reset(easy_);  // connections and what is known of the host stay
  }
  if (easy_ == nullptr) {
    return nullptr;
  }
  curl_slist_free_all(headers_);
  headers_ = nullptr;
  const auto header = [this](const std::string& line) {
    headers_ = curl_slist_append(headers_, line.c_str());
  };
  curl_easy_setopt(easy_, CURLOPT_URL, hop_.url.c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_USERAGENT, "goldenv");
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  curl_easy_setopt(easy_, CURLOPT_BUFFERSIZE, 256L << 10);
  const auto seconds = static_cast<long>(settings_.timeout.count());
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT, seconds);
  curl_easy_setopt(easy_, CURLOPT_LOW_SPEED_LIMIT, 100L);  // bytes a second
  curl_easy_setopt(easy_, CURLOPT_LOW_SPEED_TIME, seconds);
  curl_easy_setopt(easy_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (!settings_.proxy.empty()) {
    curl_easy_setopt(easy_, CURLOPT_PROXY, settings_.proxy.c_str());
  }
  if (!settings_.authorities.empty()) {
    struct stat status {};
    const bool is_folder =
        stat(settings_.authorities.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
    curl_easy_setopt(easy_, is_folder ? CURLOPT_CAPATH : CURLOPT_CAINFO,
                     settings_.authorities.c_str());
  }
  if (!settings_.client_certificate.empty()) {
    curl_easy_setopt(easy_, CURLOPT_SSLCERT, settings_.client_certificate.c_str());
  }
  if (hop_.has_user) {
    curl_easy_setopt(easy_, CURLOPT_USERNAME, hop_.user.c_str());
    curl_easy_setopt(easy_, CURLOPT_PASSWORD, hop_.password.c_str());
  } else if (settings_.netrc) {
    curl_easy_setopt(easy_, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
    if (const char* file = std::getenv("NETRC"); file != nullptr && *file != '\0') {
      curl_easy_setopt(easy_, CURLOPT_NETRC_FILE, file);
    }
  }
  if (!want_.accept.empty()) {
    header("Accept: " + want_.accept);
  }
  if (want_.file.empty()) {
    curl_easy_setopt(easy_, CURLOPT_ACCEPT_ENCODING, "");  // all that libcurl can read
  }
  const bool resumes = may_resume_ && sink_.size_bytes() > 0 && sink_url_ == hop_.url &&
                       !want_.file.empty() &&
                       (!sink_validator_.empty() || want_.sha256.has_value());
  if (resumes) {
    header("Range: bytes=" + std::to_string(sink_.size_bytes()) + "-");
    if (!sink_validator_.empty()) {
      header("If-Range: " + sink_validator_);
    }
  }
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
  curl_words_.assign(CURL_ERROR_SIZE, '\0');
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, curl_words_.data());
  curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &Transfer::take_header);
  curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &Transfer::take_body);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
  return easy_;
}

std::size_t Transfer::take_header(char* bytes, std::size_t size, std::size_t count, void* self) {
  static_cast<Transfer*>(self)->header({bytes, size * count});
  return size * count;
}

std::size_t Transfer::take_body(char* bytes, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::size_t all = size * count;
  if (all == 0) {
    return 0;
  }
  if (!transfer.answer_.is_decided) {
    transfer.refused_ = transfer.decide();
    if (transfer.refused_) {
      return 0;
    }
  }
  if (!transfer.answer_.is_wanted) {
    return all;  // the page of an error
  }
  transfer.refused_ = transfer.sink_.write({bytes, all});
  return transfer.refused_ ? 0 : all;
}

long Transfer::status() const {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

void Transfer::header(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    answer_ = {};  // what came before was an interim answer
    return;
  }
  if (const auto etag = value_of(line, "etag")) {
    if (!etag->starts_with("W/")) {  // a weak one may stand for other bytes
      answer_.validator = *etag;
    }
  } else if (const auto modified = value_of(line, "last-modified")) {
    if (answer_.validator.empty()) {
      answer_.validator = *modified;
    }
  } else if (const auto type = value_of(line, "content-type")) {
    answer_.type = shortened(to_utf8(*type));
  } else if (auto range = value_of(line, "content-range")) {  // "bytes 100-199/200"
    const std::size_t blank = range->find(' ');
    if (blank != std::string_view::npos) {
      range->remove_prefix(blank + 1);
      answer_.range_begin = to_number(range->substr(0, range->find('-')));
    }
  }
}

std::optional<Failure> Transfer::decide() {
  answer_.is_decided = true;
  const long code = status();
  if (code == 206) {
    if (!answer_.range_begin || *answer_.range_begin != sink_.size_bytes() ||
        sink_.size_bytes() == 0) {
      may_resume_ = false;
      return Failure{Errc::failed, "answers with another part than was asked for", true};
    }
    is_resumed_ = true;
    answer_.is_wanted = true;
    return std::nullopt;
  }
  if (code != 200) {
    return std::nullopt;
  }
  answer_.is_wanted = true;
  is_resumed_ = false;
  sink_url_ = hop_.url;
  sink_validator_ = answer_.validator;
  return sink_.restart();
}

void Transfer::end(CURLcode code) {
  last_status_ = status();
  if (refused_) {
    fail(*std::move(refused_));
    return;
  }
  if (is_redirect(last_status_) && (code == CURLE_OK || code == CURLE_PARTIAL_FILE)) {
    follow();
    return;
  }
  if (code == CURLE_OK && (last_status_ == 200 || last_status_ == 206)) {
    if (!answer_.is_decided) {  // there was no body
      if (auto failure = decide()) {
        fail(*std::move(failure));
        return;
      }
    }
    complete();
    return;
  }
  if (code == CURLE_OK || (last_status_ >= 400 && code == CURLE_PARTIAL_FILE)) {
    curl_off_t retry_after = 0;
    curl_easy_getinfo(easy_, CURLINFO_RETRY_AFTER, &retry_after);
    Failure failure = failure_of_status(last_status_);
    if (last_status_ == 416) {  // what we have is more than there is
      failure.is_passing = may_resume_;
      may_resume_ = false;
    }
    fail(std::move(failure),
         std::chrono::seconds(std::clamp<curl_off_t>(retry_after, 0, kLongestRetryAfter.count())));
    return;
  }
  fail(failure_of(code, curl_words_.c_str()));
}

void Transfer::follow() {
  char* to = nullptr;
  curl_easy_getinfo(easy_, CURLINFO_REDIRECT_URL, &to);
  if (to == nullptr || *to == '\0') {
    fail({Errc::malformed, "redirects without saying where to", false});
    return;
  }
  if (++hops_ > kHops) {
    fail({Errc::failed, "redirects more than " + std::to_string(kHops) + " times", false});
    return;
  }
  Result<Place> next = hop_.redirected(to, want_.only_safe);
  if (!next) {
    fail({next.error().code, "leads nowhere: " + next.error().message, false});
    return;
  }
  credentials_.lend(*next);
  hop_ = *std::move(next);
}

void Transfer::complete() {
  if (auto failure = sink_.check()) {
    // Two versions of a file may have been put together.
    failure->is_passing = is_resumed_;
    if (is_resumed_) {
      may_resume_ = false;
    }
    fail(*std::move(failure));
    return;
  }
  close_local();
  sink_.keep();
  Got got;
  got.place = mirrors_[at_].place.url;
  got.url = hop_.url;
  got.status = 200;
  got.type = answer_.type;
  got.body = sink_.take_body();
  got.size_bytes = sink_.size_bytes();
  got.sha256 = sink_.sha256();
  result_ = std::move(got);
}

void Transfer::fail(Failure failure, std::optional<std::chrono::seconds> retry_after) {
  close_local();
  Mirror& mirror = mirrors_[at_];
  const bool has_progress = sink_.size_bytes() >= most_ + kProgressBytes;
  most_ = std::max(most_, sink_.size_bytes());
  mirror.is_given_up = !failure.is_passing;
  if (failure.is_passing && !has_progress && ++mirror.failures > settings_.retries) {
    mirror.is_given_up = true;
  }
  const std::string where = hop_.url == mirror.place.url ? "" : " (by " + mirror.asked + ")";
  failure.what = shown(hop_.url) + where + " " + failure.what;
  mirror.last = std::move(failure);
  // Half, and up to as much again: of many machines that were refused at once not all come back at
  // once.
  const auto doubled = settings_.backoff * (1u << std::min(mirror.failures, 16u)) / 2;
  const auto wait = std::min<Clock::duration>(doubled, kLongestWait);
  const auto spread =
      wait / 2 + (wait / 2) * (reinterpret_cast<std::uintptr_t>(this) / 64 % 16) / 16;
  mirror.not_before = Clock::now() + std::max<Clock::duration>(
                                         spread, retry_after.value_or(std::chrono::seconds(0)));
  // What has bytes already goes on where they came from.
  const bool stays = !mirror.is_given_up && has_progress;
  for (std::size_t step = stays ? 0 : 1; step <= mirrors_.size(); ++step) {
    const std::size_t next = (at_ + step) % mirrors_.size();
    if (!mirrors_[next].is_given_up) {
      at_ = next;
      hop_ = mirrors_[next].place;
      hops_ = 0;
      not_before_ = mirrors_[next].not_before;
      return;
    }
  }
  give_up();
}

void Transfer::give_up() {
  const Failure& last = mirrors_[at_].last;
  if (want_.file.empty() && last_status_ >= 400 && last_status_ < 500 &&
      last.code != Errc::denied && last_status_ != 408 && last_status_ != 425 &&
      last_status_ != 429) {
    Got got;
    got.place = mirrors_[at_].place.url;
    got.url = hop_.url;
    got.status = last_status_;
    result_ = std::move(got);
    return;
  }
  std::string all;
  for (const Mirror& mirror : mirrors_) {
    all += all.empty() ? "" : "; ";
    all += mirror.last.what;
    if (mirror.failures > 1) {
      all += " (tried " + std::to_string(mirror.failures) + " times)";
    }
  }
  result_ = Error{last.code, named(std::move(all)), {}};
}

}  // namespace goldenv::fetch

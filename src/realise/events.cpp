#include "realise/events.h"

#include "base/url.h"
#include "doc/node.h"

namespace goldenv::realise {
namespace {

std::string_view name_of(Errc code) {
  switch (code) {
    case Errc::absent:
      return "absent";
    case Errc::denied:
      return "denied";
    case Errc::unreadable:
      return "unreadable";
    case Errc::timed_out:
      return "timed_out";
    case Errc::too_large:
      return "too_large";
    case Errc::not_live:
      return "not_live";
    case Errc::not_collected:
      return "not_collected";
    case Errc::malformed:
      return "malformed";
    case Errc::usage:
      return "usage";
    case Errc::failed:
      break;
  }
  return "failed";
}

/// ,"key":"value"
std::string field(std::string_view key, std::string_view value) {
  return ",\"" + std::string(key) + "\":" + doc::quote_json(value);
}
std::string field(std::string_view key, std::uint64_t value) {
  return ",\"" + std::string(key) + "\":" + std::to_string(value);
}

std::string line(std::string_view event, std::string_view id) {
  return "{\"event\":\"" + std::string(event) + "\"" + field("id", id);
}

}  // namespace

std::string got_line(std::string_view id, const fetch::Got& got) {
  return line("got", id) + field("url", got.url) +
         field("status", static_cast<std::uint64_t>(got.status)) + field("type", got.type) +
         field("body", got.body) + "}";
}

std::string bytes_line(std::string_view id, std::uint64_t bytes,
                       std::optional<std::uint64_t> of_bytes) {
  return line("bytes", id) + field("bytes", bytes) +
         (of_bytes ? field("of", *of_bytes) : ",\"of\":null") + "}";
}

std::string object_line(std::string_view id, std::string_view object, std::string_view how) {
  return line("object", id) + field("object", object) + field("how", how) + "}";
}

std::string error_line(std::string_view id, const Error& error) {
  return line("error", id) + field("code", name_of(error.code)) +
         field("message", mask_users(error.message)) + "}";
}

}  // namespace goldenv::realise

#include "fetch/failure.h"

#include "base/text.h"
#include "base/url.h"

namespace goldenv::fetch {

Failure failure_of(CURLcode code, std::string_view words) {
  const std::string detail =
      shortened(to_utf8(mask_users(words.empty() ? curl_easy_strerror(code) : words)));
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
      return {Errc::failed, "cannot be reached: " + detail, true};
    case CURLE_OPERATION_TIMEDOUT:
      return {Errc::timed_out, "stalls: " + detail, true};
    case CURLE_PARTIAL_FILE:
      return {Errc::failed, "ended before all it announced had come: " + detail, true};
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return {Errc::failed, "broke off: " + detail, true};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
      return {Errc::denied,
              "has a certificate that is not trusted (" + detail +
                  "); a private authority is named by the index's cert setting",
              false};
    case CURLE_SSL_CACERT_BADFILE:
      return {Errc::failed, "cannot be trusted: the file of authorities cannot be read", false};
    case CURLE_SSL_CERTPROBLEM:
      return {Errc::failed, "cannot be asked: the client certificate cannot be used: " + detail,
              false};
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_CONTENT_ENCODING:
      return {Errc::malformed, "answers with something else than HTTP: " + detail, false};
    default:
      return {Errc::failed, "failed: " + detail, false};
  }
}

Failure failure_of_status(long status) {
  const std::string answers = "answers " + std::to_string(status);
  switch (status) {
    case 401:
    case 403:
      return {Errc::denied, answers + ": it wants other credentials", false};
    case 407:
      return {Errc::denied, answers + ": the proxy wants other credentials", false};
    case 404:
    case 410:
      return {Errc::absent, answers + ": it is not there", false};
    case 408:
    case 425:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
      return {Errc::failed, answers, true};
    default:
      return {Errc::failed, answers, false};
  }
}

}  // namespace goldenv::fetch

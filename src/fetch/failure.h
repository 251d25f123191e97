#pragma once

#include <curl/curl.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace goldenv::fetch {

/// Why one try at one place brought nothing.
struct Failure {
  Errc code = Errc::failed;
  std::string what;         ///< "answers 503", "cannot be reached: ..."
  bool is_passing = false;  ///< another try may do better
};

/// Of a transfer that libcurl ended; `words` is its error text.
Failure failure_of(CURLcode code, std::string_view words);

/// Of a status that is neither 2xx nor a redirect.
Failure failure_of_status(long status);

}  // namespace goldenv::fetch

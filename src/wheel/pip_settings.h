#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace goldenv::wheel {

/// Where and how pip on a machine gets its packages. What is not set is none or empty: pip's own
/// defaults are pip's to say.
struct PipSettings {
  std::optional<std::string> index_url;
  std::vector<std::string> extra_index_urls;
  std::vector<std::string> find_links;
  bool no_index = false;
  std::string cert;         ///< file of certificates
  std::string client_cert;  ///< file with key and certificate
  std::string proxy;
  std::vector<std::string> trusted_hosts;  ///< host or host:port
  std::optional<double> timeout_s;
  std::optional<unsigned> retries;

  friend bool operator==(const PipSettings&, const PipSettings&) = default;
};

/// What `pip config list` prints: one `section.key='value'` a line, the value as Python writes a
/// string. Of one key, the variable (:env:) wins over [install], which wins over [global]; other
/// sections are other commands'. Several values are separated by blanks. Keys in either spelling
/// (index-url, index_url), others are passed over. Errors: malformed: a line that is none, a value
/// that is no Python string, a number or switch that is none.
Result<PipSettings> parse_pip_settings(std::string_view text);

}  // namespace goldenv::wheel

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::probe {

/// A setting of apt: the last that its files say.
struct AptSetting {
  std::string name;   ///< as asked for: "APT::Periodic::Enable"
  std::string value;  ///< "" where nothing sets it
  std::string file;
  std::uint32_t line = 0;
};

struct AptSettings {
  std::vector<AptSetting> found;  ///< in the order asked for
  std::vector<Error> unread;      ///< files that are there and could set any of them
};

/// What the files of /etc/apt/apt.conf.d by name, then /etc/apt/apt.conf set. Source: apt.conf(5).
AptSettings apt_settings(const host::Host& host, std::initializer_list<std::string_view> names);

/// One assignment in a text of apt's; sections are joined by "::".
struct AptAssignment {
  std::string name;
  std::string value;
  std::uint32_t line = 0;
};

/// Both forms, `APT::Periodic::Enable "1";` and `APT { Periodic { Enable "1"; }; };`, comments of
/// three kinds. What is damaged ends the reading: nothing is guessed behind it. `#clear` comes out
/// as an empty value.
std::vector<AptAssignment> parse_apt_settings(std::string_view text);

}  // namespace goldenv::probe

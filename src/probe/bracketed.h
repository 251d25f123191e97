#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "facts/reading.h"
#include "host/host.h"

namespace goldenv::probe {

/// The chosen word of a sysfs selector: `madvise` of "always [madvise] never". A missing file is
/// absent; unknown where no word stands in brackets.
facts::Reading bracketed(const host::Host& host, std::string_view path);

/// A list of CPUs, nodes or such as the kernel writes ranges: items of "0-31,64-95". An empty text
/// and
/// "(null)" are the empty list. A missing file is absent.
facts::Reading ranges(const host::Host& host, std::string_view path);

/// The numbers of such a list. Wrong parts are passed over; at most `limit` numbers.
std::vector<std::uint32_t> expand_ranges(std::string_view text, std::size_t limit = 65536);

}  // namespace goldenv::probe

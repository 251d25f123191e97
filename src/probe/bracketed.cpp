#include "probe/bracketed.h"

#include <string>
#include <utility>

#include "base/text.h"
#include "probe/probe.h"

namespace goldenv::probe {

using facts::Reading;
using facts::Unknown;
using facts::Value;
using facts::Why;

facts::Reading bracketed(const host::Host& host, std::string_view path) {
  Reading reading = one_line(host, path);
  const auto* value = std::get_if<Value>(&reading);
  if (value == nullptr) {
    return reading;
  }
  const std::size_t open = value->text.find('[');
  const std::size_t close = value->text.find(']', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos || close == open + 1) {
    return Unknown{Why::unreadable, "no word in brackets: " + value->text, ""};
  }
  return Value::scalar(value->text.substr(open + 1, close - open - 1));
}

facts::Reading ranges(const host::Host& host, std::string_view path) {
  const Result<std::string> text = host.read_file(path, 64u << 10);
  if (!text) {
    return facts::unread(text.error());
  }
  std::vector<std::string> items;
  const std::string_view inner = trim(*text);
  if (!inner.empty() && inner != "(null)") {
    for (const std::string_view item : split(inner, ',')) {
      items.emplace_back(trim(item));
    }
  }
  return Value::list(std::move(items));
}

std::vector<std::uint32_t> expand_ranges(std::string_view text, std::size_t limit) {
  std::vector<std::uint32_t> numbers;
  for (const std::string_view item : split(trim(text), ',')) {
    const std::size_t dash = item.find('-');
    const auto first = to_number(trim(item.substr(0, dash)));
    const auto last =
        dash == std::string_view::npos ? first : to_number(trim(item.substr(dash + 1)));
    if (!first || !last || *last < *first || *last > UINT32_MAX) {
      continue;
    }
    for (std::uint64_t n = *first; n <= *last && numbers.size() < limit; ++n) {
      numbers.push_back(static_cast<std::uint32_t>(n));
    }
  }
  return numbers;
}

}  // namespace goldenv::probe

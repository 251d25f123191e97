// What a host far away answers over ssh, and what one is asked.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "source/far_look.h"
#include "source/ssh.h"

namespace {

void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace goldenv;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);

  if (const auto answer = source::parse_ssh_answer(text, "ab12", "ssh:fuzz")) {
    require(answer->source == "ssh:fuzz");
    for (const facts::Fact& fact : answer->facts) {
      require(!fact.key.name.starts_with("env.") || !fact.key.label.empty() ||
              std::holds_alternative<facts::Unknown>(fact.reading));
    }
  } else {
    require(answer.error().code == Errc::failed);
  }
  if (const auto request = source::parse_request(text, "fuzz")) {
    const auto again = source::parse_request(source::render_request(*request), "fuzz");
    require(again && again->named == request->named && again->families == request->families);
  }
  if (const auto host = source::parse_ssh_host(text)) {
    require(*host == text && !text.starts_with('-') &&
            text.find_first_of(" \t\n;&|$`\"'\\<>()") == std::string_view::npos);
  }
  return 0;
}

#include "nvml/reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "host/child.h"
#include "nvml/library.h"
#include "nvml/program.h"

namespace goldenv::nvml {
namespace {

/// The library may write where programs usually write, and must not find its own device there.
void fill_standard_streams() {
  int fd = -1;
  do {
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) {
    close(fd);
  }
}

Report::End end_of(host::Child::End end) {
  switch (end) {
    case host::Child::End::answered:
      return Report::End::complete;
    case host::Child::End::timed_out:
      return Report::End::timed_out;
    case host::Child::End::died:
      return Report::End::died;
    case host::Child::End::not_started:
      break;
  }
  return Report::End::not_started;
}

}  // namespace

Report read(const std::string& library, Depth depth, std::chrono::milliseconds deadline) {
  host::Child child([&](std::string_view, const host::Child::Announce& announce) {
    fill_standard_streams();
    if (has_program()) {
      return ask_program(library, depth, announce);
    }
    return encode(
        ask_library(library, depth, [&](const Report& so_far) { announce(encode(so_far)); }));
  });
  host::Child::Reply reply = child.ask({}, deadline);
  const bool is_whole = reply.end == host::Child::End::answered;
  Result<Report> report = decode(is_whole ? reply.bytes : reply.announced);
  if (is_whole) {
    return report ? *std::move(report)
                  : Report{Report::End::died, "what it answers", kUnknown, "no answer", {}};
  }
  Report partial = report ? *std::move(report) : Report{};
  partial.end = end_of(reply.end);
  return partial;
}

}  // namespace goldenv::nvml

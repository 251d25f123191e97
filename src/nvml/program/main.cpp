// goldenv-nvml: asks one library and writes what it says to a descriptor. It is carried by
// goldenv-portable, which cannot load libraries, and started by the host's own loader: so it needs
// of the C library only what every glibc since 2.17 has (libc.cpp), and of C++'s nothing at all.
//   goldenv-nvml LIBRARY system|devices DESCRIPTOR

#include <string>
#include <string_view>

#include "nvml/library.h"
#include "nvml/program.h"

extern "C" {
long write(int fd, const void* bytes, unsigned long size);
[[noreturn]] void _exit(int status);
int goldenv_nvml_main(int count, char** words);
}

namespace goldenv::nvml {
namespace {

void put(int fd, const char* bytes, std::size_t size) {
  while (size > 0) {
    const long done = write(fd, bytes, size);
    if (done <= 0) {
      _exit(1);
    }
    bytes += done;
    size -= static_cast<std::size_t>(done);
  }
}

void put_report(int fd, const Report& report, bool is_last) {
  const std::string text = encode(report);
  const FrameHeader header{static_cast<unsigned>(text.size()), is_last ? 1U : 0U};
  put(fd, reinterpret_cast<const char*>(&header), sizeof header);
  put(fd, text.data(), text.size());
}

}  // namespace
}  // namespace goldenv::nvml

int goldenv_nvml_main(int count, char** words) {
  using namespace goldenv::nvml;
  if (count != 4) {
    _exit(2);
  }
  int fd = 0;
  for (const char* digit = words[3]; *digit >= '0' && *digit <= '9' && fd < 100'000; ++digit) {
    fd = fd * 10 + (*digit - '0');
  }
  const Depth depth = std::string_view(words[2]) == "devices" ? Depth::devices : Depth::system;
  put_report(
      fd,
      ask_library(words[1], depth, [fd](const Report& so_far) { put_report(fd, so_far, false); }),
      true);
  // Without the ends of the library's objects: a sick driver may not let them come.
  _exit(0);
}

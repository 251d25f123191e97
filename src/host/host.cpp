#include "host/host.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace goldenv::host {

Result<std::string> Host::read_head(std::string_view path, std::size_t bytes) const {
  return ask(path, "head " + std::to_string(bytes), [&](int fd) -> Result<std::string> {
    std::string head(bytes, '\0');
    std::size_t done = 0;
    while (done < bytes) {
      const ssize_t got = pread(fd, head.data() + done, bytes - done, static_cast<off_t>(done));
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0) {
        return Error{Errc::unreadable, std::string(path) + ": " + std::strerror(errno), {}};
      }
      if (got == 0) {
        break;
      }
      done += static_cast<std::size_t>(got);
    }
    head.resize(done);
    return head;
  });
}

}  // namespace goldenv::host

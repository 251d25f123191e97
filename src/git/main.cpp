// goldenv-git REPOSITORY REVISION PATH writes that file of that revision to standard output.
// goldenv starts it for git: sources. Status 0; 2 where the words name nothing, 4 where reading
// failed, with one line on standard error.
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "git/blob.h"

namespace {

// As goldenv's own limit on a text.
constexpr std::size_t kLimitBytes = 16u << 20;
// A hostile repository is no reason to fill the machine's memory; large ones map their indexes.
[[maybe_unused]] constexpr rlim_t kMemoryBytes = rlim_t{8} << 30;
constexpr rlim_t kProcessorSeconds = 60;

bool put(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(fd, text.data(), text.size());
    if (done < 0 && errno != EINTR) {
      return false;
    }
    text.remove_prefix(done > 0 ? static_cast<std::size_t>(done) : 0);
  }
  return true;
}

void limit(__rlimit_resource resource, rlim_t value) {
  const rlimit both{value, value};
  setrlimit(resource, &both);  // where it is lower already it stays
}

}  // namespace

#if defined(__has_feature)
#define GOLDENV_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define GOLDENV_ADDRESS_SANITIZER 0
#endif

int main(int count, char** words) {
  constexpr int kUsage = 2;
  constexpr int kFailed = 4;
  if (count != 4) {
    put(STDERR_FILENO, "goldenv-git: needs REPOSITORY REVISION PATH; goldenv starts it\n");
    return kUsage;
  }
#if !defined(__SANITIZE_ADDRESS__) && !GOLDENV_ADDRESS_SANITIZER  // which reserves terabytes
  limit(RLIMIT_AS, kMemoryBytes);
#endif
  limit(RLIMIT_CPU, kProcessorSeconds);
  limit(RLIMIT_CORE, 0);
  const auto text = goldenv::git::read_blob(words[1], words[2], words[3], kLimitBytes);
  if (!text) {
    put(STDERR_FILENO, text.error().message + "\n");
    return text.error().code == goldenv::Errc::failed ? kFailed : kUsage;
  }
  return put(STDOUT_FILENO, *text) ? 0 : kFailed;
}

// goldenv-realise reads one request from standard input and answers with a line of JSON for each
// thing that happens. goldenv starts it. Status 0 when all was done or reported; 2 where the input
// is no request; 4 where it was interrupted or nobody reads any more. docs/REALISE.md.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <string_view>

#include "realise/loop.h"
#include "realise/request.h"

namespace {

constexpr std::size_t kLimitBytes = 64u << 20;

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void interrupt(int /*signal*/) { interrupted = true; }

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

bool read_all(std::string& text) {
  char piece[65536];
  while (text.size() <= kLimitBytes) {
    const ssize_t got = ::read(STDIN_FILENO, piece, sizeof piece);
    if (got == 0) {
      return true;
    }
    if (got < 0 && errno != EINTR) {
      return false;
    }
    text.append(piece, got > 0 ? static_cast<std::size_t>(got) : 0);
  }
  return false;
}

}  // namespace

int main(int count, char** /*words*/) {
  constexpr int kUsage = 2;
  constexpr int kFailed = 4;
  struct sigaction action {};
  action.sa_handler = interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::string text;
  if (count != 1 || isatty(STDIN_FILENO) != 0 || !read_all(text)) {
    put(STDERR_FILENO, "goldenv-realise: reads one request; goldenv starts it\n");
    return kUsage;
  }
  auto request = goldenv::realise::parse_request(text);
  if (!request) {
    put(STDERR_FILENO, request.error().message + "\n");
    return kUsage;
  }
  const auto write_line = [](std::string_view line) {
    return put(STDOUT_FILENO, line) && put(STDOUT_FILENO, "\n");
  };
  return goldenv::realise::run(*std::move(request), write_line, interrupted) ? 0 : kFailed;
}

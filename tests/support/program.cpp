#include "support/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

namespace goldenv::test {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void give_up(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
      give_up("pipe2");
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  [[nodiscard]] int reader() const { return ends_[0]; }
  [[nodiscard]] int writer() const { return ends_[1]; }
  void close_reader() { close_end(0); }
  void close_writer() { close_end(1); }

 private:
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) {
      close(ends_[end]);
      ends_[end] = -1;
    }
  }
  std::array<int, 2> ends_{-1, -1};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) {
    out.push_back(text.data());
  }
  out.push_back(nullptr);
  return out;
}

[[noreturn]] void become(const Command& command, char** argv, char** environment, int in, int out,
                         int err) {
  setpgid(0, 0);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  signal(SIGPIPE, SIG_DFL);
  if (!command.folder.empty() && chdir(command.folder.c_str()) != 0) {
    _exit(127);
  }
  execve(argv[0], argv, environment);
  _exit(127);
}

/// Moves what waits in a pipe to `text`; false at its end.
bool drain(int fd, std::string& text) {
  std::array<char, 65536> room;
  const ssize_t got = read(fd, room.data(), room.size());
  if (got > 0) {
    text.append(room.data(), static_cast<std::size_t>(got));
  }
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

}  // namespace

Ended run(const Command& command) {
  std::vector<std::string> words = command.argv;
  std::vector<std::string> settings;
  if (command.environment) {
    for (const auto& [name, value] : *command.environment) {
      settings.push_back(name + "=" + value);
    }
  }
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> own = pointers(settings);
  char** environment = command.environment ? const_cast<char**>(own.data()) : environ;

  Pipe in;
  Pipe out;
  Pipe err;
  signal(SIGPIPE, SIG_IGN);  // a program may end without reading its input
  const pid_t child = fork();
  if (child < 0) {
    give_up("fork");
  }
  if (child == 0) {
    become(command, const_cast<char**>(argv.data()), environment, in.reader(), out.writer(),
           err.writer());
  }
  setpgid(child, child);
  in.close_reader();
  out.close_writer();
  err.close_writer();
  fcntl(in.writer(), F_SETFL, O_NONBLOCK);

  Ended ended;
  std::size_t written = 0;
  bool timed_out = false;
  const Clock::time_point end = Clock::now() + command.deadline;
  while (out.reader() >= 0 || err.reader() >= 0) {
    if (in.writer() >= 0 && written == command.input.size()) {
      in.close_writer();
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) {
      timed_out = true;
      kill(-child, SIGKILL);
      break;
    }
    std::array<pollfd, 3> ends{pollfd{in.writer(), POLLOUT, 0}, pollfd{out.reader(), POLLIN, 0},
                               pollfd{err.reader(), POLLIN, 0}};
    if (poll(ends.data(), ends.size(), static_cast<int>(left.count())) < 0) {
      continue;
    }
    if (ends[0].revents != 0) {
      const ssize_t put =
          write(in.writer(), command.input.data() + written, command.input.size() - written);
      if (put > 0) {
        written += static_cast<std::size_t>(put);
      } else if (put < 0 && errno != EAGAIN && errno != EINTR) {
        in.close_writer();
      }
    }
    if (ends[1].revents != 0 && !drain(out.reader(), ended.out)) {
      out.close_reader();
    }
    if (ends[2].revents != 0 && !drain(err.reader(), ended.err)) {
      err.close_reader();
    }
  }
  // Both outputs are closed; a program that closed them and runs on meets the deadline here.
  int state = 0;
  pid_t gone = 0;
  while ((gone = waitpid(child, &state, timed_out ? 0 : WNOHANG)) == 0) {
    if (Clock::now() >= end) {
      timed_out = true;
      kill(-child, SIGKILL);
    } else {
      usleep(500);
    }
  }
  if (timed_out || gone < 0) {
    ended.status = -1;
  } else {
    ended.status = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
  }
  return ended;
}

}  // namespace goldenv::test

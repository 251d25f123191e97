#include "nvml/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "host/descriptor.h"
#include "nvml/report.h"

extern "C" {
// Bytes of the program; null where src/nvml/program is not linked in.
[[gnu::weak]] extern const char goldenv_nvml_program[];
[[gnu::weak]] extern const char goldenv_nvml_program_end[];
}

namespace goldenv::nvml {
namespace {

using host::Descriptor;

/// Exit status of a process that could not become the program.
constexpr int kNotStarted = 127;
/// MFD_EXEC, from Linux 6.3; before it every such file may be run.
constexpr unsigned kMayRun = 0x10;

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

/// The program as a file that can be run: in memory, else (Linux before 3.17, or where files in
/// memory may not be run) one of ours that has no name any more.
Descriptor program_file(bool in_memory) {
  const std::string_view bytes(
      goldenv_nvml_program,
      static_cast<std::size_t>(goldenv_nvml_program_end - goldenv_nvml_program));
  if (in_memory) {
    Descriptor memory(memfd_create("goldenv-nvml", MFD_CLOEXEC | kMayRun));
    if (!memory) {
      memory = Descriptor(memfd_create("goldenv-nvml", MFD_CLOEXEC));
    }
    return memory && write_all(memory.get(), bytes) ? std::move(memory) : Descriptor();
  }
  std::array<char, 24> name = {"/tmp/goldenv-XXXXXX"};
  Descriptor file(mkostemp(name.data(), O_CLOEXEC));
  if (!file) {
    return {};
  }
  const bool written = write_all(file.get(), bytes) && fchmod(file.get(), 0500) == 0;
  // A file that is open for writing cannot be run.
  Descriptor readable(written ? open(name.data(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1);
  unlink(name.data());
  return readable;
}

/// Becomes the program; returns where that fails.
void become(int file, const std::string& library, Depth depth, int out) {
  const std::string out_text = std::to_string(out);
  std::string name = "goldenv-nvml";
  std::string what = depth == Depth::system ? "system" : "devices";
  std::string path = library;
  std::string number = out_text;
  std::array<char*, 5> words = {name.data(), path.data(), what.data(), number.data(), nullptr};
  std::array<char*, 1> environment = {nullptr};
  syscall(SYS_execveat, file, "", words.data(), environment.data(), AT_EMPTY_PATH);
  if (errno == ENOSYS) {  // Linux before 3.19
    const std::string self = "/proc/self/fd/" + std::to_string(file);
    execve(self.c_str(), words.data(), environment.data());
  }
}

/// A process of the program, which writes to the given end of a pipe; -1 where there is none.
pid_t start(const std::string& library, Depth depth, int out) {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid != 0) {
    return pid;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Behind the standard streams, and the one thing that stays open.
  const int kept = fcntl(out, F_DUPFD, STDERR_FILENO + 1);
  if (kept < 0 || getppid() != parent) {
    _exit(kNotStarted);
  }
  int error = 0;
  for (const bool in_memory : {true, false}) {
    if (const Descriptor file = program_file(in_memory)) {
      become(file.get(), library, depth, kept);
    }
    error = errno;
  }
  write_all(kept, std::string_view(reinterpret_cast<const char*>(&error), sizeof error));
  _exit(kNotStarted);
}

/// Bytes up to the end of a stream.
std::string read_some(int fd) {
  std::array<char, 16'384> bytes;
  for (;;) {
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    if (got >= 0) {
      return {bytes.data(), static_cast<std::size_t>(got)};
    }
    if (errno != EINTR) {
      return {};
    }
  }
}

/// Takes the first whole frame off a stream's bytes; none where it is not there yet.
std::optional<std::pair<std::string, bool>> take_frame(std::string& stream) {
  FrameHeader header;
  if (stream.size() < sizeof header) {
    return std::nullopt;
  }
  std::memcpy(&header, stream.data(), sizeof header);
  if (header.size_bytes > kFrameLimitBytes || stream.size() - sizeof header < header.size_bytes) {
    return std::nullopt;
  }
  std::pair frame{stream.substr(sizeof header, header.size_bytes), header.is_last == 1};
  stream.erase(0, sizeof header + header.size_bytes);
  return frame;
}

std::string not_started(int error) {
  Report report;
  report.end = Report::End::not_started;
  report.code = kLibraryNotFound;
  report.problem = std::string("goldenv-portable cannot start the program that loads it: ") +
                   (error == ENOENT ? "this host has no loader for it" : std::strerror(error));
  return encode(report);
}

}  // namespace

bool has_program() { return goldenv_nvml_program != nullptr; }

std::string ask_program(const std::string& library, Depth depth,
                        const std::function<void(const std::string& so_far)>& progress) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return not_started(errno);
  }
  Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  const pid_t pid = start(library, depth, theirs.get());
  if (pid < 0) {
    return not_started(errno);
  }
  theirs.reset();
  std::string stream;
  std::string latest;
  bool is_whole = false;
  // What is more than a frame can be was not written by us, but by what was loaded.
  while (!is_whole && stream.size() <= kFrameLimitBytes + sizeof(FrameHeader)) {
    const std::string more = read_some(ours.get());
    if (more.empty()) {
      break;
    }
    stream += more;
    while (auto frame = take_frame(stream)) {
      latest = std::move(frame->first);
      is_whole = frame->second;
      if (!is_whole) {
        progress(latest);
      }
    }
  }
  ours.reset();
  kill(pid, SIGKILL);  // its work is done, or it says what nobody reads
  int status = 0;
  waitpid(pid, &status, 0);
  if (is_whole) {
    return latest;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotStarted && latest.empty() &&
      stream.size() == sizeof(int)) {
    int error = 0;
    std::memcpy(&error, stream.data(), sizeof error);
    return not_started(error);
  }
  Result<Report> partial = decode(latest);
  Report report = partial ? *std::move(partial) : Report{};
  report.end = Report::End::died;
  return encode(report);
}

}  // namespace goldenv::nvml

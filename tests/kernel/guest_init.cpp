// The first and only process of a guest: mounts what goldenv reads, loads the module of /module,
// tells what the kernel says of itself, runs the lines of /commands, and ends the machine. All goes
// to the second serial line, apart from the kernel's own messages.
#include <fcntl.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

/// Where QEMU's isa-debug-exit listens; it ends with status 2 * value + 1.
constexpr unsigned short kExitPort = 0xf4;
constexpr unsigned kExitValue = 0x10;

void mount_at(const char* type, const char* folder) {
  mkdir(folder, 0755);
  if (mount(type, folder, type, 0, nullptr) != 0) {
    std::printf("@@ mount %s: %s\n", folder, std::strerror(errno));
  }
}

std::string content_of(const char* path) {
  std::string text;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  char bytes[4096];
  for (ssize_t got = 0; fd >= 0 && (got = read(fd, bytes, sizeof bytes)) > 0;) {
    text.append(bytes, static_cast<std::size_t>(got));
  }
  if (fd >= 0) {
    close(fd);
  }
  return text;
}

std::string first_line_of(const char* path) {
  const std::string text = content_of(path);
  return text.substr(0, text.find('\n'));
}

void load_module(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool loaded = fd >= 0 && syscall(SYS_finit_module, fd, "", 0) == 0;
  std::printf("@@ module %s\n", loaded ? "loaded" : std::strerror(errno));
}

void run(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  std::printf("@@ begin %s\n", line.c_str());
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> argv;
    for (std::string& word : words) {
      argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    char home[] = "HOME=/";
    char* environment[] = {home, nullptr};
    execve(argv[0], argv.data(), environment);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("@@ end %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

}  // namespace

int main() {
  mount_at("devtmpfs", "/dev");
  const int line = open("/dev/ttyS1", O_RDWR | O_NOCTTY);
  if (line >= 0) {
    termios raw{};
    tcgetattr(line, &raw);
    cfmakeraw(&raw);
    tcsetattr(line, TCSANOW, &raw);
    dup2(line, STDOUT_FILENO);
    dup2(line, STDERR_FILENO);
  }
  mount_at("proc", "/proc");
  mount_at("sysfs", "/sys");
  if (const std::string module = first_line_of("/module"); !module.empty()) {
    load_module(module);
  }
  for (const char* path :
       {"/proc/version", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/tainted", "/proc/modules",
        "/sys/module/nvidia/version", "/sys/module/nvidia/srcversion", "/sys/module/nvidia/taint",
        "/sys/devices/system/node/online", "/sys/class/dmi/id/product_name",
        "/sys/devices/system/clocksource/clocksource0/current_clocksource"}) {
    std::printf("@@ truth %s: %s\n", path, first_line_of(path).c_str());
  }
  const std::string commands = content_of("/commands");
  for (std::size_t at = 0; at < commands.size();) {
    const std::size_t end = std::min(commands.find('\n', at), commands.size());
    run(commands.substr(at, end - at));
    at = end + 1;
  }
  std::printf("@@ done\n");
  std::fflush(stdout);
  tcdrain(STDOUT_FILENO);
  if (ioperm(kExitPort, 4, 1) == 0) {
    outl(kExitValue, kExitPort);
  }
  reboot(RB_POWER_OFF);
  return 0;
}

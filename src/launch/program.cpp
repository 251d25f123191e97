#include "launch/program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "base/text.h"

namespace goldenv::launch {
namespace {

/// Pointers to texts, with the null at the end that execve(2) wants. The texts must stay.
std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) {
    all.push_back(text.data());
  }
  all.push_back(nullptr);
  return all;
}

/// Executes one file; returns errno.
int execute(const std::string& file, std::vector<std::string>& arguments, char* const* environ) {
  ::execve(file.c_str(), pointers(arguments).data(), environ);
  if (errno != ENOEXEC) {
    return errno;
  }
  std::vector<std::string> script = {"/bin/sh", file};
  script.insert(script.end(), arguments.begin() + 1, arguments.end());
  ::execve("/bin/sh", pointers(script).data(), environ);
  return errno;
}

bool is_there(const std::string& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0;
}

std::string words_of(int error, const std::string& file) {
  // Of a script whose interpreter is not there, and of a program whose loader is not, the kernel
  // says that the file is not there.
  return (error == ENOENT || error == ENOTDIR) && is_there(file)
             ? "what its first line, or its ELF header, names to run it is not there"
             : std::strerror(error);
}

Refusal refused(const std::string& file, int error) {
  const bool absent = (error == ENOENT || error == ENOTDIR) && !is_there(file);
  return {absent ? kNotFound : kCannotExecute, "cannot run " + file + ": " + words_of(error, file)};
}

}  // namespace

Refusal become(const Program& program) {
  std::vector<std::string> arguments = program.arguments;
  std::vector<std::string> entries;
  std::string path = "/bin:/usr/bin";  // of execvp(3), where there is no PATH
  for (const Variable& variable : program.variables) {
    entries.push_back(variable.name + "=" + variable.value);
    if (variable.name == "PATH") {
      path = variable.value;
    }
  }
  const std::vector<char*> environ = pointers(entries);
  std::signal(SIGXFSZ, SIG_DFL);
  const std::string& name = arguments.front();
  if (name.find('/') != std::string::npos) {
    return refused(name, execute(name, arguments, environ.data()));
  }
  Refusal refusal{kNotFound, "cannot run " + name + ": it is in no folder of PATH"};
  if (name.empty()) {
    return refusal;
  }
  for (const std::string_view folder : split(path, ':')) {
    const std::string file = (folder.empty() ? "." : std::string(folder)) + "/" + name;
    switch (const int error = execute(file, arguments, environ.data())) {
      case ENOENT:
      case ENOTDIR:
        if (is_there(file)) {
          return refused(file, error);
        }
        break;
      case ESTALE:
      case ENODEV:
      case ETIMEDOUT:
        break;
      case EACCES:
        // A folder, or a file that may not be executed: another folder may have the right one.
        refusal = refused(file, error);
        break;
      default:
        return refused(file, error);
    }
  }
  return refusal;
}

}  // namespace goldenv::launch

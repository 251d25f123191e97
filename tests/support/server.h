#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace goldenv::test {

/// A program that runs beside the test and is ended with it: a server that prints its port in the
/// first line of its standard output. Throws std::runtime_error where it does not.
class Server {
 public:
  /// The first word is the program's path.
  explicit Server(const std::vector<std::string>& argv);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  [[nodiscard]] const std::string& port() const { return port_; }

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  std::string port_;
};

}  // namespace goldenv::test

#include <csignal>
#include <string>
#include <vector>

#include "cli/command.h"

int main(int count, char** words) {
  // A file that may not grow is an error of the write, that is told and cleaned up after.
  std::signal(SIGXFSZ, SIG_IGN);
  return goldenv::cli::run(std::vector<std::string>(words + (count > 0 ? 1 : 0), words + count));
}

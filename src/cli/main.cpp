#include <string>
#include <vector>

#include "cli/command.h"

int main(int count, char** words) {
  return goldenv::cli::run(std::vector<std::string>(words + (count > 0 ? 1 : 0), words + count));
}

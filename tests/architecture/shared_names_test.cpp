#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace goldenv {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What a survey shares is kept by the name of its type, and of two types in unnamed namespaces that
// are called alike a compiler may make one name.
TEST(SharedNames, EachIsOfOneFile) {
  const std::filesystem::path room = GOLDENV_SOURCE_DIR "/src/probe";
  const std::regex shared(R"(shared<(\w+)>)");
  const std::regex declared(R"((?:struct|class) (\w+))");
  std::map<std::string, std::set<std::string>> users;
  std::set<std::string> in_headers;
  for (const auto& entry : std::filesystem::directory_iterator(room)) {
    const std::string text = text_of(entry.path());
    const bool header = entry.path().extension() == ".h";
    const std::regex& wanted = header ? declared : shared;
    for (std::sregex_iterator it(text.begin(), text.end(), wanted), end; it != end; ++it) {
      if (header) {
        in_headers.insert((*it)[1]);
      } else {
        users[(*it)[1]].insert(entry.path().filename());
      }
    }
  }
  EXPECT_GE(users.size(), 10u);
  for (const auto& [name, files] : users) {
    EXPECT_TRUE(files.size() == 1 || in_headers.contains(name))
        << name << " of " << *files.begin() << " and " << *files.rbegin();
  }
}

}  // namespace
}  // namespace goldenv

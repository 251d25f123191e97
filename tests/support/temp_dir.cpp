#include "support/temp_dir.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace goldenv::test {

namespace fs = std::filesystem;

TempDir::TempDir() {
  const char* parent = std::getenv("TMPDIR");
  std::string name = std::string(parent != nullptr && *parent != '\0' ? parent : "/tmp");
  name = fs::canonical(name).string() + "/goldenv-test-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("cannot make " + name + ": " + std::strerror(errno));
  }
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  // A test may have left folders that it made unreadable.
  fs::recursive_directory_iterator it(path_, fs::directory_options::skip_permission_denied,
                                      ignored);
  while (!ignored && it != fs::recursive_directory_iterator()) {
    if (it->symlink_status(ignored).type() == fs::file_type::directory) {
      fs::permissions(it->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
    }
    it.increment(ignored);
  }
  fs::remove_all(path_, ignored);
}

std::string TempDir::at(std::string_view relative) const {
  return path_ + "/" + std::string(relative);
}

std::string TempDir::file(std::string_view relative, std::string_view content) const {
  const std::string full = at(relative);
  fs::create_directories(fs::path(full).parent_path());
  fs::remove(full);
  std::ofstream out(full, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) {
    throw std::runtime_error("cannot write " + full);
  }
  return full;
}

std::string TempDir::link(std::string_view relative, const std::string& target) const {
  const std::string full = at(relative);
  fs::create_directories(fs::path(full).parent_path());
  fs::remove(full);
  fs::create_symlink(target, full);
  return full;
}

std::string TempDir::folder(std::string_view relative) const {
  const std::string full = at(relative);
  fs::create_directories(full);
  return full;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) {
    throw std::runtime_error("cannot read " + path);
  }
  return text;
}

}  // namespace goldenv::test

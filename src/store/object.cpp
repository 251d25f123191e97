#include "store/object.h"

#include <algorithm>
#include <utility>

#include "base/sha256_stream.h"
#include "base/text.h"

namespace goldenv::store {

std::string reduced(std::string_view text) {
  std::string out(text.substr(0, 60));
  for (char& c : out) {
    const bool stays = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '+' || c == '-';
    if (!stays) {
      c = '_';
    }
  }
  return out;
}

bool is_tree_path(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) {
    return false;
  }
  return std::ranges::none_of(split(path, '/'), [](std::string_view part) {
    return part.empty() || part == "." || part == "..";
  });
}

std::string Object::id() const {
  return key.substr(0, 32) + "-" + reduced(name) + "-" + reduced(version);
}

std::string content_digest(const std::vector<File>& files) {
  Sha256Stream stream;
  for (const File& file : files) {
    std::string line = file.path;
    line += '\0';
    line += !file.link.empty() ? 'l' : file.executable ? 'x' : 'r';
    line += '\0';
    line += file.link.empty() ? file.sha256.hex() : file.link;
    line += '\n';
    stream.add(line);
  }
  return stream.take().hex();
}

}  // namespace goldenv::store

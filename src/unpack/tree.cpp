#include "unpack/tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "store/descriptor.h"

namespace goldenv::unpack {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
constexpr std::size_t kNameBytes = 255;   // NAME_MAX of Linux
constexpr std::size_t kPathBytes = 2000;  // what is put in front of it fits PATH_MAX
constexpr int kHops = 40;                 // as the kernel

std::pair<std::string_view, std::string_view> split_last(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::pair<std::string_view, std::string_view>{"", path}
                                         : std::pair{path.substr(0, slash), path.substr(slash + 1)};
}

Error disk(const std::string& path, int number) {
  const bool is_full = number == ENOSPC || number == EDQUOT;
  return Error{Errc::failed,
               path + ": " + std::strerror(number) + (is_full ? " (the disk is full)" : ""),
               {}};
}

}  // namespace

int open_below(int fd, std::string_view path) {
  int at = openat(fd, ".", kFolderFlags);
  while (!path.empty() && at >= 0) {
    const std::size_t slash = path.find('/');
    const std::string name(path.substr(0, slash));
    const int next = openat(at, name.c_str(), kFolderFlags);
    const int why = errno;
    close(at);
    errno = why;
    at = next;
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return at;
}

NewFile::NewFile(NewFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)), head_(other.head_) {}

NewFile::~NewFile() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

Result<void> NewFile::write(std::string_view piece) {
  if (head_.size() < 4) {
    head_ += piece.substr(0, 4 - head_.size());
  }
  sum_.add(piece);
  size_bytes_ += piece.size();
  while (!piece.empty()) {
    const ssize_t done = ::write(fd_, piece.data(), piece.size());
    if (done < 0 && errno != EINTR) {
      return disk(path_, errno);
    }
    piece.remove_prefix(done > 0 ? static_cast<std::size_t>(done) : 0);
  }
  return {};
}

store::File NewFile::finish(bool executable) {
  close(fd_);
  fd_ = -1;
  store::File file;
  file.path = path_;
  file.size_bytes = size_bytes_;
  file.sha256 = sum_.take();
  file.executable = executable;
  return file;
}

Error Tree::refuse(std::string_view member, std::string_view what) const {
  return Error{Errc::malformed,
               artifact_ + ": '" + shortened(to_utf8(member)) + "' " + std::string(what),
               {}};
}

Result<void> Tree::claim_case(std::string_view path, std::string_view member) {
  if (case_ == Case::counts) {
    return {};
  }
  const auto [found, is_new] = by_lower_.try_emplace(to_lower(path), path);
  if (!is_new && found->second != path) {
    return refuse(member, "differs from '" + shortened(found->second) + "' in case alone");
  }
  return {};
}

Result<void> Tree::claim_folder(std::string_view path, std::string_view member) {
  if (path.empty() || folders_.contains(std::string(path))) {
    return {};
  }
  const auto [above, name] = split_last(path);
  if (const auto done = claim_folder(above, member); !done) {
    return done;
  }
  if (name.size() > kNameBytes) {
    return refuse(member, "has a name of more than 255 bytes");
  }
  if (files_.contains(std::string(path))) {
    return refuse(member, "lies below '" + std::string(path) + "', which is no folder");
  }
  if (const auto done = claim_case(path, member); !done) {
    return done;
  }
  const store::Descriptor folder(open_below(fd_, above));
  if (!folder || mkdirat(folder.get(), std::string(name).c_str(), 0700) != 0) {
    return disk(std::string(path), errno);
  }
  folders_.insert(std::string(path));
  return {};
}

Result<void> Tree::claim(std::string_view path, std::string_view member) {
  if (path.size() > kPathBytes) {
    return refuse(member, "has a path of more than 2000 bytes");
  }
  const auto [above, name] = split_last(path);
  if (const auto done = claim_folder(above, member); !done) {
    return done;
  }
  if (name.size() > kNameBytes) {
    return refuse(member, "has a name of more than 255 bytes");
  }
  if (folders_.contains(std::string(path))) {
    return refuse(member, "is a file where a folder is, too");
  }
  if (!files_.insert(std::string(path)).second) {
    return refuse(member, "is there twice");
  }
  return claim_case(path, member);
}

Result<NewFile> Tree::create(const std::string& path) const {
  const auto [above, name] = split_last(path);
  const store::Descriptor folder(open_below(fd_, above));
  const int fd = folder ? openat(folder.get(), std::string(name).c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
                        : -1;
  if (fd < 0) {
    return disk(path, errno);
  }
  return NewFile(fd, path);
}

Result<void> Tree::create_hard_link(const std::string& path, const std::string& to) const {
  const auto [above, name] = split_last(path);
  const auto [above_to, name_to] = split_last(to);
  const store::Descriptor folder(open_below(fd_, above));
  const store::Descriptor folder_to(open_below(fd_, above_to));
  if (!folder || !folder_to ||
      linkat(folder_to.get(), std::string(name_to).c_str(), folder.get(), std::string(name).c_str(),
             0) != 0) {
    return disk(path, errno);
  }
  return {};
}

Result<void> Tree::create_links(const std::map<std::string, std::string>& links) {
  for (const auto& [path, target] : links) {
    // As the kernel would walk it: `..` of where a link led, not of its text.
    std::vector<std::string> at;
    const std::string_view above = split_last(path).first;
    std::vector<std::string> rest;  // the next part is the last
    const auto push = [&rest](std::string_view text) {
      const std::vector<std::string_view> parts = split(text, '/');
      rest.insert(rest.end(), parts.rbegin(), parts.rend());
    };
    push(target);
    push(above);
    int hops = 0;
    while (!rest.empty()) {
      const std::string part = rest.back();
      rest.pop_back();
      if (part.empty() || part == ".") {
        continue;
      }
      if (part == "..") {
        if (at.empty()) {
          return refuse(path, "is a link that leads out: " + shortened(to_utf8(target)));
        }
        at.pop_back();
        continue;
      }
      at.push_back(part);
      const auto other = links.find(join(at, "/"));
      if (other == links.end()) {
        continue;
      }
      if (++hops > kHops) {
        return refuse(path, "is a link that leads round in a circle");
      }
      at.pop_back();
      push(other->second);
    }
  }
  for (const auto& [path, target] : links) {
    const auto [above, name] = split_last(path);
    const store::Descriptor folder(open_below(fd_, above));
    if (!folder || symlinkat(target.c_str(), folder.get(), std::string(name).c_str()) != 0) {
      return disk(path, errno);
    }
  }
  return {};
}

}  // namespace goldenv::unpack

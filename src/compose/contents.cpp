#include "compose/contents.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include "compose/written.h"
#include "store/disk.h"

namespace goldenv::compose {

using store::Descriptor;

Result<std::vector<std::string>> tree_listing(const store::Store& store, const std::string& id,
                                              const std::string& folder) {
  const std::string name = "objects/" + id + "/tree" + (folder.empty() ? "" : "/" + folder);
  GOLDENV_TRY(const std::vector<store::Member> members,
              store::members_at(store.fd(), name, store.at(name)));
  std::vector<std::string> names;
  names.reserve(members.size());
  for (const store::Member& member : members) {
    names.push_back(member.kind == store::Member::Kind::folder ? member.name + "/" : member.name);
  }
  std::ranges::sort(names);
  return names;
}

namespace {

constexpr std::size_t kPiece = 1U << 16U;

struct Opened {
  Descriptor fd;
  std::string link;  ///< of a link
  std::uint64_t size_bytes = 0;
};

Result<Opened> open_file(const store::Store& store, const std::string& id,
                         const std::string& path) {
  const std::string name = "objects/" + id + "/tree/" + path;
  Opened opened;
  opened.fd = Descriptor(
      ::openat(store.fd(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!opened.fd && errno == ELOOP) {
    GOLDENV_TRY(opened.link, store::link_at(store.fd(), name, store.at(name)));
    return opened;
  }
  struct stat status {};
  if (!opened.fd || ::fstat(opened.fd.get(), &status) != 0) {
    return store::system_error(store.at(name), errno);
  }
  opened.size_bytes = static_cast<std::uint64_t>(status.st_size);
  return opened;
}

/// As much as the buffer takes, unless the file ends.
Result<std::size_t> fill(int fd, std::array<char, kPiece>& buffer, const std::string& path) {
  std::size_t got = 0;
  while (got < buffer.size()) {
    const ssize_t count = ::read(fd, buffer.data() + got, buffer.size() - got);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return store::system_error(path, errno);
    }
    if (count == 0) {
      break;
    }
    got += static_cast<std::size_t>(count);
  }
  return got;
}

}  // namespace

Result<bool> same_file(const store::Store& store, const std::string& id, const std::string& path,
                       const std::string& other_id, const std::string& other_path) {
  GOLDENV_TRY(const Opened one, open_file(store, id, path));
  GOLDENV_TRY(const Opened other, open_file(store, other_id, other_path));
  if (!one.fd || !other.fd) {
    return !one.fd && !other.fd && one.link == other.link;
  }
  if (one.size_bytes != other.size_bytes) {
    return false;
  }
  std::array<char, kPiece> a;
  std::array<char, kPiece> b;
  for (;;) {
    GOLDENV_TRY(const std::size_t count, fill(one.fd.get(), a, path));
    GOLDENV_TRY(const std::size_t other_count, fill(other.fd.get(), b, other_path));
    if (count != other_count ||
        std::string_view(a.data(), count) != std::string_view(b.data(), count)) {
      return false;
    }
    if (count == 0) {
      return true;
    }
  }
}

Result<std::optional<std::string>> rewritten(int fd, const std::string& path,
                                             const std::string& interpreter) {
  constexpr std::string_view kMark = "#!python";
  constexpr std::size_t kScriptBytes = 16U << 20U;
  std::array<char, kPiece> buffer;
  GOLDENV_TRY(std::size_t count, fill(fd, buffer, path));
  std::string text(buffer.data(), count);
  if (!text.starts_with(kMark)) {
    return std::optional<std::string>();
  }
  while (count != 0 && text.size() < kScriptBytes) {
    GOLDENV_TRY(count, fill(fd, buffer, path));
    text.append(buffer.data(), count);
  }
  const std::size_t line = std::min(text.find('\n'), text.size());
  // "#!pythonw -E": what stands behind the interpreter stays where it can.
  std::string_view rest = std::string_view(text).substr(kMark.size(), line - kMark.size());
  if (rest.starts_with('w')) {
    rest.remove_prefix(1);
  }
  std::string head = script_head(interpreter);
  if (!rest.empty() && head.starts_with("#!/") && !head.starts_with("#!/bin/sh\n")) {
    head.insert(head.size() - 1, rest);
  }
  return std::optional(head + text.substr(std::min(line + 1, text.size())));
}

}  // namespace goldenv::compose

#include "image/contents.h"

#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/sha256.h"
#include "host/path.h"
#include "host/result_file.h"

namespace goldenv::image {
namespace {

constexpr std::uint64_t kSmallBytes = 8u << 20;
constexpr std::uint64_t kSmallTotalBytes = 512u << 20;
// Of what is fetched in one go, unless one file alone is larger: the libraries of cuDNN and a few
// more.
constexpr std::uint64_t kRoomBytes = std::uint64_t{1} << 30;
// Kept when a layer is first read.
constexpr std::uint64_t kUsualBytes = 8u << 20;
constexpr std::uint64_t kUsualTotalBytes = 64u << 20;

/// Whether every look asks for a file of this kind, so that it need not be fetched.
bool is_usual(std::string_view path) {
  while (path.starts_with("./") || path.starts_with('/')) {
    path.remove_prefix(path.starts_with('/') ? 1 : 2);
  }
  return path.starts_with("etc/") || path.starts_with("var/lib/dpkg/status") ||
         path.starts_with("usr/lib/os-release") || path.ends_with("/version.py") ||
         path.ends_with("/patchlevel.h") || path.ends_with("/pyvenv.cfg") ||
         path.find(".dist-info/") != std::string_view::npos;
}

Error no_memory(std::string_view path) {
  return Error{
      Errc::failed, std::string(path) + ": no memory to hold it: " + std::strerror(errno), {}};
}

Result<host::Descriptor> memory_file(std::string_view path) {
  host::Descriptor file(memfd_create("goldenv", MFD_CLOEXEC));
  if (!file) {
    return no_memory(path);
  }
  return file;
}

}  // namespace

Result<std::vector<archive::Member>> Contents::read_layer(std::size_t number) {
  const Layer& layer = layers_[number];
  archive::Tar tar(layer.part, layer.name, budget_);
  std::vector<archive::Member> members;
  while (true) {
    GOLDENV_TRY(std::optional<archive::Member> member, tar.next());
    if (!member) {
      break;
    }
    const bool fits =
        member->size_bytes <= kUsualBytes && small_bytes_ + member->size_bytes <= kUsualTotalBytes;
    if (member->kind == archive::Member::Kind::file && !member->offset && fits &&
        is_usual(member->path)) {
      GOLDENV_TRY(Held held, take(tar, member->size_bytes, layer.name));
      small_bytes_ += member->size_bytes;
      held_[{number, members.size()}] = std::move(held);
    }
    members.push_back(*std::move(member));
  }
  GOLDENV_TRY(const archive::Digests digests, tar.digests());
  const std::string sha256 = "sha256:";
  if (!layer.digest.empty() && layer.digest != sha256 + digests.part.hex()) {
    return Error{Errc::malformed,
                 layer.name + ": its bytes do not have the digest that the image states",
                 {}};
  }
  if (layer.diff_id != sha256 + digests.unpacked.hex()) {
    return Error{Errc::malformed,
                 layer.name +
                     ": unpacked, its bytes do not have the digest (diff_ids) that the "
                     "configuration of the image states",
                 {}};
  }
  return members;
}

/// The content of the entry at which an archive stands.
Result<Contents::Held> Contents::take(archive::Tar& tar, std::uint64_t size_bytes,
                                      const std::string& name) const {
  Held held;
  if (size_bytes <= kSmallBytes) {
    const Result<void> read =
        tar.content([&](std::uint64_t at, std::string_view piece) -> Result<void> {
          if (at > size_bytes || piece.size() > size_bytes - at) {
            return Error{Errc::malformed, name + ": a file is larger than it says", {}};
          }
          held.bytes.resize(std::max<std::size_t>(held.bytes.size(), at + piece.size()));
          std::ranges::copy(piece, held.bytes.begin() + static_cast<std::ptrdiff_t>(at));
          return {};
        });
    if (!read) {
      return read.error();
    }
    held.bytes.resize(static_cast<std::size_t>(size_bytes));
    return held;
  }
  GOLDENV_TRY(held.file, memory_file(name));
  if (ftruncate(held.file.get(), static_cast<off_t>(size_bytes)) != 0) {
    return no_memory(name);
  }
  const Result<void> read =
      tar.content([&](std::uint64_t at, std::string_view piece) -> Result<void> {
        while (!piece.empty()) {
          const ssize_t put =
              pwrite(held.file.get(), piece.data(), piece.size(), static_cast<off_t>(at));
          if (put < 0 && errno != EINTR) {
            return no_memory(name);
          }
          const auto done = static_cast<std::size_t>(std::max<ssize_t>(put, 0));
          piece.remove_prefix(done);
          at += done;
        }
        return {};
      });
  return read ? Result<Held>(std::move(held)) : Result<Held>(read.error());
}

/// A content that stands in its layer as it is.
Result<host::Descriptor> Contents::copy(const Tree::Content& content, std::string_view path) const {
  const archive::Part& part = layers_[content.layer].part;
  GOLDENV_TRY(host::Descriptor file, memory_file(path));
  auto from = static_cast<off_t>(part.offset + content.offset.value_or(0));
  std::uint64_t left = content.size_bytes;
  while (left > 0) {
    const ssize_t sent =
        sendfile(file.get(), part.fd, &from,
                 static_cast<std::size_t>(std::min<std::uint64_t>(left, 1u << 30)));
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent <= 0) {
      return sent < 0 ? no_memory(path)
                      : Error{Errc::failed, std::string(path) + ": the archive became shorter", {}};
    }
    left -= static_cast<std::uint64_t>(sent);
  }
  return file;
}

std::optional<Result<std::string>> Contents::inspect(
    const Tree::Content& content, std::string_view path,
    const std::function<Result<std::string>(int fd)>& look) {
  if (content.size_bytes > kFileLimitBytes) {
    return host::error_at(Errc::too_large, path, "is larger than 4 GiB");
  }
  if (content.offset) {
    const Result<host::Descriptor> file = copy(content, path);
    return file ? look(file->get()) : Result<std::string>(file.error());
  }
  const Place place{content.layer, content.member};
  const auto it = held_.find(place);
  if (it == held_.end()) {
    missed_[place] = content.size_bytes;
    return std::nullopt;
  }
  if (it->second.file) {
    return look(it->second.file.get());
  }
  const Result<host::Descriptor> file = memory_file(path);
  if (!file || !host::write_all(file->get(), it->second.bytes)) {
    return no_memory(path);
  }
  return look(file->get());
}

std::optional<Result<std::string>> Contents::read(const Tree::Content& content,
                                                  std::string_view path, std::size_t limit_bytes) {
  if (content.size_bytes > limit_bytes) {
    return host::error_at(Errc::too_large, path,
                          "is larger than " + std::to_string(limit_bytes) + " bytes");
  }
  const auto it = content.offset ? held_.end() : held_.find({content.layer, content.member});
  if (it != held_.end() && !it->second.file) {
    return it->second.bytes;
  }
  return inspect(content, path, [&](int fd) -> Result<std::string> {
    std::string bytes(static_cast<std::size_t>(content.size_bytes), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t got =
          pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        return host::error_at(Errc::unreadable, path);
      }
      done += static_cast<std::size_t>(got);
    }
    return bytes;
  });
}

Result<void> Contents::fetch_layer(std::size_t number, const std::set<std::uint64_t>& wanted,
                                   std::uint64_t& room) {
  const Layer& layer = layers_[number];
  archive::TarBudget budget;
  archive::Tar tar(layer.part, layer.name, budget, archive::Tar::Reading::skipping);
  std::size_t left = wanted.size();
  for (std::uint64_t at = 0; left > 0; ++at) {
    GOLDENV_TRY(const std::optional<archive::Member> member, tar.next());
    if (!member) {
      return Error{Errc::failed, layer.name + ": changed while it was read", {}};
    }
    if (!wanted.contains(at)) {
      continue;
    }
    --left;
    const std::uint64_t size = member->size_bytes;
    if (size > kFileLimitBytes || (size > room && room < kRoomBytes)) {
      continue;  // asked for again, and fetched when there is room
    }
    GOLDENV_TRY(Held held, take(tar, size, layer.name));
    room -= std::min(room, size);
    small_bytes_ += held.file ? 0 : size;
    held_[{number, at}] = std::move(held);
  }
  return {};
}

void Contents::expect(const Tree::Content& content) {
  const Place place{content.layer, content.member};
  if (!content.offset && !held_.contains(place)) {
    expected_[place] = content.size_bytes;
  }
}

Result<bool> Contents::fetch() {
  if (missed_.empty()) {
    return false;
  }
  const bool is_full = small_bytes_ > kSmallTotalBytes;
  std::erase_if(held_, [&](const auto& entry) { return is_full || entry.second.file; });
  small_bytes_ = is_full ? 0 : small_bytes_;
  std::map<std::size_t, std::set<std::uint64_t>> wanted;
  std::uint64_t left = kRoomBytes;
  for (const auto& [place, size] : missed_) {
    wanted[place.first].insert(place.second);
    left -= std::min(left, size);
  }
  for (const auto& [place, size] : expected_) {
    if (size <= left && !missed_.contains(place)) {
      wanted[place.first].insert(place.second);
      left -= size;
    }
  }
  missed_.clear();
  expected_.clear();
  std::uint64_t room = kRoomBytes;
  for (const auto& [number, members] : wanted) {
    if (const Result<void> fetched = fetch_layer(number, members, room); !fetched) {
      return fetched.error();
    }
  }
  return true;
}

}  // namespace goldenv::image

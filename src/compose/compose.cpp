#include "compose/compose.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "compose/contents.h"
#include "compose/proof.h"
#include "compose/written.h"
#include "store/disk.h"

namespace goldenv::compose {
namespace {

using store::Descriptor;

/// All bytes of one file to another: shared blocks where the file system can, else within the
/// kernel, else through us. 0 or errno.
int copy_bytes(int from, int to) {
  if (::ioctl(to, FICLONE, from) == 0) {
    return 0;
  }
  constexpr std::size_t kMost = 1U << 30U;
  bool in_kernel = true;
  for (;;) {
    ssize_t count = in_kernel ? ::copy_file_range(from, nullptr, to, nullptr, kMost, 0) : -1;
    if (in_kernel && count < 0 &&
        (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)) {
      in_kernel = false;
    }
    if (!in_kernel) {
      std::array<char, 65536> buffer;
      count = ::read(from, buffer.data(), buffer.size());
      for (ssize_t done = 0; done < count;) {
        const ssize_t written =
            ::write(to, buffer.data() + done, static_cast<std::size_t>(count - done));
        if (written < 0 && errno != EINTR) {
          return errno;
        }
        done += written < 0 ? 0 : written;
      }
    }
    if (count == 0) {
      return 0;
    }
    if (count < 0 && errno != EINTR) {
      return errno;
    }
  }
}

/// Puts a plan's items into a folder.
class Fill {
 public:
  Fill(const Plan& plan, int top, const std::string& path) : plan_(plan), path_(path) {
    open_.push_back({"", top});
  }
  Fill(const Fill&) = delete;
  Fill& operator=(const Fill&) = delete;
  ~Fill() {
    while (open_.size() > 1) {
      close_last();
    }
  }

  Result<void> add(const Item& item) {
    const std::size_t slash = item.path.rfind('/');
    const std::string_view parent = slash == std::string::npos
                                        ? std::string_view()
                                        : std::string_view(item.path).substr(0, slash);
    const int folder = open_at(parent);
    if (folder < 0) {
      return store::system_error(path_ + "/" + std::string(parent), errno);
    }
    const std::string name = slash == std::string::npos ? item.path : item.path.substr(slash + 1);
    const std::string full = path_ + "/" + item.path;
    store::step();
    switch (item.kind) {
      case Item::Kind::folder:
        return ::mkdirat(folder, name.c_str(), 0755) == 0 ? Result<void>()
                                                          : store::system_error(full, errno);
      case Item::Kind::link:
        return ::symlinkat(item.text.c_str(), folder, name.c_str()) == 0
                   ? Result<void>()
                   : store::system_error(full, errno);
      case Item::Kind::written:
        return store::write_at(folder, name, item.text, item.executable ? 0755 : 0644, full);
      case Item::Kind::copy:
        return copy(item, folder, name, full);
    }
    return {};
  }

 private:
  void close_last() {
    ::close(open_.back().second);
    open_.pop_back();
  }

  /// A folder that was made before; most often the last one or one above it.
  int open_at(std::string_view path) {
    while (open_.size() > 1 && path != open_.back().first &&
           !(path.size() > open_.back().first.size() && path.starts_with(open_.back().first) &&
             path[open_.back().first.size()] == '/')) {
      close_last();
    }
    const std::string& last = open_.back().first;
    if (path == last) {
      return open_.back().second;
    }
    const std::string rest(path.substr(last.empty() ? 0 : last.size() + 1));
    const int fd = store::open_folder(open_.back().second, rest);
    if (fd >= 0) {
      open_.emplace_back(std::string(path), fd);
    }
    return fd;
  }

  Result<void> copy(const Item& item, int folder, const std::string& name,
                    const std::string& full) {
    const Descriptor from(::open(item.text.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!from || ::fstat(from.get(), &status) != 0) {
      return store::system_error(item.text, errno);
    }
    const unsigned mode = (status.st_mode & S_IXUSR) != 0 ? 0755 : 0644;
    GOLDENV_TRY(const std::optional<std::string> text,
                rewritten(from.get(), item.text, plan_.folder + "/bin/python"));
    if (text) {
      return store::write_at(folder, name, *text, mode, full);
    }
    const Descriptor to(
        ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!to || ::lseek(from.get(), 0, SEEK_SET) != 0) {
      return store::system_error(full, errno);
    }
    if (const int number = copy_bytes(from.get(), to.get()); number != 0) {
      return store::system_error(full, number);
    }
    return ::fchmod(to.get(), mode) == 0 ? Result<void>() : store::system_error(full, errno);
  }

  const Plan& plan_;
  const std::string& path_;
  std::vector<std::pair<std::string, int>> open_;  // each below the one before
};

bool is_as_composed(const std::vector<Drift>& drifts) {
  return std::ranges::all_of(drifts,
                             [](const Drift& drift) { return drift.kind == Drift::Kind::stray; });
}

/// Puts what was built in the place of a generation that is damaged. Programs may run in that one:
/// whatever they look up next they find under the same name, and what they have open stays theirs.
Result<Composed> mend(const store::Store& store, const Plan& plan, store::Building building) {
  // One at a time, or the second would take away what the first has put there. gc is kept out by
  // the store's own lock. A file system without locks of folders goes without.
  const Descriptor all(store::open_folder(store.fd(), "envs"));
  while (all && ::flock(all.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  GOLDENV_TRY(const std::vector<Drift> drifts, drifts_from(store, plan));
  if (is_as_composed(drifts)) {
    return Composed{plan.folder, true, false};
  }
  if (Result<void> replaced = store.replace_generation(building, plan.digest); !replaced) {
    return std::move(replaced).error();
  }
  const std::string& former = building.folder();
  for (const Drift& drift : drifts) {
    const std::string from = former + "/" + drift.path;
    if (drift.kind == Drift::Kind::stray &&
        ::renameat(AT_FDCWD, from.c_str(), building.fd(), drift.path.c_str()) != 0) {
      Error error = store::system_error(plan.folder + "/" + drift.path, errno);
      error.message += "; it was mended, but what had been added there is in " + former;
      building.release();
      return error;
    }
  }
  return Composed{plan.folder, true, true};
}

}  // namespace

Result<Composed> compose(const store::Store& store, const Plan& plan) {
  const bool is_there = store.has_generation(plan.digest);
  if (is_there) {
    GOLDENV_TRY(const std::vector<Drift> drifts, drifts_from(store, plan));
    if (is_as_composed(drifts)) {
      return Composed{plan.folder, true, false};
    }
  }
  if (const Result<Proof> proof = prove_on_paper(plan); !proof) {
    return proof.error();
  }
  GOLDENV_TRY(store::Building building, store.begin("env"));
  {
    Fill fill(plan, building.fd(), building.folder());
    for (const Item& item : plan.items) {
      if (Result<void> added = fill.add(item); !added) {
        return std::move(added).error();
      }
    }
  }
  if (is_there) {
    return mend(store, plan, std::move(building));
  }
  GOLDENV_TRY(const store::Published published,
              store.publish_generation(std::move(building), plan.digest));
  return Composed{plan.folder, published.raced, false};
}

Result<Recorded> recorded(const store::Store& store, std::string_view digest) {
  constexpr std::uint64_t kRecordBytes = 16U << 20U;
  const std::string name = "envs/" + std::string(digest) + "/" + std::string(kRecord);
  GOLDENV_TRY(const std::string text,
              store::read_at(store.fd(), name, store.at(name), kRecordBytes));
  return parse_record(text, store.at(name));
}

}  // namespace goldenv::compose

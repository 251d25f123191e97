#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/disk.h"
#include "store/folder.h"
#include "store/store.h"

namespace goldenv::store {
namespace {

// fsync of every file of torch takes minutes on a disk; syncfs waits once, but also for what others
// wrote.
constexpr std::size_t kFewFiles = 64;

Error contradiction(const std::string& path, std::string_view what) {
  return {Errc::failed, path + ": " + std::string(what) + ", though its list of files says so", {}};
}

/// Goes through a tree that is to be published: exactly the files of the list, with their modes.
class Sealing {
 public:
  Sealing(const std::vector<File>& files, bool sync_each) : sync_each_(sync_each) {
    for (const File& file : files) {
      files_.emplace(file.path, &file);
    }
  }

  Result<void> seal(int above, const std::string& name, const std::string& path,
                    const std::string& inside) {
    const Descriptor folder(open_folder(above, name));
    if (!folder) {
      return system_error(path, errno);
    }
    GOLDENV_TRY(const std::vector<Member> members, members_at(folder.get(), ".", path));
    for (const Member& member : members) {
      const std::string here = inside.empty() ? member.name : inside + "/" + member.name;
      const std::string full = path + "/" + member.name;
      Result<void> done = member.kind == Member::Kind::folder
                              ? seal(folder.get(), member.name, full, here)
                              : seal_file(folder.get(), member, full, here);
      if (!done) {
        return done;
      }
    }
    step();
    if (::fchmod(folder.get(), 0555) != 0 || (sync_each_ && ::fsync(folder.get()) != 0)) {
      return system_error(path, errno);
    }
    return {};
  }

  [[nodiscard]] std::size_t sealed() const { return sealed_; }

 private:
  Result<void> seal_file(int folder, const Member& member, const std::string& path,
                         const std::string& inside) {
    const auto found = files_.find(inside);
    if (found == files_.end()) {
      return Error{Errc::failed, path + ": it is in no list of files", {}};
    }
    const File& file = *found->second;
    ++sealed_;
    if (!file.link.empty()) {
      GOLDENV_TRY(const std::string text, link_at(folder, member.name, path));
      return text == file.link ? Result<void>() : contradiction(path, "it leads elsewhere");
    }
    struct stat status {};
    if (::fstatat(folder, member.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      return system_error(path, errno);
    }
    if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) != file.size_bytes) {
      return contradiction(path, "it is no file of that size");
    }
    const mode_t mode = file.executable ? 0555 : 0444;
    if ((status.st_mode & 07777) != mode && ::fchmodat(folder, member.name.c_str(), mode, 0) != 0) {
      return system_error(path, errno);
    }
    if (sync_each_) {
      const Descriptor fd(::openat(folder, member.name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
      if (!fd || ::fsync(fd.get()) != 0) {
        return system_error(path, errno);
      }
    }
    return {};
  }

  std::unordered_map<std::string_view, const File*> files_;
  bool sync_each_;
  std::size_t sealed_ = 0;
};

/// Whether each path is one that can be beside the others: sorted, once, none below a file.
Result<void> check_files(const std::vector<File>& files, const std::string& name) {
  std::unordered_map<std::string_view, bool> known;
  for (const File& file : files) {
    if (!is_tree_path(file.path) || !known.emplace(file.path, true).second) {
      return Error{Errc::usage, name + ": \"" + file.path + "\" is no path, or there twice", {}};
    }
  }
  return {};
}

/// Renames what was built to its place. `raced` where that is taken.
Result<bool> put_in_force(int store, const Building& building, const std::string& place,
                          const std::string& path) {
  step();
  if (::renameat(AT_FDCWD, building.folder().c_str(), store, place.c_str()) == 0) {
    return false;
  }
  // A folder with something in it stays: another goldenv was first.
  return errno == ENOTEMPTY || errno == EEXIST ? Result<bool>(true) : system_error(path, errno);
}

}  // namespace

Result<Published> Store::publish(Building building, Object object, std::vector<File> files) const {
  const std::string id = object.id();
  if (Result<void> fit = check_files(files, id); !fit) {
    return std::move(fit).error();
  }
  if (object.key.size() != 64) {
    return Error{Errc::usage, id + ": an object's key has 64 digits", {}};
  }
  std::ranges::sort(files, {}, &File::path);
  object.content = content_digest(files);
  object.size_bytes = 0;
  for (const File& file : files) {
    object.size_bytes += file.size_bytes;
  }
  const bool few = files.size() <= kFewFiles;
  const int fd = building.fd();
  const std::string& folder = building.folder();
  Sealing sealing(files, few);
  if (Result<void> sealed = sealing.seal(fd, "tree", folder + "/tree", ""); !sealed) {
    return std::move(sealed).error();
  }
  if (sealing.sealed() != files.size()) {
    return Error{Errc::failed, folder + "/tree: not all files of its list are there", {}};
  }
  const std::string text = write_object(object);
  FileList list{std::move(files), Sha256::of(text).hex()};
  for (const auto& [name, bytes] :
       {std::pair("files.json", write_files(list)), std::pair("object.json", text)}) {
    if (Result<void> written = write_at(fd, name, bytes, 0444, folder + "/" + name); !written) {
      return std::move(written).error();
    }
    const Descriptor file(::openat(fd, name, O_RDONLY | O_CLOEXEC));
    if (few && (!file || ::fsync(file.get()) != 0)) {
      return system_error(folder + "/" + name, errno);
    }
  }
  // A folder's own mode must allow the rename, so an object's top stays writable to its owner.
  if (::fchmod(fd, 0755) != 0 || (few ? ::fsync(fd) : ::syncfs(fd)) != 0) {
    return system_error(folder, errno);
  }
  GOLDENV_TRY(const bool raced,
              put_in_force(fd_.get(), building, "objects/" + id, at("objects/" + id)));
  if (raced) {
    return Published{id, true};
  }
  building.release();
  const Descriptor objects(open_folder(fd_.get(), "objects"));
  if (!objects || ::fsync(objects.get()) != 0) {
    return system_error(at("objects"), errno);
  }
  return Published{id, false};
}

std::optional<std::string> Store::artifact(const Sha256& sha256) const {
  const std::string name = "artifacts/" + sha256.hex();
  struct stat status {};
  if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  return at(name);
}

Result<std::string> Store::put_artifact(const std::string& file, const Sha256& sha256,
                                        Checked checked) const {
  if (access_ != Access::write) {
    return Error{Errc::denied, folder_ + ": the store is open for reading only", {}};
  }
  const Descriptor fd(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) {
    return system_error(file, errno);
  }
  if (checked == Checked::no) {
    GOLDENV_TRY(const Sha256 found, Sha256::of_file(fd.get()));
    if (found != sha256) {
      return Error{
          Errc::malformed, file + ": sha256 is " + found.hex() + ", wanted " + sha256.hex(), {}};
    }
  }
  const std::string name = "artifacts/" + sha256.hex();
  step();
  if (::fchmod(fd.get(), 0444) != 0 || ::fsync(fd.get()) != 0) {
    return system_error(file, errno);
  }
  step();
  if (::renameat(AT_FDCWD, file.c_str(), fd_.get(), name.c_str()) != 0) {
    return system_error(at(name), errno);
  }
  const Descriptor artifacts(open_folder(fd_.get(), "artifacts"));
  if (!artifacts || ::fsync(artifacts.get()) != 0) {
    return system_error(at("artifacts"), errno);
  }
  return at(name);
}

Result<Published> Store::publish_generation(Building building, std::string_view digest) const {
  const std::string name = "envs/" + std::string(digest);
  if (::fchmod(building.fd(), 0755) != 0) {
    return system_error(building.folder(), errno);
  }
  GOLDENV_TRY(const bool raced, put_in_force(fd_.get(), building, name, at(name)));
  if (!raced) {
    building.release();
  }
  return Published{std::string(digest), raced};
}

Result<void> Store::replace_generation(const Building& building, std::string_view digest) const {
  const std::string name = "envs/" + std::string(digest);
  const std::string& fresh = building.folder();
  // Whoever closed the old folder to himself could not have it renamed.
  const Descriptor old(open_folder(fd_.get(), name));
  if (::fchmod(building.fd(), 0755) != 0 || (old && ::fchmod(old.get(), 0755) != 0)) {
    return system_error(at(name), errno);
  }
  step();
  if (::renameat2(AT_FDCWD, fresh.c_str(), fd_.get(), name.c_str(), RENAME_EXCHANGE) == 0) {
    return {};
  }
  if (errno != EINVAL && errno != ENOSYS) {
    return system_error(at(name), errno);
  }
  // A file system without it: for a moment there is none of that name.
  const std::string aside = "tmp/" + temporary_name("former");
  step();
  if (::renameat(fd_.get(), name.c_str(), fd_.get(), aside.c_str()) != 0) {
    return system_error(at(name), errno);
  }
  step();
  if (::renameat(AT_FDCWD, fresh.c_str(), fd_.get(), name.c_str()) != 0) {
    const int number = errno;
    ::renameat(fd_.get(), aside.c_str(), fd_.get(), name.c_str());
    return system_error(at(name), number);
  }
  step();
  return ::renameat(fd_.get(), aside.c_str(), AT_FDCWD, fresh.c_str()) == 0
             ? Result<void>()
             : system_error(at(aside), errno);
}

}  // namespace goldenv::store

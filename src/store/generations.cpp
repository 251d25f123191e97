#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "store/disk.h"
#include "store/folder.h"
#include "store/store.h"

namespace goldenv::store {
namespace {

constexpr std::string_view kAboveRoots = "../envs/";

// The fewest digits that mean a generation, where a user names one.
constexpr std::size_t kLeastDigits = 6;
constexpr std::string_view kOfManifest = "manifest-";

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_digest(std::string_view text) { return text.size() == 64 && is_hexadecimal(text); }

bool is_root_name(std::string_view name) {
  return !name.empty() && name.size() <= 60 && name.front() != '.' && reduced(name) == name;
}

/// The id in "<anything>/objects/<id>/tree/...", which a moved store has, too.
std::string object_in(std::string_view link) {
  constexpr std::string_view kObjects = "/objects/";
  const std::size_t at = link.find(kObjects);
  if (at == std::string_view::npos) {
    return {};
  }
  link.remove_prefix(at + kObjects.size());
  return std::string(link.substr(0, link.find('/')));
}

/// Has the folders and files of a generation on the disk; links are part of their folders. It has
/// few of both, while syncfs would wait for whatever others write.
Result<void> sync_tree(int above, const std::string& name, const std::string& path) {
  const Descriptor folder(open_folder(above, name));
  if (!folder) {
    return system_error(path, errno);
  }
  GOLDENV_TRY(const std::vector<Member> members, members_at(folder.get(), ".", path));
  for (const Member& member : members) {
    const std::string below = path + "/" + member.name;
    if (member.kind == Member::Kind::folder) {
      if (Result<void> synced = sync_tree(folder.get(), member.name, below); !synced) {
        return synced;
      }
    } else if (member.kind == Member::Kind::file) {
      const Descriptor fd(
          ::openat(folder.get(), member.name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
      if (!fd || ::fsync(fd.get()) != 0) {
        return system_error(below, errno);
      }
    }
  }
  return ::fsync(folder.get()) == 0 ? Result<void>() : system_error(path, errno);
}

}  // namespace

bool is_manifest_root(std::string_view name) {
  return name.size() == kOfManifest.size() + 32 && name.starts_with(kOfManifest) &&
         is_hexadecimal(name.substr(kOfManifest.size()));
}

Result<void> check_name(std::string_view name) {
  const std::string quoted = "\"" + shortened(name, 60) + "\"";
  if (!is_root_name(name)) {
    return Error{Errc::usage,
                 quoted +
                     " is no name of an environment: at most 60 of A-Z a-z 0-9 . _ + -, no dot "
                     "first",
                 {}};
  }
  if (name.starts_with(kOfManifest)) {
    return Error{Errc::usage,
                 quoted + " cannot name an environment: names that begin \"" +
                     std::string(kOfManifest) + "\" are goldenv's own",
                 {}};
  }
  if (name.size() >= kLeastDigits && is_hexadecimal(name)) {
    return Error{Errc::usage,
                 quoted + " cannot name an environment: it could be the beginning of a digest (" +
                     std::to_string(kLeastDigits) + " or more of 0-9 a-f and nothing else)",
                 {}};
  }
  return {};
}

bool Store::has_generation(std::string_view digest) const {
  const std::string name = "envs/" + std::string(digest);
  struct stat status {};
  return is_digest(digest) &&
         ::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(status.st_mode);
}

Result<std::vector<std::string>> Store::generations() const {
  const Result<std::vector<Member>> members = members_at(fd_.get(), "envs", at("envs"));
  std::vector<std::string> digests;
  if (!members) {
    return members.error().code == Errc::absent ? Result<std::vector<std::string>>(digests)
                                                : members.error();
  }
  for (const Member& member : *members) {
    if (member.kind == Member::Kind::folder) {
      digests.push_back(member.name);
    }
  }
  std::ranges::sort(digests);
  return digests;
}

Result<std::vector<std::string>> Store::objects_of(std::string_view digest) const {
  const std::string top = "envs/" + std::string(digest);
  std::vector<std::string> ids;
  for (const char* below : {"/.o", "/bin"}) {
    const std::string name = top + below;
    const Descriptor folder(open_folder(fd_.get(), name));
    if (!folder && errno == ENOENT) {
      continue;  // an environment without programs has no bin
    }
    GOLDENV_TRY(const std::vector<Member> members, members_at(fd_.get(), name, at(name)));
    for (const Member& member : members) {
      if (member.kind != Member::Kind::link) {
        continue;
      }
      GOLDENV_TRY(const std::string text,
                  link_at(folder.get(), member.name, at(name) + "/" + member.name));
      if (std::string id = object_in(text); !id.empty()) {
        ids.push_back(std::move(id));
      }
    }
  }
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

Result<void> Store::set_root(std::string_view name, std::string_view digest) const {
  if (Result<void> fits = check_name(name); !fits && !is_manifest_root(name)) {
    return fits;
  }
  if (access_ != Access::write) {
    return Error{Errc::denied, folder_ + ": the store is open for reading only", {}};
  }
  const Descriptor folder(open_folder(fd_.get(), "envs/" + std::string(digest)));
  if (!has_generation(digest) || !folder) {
    return Error{Errc::absent, generation(digest) + ": no such generation", {}};
  }
  // What has a name is to outlive a loss of power; with a second name it does already.
  const Result<RootFolder> names = root_folder();
  const bool is_named = names && std::ranges::any_of(names->roots, [&](const NamedRoot& root) {
                          return root.digest == digest;
                        });
  if (!is_named) {
    if (Result<void> synced = sync_tree(folder.get(), ".", generation(digest)); !synced) {
      return synced;
    }
  }
  const std::string fresh = "tmp/" + temporary_name("root");
  const std::string place = "roots/" + std::string(name);
  step();
  if (::symlinkat((std::string(kAboveRoots) + std::string(digest)).c_str(), fd_.get(),
                  fresh.c_str()) != 0) {
    return system_error(at(fresh), errno);
  }
  step();
  if (::renameat(fd_.get(), fresh.c_str(), fd_.get(), place.c_str()) != 0) {
    const int number = errno;
    ::unlinkat(fd_.get(), fresh.c_str(), 0);
    return system_error(at(place), number);
  }
  const Descriptor roots(open_folder(fd_.get(), "roots"));
  return roots && ::fsync(roots.get()) == 0 ? Result<void>() : system_error(at("roots"), errno);
}

Result<void> Store::remove_root(std::string_view name) const {
  const std::string place = "roots/" + std::string(name);
  if (!is_root_name(name)) {
    return Error{Errc::absent, at("roots") + ": no environment can have that name", {}};
  }
  if (access_ != Access::write) {
    return Error{Errc::denied, folder_ + ": the store is open for reading only", {}};
  }
  step();
  return ::unlinkat(fd_.get(), place.c_str(), 0) == 0 ? Result<void>()
                                                      : system_error(at(place), errno);
}

Result<RootFolder> Store::root_folder() const {
  const Result<std::vector<Member>> members = members_at(fd_.get(), "roots", at("roots"));
  RootFolder all;
  if (!members) {
    return members.error().code == Errc::absent ? Result<RootFolder>(std::move(all))
                                                : members.error();
  }
  for (const Member& member : *members) {
    if (member.kind != Member::Kind::link) {
      all.strays.push_back({member.name, "it is no link", false});
      continue;
    }
    const std::string name = "roots/" + member.name;
    const Result<std::string> text = link_at(fd_.get(), name, at(name));
    if (!text && text.error().code == Errc::absent) {
      continue;  // somebody else has removed it meanwhile
    }
    if (!text) {
      return text.error();
    }
    const std::string digest =
        text->starts_with(kAboveRoots) ? text->substr(kAboveRoots.size()) : "";
    if (is_digest(digest) && is_root_name(member.name)) {
      all.roots.push_back({member.name, digest});
    } else {
      all.strays.push_back({member.name, "it leads to no generation of this store", true});
    }
  }
  std::ranges::sort(all.roots, {}, &NamedRoot::name);
  std::ranges::sort(all.strays, {}, &StrayRoot::name);
  return all;
}

Result<std::vector<NamedRoot>> Store::roots() const {
  GOLDENV_TRY(RootFolder all, root_folder());
  return std::move(all.roots);
}

Result<Lease> Store::lease(std::string_view digest) const {
  if (!has_generation(digest)) {
    return Error{Errc::absent, generation(digest) + ": no such generation", {}};
  }
  Lease lease{generation(digest), {}};
  const std::string name = "leases/" + std::string(digest);
  // No O_CLOEXEC: the program that is run holds it on.
  // NOLINTNEXTLINE(android-cloexec-open)
  lease.fd = Descriptor(::openat(fd_.get(), name.c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW, 0644));
  if (!lease.fd) {
    return errno == EROFS || errno == EACCES || errno == EPERM
               ? Result<Lease>(std::move(lease))
               : Result<Lease>(system_error(at(name), errno));
  }
  if (::flock(lease.fd.get(), LOCK_SH | LOCK_NB) != 0) {
    return system_error(at(name), errno);
  }
  // How old a use is counts for gc; in a store of another owner only its owner can say.
  ::futimens(lease.fd.get(), nullptr);
  return lease;
}

}  // namespace goldenv::store

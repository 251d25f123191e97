#include "store/verify.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/disk.h"
#include "store/folder.h"

namespace goldenv::store {
namespace {

constexpr std::uint64_t kListBytes = 512U << 20U;

std::string octal(mode_t mode) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

class Verification {
 public:
  Verification(const Store& store, const std::function<void(const Difference&)>& report)
      : store_(store), report_(report) {}

  Result<Verified> all() {
    top();
    if (Result<void> done = artifacts(); !done) {
      return std::move(done).error();
    }
    if (Result<void> done = objects(); !done) {
      return std::move(done).error();
    }
    if (Result<void> done = roots(); !done) {
      return std::move(done).error();
    }
    return verified_;
  }

 private:
  using Kind = Difference::Kind;

  void say(Kind kind, std::string path, std::string says) {
    ++verified_.differences;
    verified_.unreadable += kind == Kind::unreadable ? 1 : 0;
    report_({kind, std::move(path), std::move(says)});
  }

  void say(std::string path, const Error& error) {
    switch (error.code) {
      case Errc::absent:
        return say(Kind::missing, std::move(path), "it is not there");
      case Errc::malformed:
      case Errc::unreadable:  // no regular file
      case Errc::too_large:
        return say(Kind::changed, std::move(path), error.message);
      default:
        return say(Kind::unreadable, std::move(path), error.message);
    }
  }

  [[nodiscard]] Result<std::vector<Member>> sorted_members(int folder, const std::string& name,
                                                           const std::string& path) const {
    GOLDENV_TRY(std::vector<Member> members, members_at(folder, name, store_.at(path)));
    std::ranges::sort(members, {}, &Member::name);
    return members;
  }

  void top() {
    const auto members = sorted_members(store_.fd(), ".", "");
    if (!members) {
      return say("", members.error());
    }
    for (const Member& member : *members) {
      const bool known = member.name == "lock" || member.name == "version" ||
                         member.name == "choices" ||  // what provision remembers
                         std::ranges::find(kFolders, member.name) != kFolders.end();
      if (!known) {
        say(Kind::stray, member.name, "nothing of a store");
      }
    }
    for (const char* name : kFolders) {
      if (std::ranges::find(*members, name, &Member::name) == members->end()) {
        say(Kind::missing, name, "it is not there");
      }
    }
  }

  void check_mode(const std::string& path, mode_t found, mode_t wanted) {
    if ((found & 07777) != wanted) {
      say(Kind::mode, path, "mode is " + octal(found) + ", wanted " + octal(wanted));
    }
  }

  /// One file's mode, size and bytes.
  void file(int folder, const std::string& name, const std::string& path, mode_t mode,
            const Sha256& sha256, std::optional<std::uint64_t> size) {
    const Descriptor fd(
        ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0) {
      return errno == ELOOP ? say(Kind::changed, path, "a link, not a file")
                            : say(path, system_error(path, errno));
    }
    if (!S_ISREG(status.st_mode)) {
      return say(Kind::changed, path, "not a regular file");
    }
    check_mode(path, status.st_mode, mode);
    if (size && static_cast<std::uint64_t>(status.st_size) != *size) {
      return say(
          Kind::changed, path,
          "it has " + std::to_string(status.st_size) + " bytes, wanted " + std::to_string(*size));
    }
    const Result<Sha256> found = Sha256::of_file(fd.get());
    if (!found) {
      return say(Kind::unreadable, path, found.error().message);
    }
    if (*found != sha256) {
      say(Kind::changed, path, "sha256 is " + found->hex() + ", wanted " + sha256.hex());
    }
    verified_.size_bytes += static_cast<std::uint64_t>(status.st_size);
  }

  Result<void> artifacts() {
    const Descriptor folder(open_folder(store_.fd(), "artifacts"));
    if (!folder) {
      return errno == ENOENT ? Result<void>() : system_error(store_.at("artifacts"), errno);
    }
    GOLDENV_TRY(const auto members, sorted_members(folder.get(), ".", "artifacts"));
    for (const Member& member : members) {
      const std::string path = "artifacts/" + member.name;
      const Result<Sha256> sha256 = Sha256::parse(member.name);
      if (!sha256 || sha256->hex() != member.name) {
        say(Kind::stray, path, "no artifact has such a name");
        continue;
      }
      ++verified_.artifacts;
      file(folder.get(), member.name, path, 0444, *sha256, std::nullopt);
    }
    return {};
  }

  Result<void> objects() {
    const Descriptor folder(open_folder(store_.fd(), "objects"));
    if (!folder) {
      return errno == ENOENT ? Result<void>() : system_error(store_.at("objects"), errno);
    }
    GOLDENV_TRY(const auto members, sorted_members(folder.get(), ".", "objects"));
    for (const Member& member : members) {
      const std::string path = "objects/" + member.name;
      const Descriptor fd(open_folder(folder.get(), member.name));
      if (member.kind != Member::Kind::folder) {
        say(Kind::stray, path, "not a folder");
      } else if (!fd) {
        say(path, system_error(path, errno));
      } else {
        ++verified_.objects;
        object(fd.get(), member.name, path);
      }
    }
    return {};
  }

  void object(int fd, const std::string& id, const std::string& path) {
    struct stat status {};
    if (::fstat(fd, &status) == 0) {
      check_mode(path, status.st_mode, 0755);
    }
    const auto members = sorted_members(fd, ".", path);
    if (!members) {
      return say(path, members.error());
    }
    for (const Member& member : *members) {
      if (member.name != "object.json" && member.name != "files.json" && member.name != "tree") {
        say(Kind::stray, path + "/" + member.name, "no part of an object");
      }
    }
    const std::string list_path = path + "/files.json";
    const Result<std::string> list_text = read_at(fd, "files.json", list_path, kListBytes);
    const Result<FileList> list =
        list_text ? parse_files(*list_text, list_path) : Result<FileList>(list_text.error());
    const std::string head_path = path + "/object.json";
    const Result<std::string> head_text = read_at(fd, "object.json", head_path, kListBytes);
    if (!head_text) {
      say(head_path, head_text.error());
    } else if (list && list->object != Sha256::of(*head_text).hex()) {
      say(Kind::changed, head_path, "it is not the one that files.json was written for");
    } else if (const Result<Object> head = parse_object(*head_text, head_path); !head) {
      say(head_path, head.error());
    } else if (head->id() != id) {
      say(Kind::changed, head_path, "it is of another object, " + head->id());
    } else if (list && head->content != content_digest(list->files)) {
      say(Kind::changed, list_path, "it is not the list of this object's files");
    }
    if (!list) {
      return say(list_path, list.error());
    }
    if (write_files(*list) != *list_text) {
      say(Kind::changed, list_path, "not as it was written");
    }
    for (const char* name : {"object.json", "files.json"}) {
      if (::fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        check_mode(path + "/" + name, status.st_mode, 0444);
      }
    }
    verified_.files += list->files.size();
    tree(fd, path, *list);
  }

  void tree(int object, const std::string& path, const FileList& list) {
    std::unordered_map<std::string_view, const File*> wanted;
    std::unordered_map<std::string_view, bool> folders;
    for (const File& file : list.files) {
      wanted.emplace(file.path, &file);
      const std::string_view whole = file.path;
      for (std::size_t at = whole.find('/'); at != std::string_view::npos;
           at = whole.find('/', at + 1)) {
        folders.emplace(whole.substr(0, at), true);
      }
    }
    walk(object, "tree", path + "/tree", "", wanted, folders);
    std::vector<std::string_view> left;
    for (const auto& [name, file] : wanted) {
      left.push_back(name);
    }
    std::ranges::sort(left);
    for (const std::string_view name : left) {
      say(Kind::missing, path + "/tree/" + std::string(name), "it is not there");
    }
  }

  /// Takes out of `wanted` what it finds.
  void walk(int above, const std::string& name, const std::string& path, const std::string& inside,
            std::unordered_map<std::string_view, const File*>& wanted,
            const std::unordered_map<std::string_view, bool>& folders) {
    const Descriptor fd(open_folder(above, name));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0) {
      const int number = errno;
      if (number != ENOENT) {
        // What should be in it could not be looked at either, and is not missing for that.
        std::erase_if(wanted, [&](const auto& one) {
          return inside.empty() || one.first.starts_with(inside + "/");
        });
      }
      return say(path, system_error(path, number));
    }
    check_mode(path, status.st_mode, 0555);
    const auto members = sorted_members(fd.get(), ".", path);
    if (!members) {
      return say(path, members.error());
    }
    for (const Member& member : *members) {
      const std::string here = inside.empty() ? member.name : inside + "/" + member.name;
      const std::string full = path + "/" + member.name;
      if (member.kind == Member::Kind::folder && folders.contains(here)) {
        walk(fd.get(), member.name, full, here, wanted, folders);
        continue;
      }
      const auto found = wanted.find(here);
      if (found == wanted.end()) {
        say(Kind::stray, full, "it is in no list of files");
        continue;
      }
      const File& one = *found->second;
      wanted.erase(found);
      if (one.link.empty()) {
        file(fd.get(), member.name, full, one.executable ? 0555 : 0444, one.sha256, one.size_bytes);
        continue;
      }
      const Result<std::string> text = link_at(fd.get(), member.name, full);
      if (!text) {
        say(full, text.error());
      } else if (*text != one.link) {
        say(Kind::changed, full, "it leads to " + *text + ", wanted " + one.link);
      }
    }
  }

  Result<void> roots() {
    const auto members = sorted_members(store_.fd(), "roots", "roots");
    if (!members) {
      return members.error().code == Errc::absent ? Result<void>() : members.error();
    }
    for (const Member& member : *members) {
      const std::string path = "roots/" + member.name;
      if (member.kind != Member::Kind::link) {
        say(Kind::stray, path, "it is no link, and names no environment");
        continue;
      }
      const Result<std::string> text = link_at(store_.fd(), path, path);
      if (!text) {
        say(path, text.error());
      } else if (!text->starts_with("../envs/") || !store_.has_generation(text->substr(8))) {
        say(Kind::missing, path, "it leads to " + *text + ", no generation of this store");
      }
    }
    return {};
  }

  const Store& store_;
  const std::function<void(const Difference&)>& report_;
  Verified verified_;
};

}  // namespace

std::string_view name(Difference::Kind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"changed", "missing", "stray", "mode",
                                                      "unreadable"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<Verified> verify(const Store& store, const std::function<void(const Difference&)>& report) {
  return Verification(store, report).all();
}

}  // namespace goldenv::store

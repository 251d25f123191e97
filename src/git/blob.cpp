#include "git/blob.h"

#include <git2.h>
#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace goldenv::git {
namespace {

template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

// Packs are looked at through windows; of a large one no more than this is mapped at once.
constexpr std::size_t kWindowBytes = 32u << 20;
constexpr std::size_t kMappedBytes = 256u << 20;

/// libgit2 from its start to its end.
class Library {
 public:
  Library() : is_ready_(git_libgit2_init() > 0) {
    git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, kWindowBytes);
    git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, kMappedBytes);
    git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { git_libgit2_shutdown(); }
  [[nodiscard]] bool is_ready() const { return is_ready_; }

 private:
  bool is_ready_;
};

/// What libgit2 says, with whether it is about what the user named.
Error failure(int status, const std::string& what) {
  const git_error* last = git_error_last();
  const std::string words = last == nullptr || last->message == nullptr ? "" : last->message;
  const bool is_named =
      status == GIT_ENOTFOUND || status == GIT_EAMBIGUOUS || status == GIT_EINVALIDSPEC;
  return {is_named ? Errc::usage : Errc::failed, what + (words.empty() ? "" : ": " + words), {}};
}

/// Whether a repository was not opened because of its owner. Where no configuration has a
/// safe.directory, libgit2 1.5 fails with that it did not find one.
bool is_of_another(int status) {
  const git_error* last = git_error_last();
  return status == GIT_EOWNER ||
         (status == GIT_ENOTFOUND && last != nullptr && last->message != nullptr &&
          std::string_view(last->message).find("safe.directory") != std::string_view::npos);
}

Error another_owner(const std::string& repository) {
  struct stat status {};
  std::string owner = "another user";
  if (stat(repository.c_str(), &status) == 0) {
    owner = "user " + std::to_string(status.st_uid);
  }
  return {Errc::usage,
          "no repository can be opened at " + repository + ": it belongs to " + owner +
              ", and git allows that only where it is listed: git config --global --add "
              "safe.directory " +
              repository,
          {}};
}

std::string kind_word(git_filemode_t mode) {
  switch (mode) {
    case GIT_FILEMODE_TREE:
      return "a folder";
    case GIT_FILEMODE_LINK:
      return "a link";
    case GIT_FILEMODE_COMMIT:
      return "a submodule";
    default:
      return "no file";
  }
}

}  // namespace

Result<std::string> read_blob(const std::string& repository, const std::string& revision,
                              const std::string& path, std::size_t limit_bytes) {
  const Library library;
  if (!library.is_ready()) {
    return Error{Errc::failed, "libgit2 does not start", {}};
  }
  git_repository* opened = nullptr;
  int status =
      git_repository_open_ext(&opened, repository.c_str(), GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr);
  if (is_of_another(status)) {
    return another_owner(repository);
  }
  if (status != 0) {
    return failure(status, "no repository can be opened at " + repository);
  }
  const Owned<git_repository> repo(opened, git_repository_free);

  git_object* object = nullptr;
  status = git_revparse_single(&object, repo.get(), revision.c_str());
  if (status != 0) {
    return failure(status, repository + " has no revision " + revision);
  }
  const Owned<git_object> named(object, git_object_free);
  git_object* peeled = nullptr;
  status = git_object_peel(&peeled, named.get(), GIT_OBJECT_TREE);
  if (status != 0) {
    // What is no commit, tag or tree has none: the user named a blob.
    Error error = failure(status, revision + " of " + repository + " leads to no tree");
    error.code = git_object_type(named.get()) == GIT_OBJECT_BLOB ? Errc::usage : error.code;
    return error;
  }
  const Owned<git_object> top(peeled, git_object_free);

  git_tree_entry* entry = nullptr;
  // Of the type GIT_OBJECT_TREE, which libgit2 hands out as what it is of.
  status =
      git_tree_entry_bypath(&entry, reinterpret_cast<const git_tree*>(top.get()), path.c_str());
  if (status != 0) {
    return failure(status, revision + " of " + repository + " has no " + path);
  }
  const Owned<git_tree_entry> found(entry, git_tree_entry_free);
  const git_filemode_t mode = git_tree_entry_filemode(found.get());
  if (mode != GIT_FILEMODE_BLOB && mode != GIT_FILEMODE_BLOB_EXECUTABLE) {
    return Error{Errc::usage, path + " is " + kind_word(mode) + " there; expected a file", {}};
  }

  const git_oid* id = git_tree_entry_id(found.get());
  git_odb* objects = nullptr;
  status = git_repository_odb(&objects, repo.get());
  if (status != 0) {
    return failure(status, "the objects of " + repository + " cannot be opened");
  }
  const Owned<git_odb> store(objects, git_odb_free);
  std::size_t size = 0;
  git_object_t type = GIT_OBJECT_INVALID;
  // The size alone first: a few bytes can stand for gigabytes.
  status = git_odb_read_header(&size, &type, store.get(), id);
  if (status != 0) {
    // The tree says that it is there; where it is not, the repository is damaged or partial.
    Error error = failure(status, path + " cannot be read from " + repository);
    error.code = Errc::failed;
    return error;
  }
  if (size > limit_bytes) {
    return Error{Errc::too_large,
                 path + " is larger than " + std::to_string(limit_bytes >> 20) + " MiB",
                 {}};
  }
  git_blob* content = nullptr;
  status = git_blob_lookup(&content, repo.get(), id);
  if (status != 0) {
    Error error = failure(status, path + " cannot be read from " + repository);
    error.code = Errc::failed;
    return error;
  }
  const Owned<git_blob> blob(content, git_blob_free);
  return std::string(static_cast<const char*>(git_blob_rawcontent(blob.get())),
                     static_cast<std::size_t>(git_blob_rawsize(blob.get())));
}

}  // namespace goldenv::git

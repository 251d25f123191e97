#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compose/compose.h"
#include "compose/contents.h"
#include "store/disk.h"

namespace goldenv::compose {
namespace {

using store::Descriptor;

constexpr std::uint64_t kMostBytes = 1U << 30U;

/// Whether an item is as it was made; none where it is not there.
Result<std::optional<bool>> is_as_made(int top, const Item& item, const Plan& plan) {
  const std::string full = plan.folder + "/" + item.path;
  struct stat status {};
  if (::fstatat(top, item.path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
               ? Result<std::optional<bool>>(std::nullopt)
               : store::system_error(full, errno);
  }
  if (item.kind == Item::Kind::link) {
    if (!S_ISLNK(status.st_mode)) {
      return std::optional(false);
    }
    GOLDENV_TRY(const std::string text, store::link_at(top, item.path, full));
    return std::optional(text == item.text);
  }
  if (item.kind == Item::Kind::folder) {
    return std::optional(S_ISDIR(status.st_mode));
  }
  if (!S_ISREG(status.st_mode)) {
    return std::optional(false);
  }
  GOLDENV_TRY(const std::string found, store::read_at(top, item.path, full, kMostBytes));
  if (item.kind == Item::Kind::written) {
    return std::optional(found == item.text);
  }
  const Descriptor from(::open(item.text.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!from) {
    return store::system_error(item.text, errno);
  }
  GOLDENV_TRY(std::optional<std::string> wanted,
              rewritten(from.get(), item.text, plan.folder + "/bin/python"));
  if (!wanted) {
    GOLDENV_TRY(wanted, store::read_at(AT_FDCWD, item.text, item.text, kMostBytes));
  }
  return std::optional(found == *wanted);
}

}  // namespace

Result<std::vector<Drift>> check_generation(const store::Store& store, std::string_view digest) {
  GOLDENV_TRY(Recorded recorded, compose::recorded(store, digest));
  std::vector<store::Object> objects;
  for (const std::string& id : recorded.objects) {
    GOLDENV_TRY(store::Object object, store.get(id));
    objects.push_back(std::move(object));
  }
  GOLDENV_TRY(const Plan plan, compose::plan(store, std::move(objects), recorded.python));
  if (plan.digest != digest) {
    return Error{Errc::malformed,
                 store.generation(digest) + ": what it says of itself is of another generation, " +
                     plan.digest,
                 {}};
  }
  return drifts_from(store, plan);
}

Result<bool> is_intact(const store::Store& store, std::string_view digest) {
  const Result<std::vector<Drift>> drifts = check_generation(store, digest);
  if (drifts) {
    return std::ranges::all_of(*drifts,
                               [](const Drift& drift) { return drift.kind == Drift::Kind::stray; });
  }
  const Errc code = drifts.error().code;
  return code == Errc::denied || code == Errc::failed ? Result<bool>(drifts.error())
                                                      : Result<bool>(false);
}

Result<std::vector<Drift>> drifts_from(const store::Store& store, const Plan& plan) {
  const std::string name = "envs/" + plan.digest;
  const Descriptor top(store::open_folder(store.fd(), name));
  if (!top) {
    return store::system_error(store.at(name), errno);
  }
  std::vector<Drift> drifts;
  std::unordered_set<std::string> planned;
  std::vector<std::string> folders = {"."};
  for (const Item& item : plan.items) {
    planned.insert(item.path);
    GOLDENV_TRY(const std::optional<bool> as_made, is_as_made(top.get(), item, plan));
    if (!as_made || !*as_made) {
      drifts.push_back({as_made ? Drift::Kind::changed : Drift::Kind::missing, item.path});
    } else if (item.kind == Item::Kind::folder) {
      folders.push_back(item.path);
    }
  }
  for (const std::string& folder : folders) {
    GOLDENV_TRY(const std::vector<store::Member> members,
                store::members_at(top.get(), folder, plan.folder + "/" + folder));
    for (const store::Member& member : members) {
      std::string path = folder == "." ? member.name : folder + "/" + member.name;
      if (!planned.contains(path)) {
        drifts.push_back({Drift::Kind::stray, std::move(path)});
      }
    }
  }
  std::ranges::sort(drifts, {}, &Drift::path);
  return drifts;
}

}  // namespace goldenv::compose

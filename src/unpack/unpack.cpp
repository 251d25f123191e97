#include "unpack/unpack.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "store/descriptor.h"
#include "unpack/contents.h"

namespace goldenv::unpack {
namespace {

Result<store::Published> make(const store::Store& store, const Job& job, Crew& crew) {
  const store::Descriptor artifact(open(job.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status {};
  if (!artifact || fstat(artifact.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return Error{Errc::failed,
                 job.artifact.file + ": cannot be read in the store: " + std::strerror(errno),
                 {}};
  }
  if (!job.is_verified) {
    GOLDENV_TRY(const Sha256 digest, Sha256::of_file(artifact.get()));
    if (digest.hex() != job.artifact.sha256) {
      return Error{Errc::malformed,
                   job.artifact.file + ": the store's copy has other bytes than expected: sha256 " +
                       job.artifact.sha256 + " was expected, got " + digest.hex() + "; remove " +
                       job.path,
                   {}};
    }
  }
  store::Object object;
  object.key = job.key;
  object.name = job.name;
  object.version = job.version;
  object.artifact = job.artifact;
  object.artifact.size_bytes = static_cast<std::uint64_t>(status.st_size);
  object.python = job.kind == Kind::wheel ? job.compiler.tag : "";
  object.environment = job.environment;
  switch (job.kind) {
    case Kind::wheel:
      object.kind = "wheel";
      break;
    case Kind::tar:
      object.kind = "tar";
      break;
    case Kind::zip:
      object.kind = "zip";
      break;
    case Kind::deb:
      object.kind = "deb";
      break;
  }
  GOLDENV_TRY(store::Building building, store.begin(job.name));
  const std::string folder = building.folder() + "/tree";
  if (mkdirat(building.fd(), "tree", 0700) != 0) {
    return Error{Errc::failed, folder + ": " + std::strerror(errno), {}};
  }
  const store::Descriptor tree(open_below(building.fd(), "tree"));
  if (!tree) {
    return Error{Errc::failed, folder + ": " + std::strerror(errno), {}};
  }
  GOLDENV_TRY(Contents contents, job.kind == Kind::wheel
                                     ? unpack_wheel(job, artifact.get(), tree.get(), folder, crew)
                                     : unpack_archive(job, artifact.get(), tree.get(), crew));
  GOLDENV_TRY(object.shape, shape_of(job, contents, tree.get()));
  object.roots = std::move(contents.roots);
  object.scripts = std::move(contents.scripts);
  return store.publish(std::move(building), std::move(object), std::move(contents.files));
}

}  // namespace

Result<store::Published> realise(const store::Store& store, const Job& job, Crew& crew) {
  Result<store::Published> made = make(store, job, crew);
  // What the system or the store says knows nothing of the artifact.
  if (!made && !made.error().message.starts_with(job.artifact.file)) {
    made.error().message = job.artifact.file + ": " + made.error().message;
  }
  return made;
}

}  // namespace goldenv::unpack

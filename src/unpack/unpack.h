#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "store/object.h"
#include "store/store.h"
#include "unpack/crew.h"
#include "unpack/precompile.h"

// Artifacts to objects of a store: everything that an archive from outside may try is refused
// here. docs/REALISE.md tells what is refused, and the limits.
namespace goldenv::unpack {

enum class Kind { wheel, tar, zip, deb };

/// Which part of an archive goes where: "usr/lib/x86_64-linux-gnu" to "lib". The longest `from`
/// that is above a member decides; "" or "." is above all.
struct Placement {
  std::string from;
  std::string to;
};

/// What is to be made of an artifact that was verified.
struct Job {
  std::string key;  ///< 64 hexadecimal digits
  Kind kind = Kind::wheel;
  std::string name;
  std::string version;
  store::Artifact artifact;
  std::string path;          ///< where the artifact lies
  bool is_verified = false;  ///< its digest was taken as it came, a moment ago
  Compiler compiler;
  unsigned strip = 0;            ///< of each member's path, but not of a wheel's
  std::vector<Placement> place;  ///< empty: everything as it is, lib64 as lib; not of a wheel
  std::vector<store::Variable> environment;
  std::vector<std::string> unfold;  ///< folders that stay real, below tree/ or site-packages
  bool copies_all = false;          ///< no links into the store, for what looks for its neighbours
};

/// Unpacks into tmp/ and puts the object in force. The bytes of an artifact that the store had
/// before are digested once more: since they were fetched a disk may have changed them. Members are
/// written by the threads of the crew, to which the calling thread may belong. Errors: malformed
/// (naming artifact, member and reason), too_large, failed, denied.
Result<store::Published> realise(const store::Store& store, const Job& job, Crew& crew);

}  // namespace goldenv::unpack

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/store.h"

// An environment is composed of objects by links: a folder that one object owns is one link to it;
// a folder that several share, or that `..` of an $ORIGIN entry steps out of, is a real folder
// whose members are linked one by one. So its cost grows with the number of objects, not of files
// (5 ms for torch and its 23 companions against 0.2 s and more for hard links and seconds for
// copies, measured on ext4), processes share the page cache, and /proc/PID/maps names the store
// object that a library is of. Overlayfs would need no unfolding, but many hosts forbid user
// namespaces, and nobody outside one would see the tree. Hard links: an edit by a user would land
// in the store, and a store on another file system or of another owner gives none.
//
// Which folders must be real is a fact of each object, found when it was made (store::Shape). That
// nothing was overlooked is proved before an environment gets its name (compose/proof.h), for what
// goes wrong here goes wrong in silence: a library whose `..` leads into the store finds no NCCL
// there, and the loader takes the system's.
namespace goldenv::compose {

/// The interpreter below an environment, as the folder `bin` of a venv has it.
struct BasePython {
  std::string interpreter;  ///< absolute; "": an environment without Python (a CUDA_HOME)
  std::string version;      ///< "3.11"
  friend bool operator==(const BasePython&, const BasePython&) = default;
};

/// One thing in an environment; its path is below the environment's folder.
struct Item {
  enum class Kind {
    folder,   ///< a real one
    link,     ///< to `text`, as written
    copy,     ///< of `text`, absolute
    written,  ///< with `text` in it
  };
  std::string path;
  Kind kind = Kind::folder;
  std::string text;
  bool executable = false;   ///< of copied and written ones
  int object = -1;           ///< of links into an object and copies: its place in Plan::objects
  std::string source;        ///< of the same: the path below its tree
  bool folder_link = false;  ///< of a link into an object: it leads to a folder
  friend bool operator==(const Item&, const Item&) = default;
};

/// All that an environment consists of.
struct Plan {
  std::string digest;  ///< names the generation: of the objects, the base and the form of this
  std::string folder;  ///< where it will be, absolute
  BasePython python;
  std::vector<store::Object> objects;  ///< by id; object n is linked as .o/n
  std::vector<Item> items;             ///< a folder before what is in it
};

/// The digest of what is composed of these objects (ids in any order) over that base.
std::string generation_digest(std::vector<std::string> ids, const BasePython& python);

/// What an environment of these objects consists of. Listings that no shape has are read from the
/// store. Errors: failed, where two objects have the same file with other bytes (both are named);
/// usage, where a Python version is no "3.11", or modules are to be placed without a Python;
/// failed and denied of the store.
Result<Plan> plan(const store::Store& store, std::vector<store::Object> objects,
                  const BasePython& python);

/// What composing came to.
struct Composed {
  std::string folder;    ///< absolute: <store>/envs/<digest>
  bool present = false;  ///< it was there already
  bool mended = false;   ///< it was there, and not as it was composed; it is now
};

/// Builds the environment in tmp/, once it is proved on paper, and gives it its name. One that is
/// there already stays if it is as the plan says; if not, it is built anew and put in its place in
/// one step, with what had been added to it. Errors: failed (no proof: the library is named; disk
/// full), denied.
Result<Composed> compose(const store::Store& store, const Plan& plan);

/// What a generation was composed of, as it says itself (.goldenv.json).
struct Recorded {
  BasePython python;
  std::vector<std::string> objects;  ///< ids, sorted
};
/// Errors: absent, malformed, failed.
Result<Recorded> recorded(const store::Store& store, std::string_view digest);

/// One way in which a generation is not what was composed.
struct Drift {
  enum class Kind { missing, changed, stray } kind = Kind::missing;
  std::string path;  ///< below the generation
  friend bool operator==(const Drift&, const Drift&) = default;
};

/// Compares a generation with its plan: every link's text, written files, copies, and what is in
/// real folders beside them. Sorted by path. Errors: absent, malformed, failed.
Result<std::vector<Drift>> check_generation(const store::Store& store, std::string_view digest);

/// The same for a plan whose generation is there, whatever that says of itself. Errors: absent,
/// denied, failed.
Result<std::vector<Drift>> drifts_from(const store::Store& store, const Plan& plan);

/// Whether a generation is there and nothing of it is missing or changed; what was added does not
/// count. Where it is not, `compose` of its plan mends it. Errors: denied, failed.
Result<bool> is_intact(const store::Store& store, std::string_view digest);

}  // namespace goldenv::compose

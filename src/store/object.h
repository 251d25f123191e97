#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"

// What a store knows of one realised component, in two files beside its tree: object.json, which is
// all that composing reads, and files.json, the list of its files, which only `verify` and equal
// names in two objects need. torch has 12,000 files: reading their list takes longer than composing
// a whole environment.
namespace goldenv::store {

/// One file of an object's tree, or a symbolic link in it. Folders follow from what lies in them.
struct File {
  std::string path;              ///< below tree/, "/" between parts: "site/numpy/__init__.py"
  std::uint64_t size_bytes = 0;  ///< 0 of a link
  Sha256 sha256;                 ///< of a file's bytes; zero of a link
  bool executable = false;       ///< mode 0555, else 0444
  std::string link;              ///< where a link leads, as written; "" of a file
  friend bool operator==(const File&, const File&) = default;
};

/// The download that an object was made of.
struct Artifact {
  std::string file;    ///< "numpy-1.26.4-cp311-...whl"
  std::string sha256;  ///< 64 hexadecimal digits; "" where there was none (a git tree)
  std::uint64_t size_bytes = 0;
  std::string url;  ///< without user and password
  friend bool operator==(const Artifact&, const Artifact&) = default;
};

/// A folder of tree/ and the folder of an environment that its members are put in.
struct Root {
  std::string folder;  ///< below tree/: "site"; "" for tree/ itself
  /// Below the environment: "bin", "lib", "include", "share"; "." for its top; "site-packages" for
  /// lib/pythonX.Y/site-packages.
  std::string place;
  friend bool operator==(const Root&, const Root&) = default;
};

/// A console script: `from module import function; sys.exit(function())`.
struct Script {
  std::string name;
  std::string module;
  std::string function;  ///< may have dots: "Main.run"
  friend bool operator==(const Script&, const Script&) = default;
};

/// A variable that the component wants set; ${prefix} in its value is the environment's folder.
struct Variable {
  std::string name;
  std::string value;
  friend bool operator==(const Variable&, const Variable&) = default;
};

/// What one ELF file says of itself to the loader. A link in the tree that leads to one has an
/// entry of its own, alike but for the path: NEEDED names are often names of links.
struct ElfFile {
  std::string path;  ///< below tree/
  std::string soname;
  std::vector<std::string> needed;
  std::vector<std::string> rpath;    ///< DT_RPATH split at ':', tokens as written
  std::vector<std::string> runpath;  ///< DT_RUNPATH likewise
  bool program = false;              ///< it names an interpreter (PT_INTERP)
  friend bool operator==(const ElfFile&, const ElfFile&) = default;
};

/// What an environment has to know of a tree; all paths are below tree/ ("site/torch/lib").
/// Taken once, when the object is made.
struct Shape {
  /// Folders that must be real folders in an environment, with all folders above them: a `..` of
  /// an $ORIGIN entry steps out of them to what is not of this object. Sorted.
  std::vector<std::string> real;
  /// Programs that must be copied, since their $ORIGIN is where the link leads; and scripts that
  /// begin "#!python", which get the environment's interpreter as they are copied. Sorted.
  std::vector<std::string> copies;
  /// Members of folders, sorted; a folder's name ends in "/". At least of `real`, what is above it
  /// and the roots; of another folder that has to be opened the tree itself is asked.
  std::map<std::string, std::vector<std::string>> listing;
  std::vector<ElfFile> elf;  ///< sorted by path
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// One realised component.
struct Object {
  std::string key;   ///< 64 hexadecimal digits: the digest of all that its tree follows from
  std::string kind;  ///< "wheel", "tar", "zip", "deb", ...
  std::string name;
  std::string version;
  Artifact artifact;
  std::string python;            ///< what it was precompiled for: "cp311"; "" where for none
  std::string content;           ///< content_digest of its files, hexadecimal
  std::uint64_t size_bytes = 0;  ///< of all its files
  std::vector<Root> roots;
  std::vector<Script> scripts;
  std::vector<Variable> environment;
  Shape shape;
  friend bool operator==(const Object&, const Object&) = default;

  /// The name of its folder: "<first 32 digits of the key>-<name>-<version>".
  [[nodiscard]] std::string id() const;
};

/// `text` with every byte that a folder's name should not have as "_": [A-Za-z0-9._+-] stays. At
/// most 60 bytes.
std::string reduced(std::string_view text);

/// Whether `path` may stand in a tree: relative, not empty, no empty part, no "." or "..", no NUL.
bool is_tree_path(std::string_view path);

/// object.json, one line. `parse_object(write_object(o)) == o`.
std::string write_object(const Object& object);
/// Errors: malformed, "NAME:LINE:COLUMN: what"; every path in it has passed is_tree_path.
Result<Object> parse_object(std::string_view text, std::string_view name);

/// What files.json holds.
struct FileList {
  std::vector<File> files;  ///< sorted by path, no duplicates
  std::string object;       ///< digest of the bytes of object.json beside it, hexadecimal
  friend bool operator==(const FileList&, const FileList&) = default;
};

/// files.json; a line a file. `parse_files(write_files(f)) == f`.
std::string write_files(const FileList& list);
/// Errors: malformed, too_large.
Result<FileList> parse_files(std::string_view text, std::string_view name);

/// The digest of a tree: of the lines "path NUL mode NUL digest-or-target LF", sorted by path; mode
/// is "r", "x" or "l". `files` sorted by path.
std::string content_digest(const std::vector<File>& files);

}  // namespace goldenv::store

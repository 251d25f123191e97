#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "elf/elf.h"
#include "probe/probe.h"

namespace goldenv::probe {

/// One library file on the machine.
struct LibraryCopy {
  /// What its facts are labelled with: the folder without links and the name nearest to the soname
  /// ("/usr/lib/x86_64-linux-gnu/libnccl.so.2" also where that is a link to libnccl.so.2.18.3), so
  /// that an upgrade changes the value of a key and not the key.
  std::string path;
  std::string real_path;  ///< the file itself
  facts::Reading origin;  ///< by place: wheel, torch, conda, toolkit, system; or unknown

  friend bool operator==(const LibraryCopy&, const LibraryCopy&) = default;
};

struct LibraryCopies {
  std::vector<LibraryCopy> copies;  ///< sorted by path, one for each file
  std::vector<Error> unseen;        ///< folders that are there and could not be looked at
};

/// Copies of the libraries named `<stem>.so`, `<stem>.so.<numbers>` or `<stem>-<hash>.so...` (as
/// wheels rename what they bundle) in the folders where such libraries live: of every Python found
/// the nvidia/*/lib, torch/lib and *.libs folders and the prefix's own lib; each CUDA toolkit's lib
/// folders; the system's; /usr/local, /opt/*; what ld.so.conf and LD_LIBRARY_PATH name. The disk is
/// not walked: a search of all of it takes seconds, and finds build trees that no loader would ever
/// take. `stubs` folders are left out: what lies there is to link against and never loaded.
LibraryCopies library_copies(Survey& survey, std::string_view stem);
/// The same for every file whose name `matches`.
LibraryCopies library_copies(Survey& survey,
                             const std::function<bool(std::string_view name)>& matches);

/// Whether a file name is one of the library `stem`: "libnccl.so.2" and "libcudart-9335f6a2.so.12"
/// are of libnccl and libcudart, "libnccl-net.so" is not of libnccl.
bool is_library_of(std::string_view name, std::string_view stem);

/// Whose copy a file is, by where it lies: wheel, torch, conda, toolkit, else system. Errors: those
/// of looking at what stands around it.
Result<std::string> origin_of_place(Survey& survey, std::string_view path);
/// The same as a reading.
facts::Reading origin_reading(const Result<std::string>& origin);

/// What an ELF file says of itself, read once a survey.
const Result<elf::Image>& image_of(Survey& survey, const std::string& path);

/// The build-id of a file: absent where it has none.
facts::Reading build_id_reading(Survey& survey, const std::string& real_path);

/// A version reading in a word, for notes: the text, "2.18..." of a prefix, "12.1.0 or 12.1.1",
/// "unknown".
std::string version_text(const facts::Reading& version);

/// Whether copies are worth looking for: in a scan always, in a check where the `copies` key (""
/// where there is none) or an instance of one of `names` is asked for.
bool wants_copies(const Survey& survey, std::initializer_list<std::string_view> names,
                  std::string_view copies);

/// The reading of a `copies` key: version -> number of copies. Absent where there is none. Unknown
/// where a folder could not be looked at, or of one copy no version is known or only a part of it:
/// the counts would be a guess. What is known then stands in the detail.
facts::Reading copies_reading(const std::vector<facts::Reading>& versions,
                              const std::vector<Error>& unseen);

}  // namespace goldenv::probe

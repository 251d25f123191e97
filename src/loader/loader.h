#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace goldenv::loader {

/// One entry of /etc/ld.so.cache.
struct CacheEntry {
  std::string soname;
  std::string path;
  std::uint32_t flags = 0;
  std::uint64_t hwcap = 0;
};

/// Format glibc-ld.so.cache1.1, alone or behind an old-format block. Entries in the order of the file,
/// which is the order of preference. Errors: malformed (an offset outside the file, a count that the
/// file cannot hold).
Result<std::vector<CacheEntry>> parse_cache(std::string_view bytes);

/// Folders that /etc/ld.so.conf and what it includes name, in order.
std::vector<std::string> configured_folders(const host::Host& host);

struct Question {
  std::string soname;  ///< "libnccl.so.2"
  /// Who asks: the object whose DT_NEEDED or dlopen it is, then the object that loaded that one, and
  /// so on up to the program. Empty: a program without search paths of its own.
  std::vector<std::string> loaders;
  std::string library_path;            ///< LD_LIBRARY_PATH
  std::vector<std::string> preloaded;  ///< paths of LD_PRELOAD and /etc/ld.so.preload
};

struct Answer {
  std::string path;                ///< as the loader would open it
  std::string real_path;           ///< its file
  std::string why;                 ///< "DT_RPATH of /x/libtorch_cuda.so", "LD_LIBRARY_PATH", "ld.so.cache", ...
  std::vector<std::string> trace;  ///< what was tried before, in order
};

/// What glibc's dynamic loader would take, from data alone: LD_PRELOAD by soname; DT_RPATH of the asker
/// and its loaders (only where the asker has no DT_RUNPATH); LD_LIBRARY_PATH; DT_RUNPATH of the asker;
/// ld.so.cache; default folders. $ORIGIN, $LIB and $PLATFORM are expanded; files of another machine or
/// class are passed over. Source: ld.so(8), glibc elf/dl-load.c.
/// Errors: absent where nothing answers; others where a search place could not be looked at, since
/// then no answer would be certain.
Result<Answer> resolve(const host::Host& host, const Question& question);

}  // namespace goldenv::loader

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

/// Format glibc-ld.so.cache1.1, alone or behind an old-format block. Entries in the order of the
/// file, which is the order of preference. Source: glibc sysdeps/generic/dl-cache.h. Errors:
/// malformed (an offset outside the file, a count that the file cannot hold, the format from before
/// glibc 2.2 only, a big-endian machine's).
Result<std::vector<CacheEntry>> parse_cache(std::string_view bytes);

/// Folders that /etc/ld.so.conf and what it includes name, in order, without duplicates. A file
/// that cannot be read adds none: what the loader uses is the cache.
std::vector<std::string> configured_folders(const host::Host& host);

/// The source's /etc/ld.so.cache, parsed. Errors: of reading it, and of parse_cache.
Result<std::vector<CacheEntry>> read_cache(const host::Host& host);

struct Question {
  std::string soname;  ///< "libnccl.so.2"
  /// Who asks: the object whose DT_NEEDED or dlopen it is, then the object that loaded that one,
  /// and so on up to the program. Each by the path by which it was opened, the program by its real
  /// path: $ORIGIN is the folder of that. Empty: a program without search paths of its own.
  std::vector<std::string> loaders;
  std::string library_path;            ///< LD_LIBRARY_PATH
  std::vector<std::string> preloaded;  ///< paths of LD_PRELOAD and /etc/ld.so.preload
  /// What read_cache gave, for who asks more than once; else it is read where it is needed.
  const Result<std::vector<CacheEntry>>* cache = nullptr;
};

struct Answer {
  std::string path;       ///< as the loader would open it
  std::string real_path;  ///< its file
  std::string why;  ///< "DT_RPATH of /x/libtorch_cuda.so", "LD_LIBRARY_PATH", "ld.so.cache", ...
  std::vector<std::string> trace;  ///< what was tried before, in order
};

/// What glibc's dynamic loader would take, from data alone: LD_PRELOAD by soname; what is
/// loaded already, an asker of that soname or ld.so itself; DT_RPATH of the asker and its loaders
/// (only where the asker has no DT_RUNPATH); LD_LIBRARY_PATH; DT_RUNPATH of the asker; ld.so.cache;
/// default folders. A soname with a slash is the path itself. $ORIGIN, $LIB and $PLATFORM are
/// expanded; files of another machine or class are passed over. Source: ld.so(8), glibc
/// elf/dl-load.c.
///
/// Not decided: copies for certain processors (glibc-hwcaps). Of the cache's entries such a one is
/// taken only where there is no plain one, glibc-hwcaps folders are not searched, and the trace
/// says where the cache has one. Search places that depend on the current folder are passed over
/// likewise.
///
/// Errors: absent where nothing answers (the trail holds the trace); malformed where the cache or
/// the file that answers is damaged; others where a search place could not be looked at, since then
/// no answer would be certain.
Result<Answer> resolve(const host::Host& host, const Question& question);

}  // namespace goldenv::loader

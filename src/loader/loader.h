#pragma once

#include <cstdint>
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
  std::uint64_t hwcap = 0;      ///< 0: for every processor
  std::string hwcap_name = {};  ///< "x86-64-v3" of a copy in a glibc-hwcaps folder, else ""
};

class System;

/// Format glibc-ld.so.cache1.1, alone or behind an old-format block. Entries in the order of the
/// file, which is the order of preference. Source: glibc sysdeps/generic/dl-cache.h. Errors:
/// malformed (an offset outside the file, a count that the file cannot hold, the format from before
/// glibc 2.2 only, a big-endian machine's).
Result<std::vector<CacheEntry>> parse_cache(std::string_view bytes);

/// What /etc/ld.so.conf and the files that it includes say.
struct Configuration {
  std::vector<std::string> folders;  ///< in order, without duplicates
  std::vector<Error> unseen;         ///< files and folders that are there and were not read
};
Configuration configuration(const host::Host& host);

/// The folders alone. A file that cannot be read adds none: what the loader uses is the cache.
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
  /// For who asks more than once; else what is needed of it is read for this question.
  System* system = nullptr;
  /// Where the process runs. "": in a folder that holds no library asked for; search places that
  /// hang on it are passed over, and the trace says so.
  std::string folder = {};
  /// What of the environment changes what the loader takes its processor for (processor_settings).
  /// Where an answer hangs on that there is none.
  std::string settings = {};
};

struct Answer {
  std::string path;       ///< as the loader would open it
  std::string real_path;  ///< its file
  std::string why;  ///< "DT_RPATH of /x/libtorch_cuda.so", "LD_LIBRARY_PATH", "ld.so.cache", ...
  std::vector<std::string> trace;  ///< what was tried and passed over before, in order
  /// Of a copy for certain processors why it is taken and not the plain one: "glibc-hwcaps/
  /// x86-64-v3: the processor has x86-64-v3"; else "".
  std::string choice = {};
};

/// What glibc's dynamic loader would take, from data alone, by the rules of the source's release of
/// it: LD_PRELOAD by soname; what is loaded already, an asker of that soname or ld.so itself;
/// DT_RPATH of the asker and its loaders (only where the asker has no DT_RUNPATH);
/// LD_LIBRARY_PATH; DT_RUNPATH of the asker; ld.so.cache; default folders, those that the source's
/// loader was built with, else by its machine and distribution; neither of the last two where the
/// asker has DF_1_NODEFLIB. In each folder first the copies for its processor: glibc-hwcaps (from
/// 2.33 on) and tls/, haswell/ and their like (up to 2.36). A soname with a slash is the path
/// itself. $ORIGIN, $LIB and $PLATFORM are expanded; files of another machine or class are passed
/// over. Source: ld.so(8), glibc elf/dl-load.c, elf/dl-cache.c at 2.17 to 2.42.
///
/// Not asked: programs that gain rights (setuid), whose loader drops most of this; audit modules;
/// options of ld.so run as a program. Libraries of machines other than x86-64 and 64-bit Arm.
///
/// Errors: absent where nothing answers (the trail holds the trace); malformed where the cache or
/// the file that answers is damaged; others where a search place could not be looked at or the
/// answer hangs on the processor or the release and that is not known, since then no answer would
/// be certain.
Result<Answer> resolve(const host::Host& host, const Question& question);

/// Question::settings of the source's own environment: "GLIBC_TUNABLES=glibc.cpu.hwcaps=...",
/// "LD_HWCAP_MASK=0x4", or "" where neither is set or no environment is known.
std::string processor_settings(const host::Host& host);

/// One object of a process.
struct Loaded {
  std::string name;  ///< by which it was first asked for, tokens filled in; the program: its path
  std::string path;  ///< as it was opened; "" where nothing answers
  std::string why;   ///< as in Answer; "" of the program
  std::size_t loader = 0;  ///< which of the list asked first; of the program itself
  std::vector<std::string> trace = {};
  std::string choice = {};
};

/// A program, what is preloaded, and all that they need, in the order in which the loader loads
/// them: breadth first, each file and each name once. Without ld.so itself and the kernel's own
/// object. `common` holds the environment; its soname and loaders are not looked at. Errors: those
/// of resolve but absent; of reading the program.
Result<std::vector<Loaded>> load(const host::Host& host, const std::string& program,
                                 const Question& common);

}  // namespace goldenv::loader

// Stands for glibc where the program is linked, with the versions that its functions have had from
// the beginning (libc.x86_64.map, libc.aarch64.map): the one that is installed would name the
// versions it has now. Nothing here is ever run.
extern "C" {
#define GOLDENV_STANDS_FOR(name) \
  void name();                   \
  void name() {}
#ifdef GOLDENV_LIBDL
GOLDENV_STANDS_FOR(dlerror)
GOLDENV_STANDS_FOR(dlopen)
GOLDENV_STANDS_FOR(dlsym)
#else
GOLDENV_STANDS_FOR(__libc_start_main)
GOLDENV_STANDS_FOR(_exit)
GOLDENV_STANDS_FOR(free)
GOLDENV_STANDS_FOR(getauxval)
GOLDENV_STANDS_FOR(malloc)
GOLDENV_STANDS_FOR(memchr)
GOLDENV_STANDS_FOR(memcmp)
GOLDENV_STANDS_FOR(memcpy)
GOLDENV_STANDS_FOR(memmove)
GOLDENV_STANDS_FOR(memset)
GOLDENV_STANDS_FOR(strlen)
GOLDENV_STANDS_FOR(strnlen)
GOLDENV_STANDS_FOR(write)
#endif
}

# GOLDENV_PORTABLE: how goldenv-portable is linked, -static-pie or -static; empty where it cannot be:
# with sanitizers, and where the compiler or a library has no static form here.
include(CheckCXXSourceCompiles)

set(GOLDENV_PORTABLE "")
set(missing "")
foreach(name IN ITEMS yaml nettle elf archive z lzma zstd)
  if(NOT GOLDENV_LIBRARY_${name} MATCHES "\\.a$")
    list(APPEND missing "lib${name}.a")
  endif()
endforeach()
if(GOLDENV_SANITIZE OR GOLDENV_FUZZ)
  list(APPEND missing "a build without sanitizers")
endif()
if(NOT missing)
  set(source "#include <string>
    int main(int count, char** words) { return std::string(words[count - 1]).empty(); }")
  # Where compilers do not make position-independent code by themselves the rooms are not fit for it.
  set(CMAKE_REQUIRED_LINK_OPTIONS -static-pie)
  check_cxx_source_compiles("#ifndef __PIE__
    #error
    #endif
    ${source}" GOLDENV_LINKS_STATIC_PIE)
  set(CMAKE_REQUIRED_LINK_OPTIONS -static)
  check_cxx_source_compiles("${source}" GOLDENV_LINKS_STATIC)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(GOLDENV_LINKS_STATIC_PIE)
    set(GOLDENV_PORTABLE -static-pie)
  elseif(GOLDENV_LINKS_STATIC)
    set(GOLDENV_PORTABLE -static)
  else()
    list(APPEND missing "libc.a or libstdc++.a")
  endif()
endif()
if(missing)
  list(JOIN missing ", " missing)
  message(STATUS "goldenv-portable is left out; it needs ${missing}")
else()
  message(STATUS "goldenv-portable is linked with ${GOLDENV_PORTABLE}")
endif()

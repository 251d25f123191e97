# Our own targets link this privately; system and third-party headers never see it.
add_library(goldenv_warnings INTERFACE)
target_compile_options(goldenv_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
  -Wconversion -Wsign-conversion -Wnull-dereference -Wformat=2)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms of g++ 12 when optimising: std::string's operator+ (gcc bug 105651), vector<bool>.
  target_compile_options(goldenv_warnings INTERFACE -Wno-restrict -Wno-stringop-overflow
    -Wno-null-dereference -Wno-array-bounds -Wno-maybe-uninitialized
    -Wno-stringop-overread)
endif()
if(GOLDENV_FUZZ OR CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(GOLDENV_PRECOMPILED ON)
endif()
if(GOLDENV_WERROR)
  target_compile_options(goldenv_warnings INTERFACE -Werror)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# -O3 takes longer to compile and starts no faster.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

if(GOLDENV_FUZZ)
  # One build for the tests under sanitizers and for the fuzz targets: two would take CI too long.
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
    -fno-omit-frame-pointer -UNDEBUG)
  add_link_options(-fsanitize=address,undefined)
elseif(GOLDENV_SANITIZE)
  add_compile_options(-fsanitize=${GOLDENV_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${GOLDENV_SANITIZE})
else()
  # Loading libstdc++ costs a sixth of a start, and start-up is most of what `goldenv check` costs.
  add_link_options(-static-libstdc++ -static-libgcc)
endif()
if(NOT GOLDENV_FUZZ)  # the collector takes the fuzzer's coverage tables for unused
  add_compile_options(-ffunction-sections -fdata-sections)
  add_link_options(-Wl,--gc-sections -Wl,--as-needed)
endif()

# All from the system; nothing is downloaded. What each is for: third_party/README.md.
find_package(PkgConfig REQUIRED)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1>=0.2.2)
pkg_check_modules(nettle REQUIRED IMPORTED_TARGET nettle>=3.7)
pkg_check_modules(libgit2 REQUIRED IMPORTED_TARGET libgit2>=1.5)
pkg_check_modules(libcurl REQUIRED IMPORTED_TARGET libcurl>=7.81)
pkg_check_modules(libelf REQUIRED IMPORTED_TARGET libelf>=0.170)
# static::<name> is lib<name>.a: a shared one would cost every start. Where the system has none (some
# distributions drop them) the shared one is taken.
function(goldenv_static name header)
  find_library(GOLDENV_LIBRARY_${name} NAMES lib${name}.a ${name} REQUIRED)
  find_path(GOLDENV_INCLUDE_${name} NAMES ${header} REQUIRED)
  add_library(static::${name} UNKNOWN IMPORTED)
  set_target_properties(static::${name} PROPERTIES
    IMPORTED_LOCATION "${GOLDENV_LIBRARY_${name}}"
    INTERFACE_INCLUDE_DIRECTORIES "${GOLDENV_INCLUDE_${name}}")
endfunction()
goldenv_static(yaml yaml.h)
goldenv_static(nettle nettle/sha2.h)
goldenv_static(elf libelf.h)
goldenv_static(z zlib.h)
goldenv_static(lzma lzma.h)
goldenv_static(zstd zstd.h)
goldenv_static(archive archive.h)
# libelf opens compressed sections by these.
set_target_properties(static::elf PROPERTIES INTERFACE_LINK_LIBRARIES "static::z;static::zstd")
find_package(nlohmann_json 3.9 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
# The header alone, in one file: its library would be one more to load.
find_path(GOLDENV_INCLUDE_tomlplusplus NAMES toml++/toml.h REQUIRED)
add_library(tomlplusplus::header_only INTERFACE IMPORTED)
set_target_properties(tomlplusplus::header_only PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${GOLDENV_INCLUDE_tomlplusplus}")
if(BUILD_TESTING)
  find_package(GTest 1.11 REQUIRED)
  include(GoogleTest)
endif()
find_package(benchmark QUIET)

message(STATUS "libyaml ${yaml_VERSION}, nettle ${nettle_VERSION}, libelf ${libelf_VERSION}, "
  "nlohmann-json ${nlohmann_json_VERSION}, CLI11 ${CLI11_VERSION}, GTest ${GTest_VERSION}")

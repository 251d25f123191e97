# All from the system; nothing is downloaded. What each is for: third_party/README.md.
find_package(PkgConfig REQUIRED)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1>=0.2.2)
pkg_check_modules(nettle REQUIRED IMPORTED_TARGET nettle>=3.7)
pkg_check_modules(libelf REQUIRED IMPORTED_TARGET libelf>=0.170)
find_package(nlohmann_json 3.9 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
if(BUILD_TESTING)
  find_package(GTest 1.11 REQUIRED)
  include(GoogleTest)
endif()
find_package(benchmark QUIET)

message(STATUS "libyaml ${yaml_VERSION}, nettle ${nettle_VERSION}, libelf ${libelf_VERSION}, "
  "nlohmann-json ${nlohmann_json_VERSION}, CLI11 ${CLI11_VERSION}, GTest ${GTest_VERSION}")

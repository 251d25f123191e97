# goldenv_room(<folder> [<rooms it may include>...]) makes goldenv::<folder>, a static library of the
# folder's .cpp files, and writes the row into layers.txt, against which
# tests/architecture/layering_test.cpp reads every #include.
set(GOLDENV_LAYERS "${CMAKE_BINARY_DIR}/layers.txt")
file(WRITE "${GOLDENV_LAYERS}" "")

function(goldenv_room name)
  string(REPLACE ";" " " row "${name};${ARGN}")
  file(APPEND "${GOLDENV_LAYERS}" "${row}\n")
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(NOT sources)  # a room of headers only
    file(WRITE "${CMAKE_BINARY_DIR}/empty/${name}.cpp" "")
    set(sources "${CMAKE_BINARY_DIR}/empty/${name}.cpp")
  endif()
  add_library(goldenv_${name} STATIC ${sources})
  add_library(goldenv::${name} ALIAS goldenv_${name})
  target_include_directories(goldenv_${name} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(goldenv_${name} PRIVATE goldenv_warnings)
  foreach(room IN LISTS ARGN)
    target_link_libraries(goldenv_${name} PUBLIC goldenv::${room})
  endforeach()
endfunction()

# Settings every target of ours shares, and the shape of an area of the engine.

# A function is visible everywhere once it is defined, so a FetchContent user has it too.
include(ThrottletestDiscoverTests)

# Private to our own targets: a user's project keeps its own warning level.
function(throttletest_own_target target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wconversion)
    if(THROTTLETEST_WERROR)
      # gcc 12 sees overruns in plain string concatenations (its bugs 105329 and 105651): told, not fatal.
      target_compile_options(${target} PRIVATE -Werror
        $<$<CXX_COMPILER_ID:GNU>:-Wno-error=array-bounds;-Wno-error=restrict;-Wno-error=stringop-overflow>)
    endif()
    if(THROTTLETEST_SANITIZE)
      target_compile_options(${target} PRIVATE -fsanitize=${THROTTLETEST_SANITIZE}
                             -fno-sanitize-recover=all -fno-omit-frame-pointer)
      target_link_options(${target} PUBLIC -fsanitize=${THROTTLETEST_SANITIZE})
    endif()
  endif()
endfunction()

# Sources whose own names collide with those of others when a folder is compiled as a few large units
# (CMAKE_UNITY_BUILD, see ci/test).
function(throttletest_compile_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# throttletest_area(NAME SOURCES ... [DEPENDS areas...] [LIBRARIES targets...])
#
# An area is a folder of src/ compiled on its own, so that its tests link it and the areas below it and
# nothing else: an arrow that is not allowed does not link.
function(throttletest_area name)
  cmake_parse_arguments(AREA "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_library(throttletest_${name} OBJECT ${AREA_SOURCES})
  throttletest_own_target(throttletest_${name})
  target_include_directories(throttletest_${name}
    PUBLIC "${PROJECT_SOURCE_DIR}/include" PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(throttletest_${name} PRIVATE ${AREA_LIBRARIES} Threads::Threads)
  set_property(TARGET throttletest_${name} PROPERTY THROTTLETEST_DEPENDS "${AREA_DEPENDS}")
  set_property(TARGET throttletest_${name} PROPERTY THROTTLETEST_LIBRARIES "${AREA_LIBRARIES}")
endfunction()

# Needed to compile an area, never to link it.
set(THROTTLETEST_HEADER_ONLY Boost::headers nlohmann_json::nlohmann_json CLI11::CLI11)

# throttletest_link_areas(TARGET areas...): links the objects of areas and of all they depend on.
# A library does not get the header-only dependencies, or users of the package would have to have them.
function(throttletest_link_areas target)
  get_target_property(type ${target} TYPE)
  set(todo ${ARGN})
  set(seen)
  set(link)
  while(todo)
    list(POP_FRONT todo area)
    if(NOT area IN_LIST seen)
      list(APPEND seen ${area})
      get_target_property(depends throttletest_${area} THROTTLETEST_DEPENDS)
      get_target_property(libraries throttletest_${area} THROTTLETEST_LIBRARIES)
      if(depends)
        list(APPEND todo ${depends})
      endif()
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:throttletest_${area}>)
      if(libraries)
        list(APPEND link ${libraries})
      endif()
    endif()
  endwhile()
  list(REMOVE_DUPLICATES link)
  if(NOT type STREQUAL "EXECUTABLE")
    list(REMOVE_ITEM link ${THROTTLETEST_HEADER_ONLY})
  endif()
  target_link_libraries(${target} PRIVATE ${link} Threads::Threads)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
endfunction()

# throttletest_public_headers(TARGET headers...): headers below include/throttletest that belong to TARGET:
# installed with it, on its users' include path, and compiled alone by all_verify_interface_header_sets.
function(throttletest_public_headers target)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/include/throttletest/" OUTPUT_VARIABLE headers)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${headers})
  set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL})
endfunction()

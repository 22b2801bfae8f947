# Installs the build into an empty prefix and looks at what is there.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE "${STAGE}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${STAGE}"
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "cmake --install failed:\n${output}")
endif()

foreach(file
    "${PACKAGE_DIR}/throttletest-config.cmake"
    "${PACKAGE_DIR}/throttletest-config-version.cmake"
    "${PACKAGE_DIR}/throttletest-targets.cmake"
    "${PACKAGE_DIR}/ThrottletestDiscoverTests.cmake"
    "${BIN_DIR}/throttletest"
    "${BIN_DIR}/burn_server")
  if(NOT EXISTS "${file}")
    message(SEND_ERROR "not installed: ${file}")
  endif()
endforeach()

# The headers are listed by name; one that is missing in the list is missing for the users.
file(GLOB_RECURSE expected RELATIVE "${SOURCE_DIR}/include" "${SOURCE_DIR}/include/*")
file(GLOB_RECURSE installed RELATIVE "${HEADER_DIR}" "${HEADER_DIR}/*")
list(SORT expected)
list(SORT installed)
if(NOT expected STREQUAL installed)
  set(missing ${expected})
  list(REMOVE_ITEM missing ${installed})
  message(SEND_ERROR "public headers that are not installed (add them to a CMakeLists.txt): ${missing}")
endif()

# A path of the machine that built the package works nowhere else.
file(GLOB package_files "${PACKAGE_DIR}/*.cmake")
foreach(file ${package_files})
  file(READ "${file}" text)
  foreach(path "${SOURCE_DIR}" "${BUILD_DIR}")
    string(FIND "${text}" "${path}" at)
    if(NOT at EQUAL -1)
      message(SEND_ERROR "${file} names ${path}")
    endif()
  endforeach()
endforeach()

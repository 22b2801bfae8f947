# Runs the tests of a consumer's build and looks at how throttletest_discover_tests registered them.
cmake_minimum_required(VERSION 3.25)
get_filename_component(bin_dir "${CMAKE_COMMAND}" DIRECTORY)
execute_process(COMMAND "${bin_dir}/ctest" --output-on-failure WORKING_DIRECTORY "${BUILD_DIR}"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${bin_dir}/ctest" --show-only=json-v1 WORKING_DIRECTORY "${BUILD_DIR}"
  OUTPUT_VARIABLE json COMMAND_ERROR_IS_FATAL ANY)

string(JSON test_count LENGTH "${json}" tests)
if(test_count LESS 1)
  message(FATAL_ERROR "no test was discovered")
endif()
math(EXPR last_test "${test_count} - 1")
foreach(test RANGE ${last_test})
  set(found)
  string(JSON property_count LENGTH "${json}" tests ${test} properties)
  math(EXPR last_property "${property_count} - 1")
  foreach(property RANGE ${last_property})
    string(JSON name GET "${json}" tests ${test} properties ${property} name)
    string(JSON value GET "${json}" tests ${test} properties ${property} value)
    string(REGEX REPLACE "[ \n]" "" value "${value}")
    list(APPEND found "${name}=${value}")
  endforeach()
  # C158: ctest -j8 must not let measurements measure each other.
  foreach(wanted "RUN_SERIAL=ON" [=[RESOURCE_LOCK=["throttletest"]]=]
      [=[LABELS=["budget","nightly","throttletest"]]=] "TIMEOUT=77.0"
      [=[ENVIRONMENT=["FIRST=1","SECOND=2"]]=])
    if(NOT wanted IN_LIST found)
      message(SEND_ERROR "test ${test} lacks ${wanted}: ${found}")
    endif()
  endforeach()
endforeach()

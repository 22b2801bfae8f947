# throttletest_discover_tests(TARGET [TIMEOUT seconds] [LABELS labels...] [PROPERTIES name value ...]
#                             [arguments of gtest_discover_tests...])
#
# Registers every test of a GoogleTest binary with ctest, as gtest_discover_tests does, with what a
# measurement needs:
#
#   RUN_SERIAL, RESOURCE_LOCK throttletest   two measurements at once would measure each other
#   LABELS throttletest                      plus those given: `ctest -L throttletest`, `ctest -LE throttletest`
#   TIMEOUT 300                              a test that hangs ends the run, and with it its service
#
# Values given in PROPERTIES win over these, and may be lists.
include_guard(GLOBAL)

function(throttletest_discover_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 DISCOVER "" "TIMEOUT;DISCOVERY_TIMEOUT;TEST_LIST" "LABELS;PROPERTIES")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "throttletest_discover_tests: there is no target \"${target}\"")
  endif()
  if(NOT DEFINED DISCOVER_TIMEOUT)
    set(DISCOVER_TIMEOUT 300)
  endif()
  if(NOT DEFINED DISCOVER_DISCOVERY_TIMEOUT)
    set(DISCOVER_DISCOVERY_TIMEOUT 60)
  endif()
  if(NOT DEFINED DISCOVER_TEST_LIST)
    set(DISCOVER_TEST_LIST ${target}_TESTS)
  endif()
  # Here and not above: the module works with a variable, which a project that fetches us would not see.
  include(GoogleTest)
  gtest_discover_tests(${target} ${DISCOVER_UNPARSED_ARGUMENTS}
    TEST_LIST ${DISCOVER_TEST_LIST} DISCOVERY_TIMEOUT ${DISCOVER_DISCOVERY_TIMEOUT})

  # Properties are set in a file of our own that ctest reads after the list of tests: gtest_discover_tests
  # would tear a value that is a list, such as two labels, into several arguments.
  set(properties RUN_SERIAL ON RESOURCE_LOCK throttletest TIMEOUT ${DISCOVER_TIMEOUT})
  list(JOIN DISCOVER_LABELS "\\;" more_labels)
  if(more_labels)
    list(APPEND properties LABELS "throttletest\\;${more_labels}")
  else()
    list(APPEND properties LABELS throttletest)
  endif()
  set(quoted)
  foreach(word IN LISTS properties DISCOVER_PROPERTIES)
    string(APPEND quoted " [==[${word}]==]")
  endforeach()
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}_throttletest_properties.cmake")
  file(GENERATE OUTPUT "${file}" CONTENT
"if(${DISCOVER_TEST_LIST})
  set_tests_properties(\${${DISCOVER_TEST_LIST}} PROPERTIES${quoted})
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${file}")
endfunction()

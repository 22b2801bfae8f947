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
# Values given in PROPERTIES win over these.
include_guard(GLOBAL)
include(GoogleTest)

function(throttletest_discover_tests target)
  cmake_parse_arguments(PARSE_ARGV 1 DISCOVER "" "TIMEOUT;DISCOVERY_TIMEOUT" "LABELS;PROPERTIES")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "throttletest_discover_tests: there is no target \"${target}\"")
  endif()
  if(NOT DISCOVER_TIMEOUT)
    set(DISCOVER_TIMEOUT 300)
  endif()
  if(NOT DISCOVER_DISCOVERY_TIMEOUT)
    set(DISCOVER_DISCOVERY_TIMEOUT 60)
  endif()
  # Escaped so that the list reaches ctest as one value.
  list(JOIN DISCOVER_LABELS "\\;" more_labels)
  set(labels throttletest)
  if(more_labels)
    string(APPEND labels "\\;${more_labels}")
  endif()
  gtest_discover_tests(${target}
    DISCOVERY_TIMEOUT ${DISCOVER_DISCOVERY_TIMEOUT}
    ${DISCOVER_UNPARSED_ARGUMENTS}
    PROPERTIES RUN_SERIAL ON RESOURCE_LOCK throttletest LABELS "${labels}" TIMEOUT ${DISCOVER_TIMEOUT}
               ${DISCOVER_PROPERTIES})
endfunction()

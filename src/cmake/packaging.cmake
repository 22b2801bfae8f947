# Install rules and the exported package; the build tree exports the same names.
#
#   throttletest::core, throttletest::throttletest, throttletest::main   libraries
#   throttletest::command, throttletest::burn_server                     executables, when built

include(CMakePackageConfigHelpers)

set(throttletest_libraries throttletest_core throttletest throttletest_main)
set(throttletest_programs)
if(TARGET throttletest_command)
  list(APPEND throttletest_programs throttletest_command)
endif()
if(TARGET burn_server)
  list(APPEND throttletest_programs burn_server)
endif()

# For BUILD_SHARED_LIBS: programs and libraries find each other wherever the prefix is moved to.
file(RELATIVE_PATH throttletest_bin_to_lib
  "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set_target_properties(${throttletest_libraries} PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  INSTALL_RPATH "$ORIGIN")
if(throttletest_programs)
  set_target_properties(${throttletest_programs} PROPERTIES
    INSTALL_RPATH "$ORIGIN/${throttletest_bin_to_lib}")
endif()

set(throttletest_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/throttletest")
install(TARGETS ${throttletest_libraries} ${throttletest_programs}
  EXPORT throttletest-targets FILE_SET HEADERS)
install(EXPORT throttletest-targets NAMESPACE throttletest:: DESTINATION "${throttletest_package_dir}")

configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/throttletest-config.cmake.in"
  "${PROJECT_BINARY_DIR}/throttletest-config.cmake"
  INSTALL_DESTINATION "${throttletest_package_dir}"
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# While the major version is 0 a minor version may break its users.
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/throttletest-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/throttletest-config.cmake"
  "${PROJECT_BINARY_DIR}/throttletest-config-version.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/ThrottletestDiscoverTests.cmake"
  DESTINATION "${throttletest_package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# For -Dthrottletest_DIR=<build folder>.
export(EXPORT throttletest-targets NAMESPACE throttletest::
  FILE "${PROJECT_BINARY_DIR}/throttletest-targets.cmake")
configure_file("${CMAKE_CURRENT_LIST_DIR}/ThrottletestDiscoverTests.cmake"
  "${PROJECT_BINARY_DIR}/ThrottletestDiscoverTests.cmake" COPYONLY)

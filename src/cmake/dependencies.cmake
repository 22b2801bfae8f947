# The libraries throttletest stands on: the installed package first, sources only on request.
# Keep throttletest-config.cmake.in in step: a static library's private dependencies are link
# dependencies of its users.

include(FetchContent)

# throttletest_fetch(NAME URL TAG): the source of a dependency that find_package did not find.
function(throttletest_fetch name url tag)
  if(NOT THROTTLETEST_FETCH_DEPENDENCIES)
    message(FATAL_ERROR
      "throttletest needs ${name}, which is not installed. On Debian and Ubuntu ./ci/setup installs "
      "everything; otherwise configure with -DTHROTTLETEST_FETCH_DEPENDENCIES=ON to build it from source.")
  endif()
  FetchContent_Declare(${name} GIT_REPOSITORY ${url} GIT_TAG ${tag} GIT_SHALLOW ON)
  FetchContent_MakeAvailable(${name})
endfunction()

# GLOBAL: a project that takes throttletest with FetchContent links GTest targets itself.
find_package(GTest 1.12 CONFIG QUIET GLOBAL)
if(NOT GTest_FOUND)
  set(INSTALL_GTEST OFF)
  throttletest_fetch(googletest https://github.com/google/googletest.git v1.12.1)
endif()

find_package(fmt 9 CONFIG QUIET GLOBAL)
if(NOT fmt_FOUND)
  throttletest_fetch(fmt https://github.com/fmtlib/fmt.git 9.1.0)
endif()

find_package(nlohmann_json 3.11 CONFIG QUIET GLOBAL)
if(NOT nlohmann_json_FOUND)
  throttletest_fetch(nlohmann_json https://github.com/nlohmann/json.git v3.11.2)
endif()

# Compose files and manifests. Before 0.8 the target has no namespace.
find_package(yaml-cpp 0.7 CONFIG QUIET GLOBAL)
if(NOT yaml-cpp_FOUND)
  # Its policies ignore plain variables.
  set(YAML_CPP_BUILD_TOOLS OFF CACHE INTERNAL "throttletest needs none of yaml-cpp's tools")
  throttletest_fetch(yaml-cpp https://github.com/jbeder/yaml-cpp.git 0.8.0)
endif()
if(TARGET yaml-cpp::yaml-cpp)
  set(THROTTLETEST_YAML_TARGET yaml-cpp::yaml-cpp)
else()
  set(THROTTLETEST_YAML_TARGET yaml-cpp)
endif()

# HTTPS of the load engine. No fetching: it is a system package everywhere.
find_package(OpenSSL 3 REQUIRED GLOBAL COMPONENTS SSL)

# Header-only parts alone (Process v2, Asio, Beast, Math). No fetching: Boost is a system package everywhere.
find_package(Boost 1.81 CONFIG REQUIRED)
find_package(Threads REQUIRED)

if(THROTTLETEST_BUILD_COMMAND OR THROTTLETEST_BUILD_BURN_SERVER)
  find_package(CLI11 2 CONFIG QUIET GLOBAL)
  if(NOT CLI11_FOUND)
    throttletest_fetch(CLI11 https://github.com/CLIUtils/CLI11.git v2.1.2)
  endif()
endif()

# Debian's cpp-httplib is a shared library that only pkg-config knows; elsewhere it is a CMake package.
# Its feature macros change the layout of its classes, so they must come from whoever built it.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(THROTTLETEST_HTTPLIB QUIET IMPORTED_TARGET GLOBAL cpp-httplib)
endif()
if(THROTTLETEST_HTTPLIB_FOUND)
  set(THROTTLETEST_HTTPLIB_TARGET PkgConfig::THROTTLETEST_HTTPLIB)
else()
  find_package(httplib CONFIG QUIET GLOBAL)
  if(NOT httplib_FOUND)
    throttletest_fetch(httplib https://github.com/yhirose/cpp-httplib.git v0.11.4)
  endif()
  set(THROTTLETEST_HTTPLIB_TARGET httplib::httplib)
endif()

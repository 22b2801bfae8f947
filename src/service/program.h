// Finding a program the way a shell would, without one.
#pragma once

#include <optional>
#include <string>

namespace throttletest::internal {

// The path of an executable file: `name` itself when it has a '/', else the first match in
// `path_list` (as $PATH). Absent: there is none.
std::optional<std::string> FindProgram(const std::string& name, const std::string& path_list);
// The same with this process's PATH.
std::optional<std::string> FindProgram(const std::string& name);

// As FindProgram(), with an error that says what is wrong with the name: not in PATH, no such file,
// a directory, not executable. Errors: kServiceStart.
std::string RequireProgram(const std::string& name);

}  // namespace throttletest::internal

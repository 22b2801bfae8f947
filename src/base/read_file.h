// A file as a whole.
#pragma once

#include <optional>
#include <string>

namespace throttletest::internal {

// Absent: it cannot be opened, or not be read: a file of a process in /proc may open and then be
// gone, with ESRCH, and a directory opens. Errors: none.
std::optional<std::string> ReadWholeFile(const std::string& path);

}  // namespace throttletest::internal

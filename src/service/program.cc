#include "service/program.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

bool IsExecutableFile(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string PathList() {
  const char* path = std::getenv("PATH");
  return path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
}

}  // namespace

std::optional<std::string> FindProgram(const std::string& name, const std::string& path_list) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string::npos) {
    return IsExecutableFile(name) ? std::optional(name) : std::nullopt;
  }
  for (std::size_t begin = 0; begin <= path_list.size();) {
    const std::size_t end = std::min(path_list.find(':', begin), path_list.size());
    // An empty entry means the current directory.
    const std::string directory = end == begin ? "." : path_list.substr(begin, end - begin);
    std::string candidate = fmt::format("{}/{}", directory, name);
    if (IsExecutableFile(candidate)) return candidate;
    begin = end + 1;
  }
  return std::nullopt;
}

std::optional<std::string> FindProgram(const std::string& name) {
  return FindProgram(name, PathList());
}

std::string RequireProgram(const std::string& name) {
  if (auto found = FindProgram(name)) return *found;
  if (name.find('/') == std::string::npos) {
    throw Error(
        ErrorCode::kServiceStart,
        fmt::format("{}: not found in PATH; correct the name or write the program's path", name));
  }
  struct stat info {};
  if (::stat(name.c_str(), &info) != 0) {
    throw Error(ErrorCode::kServiceStart, fmt::format("{}: {}", name, std::strerror(errno)));
  }
  throw Error(ErrorCode::kServiceStart,
              fmt::format("{}: {}", name,
                          S_ISDIR(info.st_mode) ? "is a directory, not a program"
                                                : "is not an executable file (chmod +x?)"));
}

}  // namespace throttletest::internal

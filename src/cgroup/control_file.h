// Reading control files: by directory descriptor, with the errors that a vanished cgroup gives.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace throttletest::internal {

// "/fs/root" + "/sys/..." without a doubled slash; `fs_root` may be empty.
std::string JoinPath(const std::string& directory, const std::string& name);

// Is `path` the same as `top` or below it? "/a/b" is not below "/a/bc"; everything is below "/".
bool IsAtOrBelow(std::string_view path, std::string_view top);

// Is there anything under this path? False also when that cannot be seen.
bool Exists(const std::string& path);

// Opens a directory. Errors: kCgroup (gone, not a directory), kPermission.
UniqueFd OpenDirectory(const std::string& path);

// Reads a whole file of /proc or of a control directory. Absent: no such file.
// Errors: kCgroup, kPermission.
std::optional<std::string> ReadFileIfPresent(const std::string& path);
// The same when it must be there.
std::string ReadFile(const std::string& path);
// The words of a list file. Absent: empty, also when it may not be read. Errors: none.
std::vector<std::string> ReadWords(const std::string& path);
// A list file of a directory held open. Errors: kCgroup, also "cgroup is gone"; kPermission.
std::string ReadFileAt(int dirfd, const std::string& directory, const char* name);

// One control file of one record (not a list) held open. pread at offset 0 makes the kernel print
// it anew each time.
class ControlFile {
 public:
  // Not open when the directory has no such file, or the kernel does not offer its content.
  // Errors: kCgroup, kPermission.
  static ControlFile Open(int dirfd, const std::string& directory, const char* name);
  // The same, for writing as well where that is allowed.
  static ControlFile OpenToWrite(int dirfd, const std::string& directory, const char* name);

  bool is_open() const { return fd_.valid(); }
  const std::string& path() const { return path_; }

  // The text now, in `buffer`. Errors: kCgroup "cgroup is gone" once the directory was removed.
  std::string_view Read(std::string& buffer) const;
  // False: the kernel refused, or it was not opened for writing. Errors: none.
  bool TryWrite(std::string_view text) const;

 private:
  UniqueFd fd_;
  std::string path_;
};

// Throws kCgroup "cgroup is gone".
[[noreturn]] void ThrowGone(const std::string& path);

}  // namespace throttletest::internal

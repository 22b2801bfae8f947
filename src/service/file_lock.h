// FileLock: a lock on a file that the kernel releases when its holder dies, however it dies.
//
//   FileLock lock("/run/lock/x.lock");
//   while (!lock.Try()) ...
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {

// The file of a lock cannot be used: the lock is not held by somebody else, it is not there.
class LockFileError : public Error {
 public:
  explicit LockFileError(const std::string& message) : Error(ErrorCode::kUnsupported, message) {}
};

// An flock(2) on a file that is only ever opened for reading, so that every user who may read it
// may lock it. The destructor unlocks. Move-only. Not thread-safe.
class FileLock {
 public:
  // Opens the file, and makes it when it is missing. Errors: LockFileError naming the file and the
  // reason; a symbolic link or anything but a plain file is refused.
  explicit FileLock(std::string path);
  FileLock(FileLock&&) noexcept = default;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

  // True: locked by us. False: somebody else has it, also another FileLock of this process. Never
  // waits. Errors: LockFileError when the file system has no locks.
  bool Try();
  // The process that has it. Absent: nobody, or a process that cannot be seen from here.
  std::optional<pid_t> Holder() const;

 private:
  std::string path_;
  UniqueFd file_;
  pid_t locked_by_ = 0;  // a forked child must not unlock for its parent
};

// The process with an exclusive flock on the file, from the text of /proc/locks. Absent: none.
std::optional<pid_t> ParseLockHolder(std::string_view locks, dev_t device, std::uint64_t inode);

}  // namespace throttletest::internal

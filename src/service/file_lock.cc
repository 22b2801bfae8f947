#include "service/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

#include "base/number.h"

namespace throttletest::internal {
namespace {

[[noreturn]] void CannotUse(const std::string& path, const std::string& why) {
  throw LockFileError(fmt::format("cannot use the lock file {}: {}", path, why));
}

// Without O_CREAT first: with fs.protected_regular the kernel refuses it, in a folder for
// everybody, for a file that another user made. O_NONBLOCK: a planted FIFO would make open() wait.
int OpenOrMake(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  constexpr mode_t kForAllToRead = 0644;
  for (int i = 0; i < 3; ++i) {  // it may be made or removed by others meanwhile
    const int there = ::open(path.c_str(), kFlags);
    if (there >= 0 || errno != ENOENT) return there;
    const int made = ::open(path.c_str(), kFlags | O_CREAT | O_EXCL, kForAllToRead);
    if (made >= 0) ::fchmod(made, kForAllToRead);  // whatever the umask says
    if (made >= 0 || errno != EEXIST) return made;
  }
  return -1;
}

UniqueFd OpenLockFile(const std::string& path) {
  UniqueFd file(OpenOrMake(path));
  if (!file.valid()) {
    CannotUse(path, errno == ELOOP ? "it is a symbolic link" : std::strerror(errno));
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) CannotUse(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) CannotUse(path, "it is not a plain file");
  return file;
}

// Somebody may have removed the file and made another since it was opened.
bool IsStill(const std::string& path, int file) {
  struct stat named {};
  struct stat opened {};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(file, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

}  // namespace

FileLock::FileLock(std::string path) : path_(std::move(path)), file_(OpenLockFile(path_)) {}

FileLock::~FileLock() {
  // A child that was forked meanwhile has the same open file: closing alone would not unlock it.
  if (file_.valid() && locked_by_ == ::getpid()) ::flock(file_.get(), LOCK_UN);
}

bool FileLock::Try() {
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK || errno == EINTR) return false;
    CannotUse(path_, std::strerror(errno));
  }
  if (!IsStill(path_, file_.get())) {
    file_ = OpenLockFile(path_);
    return false;
  }
  locked_by_ = ::getpid();
  return true;
}

std::optional<pid_t> FileLock::Holder() const {
  struct stat info {};
  if (::fstat(file_.get(), &info) != 0) return std::nullopt;
  std::ifstream locks("/proc/locks");
  const std::string text(std::istreambuf_iterator<char>(locks), {});
  return ParseLockHolder(text, info.st_dev, info.st_ino);
}

std::optional<pid_t> ParseLockHolder(std::string_view locks, dev_t device, std::uint64_t inode) {
  // "3: FLOCK  ADVISORY  WRITE 4711 fe:01:5678 0 EOF"; who waits has "->" after the number.
  const std::string file = fmt::format("{:02x}:{:02x}:{}", major(device), minor(device), inode);
  std::istringstream lines{std::string(locks)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    const std::vector<std::string> words{std::istream_iterator<std::string>(fields), {}};
    if (words.size() < 6 || words[1] != "FLOCK" || words[3] != "WRITE") continue;
    const auto pid = ParseInteger<pid_t>(words[4]);
    if (words[5] == file && pid && *pid > 0) return pid;
  }
  return std::nullopt;
}

}  // namespace throttletest::internal

#include "cgroup/control_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cgroup/parse.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

[[noreturn]] void ThrowRead(const std::string& path, int error) {
  if (error == ENODEV) ThrowGone(path);
  const bool refused = error == EACCES || error == EPERM;
  throw Error(refused ? ErrorCode::kPermission : ErrorCode::kCgroup,
              fmt::format("cannot read {}: {}", path, std::strerror(error)));
}

// Reads from offset 0 into `buffer`, which only grows: clearing it would cost as much as parsing.
// Sets `used`; returns 0 or errno.
int ReadAll(int fd, std::string& buffer, std::size_t& used) {
  constexpr std::size_t kChunk = 4096;
  used = 0;
  if (buffer.size() < kChunk) buffer.resize(kChunk);
  for (;;) {
    const ssize_t got =
        ::pread(fd, buffer.data() + used, buffer.size() - used, static_cast<off_t>(used));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    used += static_cast<std::size_t>(got);
    // A file that is one record is printed whole into the first read that has room for it, so a
    // short read is its end and the second system call can be saved.
    if (got == 0 || used < buffer.size()) return 0;
    buffer.resize(buffer.size() * 2);
  }
}

// Lists (cgroup.procs, mountinfo) end a read between records, so this goes on until nothing comes.
std::string ReadToEnd(int fd, const std::string& path) {
  std::string text;
  for (char chunk[4096];;) {
    const ssize_t got = ::read(fd, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) ThrowRead(path, errno);
    if (got == 0) return text;
    text.append(chunk, static_cast<std::size_t>(got));
  }
}

}  // namespace

void ThrowGone(const std::string& path) {
  throw Error(ErrorCode::kCgroup,
              fmt::format("cgroup is gone: {} was removed (its service has ended)", path));
}

std::string JoinPath(const std::string& directory, const std::string& name) {
  if (name.empty() || name == "/") return directory.empty() ? "/" : directory;
  if (directory.empty()) return name;
  const bool slash = directory.back() == '/' || name.front() == '/';
  if (directory.back() == '/' && name.front() == '/') return directory + name.substr(1);
  return directory + (slash ? "" : "/") + name;
}

bool IsAtOrBelow(std::string_view path, std::string_view top) {
  if (top == "/") return true;
  return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/');
}

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

UniqueFd OpenDirectory(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) return fd;
  const int error = errno;
  if (error == ENOENT || error == ENODEV) ThrowGone(path);
  throw Error(error == EACCES ? ErrorCode::kPermission : ErrorCode::kCgroup,
              fmt::format("cannot open cgroup {}: {}", path, std::strerror(error)));
}

std::optional<std::string> ReadFileIfPresent(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    ThrowRead(path, errno);
  }
  return ReadToEnd(fd.get(), path);
}

std::string ReadFileAt(int dirfd, const std::string& directory, const char* name) {
  const UniqueFd fd(::openat(dirfd, name, O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) ThrowRead(JoinPath(directory, name), errno == ENOENT ? ENODEV : errno);
  return ReadToEnd(fd.get(), JoinPath(directory, name));
}

std::string ReadFile(const std::string& path) {
  auto text = ReadFileIfPresent(path);
  if (!text) {
    throw Error(ErrorCode::kCgroup, fmt::format("cannot read {}: no such file", path));
  }
  return *std::move(text);
}

std::vector<std::string> ReadWords(const std::string& path) {
  try {
    return ParseWords(ReadFileIfPresent(path).value_or(""));
  } catch (const Error&) {
    return {};
  }
}

ControlFile ControlFile::Open(int dirfd, const std::string& directory, const char* name) {
  ControlFile file;
  file.path_ = JoinPath(directory, name);
  file.fd_ = UniqueFd(::openat(dirfd, name, O_RDONLY | O_CLOEXEC));
  // EOPNOTSUPP: pressure files exist although pressure information is off.
  if (!file.fd_.valid() && errno != ENOENT && errno != EOPNOTSUPP) ThrowRead(file.path_, errno);
  return file;
}

ControlFile ControlFile::OpenToWrite(int dirfd, const std::string& directory, const char* name) {
  UniqueFd fd(::openat(dirfd, name, O_RDWR | O_CLOEXEC));
  if (!fd.valid()) return Open(dirfd, directory, name);
  ControlFile file;
  file.path_ = JoinPath(directory, name);
  file.fd_ = std::move(fd);
  return file;
}

bool ControlFile::TryWrite(std::string_view text) const {
  return ::pwrite(fd_.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

std::string_view ControlFile::Read(std::string& buffer) const {
  std::size_t used = 0;
  const int error = ReadAll(fd_.get(), buffer, used);
  if (error == EOPNOTSUPP) return {};
  if (error != 0) ThrowRead(path_, error);
  return std::string_view(buffer).substr(0, used);
}

}  // namespace throttletest::internal

// Writing one control file, and what the kernel means by refusing.
#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "base/unique_fd.h"
#include "cgroup/control_file.h"
#include "cgroup/writer.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

bool IsProcs(const std::string& name) { return name == "cgroup.procs" || name == "tasks"; }

bool IsBandwidth(const std::string& name) {
  return name.rfind("cpu.max", 0) == 0 || name.rfind("cpu.cfs_", 0) == 0;
}

// What an errno says for this file beyond its name. Empty: nothing.
const char* Meaning(const std::string& name, int error) {
  switch (error) {
    case EINVAL:
      if (IsBandwidth(name)) {
        return "the value is out of range (period 1000..1000000 us, quota from 1000 us, burst up "
               "to the quota), on v1 also when the share is larger than that of the level above "
               "or smaller than that of a level below";
      }
      return "the kernel does not accept this value";
    case ENOSPC:
      return IsProcs(name) ? "cpuset.cpus or cpuset.mems of this cgroup is empty: both must be set "
                             "before a process can join"
                           : nullptr;
    case EBUSY:
      if (name == "cgroup.subtree_control") {
        return "the cgroup itself holds processes: move them into a leaf cgroup first";
      }
      return IsProcs(name) ? "controllers are enabled for the children of this cgroup, so it may "
                             "not hold processes itself"
                           : "the limit is below what is in use and cannot be reclaimed";
    case ESRCH:
      return "the process has ended";
    case ENODEV:
      return "cgroup is gone";
    case EOPNOTSUPP:
      return "the cgroup is of a threaded or invalid type (see its cgroup.type)";
    case EACCES:
    case EPERM:
    case EROFS:
      return "this user may not change the cgroup: run as root, or in a cgroup that was delegated "
             "to the user";
    case ENOENT:
      return "the kernel is too old for it, or its controller is not enabled for this cgroup";
    default:
      return nullptr;
  }
}

ErrorCode CodeOf(int error) {
  if (error == EACCES || error == EPERM || error == EROFS) return ErrorCode::kPermission;
  return error == ENOENT ? ErrorCode::kUnsupported : ErrorCode::kCgroup;
}

[[noreturn]] void ThrowWrite(const std::string& path, const std::string& name,
                             std::string_view value, int error) {
  const char* meaning = Meaning(name, error);
  throw Error(CodeOf(error), fmt::format("cannot write \"{}\" to {}: {}{}{}", Trim(value), path,
                                         std::strerror(error), meaning == nullptr ? "" : ": ",
                                         meaning == nullptr ? "" : meaning));
}

// O_TRUNC means nothing to a control file; a plain file gets the whole new content by it.
void Write(int dirfd, const std::string& name, const std::string& path, std::string_view value) {
  const UniqueFd fd(::openat(dirfd, name.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!fd.valid()) ThrowWrite(path, name, value, errno);
  ssize_t written = 0;
  do {
    written = ::write(fd.get(), value.data(), value.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) ThrowWrite(path, name, value, errno);
  if (static_cast<std::size_t>(written) != value.size()) ThrowWrite(path, name, value, EIO);
}

}  // namespace

void WriteControlFile(int dirfd, const std::string& name, std::string_view value) {
  char target[4096];
  const std::string link = fmt::format("/proc/self/fd/{}", dirfd);
  const ssize_t size = ::readlink(link.c_str(), target, sizeof target);
  const std::string directory =
      size > 0 ? std::string(target, static_cast<std::size_t>(size)) : link;
  Write(dirfd, name, JoinPath(directory, name), value);
}

void WriteControlFile(const std::string& directory, const std::string& name,
                      std::string_view value) {
  const UniqueFd fd = OpenDirectory(directory);
  Write(fd.get(), name, JoinPath(directory, name), value);
}

}  // namespace throttletest::internal

#include "service/attach_cgroup.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

namespace fs = std::filesystem;
using Part = std::optional<ControllerLocation>;

std::array<Part*, 5> PartsOf(CgroupLocation& location) {
  return {&location.cpu, &location.cpuacct, &location.cpuset, &location.memory, &location.unified};
}

// Is `path` the same as `top` or below it? "/a/b" is not below "/a/bc".
bool IsAtOrBelow(std::string_view path, std::string_view top) {
  if (top == "/") return true;
  return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/');
}

// Is a process at `inner` counted along in `outer`?
bool CountsAlong(const Part& outer, const Part& inner) {
  return outer && inner && outer->mount_point == inner->mount_point &&
         IsAtOrBelow(inner->relative_path, outer->relative_path);
}

bool IsRoot(const ControllerLocation& place) {
  return place.relative_path == "/" && !place.ancestors_hidden;
}

void AddProcesses(const fs::path& directory, std::vector<pid_t>& processes) {
  std::ifstream file(directory / "cgroup.procs");
  for (pid_t pid = 0; file >> pid;) {
    if (pid > 0) processes.push_back(pid);
  }
}

}  // namespace

std::string CgroupDirectory(const std::string& path, const std::string& fs_root) {
  std::error_code error;
  const fs::path real = fs::canonical(fs_root + path, error);
  if (error) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: {}", path, error.message()));
  }
  if (!fs::exists(real / "cgroup.procs", error)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} is not a cgroup, it has no cgroup.procs: give a directory below "
                            "/sys/fs/cgroup",
                            path));
  }
  const std::string root = fs_root.empty() ? "" : fs::canonical(fs_root, error).string();
  return real.string().substr(root.size());
}

std::vector<pid_t> ProcessesBelow(const std::string& directory, const std::string& fs_root) {
  std::vector<pid_t> processes;
  const fs::path top = fs_root + directory;
  AddProcesses(top, processes);
  constexpr auto kSkipUnreadable = fs::directory_options::skip_permission_denied;
  std::error_code error;
  for (fs::recursive_directory_iterator it(top, kSkipUnreadable, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) AddProcesses(it->path(), processes);
  }
  return processes;
}

CgroupLocation LocateAtDirectory(pid_t pid, const std::string& directory,
                                 const std::string& proc_root, const std::string& fs_root) {
  CgroupLocation location = LocateCgroup(pid, proc_root, fs_root);
  const auto parts = PartsOf(location);
  const auto named = std::find_if(parts.begin(), parts.end(), [&](const Part* part) {
    return *part && IsAtOrBelow(directory, (*part)->mount_point) &&
           IsAtOrBelow((*part)->directory(), directory);
  });
  if (named == parts.end()) {
    throw Error(ErrorCode::kCgroup,
                fmt::format("process {} is not in it, as /proc/{}/cgroup tells: it has moved, or "
                            "the directory is of a controller or mount that is not read",
                            pid, pid));
  }
  const std::string from = (**named)->relative_path;
  const std::string below = directory.substr((**named)->mount_point.size());
  const std::string to = below.empty() ? "/" : below;
  for (Part* part : parts) {
    if (*part && (*part)->relative_path == from) (*part)->relative_path = to;
  }
  return location;
}

CgroupLocation WithoutShared(CgroupLocation service, const CgroupLocation& own) {
  const bool by_cpu = service.cpu.has_value();
  const Part& leaf = by_cpu ? service.cpu : service.cpuacct;
  if (!leaf || IsRoot(*leaf)) return service;
  if (by_cpu ? CountsAlong(service.cpu, own.cpu) : CountsAlong(service.cpuacct, own.cpuacct)) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("its cgroup {} also holds this process ({}), which sends the load, so "
                            "the figures would be of both: run the service in a cgroup of its own "
                            "(a container, a systemd service, systemd-run --scope), or measure "
                            "from outside of {}",
                            leaf->directory(), ::getpid(), leaf->directory()));
  }
  // A cpuset has no figures, and is the service's limit whoever shares it.
  if (CountsAlong(service.cpuacct, own.cpuacct)) service.cpuacct.reset();
  if (CountsAlong(service.memory, own.memory)) service.memory.reset();
  if (CountsAlong(service.unified, own.unified)) service.unified.reset();
  return service;
}

}  // namespace throttletest::internal

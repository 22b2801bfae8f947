#include "service/cgroup_advice.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "cgroup/location_parts.h"
#include "service/cgroup_place.h"

namespace throttletest::internal {

std::string DelegatedCgroupAdvice() {
  return "run as root, or in a delegated cgroup of your own (systemd-run --user --scope "
         "-p Delegate=yes, user managers may need a drop-in Delegate=cpu cpuset io memory pids), "
         "or "
         "in a container that is privileged";
}

bool MayMount(const std::string& proc_root) {
  constexpr unsigned kSysAdmin = 21;
  std::ifstream status(proc_root + "/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("CapEff:", 0) != 0) continue;
    return (std::strtoull(line.c_str() + 7, nullptr, 16) >> kSysAdmin & 1) != 0;
  }
  return false;
}

std::vector<std::string> ReadOnlyMounts(const CgroupLocation& own, const std::string& fs_root) {
  std::vector<std::string> points;
  for (const auto* part : PartsOf(own)) {
    if (!*part) continue;
    const std::string& point = (*part)->mount_point;
    const bool known = std::find(points.begin(), points.end(), point) != points.end();
    if (known || ::access((fs_root + point).c_str(), W_OK) == 0 || errno != EROFS) continue;
    points.push_back(point);
  }
  return points;
}

std::string ReadOnlyAdvice(const std::vector<std::string>& mount_points, bool may_mount) {
  if (!may_mount || mount_points.empty()) {
    return "start this container with --privileged (docker run --privileged, podman run "
           "--privileged)";
  }
  std::string line = "make it writable with: ";
  for (const std::string& point : mount_points) {
    // With bind only this mount changes, not the file system that others see, too.
    line += fmt::format("{}mount -o remount,bind,rw {}",
                        &point == &mount_points.front() ? "" : " && ", point);
  }
  return line;
}

std::string MoveAllAdvice(const std::string& directory) {
  return fmt::format(
      "move them into a leaf with: mkdir -p {0}/{1} && xargs -rn1 < {0}/cgroup.procs > "
      "{0}/{1}/cgroup.procs",
      directory, kLeafName);
}

}  // namespace throttletest::internal

// Where a process's cgroups are: per controller, on cgroup v2, v1 and hybrid systems.
//
// Decided from /proc/PID/cgroup and /proc/self/mountinfo, never from a container id.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace throttletest {

enum class CgroupVersion { kV1, kV2 };

// The directory of one controller for one process.
struct ControllerLocation {
  CgroupVersion version = CgroupVersion::kV2;
  // Where the hierarchy is mounted, e.g. "/sys/fs/cgroup/cpu".
  std::string mount_point;
  // Path below mount_point with a leading '/', "/" for the hierarchy's visible root.
  std::string relative_path;
  // True when the mount shows a subtree (cgroup namespace or bind mount): limits above cannot be
  // seen.
  bool ancestors_hidden = false;
  // What is mounted, as a path in the hierarchy: "/docker/3f2a" in a container with the host's
  // cgroup namespace, "/" where all of it is. In a namespace of its own "/" as well: the kernel
  // does not tell it more. Source: mountinfo, root.
  std::string visible_root = "/";

  // mount_point joined with relative_path.
  std::string directory() const;

  friend bool operator==(const ControllerLocation&, const ControllerLocation&) = default;
};

// Which levels cannot be seen, in words: "the levels above /docker/3f2a (only that part of the tree
// is mounted at /sys/fs/cgroup/cpu)". Absent: empty, all can.
std::string UnseenLevels(const ControllerLocation& location);

// All controllers throttletest reads. Absent: the machine does not offer that controller here.
struct CgroupLocation {
  std::optional<ControllerLocation> cpu = {};      // quota and throttling counters
  std::optional<ControllerLocation> cpuacct = {};  // CPU usage (on v2 the same directory as cpu)
  std::optional<ControllerLocation> cpuset = {};
  std::optional<ControllerLocation> memory = {};
  // The plain v2 directory, even where no controller of interest is on v2 (pressure on hybrid
  // hosts).
  std::optional<ControllerLocation> unified = {};

  friend bool operator==(const CgroupLocation&, const CgroupLocation&) = default;
};

// Finds the cgroups of process `pid`. `proc_root` replaces "/proc" and `fs_root` is put before
// every path that is opened, so that tests can feed recorded trees. Errors: kCgroup when the
// process or its files are gone ("cgroup removed"), lie outside the reader's namespace, or no
// cgroup file system is mounted; kParse quoting a malformed line.
CgroupLocation LocateCgroup(pid_t pid, const std::string& proc_root = "/proc",
                            const std::string& fs_root = "");

// How this machine is set up, for messages and the doctor.
enum class CgroupMode { kUnified, kLegacy, kHybrid, kNone };
const char* CgroupModeName(CgroupMode mode);  // "v2", "v1", "hybrid", "none"
CgroupMode DetectCgroupMode(const std::string& proc_root = "/proc",
                            const std::string& fs_root = "");

// The CPUs that are online. Source: /sys/devices/system/cpu/online. Errors: kCgroup.
class CpuSet;
CpuSet OnlineCpus(const std::string& fs_root = "");

}  // namespace throttletest

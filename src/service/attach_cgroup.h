// Finding the cgroup of a service that was given by its directory, and telling whether a cgroup is
// the service's alone.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "throttletest/cgroup/location.h"

namespace throttletest::internal {

// `path` without links, dots and a final slash, without `fs_root` before it. Errors:
// kInvalidArgument when there is no such directory or it is not a cgroup's.
std::string CgroupDirectory(const std::string& path, const std::string& fs_root = "");

// The processes in `directory` and in the cgroups below it. Those of other PID namespaces, which
// read as 0, are left out. Errors: none; a cgroup that goes meanwhile has no processes.
std::vector<pid_t> ProcessesBelow(const std::string& directory, const std::string& fs_root = "");

// The cgroups of process `pid`, which is in `directory` or below it, up to that level: the
// directory's own controllers, and those others in which the process has the same path. Errors:
// kCgroup when the process is not there (any more); as LocateCgroup().
CgroupLocation LocateAtDirectory(pid_t pid, const std::string& directory,
                                 const std::string& proc_root = "/proc",
                                 const std::string& fs_root = "");

// `service` without what it shares with this process, which is at `own` and sends the load: those
// controllers' figures would be of both. Errors: kUnsupported with the way out when the figures
// that matter, those of the cpu controller, would be (of cpuacct where there is no cpu). A root,
// which is refused for a reason of its own, is left alone.
CgroupLocation WithoutShared(CgroupLocation service, const CgroupLocation& own);

}  // namespace throttletest::internal

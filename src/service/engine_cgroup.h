// Finding the cgroup of a container from its main process.
#pragma once

#include <sys/types.h>

#include <string>

#include "throttletest/cgroup/location.h"

namespace throttletest::internal {

// The cgroups of the container `id` whose main process is `pid`.
//
// The id must occur in the process's cgroup path: the engine may run in another virtual machine or
// PID namespace, where the number means another process. On v2 the result is the container's own
// cgroup even when the runtime keeps the processes in one below it.
// Errors: kUnsupported when the process is not the container's, with the way out; kCgroup and
// kParse as LocateCgroup().
CgroupLocation LocateContainer(pid_t pid, const std::string& id,
                               const std::string& proc_root = "/proc",
                               const std::string& fs_root = "");

// `location` with the v2 levels taken off that lie below the container's own: those below the level
// named after `id`, and those without cpu.max below one that has it.
CgroupLocation ClimbToContainer(CgroupLocation location, const std::string& id,
                                const std::string& fs_root = "");

}  // namespace throttletest::internal

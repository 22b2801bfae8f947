// How many threads a service has.
#pragma once

#include <string>

#include "throttletest/base/outcome.h"
#include "throttletest/cgroup/snapshot.h"

namespace throttletest::internal {

// Threads of all processes in the leaf of `cgroup` now. Absent: the cgroup is gone, empty, or its
// processes are not visible here. Source: cgroup.procs, /proc/PID/task. Errors: none.
Outcome<int> CountThreads(const Cgroup& cgroup, const std::string& proc_root = "/proc");

}  // namespace throttletest::internal

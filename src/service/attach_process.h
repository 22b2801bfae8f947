// Holding on to a process that somebody else has started.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "service/owner.h"

namespace throttletest::internal {

// Why a process cannot be a service: "there is no such process", "it is a kernel thread". Absent:
// empty, it can. `stat` is what /proc says of it.
std::string WhyNoService(const std::optional<ProcessStat>& stat);

// A descriptor of the process that becomes readable when it ends and never stands for a later one
// of the same number. Errors: kNotReady when there is no such process or it has ended, kUnsupported
// when it is a kernel thread, or a thread of another process, or the kernel has no pidfd (5.3).
UniqueFd HoldProcess(pid_t pid);
// The process of `held` has ended.
bool HasEnded(const UniqueFd& held);

// The one that was started first, by number among equals, without those that cannot be a service.
// Absent: none is left.
std::optional<pid_t> OldestProcess(const std::vector<pid_t>& processes,
                                   const std::string& proc_root = "/proc");

// The program's name as the kernel keeps it, at most 15 characters. Absent: empty, it has ended.
// Source: /proc/PID/comm.
std::string ProgramName(pid_t pid);

// Is the process known to be in another network namespace, whose ports are not those seen here?
// False also when it may not be looked at.
bool InOtherNetwork(pid_t pid);

}  // namespace throttletest::internal

// EngineStartWatch: finds a container's process and cgroup while its engine starts it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "service/engine_oom.h"
#include "service/instance.h"

namespace throttletest::internal {

// What was found of a container.
struct SeenContainer {
  pid_t pid = 0;
  UniqueFd process;              // a pidfd. Absent: invalid, it has ended
  std::optional<Cgroup> cgroup;  // never absent in a result
  std::optional<OomWatch> oom;   // the same
};

// Engines start a container in one go and tell its process when it runs: too late for a job, whose
// cgroup goes with it. So the processes that appear meanwhile are looked at, every millisecond: the
// container's first has the number 1 in a PID namespace of its own, in a cgroup that is named after
// the container's id, and still is the runtime's program (runc, crun), which sets up the rest and
// then becomes the job's. The counters are read until it does, so that the runtime's share is
// known.
//
// `id`: of a container that is made and not started. `start` starts it; it is called on a thread of
// its own. `limits`: the burst, which no engine can set, is written before the program runs.
// Fills `begin`. Errors: what `start` throws; kServiceStart when no such process is
// seen to become the job's program, or the burst is refused.
SeenContainer WatchStart(const std::string& id, const std::function<void()>& start,
                         const ResolvedLimits& limits, JobBegin& begin);

// Does `exe`, the target of /proc/PID/exe, belong to a container runtime?
bool IsRuntimeProgram(const std::string& exe);
// The same of /proc/PID/comm, which everybody may read: "runc:[2:INIT]".
bool IsRuntimeComm(const std::string& comm);
// The process's number in its innermost PID namespace, from the text of /proc/PID/status. Absent:
// it is in none of its own.
std::optional<pid_t> InnerPid(const std::string& status);

}  // namespace throttletest::internal

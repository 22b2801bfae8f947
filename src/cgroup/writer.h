// Making, limiting, emptying and removing cgroups: what launchers do to control files.
//
//   const CgroupLocation own = ChildLocation(parent, UniqueName());
//   MakeCgroup(own);
//   WriteLimits(own, resolved);
//   AddProcess(own, pid);  // or write "0" to ProcsFiles(own) in the child before exec
//   ...
//   KillAll(own);
//   RemoveCgroup(own);
//
// Everything works on directories, so that tests use plain folders. `fs_root` is put before every
// path that is opened. All writes go straight to write(2): a control file refuses a value there and
// nowhere else.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "throttletest/cgroup/limits.h"
#include "throttletest/cgroup/location.h"

namespace throttletest::internal {

// The same controllers one level further down: each relative path with "/name" added. The unified
// directory is included where the hierarchy of `parent` has one.
CgroupLocation ChildLocation(const CgroupLocation& parent, const std::string& name);

// The distinct directories of a location (with `fs_root` put before), cpu first. On v2 it is one.
std::vector<std::string> Directories(const CgroupLocation& location,
                                     const std::string& fs_root = "");
// The cgroup.procs file of each: writing "0" into all of them moves the writer. For a child that
// joins between fork and exec, where nothing may be allocated.
std::vector<std::string> ProcsFiles(const CgroupLocation& location,
                                    const std::string& fs_root = "");

// Makes every directory of `location`; the parents must exist. A fresh v1 cpuset is given its
// parent's cpus and mems, because the kernel refuses (ENOSPC) every process until both are set.
// Errors: kPermission or kCgroup naming the directory; what was made before is removed again.
void MakeCgroup(const CgroupLocation& location, const std::string& fs_root = "");

// Gives a v1 cpuset that is still empty its parent's cpus and mems. Errors: kPermission, kCgroup.
void InheritCpuset(const std::string& directory);

// Writes "+name" for each controller into the v2 file cgroup.subtree_control of `directory`, one
// write each, skipping those already on. Errors: kUnsupported when the controller is not offered
// here (not in cgroup.controllers), kPermission, kCgroup; EBUSY is explained (processes inside).
void EnableControllers(const std::string& directory, const std::vector<std::string>& controllers);

// Moves a process into every directory of `location`. Errors: kPermission, kCgroup; ENOSPC (empty
// cpuset) and ESRCH (process gone) are explained.
void AddProcess(const CgroupLocation& location, pid_t pid, const std::string& fs_root = "");

// Puts `limits` in force, for a fresh cgroup and for a running one alike; what `limits` leaves open
// is set to unlimited. Values go in an order in which no intermediate state is refused: v1 quota
// and period by whether the period grows, burst lowered before and raised after the quota, memory
// and memory+swap by which way they move; v2 cpu.max in one write, and memory.swap.max is
// memory_and_swap minus memory.
//
// Absent: files the machine lacks are skipped when nothing is asked of them; a missing swap file is
// also skipped for "no swap", "unlimited" and the engines' default of twice the memory.
// Errors: kUnsupported when a controller or file that is needed is missing; kPermission; kCgroup
// with file, value, errno and its meaning (a refused v1 quota names the level and values above).
void WriteLimits(const CgroupLocation& location, const ResolvedLimits& limits,
                 const std::string& fs_root = "");

// One control-file write in one write(2). Errors: kPermission (EACCES, EPERM, EROFS), kUnsupported
// (no such file), kCgroup (everything else); the message has file, value, errno and its meaning.
void WriteControlFile(int dirfd, const std::string& name, std::string_view value);
void WriteControlFile(const std::string& directory, const std::string& name,
                      std::string_view value);

// SIGKILLs everything in `directory` and below: through cgroup.kill where the kernel has it, else
// by a loop over cgroup.procs, which outruns forks. The calling process is spared, and a
// hierarchy's root is left alone (false).
// Returns true when nothing is left within `timeout`. Errors: none.
bool KillAll(const std::string& directory,
             std::chrono::nanoseconds timeout = std::chrono::seconds(5));
bool KillAll(const CgroupLocation& location, const std::string& fs_root = "",
             std::chrono::nanoseconds timeout = std::chrono::seconds(5));

// How RemoveCgroup() acts; tests replace the calls.
struct RemoveOptions {
  // A cgroup stays busy for a while after its last process has gone.
  std::chrono::nanoseconds timeout = std::chrono::seconds(5);
  std::function<int(const char*)> rmdir;               // Absent: ::rmdir. Returns 0 or -1 + errno.
  std::function<void(std::chrono::nanoseconds)> wait;  // Absent: sleeps.
};

// Removes `directory` and every cgroup below it, deepest first, by rmdir alone (control files
// cannot and need not be unlinked). EBUSY is retried until the timeout. A directory that is already
// gone is success. Returns an empty text, or why something is left, naming it. Errors: none.
std::string RemoveCgroup(const std::string& directory, const RemoveOptions& options = {});
// The same for every directory of a location.
std::string RemoveCgroup(const CgroupLocation& location, const std::string& fs_root = "",
                         const RemoveOptions& options = {});

// One write of a plan.
struct ControlWrite {
  std::string file;
  std::string value;
  friend bool operator==(const ControlWrite&, const ControlWrite&) = default;
};

// The pure part of WriteLimits(): which values in which order, from what is in force now.
std::vector<ControlWrite> PlanCpuWrites(CgroupVersion version, const CpuBandwidth& current,
                                        const CpuBandwidth& wanted);
// `current_memory_and_swap` decides the order on v1; v2 does not look at it.
std::vector<ControlWrite> PlanMemoryWrites(CgroupVersion version, ByteSize current_memory_and_swap,
                                           const ResolvedLimits& wanted);

}  // namespace throttletest::internal

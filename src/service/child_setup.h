// ChildSetup: what happens in a forked child before its program runs.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace throttletest::internal {

// The step that failed in the child, as it is sent to the parent.
struct SetupFailure {
  enum Step : int { kNone = 0, kJoin, kGroup, kDeathSignal, kStreams, kExec };
  int step = kNone;
  int join_index = 0;  // which of the join files, for kJoin
  int error = 0;       // errno
};

// What the setup needs of the parent's, all of it made before the fork.
struct ChildSetupPlan {
  std::vector<std::string> join_files;
  int output = -1;  // becomes stdout and stderr
  int report = -1;  // where a failure is written; the child then ends
  // Read until a byte comes: the parent has moved the child. Absent: -1, nobody moves it.
  int moved = -1;
  int moved_writer = -1;  // the parent's end
};

// Everything is prepared before the fork; Run() only makes system calls.
class ChildSetup {
 public:
  explicit ChildSetup(ChildSetupPlan plan);

  // In the child: the cgroups first of all, so that everything from here on is counted there, then
  // process group, parent-death signal, signal handlers, streams and descriptors. `in_cgroup`: it
  // was born there.
  void Run(bool in_cgroup) const;
  // Afterwards: becomes the program. Returns never.
  [[noreturn]] void Exec(const char* program, const char* const* arguments,
                         const char* const* environment) const;

  // "cannot join /sys/fs/cgroup/cpu/x/cgroup.procs: No space left on device (...)".
  std::string Explain(const SetupFailure& failure) const;

 private:
  void AwaitMove() const;
  void Join() const;
  [[noreturn]] void Fail(SetupFailure::Step step, int join_index = 0) const;

  ChildSetupPlan plan_;
  pid_t parent_;
};

}  // namespace throttletest::internal

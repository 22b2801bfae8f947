// ChildSetup: what happens in a forked child before its program runs.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace throttletest::internal {

// The step that failed in the child, as it is sent to the parent.
struct SetupFailure {
  enum Step : int { kNone = 0, kJoin, kGroup, kDeathSignal, kStreams };
  int step = kNone;
  int join_index = 0;  // which of the join files, for kJoin
  int error = 0;       // errno
};

// Everything is prepared before the fork; Run() only makes system calls.
class ChildSetup {
 public:
  // `report` is where a failure is written; the child then ends.
  ChildSetup(const std::vector<std::string>& join_files, int output, int report);

  // In the child: joins the cgroups first of all, so that everything from here on is counted there,
  // then process group, parent-death signal, signal handlers, streams and descriptors.
  void Run() const;

  // "cannot join /sys/fs/cgroup/cpu/x/cgroup.procs: No space left on device (...)".
  std::string Explain(const SetupFailure& failure) const;

 private:
  void Join() const;
  [[noreturn]] void Fail(SetupFailure::Step step, int join_index = 0) const;

  std::vector<std::string> join_files_;
  int output_;
  int report_;
  pid_t parent_;
};

}  // namespace throttletest::internal

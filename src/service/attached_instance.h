// AttachedInstance: a service that somebody else has started, as an Instance. It only reads.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "service/attach_container.h"
#include "service/attach_process.h"
#include "service/instance.h"

namespace throttletest::internal {

// What a target turned out to be.
struct AttachedTo {
  pid_t pid = 0;
  UniqueFd process = {};  // a pidfd: readable when the process has ended, never another process
  CgroupLocation location = {};
  std::string what = {};                         // "process 4242 (nginx)", "docker container web"
  std::optional<FoundContainer> container = {};  // Absent: it is not known to be one
};

class AttachedInstance final : public Instance {
 public:
  // Opens the cgroup and reads what is in force. Errors: as Cgroup::Open() and Cgroup::Read();
  // kNotReady when the process has ended meanwhile.
  explicit AttachedInstance(AttachedTo to);

  pid_t pid() const override { return to_.pid; }
  const Cgroup& cgroup() const override { return *cgroup_; }
  bool Running() const override { return !HasEnded(to_.process); }
  ExitReport Peek() const override;
  // Of a container what its engine keeps; else nothing: the output of a process is not ours to
  // read.
  std::string Logs() const override;
  // Always refuses: kInvalidArgument.
  void Apply(const ResolvedLimits& limits) override;
  // Leaves it running, whatever `grace` is.
  ExitReport Stop(std::chrono::nanoseconds grace) override;
  std::string version() const override { return to_.what; }
  const Snapshot* found() const override { return &found_; }

 private:
  // OOM kills since it was attached to. Absent: not known, or the cgroup has gone.
  std::optional<std::int64_t> OomKills() const;
  // How it ended, as far as somebody who is not its parent can tell. Called with the mutex held.
  ExitReport ReadEnd() const;

  AttachedTo to_;
  std::optional<Cgroup> cgroup_;
  Snapshot found_;
  mutable std::mutex mutex_;
  mutable std::optional<ExitReport> end_;
  std::optional<ExitReport> stopped_;
};

// What is in force, as limits: the smallest quota of the chain, the cpuset where it is not all of
// the machine, the memory limit.
ResolvedLimits LimitsIn(const Snapshot& snapshot);

}  // namespace throttletest::internal

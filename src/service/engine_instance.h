// EngineInstance: a service in a container of docker or podman, as an Instance.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "service/engine_container.h"
#include "service/engine_oom.h"
#include "service/engine_start_watch.h"
#include "service/instance.h"

namespace throttletest::internal {

class EngineInstance : public Instance {
 public:
  // Takes over a container that was started with `request`: finds its process and cgroup.
  // Errors: kUnsupported when its cgroup is not on this host; kNotReady when it has already ended;
  // kServiceStart.
  EngineInstance(std::unique_ptr<EngineContainer> container, const LaunchRequest& request);
  // The same for a job, found while it was started.
  EngineInstance(std::unique_ptr<EngineContainer> container, const LaunchRequest& request,
                 SeenContainer found);
  ~EngineInstance() override;

  pid_t pid() const override { return pid_; }
  const Cgroup& cgroup() const override { return *cgroup_; }
  bool Running() const override;
  ExitReport Peek() const override;
  std::string Logs() const override;
  void Apply(const ResolvedLimits& limits) override;
  ExitReport Stop(std::chrono::nanoseconds grace) override;
  std::string version() const override { return container_->engine().version(); }

 private:
  // The end as the engine and the counters tell it. Called with the mutex held.
  ExitReport ReadEnd() const;

  std::unique_ptr<EngineContainer> container_;
  pid_t pid_ = 0;
  UniqueFd process_;  // a pidfd: readable when the process has ended, never another process
  std::optional<Cgroup> cgroup_;
  ResolvedLimits applied_;
  mutable std::mutex mutex_;
  mutable std::optional<OomWatch> oom_;
  mutable std::optional<ExitReport> end_;
  std::optional<ExitReport> stopped_;
};

// What the engine recorded differs from the request ("docker recorded 2e-09 CPUs, requested 2").
// Absent: empty, they agree.
std::string RecordedLimitDifference(const std::string& engine, const CpuBandwidth& requested,
                                    const ContainerState& state);

// Exit status and signal from an engine's exit code: 128 + N means "killed by signal N", by the
// convention that engines follow too.
ExitReport ReportOf(std::optional<int> exit_code);

}  // namespace throttletest::internal

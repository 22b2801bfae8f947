// Measurement: one measured window - load, counters and validity joined.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "throttletest/base/outcome.h"
#include "throttletest/cgroup/delta.h"
#include "throttletest/cgroup/sampler.h"
#include "throttletest/load/plan.h"
#include "throttletest/load/record.h"
#include "throttletest/measure/early.h"
#include "throttletest/measure/environment.h"
#include "throttletest/measure/host_activity.h"
#include "throttletest/measure/job_run.h"
#include "throttletest/measure/validity.h"
#include "throttletest/service/service.h"

namespace throttletest {

// What one batch cost the service, from the timeline between its intended start and the next
// batch's. Absent (all): no sample near the edges, or no quota in force for the bandwidth figures.
struct BatchUse {
  std::int64_t batch = 0;
  Outcome<std::chrono::nanoseconds> cpu;
  Outcome<std::int64_t> periods;
  Outcome<std::int64_t> throttled_periods;
  Outcome<std::chrono::nanoseconds> throttled_time;
};

// All of one measured window. Plain data. Warm-up is in none of the figures.
struct Measurement {
  Environment environment;
  std::string launcher;              // "cgroup", "docker", "podman", "attached"
  std::string launcher_version;      // "cgroup v1"
  std::string service;               // ServiceSpec::name; may be empty
  std::vector<std::string> command;  // empty for an attached service
  // The service was attached to: `limits` are none, and `requested` is what was found in force.
  bool attached = false;
  Limits limits;                           // as asked
  ResolvedLimits requested;                // in the kernel's units
  std::string plan;                        // LoadPlan::ToString()
  std::string request;                     // "GET /burn?ms=20"
  std::vector<std::string> request_kinds;  // by RequestRecord::kind
  bool is_burst_load = false;              // batches of more than one request
  LoadResult load;
  CgroupDelta cgroup;
  HostActivity host;
  // Threads of all processes in the service's cgroup at the end of the window.
  Outcome<int> threads;
  // The largest use of memory that was seen at the snapshots and, where the kernel's peak is not
  // the window's, in the timeline: its peak is at least that. cgroup.memory_peak is the kernel's.
  // Units: bytes. Absent: no memory controller; the second snapshot could not be read.
  Outcome<std::int64_t> sampled_memory_peak;
  Timeline timeline;
  std::vector<ThrottledWindow> throttled_windows;
  std::vector<BatchUse> batches;
  Validity validity;
  ValidityBounds bounds;
  std::vector<std::string> notes;
  // What was measured is a job that ran to its end, see RunJob(); nothing was then sent to it.
  // Absent: a service under load.
  std::optional<JobRun> job;
  // What a measurement that was to end once its budgets are decided found out. Absent: it was not.
  std::optional<EarlyVerdicts> early;
  int attempt = 1;         // 1-based; above 1 when earlier inconclusive runs were repeated
  int warm_up_failed = 0;  // failed requests of the warm-up; not part of any budget, but told

  // The service's own time limit in force. Absent: no quota.
  const std::optional<CpuBandwidth>& quota() const { return cgroup.effective.quota; }
  // Median CPU time of one batch. Absent: as BatchUse::cpu.
  Outcome<std::chrono::nanoseconds> MedianBatchCpu() const;
  // Bursts with at least one throttled period. Absent: no quota in force.
  Outcome<std::int64_t> ThrottledBursts() const;
};

}  // namespace throttletest

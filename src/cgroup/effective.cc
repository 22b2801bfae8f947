// Figures that follow from one snapshot.
#include "cgroup/level_files.h"
#include "throttletest/cgroup/snapshot.h"

namespace throttletest {

EffectiveCpuLimit Snapshot::EffectiveCpu() const {
  EffectiveCpuLimit effective;
  effective.ancestors_hidden = ancestors_hidden;
  effective.cpus = online.count();
  // A set equal to the online CPUs restricts nothing. Ties go to the quota, because it throttles.
  if (cpuset && cpuset->count() < online.count()) {
    effective.cpus = cpuset->count();
    effective.source = EffectiveCpuLimit::Source::kCpuset;
    effective.path = cpuset_path;
  }
  double smallest = 0;
  for (const CpuLevel& level : cpu) {
    if (!level.bandwidth || !level.bandwidth->limited()) continue;
    const double cpus = *level.bandwidth->cpus();
    if (effective.quota && cpus >= smallest) continue;
    smallest = cpus;
    effective.quota = level.bandwidth;
    effective.quota_path = level.path;
  }
  if (effective.quota && smallest <= effective.cpus) {
    effective.cpus = smallest;
    effective.source = EffectiveCpuLimit::Source::kQuota;
    effective.path = effective.quota_path;
  }
  return effective;
}

namespace internal {

void Accumulate(const BandwidthCounters& counters, std::optional<BandwidthCounters>& sum) {
  if (!sum) {
    sum = counters;
    return;
  }
  sum->periods += counters.periods;
  sum->throttled_periods += counters.throttled_periods;
  sum->throttled_time += counters.throttled_time;
  if (counters.bursts) sum->bursts = sum->bursts.value_or(0) + *counters.bursts;
  if (counters.burst_time) {
    sum->burst_time = sum->burst_time.value_or(std::chrono::nanoseconds{0}) + *counters.burst_time;
  }
}

}  // namespace internal
}  // namespace throttletest

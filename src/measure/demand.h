// Demand: the CPU a load needs, against what the limit in force gives.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "throttletest/measure/measurement.h"

namespace throttletest::internal {

// The quota the bandwidth figures are judged by.
struct JudgedQuota {
  CpuBandwidth bandwidth;
  std::string path;
  bool ancestor = false;  // an ancestor's, which the service's own limits cannot lift
};

// Absent: no quota in force.
std::optional<JudgedQuota> FindJudgedQuota(const Measurement& m);

// CPUs the service may run on, whatever its quota: the cpuset and the online CPUs. Absent: 0, not
// known.
int UsableCpus(const Measurement& m);

// "1 CPU", "8 CPUs".
std::string CpuCount(int cpus);

// CPUs the load needs on average to keep up: CPU time spent over the length of the schedule, so
// that work which is done late still counts as asked for. Absent: too few batches to tell, no
// usage.
std::optional<double> MeanDemand(const LoadResult& load, const CgroupDelta& delta);

// What a quota of `period` must give so that `work`, asked for at once, is not held back: all of
// it, but never more than `cpus` CPUs can use in one period. cpus 0: not known, no such bound.
std::chrono::nanoseconds QuotaToHold(std::chrono::nanoseconds work, std::chrono::nanoseconds period,
                                     int cpus);

// quota / period rounded up to a tenth of a CPU, in tenths.
std::int64_t TenthsOfCpu(std::chrono::nanoseconds quota, std::chrono::nanoseconds period);

// What one burst (or, without bursts, the mean load) needs, what the quota gives, and the smallest
// limits that would fit: "One burst needs 164 ms CPU, the quota gives 100 ms per 100 ms period:
// cpus >= 1.8 would fit it ..."; and the number of threads, when there are too many for the quota.
// The kernel hands quota out to each CPU in slices, and what is left of a slice on one CPU is
// missing on another: so the advice holds 95 % of the bursts and one slice more for each CPU in
// use. Absent: empty when nothing is known. Needs a quota in force.
std::string FitText(const Measurement& m, const JudgedQuota& quota);

// What the service's threads do to its quota: "10 threads can use 2 CPUs at once and use up 50 ms
// in 25 ms; ...". Absent: empty, there are not too many, or how many is not known.
std::string ThreadsText(const Measurement& m, const JudgedQuota& quota);

}  // namespace throttletest::internal

// JobDemand: what a job asked of the CPU, and what its quota made of that.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "measure/diagnosis.h"
#include "throttletest/measure/measurement.h"

namespace throttletest::internal {

// Throttled time is counted once for each CPU that had work to do, so CPU time and throttled time
// together are how long threads could have run, and over the elapsed time how many at once. With as
// many at once and without the waiting the job would have taken `unthrottled`. That is an estimate:
// it takes the job to be alike from its beginning to its end.
struct JobDemand {
  std::chrono::nanoseconds cpu{0};
  std::chrono::nanoseconds throttled{0};
  std::chrono::nanoseconds elapsed{0};
  double at_once = 0;  // CPUs' worth of threads that could run
  std::chrono::nanoseconds unthrottled{0};
};

// Absent: no job, no CPU time is known, or it used none.
std::optional<JobDemand> DemandOf(const Measurement& m);

// The CPUs under which the job would have ended within `bound`, in steps of 0.05 and at least 2 %
// to spare: rounding of quotas and the kernel's slices take that much. Absent: none, it would have
// taken as long without any limit.
std::optional<double> CpusToEndWithin(const JobDemand& demand, std::chrono::nanoseconds bound);

// Why a job took longer than `bound`, and which `cpus` would have held. Never empty.
std::string ExplainElapsed(const Measurement& m, std::chrono::nanoseconds bound);
// Which `cpus` would not have throttled the job. Absent: empty, not known.
std::string UnthrottledText(const Measurement& m);
// "the job exited with status 3; its last lines: ..."; always of a job.
std::string FateText(const Measurement& m);

}  // namespace throttletest::internal

// Budget: a metric and its bound. Evaluating it gives a verdict, never a bare bool.
//
//   const BudgetResult r = ParseBudget("p99<150ms").Evaluate(measurement);
//   if (r.verdict == Verdict::kMissed) std::cout << r.explanation;
//
// gMock matchers, the command line's --budget and reports are thin wrappers over it. There is no
// budget of the form "above": throttling or latency that must be high is not a service's promise.
// That one job fills the limit is said of the share it leaves unused.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "throttletest/base/byte_size.h"
#include "throttletest/base/outcome.h"
#include "throttletest/cgroup/limits.h"
#include "throttletest/load/latency.h"
#include "throttletest/measure/interval.h"
#include "throttletest/measure/job_reference.h"
#include "throttletest/measure/measurement.h"
#include "throttletest/measure/verdict.h"

namespace throttletest {

// Metrics a budget can bound. In brackets the name that ParseBudget takes and its unit.
enum class Metric {
  kThrottleRatio,           // [throttle_ratio, 0..1] of the judged level, see CgroupDelta
  kThrottledPeriods,        // [throttled_periods, count]
  kThrottledBursts,         // [throttled_bursts, count] batches with a throttled period
  kThrottledTimePerSecond,  // [throttled_time_per_second, s/s] summed over CPUs; may exceed 1
  kCpuUsage,                // [cpu_usage, CPUs]
  kResponseTime,            // [p50 ... p99.9, max; duration] response time = done - intended start
  kServiceTime,             // [service_p50 ... service_max; duration] done - sent
  kErrorRatio,              // [error_ratio, 0..1]
  kFailedRequests,          // [failed_requests, count] failed and timed out
  kStartLag,                // [start_lag_p99 ..., start_lag_max; duration]
  kMemoryPeak,              // [memory_peak, bytes]
  kOomKills,                // [oom_kills, count]
  // [queue_depth_N; duration] when the last of N jobs that wait for one worker is done: N x the
  // worst service time, see ServiceTimeOf()
  kQueueDepth,
  kWorkers,           // [workers, count] requests worked on at once, see WorkersOf()
  kUnusedLimit,       // [unused_limit, 0..1] of the CPU limit, while one request alone is worked on
  kThreadsOverQuota,  // [threads_over_quota, count] beyond those that the quota keeps busy
  kElapsed,           // [elapsed; duration] of a job, see JobRun
  kElapsedRatio,      // [elapsed_ratio, times] elapsed / that of the run of Budget::Against()
  kExitStatus,        // [exit_status, status] of a job; 128 + signal as shells have it
};

enum class Comparison { kBelow, kAtMost };  // "<", "<="

struct BudgetResult {
  Verdict verdict = Verdict::kInconclusive;
  std::string budget;  // "p99<150ms", with " under cpus 0.5 (...)" when it was declared for limits
  // The measured figure in the metric's unit (durations in ms), even when inconclusive if one is
  // known. Absent: none; an infinite percentile has none and says so in the explanation.
  std::optional<double> value;
  std::string unit;  // "ratio", "periods", "bursts", "s/s", "CPUs", "ms", "requests", "bytes",
                     // "kills", "workers", "threads", "times", "status"
  // Around `value`, in the same unit. It never changes the verdict; the explanation says when the
  // bound is within it. Absent: an inconclusive verdict; a figure without spread (counts but that
  // of bursts, maxima, the memory peak); too few batches.
  Outcome<Interval> interval = Outcome<Interval>::NotAvailable("not an estimate");
  // One paragraph: rule, bound, value with its interval, n, unit; when missed also the cause and
  // what would have held.
  std::string explanation;
};

// A metric with a bound. A value type.
class Budget {
 public:
  // Factories. Errors: kInvalidArgument for a bound that is negative, not a number, or (ratios)
  // above 1.
  static Budget ThrottleRatio(Comparison c, double bound);
  static Budget ThrottledPeriods(Comparison c, std::int64_t bound);
  static Budget ThrottledBursts(Comparison c, std::int64_t bound);
  static Budget ThrottledTimePerSecond(Comparison c, double bound);
  static Budget CpuUsage(Comparison c, double cpus);
  static Budget ResponseTime(Percentile p, Comparison c, std::chrono::nanoseconds bound);
  static Budget ServiceTime(Percentile p, Comparison c, std::chrono::nanoseconds bound);
  static Budget ErrorRatio(Comparison c, double bound);
  static Budget FailedRequests(Comparison c, std::int64_t bound);
  static Budget StartLag(Percentile p, Comparison c, std::chrono::nanoseconds bound);
  static Budget MemoryPeak(Comparison c, ByteSize bound);
  static Budget OomKills(Comparison c, std::int64_t bound);
  // A queue of `depth` jobs, the one that is worked on included, before one worker: the last of
  // them is done within `timeout` of its submission when depth x worst service time <= timeout.
  // Units: depth 1..1000000.
  static Budget QueueDepth(int depth, std::chrono::nanoseconds timeout);
  static Budget Workers(Comparison c, std::int64_t bound);
  static Budget UnusedLimit(Comparison c, double bound);
  // Threads of the service beyond the quota's CPUs rounded up, at least one (ThreadsOfQuota()).
  static Budget ThreadsOverQuota(Comparison c, std::int64_t bound);
  // Of a job: a Measurement of RunJob(). A job that did not succeed keeps none of its bounds but
  // these and that on OOM kills, and one that was stopped at its timeout is only known to take
  // longer.
  static Budget Elapsed(Comparison c, std::chrono::nanoseconds bound);
  // Units: 1 is as long as the run that Against() names. Inconclusive without that.
  static Budget ElapsedRatio(Comparison c, double factor);
  static Budget ExitStatus(Comparison c, std::int64_t bound);

  // This budget, judged only of what was measured under the limits that are declared for
  // deployment; under others it is inconclusive, whatever the figure. Errors: kInvalidArgument for
  // limits that no kernel takes.
  Budget DeployedUnder(const Limits& declared) const;

  // This budget, whose ratio is to `unlimited`: a trusted run of the same command by the same
  // launcher on the same machine and kernel; otherwise it is inconclusive.
  Budget Against(const JobReference& unlimited) const;

  // Judges. Errors: none; what cannot be judged is inconclusive with the reason. Inconclusive: the
  // run is not trusted; the metric is not available; fewer than bounds.min_periods periods for a
  // throttle ratio; fewer samples than the percentile needs (the number is told), unless an early
  // decision did without them; no request succeeded (latency).
  BudgetResult Evaluate(const Measurement& m) const;

  Metric metric() const { return metric_; }
  Comparison comparison() const { return comparison_; }
  // Units: the metric's; durations in ns.
  double bound() const { return bound_; }
  // Absent: the metric has none.
  const std::optional<Percentile>& percentile() const { return percentile_; }
  // Of kQueueDepth. Absent: 1, the metric has none.
  int depth() const { return depth_; }
  // Absent: what was measured under any limits is judged.
  const std::optional<Limits>& deployed() const { return deployed_; }
  // Of kElapsedRatio. Absent: there is nothing to compare with.
  const std::optional<JobReference>& reference() const { return reference_; }
  // "p99<150ms": what ParseBudget accepts. It does not say under which limits.
  std::string ToString() const;
  // "has a P99 response time below 150 ms": the predicate of a sentence about a measurement.
  std::string Describe() const;
  std::string DescribeNegation() const;

 private:
  Budget(Metric metric, Comparison comparison, double bound);
  Metric metric_;
  Comparison comparison_;
  double bound_;  // in the metric's unit; durations in ns
  std::optional<Percentile> percentile_;
  int depth_ = 1;
  std::optional<Limits> deployed_;
  std::optional<JobReference> reference_;
};

// Reads "metric<bound" or "metric<=bound": "throttle_ratio<0.05", "p99<150ms",
// "failed_requests<=0", "memory_peak<64MiB", "queue_depth_8<=240s". Blanks are ignored. Errors:
// kInvalidArgument quoting the text; an unknown metric lists the known ones and the nearest.
Budget ParseBudget(std::string_view text);

}  // namespace throttletest

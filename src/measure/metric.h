// Names, units and wording of the metrics a Budget can bound: one table for evaluating, parsing and
// describing.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "throttletest/load/latency.h"
#include "throttletest/measure/budget.h"

namespace throttletest::internal {

// What a bound of the metric looks like.
enum class BoundKind { kRatio, kNumber, kCount, kDuration, kBytes };

struct MetricInfo {
  Metric metric;
  const char* name;     // ParseBudget's; the prefix before p99 or max for percentiles
  const char* subject;  // "throttle ratio"; for percentiles the quantity, "response time"
  const char* none;     // "throttled period": the noun of "has no ..."; empty unless a count
  const char* unit;     // of BudgetResult::value
  BoundKind kind;
};

// Its name ends with a percentile.
inline bool TakesPercentile(const MetricInfo& info) {
  return info.kind == BoundKind::kDuration && info.metric != Metric::kQueueDepth &&
         info.metric != Metric::kElapsed;
}

// Only a job has it.
inline bool IsOfAJob(Metric metric) {
  return metric == Metric::kElapsed || metric == Metric::kElapsedRatio ||
         metric == Metric::kExitStatus;
}

// It is of the requests that a service gets, which a job does not.
inline bool IsOfRequests(Metric metric) {
  return !IsOfAJob(metric) && metric != Metric::kThrottleRatio &&
         metric != Metric::kThrottledPeriods && metric != Metric::kThrottledTimePerSecond &&
         metric != Metric::kCpuUsage && metric != Metric::kMemoryPeak &&
         metric != Metric::kOomKills;
}

// The row of a metric, and all rows.
const MetricInfo& InfoOf(Metric metric);
std::span<const MetricInfo> AllMetrics();

// Whether a value keeps to the bound; both in the metric's own unit.
bool Holds(Comparison comparison, double value, double bound);

// What ParseBudget accepts: "p99", "service_max", "throttle_ratio".
std::string MetricName(Metric metric, const std::optional<Percentile>& percentile);
// The subject of a sentence: "P99", "service time P99", "maximum response time", "throttle ratio".
std::string MetricSubject(Metric metric, const std::optional<Percentile>& percentile);

// A bound as ParseBudget reads it back exactly: "150ms", "0.05", "64MiB".
std::string BoundToken(Metric metric, double bound);
// A bound for people: "150 ms", "0.05", "64 MiB", "0.5 CPUs".
std::string BoundText(Metric metric, double bound);
// A measured value for people, with enough digits to tell it from `bound`.
std::string ValueText(Metric metric, double value, double bound);

}  // namespace throttletest::internal

// Diagnosis: why a budget was missed and what would have held, in one or a few sentences.
#pragma once

#include <chrono>
#include <string>

#include "throttletest/measure/budget.h"
#include "throttletest/measure/measurement.h"

namespace throttletest::internal {

// The budget that was missed.
struct MissedBudget {
  Metric metric;
  Comparison comparison;
  double bound = 0;  // in the metric's own unit, durations in ns
  // Of a ratio of elapsed times: the longest that would have kept to it.
  std::chrono::nanoseconds elapsed{0};
};

// For latency: how much of the slowness the quota explains. For throttling: time held, CPU use, and
// the quota that would have held. For failures: their reasons. Absent: empty, nothing to add.
// Errors: none.
std::string Diagnose(const Measurement& m, const MissedBudget& missed);

}  // namespace throttletest::internal

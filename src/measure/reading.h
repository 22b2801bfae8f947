// Reading: one metric taken from a measurement, with the reason when it must not be judged.
#pragma once

#include <optional>
#include <string>

#include "throttletest/load/latency.h"
#include "throttletest/measure/budget.h"
#include "throttletest/measure/measurement.h"

namespace throttletest::internal {

struct Reading {
  // In the metric's own unit, durations in ns. Absent: not known, or `no_answer`.
  std::optional<double> value;
  // The figure is between `value` and this. Absent: it is `value`.
  std::optional<double> up_to;
  std::string narrows;  // what would tell where in that range it is
  // The percentile falls on a request that never got its answer: slower than any bound.
  bool no_answer = false;
  std::string detail;        // "nearest rank, 480 requests"; empty when there is nothing to add
  std::string advice;        // a sentence that follows any verdict
  std::string inconclusive;  // why the figure cannot be judged; empty when it can
  bool too_few = false;      // `inconclusive` is only that there are too few samples or periods
};

// Takes `metric` from `m`; the run's own validity is not looked at. Errors: none.
Reading ReadMetric(const Measurement& m, Metric metric,
                   const std::optional<Percentile>& percentile);
// The same with what only some metrics ask for: the depth of a queue and its bound.
Reading ReadMetric(const Measurement& m, const Budget& budget);

}  // namespace throttletest::internal

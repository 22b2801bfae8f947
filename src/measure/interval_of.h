// The interval of a metric's figure, taken from a measurement, and its wording.
#pragma once

#include <optional>
#include <string>

#include "throttletest/base/outcome.h"
#include "throttletest/load/latency.h"
#include "throttletest/measure/budget.h"
#include "throttletest/measure/interval.h"
#include "throttletest/measure/measurement.h"

namespace throttletest::internal {

// The interval around `value`, which is the metric's figure in its own unit (durations in ns). The
// result is in the unit of BudgetResult::value (durations in ms). Absent, with the reason: counts
// but that of bursts, maxima and the memory peak have no spread; fewer batches than an interval
// takes; the timeline does not tell the batches apart. Errors: none.
Outcome<Interval> IntervalOf(const Measurement& m, Metric metric,
                             const std::optional<Percentile>& percentile, double value);

// "95 % interval 0.52..0.68, 20 batches"; "95 % interval 352.1 ms and above, 20 batches".
std::string IntervalText(Metric metric, const Interval& interval);

// Whether the bound, in the interval's unit, is within: a true figure on either side of it would be
// no surprise.
bool Contains(const Interval& interval, double bound);

}  // namespace throttletest::internal

// Interval: how far a figure may be from what a run without end would show.
//
//   const BudgetResult r = ParseBudget("throttle_ratio<0.05").Evaluate(measurement);
//   if (r.interval.has_value()) std::cout << r.interval.value().low;
//
// Requests of one batch meet the same quota at the same time, so they are no independent
// observations: batches are. An interval is made from the differences between batches, however
// alike the requests within one are. Batches so close together that one throttled period meets
// several are put together to stretches of time first (batch means: Schmeiser, Operations Research
// 30, 1982).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace throttletest {

// Where each `method` is from:
//   "wilson"            a proportion: Wilson's interval (JASA 22, 1927) for the effective number of
//                       observations, which the linearised variance between units gives (Cochran,
//                       Sampling Techniques, 1977; Korn and Graubard, Survey Methodology 24, 1998),
//                       with Student's t for the units that show some of it
//   "clopper_pearson"   a proportion of units that are each wholly the one or the other, none and
//                       all included: exact (Clopper and Pearson, Biometrika 26, 1934)
//   "order_statistics"  a percentile of independent requests: the ranks that the binomial
//                       distribution gives (David and Nagaraja, Order Statistics, 2003)
//   "woodruff"          a percentile of requests in batches: those ranks for the effective number
//                       of requests (Woodruff, JASA 47, 1952)
//   "student_t"         a mean: Student's t on the linearised variance between units
struct Interval {
  double low = 0;
  // Absent: the figure has no upper end. Of a percentile, when too few requests are beyond it
  // (`needed` says how many are too few) or when the end falls on one that got no answer.
  std::optional<double> high = {};
  // How often an interval made this way holds the true figure. Units: 0..1.
  double confidence = 0.95;
  std::string method = {};
  std::int64_t units = 0;
  std::string unit_name = {};  // "batches", "stretches of time"
  // About how many requests an upper end takes. Absent: 0, there is one, or no number would do.
  std::int64_t needed = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

}  // namespace throttletest

// EarlyVerdicts: what a measurement that may end early has found out, and at what price.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "throttletest/measure/verdict.h"

namespace throttletest {

// One budget of such a measurement.
struct EarlyVerdict {
  std::string budget;                        // Budget::ToString()
  Verdict verdict = Verdict::kInconclusive;  // kInconclusive: not decided before the plan's end
  // Observations it took; all there were when it was not decided.
  std::int64_t observations = 0;
  // The fewest observations after which the method can call the budget met, all of them without a
  // slow request or a throttled period. Absent: it is only met at the plan's end (counts, maxima,
  // sums).
  std::optional<std::int64_t> floor = {};
};

// How the looking went. An observation is a batch, or as many batches as fall into one enforcement
// period: requests of one batch share its fate, so they count as one.
struct EarlyVerdicts {
  double error_rate = 0.05;
  // The load was ended before the plan's end: every budget was decided, or can never be (throttling
  // without a quota).
  bool ended_early = false;
  std::int64_t observations = 0;
  std::int64_t planned_observations = 0;
  double requests_per_observation = 0;
  std::chrono::nanoseconds duration{0};  // of the load, from the first intended start
  std::vector<EarlyVerdict> budgets;

  // Absent: no such budget, or not decided.
  const EarlyVerdict* Decided(const std::string& budget) const;
  // "ended after 7 of 60 observations of 8 requests (6.4 s) at an error rate of 5 % a budget;
  // ..."
  std::string ToString() const;
};

}  // namespace throttletest

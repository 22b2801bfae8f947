// EarlyJudge: watches a run that is under way and says when every budget is decided. Pure: it is
// given what was recorded so far, so that it is tested without a service.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "measure/betting_test.h"
#include "measure/observations.h"
#include "throttletest/measure/early.h"

namespace throttletest::internal {

class EarlyJudge {
 public:
  // Units: 0 < error_rate < 0.5; shortest: of an observation, > 0; min_periods: before a throttle
  // ratio is decided.
  EarlyJudge(const std::vector<Budget>& budgets, double error_rate, const Schedule& schedule,
             std::chrono::nanoseconds shortest, std::int64_t min_periods);

  // Takes in what is new. `samples` holds all readings of the timeline since the run began, in
  // order of time; a stretch is not looked at before one is later than its end.
  void Look(const LoadResult& load, const std::vector<Cgroup::Quick>& samples);
  // True when more of the plan would not change a verdict.
  bool decided() const;
  // What is known now; whether it ended the run is for the caller to say. Units: duration: of the
  // load so far.
  EarlyVerdicts Verdicts(std::chrono::nanoseconds duration) const;

 private:
  // A budget under judgement.
  struct Case {
    Budget budget;
    std::optional<BettingTest> test = {};  // absent: the metric has none
    std::int64_t count = 0;                // so far, of what the budget counts
    std::int64_t observations = 0;
    Verdict verdict = Verdict::kInconclusive;
    bool hopeless = false;  // nothing to observe, such as throttling without a quota
    std::optional<std::int64_t> floor = {};
  };

  Case MakeCase(const Budget& budget) const;
  void Observe(Case& judged, const Observation& seen) const;

  const double error_rate_;
  const std::int64_t min_periods_;
  const std::vector<Stretch> stretches_;
  const std::int64_t batches_;
  const std::int64_t planned_requests_;
  std::size_t next_ = 0;  // the first stretch not looked at
  std::int64_t periods_ = 0;
  std::vector<Case> cases_;
};

}  // namespace throttletest::internal

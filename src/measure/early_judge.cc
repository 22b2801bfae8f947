#include "measure/early_judge.h"

#include <algorithm>
#include <cmath>

#include "measure/batch_use.h"

namespace throttletest::internal {
namespace {

// A single bad batch is enough for the test when the budget lets through 1 %; it is not for us: the
// first one after a pause may be unlike all others.
constexpr std::int64_t kFewestObservations = 5;

using std::chrono::nanoseconds;

bool IsThrottling(Metric metric) {
  return metric == Metric::kThrottleRatio || metric == Metric::kThrottledPeriods ||
         metric == Metric::kThrottledBursts;
}

bool IsRequests(Metric metric) {
  return metric == Metric::kResponseTime || metric == Metric::kServiceTime ||
         metric == Metric::kErrorRatio || metric == Metric::kFailedRequests;
}

// What the budget lets through at most, of what it counts. Absent: it is not about a count.
std::optional<std::int64_t> Allowed(const Budget& budget) {
  switch (budget.metric()) {
    case Metric::kThrottledPeriods:
    case Metric::kThrottledBursts:
    case Metric::kFailedRequests: {
      const std::int64_t bound = std::llround(budget.bound());
      return budget.comparison() == Comparison::kBelow ? bound - 1 : bound;
    }
    case Metric::kResponseTime:
    case Metric::kServiceTime:
      // A maximum lets nothing through.
      if (budget.percentile() == Percentile(100)) return 0;
      return std::nullopt;
    case Metric::kThrottleRatio:
    case Metric::kErrorRatio:
      if (budget.bound() == 0) return 0;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// The largest share of what is against the budget that it lets through. Absent: no such share.
std::optional<double> AllowedShare(const Budget& budget, std::int64_t bursts) {
  constexpr double kAll = 100'000;
  switch (budget.metric()) {
    case Metric::kThrottleRatio:
    case Metric::kErrorRatio:
      return budget.bound();
    case Metric::kResponseTime:
    case Metric::kServiceTime:
      return (kAll - static_cast<double>(budget.percentile()->milli_percent())) / kAll;
    case Metric::kThrottledBursts:
      return static_cast<double>(*Allowed(budget) + 1) / static_cast<double>(bursts);
    default:
      return std::nullopt;
  }
}

}  // namespace

EarlyJudge::EarlyJudge(const std::vector<Budget>& budgets, double error_rate,
                       const Schedule& schedule, nanoseconds shortest, std::int64_t min_periods)
    : error_rate_(error_rate),
      min_periods_(min_periods),
      stretches_(StretchesOf(schedule, shortest)),
      batches_(static_cast<std::int64_t>(schedule.batches().size())),
      planned_requests_(schedule.request_count()) {
  for (const Budget& budget : budgets) cases_.push_back(MakeCase(budget));
}

EarlyJudge::Case EarlyJudge::MakeCase(const Budget& budget) const {
  Case judged{.budget = budget};
  // The last stretch has no end but is one of the bursts, too.
  const auto bursts = static_cast<std::int64_t>(stretches_.size()) + 1;
  // Several bursts in one stretch cannot be told apart.
  const bool countable = budget.metric() != Metric::kThrottledBursts || bursts == batches_;
  const auto share = AllowedShare(budget, bursts);
  if (countable && share && *share > 0 && *share < 1) {
    judged.floor = BettingTest::Floor(*share, error_rate_);
    if (judged.floor) judged.test.emplace(*share, error_rate_);
  }
  return judged;
}

void EarlyJudge::Observe(Case& judged, const Observation& seen) const {
  if (judged.verdict != Verdict::kInconclusive) return;
  const bool bursts = judged.budget.metric() == Metric::kThrottledBursts;
  const std::int64_t count = bursts ? std::min<std::int64_t>(seen.count, 1) : seen.count;
  judged.count += count;
  ++judged.observations;
  const auto allowed = Allowed(judged.budget);
  if (allowed && judged.count > *allowed) judged.verdict = Verdict::kMissed;
  if (judged.test && seen.share) {
    judged.test->Add(bursts ? static_cast<double>(count) : *seen.share);
    if (judged.observations < kFewestObservations) return;
    if (judged.budget.metric() == Metric::kThrottleRatio && periods_ < min_periods_) return;
    const BettingTest::Answer answer = judged.test->answer();
    if (answer == BettingTest::Answer::kBelow) judged.verdict = Verdict::kMet;
    // That there will be too many is not as good as that there are.
    if (answer == BettingTest::Answer::kAbove && !allowed) judged.verdict = Verdict::kMissed;
  }
}

void EarlyJudge::Look(const LoadResult& load, const std::vector<Cgroup::Quick>& samples) {
  for (; next_ < stretches_.size(); ++next_) {
    const Stretch& stretch = stretches_[next_];
    const auto end = load.epoch + stretch.end;
    if (samples.empty() || samples.back().time <= end || !IsOver(load, stretch)) return;
    const Cgroup::Quick* from = LastBefore(samples, load.epoch + stretch.begin);
    const Cgroup::Quick* to = LastBefore(samples, end);
    const bool counted = from != nullptr && to != nullptr && from->counters && to->counters;
    const Observation counters = counted ? ObserveCounters(*from, *to) : Observation{};
    if (counted) periods_ += to->counters->periods - from->counters->periods;
    for (Case& judged : cases_) {
      if (IsThrottling(judged.budget.metric())) {
        judged.hopeless = to != nullptr && !to->counters;
        Observe(judged, counters);
      }
      if (IsRequests(judged.budget.metric())) {
        Observe(judged, ObserveRequests(load, stretch, judged.budget));
      }
    }
  }
}

bool EarlyJudge::decided() const {
  return !cases_.empty() && std::none_of(cases_.begin(), cases_.end(), [](const Case& judged) {
    return judged.verdict == Verdict::kInconclusive && !judged.hopeless;
  });
}

EarlyVerdicts EarlyJudge::Verdicts(nanoseconds duration) const {
  EarlyVerdicts verdicts;
  verdicts.error_rate = error_rate_;
  verdicts.observations = static_cast<std::int64_t>(next_);
  verdicts.planned_observations = static_cast<std::int64_t>(stretches_.size()) + 1;
  verdicts.requests_per_observation =
      static_cast<double>(planned_requests_) / static_cast<double>(verdicts.planned_observations);
  verdicts.duration = duration;
  for (const Case& judged : cases_) {
    verdicts.budgets.push_back({.budget = judged.budget.ToString(),
                                .verdict = judged.verdict,
                                .observations = judged.observations,
                                .floor = judged.floor});
  }
  return verdicts;
}

}  // namespace throttletest::internal

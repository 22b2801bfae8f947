#include "measure/early_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "load/tally.h"
#include "throttletest/load/plan.h"

namespace throttletest::internal {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using testing::HasSubstr;

const Budget kRatio = ParseBudget("throttle_ratio<0.15");
const Budget kLatency = ParseBudget("p99<150ms");

// A run of which the first batches are over, with a timeline that has a sample every 10 ms.
class Playback {
 public:
  explicit Playback(const LoadPlan& plan) : schedule(plan.measured()) {
    load.epoch = std::chrono::steady_clock::time_point(1000s);
    load.records = RecordsOf(schedule);
    Sample(-10ms);
  }

  // The next batch: every request of it is answered after `response`; of its 5 periods `throttled`
  // are.
  void Batch(nanoseconds response, std::int64_t throttled, RequestFate fate = RequestFate::kOk) {
    const nanoseconds start = Start();
    for (; next_ < load.records.size() && load.records[next_].batch == batch_; ++next_) {
      RequestRecord& record = load.records[next_];
      record.sent_ns = record.intended_ns;
      record.done_ns = record.intended_ns + response.count();
      record.fate = fate;
    }
    ++batch_;
    counters_.periods += 5;
    counters_.throttled_periods += throttled;
    for (nanoseconds t = start + 500ms; t < start + 1s; t += 10ms) Sample(t);
    Sample(start + 1s);
    Sample(start + 1s + 1ms);
  }
  nanoseconds Start() const { return nanoseconds(load.records[next_].intended_ns); }
  void NoQuota() {
    quota_ = false;
    samples.front().counters.reset();
  }

  const Schedule schedule;
  LoadResult load;
  std::vector<Cgroup::Quick> samples;

 private:
  void Sample(nanoseconds at) {
    Cgroup::Quick sample;
    sample.time = load.epoch + at;
    if (quota_) sample.counters = counters_;
    samples.push_back(sample);
  }

  bool quota_ = true;
  BandwidthCounters counters_{};
  std::size_t next_ = 0;
  std::uint32_t batch_ = 0;
};

EarlyJudge JudgeOf(const Playback& run, const std::vector<Budget>& budgets) {
  return {budgets, 0.05, run.schedule, 100ms, 10};
}

const LoadPlan kPlan = Batches(8).Every(1s).For(60s);

TEST(EarlyJudge, MissesAThrottleRatioWithinAFewBatches) {
  Playback run(kPlan);
  EarlyJudge judge = JudgeOf(run, {kRatio});
  int batches = 0;
  for (; batches < 20 && !judge.decided(); ++batches) {
    run.Batch(300ms, 3);
    judge.Look(run.load, run.samples);
  }
  EXPECT_TRUE(judge.decided());
  EXPECT_LE(batches, 8);
  const EarlyVerdicts verdicts = judge.Verdicts(6s);
  EXPECT_EQ(verdicts.planned_observations, 60);
  EXPECT_DOUBLE_EQ(verdicts.requests_per_observation, 8);
  ASSERT_NE(verdicts.Decided("throttle_ratio<0.15"), nullptr);
  EXPECT_EQ(verdicts.Decided("throttle_ratio<0.15")->verdict, Verdict::kMissed);
}

TEST(EarlyJudge, MeetsAThrottleRatioAtItsFloor) {
  Playback run(kPlan);
  EarlyJudge judge = JudgeOf(run, {kRatio});
  std::int64_t batches = 0;
  for (; batches < 59 && !judge.decided(); ++batches) {
    run.Batch(100ms, 0);
    judge.Look(run.load, run.samples);
  }
  const EarlyVerdicts verdicts = judge.Verdicts(22s);
  ASSERT_NE(verdicts.Decided("throttle_ratio<0.15"), nullptr);
  EXPECT_EQ(verdicts.Decided("throttle_ratio<0.15")->verdict, Verdict::kMet);
  EXPECT_EQ(verdicts.Decided("throttle_ratio<0.15")->observations, *verdicts.budgets[0].floor);
  EXPECT_THAT(verdicts.ToString(),
              HasSubstr("requests that share a batch count as one, at 8 times"));
}

TEST(EarlyJudge, MissesALatencyBudgetOfWhichTooManyRequestsAreSlow) {
  Playback run(kPlan);
  EarlyJudge judge = JudgeOf(run, {kLatency});
  for (int i = 0; i < 4; ++i) run.Batch(200ms, 0);
  judge.Look(run.load, run.samples);
  EXPECT_FALSE(judge.decided()) << "four batches may be four in a row";
  run.Batch(200ms, 0);
  judge.Look(run.load, run.samples);
  ASSERT_NE(judge.Verdicts(4s).Decided("p99<150ms"), nullptr);
  EXPECT_EQ(judge.Verdicts(4s).Decided("p99<150ms")->verdict, Verdict::kMissed);
}

// 59 batches of 8 are 472 requests: enough for a P99 of independent ones, not of batches.
TEST(EarlyJudge, DoesNotMeetAP99WithFewBatchesOfMany) {
  Playback run(kPlan);
  EarlyJudge judge = JudgeOf(run, {kLatency});
  for (int i = 0; i < 59; ++i) run.Batch(50ms, 0);
  judge.Look(run.load, run.samples);
  EXPECT_FALSE(judge.decided());
  EXPECT_GT(*judge.Verdicts(59s).budgets[0].floor, 290);
}

TEST(EarlyJudge, FailedRequestsAreSlowOnes) {
  Playback run(kPlan);
  EarlyJudge judge = JudgeOf(run, {kLatency, ParseBudget("failed_requests<=0")});
  for (int i = 0; i < 5; ++i) run.Batch(1ms, 0, RequestFate::kFailed);
  judge.Look(run.load, run.samples);
  const EarlyVerdicts verdicts = judge.Verdicts(4s);
  EXPECT_EQ(verdicts.Decided("p99<150ms")->verdict, Verdict::kMissed);
  EXPECT_EQ(verdicts.Decided("failed_requests<=0")->verdict, Verdict::kMissed);
  EXPECT_EQ(verdicts.Decided("failed_requests<=0")->observations, 1);
}

TEST(EarlyJudge, ABurstTooManyIsCertainAtOnce) {
  Playback run(kPlan);
  EarlyJudge judge = JudgeOf(run, {ParseBudget("throttled_bursts<=1")});
  run.Batch(1ms, 4);
  judge.Look(run.load, run.samples);
  EXPECT_FALSE(judge.decided());
  run.Batch(1ms, 1);
  judge.Look(run.load, run.samples);
  EXPECT_EQ(judge.Verdicts(2s).Decided("throttled_bursts<=1")->verdict, Verdict::kMissed);
}

TEST(EarlyJudge, ARatioThatMustBeZeroIsMissedWithTheFirstCase) {
  Playback run(kPlan);
  EarlyJudge judge = JudgeOf(run, {ParseBudget("throttle_ratio<=0")});
  run.Batch(1ms, 0);
  judge.Look(run.load, run.samples);
  EXPECT_FALSE(judge.decided());
  run.Batch(1ms, 1);
  judge.Look(run.load, run.samples);
  EXPECT_EQ(judge.Verdicts(2s).Decided("throttle_ratio<=0")->verdict, Verdict::kMissed);
}

TEST(EarlyJudge, WaitsForEveryBudget) {
  Playback run(kPlan);
  EarlyJudge judge = JudgeOf(run, {kLatency, ParseBudget("max<1s")});
  for (int i = 0; i < 30; ++i) run.Batch(200ms, 0);
  judge.Look(run.load, run.samples);
  EXPECT_FALSE(judge.decided());
  EXPECT_EQ(judge.Verdicts(30s).Decided("max<1s"), nullptr);
  EXPECT_THAT(judge.Verdicts(30s).ToString(), HasSubstr("max<1s not decided"));
}

TEST(EarlyJudge, DoesNotLookAtABatchThatIsUnderWayOrNotYetSampled) {
  Playback run(kPlan);
  EarlyJudge judge = JudgeOf(run, {kLatency});
  run.Batch(200ms, 0);
  run.samples.pop_back();
  run.samples.pop_back();
  judge.Look(run.load, run.samples);
  EXPECT_EQ(judge.Verdicts(1s).observations, 0);
  run.Batch(200ms, 0);
  run.load.records[3].fate = RequestFate::kNotSent;
  judge.Look(run.load, run.samples);
  EXPECT_EQ(judge.Verdicts(2s).observations, 0);
  run.load.records[3].fate = RequestFate::kOk;
  judge.Look(run.load, run.samples);
  EXPECT_EQ(judge.Verdicts(2s).observations, 2);
}

TEST(EarlyJudge, DoesNotGoOnForAThrottleRatioWithoutAQuota) {
  Playback run(kPlan);
  run.NoQuota();
  EarlyJudge judge = JudgeOf(run, {kRatio});
  run.Batch(50ms, 0);
  judge.Look(run.load, run.samples);
  EXPECT_TRUE(judge.decided());
  EXPECT_EQ(judge.Verdicts(1s).Decided("throttle_ratio<0.15"), nullptr);
}

TEST(EarlyJudge, DoesNotGiveUpForWantOfTheFirstSample) {
  Playback run(kPlan);
  run.samples.clear();
  EarlyJudge judge = JudgeOf(run, {kRatio});
  run.Batch(50ms, 0);
  std::erase_if(run.samples,
                [&](const Cgroup::Quick& s) { return s.time < run.load.epoch + 600ms; });
  judge.Look(run.load, run.samples);
  EXPECT_EQ(judge.Verdicts(1s).observations, 1);
  EXPECT_FALSE(judge.decided());
}

// Of two bursts in one stretch nobody knows whether one or both were throttled.
TEST(EarlyJudge, DoesNotTestBurstsThatCannotBeToldApart) {
  const Schedule schedule = Batches(8).Every(60ms).For(12s).measured();
  const EarlyJudge judge({ParseBudget("throttled_bursts<=60")}, 0.05, schedule, 100ms, 10);
  EXPECT_FALSE(judge.Verdicts(0s).budgets.at(0).floor.has_value());
  const EarlyJudge apart({ParseBudget("throttled_bursts<=60")}, 0.05,
                         Batches(8).Every(120ms).For(12s).measured(), 100ms, 10);
  EXPECT_TRUE(apart.Verdicts(0s).budgets.at(0).floor.has_value());
}

TEST(EarlyJudge, TakesBatchesOfOnePeriodTogether) {
  const Schedule schedule = ConstantRate(Rate(1000)).For(1s).measured();
  const std::vector<Stretch> stretches = StretchesOf(schedule, 100ms);
  ASSERT_EQ(stretches.size(), 9U);
  EXPECT_EQ(stretches[0].first, 0U);
  EXPECT_EQ(stretches[0].last, 100U);
  EXPECT_EQ(stretches[8].last, 900U);
  EXPECT_EQ(stretches[8].end, 900ms);
}

}  // namespace
}  // namespace throttletest::internal

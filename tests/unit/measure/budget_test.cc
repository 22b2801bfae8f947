// Budgets on counters: throttling, CPU use, errors, memory.
#include "throttletest/measure/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/measurement_builder.h"

namespace throttletest {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

constexpr Comparison kBelow = Comparison::kBelow;
constexpr Comparison kAtMost = Comparison::kAtMost;

// 50 ms per 100 ms, 10 s: half of the periods throttled at a quarter of the limit.
MeasurementBuilder SliceExpiry() {
  return MeasurementBuilder().Quota(50ms).Throttled(100, 50, 3s).Usage(1200ms).Wall(10s);
}

TEST(BudgetThrottleRatio, C001FailsAtLowUseAndShowsBothNumbersAndTheKernel) {
  const BudgetResult r = Budget::ThrottleRatio(kBelow, 0.10).Evaluate(SliceExpiry().Build());
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_EQ(r.value, 0.5);
  EXPECT_EQ(r.unit, "ratio");
  EXPECT_THAT(
      r.explanation,
      HasSubstr("throttle ratio 0.50 is not below 0.1 (50 of 100 periods), 400.0 % over the "
                "bound. Throttled for 3.00 s in total over all CPUs; CPU use 0.12 CPUs = "
                "24 % of the limit of 0.5; kernel 6.1.0-test."));
}

TEST(BudgetThrottleRatio, C003JudgesFewShortThrottlesByTheExactRatio) {
  const Measurement m = MeasurementBuilder().Quota(50ms).Throttled(183, 2, 5200us).Build();
  EXPECT_EQ(Budget::ThrottleRatio(kBelow, 0.02).Evaluate(m).verdict, Verdict::kMet);
  EXPECT_EQ(Budget::ThrottleRatio(kBelow, 0).Evaluate(m).verdict, Verdict::kMissed);
  const BudgetResult r = Budget::ThrottleRatio(kBelow, 0.01).Evaluate(m);
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_THAT(r.explanation, HasSubstr("throttle ratio 0.0109 is not below 0.01"));
  EXPECT_THAT(r.explanation, HasSubstr("5.2 ms in total over all CPUs"));
}

TEST(BudgetThrottleRatio, C005NamesTheAncestorThatThrottles) {
  const Measurement m =
      MeasurementBuilder().NoQuota().Throttled(0, 0, 0s).Ancestor("/job", 30ms, 33, 33).Build();
  const BudgetResult r = Budget::ThrottleRatio(kBelow, 0.5).Evaluate(m);
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_EQ(r.value, 1.0);
  EXPECT_THAT(r.explanation, HasSubstr("33 of 33 periods throttled by ancestor /job"));
  EXPECT_THAT(r.explanation, HasSubstr("ratio 1.00"));
}

TEST(BudgetThrottleRatio, C008IsInconclusiveOnAnIdleServiceWhileUseIsStillJudged) {
  const Measurement m = MeasurementBuilder().Throttled(0, 0, 0s).Usage(900ms).Build();
  for (const Budget& budget :
       {Budget::ThrottleRatio(kBelow, 0.5), Budget::ThrottledPeriods(kAtMost, 0),
        Budget::ThrottledBursts(kAtMost, 0), Budget::ThrottledTimePerSecond(kBelow, 1)}) {
    const BudgetResult r = budget.Evaluate(m);
    EXPECT_EQ(r.verdict, Verdict::kInconclusive) << budget.ToString();
    EXPECT_EQ(r.value, std::nullopt) << budget.ToString();
    EXPECT_THAT(r.explanation, HasSubstr("no enforcement period elapsed"));
  }
  EXPECT_EQ(Budget::CpuUsage(kBelow, 0.1).Evaluate(m).verdict, Verdict::kMet);
}

TEST(BudgetThrottleRatio, C009IsInconclusiveWithoutAQuota) {
  const Measurement m = MeasurementBuilder().NoQuota().Build();
  for (const Budget& budget :
       {Budget::ThrottleRatio(kBelow, 0.5), Budget::ThrottledPeriods(kAtMost, 0),
        Budget::ThrottledBursts(kAtMost, 0), Budget::ThrottledTimePerSecond(kBelow, 1)}) {
    const BudgetResult r = budget.Evaluate(m);
    EXPECT_EQ(r.verdict, Verdict::kInconclusive) << budget.ToString();
    EXPECT_THAT(r.explanation, HasSubstr("no CPU quota in force"));
  }
}

TEST(BudgetThrottleRatio, C010JudgesTheWindowAndNotTheLifetime) {
  // The builder's service was throttled in 900 of 1000 periods before the window.
  const BudgetResult r = Budget::ThrottleRatio(kBelow, 0.01)
                             .Evaluate(MeasurementBuilder().Throttled(100, 0, 0s).Build());
  EXPECT_EQ(r.verdict, Verdict::kMet);
  EXPECT_EQ(r.value, 0.0);
}

TEST(BudgetThrottleRatio, C011KeepsPeriodsAndTimeApart) {
  const Measurement m =
      MeasurementBuilder().Quota(20ms).Throttled(50, 50, 8130ms).Wall(4600ms).Build();
  EXPECT_EQ(Budget::ThrottleRatio(kBelow, 1).Evaluate(m).value, 1.0);
  const BudgetResult time = Budget::ThrottledTimePerSecond(kBelow, 1).Evaluate(m);
  EXPECT_EQ(time.verdict, Verdict::kMissed);
  EXPECT_NEAR(time.value.value(), 1.767, 0.001);
  EXPECT_EQ(time.unit, "s/s");
  EXPECT_THAT(time.explanation, HasSubstr("1.77 s/s is not below 1 s/s (8.13 s throttled, summed "
                                          "over CPUs, in 4.6 s)"));
}

TEST(BudgetThrottleRatio, IsInconclusiveBelowTheSmallestNumberOfPeriodsButTellsTheValue) {
  const BudgetResult r =
      Budget::ThrottleRatio(kBelow, 0.9).Evaluate(MeasurementBuilder().Throttled(9, 0, 0s).Build());
  EXPECT_EQ(r.verdict, Verdict::kInconclusive);
  EXPECT_EQ(r.value, 0.0);
  EXPECT_THAT(r.explanation, HasSubstr("needs at least 10 periods, there were 9"));
  EXPECT_EQ(Budget::ThrottleRatio(kBelow, 0.9)
                .Evaluate(MeasurementBuilder().Throttled(10, 0, 0s).Build())
                .verdict,
            Verdict::kMet);
}

TEST(BudgetThrottleRatio, IsStrictForBelowAndNotForAtMost) {
  const Measurement m = MeasurementBuilder().Throttled(100, 5, 1s).Build();
  EXPECT_EQ(Budget::ThrottleRatio(kBelow, 0.05).Evaluate(m).verdict, Verdict::kMissed);
  EXPECT_EQ(Budget::ThrottleRatio(kAtMost, 0.05).Evaluate(m).verdict, Verdict::kMet);
  EXPECT_EQ(Budget::ThrottledPeriods(kBelow, 5).Evaluate(m).verdict, Verdict::kMissed);
  EXPECT_EQ(Budget::ThrottledPeriods(kAtMost, 5).Evaluate(m).verdict, Verdict::kMet);
}

TEST(BudgetThrottleRatio, C160TellsTheMargin) {
  const auto explain = [](std::int64_t throttled) {
    return Budget::ThrottleRatio(kBelow, 0.10)
        .Evaluate(MeasurementBuilder().Throttled(10000, throttled, 1s).Build())
        .explanation;
  };
  EXPECT_THAT(explain(990), HasSubstr("throttle ratio 0.0990 is below 0.1 (990 of 10000 periods), "
                                      "1.0 % under the bound"));
  EXPECT_THAT(explain(1010), HasSubstr("0.1010 is not below 0.1"));
  EXPECT_THAT(explain(1010), HasSubstr("1.0 % over the bound"));
  EXPECT_THAT(explain(1000), HasSubstr("exactly at the bound"));
}

TEST(BudgetCpuUsage, C013IsJudgedInCpusAndToldAgainstTheLimit) {
  const Measurement m = MeasurementBuilder().Quota(50ms).Usage(10s).Wall(20s).Build();
  const BudgetResult r = Budget::CpuUsage(kBelow, 0.4).Evaluate(m);
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_EQ(r.value, 0.5);
  EXPECT_EQ(r.unit, "CPUs");
  EXPECT_THAT(r.explanation, HasSubstr("CPU usage 0.50 CPUs is not below 0.4 CPUs (10 s CPU in "
                                       "20 s)"));
  EXPECT_THAT(r.explanation, HasSubstr("100 % of the limit of 0.5"));
  EXPECT_EQ(m.cgroup.usage_of_host.value(), 0.0625);
}

TEST(BudgetThrottledBursts, CountsBatchesWithAThrottledPeriod) {
  const Measurement m = MeasurementBuilder()
                            .Throttled(200, 3, 1s)
                            .BatchCpu(164ms)
                            .ThrottleAt(0, 100ms)
                            .ThrottleAt(0, 200ms)
                            .ThrottleAt(4, 100ms)
                            .Build();
  const BudgetResult r = Budget::ThrottledBursts(kBelow, 2).Evaluate(m);
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_EQ(r.value, 2);
  EXPECT_EQ(r.unit, "bursts");
  EXPECT_THAT(r.explanation,
              HasSubstr("throttled burst count 2 (95 % interval 0.2..6.3, 20 batches) is not "
                        "below 2 (of 20 bursts)"));
  EXPECT_EQ(Budget::ThrottledBursts(kAtMost, 2).Evaluate(m).verdict, Verdict::kMet);
}

TEST(BudgetErrors, C161FailsOnErrorsHoweverFastTheyCome) {
  MeasurementBuilder b;
  for (std::size_t i = 0; i < 160; ++i) b.Fail(i, 500, 1ms, "HTTP 500");
  const Measurement m = b.Build();
  const BudgetResult errors = Budget::ErrorRatio(kBelow, 0.01).Evaluate(m);
  EXPECT_EQ(errors.verdict, Verdict::kMissed);
  EXPECT_EQ(errors.value, 1.0);
  EXPECT_THAT(errors.explanation,
              HasSubstr("160 of 160 requests failed (100.0 %): HTTP 500 (160)"));
  EXPECT_EQ(Budget::ResponseTime(Percentile(99), kBelow, 1s).Evaluate(m).verdict,
            Verdict::kInconclusive);
}

TEST(BudgetErrors, CountsTimeOutsAsFailures) {
  const Measurement m = MeasurementBuilder().Fail(0, 503, 1ms, "HTTP 503").TimeOut(1, 1s).Build();
  EXPECT_EQ(Budget::FailedRequests(kAtMost, 2).Evaluate(m).verdict, Verdict::kMet);
  const BudgetResult r = Budget::FailedRequests(kAtMost, 0).Evaluate(m);
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_EQ(r.value, 2);
  EXPECT_THAT(r.explanation, HasSubstr("failed request count 2 is above 0 (2 of 160 requests "
                                       "failed, 1 of them timed out)"));
}

TEST(BudgetErrors, IsInconclusiveWhenNothingWasSent) {
  Measurement m = MeasurementBuilder().Responses({1ms}).NotSent(0).Build();
  m.validity = {};
  EXPECT_EQ(Budget::ErrorRatio(kBelow, 1).Evaluate(m).verdict, Verdict::kInconclusive);
  EXPECT_EQ(Budget::FailedRequests(kAtMost, 0).Evaluate(m).verdict, Verdict::kInconclusive);
  EXPECT_EQ(Budget::StartLag(Percentile(50), kBelow, 1s).Evaluate(m).verdict,
            Verdict::kInconclusive);
}

TEST(BudgetMemory, C106IsInconclusiveWithoutAPeak) {
  MeasurementBuilder b;
  b.inputs().after->memory.peak.reset();
  const BudgetResult r = Budget::MemoryPeak(kBelow, ByteSize(1)).Evaluate(b.Build());
  EXPECT_EQ(r.verdict, Verdict::kInconclusive);
  EXPECT_EQ(r.value, std::nullopt);
  EXPECT_THAT(r.explanation, HasSubstr("memory.peak"));
}

TEST(BudgetMemory, ComparesThePeakInBytes) {
  const Measurement m = MeasurementBuilder().Build();
  EXPECT_EQ(Budget::MemoryPeak(kBelow, 65_MiB).Evaluate(m).verdict, Verdict::kMet);
  const BudgetResult r = Budget::MemoryPeak(kBelow, 64_MiB).Evaluate(m);
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_EQ(r.value, 64 << 20);
  EXPECT_THAT(r.explanation, HasSubstr("67108864 bytes is not below 64 MiB"));
}

// The kernel's mark was reached before the window, so it says only what the window's peak is at
// most; what was sampled says what it is at least.
class BudgetOldPeak : public ::testing::Test {
 protected:
  static Measurement Build(bool with_samples = true) {
    MeasurementBuilder b;
    b.inputs().before.memory.peak = b.inputs().after->memory.peak = 64 << 20;
    if (!with_samples) b.inputs().before.memory.usage = b.inputs().after->memory.usage = {};
    Cgroup::Quick sample;
    if (with_samples) sample.memory = 50 << 20;
    b.inputs().timeline.samples = {sample};
    b.inputs().timeline.interval = 10ms;
    return b.Build();
  }
};

TEST_F(BudgetOldPeak, IsJudgedWhereItDecidesEitherWay) {
  const Measurement m = Build();
  EXPECT_FALSE(m.cgroup.memory_peak_of_window);
  EXPECT_EQ(m.sampled_memory_peak.value(), 50 << 20);
  const BudgetResult met = Budget::MemoryPeak(kBelow, 65_MiB).Evaluate(m);
  EXPECT_EQ(met.verdict, Verdict::kMet);
  EXPECT_THAT(met.explanation,
              HasSubstr("memory peak 50 MiB is below 65 MiB (the largest of the samples, 10 ms "
                        "apart; it is at most 64 MiB, the kernel's peak of the cgroup's life"));
  EXPECT_EQ(Budget::MemoryPeak(kBelow, 50_MiB).Evaluate(m).verdict, Verdict::kMissed);
}

TEST_F(BudgetOldPeak, IsInconclusiveWhereTheBoundIsInBetween) {
  const BudgetResult r = Budget::MemoryPeak(kBelow, 64_MiB).Evaluate(Build());
  EXPECT_EQ(r.verdict, Verdict::kInconclusive);
  EXPECT_THAT(r.explanation, HasSubstr("the bound is within what it can be: a service of its own"));
}

TEST_F(BudgetOldPeak, IsInconclusiveWithoutSamples) {
  const BudgetResult r = Budget::MemoryPeak(kBelow, 65_MiB).Evaluate(Build(false));
  EXPECT_EQ(r.verdict, Verdict::kInconclusive);
  EXPECT_THAT(r.explanation, HasSubstr("in which nothing was sampled"));
}

TEST_F(BudgetOldPeak, IsTheWindowsWhenItWasSetBack) {
  MeasurementBuilder b;
  b.inputs().before.memory.peak = b.inputs().after->memory.peak = 64 << 20;
  b.inputs().peak_restarted = true;
  const BudgetResult r = Budget::MemoryPeak(kBelow, 64_MiB).Evaluate(b.Build());
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_EQ(r.value, 64 << 20);
  EXPECT_THAT(r.explanation, HasSubstr("(the kernel's peak of the window)"));
}

TEST(BudgetOomKills, IsMetWithoutAKillAndInconclusiveWithoutACounter) {
  EXPECT_EQ(Budget::OomKills(kAtMost, 0).Evaluate(MeasurementBuilder().Build()).verdict,
            Verdict::kMet);
  MeasurementBuilder b;
  b.inputs().before.memory.oom_kills.reset();
  EXPECT_EQ(Budget::OomKills(kAtMost, 0).Evaluate(b.Build()).verdict, Verdict::kInconclusive);
}

TEST(BudgetTrust, IsInconclusiveOnEveryMetricOfAnUntrustedRun) {
  const Measurement m = MeasurementBuilder().NotSent(3).Build();
  ASSERT_FALSE(m.validity.trusted());
  for (const char* text :
       {"throttle_ratio<=1", "throttled_periods<=9", "throttled_bursts<=9",
        "throttled_time_per_second<9", "cpu_usage<9", "p50<9s", "service_p50<9s", "error_ratio<=1",
        "failed_requests<=9", "start_lag_p50<9s", "memory_peak<9g", "oom_kills<=9"}) {
    const BudgetResult r = ParseBudget(text).Evaluate(m);
    EXPECT_EQ(r.verdict, Verdict::kInconclusive) << text;
    EXPECT_THAT(r.explanation, HasSubstr("the run cannot be trusted: 1 of 160 requests were not "
                                         "sent"));
  }
}

TEST(BudgetBounds, AreValidated) {
  const auto message = [](auto make) -> std::string {
    try {
      make();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_THAT(message([] { Budget::ThrottleRatio(kBelow, -0.1); }), HasSubstr("-0.1"));
  EXPECT_THAT(message([] { Budget::ErrorRatio(kBelow, 1.5); }), HasSubstr("write 0.05 for 5 %"));
  EXPECT_THAT(message([] { Budget::CpuUsage(kBelow, std::nan("")); }), HasSubstr("nan"));
  EXPECT_THAT(message([] { Budget::CpuUsage(kBelow, HUGE_VAL); }), HasSubstr("inf"));
  EXPECT_THAT(message([] { Budget::ResponseTime(Percentile(99), kBelow, -1ms); }),
              HasSubstr("0 or more"));
  EXPECT_THAT(message([] { Budget::MemoryPeak(kBelow, ByteSize::Unlimited()); }),
              HasSubstr("0 or more"));
  EXPECT_EQ(message([] { Budget::ThrottleRatio(kAtMost, 1); }), "no error");
}

TEST(BudgetDescription, IsAPredicateAndItsNegation) {
  const Budget p99 = Budget::ResponseTime(Percentile(99), kBelow, 150ms);
  EXPECT_EQ(p99.Describe(), "has a P99 response time below 150 ms");
  EXPECT_EQ(p99.DescribeNegation(), "has a P99 response time of 150 ms or more");
  const Budget max = Budget::ServiceTime(Percentile(100), kAtMost, 2s);
  EXPECT_EQ(max.Describe(), "has a maximum service time of at most 2 s");
  EXPECT_EQ(max.DescribeNegation(), "has a maximum service time above 2 s");
  const Budget none = Budget::FailedRequests(kAtMost, 0);
  EXPECT_EQ(none.Describe(), "has no failed request");
  EXPECT_EQ(none.DescribeNegation(), "has at least one failed request");
  EXPECT_EQ(Budget::CpuUsage(kBelow, 0.5).Describe(), "has a CPU usage below 0.5 CPUs");
  EXPECT_EQ(Budget::ErrorRatio(kBelow, 0.01).Describe(), "has an error ratio below 0.01");
}

// The test takes batches alike, the figure weighs them by their periods.
TEST(BudgetEarly, IsInconclusiveWhenTheFigureContradictsTheDecision) {
  Measurement m = MeasurementBuilder().Throttled(200, 4, 1s).Build();
  const Budget budget = ParseBudget("throttle_ratio<0.15");
  EarlyVerdicts early;
  early.ended_early = true;
  early.observations = 5;
  early.planned_observations = 60;
  early.budgets = {{.budget = budget.ToString(), .verdict = Verdict::kMissed, .observations = 5}};
  m.early = early;
  EXPECT_EQ(budget.Evaluate(m).verdict, Verdict::kInconclusive);
  EXPECT_THAT(budget.Evaluate(m).explanation, HasSubstr("run the whole plan"));
  m.early->budgets[0].verdict = Verdict::kMet;
  EXPECT_EQ(budget.Evaluate(m).verdict, Verdict::kMet);
  EXPECT_THAT(budget.Evaluate(m).explanation, HasSubstr("decided after 5 of 60 observations"));
  EXPECT_THAT(ParseBudget("max<1s").Evaluate(m).explanation,
              HasSubstr("on the 5 of 60 observations that were run"));
}

// 5 of 60 batches have a twelfth of the throttled periods.
TEST(BudgetEarly, ACountForTheWholePlanIsNotMetByAPartOfIt) {
  Measurement m = MeasurementBuilder().Throttled(200, 4, 1s).Build();
  EarlyVerdicts early;
  early.observations = 5;
  early.planned_observations = 60;
  m.early = early;
  const Budget few = ParseBudget("throttled_periods<50");
  EXPECT_EQ(few.Evaluate(m).verdict, Verdict::kMet) << "the plan was run whole";
  m.early->ended_early = true;
  EXPECT_EQ(few.Evaluate(m).verdict, Verdict::kInconclusive);
  EXPECT_THAT(few.Evaluate(m).explanation, HasSubstr("the bound is for the whole plan"));
  EXPECT_EQ(ParseBudget("throttled_periods<3").Evaluate(m).verdict, Verdict::kMissed);
  EXPECT_EQ(ParseBudget("failed_requests<=0").Evaluate(m).verdict, Verdict::kMet);
  EXPECT_EQ(ParseBudget("failed_requests<5").Evaluate(m).verdict, Verdict::kInconclusive);
  m.early->budgets = {{.budget = few.ToString(), .verdict = Verdict::kMet, .observations = 5}};
  EXPECT_EQ(few.Evaluate(m).verdict, Verdict::kMet) << "it was decided";
}

}  // namespace
}  // namespace throttletest

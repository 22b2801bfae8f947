// Budgets on latency: percentiles, failures, too few samples, messages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/measurement_builder.h"
#include "throttletest/measure/budget.h"

namespace throttletest {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

constexpr Comparison kBelow = Comparison::kBelow;

BudgetResult P(double percent, std::chrono::nanoseconds bound, const Measurement& m) {
  return Budget::ResponseTime(Percentile(percent), kBelow, bound).Evaluate(m);
}

TEST(BudgetLatency, C123SeesAPauseThatAClosedLoopHides) {
  // 100 requests a second for 10 s; the service stands still from 2 s to 7 s.
  MeasurementBuilder b;
  b.Batches(1, 1000, 10ms);
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::chrono::nanoseconds start = 10ms * static_cast<int>(i);
    const bool paused = start >= 2s && start < 7s;
    b.Respond(i, (paused ? 7s - start : 0ns) + 1ms);
  }
  const Measurement m = b.Build();
  EXPECT_NEAR(P(75, 1s, m).value.value(), 2500, 11);
  const BudgetResult r = P(99, 100ms, m);
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_NEAR(r.value.value(), 4900, 11);
  EXPECT_EQ(P(50, 2ms, m).verdict, Verdict::kMet);
}

TEST(BudgetLatency, C125TimeoutsAreSlowerThanAnyBound) {
  MeasurementBuilder b;
  b.Responses(std::vector<std::chrono::nanoseconds>(100, 10ms));
  for (std::size_t i = 97; i < 100; ++i) b.TimeOut(i, 1s);
  const Measurement m = b.Build();
  EXPECT_EQ(P(95, 11ms, m).verdict, Verdict::kMet);
  EXPECT_EQ(P(95, 11ms, m).value, 10.0);
  const BudgetResult r = P(99, 1h, m);
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_EQ(r.value, std::nullopt);
  EXPECT_THAT(r.explanation, HasSubstr("P99 has no answer and is not below 3600 s (nearest rank, "
                                       "100 requests). 3 of 100 requests failed (3.0 %): timed "
                                       "out (3)."));
}

TEST(BudgetLatency, C126ALongSampleIsCountedAsItIs) {
  MeasurementBuilder b;
  b.Responses(std::vector<std::chrono::nanoseconds>(10, 10ms)).Respond(9, 120s);
  const BudgetResult r = P(100, 60s, b.Build());
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_EQ(r.value, 120'000.0);
  EXPECT_THAT(r.explanation, HasSubstr("maximum response time 120000.0 ms is not below 60 s "
                                       "(nearest rank, 10 requests)"));
}

TEST(BudgetLatency, C135FastFailuresDoNotMakeThePercentilesFast) {
  MeasurementBuilder b;
  b.Responses(std::vector<std::chrono::nanoseconds>(100, 100ms));
  for (std::size_t i = 50; i < 100; ++i) b.Fail(i, 0, 100us, "connection refused");
  const Measurement m = b.Build();
  EXPECT_EQ(P(50, 1ms, m).value, 100.0);
  EXPECT_EQ(P(50, 1ms, m).verdict, Verdict::kMissed);
  EXPECT_EQ(Budget::ErrorRatio(kBelow, 0.5).Evaluate(m).value, 0.5);
}

TEST(BudgetLatency, C136IsInconclusiveWhenEveryAnswerIsA503) {
  MeasurementBuilder b;
  b.Responses(std::vector<std::chrono::nanoseconds>(100, 1ms));
  for (std::size_t i = 0; i < 100; ++i) b.Fail(i, 503, 1ms, "HTTP 503");
  const Measurement m = b.Build();
  EXPECT_EQ(P(50, 1s, m).verdict, Verdict::kInconclusive);
  EXPECT_THAT(P(50, 1s, m).explanation, HasSubstr("no request succeeded, 100 of 100 failed"));
  EXPECT_EQ(Budget::ServiceTime(Percentile(50), kBelow, 1s).Evaluate(m).verdict,
            Verdict::kInconclusive);
  EXPECT_EQ(Budget::ErrorRatio(kBelow, 0.99).Evaluate(m).value, 1.0);
}

TEST(BudgetLatency, AServiceThatAnswersNothingKeepsNoCpuBudgetEither) {
  const auto with_failures = [](std::size_t failures) {
    MeasurementBuilder b;
    b.Responses(std::vector<std::chrono::nanoseconds>(100, 1ms));
    for (std::size_t i = 0; i < failures; ++i) b.Fail(i, 404, 1ms, "HTTP 404");
    return b.Build();
  };
  const Measurement nothing = with_failures(100);
  for (const char* budget : {"throttle_ratio<0.5", "cpu_usage<1", "memory_peak<1GiB"}) {
    const BudgetResult r = ParseBudget(budget).Evaluate(nothing);
    EXPECT_EQ(r.verdict, Verdict::kInconclusive) << budget;
    EXPECT_THAT(r.explanation, HasSubstr("no request succeeded, 100 of 100 failed")) << budget;
  }
  // What is over its bound is so whatever was answered.
  EXPECT_EQ(ParseBudget("cpu_usage<0.01").Evaluate(nothing).verdict, Verdict::kMissed);
  EXPECT_EQ(ParseBudget("oom_kills<1").Evaluate(nothing).verdict, Verdict::kMet);

  EXPECT_EQ(ParseBudget("throttle_ratio<0.5").Evaluate(with_failures(99)).verdict, Verdict::kMet);
}

TEST(BudgetLatency, C139TheSameRequestsTimeOutAndRankAsSlow) {
  MeasurementBuilder b;
  b.Responses(std::vector<std::chrono::nanoseconds>(20, 10ms));
  for (std::size_t i = 0; i < 6; ++i) b.TimeOut(i, 1s);
  const Measurement m = b.Build();
  EXPECT_EQ(m.load.timed_out, 6);
  // Rank 14 is the last answer, rank 15 the first time-out.
  EXPECT_EQ(P(70, 11ms, m).verdict, Verdict::kMet);
  EXPECT_EQ(P(75, 1h, m).verdict, Verdict::kMissed);
}

TEST(BudgetLatency, C153NeedsEnoughSamplesAndStillTellsTheValue) {
  MeasurementBuilder b;
  b.Responses(std::vector<std::chrono::nanoseconds>(30, 10ms)).Respond(7, 50ms);
  const BudgetResult r = P(99, 1s, b.Build());
  EXPECT_EQ(r.verdict, Verdict::kInconclusive);
  EXPECT_EQ(r.value, 50.0);
  EXPECT_EQ(r.unit, "ms");
  EXPECT_THAT(r.explanation, HasSubstr("P99 50.0 ms (nearest rank, 30 requests) cannot be judged "
                                       "against 1 s: P99 needs n >= 100, there are 30"));
  EXPECT_EQ(P(99, 1s, MeasurementBuilder().Batches(100, 1).Build()).verdict, Verdict::kMet);
}

TEST(BudgetLatency, C188IsInconclusiveWhenEveryRequestFailed) {
  MeasurementBuilder b;
  b.Batches(1, 3502, 1ms);
  for (std::size_t i = 0; i < 3502; ++i) b.Fail(i, 0, 1ms, "connection refused");
  const Measurement m = b.Build();
  EXPECT_EQ(P(99, 1s, m).verdict, Verdict::kInconclusive);
  const BudgetResult errors = Budget::ErrorRatio(kBelow, 0.5).Evaluate(m);
  EXPECT_EQ(errors.verdict, Verdict::kMissed);
  EXPECT_EQ(errors.value, 1.0);
}

TEST(BudgetLatency, C189NamesRuleLimitValueCountAndUnit) {
  const BudgetResult r = P(99, 20ms, MeasurementBuilder().Build());
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_THAT(r.explanation,
              HasSubstr("P99 30.0 ms (95 % interval 30.0 ms and above, 20 batches) is not "
                        "below 20 ms (nearest rank, 160 requests), 50.0 % over the "
                        "bound."));
}

TEST(BudgetLatency, ShowsEnoughDigitsNextToTheBound) {
  MeasurementBuilder b;
  b.Responses({150'010us});
  EXPECT_THAT(P(100, 150ms, b.Build()).explanation, HasSubstr("150.01 ms is not below 150 ms"));
}

TEST(BudgetLatency, ServiceTimeLeavesTheStartLagOut) {
  MeasurementBuilder b;
  for (std::size_t i = 0; i < 160; ++i) b.StartLag(i, 10ms);
  const Measurement m = b.Build();
  EXPECT_EQ(Budget::ServiceTime(Percentile(99), kBelow, 21ms).Evaluate(m).value, 20.0);
  EXPECT_EQ(P(99, 31ms, m).value, 30.0);
  const BudgetResult lag = Budget::StartLag(Percentile(99), kBelow, 10ms).Evaluate(m);
  EXPECT_EQ(lag.verdict, Verdict::kMissed);
  EXPECT_THAT(lag.explanation, HasSubstr("start lag P99 10 ms (95 % interval 10.0 ms and above, 20 "
                                         "batches) is not below 10 ms"));
  EXPECT_THAT(lag.explanation, HasSubstr("the load generator's"));
}

// A budget in absolute time on a runner whose hypervisor was busy says nothing about the service.
TEST(BudgetLatency, C156AMissIsInconclusiveWhileTheHostHadNoTime) {
  const Budget budget = ParseBudget("p99<20ms");
  const std::vector<std::chrono::nanoseconds> slow(160, 91ms);
  const Measurement quiet = MeasurementBuilder().Responses(slow).Build();
  EXPECT_EQ(budget.Evaluate(quiet).verdict, Verdict::kMissed);
  const Measurement busy = MeasurementBuilder().Responses(slow).Host(0, 0.4).Build();
  EXPECT_EQ(budget.Evaluate(busy).verdict, Verdict::kInconclusive);
  EXPECT_THAT(budget.Evaluate(busy).explanation, HasSubstr("steal 40 %"));
}

}  // namespace
}  // namespace throttletest

// The interval that comes with a verdict: which figures have one, from which units, and its words.
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

BudgetResult Judge(const char* budget, const Measurement& m) {
  return ParseBudget(budget).Evaluate(m);
}

// 20 batches of 10 periods, 5 and 7 of them throttled in turn: 0.60.
Measurement Throttled() {
  MeasurementBuilder b;
  b.Throttled(200, 120, 3s).BatchCpu(200ms);
  for (int batch = 0; batch < 20; ++batch) {
    const int throttled = batch % 2 == 0 ? 5 : 7;
    for (int i = 0; i < throttled; ++i) b.ThrottleAt(batch, 50ms + 100ms * i);
  }
  return b.Build();
}

TEST(BudgetInterval, OfAThrottleRatioComesFromTheBatches) {
  const BudgetResult r = Judge("throttle_ratio<0.05", Throttled());
  EXPECT_THAT(r.explanation,
              HasSubstr("throttle ratio 0.60 (95 % interval 0.55..0.65, 20 batches) is not below "
                        "0.05 (120 of 200 periods), 1100.0 % over the bound. "));
  ASSERT_TRUE(r.interval.has_value()) << r.interval.reason();
  EXPECT_NEAR(r.interval.value().low, 0.551, 0.001);
  EXPECT_NEAR(r.interval.value().high.value(), 0.647, 0.001);
  EXPECT_EQ(r.interval.value().confidence, 0.95);
  EXPECT_EQ(r.interval.value().method, "wilson");
  EXPECT_EQ(r.interval.value().units, 20);
  EXPECT_EQ(r.interval.value().unit_name, "batches");
}

TEST(BudgetInterval, NeverChangesTheVerdictButSaysWhenItHoldsTheBound) {
  const auto near = "The interval holds the bound: a longer run would tell.";
  const BudgetResult met = Judge("throttle_ratio<0.62", Throttled());
  EXPECT_EQ(met.verdict, Verdict::kMet);
  EXPECT_THAT(met.explanation, HasSubstr(near));
  const BudgetResult missed = Judge("throttle_ratio<0.58", Throttled());
  EXPECT_EQ(missed.verdict, Verdict::kMissed);
  EXPECT_THAT(missed.explanation, HasSubstr(near));
  EXPECT_THAT(Judge("throttle_ratio<0.7", Throttled()).explanation,
              Not(HasSubstr("interval holds")));
  EXPECT_THAT(Judge("throttle_ratio<0.5", Throttled()).explanation,
              Not(HasSubstr("interval holds")));
}

TEST(BudgetInterval, OfAPercentileHasNoUpperEndWhenTooFewRequestsAreBeyondIt) {
  const Measurement m = MeasurementBuilder().Build();
  const BudgetResult r = Judge("p99<50ms", m);
  EXPECT_EQ(r.verdict, Verdict::kMet);
  EXPECT_THAT(
      r.explanation,
      HasSubstr("P99 30.0 ms (95 % interval 30.0 ms and above, 20 batches) is below 50 ms"));
  EXPECT_THAT(r.explanation, HasSubstr("The interval holds the bound, because it has no upper end: "
                                       "that takes about 419 requests."));
  EXPECT_EQ(r.interval.value().high, std::nullopt);
  const BudgetResult median = Judge("p50<50ms", m);
  EXPECT_EQ(median.interval.value().high, 30.0);
  EXPECT_THAT(median.explanation, Not(HasSubstr("interval holds")));
}

TEST(BudgetInterval, OfAPercentileIsInMillisecondsAndFromWholeBatches) {
  MeasurementBuilder b;
  for (std::size_t i = 0; i < 160; ++i) b.Respond(i, std::chrono::milliseconds(10 + i / 8));
  const BudgetResult r = Judge("p50<1s", b.Build());
  // As of 20 independent samples, 10 to 29 ms, or wider.
  EXPECT_LE(r.interval.value().low, 15.0);
  EXPECT_GE(r.interval.value().high.value(), 24.0);
  EXPECT_EQ(r.interval.value().method, "woodruff");
  EXPECT_EQ(r.interval.value().unit_name, "batches");
}

TEST(BudgetInterval, OfIndependentRequestsHasTheExactRanks) {
  MeasurementBuilder b;
  b.Batches(1, 100, 1s);
  for (std::size_t i = 0; i < 100; ++i) b.Respond(i, std::chrono::milliseconds(i + 1));
  const BudgetResult r = Judge("p50<1s", b.Build());
  EXPECT_EQ(r.interval.value().low, 40.0);
  EXPECT_EQ(r.interval.value().high, 61.0);
  EXPECT_EQ(r.interval.value().method, "order_statistics");
}

TEST(BudgetInterval, EndsInNothingWhenItsEndIsARequestWithoutAnAnswer) {
  MeasurementBuilder b;
  b.Batches(1, 100, 1s);
  for (std::size_t i = 60; i < 100; ++i) b.TimeOut(i, 1s);
  const BudgetResult r = Judge("p50<1s", b.Build());
  EXPECT_EQ(r.interval.value().high, std::nullopt);
  EXPECT_EQ(r.interval.value().needed, 0);
  EXPECT_THAT(r.explanation, HasSubstr("The interval holds the bound: a longer run would tell."));
  const BudgetResult none = Judge("p90<1s", b.Build());
  EXPECT_THAT(none.interval.reason(), HasSubstr("without an answer"));
}

TEST(BudgetInterval, PutsRequestsCloserThanAThrottledPeriodTogether) {
  // 100 a second for 10 s: a hundred throttled periods meet ten requests each.
  MeasurementBuilder b;
  b.Batches(1, 1000, 10ms).Wall(10s);
  for (std::size_t i = 0; i < 1000; ++i) b.Respond(i, std::chrono::milliseconds(i / 10 % 10));
  const BudgetResult r = Judge("p50<1s", b.Build());
  ASSERT_TRUE(r.interval.has_value()) << r.interval.reason();
  EXPECT_EQ(r.interval.value().unit_name, "stretches of time");
  EXPECT_EQ(r.interval.value().units, 30);
  EXPECT_EQ(r.interval.value().method, "woodruff");
}

TEST(BudgetInterval, OfCountersIsReadOffTheTimelineForStretchesOfTime) {
  MeasurementBuilder b;
  b.Batches(1, 1000, 10ms).Wall(10s).Throttled(100, 50, 1s).BatchCpu(1ms);
  for (int i = 0; i < 50; ++i) b.ThrottleAt(20 * i, 50ms);
  const BudgetResult r = Judge("throttle_ratio<0.1", b.Build());
  ASSERT_TRUE(r.interval.has_value()) << r.interval.reason();
  EXPECT_EQ(r.interval.value().units, 30);
  EXPECT_LT(r.interval.value().low, 0.5);
  EXPECT_GT(r.interval.value().low, 0.3);
  EXPECT_GT(r.interval.value().high.value(), 0.5);
  EXPECT_LT(r.interval.value().high.value(), 0.7);
}

TEST(BudgetInterval, OfErrorsIsExactWhenThereAreNone) {
  const BudgetResult r = Judge("error_ratio<0.5", MeasurementBuilder().Build());
  EXPECT_EQ(r.interval.value().method, "clopper_pearson");
  EXPECT_NEAR(r.interval.value().high.value(), 0.168, 0.001);
  EXPECT_THAT(r.explanation, HasSubstr("error ratio 0.00 (95 % interval 0.00..0.17, 20 batches)"));
}

TEST(BudgetInterval, OfErrorsIsWiderWhenTheyFallTogether) {
  MeasurementBuilder together;
  MeasurementBuilder apart;
  for (std::size_t i = 0; i < 16; ++i) {
    together.Fail(i, 500, 1ms, "HTTP 500");
    apart.Fail(i * 10, 500, 1ms, "HTTP 500");
  }
  const Interval wide = Judge("error_ratio<0.5", together.Build()).interval.value();
  const Interval narrow = Judge("error_ratio<0.5", apart.Build()).interval.value();
  EXPECT_GT(*wide.high - wide.low, 1.8 * (*narrow.high - narrow.low));
}

TEST(BudgetInterval, OfThrottledBurstsIsACountAndHoldsNoBoundThatIsItsOwnEnd) {
  MeasurementBuilder b;
  const BudgetResult none = Judge("throttled_bursts<=0", b.BatchCpu(100ms).Build());
  EXPECT_EQ(none.verdict, Verdict::kMet);
  EXPECT_THAT(none.explanation, HasSubstr("count 0 (95 % interval 0.0..3.4, 20 batches) is at most "
                                          "0 (of 20 bursts)"));
  EXPECT_THAT(none.explanation, Not(HasSubstr("interval holds")));
  const BudgetResult one =
      Judge("throttled_bursts<=0", b.Throttled(200, 1, 1s).ThrottleAt(4, 100ms).Build());
  EXPECT_EQ(one.verdict, Verdict::kMissed);
  EXPECT_EQ(one.interval.value().method, "clopper_pearson");
  EXPECT_NEAR(one.interval.value().low, 0.025, 0.001);
  EXPECT_NEAR(one.interval.value().high.value(), 4.97, 0.01);
}

TEST(BudgetInterval, OfMeansIsStudents) {
  const Measurement m = Throttled();
  const BudgetResult cpu = Judge("cpu_usage<0.5", m);
  ASSERT_TRUE(cpu.interval.has_value()) << cpu.interval.reason();
  EXPECT_EQ(cpu.interval.value().method, "student_t");
  EXPECT_THAT(cpu.explanation, HasSubstr("CPU usage 0.20 CPUs (95 % interval 0.20..0.20 CPUs, 20 "
                                         "batches) is below 0.5 CPUs"));
}

TEST(BudgetInterval, IsNotThereForCountsPeaksMaximaAndWhatIsNotJudged) {
  const Measurement m = Throttled();
  for (const char* budget :
       {"throttled_periods<=200", "failed_requests<=0", "memory_peak<9GiB", "oom_kills<=0"}) {
    const BudgetResult r = Judge(budget, m);
    EXPECT_THAT(r.interval.reason(), HasSubstr("not an estimate")) << budget;
    EXPECT_THAT(r.explanation, Not(HasSubstr("interval"))) << budget;
  }
  EXPECT_THAT(Judge("max<1s", m).interval.reason(), HasSubstr("maximum"));
  EXPECT_EQ(Judge("p99.9<1s", m).interval.kind(), OutcomeKind::kInconclusive);
  EXPECT_THAT(Judge("p99.9<1s", m).explanation, Not(HasSubstr("interval")));
}

TEST(BudgetInterval, TakesFiveBatches) {
  const BudgetResult four = Judge("p50<1s", MeasurementBuilder().Batches(100, 4).Build());
  EXPECT_THAT(four.interval.reason(), HasSubstr("5 batches or more"));
  EXPECT_THAT(four.interval.reason(), HasSubstr("there are 4"));
  EXPECT_EQ(four.verdict, Verdict::kMet);
  EXPECT_TRUE(Judge("p50<1s", MeasurementBuilder().Batches(100, 5).Build()).interval.has_value());
  EXPECT_THAT(Judge("p50<1s", MeasurementBuilder().Responses({1ms, 2ms}).Build()).interval.reason(),
              HasSubstr("5 batches or more"));
}

TEST(BudgetInterval, IsNotGuessedFromATimelineOfSeveralQuotas) {
  MeasurementBuilder b;
  b.Throttled(200, 20, 1s).BatchCpu(200ms).ThrottleAt(0, 100ms);
  Measurement m = b.Ancestor("/job", 400ms, 200, 5).Build();
  m.validity = {};
  EXPECT_THAT(Judge("throttle_ratio<0.5", m).interval.reason(), HasSubstr("timeline"));
}

}  // namespace
}  // namespace throttletest

#include "throttletest/measure/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "measure/limit_changes.h"
#include "measure/run_range.h"
#include "support/measurement_builder.h"

namespace throttletest {
namespace {

using testing::HasSubstr;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

TEST(RunFigures, AreThoseOfTheRun) {
  const RunFigures figures =
      FiguresOf(MeasurementBuilder().Quota(100ms).Throttled(200, 50, 1s).BatchCpu(164ms).Build());
  EXPECT_EQ(figures.at(RunFigure::kP50).value(), 30);
  EXPECT_EQ(figures.at(RunFigure::kP99).value(), 30);
  EXPECT_EQ(figures.at(RunFigure::kThrottleRatio).value(), 0.25);
  EXPECT_NEAR(figures.at(RunFigure::kBatchCpu).value(), 164, 1);
  EXPECT_EQ(figures.at(RunFigure::kErrorRatio).value(), 0);
}

TEST(RunFigures, HaveAReasonWhereThereIsNone) {
  const RunFigures figures = FiguresOf(MeasurementBuilder().NoQuota().Batches(2, 4).Build());
  EXPECT_EQ(figures.at(RunFigure::kThrottleRatio).kind(), OutcomeKind::kNotAvailable);
  EXPECT_THAT(figures.at(RunFigure::kThrottleRatio).reason(), HasSubstr("no CPU quota"));
  EXPECT_EQ(figures.at(RunFigure::kP99).kind(), OutcomeKind::kInconclusive);
  EXPECT_THAT(figures.at(RunFigure::kP99).reason(), HasSubstr("n >= 100"));
  EXPECT_FALSE(figures.at(RunFigure::kBatchCpu).has_value());
}

TEST(RunFigures, DoNotTrustARatioOfFewPeriods) {
  const RunFigures figures = FiguresOf(MeasurementBuilder().Throttled(9, 0, 0s).Build());
  EXPECT_EQ(figures.at(RunFigure::kThrottleRatio).kind(), OutcomeKind::kInconclusive);
}

TEST(RunFigures, NoAnswerIsInfinite) {
  MeasurementBuilder builder;
  for (std::size_t i = 0; i < 10; ++i) builder.TimeOut(i, 5s);
  const RunFigures figures = FiguresOf(builder.Build());
  EXPECT_EQ(figures.at(RunFigure::kP50).value(), 30);
  EXPECT_TRUE(std::isinf(figures.at(RunFigure::kP99).value()));
}

TEST(RunFigures, AreWrittenWithTheirUnit) {
  EXPECT_EQ(RunFigureText(RunFigure::kP99, 41.23), "41.2 ms");
  EXPECT_EQ(RunFigureText(RunFigure::kP99, 0.3124), "0.312 ms");
  EXPECT_EQ(RunFigureText(RunFigure::kThrottleRatio, 0.28), "0.280");
  EXPECT_EQ(RunFigureText(RunFigure::kP99, std::numeric_limits<double>::infinity()), "no answer");
  EXPECT_STREQ(RunFigureName(RunFigure::kBatchCpu), "batch_cpu_ms");
}

TEST(RangeText, SaysTheUnitOnce) {
  const std::vector<double> times = {45.21, 41.02, 44};
  EXPECT_EQ(internal::RangeText(RunFigure::kP99, times), "41.0-45.2 ms");
  EXPECT_EQ(internal::RangeText(RunFigure::kP99, std::vector<double>{30, 30.01}), "30.0 ms");
  EXPECT_EQ(internal::RangeText(RunFigure::kThrottleRatio, std::vector<double>{0, 0.5}),
            "0.000 to 0.500");
  EXPECT_EQ(internal::RangeText(RunFigure::kP99,
                                std::vector<double>{50, std::numeric_limits<double>::infinity()}),
            "50.0 ms to no answer");
}

TEST(Allowance, HasAFloorForRatiosAlone) {
  EXPECT_EQ(internal::Allowance(RunFigure::kErrorRatio, 0, 0.1), 0.01);
  EXPECT_DOUBLE_EQ(internal::Allowance(RunFigure::kErrorRatio, 0.5, 0.1), 0.05);
  EXPECT_DOUBLE_EQ(internal::Allowance(RunFigure::kP99, 0.02, 0.1), 0.002);
}

ResolvedLimits Resolved(const Limits& limits) { return ResolveLimits(limits, CpuSet({0, 1, 2})); }

TEST(LimitChanges, NamesWhatChanged) {
  const auto two = internal::LimitTextsOf(Resolved({.cpus = 2.0}));
  const auto half = internal::LimitTextsOf(Resolved({.cpus = 0.5}));
  EXPECT_EQ(internal::LimitChanges(two, half), "cpus 2 -> 0.5");
  EXPECT_EQ(internal::LimitChanges(two, two), "");
  EXPECT_EQ(internal::LimitChanges(two, internal::LimitTextsOf(Resolved({}))),
            "cpus 2 -> none, period 100 ms -> none");
}

TEST(LimitChanges, SeesThatTwoWaysToAskAreOne) {
  EXPECT_EQ(internal::LimitTextsOf(Resolved({.cpus = 2.0})),
            internal::LimitTextsOf(Resolved({.quota = 200ms, .period = 100ms})));
}

TEST(LimitChanges, KnowsEveryLimit) {
  const auto texts = internal::LimitTextsOf(Resolved({.quota = 50ms,
                                                      .period = 50ms,
                                                      .burst = 20ms,
                                                      .cpuset = "0-1",
                                                      .memory = 64_MiB,
                                                      .memory_swap = 128_MiB}));
  EXPECT_EQ(internal::LimitsText(texts),
            "burst 20 ms, cpus 1, cpuset 0-1, memory 64 MiB, memory plus swap 128 MiB, period "
            "50 ms");
  EXPECT_EQ(internal::LimitsText({}), "none");
}

TEST(LimitChanges, TellsLimitsThatDifferByAByte) {
  ResolvedLimits limits;
  limits.memory = 64_MiB;
  const auto before = internal::LimitTextsOf(limits);
  limits.memory = ByteSize((64_MiB).bytes() + 4096);
  EXPECT_EQ(internal::LimitChanges(before, internal::LimitTextsOf(limits)),
            "memory 64 MiB -> 67112960 bytes");
}

}  // namespace
}  // namespace throttletest

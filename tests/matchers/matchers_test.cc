#include "throttletest/gtest/matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/failures_of.h"
#include "support/measurement_builder.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::FailuresOf;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

template <typename M>
std::string Explain(const MeasurementMatcher& matcher, const M& m) {
  testing::StringMatchResultListener listener;
  testing::ExplainMatchResult(matcher, m, &listener);
  return listener.str();
}

Measurement Throttled() {
  return MeasurementBuilder().Quota(100ms).Throttled(277, 77, 30s).BatchCpu(164ms).Build();
}

TEST(Matchers, MatchAroundTheBound) {
  const Measurement m = MeasurementBuilder().Quota(100ms).Throttled(200, 10, 1s).Build();  // 0.05
  EXPECT_THAT(m, ThrottleRatioBelow(0.0501));
  EXPECT_THAT(m, Not(ThrottleRatioBelow(0.05)));
  EXPECT_THAT(m, ThrottledPeriodsBelow(11));
  EXPECT_THAT(m, Not(ThrottledPeriodsBelow(10)));
  EXPECT_THAT(m, Not(NeverThrottled()));
  EXPECT_THAT(m, ThrottledTimePerSecondBelow(0.051));
  EXPECT_THAT(m, Not(ThrottledTimePerSecondBelow(0.05)));
  EXPECT_THAT(m, CpuUsageBelow(0.21));
  EXPECT_THAT(m, Not(CpuUsageBelow(0.2)));
  EXPECT_THAT(m, MemoryPeakBelow(65_MiB));
  EXPECT_THAT(m, Not(MemoryPeakBelow(64_MiB)));
}

TEST(Matchers, JudgeResponseTimes) {
  const Measurement m = MeasurementBuilder().Build();  // 160 requests of 30 ms
  EXPECT_THAT(
      m, AllOf(P50Below(31ms), P90Below(31ms), P95Below(31ms), P99Below(31ms), MaxBelow(31ms)));
  EXPECT_THAT(m, Not(P99Below(30ms)));
  EXPECT_THAT(m, PercentileBelow(99, 31ms));
  EXPECT_THAT(m, ServiceTimeP99Below(31ms));
  EXPECT_THAT(m, StartLagBelow(1ms));
}

TEST(Matchers, JudgeErrors) {
  EXPECT_THAT(MeasurementBuilder().Build(), AllOf(NoFailedRequests(), ErrorRatioBelow(0.01)));
  const Measurement m = MeasurementBuilder().Fail(3, 500, 5ms, "HTTP 500").Build();
  EXPECT_THAT(m, Not(NoFailedRequests()));
  EXPECT_THAT(m, ErrorRatioBelow(0.01));
  EXPECT_THAT(Explain(NoFailedRequests(), m), HasSubstr("HTTP 500"));
}

Measurement SerialBatch() {
  return MeasurementBuilder().Responses({1s, 2s, 3s, 4s, 5s}).Quota(200ms).Threads(3).Build();
}

TEST(Matchers, JudgeQueues) {
  EXPECT_THAT(SerialBatch(), AllOf(ServesSerially(), QueueDepthFits(8, 8s)));
  EXPECT_THAT(SerialBatch(), Not(QueueDepthFits(8, 7999ms)));
  EXPECT_THAT(SerialBatch(), QueueDepthFits(8, 8s, {.cpus = 2}));
  EXPECT_THAT(MeasurementBuilder().Build(), Not(ServesSerially()));
  EXPECT_THAT(SerialBatch(), AllOf(ThreadsFitQuota(1), Not(ThreadsFitQuota())));
  EXPECT_EQ(testing::DescribeMatcher<const Measurement&>(QueueDepthFits(8, 8s, {.cpus = 0.5})),
            "holds a queue depth of 8 within 8 s under cpus 0.5 (50 ms per 100 ms)");
  EXPECT_EQ(testing::DescribeMatcher<const Measurement&>(SaturatesLimit()),
            "has an unused share of the limit of at most 0.05");
}

TEST(Matchers, DoNotPassOfAnotherLimitThanTheDeclaredOne) {
  for (const auto& matcher : {MeasurementMatcher(QueueDepthFits(8, 8s, {.cpus = 0.5})),
                              MeasurementMatcher(Not(QueueDepthFits(8, 8s, {.cpus = 0.5})))}) {
    EXPECT_FALSE(FailuresOf([&] { EXPECT_THAT(SerialBatch(), matcher); }).empty());
  }
}

TEST(Matchers, DoNotPassOnAQueueFigureThatIsMissing) {
  const Measurement together = MeasurementBuilder().Build();  // eight at once, threads not counted
  EXPECT_FALSE(FailuresOf([&] { EXPECT_THAT(together, Not(QueueDepthFits(8, 1ms))); }).empty());
  EXPECT_FALSE(FailuresOf([&] { EXPECT_THAT(together, Not(SaturatesLimit())); }).empty());
  EXPECT_FALSE(FailuresOf([&] { EXPECT_THAT(together, Not(ThreadsFitQuota())); }).empty());
  const Measurement alone = MeasurementBuilder().Batches(1, 20).Build();
  EXPECT_FALSE(FailuresOf([&] { EXPECT_THAT(alone, Not(ServesSerially())); }).empty());
}

TEST(Matchers, DescribeThemselvesAndTheirNegation) {
  EXPECT_EQ(testing::DescribeMatcher<const Measurement&>(P99Below(150ms)),
            "has a P99 response time below 150 ms");
  EXPECT_THAT(testing::DescribeMatcher<const Measurement&>(P99Below(150ms), true),
              AllOf(HasSubstr("P99"), HasSubstr("150 ms or more")));
  EXPECT_THAT(testing::DescribeMatcher<const Measurement&>(ThrottleRatioBelow(0.05)),
              HasSubstr("0.05"));
}

TEST(Matchers, ExplainAMatchAndAMismatch) {
  EXPECT_THAT(Explain(ThrottleRatioBelow(0.5), Throttled()), HasSubstr("77 of 277 periods"));
  EXPECT_THAT(Explain(ThrottleRatioBelow(0.05), Throttled()),
              AllOf(HasSubstr("throttle ratio 0.28 (95 % interval 0.22..0.35, 20 batches) is not "
                              "below 0.05"),
                    HasSubstr("77 of 277 periods"), HasSubstr("cpus >= 2.1 would fit")));
}

TEST(Matchers, FailWithTheSummaryAndTheReason) {
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(Throttled(), ThrottleRatioBelow(0.05)), "is not below 0.05");
  EXPECT_THAT(testing::PrintToString(Throttled()), HasSubstr("77 of 277 periods"));
}

// A missing or untrusted figure passes under no combination.
class NeverPasses : public testing::TestWithParam<std::pair<const char*, Measurement>> {
 protected:
  const Measurement& m() const { return GetParam().second; }
};

TEST_P(NeverPasses, Plain) {
  EXPECT_FALSE(FailuresOf([&] { EXPECT_THAT(m(), ThrottleRatioBelow(0.2)); }).empty());
}
TEST_P(NeverPasses, UnderNot) {
  EXPECT_FALSE(FailuresOf([&] { EXPECT_THAT(m(), Not(ThrottleRatioBelow(0.2))); }).empty());
}
TEST_P(NeverPasses, InAnyOf) {
  EXPECT_FALSE(
      FailuresOf([&] { EXPECT_THAT(m(), AnyOf(ThrottleRatioBelow(0.2), testing::_)); }).empty());
}
TEST_P(NeverPasses, AsFalseValue) {
  EXPECT_FALSE(
      FailuresOf([&] { EXPECT_FALSE(testing::Value(m(), ThrottleRatioBelow(0.2))); }).empty());
}
TEST_P(NeverPasses, NeverThrottledUnderNot) {
  EXPECT_FALSE(FailuresOf([&] { EXPECT_THAT(m(), Not(NeverThrottled())); }).empty());
}

Measurement Untrusted() {
  Measurement m = Throttled();
  m.validity.faults.push_back({ValidityGate::kStartLag, "start lag P99 41.0 ms is above 25 ms"});
  return m;
}

INSTANTIATE_TEST_SUITE_P(
    Matchers, NeverPasses,
    testing::Values(std::pair("NoQuota", MeasurementBuilder().NoQuota().Build()),
                    std::pair("Idle", MeasurementBuilder().Throttled(0, 0, 0s).Build()),
                    std::pair("Untrusted", Untrusted())),
    [](const auto& test) { return std::string(test.param.first); });

TEST(Matchers, DoNotPassBelowTenPeriods) {
  const Measurement m = MeasurementBuilder().Throttled(9, 0, 0s).Build();
  EXPECT_FALSE(FailuresOf([&] { EXPECT_THAT(m, Not(ThrottleRatioBelow(0.2))); }).empty());
}

TEST(Matchers, DoNotPassWithoutAMemoryPeak) {
  Measurement m = MeasurementBuilder().Build();
  m.cgroup.memory_peak = Outcome<std::int64_t>::NotAvailable("no memory.peak");
  EXPECT_FALSE(FailuresOf([&] { EXPECT_THAT(m, Not(MemoryPeakBelow(1_GiB))); }).empty());
}

TEST(Matchers, SayWhyAFigureIsInconclusive) {
  const auto failures = FailuresOf(
      [&] { EXPECT_THAT(MeasurementBuilder().NoQuota().Build(), Not(ThrottleRatioBelow(0.2))); });
  ASSERT_FALSE(failures.empty());
  EXPECT_THAT(failures[0], AllOf(HasSubstr("INCONCLUSIVE"), HasSubstr("no CPU quota in force")));
}

}  // namespace
}  // namespace throttletest

#include "throttletest/measure/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/measurement_builder.h"

namespace throttletest {
namespace {

using testing::HasSubstr;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

BatchUse UseOf(std::chrono::nanoseconds cpu, std::int64_t throttled) {
  BatchUse use;
  use.cpu = Outcome<std::chrono::nanoseconds>::Value(cpu);
  use.throttled_periods = Outcome<std::int64_t>::Value(throttled);
  return use;
}

TEST(MedianBatchCpu, IsTheNearestRankMedianOfTheKnownBatches) {
  Measurement m = MeasurementBuilder().Build();
  m.batches = {UseOf(400ms, 0), UseOf(100ms, 0), BatchUse{}, UseOf(300ms, 0), UseOf(200ms, 0)};
  EXPECT_EQ(m.MedianBatchCpu().value(), 200ms);
}

TEST(MedianBatchCpu, IsNotGuessedFromAMinorityOfBatches) {
  Measurement m = MeasurementBuilder().Build();
  m.batches = {UseOf(400ms, 0), BatchUse{}, BatchUse{}};
  EXPECT_EQ(m.MedianBatchCpu().kind(), OutcomeKind::kInconclusive);
  m.batches = {BatchUse{}};
  EXPECT_EQ(m.MedianBatchCpu().kind(), OutcomeKind::kNotAvailable);
  m.batches = {};
  EXPECT_EQ(m.MedianBatchCpu().kind(), OutcomeKind::kNotAvailable);
}

TEST(ThrottledBursts, CountsBatchesNotPeriods) {
  Measurement m = MeasurementBuilder().Build();
  m.batches = {UseOf(1ms, 0), UseOf(1ms, 3), UseOf(1ms, 1)};
  EXPECT_EQ(m.ThrottledBursts().value(), 2);
}

TEST(ThrottledBursts, IsInconclusiveWhenOneBatchIsUnknown) {
  Measurement m = MeasurementBuilder().Build();
  m.batches = {UseOf(1ms, 0), BatchUse{}};
  m.batches[1].batch = 1;
  EXPECT_EQ(m.ThrottledBursts().kind(), OutcomeKind::kInconclusive);
  EXPECT_THAT(m.ThrottledBursts().reason(), HasSubstr("burst 1"));
}

TEST(ThrottledBursts, IsNotAvailableWithoutAQuota) {
  Measurement m = MeasurementBuilder().NoQuota().Build();
  m.batches = {UseOf(1ms, 0)};
  EXPECT_EQ(m.ThrottledBursts().kind(), OutcomeKind::kNotAvailable);
  EXPECT_EQ(m.ThrottledBursts().reason(), "no CPU quota in force");
}

}  // namespace
}  // namespace throttletest

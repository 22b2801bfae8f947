#include "measure/batch_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/measurement_builder.h"

namespace throttletest {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

TEST(BatchUses, ChargesEachBatchWithItsOwnGrowth) {
  const Measurement m = MeasurementBuilder()
                            .Throttled(200, 3, 1s)
                            .BatchCpu(164ms)
                            .ThrottleAt(1, 90ms)
                            .ThrottleAt(1, 190ms)
                            .ThrottleAt(19, 900ms)
                            .Build();
  ASSERT_THAT(m.batches, SizeIs(20));
  for (const BatchUse& batch : m.batches) EXPECT_EQ(batch.cpu.value(), 164ms) << batch.batch;
  EXPECT_EQ(m.batches[0].throttled_periods.value(), 0);
  EXPECT_EQ(m.batches[0].periods.value(), 10);
  EXPECT_EQ(m.batches[1].throttled_periods.value(), 2);
  EXPECT_EQ(m.batches[19].throttled_periods.value(), 1);
}

TEST(BatchUses, HasNoBandwidthFiguresWithoutAQuota) {
  const Measurement m = MeasurementBuilder().NoQuota().BatchCpu(100ms).Build();
  ASSERT_THAT(m.batches, SizeIs(20));
  EXPECT_EQ(m.batches[3].cpu.value(), 100ms);
  EXPECT_EQ(m.batches[3].periods.kind(), OutcomeKind::kNotAvailable);
  EXPECT_EQ(m.batches[3].throttled_time.reason(), "no CPU quota in force");
}

TEST(BatchUses, HasNoFigureWhereSamplesAreMissing) {
  MeasurementBuilder b;
  b.BatchCpu(100ms);
  const Measurement m = b.Build();
  Timeline gap = m.timeline;
  const auto edge = m.load.epoch + 2s;
  std::erase_if(gap.samples,
                [&](const Cgroup::Quick& s) { return s.time > edge - 100ms && s.time <= edge; });
  const std::vector<BatchUse> uses = internal::BatchUses(m.load, gap);
  ASSERT_THAT(uses, SizeIs(20));
  EXPECT_TRUE(uses[0].cpu.has_value());
  EXPECT_FALSE(uses[1].cpu.has_value());
  EXPECT_FALSE(uses[2].cpu.has_value());
  EXPECT_TRUE(uses[3].cpu.has_value());
  EXPECT_THAT(uses[2].throttled_periods.reason(), HasSubstr("no timeline sample"));
}

TEST(BatchUses, DoesNotGuessTheLastBatchOfATimelineThatEndedEarly) {
  const Measurement m = MeasurementBuilder().BatchCpu(100ms).Build();
  Timeline ended = m.timeline;
  ended.stopped_because = "cgroup is gone";
  EXPECT_FALSE(internal::BatchUses(m.load, ended).back().cpu.has_value());
}

TEST(BatchUses, IsEmptyWhenBatchesAreTooCloseToTellApart) {
  EXPECT_THAT(MeasurementBuilder().Batches(1, 100, 49ms).BatchCpu(1ms).Build().batches, IsEmpty());
  EXPECT_THAT(MeasurementBuilder().Batches(1, 100, 50ms).BatchCpu(1ms).Build().batches,
              SizeIs(100));
}

}  // namespace
}  // namespace throttletest

#include "measure/job_demand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/measurement_builder.h"

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

std::optional<JobDemand> Demand(nanoseconds cpu, nanoseconds throttled, nanoseconds elapsed) {
  return DemandOf(MeasurementBuilder()
                      .Quota(50ms)
                      .Throttled(40, 40, throttled)
                      .Usage(cpu)
                      .Job(elapsed)
                      .Build());
}

// 5 s of two threads at half a CPU: 2.5 s ran, 7.5 s waited.
TEST(JobDemand, CountsThreadsThatCouldRun) {
  const auto two = Demand(2500ms, 7500ms, 5s);
  ASSERT_TRUE(two);
  EXPECT_DOUBLE_EQ(two->at_once, 2);
  EXPECT_EQ(two->unthrottled, 1250ms);
  const auto pinned = Demand(2500ms, 2500ms, 5s);
  ASSERT_TRUE(pinned);
  EXPECT_DOUBLE_EQ(pinned->at_once, 1);
  EXPECT_EQ(pinned->unthrottled, 2500ms);
}

TEST(JobDemand, OfAJobThatNeverWaitedIsItself) {
  const auto free = Demand(1s, 0s, 4s);
  ASSERT_TRUE(free);
  EXPECT_DOUBLE_EQ(free->at_once, 0.25);
  EXPECT_EQ(free->unthrottled, 4s);
}

TEST(JobDemand, NamesTheCpusWithALittleToSpare) {
  const JobDemand demand = *Demand(1s, 3s, 4s);
  EXPECT_EQ(CpusToEndWithin(demand, 1s), std::nullopt) << "the bound is all that it needs";
  EXPECT_DOUBLE_EQ(*CpusToEndWithin(demand, 1001ms), 1.05);
  EXPECT_DOUBLE_EQ(*CpusToEndWithin(demand, 2s), 0.55);
  EXPECT_DOUBLE_EQ(*CpusToEndWithin(demand, 4s), 0.3);
}

TEST(JobDemand, IsNotKnownOfAServiceOrWithoutCpuTime) {
  EXPECT_FALSE(DemandOf(MeasurementBuilder().Build()));
  EXPECT_FALSE(Demand(0s, 0s, 4s));
  MeasurementBuilder builder = MeasurementBuilder().Job(4s);
  builder.inputs().after->usage.reset();
  EXPECT_FALSE(DemandOf(builder.Build()));
}

// CPU use is of the time that the job ran, not of that between the two snapshots.
TEST(JobFigures, ArePerSecondOfTheElapsedTime) {
  MeasurementBuilder builder = MeasurementBuilder().Quota(50ms).Usage(1s).Throttled(20, 20, 1s);
  builder.Job(2s).Wall(2100ms);
  const Measurement m = builder.Build();
  EXPECT_EQ(m.cgroup.wall, 2s);
  EXPECT_DOUBLE_EQ(m.cgroup.usage_cores.value(), 0.5);
  EXPECT_DOUBLE_EQ(m.cgroup.usage_of_limit.value(), 1.0);
  EXPECT_DOUBLE_EQ(m.cgroup.usage_of_host.value(), 0.0625);
  EXPECT_DOUBLE_EQ(m.cgroup.throttled_per_second.value(), 0.5);
}

TEST(JobFigures, SayWhatOutlivedTheMainProcess) {
  MeasurementBuilder builder = MeasurementBuilder().Job(2s);
  builder.inputs().left = 2;
  EXPECT_THAT(builder.Build().notes,
              testing::Contains("2 processes of the job still ran when its main process had ended, "
                                "and were stopped"));
}

}  // namespace
}  // namespace throttletest::internal

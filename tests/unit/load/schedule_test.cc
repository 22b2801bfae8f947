#include "throttletest/load/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Batch = Schedule::Batch;

TEST(Schedule, CountsWhatIsInIt) {
  const Schedule schedule({{0ms, 2}, {5ms, 1}, {5ms, 4}});
  EXPECT_EQ(schedule.batch_count(), 3);
  EXPECT_EQ(schedule.request_count(), 7);
  EXPECT_EQ(schedule.largest_batch(), 4);
  EXPECT_EQ(schedule.StartOf(1), 5ms);
  EXPECT_EQ(schedule.KindOf(6), 0);
  EXPECT_EQ(Schedule().request_count(), 0);
  EXPECT_EQ(Schedule().largest_batch(), 0);
}

TEST(Schedule, RefusesWhatIsNoSchedule) {
  EXPECT_THAT([] { Schedule({{5ms, 1}, {4ms, 1}}); }, ThrowsMessage<Error>(HasSubstr("in order")));
  EXPECT_THAT([] { Schedule({{-1ms, 1}}); }, ThrowsMessage<Error>(HasSubstr("negative")));
  EXPECT_THAT([] { Schedule({{0ms, 0}}); }, ThrowsMessage<Error>(HasSubstr("batch size 0")));
  EXPECT_THAT(
      [] {
        Schedule({{0ms, 2}}, {1});
      },
      ThrowsMessage<Error>(HasSubstr("1 kinds for 2 requests")));
  EXPECT_THAT(
      [] {
        Schedule({{0ms, 20'000'001}});
      },
      ThrowsMessage<Error>(HasSubstr("more than 20000000")));
}

TEST(ScheduleMerge, PutsAllOnOneClockAndKeepsTheKinds) {
  const Schedule first({{0ms, 1}, {10ms, 2}}, {0, 0, 1});
  const Schedule second({{0ms, 1}, {5ms, 1}, {10ms, 1}}, {2, 3, 2});
  const Schedule merged = Merge({first, second});
  EXPECT_THAT(merged.batches(), ElementsAre(Batch{0ms, 1}, Batch{0ms, 1}, Batch{5ms, 1},
                                            Batch{10ms, 2}, Batch{10ms, 1}));
  std::vector<int> kinds;
  for (std::int64_t i = 0; i < merged.request_count(); ++i) kinds.push_back(merged.KindOf(i));
  EXPECT_THAT(kinds, ElementsAre(0, 2, 3, 0, 1, 2));
}

}  // namespace
}  // namespace throttletest

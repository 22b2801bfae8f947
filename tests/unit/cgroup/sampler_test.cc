#include "throttletest/cgroup/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_text.h"
#include "fake_cgroups.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using TimePoint = std::chrono::steady_clock::time_point;

TimePoint At(std::chrono::nanoseconds time) { return TimePoint(1h + time); }

Cgroup::Quick Sample(std::chrono::nanoseconds time, std::int64_t throttled,
                     std::chrono::nanoseconds throttled_time) {
  Cgroup::Quick quick;
  quick.time = At(time);
  quick.counters = BandwidthCounters{};
  quick.counters->throttled_periods = throttled;
  quick.counters->throttled_time = throttled_time;
  return quick;
}

std::vector<ThrottledWindow> Windows(std::vector<Cgroup::Quick> samples) {
  Timeline timeline;
  timeline.samples = std::move(samples);
  return ThrottledWindows(timeline, 100ms);
}

TEST(ThrottledWindows, FindsNoneWhereNothingGrew) {
  EXPECT_THAT(Windows({}), IsEmpty());
  EXPECT_THAT(Windows({Sample(0ms, 3, 5ms)}), IsEmpty());
  EXPECT_THAT(Windows({Sample(0ms, 3, 5ms), Sample(10ms, 3, 5ms)}), IsEmpty());
}

TEST(ThrottledWindows, ReachesBackAsFarAsTheTimeBooked) {
  // 60 ms were booked between 190 ms and 200 ms: they began at 130 ms or later.
  const auto windows =
      Windows({Sample(180ms, 0, 0ns), Sample(190ms, 0, 0ns), Sample(200ms, 1, 60ms)});
  ASSERT_THAT(windows, SizeIs(1));
  EXPECT_EQ(windows[0].begin, At(130ms));
  EXPECT_EQ(windows[0].end, At(200ms));
}

TEST(ThrottledWindows, ReachesBackOnePeriodAtMost) {
  const auto summed_over_cpus = Windows({Sample(290ms, 0, 0ns), Sample(300ms, 1, 160ms)});
  ASSERT_THAT(summed_over_cpus, SizeIs(1));
  EXPECT_EQ(summed_over_cpus[0].begin, At(200ms));
  const auto only_counted = Windows({Sample(290ms, 0, 0ns), Sample(300ms, 1, 0ns)});
  ASSERT_THAT(only_counted, SizeIs(1));
  EXPECT_EQ(only_counted[0].begin, At(200ms));
}

TEST(ThrottledWindows, MergesWhatOverlaps) {
  const auto windows =
      Windows({Sample(190ms, 0, 0ns), Sample(200ms, 1, 60ms), Sample(290ms, 1, 60ms),
               Sample(300ms, 2, 160ms), Sample(890ms, 2, 160ms), Sample(900ms, 2, 161ms)});
  ASSERT_THAT(windows, SizeIs(2));
  EXPECT_EQ(windows[0].begin, At(130ms));
  EXPECT_EQ(windows[0].end, At(300ms));
  EXPECT_EQ(windows[1].begin, At(889ms));
  EXPECT_EQ(windows[1].end, At(900ms));
}

TEST(ThrottledWindows, IgnoresSamplesWithoutAQuota) {
  Cgroup::Quick none;
  none.time = At(10ms);
  EXPECT_THAT(Windows({Sample(0ms, 0, 0ns), none, Sample(20ms, 5, 1s)}), IsEmpty());
}

TEST(TimelineSampler, RefusesAnIntervalOfZero) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  const Cgroup cgroup = Cgroup::Open(FakeV2::At("/a"), fake.tree.root());
  EXPECT_THAT(ErrorText(ErrorCode::kInvalidArgument, [&] { TimelineSampler sampler(cgroup, 0ns); }),
              HasSubstr("not above 0"));
}

TEST(TimelineSampler, TakesALastSampleWhenStopped) {
  const FakeV2 fake;
  fake.AddLevel("/a", "50000 100000\n");
  fake.SetStat("/a", 90, 8, 1, 500);
  const Cgroup cgroup = Cgroup::Open(FakeV2::At("/a"), fake.tree.root());
  TimelineSampler sampler(cgroup, 1h);
  fake.SetStat("/a", 100, 9, 2, 600);
  TimelineSampler moved = std::move(sampler);
  const Timeline timeline = moved.Stop();
  ASSERT_FALSE(timeline.samples.empty());
  EXPECT_EQ(timeline.samples.back().counters->throttled_periods, 2);
  EXPECT_EQ(timeline.samples.back().usage, 100us);
  EXPECT_EQ(timeline.interval, 1h);
  EXPECT_GT(timeline.own_cpu, 0ns);
  EXPECT_EQ(timeline.stopped_because, "");
  EXPECT_THAT(moved.Stop().samples, IsEmpty()) << "a second stop has nothing more";
}

TEST(TimelineSampler, ShowsWhatItHasReadSoFar) {
  const FakeV2 fake;
  fake.AddLevel("/a", "50000 100000\n");
  fake.SetStat("/a", 90, 8, 1, 500);
  const Cgroup cgroup = Cgroup::Open(FakeV2::At("/a"), fake.tree.root());
  TimelineSampler sampler(cgroup, 1h);
  std::vector<Cgroup::Quick> samples;
  while (samples.empty()) samples = sampler.Since(0);
  EXPECT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].counters->throttled_periods, 1);
  EXPECT_THAT(sampler.Since(1), IsEmpty());
  EXPECT_THAT(sampler.Since(99), IsEmpty());
  sampler.Stop();
  EXPECT_THAT(sampler.Since(0), IsEmpty());
}

TEST(TimelineSampler, SaysWhyItEndedEarly) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  const Cgroup cgroup = Cgroup::Open(FakeV2::At("/a"), fake.tree.root());
  fake.Set("/a", "cpu.stat", "nr_periods x\n");
  TimelineSampler sampler(cgroup, 1h);
  EXPECT_THAT(sampler.Stop().stopped_because, HasSubstr("nr_periods x"));
}

}  // namespace
}  // namespace throttletest

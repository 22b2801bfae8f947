#include "throttletest/cgroup/delta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "snapshots.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const CpuBandwidth kHalf{.quota = 50ms};
const CpuBandwidth kNone;

// One level "/a" from 0 to the given counters.
CgroupDelta OneLevel(const CpuBandwidth& bandwidth, std::int64_t periods, std::int64_t throttled,
                     std::chrono::nanoseconds time, std::chrono::nanoseconds wall = 10s) {
  return Subtract(SnapshotOf(0s, {LevelOf("/a", 7, bandwidth, 0, 0, 0ns)}, 0ns),
                  SnapshotOf(wall, {LevelOf("/a", 7, bandwidth, periods, throttled, time)}, 1s));
}

TEST(Subtract, C001ReportsThrottlingAndUseApart) {
  const CgroupDelta delta =
      Subtract(SnapshotOf(0s, {LevelOf("/a", 7, kHalf, 100, 10, 500ms)}, 1s),
               SnapshotOf(10s, {LevelOf("/a", 7, kHalf, 200, 60, 3500ms)}, 2200ms));
  EXPECT_DOUBLE_EQ(delta.throttle_ratio.value(), 0.5);
  EXPECT_EQ(delta.throttled_time.value(), 3s);
  EXPECT_NEAR(delta.usage_cores.value(), 0.12, 1e-12);
  EXPECT_NEAR(delta.usage_of_limit.value(), 0.24, 1e-12);
  EXPECT_EQ(delta.periods.value(), 100);
  EXPECT_EQ(delta.throttled_periods.value(), 50);
  EXPECT_EQ(delta.wall, 10s);
  EXPECT_THAT(delta.faults, IsEmpty());
}

TEST(Subtract, C003KeepsSmallFiguresSmall) {
  const CgroupDelta delta = OneLevel(kHalf, 183, 2, 5200us);
  EXPECT_NEAR(delta.throttle_ratio.value(), 0.0109, 0.0001);
  EXPECT_EQ(delta.throttled_time.value(), 5200us);
}

TEST(Subtract, C005JudgesTheAncestorThatThrottles) {
  CpuLevel child_before = LevelOf("/p/c", 8, kNone, 0, 0, 0ns);
  CpuLevel child_after = child_before;
  child_before.held_time = 0ns;
  child_after.held_time = 3157ms;
  const CpuBandwidth parent{.quota = 30ms};
  const CgroupDelta delta =
      Subtract(SnapshotOf(0s, {child_before, LevelOf("/p", 7, parent, 0, 0, 0ns)}),
               SnapshotOf(3s, {child_after, LevelOf("/p", 7, parent, 33, 33, 3157ms)}));
  EXPECT_EQ(delta.throttle_ratio.value(), 1.0);
  EXPECT_EQ(delta.judged_path, "/p");
  EXPECT_TRUE(delta.judged_is_ancestor);
  EXPECT_EQ(delta.held_time.value(), 3157ms);
  EXPECT_THAT(delta.levels, SizeIs(1)) << "the child has no quota";
}

TEST(Subtract, C016TellsOwnThrottlingFromBeingHeld) {
  CpuLevel before = LevelOf("/p/c", 8, kHalf, 0, 0, 0ns);
  CpuLevel after = LevelOf("/p/c", 8, kHalf, 10, 0, 0ns);
  before.held_time = 0ns;
  after.held_time = 250ms;
  const CgroupDelta delta = Subtract(SnapshotOf(0s, {before}), SnapshotOf(1s, {after}));
  EXPECT_EQ(delta.throttled_time.value(), 0ns);
  EXPECT_EQ(delta.held_time.value(), 250ms);
}

TEST(Subtract, C008SaysThatAnIdleServiceHasNoRatio) {
  const CgroupDelta delta = Subtract(SnapshotOf(0s, {LevelOf("/a", 7, kHalf, 0, 0, 0ns)}, 0s),
                                     SnapshotOf(1s, {LevelOf("/a", 7, kHalf, 0, 0, 0ns)}, 900ms));
  EXPECT_EQ(delta.throttle_ratio.kind(), OutcomeKind::kInconclusive);
  EXPECT_THAT(delta.throttle_ratio.reason(), HasSubstr("no enforcement period elapsed"));
  EXPECT_EQ(delta.throttled_periods.kind(), OutcomeKind::kInconclusive);
  EXPECT_EQ(delta.throttled_time.kind(), OutcomeKind::kInconclusive);
  EXPECT_EQ(delta.throttled_per_second.kind(), OutcomeKind::kInconclusive);
  EXPECT_EQ(delta.periods.value(), 0);
  EXPECT_EQ(delta.usage.value(), 900ms);
}

TEST(Subtract, C009SaysThatNoQuotaIsInForce) {
  const CgroupDelta delta = OneLevel(kNone, 0, 0, 0ns);
  for (const auto& outcome : {delta.throttle_ratio, delta.throttled_per_second}) {
    EXPECT_EQ(outcome.kind(), OutcomeKind::kNotAvailable);
    EXPECT_EQ(outcome.reason(), "no CPU quota in force");
  }
  EXPECT_EQ(delta.periods.kind(), OutcomeKind::kNotAvailable);
  EXPECT_EQ(delta.judged_path, "");
  EXPECT_DOUBLE_EQ(delta.usage_cores.value(), 0.1);
}

TEST(Subtract, C009SaysWhenAQuotaAboveWouldBeInvisible) {
  Snapshot before = SnapshotOf(0s, {LevelOf("/", 7, kNone, 0, 0, 0ns)});
  Snapshot after = SnapshotOf(1s, {LevelOf("/", 7, kNone, 0, 0, 0ns)});
  before.ancestors_hidden = after.ancestors_hidden = true;
  EXPECT_THAT(Subtract(before, after).throttle_ratio.reason(), HasSubstr("hidden from here"));
}

// A leaf without a quota that was held for `held` while its own quota held it for `own`.
CgroupDelta BelowAnUnseenLevel(std::optional<std::chrono::nanoseconds> held,
                               std::chrono::nanoseconds own) {
  CpuLevel before = LevelOf("/", 7, kHalf, 0, 0, 0ns);
  CpuLevel after = LevelOf("/", 7, kHalf, 10, own > 0ns ? 5 : 0, own);
  if (held) before.held_time = 0ns;
  after.held_time = held;
  Snapshot a = SnapshotOf(0s, {before});
  Snapshot b = SnapshotOf(1s, {after});
  a.unseen = b.unseen = "the levels above /sys/fs/cgroup";
  return Subtract(a, b);
}

TEST(Subtract, TellsWhatAnUnseenLevelHeld) {
  EXPECT_EQ(BelowAnUnseenLevel(250ms, 0ns).held_by_unseen.value(), 250ms);
  EXPECT_EQ(BelowAnUnseenLevel(250ms, 250ms).held_by_unseen.value(), 0ns) << "its own quota did";
  EXPECT_EQ(BelowAnUnseenLevel(250ms, 300ms).held_by_unseen.value(), 0ns);
  EXPECT_EQ(BelowAnUnseenLevel(250ms, 50ms).held_by_unseen.value(), 200ms);
  EXPECT_EQ(BelowAnUnseenLevel(250ms, 0ns).unseen, "the levels above /sys/fs/cgroup");
}

TEST(Subtract, DoesNotKnowWhatAnUnseenLevelHeldOnAnOldKernel) {
  const auto held = BelowAnUnseenLevel(std::nullopt, 250ms).held_by_unseen;
  EXPECT_EQ(held.kind(), OutcomeKind::kNotAvailable);
  EXPECT_THAT(held.reason(), HasSubstr("needs 6.6"));
  EXPECT_THAT(OneLevel(kHalf, 10, 5, 1s).held_by_unseen.reason(), HasSubstr("is visible"));
}

TEST(Subtract, C048HasNoRatioForAPeriodWithoutAQuota) {
  const CgroupDelta delta = OneLevel({.period = 50ms}, 0, 0, 0ns);
  EXPECT_EQ(delta.throttle_ratio.kind(), OutcomeKind::kNotAvailable);
}

TEST(Subtract, C010DoesNotLookAtLifetimeTotals) {
  const CgroupDelta delta = Subtract(SnapshotOf(0s, {LevelOf("/a", 7, kHalf, 1000, 900, 1s)}),
                                     SnapshotOf(10s, {LevelOf("/a", 7, kHalf, 1100, 900, 1s)}));
  EXPECT_EQ(delta.throttle_ratio.value(), 0.0);
}

TEST(Subtract, C011KeepsRatioAndTimePerSecondApart) {
  const CgroupDelta delta = OneLevel(kHalf, 50, 50, 8130ms, 4600ms);
  EXPECT_EQ(delta.throttle_ratio.value(), 1.0);
  EXPECT_NEAR(delta.throttled_per_second.value(), 1.77, 0.005);
}

TEST(Subtract, C013LabelsTheThreeReadingsOfUse) {
  const CgroupDelta delta = Subtract(SnapshotOf(0s, {LevelOf("/a", 7, kHalf, 0, 0, 0ns)}, 0s),
                                     SnapshotOf(10s, {LevelOf("/a", 7, kHalf, 100, 0, 0ns)}, 5s));
  EXPECT_DOUBLE_EQ(delta.usage_cores.value(), 0.5);
  EXPECT_DOUBLE_EQ(delta.usage_of_limit.value(), 1.0);
  EXPECT_DOUBLE_EQ(delta.usage_of_host.value(), 0.0625);
}

TEST(Subtract, C018GivesCpuTimeOverWallTime) {
  EXPECT_NEAR(Subtract(SnapshotOf(0s, {LevelOf("/a", 7, kHalf, 0, 0, 0ns)}, 0s),
                       SnapshotOf(4s, {LevelOf("/a", 7, kHalf, 40, 39, 2s)}, 2s))
                  .usage_cores.value(),
              0.5, 0.05);
}

TEST(Subtract, C023GivesHalfACpuForFiveSecondsInTen) {
  EXPECT_DOUBLE_EQ(Subtract(SnapshotOf(0s, {}, 0s), SnapshotOf(10s, {}, 5s)).usage_cores.value(),
                   0.5);
}

TEST(Subtract, C176TakesNothingForWallTimeButTheClock) {
  const CgroupDelta delta = OneLevel(kHalf, 21, 0, 0ns, 3600ms);
  EXPECT_EQ(delta.wall, 3600ms);
  EXPECT_EQ(delta.periods.value(), 21);
  EXPECT_EQ(delta.throttle_ratio.value(), 0.0);
}

TEST(Subtract, C178ClampsATornRead) {
  const CgroupDelta delta = Subtract(SnapshotOf(0s, {LevelOf("/a", 7, kHalf, 10, 10, 0ns)}),
                                     SnapshotOf(1s, {LevelOf("/a", 7, kHalf, 20, 21, 1ms)}));
  EXPECT_EQ(delta.throttle_ratio.value(), 1.0);
  EXPECT_THAT(delta.notes, ElementsAre(HasSubstr("11 throttled of 10 periods")));
}

TEST(Subtract, C179ReportsBurstsAndKeepsTheAverageLimit) {
  CpuLevel before = LevelOf("/a", 7, {.quota = 13ms, .burst = 13ms}, 0, 0, 0ns);
  CpuLevel after = LevelOf("/a", 7, {.quota = 13ms, .burst = 13ms}, 19, 4, 9ms);
  before.counters->bursts = 0;
  before.counters->burst_time = 0ns;
  after.counters->bursts = 7;
  after.counters->burst_time = 50ms;
  const CgroupDelta delta = Subtract(SnapshotOf(0s, {before}), SnapshotOf(1s, {after}));
  EXPECT_EQ(delta.bursts.value(), 7);
  EXPECT_EQ(delta.burst_time.value(), 50ms);
  EXPECT_DOUBLE_EQ(delta.effective.cpus, 0.13);
}

TEST(Subtract, HasNoBurstFiguresFromOldKernels) {
  const CgroupDelta delta = OneLevel(kHalf, 10, 5, 1ms);
  EXPECT_EQ(delta.bursts.kind(), OutcomeKind::kNotAvailable);
  EXPECT_EQ(delta.burst_time.kind(), OutcomeKind::kNotAvailable);
  EXPECT_EQ(delta.held_time.kind(), OutcomeKind::kNotAvailable);
}

TEST(Subtract, JudgesTheHighestRatioOfSeveralLevels) {
  const auto levels = [](std::int64_t leaf, std::int64_t parent) {
    return std::vector<CpuLevel>{LevelOf("/p/c", 8, {.quota = 30ms}, 10, leaf, 1ms),
                                 LevelOf("/p", 7, {.quota = 200ms}, 10, parent, 2ms)};
  };
  const std::vector<CpuLevel> zero = {LevelOf("/p/c", 8, {.quota = 30ms}, 0, 0, 0ns),
                                      LevelOf("/p", 7, {.quota = 200ms}, 0, 0, 0ns)};
  const CgroupDelta parent = Subtract(SnapshotOf(0s, zero), SnapshotOf(1s, levels(2, 6)));
  EXPECT_EQ(parent.judged_path, "/p");
  EXPECT_DOUBLE_EQ(parent.throttle_ratio.value(), 0.6);
  const CgroupDelta leaf = Subtract(SnapshotOf(0s, zero), SnapshotOf(1s, levels(7, 6)));
  EXPECT_EQ(leaf.judged_path, "/p/c");
  EXPECT_FALSE(leaf.judged_is_ancestor);
  const CgroupDelta tie = Subtract(SnapshotOf(0s, zero), SnapshotOf(1s, levels(0, 0)));
  EXPECT_EQ(tie.judged_path, "/p/c") << "the smaller quota";
  EXPECT_THAT(tie.levels, SizeIs(2));
}

TEST(Subtract, SaysWhenAQuotaHasNoCounters) {
  CpuLevel level = LevelOf("/a", 7, kHalf, 0, 0, 0ns);
  level.counters.reset();
  const CgroupDelta delta = Subtract(SnapshotOf(0s, {level}), SnapshotOf(1s, {level}));
  EXPECT_EQ(delta.throttle_ratio.kind(), OutcomeKind::kNotAvailable);
  EXPECT_EQ(delta.throttle_ratio.reason(), "/a has a quota but its cpu.stat has no nr_periods");
}

TEST(Subtract, C106HasNoPeakWhereTheKernelHasNone) {
  const CgroupDelta delta = OneLevel(kHalf, 10, 5, 1ms);
  EXPECT_EQ(delta.memory_peak.kind(), OutcomeKind::kNotAvailable);
  EXPECT_EQ(delta.oom_kills.kind(), OutcomeKind::kNotAvailable);
  EXPECT_EQ(delta.cpu_pressure_some.kind(), OutcomeKind::kNotAvailable);
  EXPECT_FALSE(delta.memory_peak.optional());
}

TEST(Subtract, ReportsMemoryAndPressure) {
  Snapshot before = SnapshotOf(0s, {});
  Snapshot after = SnapshotOf(1s, {});
  before.memory.oom_kills = 1;
  after.memory.oom_kills = 3;
  before.memory.peak = 1024;
  after.memory.peak = 4096;
  before.pressure.cpu_some = 1ms;
  after.pressure.cpu_some = 5ms;
  before.pressure.memory_some = 2ms;
  after.pressure.memory_some = 2ms;
  const CgroupDelta delta = Subtract(before, after);
  EXPECT_EQ(delta.oom_kills.value(), 2);
  EXPECT_EQ(delta.memory_peak.value(), 4096);
  EXPECT_TRUE(delta.memory_peak_of_window) << "it was raised in between";
  before.memory.peak = 4096;
  EXPECT_FALSE(Subtract(before, after).memory_peak_of_window) << "it was reached before";
  EXPECT_EQ(delta.cpu_pressure_some.value(), 4ms);
  EXPECT_EQ(delta.memory_pressure_some.value(), 0ms);
  EXPECT_EQ(delta.usage.kind(), OutcomeKind::kNotAvailable);
  EXPECT_EQ(delta.usage_cores.kind(), OutcomeKind::kNotAvailable);
}

}  // namespace
}  // namespace throttletest

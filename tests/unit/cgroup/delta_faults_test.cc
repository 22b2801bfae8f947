// What forbids subtracting two snapshots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "snapshots.h"
#include "throttletest/cgroup/delta.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const CpuBandwidth kHalf{.quota = 50ms};

Snapshot Before() { return SnapshotOf(0s, {LevelOf("/a", 101, kHalf, 100, 50, 1s)}, 1s); }
Snapshot After() { return SnapshotOf(1s, {LevelOf("/a", 101, kHalf, 110, 55, 2s)}, 4s); }

std::vector<std::string> Texts(const CgroupDelta& delta) {
  std::vector<std::string> texts;
  for (const CgroupFault& fault : delta.faults) texts.push_back(fault.text);
  return texts;
}

std::vector<CgroupFault::Kind> Kinds(const CgroupDelta& delta) {
  std::vector<CgroupFault::Kind> kinds;
  for (const CgroupFault& fault : delta.faults) kinds.push_back(fault.kind);
  return kinds;
}

TEST(SubtractFaults, HasNoneForTwoSnapshotsOfOneCgroup) {
  EXPECT_THAT(Texts(Subtract(Before(), After())), IsEmpty());
}

TEST(SubtractFaults, C095SeesARestartByItsIdentity) {
  Snapshot after = After();
  after.cpu[0].inode = 205;
  const CgroupDelta delta = Subtract(Before(), after);
  EXPECT_THAT(Texts(delta), ElementsAre(HasSubstr("/a (inode 101) before, /a (inode 205) after")));
  EXPECT_EQ(delta.usage.kind(), OutcomeKind::kInconclusive);
  EXPECT_EQ(delta.throttle_ratio.kind(), OutcomeKind::kInconclusive);
  EXPECT_THAT(delta.throttle_ratio.reason(), HasSubstr("cgroup identity changed"));
}

TEST(SubtractFaults, C089SeesAMoveByThePath) {
  Snapshot after = After();
  after.cpu[0].path = "/b";
  EXPECT_THAT(Texts(Subtract(Before(), after)), ElementsAre(HasSubstr("identity changed")));
  after.cpu.push_back(LevelOf("/", 1, {}, 0, 0, 0ns));
  EXPECT_THAT(Texts(Subtract(Before(), after)), ElementsAre(HasSubstr("1 levels before, 2 after")));
}

TEST(SubtractFaults, C086SeesALimitThatWasReset) {
  Snapshot after = After();
  after.cpu[0].bandwidth = CpuBandwidth{};
  const CgroupDelta delta = Subtract(Before(), after);
  EXPECT_THAT(Texts(delta),
              ElementsAre("limit changed during measurement: /a had 50 ms per 100 ms (0.5 CPUs), "
                          "then unlimited"));
  EXPECT_EQ(delta.throttle_ratio.kind(), OutcomeKind::kInconclusive);
  after.cpu[0].bandwidth = CpuBandwidth{.quota = 50ms, .burst = 10ms};
  EXPECT_THAT(Texts(Subtract(Before(), after)), ElementsAre(HasSubstr("limit changed")));
  after.cpu[0].bandwidth.reset();
  EXPECT_THAT(Texts(Subtract(Before(), after)), ElementsAre(HasSubstr("switched off")));
}

TEST(SubtractFaults, C021OnlyNotesThatTheKernelScaledThePeriod) {
  Snapshot before = Before();
  Snapshot after = After();
  before.cpu[0].bandwidth = CpuBandwidth{.quota = 1ms, .period = 1ms, .burst = 100us};
  after.cpu[0].bandwidth = CpuBandwidth{.quota = 2ms, .period = 2ms, .burst = 200us};
  const CgroupDelta delta = Subtract(before, after);
  EXPECT_THAT(Texts(delta), IsEmpty());
  EXPECT_THAT(delta.notes, ElementsAre(HasSubstr("period changed during run")));
  EXPECT_EQ(delta.throttle_ratio.value(), 0.5);
  // Three times as long is nobody's doing but a user's.
  after.cpu[0].bandwidth = CpuBandwidth{.quota = 3ms, .period = 3ms, .burst = 300us};
  EXPECT_THAT(Texts(Subtract(before, after)), ElementsAre(HasSubstr("limit changed")));
  // So is a period that became shorter.
  EXPECT_THAT(Texts(Subtract(after, before)), Contains(HasSubstr("limit changed")));
}

TEST(SubtractFaults, DoesNotMindAPeriodWithoutAQuota) {
  Snapshot before = Before();
  Snapshot after = After();
  before.cpu[0].bandwidth = CpuBandwidth{};
  after.cpu[0].bandwidth = CpuBandwidth{.period = 50ms};
  EXPECT_THAT(Texts(Subtract(before, after)), IsEmpty());
}

TEST(SubtractFaults, C090SeesACpusetThatChanged) {
  Snapshot before = Before();
  Snapshot after = After();
  before.cpuset = CpuSet::Parse("1");
  after.cpuset = CpuSet::Parse("0-1");
  EXPECT_THAT(Texts(Subtract(before, after)),
              ElementsAre("cpuset changed during measurement: 1 before, 0-1 after"));
}

TEST(SubtractFaults, SeesCpusThatWentOffline) {
  Snapshot after = After();
  after.online = CpuSet::Parse("0-3");
  EXPECT_THAT(Texts(Subtract(Before(), after)),
              ElementsAre("online CPUs changed during measurement: 0-7 before, 0-3 after"));
}

TEST(SubtractFaults, SeesAMemoryLimitThatChanged) {
  Snapshot before = Before();
  Snapshot after = After();
  before.memory.limit = 64_MiB;
  after.memory.limit = ByteSize::Unlimited();
  EXPECT_THAT(Texts(Subtract(before, after)), ElementsAre(HasSubstr("memory limit changed")));
}

TEST(SubtractFaults, SeesEveryCounterThatWentBackwards) {
  const auto fault = [](auto change) {
    Snapshot before = Before();
    Snapshot after = After();
    change(before, after);
    const CgroupDelta delta = Subtract(before, after);
    EXPECT_EQ(delta.usage_cores.kind(), OutcomeKind::kInconclusive);
    return delta.faults.size() == 1 ? delta.faults[0].text : std::string("not one fault");
  };
  EXPECT_EQ(fault([](Snapshot&, Snapshot& a) { a.cpu[0].counters->periods = 99; }),
            "/a: nr_periods went backwards, from 100 to 99: counters were reset");
  EXPECT_THAT(fault([](Snapshot&, Snapshot& a) { a.cpu[0].counters->throttled_periods = 1; }),
              HasSubstr("nr_throttled went backwards"));
  EXPECT_THAT(fault([](Snapshot&, Snapshot& a) { a.cpu[0].counters->throttled_time = 1ns; }),
              HasSubstr("throttled time (ns) went backwards"));
  EXPECT_THAT(fault([](Snapshot&, Snapshot& a) { a.usage = 999ms; }),
              HasSubstr("CPU usage (ns) went backwards"));
  EXPECT_THAT(fault([](Snapshot&, Snapshot& a) { a.usage.reset(); }), HasSubstr("vanished"));
  EXPECT_THAT(fault([](Snapshot&, Snapshot& a) { a.cpu[0].counters.reset(); }),
              HasSubstr("nr_periods vanished"));
  EXPECT_THAT(fault([](Snapshot& b, Snapshot& a) {
                b.memory.oom_kills = 2;
                a.memory.oom_kills = 1;
              }),
              HasSubstr("oom_kill went backwards"));
  EXPECT_THAT(fault([](Snapshot& b, Snapshot& a) {
                b.cpu[0].held_time = 2ms;
                a.cpu[0].held_time = 1ms;
              }),
              HasSubstr("time held went backwards"));
}

TEST(SubtractFaults, HaveAKind) {
  using Kind = CgroupFault::Kind;
  Snapshot after = After();
  after.cpu[0].inode = 205;
  EXPECT_THAT(Kinds(Subtract(Before(), after)), ElementsAre(Kind::kIdentity));
  after = After();
  after.cpu[0].bandwidth = CpuBandwidth{};
  after.cpu[0].counters->periods = 99;
  EXPECT_THAT(Kinds(Subtract(Before(), after)), ElementsAre(Kind::kLimit, Kind::kCounter));
}

TEST(SubtractFaults, SeesSnapshotsInTheWrongOrder) {
  EXPECT_THAT(Texts(Subtract(After(), Before())), Contains(HasSubstr("not later than the first")));
}

}  // namespace
}  // namespace throttletest

// The validity gates and what else a window's figures become.
#include "measure/assemble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "measure/gates.h"
#include "support/measurement_builder.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

auto Fault(ValidityGate gate, const std::string& text) {
  return AllOf(Field(&ValidityFault::gate, gate), Field(&ValidityFault::text, HasSubstr(text)));
}

TEST(Assemble, TrustsACleanWindow) {
  const Measurement m = MeasurementBuilder().Build();
  EXPECT_TRUE(m.validity.trusted()) << m.validity.ToString();
  EXPECT_EQ(m.validity.ToString(), "");
  EXPECT_TRUE(m.is_burst_load);
  EXPECT_EQ(m.load.planned, 160);
  EXPECT_EQ(m.cgroup.wall, 20s);
  EXPECT_EQ(m.quota()->quota, 200ms);
}

TEST(Assemble, C086ALimitThatChangedMakesTheRunInconclusive) {
  MeasurementBuilder b;
  b.Quota(50ms).inputs().after->cpu[0].bandwidth = CpuBandwidth{};
  const Measurement m = b.Build();
  EXPECT_THAT(m.validity.faults,
              ElementsAre(Fault(ValidityGate::kLimitChanged, "limit changed during measurement")));
  EXPECT_EQ(m.cgroup.throttle_ratio.kind(), OutcomeKind::kInconclusive);
}

TEST(Assemble, ALimitThatChangedBeforeTheWindowMakesTheRunInconclusive) {
  MeasurementBuilder b;
  b.Quota(50ms).inputs().requested.cpu = CpuBandwidth{200ms, 100ms};
  EXPECT_THAT(b.Build().validity.faults,
              ElementsAre(Fault(ValidityGate::kLimitChanged, "limit changed before the window")));
}

TEST(Assemble, OfAnAttachedServiceNothingIsDemandedButThatItStaysAsFound) {
  // A service that was started under these limits would not be measured.
  MeasurementBuilder b;
  b.Quota(200ms).Ancestor("/pod", 50ms, 100, 10);
  EXPECT_FALSE(b.Build().validity.trusted());
  const Measurement m = b.Attached().Build();
  EXPECT_TRUE(m.validity.trusted()) << m.validity.ToString();
  EXPECT_TRUE(m.attached);
  EXPECT_THAT(m.notes, Not(Contains(HasSubstr("requested"))));
}

TEST(Assemble, ALimitThatChangedSinceTheServiceWasAttachedToMakesTheRunInconclusive) {
  MeasurementBuilder b;
  b.Quota(50ms).Attached().inputs().found->cpu[0].bandwidth = CpuBandwidth{200ms, 100ms};
  EXPECT_THAT(b.Build().validity.faults,
              ElementsAre(Fault(ValidityGate::kLimitChanged,
                                "limit changed since the service was attached to: /svc had 200 ms "
                                "per 100 ms (2.0 CPUs), then 50 ms per 100 ms (0.5 CPUs)")));
}

TEST(Assemble, CountersFromBeforeAnAttachmentDoNotMatter) {
  MeasurementBuilder b;
  b.Attached().inputs().found->cpu[0].counters->periods = 1'000'000;
  EXPECT_TRUE(b.Build().validity.trusted());
}

TEST(Assemble, C089AProcessThatMovedMakesTheRunInconclusive) {
  MeasurementBuilder b;
  b.inputs().trouble = "process 17 moved to /b";
  EXPECT_THAT(b.Build().validity.faults,
              ElementsAre(Fault(ValidityGate::kMoved, "process 17 moved to /b")));
}

TEST(Assemble, C095AnotherCgroupOfTheSameNameIsNotComparedEvenIfTheDeltaLooksFine) {
  MeasurementBuilder b;
  b.inputs().after->cpu[0].inode = 205;
  const Measurement m = b.Build();
  EXPECT_THAT(m.validity.faults,
              ElementsAre(Fault(ValidityGate::kIdentityChanged, "identity changed")));
  EXPECT_FALSE(m.cgroup.usage.has_value());
}

TEST(Assemble, C096AKilledServiceIsToldAsItEndedAndNothingElseIs) {
  MeasurementBuilder b;
  b.Fail(10, 0, 1ms, "connection refused").NotSent(11).NotSent(12);
  b.inputs().alive = false;
  b.inputs().trouble = "killed by SIGKILL, no OOM recorded";
  EXPECT_THAT(b.Build().validity.faults,
              ElementsAre(Fault(ValidityGate::kServiceGone,
                                "the service ended before the second snapshot: killed by SIGKILL, "
                                "no OOM recorded")));
}

TEST(Assemble, C093AWindowWithoutASecondSnapshotHasNoFigures) {
  MeasurementBuilder b;
  b.inputs().after.reset();
  b.inputs().after_error = "cgroup is gone: /svc";
  b.inputs().alive = false;
  b.inputs().trouble = "exited with status 3";
  const Measurement m = b.Build();
  EXPECT_THAT(m.validity.ToString(), HasSubstr("exited with status 3"));
  EXPECT_EQ(m.cgroup.usage.kind(), OutcomeKind::kInconclusive);
  EXPECT_EQ(m.cgroup.usage.reason(), "exited with status 3");
  EXPECT_EQ(m.cgroup.oom_kills.kind(), OutcomeKind::kInconclusive);
  EXPECT_EQ(m.cgroup.memory_pressure_some.kind(), OutcomeKind::kInconclusive);
}

TEST(Assemble, ACgroupThatCannotBeReadUnderALivingServiceIsAFault) {
  MeasurementBuilder b;
  b.inputs().after.reset();
  b.inputs().after_error = "cgroup is gone: /svc";
  EXPECT_THAT(b.Build().validity.faults,
              ElementsAre(Fault(ValidityGate::kIdentityChanged,
                                "the second snapshot could not be read: cgroup is gone: /svc")));
}

TEST(Assemble, C099AnOomKilledChildIsAFaultThoughTheServiceAnswers) {
  MeasurementBuilder b;
  b.inputs().after->memory.oom_kills = 1;
  const Measurement m = b.Build();
  EXPECT_THAT(m.validity.faults,
              ElementsAre(Fault(ValidityGate::kServiceGone,
                                "a process of the service was OOM-killed (1 kill)")));
  EXPECT_EQ(m.load.ok, m.load.planned);
  EXPECT_EQ(m.cgroup.oom_kills.value(), 1);
}

TEST(Assemble, CountersThatWentBackwardsAreAFault) {
  MeasurementBuilder b;
  b.Throttled(-1, 0, 0s);
  EXPECT_THAT(b.Build().validity.faults,
              ElementsAre(Fault(ValidityGate::kCountersBackwards, "went backwards")));
}

TEST(Assemble, RequestsThatWereNotSentAreAFault) {
  EXPECT_THAT(
      MeasurementBuilder().NotSent(0).NotSent(1).Build().validity.faults,
      ElementsAre(Fault(ValidityGate::kNotSent, "2 of 160 requests were not sent, above 0")));
}

TEST(Assemble, StartLagIsJudgedByItsPercentileAgainstTheBound) {
  MeasurementBuilder one;
  one.StartLag(0, 29ms);  // rank 159 of 160 is not the maximum
  EXPECT_TRUE(one.Build().validity.trusted());
  MeasurementBuilder two;
  two.StartLag(0, 29ms).StartLag(1, 28ms);
  EXPECT_THAT(two.Build().validity.faults,
              ElementsAre(Fault(ValidityGate::kStartLag, "start lag P99 28.0 ms is above 25 ms")));
  two.inputs().bounds.start_lag_p99 = 28ms;
  EXPECT_TRUE(two.Build().validity.trusted());
}

TEST(Assemble, StartLagMayBeATenthOfTheMedianResponseTime) {
  MeasurementBuilder b;
  for (std::size_t i = 0; i < 160; ++i) b.Respond(i, 401ms).StartLag(i, 40ms);
  const Measurement m = b.Build();
  EXPECT_TRUE(m.validity.trusted()) << m.validity.ToString();
  EXPECT_EQ(m.bounds.start_lag_p99, 40100us);
  b.inputs().bounds.start_lag_p99 = 25ms;
  EXPECT_THAT(b.Build().validity.faults,
              ElementsAre(Fault(ValidityGate::kStartLag, "start lag P99 40.0 ms is above 25 ms")));
}

TEST(Assemble, SaysWhenTheMachineCouldNotBeJudged) {
  MeasurementBuilder b;
  EXPECT_THAT(b.Build().notes, Not(Contains(HasSubstr("machine was busy"))));
  EXPECT_THAT(b.Wall(900ms).Build().notes,
              Contains("whether the machine was busy is not known: a window below 1 s is too "
                       "short: /proc/stat counts in clock ticks"));
}

TEST(Assemble, TellsWhereInAPeriodTheBatchesStart) {
  MeasurementBuilder b;
  EXPECT_THAT(b.Build().notes, Not(Contains(HasSubstr("period"))));
  b.inputs().in_phase = true;
  EXPECT_THAT(b.Build().notes, Contains(HasSubstr("at the same point of the 100 ms period")));
  b.inputs().in_phase = false;
  b.inputs().moved = true;
  EXPECT_THAT(b.Build().notes, Contains(HasSubstr("moved by up to one period of 100 ms")));
}

TEST(Assemble, StealIsJudgedAgainstItsBound) {
  EXPECT_TRUE(MeasurementBuilder().Host(0, 0.049).Build().validity.trusted());
  MeasurementBuilder b;
  b.Host(0, 0.12);
  EXPECT_THAT(b.Build().validity.faults,
              ElementsAre(Fault(ValidityGate::kSteal,
                                "steal 12 % of the machine's CPU time is "
                                "above 5 %: its hypervisor ran others")));
  b.inputs().bounds.max_steal = 0.13;
  EXPECT_TRUE(b.Build().validity.trusted());
}

TEST(Assemble, OtherProcessesAreJudgedAgainstTheirBound) {
  EXPECT_TRUE(MeasurementBuilder().Host(0.24).Build().validity.trusted());
  MeasurementBuilder b;
  b.Host(0.84);
  EXPECT_THAT(b.Build().validity.faults,
              ElementsAre(Fault(ValidityGate::kHostBusy,
                                "other processes used 84 % of the machine's CPU time, above 25 %: "
                                "run measurements alone, with ctest's RUN_SERIAL")));
  b.inputs().host_before.pressure = 1s;
  b.inputs().host_after.pressure = 19s;
  EXPECT_THAT(b.Build().validity.ToString(),
              HasSubstr("(some task waited for a CPU 90 % of the time), above 25 %"));
  b.inputs().bounds.max_others_cpu = 0.85;
  EXPECT_TRUE(b.Build().validity.trusted());
}

TEST(Assemble, AMachineMayNotBeBusyBesideAServiceWhoseCpuTimeCannotBeRead) {
  MeasurementBuilder b;
  b.Host(0.24).inputs().before.usage.reset();
  const Measurement quiet = b.Build();
  EXPECT_TRUE(quiet.validity.trusted());
  EXPECT_FALSE(quiet.host.others_cpu.has_value());
  EXPECT_THAT(
      b.Host(0.26).Build().validity.faults,
      ElementsAre(Fault(ValidityGate::kHostBusy,
                        "other processes and the service used 26 % of the machine's CPU "
                        "time, above 25 %: how much of it the service used cannot be read")));
}

TEST(Assemble, AThrottledTestProcessIsAFaultThatNamesItsQuota) {
  EXPECT_TRUE(MeasurementBuilder().OwnThrottled(0).Build().validity.trusted());
  MeasurementBuilder b;
  b.OwnThrottled(7);
  EXPECT_THAT(b.Build().validity.faults,
              ElementsAre(Fault(ValidityGate::kOwnThrottled,
                                "was itself throttled in 7 periods by /ci/job (50 ms per 100 ms "
                                "(0.5 CPUs)), above 0")));
  b.inputs().bounds.max_own_throttled_periods = 7;
  EXPECT_TRUE(b.Build().validity.trusted());
}

TEST(Assemble, NamesTheLevelsThatCannotBeSeen) {
  const Measurement harmless = MeasurementBuilder().BelowUnseen(0ms, 0ms).Build();
  EXPECT_TRUE(harmless.validity.trusted());
  EXPECT_THAT(harmless.notes,
              Contains("not seen from here: the levels above /sys/fs/cgroup; no limit there held "
                       "the service"));
  const Measurement old_kernel = MeasurementBuilder().BelowUnseen(std::nullopt, 0ms).Build();
  EXPECT_TRUE(old_kernel.validity.trusted());
  EXPECT_THAT(old_kernel.notes, Contains(HasSubstr("this kernel does not say whether a level that "
                                                   "cannot be seen held it")));
}

TEST(Assemble, AnUnseenLimitThatHeldTheServiceIsAFault) {
  const Measurement m = MeasurementBuilder().BelowUnseen(80ms, 0ms).Build();
  EXPECT_THAT(m.validity.faults,
              ElementsAre(Fault(ValidityGate::kUnseenLimit,
                                "the service was held for 80 ms by a CPU limit that cannot be seen "
                                "from here, one of the levels above /sys/fs/cgroup")));
  EXPECT_TRUE(internal::WorthRetrying(m.validity));
  EXPECT_TRUE(MeasurementBuilder().BelowUnseen(900us, 0ms).Build().validity.trusted())
      << "two files are read one after the other";
}

TEST(Assemble, AnUnseenLimitThatHeldTheTestProcessIsAFault) {
  MeasurementBuilder b;
  b.BelowUnseen(0ms, 70ms);
  EXPECT_THAT(b.Build().validity.faults,
              ElementsAre(Fault(ValidityGate::kOwnThrottled,
                                "was itself held for 70 ms by a CPU limit that cannot be seen from "
                                "here, one of the levels above /sys/fs/cgroup")));
  EXPECT_EQ(b.Build().host.own_held_by_unseen.value(), 70ms);
  b.inputs().bounds.max_own_throttled_periods = 7;
  EXPECT_TRUE(b.Build().validity.trusted());
}

TEST(Assemble, AnInterruptedRunTellsHowFarItCame) {
  MeasurementBuilder b;
  b.NotSent(158).NotSent(159).inputs().interrupted = true;
  EXPECT_THAT(b.Build().validity.faults,
              ElementsAre(Fault(ValidityGate::kInterrupted, "interrupted after 158 of 160")));
}

TEST(Assemble, C178PassesTheNoteOnAClampedRatioOn) {
  const Measurement m = MeasurementBuilder().Throttled(10, 11, 1s).Build();
  EXPECT_EQ(m.cgroup.throttle_ratio.value(), 1.0);
  EXPECT_THAT(m.notes, Contains(HasSubstr("ratio taken as 1")));
}

TEST(Assemble, C179KeepsBurstCounters) {
  MeasurementBuilder b;
  b.Quota(13ms, 100ms, 13ms);
  b.inputs().before.cpu[0].counters->bursts = 0;
  b.inputs().before.cpu[0].counters->burst_time = 0ns;
  b.Throttled(100, 4, 1s);
  b.inputs().after->cpu[0].counters->bursts = 7;
  b.inputs().after->cpu[0].counters->burst_time = 50ms;
  const Measurement m = b.Build();
  ASSERT_TRUE(m.validity.trusted()) << m.validity.ToString();
  EXPECT_EQ(m.cgroup.bursts.value(), 7);
  EXPECT_EQ(m.cgroup.burst_time.value(), 50ms);
  EXPECT_DOUBLE_EQ(m.cgroup.effective.cpus, 0.13);
}

TEST(Assemble, TellsFailuresOfTheWarmUpAndAnEndedTimelineOnce) {
  MeasurementBuilder b;
  b.inputs().warm_up_failed = 3;
  b.inputs().warm_up_planned = 24;
  b.inputs().timeline.stopped_because = "cgroup is gone";
  b.inputs().before.notes = b.inputs().after->notes = {"an odd file"};
  EXPECT_THAT(b.Build().notes, ElementsAre("an odd file", "the timeline ends early: cgroup is gone",
                                           "3 of 24 warm-up requests failed"));
}

TEST(WorthRetrying, OnlyFaultsOfTheLoadGeneratorAndTheMachine) {
  EXPECT_FALSE(internal::WorthRetrying({}));
  EXPECT_TRUE(internal::WorthRetrying(MeasurementBuilder().NotSent(0).Build().validity));
  EXPECT_TRUE(internal::WorthRetrying(
      MeasurementBuilder().Host(0.5, 0.5).OwnThrottled(1).Build().validity));
  MeasurementBuilder oom;
  oom.NotSent(0).inputs().after->memory.oom_kills = 1;
  EXPECT_FALSE(internal::WorthRetrying(oom.Build().validity));
}

TEST(ValidityGate, HasStableNames) {
  EXPECT_STREQ(ValidityGateName(ValidityGate::kStartLag), "start_lag");
  EXPECT_STREQ(ValidityGateName(ValidityGate::kServiceGone), "service_gone");
  EXPECT_STREQ(ValidityGateName(ValidityGate::kCountersBackwards), "counters_backwards");
  EXPECT_STREQ(ValidityGateName(ValidityGate::kSteal), "steal");
  EXPECT_STREQ(ValidityGateName(ValidityGate::kHostBusy), "host_busy");
  EXPECT_STREQ(ValidityGateName(ValidityGate::kOwnThrottled), "own_throttled");
  EXPECT_STREQ(ValidityGateName(ValidityGate::kUnseenLimit), "unseen_limit");
}

TEST(ValidityBounds, AreRefusedOutsideTheirRange) {
  const auto message = [](const ValidityBounds& bounds) -> std::string {
    try {
      Validate(bounds);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message({}), "");
  EXPECT_EQ(message({.max_steal = 1, .max_others_cpu = 1}), "");
  EXPECT_THAT(message({.start_lag_p99 = -1ms}), HasSubstr("start_lag_p99 -1 ms"));
  EXPECT_THAT(message({.min_periods = 0}), HasSubstr("min_periods 0"));
  EXPECT_THAT(message({.max_steal = 5}), HasSubstr("max_steal 5 is not possible: it must be from"));
  EXPECT_THAT(message({.max_others_cpu = -0.1}), HasSubstr("max_others_cpu -0.1"));
  EXPECT_THAT(message({.max_others_cpu = std::nan("")}), HasSubstr("max_others_cpu nan"));
  EXPECT_THAT(message({.max_own_throttled_periods = -1}), HasSubstr("throttled_periods -1"));
}

}  // namespace
}  // namespace throttletest

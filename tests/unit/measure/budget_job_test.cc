// Budgets on jobs: elapsed time, its ratio to an unlimited run, exit status, and what a job that
// failed or was stopped makes of every other budget.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "support/measurement_builder.h"
#include "throttletest/measure/budget.h"

namespace throttletest {
namespace {

using std::chrono::nanoseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

constexpr Comparison kBelow = Comparison::kBelow;
constexpr Comparison kAtMost = Comparison::kAtMost;

// One thread with 1 s of work at 25 ms per 100 ms.
MeasurementBuilder Quarter() {
  return MeasurementBuilder().Quota(25ms).Throttled(40, 40, 3s).Usage(1s).Job(4s);
}
MeasurementBuilder Free() {
  return MeasurementBuilder().NoQuota().Throttled(0, 0, 0s).Usage(1s).Job(1s);
}

TEST(BudgetElapsed, IsMetBelowTheBoundAndMissedAtIt) {
  const Measurement m = Quarter().Build();
  ASSERT_TRUE(m.validity.trusted()) << m.validity.ToString();
  const BudgetResult met = Budget::Elapsed(kBelow, 4001ms).Evaluate(m);
  EXPECT_EQ(met.verdict, Verdict::kMet) << met.explanation;
  EXPECT_EQ(met.value, 4000);
  EXPECT_EQ(met.unit, "ms");
  EXPECT_FALSE(met.interval.has_value());
  EXPECT_EQ(Budget::Elapsed(kBelow, 4s).Evaluate(m).verdict, Verdict::kMissed);
  EXPECT_EQ(Budget::Elapsed(kAtMost, 4s).Evaluate(m).verdict, Verdict::kMet);
}

TEST(BudgetElapsed, SaysWhyAndWhichCpusWouldHaveHeld) {
  EXPECT_THAT(
      Budget::Elapsed(kBelow, 2s).Evaluate(Quarter().Build()).explanation,
      HasSubstr("elapsed time 4 s is not below 2 s (exited with status 0), 100.0 % over the "
                "bound. 40 of 40 periods throttled, 3.00 s in total over all CPUs = 75 % "
                "of the elapsed time; it used 1.00 s CPU in 4.00 s = 0.25 CPUs. cpus >= "
                "0.55 would have held (1.00 s CPU in 2 s); without throttling it would "
                "have taken about 1.00 s (1.0 thread at once)."));
}

TEST(BudgetElapsed, SaysThatNoLimitWouldHaveHeld) {
  EXPECT_THAT(Budget::Elapsed(kBelow, 900ms).Evaluate(Quarter().Build()).explanation,
              HasSubstr("No limit would have held 900 ms: without throttling it would have taken "
                        "about 1.00 s (1.0 thread at once)."));
}

TEST(BudgetElapsed, DoesNotBlameAQuotaThatNeverThrottledOrIsNotThere) {
  const Measurement idle =
      MeasurementBuilder().Quota(25ms).Throttled(40, 0, 0s).Usage(100ms).Job(4s).Build();
  EXPECT_THAT(Budget::Elapsed(kBelow, 2s).Evaluate(idle).explanation,
              HasSubstr("0 of 40 periods throttled: the quota is not the cause. It used 100.0 ms "
                        "CPU in 4.00 s = 0.03 CPUs."));
  EXPECT_THAT(Budget::Elapsed(kBelow, 500ms).Evaluate(Free().Build()).explanation,
              HasSubstr("No CPU quota is in force: look elsewhere for the cause."));
}

TEST(BudgetElapsed, OfAJobThatFailedIsNeverMet) {
  MeasurementBuilder failed = Quarter();
  failed.inputs().job->end.exit_code = 3;
  failed.inputs().job->end.logs = "reading input\nno such file: in.csv\n";
  const BudgetResult quick = Budget::Elapsed(kBelow, 10s).Evaluate(failed.Build());
  EXPECT_EQ(quick.verdict, Verdict::kInconclusive);
  EXPECT_THAT(quick.explanation,
              HasSubstr("the job exited with status 3; its last lines: reading input; no such "
                        "file: in.csv"));
  const BudgetResult slow = Budget::Elapsed(kBelow, 2s).Evaluate(failed.Build());
  EXPECT_EQ(slow.verdict, Verdict::kMissed);
  EXPECT_THAT(slow.explanation, HasSubstr("The job exited with status 3."));
}

MeasurementBuilder TimedOut() {
  MeasurementBuilder builder = Quarter();
  JobRun& job = *builder.inputs().job;
  job.elapsed = Outcome<nanoseconds>::Inconclusive("the job did not end by itself");
  job.timed_out = job.end.stopped_by_us = true;
  job.timeout = 4s;
  job.end.exit_code.reset();
  builder.inputs().alive = true;
  return builder;
}

TEST(BudgetElapsed, OfAJobThatWasStoppedIsOnlyKnownToBeLonger) {
  const Measurement m = TimedOut().Build();
  ASSERT_TRUE(m.validity.trusted()) << m.validity.ToString();
  EXPECT_EQ(Budget::Elapsed(kBelow, 4s).Evaluate(m).verdict, Verdict::kMissed);
  const BudgetResult longer = Budget::Elapsed(kBelow, 5s).Evaluate(m);
  EXPECT_EQ(longer.verdict, Verdict::kInconclusive);
  EXPECT_THAT(longer.explanation,
              AllOf(HasSubstr("was stopped after its timeout of 4 s"),
                    HasSubstr("nobody knows how much longer it would have taken")));
}

TEST(BudgetElapsed, OfAServiceIsInconclusive) {
  const BudgetResult r = Budget::Elapsed(kBelow, 1h).Evaluate(MeasurementBuilder().Build());
  EXPECT_EQ(r.verdict, Verdict::kInconclusive);
  EXPECT_THAT(r.explanation, HasSubstr("a service was measured, not a job that ends"));
}

TEST(BudgetOfAJob, KnowsNoRequests) {
  for (const char* text :
       {"p99<60m", "error_ratio<=1", "failed_requests<=0", "throttled_bursts<=9", "workers<=9",
        "queue_depth_1<=60m", "threads_over_quota<=9", "start_lag_p99<60m", "unused_limit<=1"}) {
    const BudgetResult r = ParseBudget(text).Evaluate(Quarter().Build());
    EXPECT_EQ(r.verdict, Verdict::kInconclusive) << text;
    EXPECT_THAT(r.explanation, HasSubstr("nothing was sent to it")) << text;
  }
}

TEST(BudgetOfAJob, JudgesItsCounters) {
  const Measurement m = Quarter().Build();
  EXPECT_EQ(ParseBudget("cpu_usage<0.26").Evaluate(m).verdict, Verdict::kMet);
  EXPECT_EQ(ParseBudget("memory_peak<65MiB").Evaluate(m).verdict, Verdict::kMet);
  EXPECT_EQ(ParseBudget("oom_kills<=0").Evaluate(m).verdict, Verdict::kMet);
  EXPECT_EQ(ParseBudget("throttled_time_per_second<0.8").Evaluate(m).verdict, Verdict::kMet);
  const BudgetResult ratio = ParseBudget("throttle_ratio<0.05").Evaluate(m);
  EXPECT_EQ(ratio.verdict, Verdict::kMissed);
  EXPECT_THAT(ratio.explanation,
              HasSubstr("The job had 1.0 thread at once: cpus >= 1.05 would not have throttled it, "
                        "and it would have taken about 1.00 s instead of 4.00 s."));
}

// A quarter of a ratio is not a ratio, and a count that is low so far may still grow.
TEST(BudgetOfAJob, ThatWasStoppedIsAPartOnly) {
  const Measurement m = TimedOut().Build();
  for (const char* text : {"throttle_ratio<0.05", "throttle_ratio<=1", "cpu_usage<9",
                           "memory_peak<1GiB", "oom_kills<=0", "throttled_periods<99"}) {
    const BudgetResult r = ParseBudget(text).Evaluate(m);
    EXPECT_EQ(r.verdict, Verdict::kInconclusive) << text;
    EXPECT_THAT(r.explanation, HasSubstr("was stopped after its timeout of 4 s")) << text;
  }
  EXPECT_EQ(ParseBudget("throttled_periods<40").Evaluate(m).verdict, Verdict::kMissed);
  EXPECT_EQ(ParseBudget("memory_peak<1MiB").Evaluate(m).verdict, Verdict::kMissed);
}

TEST(BudgetExitStatus, SaysHowAJobFailed) {
  const Budget succeeds = Budget::ExitStatus(kAtMost, 0);
  EXPECT_EQ(succeeds.Evaluate(Quarter().Build()).verdict, Verdict::kMet);
  EXPECT_EQ(succeeds.Describe(), "succeeds");
  EXPECT_EQ(succeeds.DescribeNegation(), "does not succeed");

  MeasurementBuilder killed = Quarter();
  killed.inputs().job->end.exit_code.reset();
  killed.inputs().job->end.signal = SIGKILL;
  killed.inputs().job->end.logs = "half way\n";
  const BudgetResult r = succeeds.Evaluate(killed.Build());
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_EQ(r.value, 137);
  EXPECT_THAT(
      r.explanation,
      AllOf(HasSubstr("exit status 137 is above 0 (was killed by SIGKILL, no OOM recorded)"),
            HasSubstr("The job was killed by SIGKILL, no OOM recorded; its last lines: half "
                      "way.")));
  EXPECT_EQ(succeeds.Evaluate(TimedOut().Build()).verdict, Verdict::kMissed);

  MeasurementBuilder unknown = Quarter();
  unknown.inputs().job->end.exit_code.reset();
  EXPECT_EQ(succeeds.Evaluate(unknown.Build()).verdict, Verdict::kInconclusive);
}

TEST(BudgetExitStatus, OfAJobWhoseChildWasOomKilledIsNotSuccess) {
  MeasurementBuilder builder = Quarter();
  builder.inputs().job->end.oom_kills = 1;
  builder.inputs().after->memory.oom_kills = 1;
  const Measurement m = builder.Build();
  EXPECT_TRUE(m.validity.trusted()) << "how a job ends is its result: " << m.validity.ToString();
  EXPECT_FALSE(m.job->succeeded());
  EXPECT_EQ(Budget::ExitStatus(kAtMost, 0).Evaluate(m).verdict, Verdict::kMissed);
  EXPECT_EQ(Budget::OomKills(kAtMost, 0).Evaluate(m).verdict, Verdict::kMissed);
  EXPECT_EQ(Budget::Elapsed(kBelow, 1h).Evaluate(m).verdict, Verdict::kInconclusive);
}

TEST(BudgetElapsedRatio, IsToTheUnlimitedRun) {
  const Budget four = Budget::ElapsedRatio(kAtMost, 4).Against(ReferenceOf(Free().Build()));
  const BudgetResult met = four.Evaluate(Quarter().Build());
  EXPECT_EQ(met.verdict, Verdict::kMet) << met.explanation;
  EXPECT_EQ(met.value, 4);
  EXPECT_EQ(met.unit, "times");
  const BudgetResult missed = Budget::ElapsedRatio(kBelow, 2)
                                  .Against(ReferenceOf(Free().Build()))
                                  .Evaluate(Quarter().Build());
  EXPECT_EQ(missed.verdict, Verdict::kMissed);
  EXPECT_THAT(missed.explanation,
              AllOf(HasSubstr("elapsed time against that of the unlimited run 4.00 times is not "
                              "below 2 times (4 s under CPU 25 ms per 100 ms (0.25 CPUs), 1 s "
                              "under none)"),
                    HasSubstr("cpus >= 0.55 would have held (1.00 s CPU in 2 s)")));
}

// What the ratio says about `unlimited` when it must not be judged.
std::string Refused(MeasurementBuilder unlimited, MeasurementBuilder job = Quarter()) {
  const BudgetResult r = Budget::ElapsedRatio(kBelow, 100)
                             .Against(ReferenceOf(unlimited.Build()))
                             .Evaluate(job.Build());
  EXPECT_EQ(r.verdict, Verdict::kInconclusive) << r.explanation;
  return r.explanation;
}

TEST(BudgetElapsedRatio, IsInconclusiveUnlessBothRunsAreTrustedAndOfOneMachine) {
  MeasurementBuilder other = Free();
  other.inputs().environment.kernel = "5.10.0-old";
  EXPECT_THAT(Refused(other),
              HasSubstr("the kernel is 6.1.0-test here and was 5.10.0-old in the unlimited run"));
  other = Free();
  other.inputs().environment.online_cpus = 4;
  EXPECT_THAT(Refused(other), HasSubstr("the number of online CPUs is 8 here and was 4"));
  other = Free();
  other.inputs().environment.cpu_model = "Other CPU";
  EXPECT_THAT(Refused(other), HasSubstr("the CPU is Test CPU here"));
  other = Free();
  other.inputs().request = "image:2 sysbench cpu run";
  EXPECT_THAT(Refused(other),
              HasSubstr("the unlimited run was of another job, \"image:2 sysbench cpu run\""));
  other = Free();
  other.inputs().launcher = "docker";
  EXPECT_THAT(Refused(other), HasSubstr("the launcher is cgroup here and was docker"));
  other = Free();
  other.inputs().job->end.exit_code = 1;
  EXPECT_THAT(Refused(other), HasSubstr("of the unlimited run: its job exited with status 1"));
  EXPECT_THAT(Refused(Free().Host(0.9)),
              HasSubstr("of the unlimited run: it cannot be trusted: other processes used"));
  EXPECT_THAT(Refused(Free(), Quarter().Host(0.9)), HasSubstr("the run cannot be trusted"));
  EXPECT_THAT(Refused(MeasurementBuilder()), HasSubstr("another job"));
  const BudgetResult alone = Budget::ElapsedRatio(kBelow, 100).Evaluate(Quarter().Build());
  EXPECT_EQ(alone.verdict, Verdict::kInconclusive);
  EXPECT_THAT(alone.explanation, HasSubstr("there is no unlimited run to compare with"));
}

TEST(BudgetElapsed, IsInconclusiveWithinWhatNobodySawOfTheStart) {
  MeasurementBuilder builder;
  builder.Job(990ms);
  builder.inputs().job->at_most_before = 20ms;
  const Measurement m = builder.Build();
  ASSERT_TRUE(m.validity.trusted()) << m.validity.ToString();
  EXPECT_EQ(Budget::Elapsed(kBelow, 1020ms).Evaluate(m).verdict, Verdict::kMet);
  EXPECT_EQ(Budget::Elapsed(kBelow, 980ms).Evaluate(m).verdict, Verdict::kMissed);
  const BudgetResult between = Budget::Elapsed(kBelow, 1s).Evaluate(m);
  EXPECT_EQ(between.verdict, Verdict::kInconclusive);
  EXPECT_THAT(between.explanation, HasSubstr("nobody saw its first instruction"));
  // A tenth of the elapsed time is more than can be trusted.
  builder.inputs().job->at_most_before = 120ms;
  EXPECT_THAT(builder.Build().validity.ToString(),
              HasSubstr("the job may have begun 120 ms before it was seen to run, above 99 ms"));
}

TEST(BudgetElapsedRatio, OfAJobThatWasStoppedIsOnlyKnownToBeLarger) {
  const JobReference free = ReferenceOf(Free().Build());
  EXPECT_EQ(Budget::ElapsedRatio(kBelow, 3).Against(free).Evaluate(TimedOut().Build()).verdict,
            Verdict::kMissed);
  EXPECT_EQ(Budget::ElapsedRatio(kBelow, 5).Against(free).Evaluate(TimedOut().Build()).verdict,
            Verdict::kInconclusive);
}

TEST(BudgetOfAJob, IsInconclusiveWhereTheCountersWentWithTheContainer) {
  MeasurementBuilder builder = Quarter();
  builder.inputs().after.reset();
  builder.inputs().after_error = "cgroup is gone";
  const Measurement m = builder.Build();
  EXPECT_FALSE(m.validity.trusted());
  for (const char* text : {"elapsed<60m", "exit_status<=0", "throttle_ratio<=1", "oom_kills<=0"}) {
    EXPECT_EQ(ParseBudget(text).Evaluate(m).verdict, Verdict::kInconclusive) << text;
  }
}

TEST(BudgetOfAJob, OfOneThatLeftItsCgroupOrWasInterruptedIsInconclusive) {
  MeasurementBuilder moved = Quarter();
  moved.inputs().trouble = "process 17 is in cpu cgroup / instead of /svc";
  EXPECT_THAT(moved.Build().validity.ToString(), HasSubstr("process 17 is in cpu cgroup /"));
  MeasurementBuilder interrupted = Quarter();
  interrupted.inputs().interrupted = true;
  EXPECT_EQ(interrupted.Build().validity.ToString(), "interrupted when the job had run for 4 s");
  EXPECT_EQ(Budget::Elapsed(kBelow, 1h).Evaluate(interrupted.Build()).verdict,
            Verdict::kInconclusive);
}

TEST(BudgetOfAJob, IsParsedAndWrittenBack) {
  for (const char* text :
       {"elapsed<10s", "elapsed<=1500ms", "elapsed_ratio<2.2", "exit_status<=0"}) {
    EXPECT_EQ(ParseBudget(text).ToString(), text);
  }
  EXPECT_EQ(ParseBudget("elapsed<10s").Describe(), "has an elapsed time below 10 s");
  EXPECT_THAT(ParseBudget("elapsed_ratio<2").DescribeNegation(), HasSubstr("of 2 times or more"));
  EXPECT_THROW(ParseBudget("elapsed<fast"), Error);
  EXPECT_THROW(ParseBudget("elapsed_p99<1s"), Error);
  EXPECT_THROW(ParseBudget("exit_status<=-1"), Error);
  EXPECT_THROW(ParseBudget("elapsed_ratio<2x"), Error);
}

}  // namespace
}  // namespace throttletest

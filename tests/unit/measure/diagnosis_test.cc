// The sentences after a missed budget: why, and what would have held.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/demand.h"
#include "support/measurement_builder.h"
#include "throttletest/measure/budget.h"

namespace throttletest {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

std::string ExplainP99(std::chrono::nanoseconds bound, const Measurement& m) {
  const BudgetResult r =
      Budget::ResponseTime(Percentile(99), Comparison::kBelow, bound).Evaluate(m);
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  return r.explanation;
}

// Bursts of 164 ms CPU on 2 CPUs under a quota of 100 ms per 100 ms; `slow` of 480 requests take
// 285.4 ms, all but 4 of them in throttled batches.
MeasurementBuilder ThrottledBursts(std::size_t slow) {
  MeasurementBuilder b;
  b.Quota(100ms).Batches(8, 60).Wall(60s).Usage(10s).Throttled(277, 77, 30s).BatchCpu(164ms);
  b.Cpuset("0-1");
  for (std::size_t i = 0; i < slow - 4; ++i) b.Respond(i, 285'400us);
  for (std::size_t i = 476; i < 480; ++i) b.Respond(i, 285'400us);
  for (std::size_t batch = 0; batch < (slow - 4 + 7) / 8; ++batch) {
    b.ThrottleAt(static_cast<std::int64_t>(batch), 150ms);
  }
  return b;
}

TEST(Diagnosis, CallsItOverloadWhenLessIsAnsweredThanOffered) {
  MeasurementBuilder b;
  b.NoQuota().Batches(1, 101).Wall(101s);
  for (std::size_t i = 0; i < 101; ++i) b.Respond(i, static_cast<int>(i + 1) * 1s);
  EXPECT_THAT(ExplainP99(2s, b.Build()),
              HasSubstr("Overload: 1.0 requests/s were offered and 0.5 answered meanwhile"));
  EXPECT_THAT(ExplainP99(150ms, ThrottledBursts(75).Build()), Not(HasSubstr("Overload")));
}

TEST(Diagnosis, TellsCauseAndRemedyOfASlowBurst) {
  EXPECT_EQ(
      ExplainP99(150ms, ThrottledBursts(75).Build()),
      "P99 285.4 ms (95 % interval 285.4 ms and above, 60 batches) is not below 150 ms "
      "(nearest rank, 480 requests), 90.3 % over the bound. "
      "77 of 277 periods throttled; 71 of the 75 slowest requests overlap a throttled "
      "window. One burst needs 164 ms CPU, the quota gives 100 ms per 100 ms period: cpus >= "
      "1.8 would fit it (164 ms and a slice of 5 ms for each of 2 CPUs), and so would a burst "
      "of 74 ms on top of this quota or a period of 180 ms at the same 1 CPU.");
}

// Limits that were read from a file: its lines are named for what they limit.
TEST(Diagnosis, NamesTheLineThatDeclaresTheLimit) {
  MeasurementBuilder b = ThrottledBursts(75);
  b.inputs().limits.origins = {{"compose.yaml", 4, "services.web.cpus", "1"},
                               {"compose.yaml", 5, "services.web.mem_limit", "64m"}};
  const Measurement m = b.Build();
  EXPECT_THAT(ExplainP99(150ms, m),
              EndsWith(" at the same 1 CPU. The limit is declared in compose.yaml:4: "
                       "services.web.cpus: 1."));
  EXPECT_THAT(Budget::ThrottleRatio(Comparison::kBelow, 0.05).Evaluate(m).explanation,
              EndsWith("The limit is declared in compose.yaml:4: services.web.cpus: 1."));
  EXPECT_THAT(Budget::MemoryPeak(Comparison::kBelow, 1_MiB).Evaluate(m).explanation,
              EndsWith("The limit is declared in compose.yaml:5: services.web.mem_limit: 64m."));
  EXPECT_THAT(Budget::ThrottleRatio(Comparison::kBelow, 0.5).Evaluate(m).explanation,
              Not(HasSubstr("declared")));
  EXPECT_THAT(ExplainP99(150ms, ThrottledBursts(75).Build()), Not(HasSubstr("declared")));
}

TEST(Diagnosis, OffersABurstOnlyWithinTheQuotaAndWhenItIsSavedUpAgain) {
  // 174 ms with a quota of 50 ms would need a burst above the kernel's bound, the quota.
  EXPECT_THAT(ExplainP99(150ms, ThrottledBursts(75).Quota(50ms).Build()),
              EndsWith(", and so would a period of 350 ms at the same 0.5 CPUs."));
  // Mean use at the quota leaves nothing to save up.
  EXPECT_THAT(ExplainP99(150ms, ThrottledBursts(75).Usage(59s).Build()),
              Not(HasSubstr("and so would")));
}

TEST(Diagnosis, OffersNoPeriodAboveTheKernelsBound) {
  // 174 ms at 0.17 CPUs would take a period of more than 1 s.
  MeasurementBuilder b = ThrottledBursts(75).Quota(17ms).Usage(6s);
  EXPECT_THAT(ExplainP99(150ms, b.Build()), Not(HasSubstr("a period of")));
}

TEST(Diagnosis, AdvisesForNearlyAllBursts) {
  Measurement m = ThrottledBursts(75).Build();
  // Rank 57 of 60 is the 95th percentile.
  const auto larger = Outcome<std::chrono::nanoseconds>::Value(171ms);
  m.batches.at(30).cpu = m.batches.at(31).cpu = m.batches.at(32).cpu = larger;
  EXPECT_THAT(ExplainP99(150ms, m), HasSubstr("One burst needs 164 ms CPU, the quota gives"));
  m.batches.at(33).cpu = larger;
  EXPECT_THAT(
      ExplainP99(150ms, m),
      HasSubstr("One burst needs 164 ms CPU at the median and 171 ms at P95, the quota gives "
                "100 ms per 100 ms period: cpus >= 1.9 would fit it (171 ms and"));
}

TEST(Diagnosis, WeighsThreadsAgainstTheQuota) {
  EXPECT_THAT(ExplainP99(150ms, ThrottledBursts(75).Threads(11).Build()),
              EndsWith(" 11 threads can use 2 CPUs at once and use up 100 ms in 50 ms; 1 at a time "
                       "would not be stopped and would need 164 ms for a burst."));
  // No number of threads fits half a CPU.
  EXPECT_THAT(ExplainP99(150ms, ThrottledBursts(75).Quota(50ms).Threads(11).Build()),
              EndsWith(" 11 threads can use 2 CPUs at once and use up 50 ms in 25 ms."));
  EXPECT_THAT(ExplainP99(150ms, ThrottledBursts(75).Threads(1).Build()), Not(HasSubstr("at once")));
  EXPECT_THAT(ExplainP99(150ms, ThrottledBursts(75).Threads(1).Build()),
              HasSubstr("(164 ms and a slice of 5 ms for 1 CPU)"));
}

TEST(Diagnosis, NeverAsksForMoreThanTheCpusCanUse) {
  MeasurementBuilder b = ThrottledBursts(75).Cpuset("0");
  EXPECT_THAT(ExplainP99(150ms, b.Quota(50ms).Build()),
              HasSubstr("cpus >= 1 would fit it, which is all that 1 CPU can use"));
}

TEST(Diagnosis, SaysWhenTheQuotaIsNotTheCause) {
  const std::string text =
      ExplainP99(20ms, MeasurementBuilder().Throttled(200, 0, 0s).BatchCpu(160ms).Build());
  EXPECT_THAT(text, HasSubstr("Not throttled (0 of 200 periods): the quota is not the cause."));
  EXPECT_THAT(text, HasSubstr("One burst needs 160.0 ms CPU, which takes at least 20.0 ms on the 8 "
                              "CPUs the service may use, and the slow ones take 30.0 ms at the "
                              "median: the service itself is slow."));
  EXPECT_THAT(text, Not(HasSubstr("cpus >=")));
  EXPECT_THAT(text, Not(HasSubstr("busy")));
}

TEST(Diagnosis, TellsAServiceThatWaitsFromOneThatComputes) {
  MeasurementBuilder b;
  b.Batches(1, 200, 100ms).Usage(200 * 2ms);
  EXPECT_THAT(
      ExplainP99(20ms, b.Build()),
      EndsWith("A request needs 2.0 ms CPU on average, and the slow ones take 30.0 ms at the "
               "median: the service itself is slow. It waits, or works on fewer threads than "
               "there are CPUs, and no CPU limit changes that."));
  EXPECT_THAT(ExplainP99(20ms, b.Usage(200 * 25ms).Build()),
              EndsWith("A request needs 25.0 ms CPU on average, and the slow ones take 30.0 ms at "
                       "the median: the service itself is slow."));
  // Work that queues up before CPUs that are all in use.
  b.NoQuota().Cpuset("0").Usage(200 * 10ms).Wall(2s);
  EXPECT_THAT(ExplainP99(20ms, b.Build()),
              EndsWith("the service itself is slow, it used 1.00 of the 1 CPU it may use."));
}

TEST(Diagnosis, TellsABusyHostFromASlowService) {
  MeasurementBuilder b;
  b.Batches(1, 200, 100ms).Usage(200 * 2ms).Host(0.87, 0.03);
  for (std::size_t i = 0; i < 10; ++i) b.StartLag(i, 12ms);
  b.inputs().bounds.max_others_cpu = 1;
  const std::string text = ExplainP99(20ms, b.Build());
  EXPECT_THAT(text, HasSubstr("Not throttled (0 of 200 periods): the quota is not the cause."));
  EXPECT_THAT(text,
              EndsWith("take 30.0 ms at the median. The host was busy: other processes used 87 "
                       "% of its CPU time, its hypervisor took 3 % of its CPU time, start lag "
                       "P99 12.0 ms."));
  EXPECT_THAT(text, Not(HasSubstr("itself is slow")));
}

TEST(Diagnosis, MentionsAHostThatIsBusyBelowTheGatesBound) {
  MeasurementBuilder b;
  const std::string busy = "The host was busy: other processes used 20 % of its CPU time.";
  EXPECT_THAT(ExplainP99(20ms, b.BatchCpu(160ms).Host(0.2).Build()), EndsWith(busy));
  EXPECT_THAT(ExplainP99(150ms, ThrottledBursts(75).Host(0.2).Build()), EndsWith(busy));
  EXPECT_THAT(ExplainP99(20ms, b.Host(0.09).Build()), Not(HasSubstr("busy")));
  EXPECT_THAT(ExplainP99(20ms, b.Host(0, 0.04).Build()),
              EndsWith("The host was busy: its hypervisor took 4 % of its CPU time."));
}

TEST(Diagnosis, SaysWhenThereIsNoQuotaAndWhatTheCpusetAllows) {
  const std::string text =
      ExplainP99(20ms, MeasurementBuilder().NoQuota().Cpuset("3").BatchCpu(160ms).Build());
  EXPECT_THAT(text, HasSubstr("No CPU quota is in force: look elsewhere for the cause."));
  EXPECT_THAT(text, HasSubstr("at least 160.0 ms on the 1 CPU the service may use"));
}

TEST(Diagnosis, DoesNotBlameTheQuotaForRequestsOutsideThrottledWindows) {
  MeasurementBuilder b;
  b.Quota(100ms).Throttled(200, 1, 1ms).BatchCpu(164ms).ThrottleAt(19, 900ms);
  for (std::size_t i = 0; i < 80; ++i) b.Respond(i, 200ms);
  const std::string text = ExplainP99(150ms, b.Build());
  EXPECT_THAT(text, HasSubstr("0 of the 80 slowest requests overlap a throttled window. The quota "
                              "is not their cause."));
  EXPECT_THAT(text, Not(HasSubstr("cpus >=")));
}

TEST(Diagnosis, SaysWhenTheQuotaExplainsOnlySomeOfThem) {
  MeasurementBuilder b;
  b.Quota(100ms).Throttled(200, 4, 10ms).BatchCpu(164ms);
  for (std::int64_t batch = 0; batch < 4; ++batch) b.ThrottleAt(batch, 100ms);
  for (std::size_t i = 0; i < 80; ++i) b.Respond(i, 200ms);
  std::string text = ExplainP99(150ms, b.Build());
  EXPECT_THAT(text, HasSubstr("32 of the 80 slowest requests overlap a throttled window. The quota "
                              "alone is not their cause. One burst needs 164.0 ms CPU, which"));
  EXPECT_THAT(text, HasSubstr("cpus >= 2.1 would fit it"));
  // Of 160 it is too few for advice.
  for (std::size_t i = 80; i < 160; ++i) b.Respond(i, 200ms);
  text = ExplainP99(150ms, b.Build());
  EXPECT_THAT(text, HasSubstr("32 of the 160 slowest requests"));
  EXPECT_THAT(text, Not(HasSubstr("cpus >=")));
}

TEST(Diagnosis, CountsFailedRequestsAsSlow) {
  MeasurementBuilder b = ThrottledBursts(75);
  b.TimeOut(0, 400ms).inputs().load.records[1].sent_ns = -1;
  b.Fail(1, 0, 1ms, "connection refused");
  EXPECT_THAT(
      ExplainP99(150ms, b.Build()),
      HasSubstr("2 of 480 requests failed (0.4 %): connection refused (1), timed out (1)."));
}

TEST(Diagnosis, NamesTheAncestorWhoseQuotaMustGrow) {
  MeasurementBuilder b = ThrottledBursts(75).Quota(400ms).Throttled(277, 0, 0s);
  Measurement m = b.Ancestor("/job", 100ms, 277, 77).Build();
  // Such a service would not be started; here it is the wording that counts.
  ASSERT_FALSE(m.validity.trusted());
  m.validity = {};
  const std::string text = ExplainP99(150ms, m);
  EXPECT_THAT(text, HasSubstr("77 of 277 periods throttled by ancestor /job (100 ms per 100 ms "
                              "(1.0 CPUs)), ratio 0.28"));
  EXPECT_THAT(text, HasSubstr("cpus >= 1.8 at /job would fit it (164 ms and a slice"));
}

TEST(Diagnosis, JudgesAConstantRateByItsMean) {
  MeasurementBuilder b;
  b.Quota(50ms).Batches(1, 1000, 10ms).Wall(10s).Usage(6200ms).Throttled(100, 99, 5s);
  const BudgetResult r = Budget::ThrottleRatio(Comparison::kBelow, 0.05).Evaluate(b.Build());
  EXPECT_THAT(r.explanation, EndsWith("The load needs 0.62 CPUs on average, the quota gives 0.5: "
                                      "cpus >= 0.7 would fit it."));
}

TEST(Diagnosis, DoesNotInventANeedWhenTheMeanFits) {
  MeasurementBuilder b;
  b.Quota(50ms).Batches(1, 1000, 10ms).Wall(10s).Usage(3s).Throttled(100, 20, 1s);
  const BudgetResult r = Budget::ThrottleRatio(Comparison::kBelow, 0.05).Evaluate(b.Build());
  EXPECT_THAT(r.explanation, HasSubstr("needs 0.30 CPUs on average, the quota gives 0.5: requests "
                                       "meet in one period"));
  EXPECT_THAT(r.explanation, Not(HasSubstr("cpus >=")));
}

TEST(Diagnosis, DoesNotInventANeedWhenTheBurstFits) {
  MeasurementBuilder b;
  b.Quota(210ms).Throttled(200, 20, 1s).BatchCpu(164ms).ThrottleAt(0, 100ms);
  const BudgetResult r = Budget::ThrottleRatio(Comparison::kBelow, 0.05).Evaluate(b.Build());
  EXPECT_THAT(r.explanation, HasSubstr("One burst needs 164 ms CPU and the quota gives 210 ms per "
                                       "100 ms period, which holds it"));
  EXPECT_THAT(r.explanation, Not(HasSubstr("cpus >=")));
}

TEST(QuotaToHold, IsTheWorkOrWhatTheCpusCanDoInAPeriod) {
  EXPECT_EQ(internal::QuotaToHold(164ms, 100ms, 8), 164ms);
  EXPECT_EQ(internal::QuotaToHold(164ms, 100ms, 1), 100ms);
  EXPECT_EQ(internal::QuotaToHold(164ms, 10ms, 8), 80ms);
  EXPECT_EQ(internal::QuotaToHold(164ms, 100ms, 0), 164ms);
}

TEST(TenthsOfCpu, RoundsUp) {
  EXPECT_EQ(internal::TenthsOfCpu(164ms, 100ms), 17);
  EXPECT_EQ(internal::TenthsOfCpu(160ms, 100ms), 16);
  EXPECT_EQ(internal::TenthsOfCpu(160ms + 1ns, 100ms), 17);
  EXPECT_EQ(internal::TenthsOfCpu(1ms, 100ms), 1);
}

}  // namespace
}  // namespace throttletest

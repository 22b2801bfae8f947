// Service times, queues and workers with the published figures: a job of 31.4 s under the tight
// limit and 16.9 s under the lifted one, a time-out of 240 s, and five requests at once that came
// back after 9.05, 14.05, 20.38, 25.87 and 32.41 s.
#include "measure/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/measurement_builder.h"
#include "throttletest/base/error.h"
#include "throttletest/measure/budget.h"
#include "throttletest/measure/service_time.h"
#include "throttletest/measure/workers.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr Comparison kAtMost = Comparison::kAtMost;

// Jobs one at a time, `worst` the longest of them.
MeasurementBuilder Jobs(nanoseconds worst, int count = 6) {
  MeasurementBuilder b;
  b.Batches(1, count, 60s);
  for (int i = 0; i < count; ++i) b.Respond(static_cast<std::size_t>(i), worst - 1s);
  b.Respond(2, worst);
  return b;
}

BudgetResult Queue(int depth, nanoseconds timeout, const Measurement& m) {
  return Budget::QueueDepth(depth, timeout).Evaluate(m);
}

TEST(QueueDepth, TheTightLimitRejectsADepthOf8) {
  const Measurement m = Jobs(31400ms).Quota(175ms).Build();
  const BudgetResult r = Queue(8, 240s, m);
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_DOUBLE_EQ(r.value.value(), 251'200);
  EXPECT_EQ(r.unit, "ms");
  EXPECT_THAT(
      r.explanation,
      AllOf(
          HasSubstr("8 x worst service time 251.2 s is above 240 s (8 x 31.4 s, the worst of 6 "
                    "requests sent one at a time, under CPU 175 ms per 100 ms (1.75 CPUs)), 4.7 % "
                    "over the bound."),
          // 240 / 31.4 = 7.6: 7 fit, and those who cut the depth to 6 kept a margin.
          HasSubstr("A depth of 7 would fit: 7 x 31.4 s = 219.8 s leaves 20.2 s, less than one "
                    "more job; 6 leaves 51.6 s.")));
}

TEST(QueueDepth, TheLiftedLimitHoldsADepthOf8With105SecondsToSpare) {
  const Measurement m = Jobs(16900ms).Quota(350ms).Build();
  const BudgetResult r = Queue(8, 240s, m);
  EXPECT_EQ(r.verdict, Verdict::kMet);
  EXPECT_DOUBLE_EQ(r.value.value(), 135'200);
  EXPECT_THAT(r.explanation, AllOf(HasSubstr("8 x worst service time 135.2 s is at most 240 s"),
                                   HasSubstr("That leaves 104.8 s; up to 14 would fit.")));
}

TEST(QueueDepth, HoldsWhatEndsExactlyAtTheTimeout) {
  const Measurement m = Jobs(30s).Build();
  EXPECT_EQ(Queue(8, 240s, m).verdict, Verdict::kMet);
  EXPECT_EQ(Queue(8, 240s - 1ns, m).verdict, Verdict::kMissed);
}

TEST(QueueDepth, SaysWhenNoDepthFits) {
  EXPECT_THAT(Queue(1, 20s, Jobs(30s).Build()).explanation,
              HasSubstr("No depth would fit: one job alone takes longer than 20 s."));
}

TEST(QueueAdvice, TellsTheSpareOfBothSides) {
  using internal::QueueAdvice;
  EXPECT_EQ(QueueAdvice(8, 30s, 240s), "That leaves 0 s, less than one more job; 7 leaves 30 s.");
  EXPECT_EQ(QueueAdvice(2, 30s, 45s),
            "A depth of 1 would fit: 1 x 30 s = 30 s leaves 15 s, less than one more job.");
  EXPECT_EQ(QueueAdvice(3, 30s, 240s), "That leaves 150 s; up to 8 would fit.");
}

TEST(QueueDepth, IsAFunctionOfTheDeployedLimit) {
  const Measurement m = Jobs(16900ms).Quota(350ms).Build();
  const Budget budget = Budget::QueueDepth(8, 240s);
  EXPECT_EQ(budget.DeployedUnder({.cpus = 3.5}).Evaluate(m).verdict, Verdict::kMet);
  const BudgetResult r = budget.DeployedUnder({.cpus = 1.75}).Evaluate(m);
  EXPECT_EQ(r.verdict, Verdict::kInconclusive);
  EXPECT_THAT(r.explanation,
              HasSubstr("it was measured under other limits than are declared for deployment (CPU "
                        "350 ms per 100 ms (3.5 CPUs) instead of 175 ms per 100 ms (1.75 CPUs))"));
  EXPECT_EQ(r.budget, "queue_depth_8<=240s under cpus 1.75 (175 ms per 100 ms)");
  // The same share in another period stalls differently.
  const BudgetResult period = budget.DeployedUnder({.quota = 35ms, .period = 10ms}).Evaluate(m);
  EXPECT_EQ(period.verdict, Verdict::kInconclusive);
}

TEST(QueueDepth, ADeclaredLimitThatWasNotMeasuredIsNamed) {
  const Measurement m = Jobs(16900ms).NoQuota().Build();
  const Budget budget = Budget::QueueDepth(8, 240s);
  EXPECT_THAT(budget.DeployedUnder({.cpus = 2}).Evaluate(m).explanation,
              HasSubstr("CPU unlimited instead of 200 ms per 100 ms (2.0 CPUs)"));
  EXPECT_THAT(budget.DeployedUnder({.cpuset = "40-41"}).Evaluate(m).explanation,
              HasSubstr("cpuset of all CPUs instead of 40-41"));
  EXPECT_THAT(budget.DeployedUnder({.memory = 64_MiB}).Evaluate(m).explanation,
              HasSubstr("memory unlimited instead of 67108864 bytes"));
  EXPECT_EQ(budget.DeployedUnder({}).Evaluate(m).verdict, Verdict::kMet);
  const Limits with_line{.cpus = 2, .origins = {{"compose.yaml", 6, "cpus", "2"}}};
  EXPECT_THAT(budget.DeployedUnder(with_line).Evaluate(m).explanation,
              HasSubstr("declared in compose.yaml:6: cpus: 2)"));
  EXPECT_THROW(budget.DeployedUnder({.cpus = -1}), Error);
}

TEST(QueueDepth, AnyBudgetCanBeOfTheDeployedLimit) {
  const Budget p99 = ParseBudget("p99<1s").DeployedUnder({.cpus = 2});
  EXPECT_EQ(p99.Evaluate(MeasurementBuilder().Build()).verdict, Verdict::kMet);
  EXPECT_EQ(p99.Evaluate(MeasurementBuilder().Quota(100ms).Build()).verdict,
            Verdict::kInconclusive);
  EXPECT_EQ(p99.Describe(), "has a P99 response time below 1 s under cpus 2 (200 ms per 100 ms)");
}

TEST(QueueDepth, IsInconclusiveWhenRequestsWaitedForEachOther) {
  // Eight at once, all answered after 30 ms.
  const BudgetResult r = Queue(8, 240s, MeasurementBuilder().Build());
  EXPECT_EQ(r.verdict, Verdict::kInconclusive);
  EXPECT_THAT(r.explanation,
              HasSubstr("140 of 160 requests were sent before an earlier one was answered, so that "
                        "waiting is in their times, and 8 or more at once were worked on, not one "
                        "by one. Send one at a time, further apart than 30 ms"));
}

TEST(QueueDepth, IsInconclusiveOfTooFewJobs) {
  EXPECT_THAT(
      Queue(8, 240s, Jobs(20s, 4).Build()).explanation,
      HasSubstr("the worst of 4 service times says nothing of the worst there is: measure 5"));
  EXPECT_EQ(Queue(8, 240s, Jobs(20s, 5).Build()).verdict, Verdict::kMet);
}

TEST(QueueDepth, AJobWithoutAnAnswerIsLongerThanAnyTimeout) {
  MeasurementBuilder b = Jobs(20s);
  b.TimeOut(1, 50s);
  const BudgetResult r = Queue(8, 240s, b.Build());
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_EQ(r.value, std::nullopt);
  EXPECT_THAT(r.explanation, HasSubstr("has no answer and is above 240 s (1 of 6 requests failed, "
                                       "1 of them timed out)"));
}

TEST(QueueDepth, IsInconclusiveOfARunThatIsNotTrusted) {
  const Measurement m = Jobs(20s).Host(0.9).Build();
  EXPECT_EQ(Queue(8, 240s, m).verdict, Verdict::kInconclusive);
  EXPECT_EQ(ServiceTimeOf(m).kind(), OutcomeKind::kInconclusive);
  EXPECT_EQ(WorkersOf(m).kind(), OutcomeKind::kInconclusive);
}

TEST(QueueDepth, RefusesADepthThatIsNone) {
  for (const int depth : {0, -1, 1'000'001}) EXPECT_THROW(Budget::QueueDepth(depth, 1s), Error);
}

TEST(QueueDepth, DescribesItself) {
  EXPECT_EQ(Budget::QueueDepth(8, 240s).Describe(), "holds a queue depth of 8 within 240 s");
  EXPECT_EQ(Budget::QueueDepth(8, 240s).DescribeNegation(),
            "does not hold a queue depth of 8 within 240 s");
  EXPECT_EQ(Budget::Workers(kAtMost, 1).Describe(), "works on one request at a time");
  EXPECT_EQ(Budget::Workers(kAtMost, 1).DescribeNegation(), "works on several requests at once");
}

TEST(ServiceTime, TakesTheTimesOfRequestsSentOneAtATime) {
  const Outcome<ServiceTime> outcome = ServiceTimeOf(Jobs(31400ms).Build());
  ASSERT_TRUE(outcome.has_value()) << outcome.reason();
  const ServiceTime& time = outcome.value();
  EXPECT_EQ(time.method, ServiceTime::Method::kOneAtATime);
  EXPECT_EQ(time.worst(), Latency(31400ms));
  EXPECT_EQ(time.At(Percentile(50)), Latency(30400ms));
  EXPECT_EQ(time.limits.cpu.cpus(), 2.0);
  EXPECT_EQ(time.Under(), "CPU 200 ms per 100 ms (2.0 CPUs)");
}

TEST(ServiceTime, LeavesTheStartLagOut) {
  MeasurementBuilder b = Jobs(20s);
  b.StartLag(2, 20ms);
  EXPECT_EQ(ServiceTimeOf(b.Build()).value().worst(), Latency(19980ms));
}

TEST(ServiceTime, OneRequestSentTooEarlyIsEnoughToDoubtAll) {
  MeasurementBuilder b = Jobs(20s);
  b.Respond(3, 60s + 1ms);
  EXPECT_THAT(ServiceTimeOf(b.Build()).reason(),
              AllOf(HasSubstr("1 of 6 requests were sent before an earlier one was answered"),
                    HasSubstr("further apart than 60.001 s")));
}

// --- workers

Measurement Staircase(const std::vector<nanoseconds>& answers) {
  return MeasurementBuilder().Responses(answers).Build();
}

TEST(Workers, ThePublishedStaircaseIsSerial) {
  const Measurement m = Staircase({9050ms, 14050ms, 20380ms, 25870ms, 32410ms});
  const Outcome<WorkerEstimate> outcome = WorkersOf(m);
  ASSERT_TRUE(outcome.has_value()) << outcome.reason();
  const WorkerEstimate& workers = outcome.value();
  EXPECT_TRUE(workers.is_serial());
  // Service times were all near 6 s.
  EXPECT_NEAR(static_cast<double>(workers.step.count()), 5.854e9, 1e6);
  const BudgetResult r = Budget::Workers(kAtMost, 1).Evaluate(m);
  EXPECT_EQ(r.verdict, Verdict::kMet);
  EXPECT_THAT(r.explanation,
              HasSubstr("1 at a time: 5 requests sent at once were answered after 9.050, 14.050, "
                        "20.380, 25.870, 32.410 s, in steps of 5.854 s"));
}

TEST(Workers, TheStepsOfAStaircaseAreServiceTimes) {
  const Measurement m = Staircase({9050ms, 14050ms, 20380ms, 25870ms, 32410ms});
  const Outcome<ServiceTime> time = ServiceTimeOf(m);
  ASSERT_TRUE(time.has_value()) << time.reason();
  EXPECT_EQ(time.value().method, ServiceTime::Method::kStaircase);
  EXPECT_EQ(time.value().worst(), Latency(9050ms));
  EXPECT_EQ(time.value().At(Percentile(50)), Latency(6330ms));
  EXPECT_THAT(time.value().Sample(), HasSubstr("5 steps of batches answered one by one"));
}

struct WorkersCase {
  const char* name;
  std::vector<int> answers;  // ms
  const char* workers;
};

class WorkersTable : public testing::TestWithParam<WorkersCase> {};

TEST_P(WorkersTable, AreTold) {
  std::vector<nanoseconds> answers;
  for (const int ms : GetParam().answers) answers.emplace_back(std::chrono::milliseconds(ms));
  const Outcome<WorkerEstimate> outcome = WorkersOf(Staircase(answers));
  ASSERT_TRUE(outcome.has_value()) << outcome.reason();
  EXPECT_EQ(outcome.value().ToString(), GetParam().workers);
}

INSTANTIATE_TEST_SUITE_P(
    All, WorkersTable,
    testing::Values(
        WorkersCase{"Serial", {100, 200, 300, 400, 500, 600, 700, 800}, "1"},
        WorkersCase{"SerialThreeOnly", {100, 200, 300}, "1"},
        WorkersCase{"SerialUnordered", {300, 100, 200}, "1"},
        // A quota of 50 ms in 100 ms, 20 ms of work each: some answers wait for the next period.
        WorkersCase{"SerialThrottled", {20, 40, 110, 130, 200, 220, 240, 310}, "1"},
        WorkersCase{"Two", {100, 100, 200, 200, 300, 300, 400, 400}, "2"},
        WorkersCase{"TwoOfFive", {100, 101, 200, 202, 303}, "2"},
        // Two that share one CPU: each takes twice as long, and the last has it alone.
        WorkersCase{"TwoOnOneCpu", {200, 200, 400, 400, 500}, "2"},
        WorkersCase{"Three", {100, 100, 100, 200, 200, 200, 300, 300}, "3"},
        WorkersCase{"Four", {100, 101, 102, 103, 200, 201, 202, 203}, "4"},
        WorkersCase{"Five", {100, 100, 100, 100, 100, 200, 200, 200}, "5"},
        WorkersCase{"All", {100, 100, 100, 100, 100}, "5 or more"},
        // Answered at once, but some sooner: equal steps, and yet no staircase.
        WorkersCase{"AllWithJitter", {500, 600, 700, 800, 900}, "5 or more"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Workers, AreTheMediansOverBatches) {
  MeasurementBuilder b;
  b.Batches(4, 3, 1s);
  for (std::size_t i = 0; i < 12; ++i) b.Respond(i, 100ms * static_cast<int>(i % 4 + 1));
  b.Respond(4, 300ms);  // one odd answer of the second batch
  const WorkerEstimate workers = WorkersOf(b.Build()).value();
  EXPECT_TRUE(workers.is_serial());
  EXPECT_EQ(workers.batches, 3);
  EXPECT_EQ(workers.answers.at(1), 200ms);
}

TEST(Workers, AreNotKnownOfSmallBatches) {
  EXPECT_THAT(WorkersOf(Staircase({100ms, 200ms})).reason(),
              HasSubstr("shows in batches of 3 requests or more, not of 2"));
}

TEST(Workers, AreNotKnownWhenBatchesMeet) {
  MeasurementBuilder b;
  b.Batches(4, 3, 1s).Respond(7, 1001ms);
  EXPECT_THAT(WorkersOf(b.Build()).reason(),
              HasSubstr("batch 3 was sent before all of batch 2 was answered: send them further "
                        "apart than 1.001 s"));
}

TEST(Workers, AreNotKnownWhenARequestFailed) {
  MeasurementBuilder b;
  b.Responses({100ms, 200ms, 300ms}).Fail(1, 429, 1ms, "HTTP 429");
  EXPECT_THAT(WorkersOf(b.Build()).reason(), HasSubstr("1 of 3 requests failed"));
}

TEST(Workers, AreNotKnownWhenServiceTimesDifferTooMuch) {
  const Outcome<WorkerEstimate> outcome =
      WorkersOf(Staircase({1ms, 2ms, 3ms, 4ms, 5ms, 6ms, 7ms, 1000ms}));
  EXPECT_EQ(outcome.kind(), OutcomeKind::kInconclusive);
  EXPECT_THAT(outcome.reason(), HasSubstr("fit no number of workers"));
}

TEST(Workers, ABoundWithinWhatTheyCanBeIsInconclusive) {
  const Measurement all = Staircase({100ms, 100ms, 100ms, 100ms, 100ms});
  EXPECT_EQ(Budget::Workers(kAtMost, 1).Evaluate(all).verdict, Verdict::kMissed);
  EXPECT_EQ(Budget::Workers(kAtMost, 4).Evaluate(all).verdict, Verdict::kMissed);
  const BudgetResult r = Budget::Workers(kAtMost, 6).Evaluate(all);
  EXPECT_EQ(r.verdict, Verdict::kInconclusive);
  EXPECT_THAT(r.explanation, HasSubstr("5 or more at a time"));
  EXPECT_THAT(r.explanation, HasSubstr("larger batches would tell"));
}

// --- threads against the quota

TEST(ThreadsOverQuota, CountsThoseBeyondTheQuotasCpus) {
  const Budget none = Budget::ThreadsOverQuota(kAtMost, 0);
  const auto verdict = [&](std::chrono::microseconds quota, int threads) {
    return none.Evaluate(MeasurementBuilder().Quota(quota).Threads(threads).Build()).verdict;
  };
  EXPECT_EQ(verdict(200ms, 2), Verdict::kMet);
  EXPECT_EQ(verdict(200ms, 3), Verdict::kMissed);
  EXPECT_EQ(verdict(150ms, 2), Verdict::kMet);  // 1.5 CPUs keep two busy
  EXPECT_EQ(verdict(50ms, 1), Verdict::kMet);   // there is no less than one
}

// A quota of 1.0, a host with 16 CPUs, and a program that makes a worker for each.
TEST(ThreadsOverQuota, C166SaysWhatManyThreadsDoToASmallQuota) {
  MeasurementBuilder b;
  b.Quota(100ms).Threads(16);
  b.inputs().environment.online_cpus = 16;
  const BudgetResult r = Budget::ThreadsOverQuota(kAtMost, 0).Evaluate(b.Build());
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_EQ(r.value, 15.0);
  EXPECT_THAT(r.explanation,
              AllOf(HasSubstr("number of threads over the quota 15 is above 0 (16 threads, and a "
                              "quota of 1 CPUs keeps 1 busy)"),
                    HasSubstr("use up 100 ms in 6.25 ms")));
}

TEST(ThreadsOverQuota, NeverPassesOnMissingData) {
  const Budget many = Budget::ThreadsOverQuota(kAtMost, 1000);
  const BudgetResult unknown = many.Evaluate(MeasurementBuilder().Build());
  EXPECT_EQ(unknown.verdict, Verdict::kInconclusive);
  EXPECT_THAT(unknown.explanation, HasSubstr("the service's threads are not known: not measured"));
  const BudgetResult free = many.Evaluate(MeasurementBuilder().NoQuota().Threads(1).Build());
  EXPECT_EQ(free.verdict, Verdict::kInconclusive);
  EXPECT_THAT(free.explanation, HasSubstr("no CPU quota in force"));
}

}  // namespace
}  // namespace throttletest

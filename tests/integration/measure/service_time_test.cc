// Service times, workers, saturation and threads of a real service under a real quota.
#include <gmock/gmock.h>

#include "measure/overlap.h"
#include "measure_fixture.h"
#include "throttletest/base/error.h"
#include "throttletest/measure/budget.h"
#include "throttletest/measure/service_time.h"
#include "throttletest/measure/workers.h"

namespace throttletest::test {
namespace {

using ::testing::HasSubstr;

constexpr Comparison kAtMost = Comparison::kAtMost;

class ServiceTimeTest : public MeasureServiceTest {
 protected:
  static std::unique_ptr<Service> StartWorkers(int workers, const Limits& limits) {
    ServiceSpec spec;
    spec.command = {BURN_SERVER, "--port={port}", "--workers=" + std::to_string(workers)};
    spec.limits = limits;
    spec.ready = HttpReady("/healthz");
    spec.launcher = LauncherKind::kCgroup;
    auto service = StartService(spec);
    Prefer(*service);
    return service;
  }
  static ServiceTimeOptions Short() {
    return {.requests = 6, .warm_up = 500ms, .measure = Patient()};
  }
};

TEST_F(ServiceTimeTest, DoublesWhenTheLimitIsHalved) {
  const auto service = StartWorkers(1, {.cpus = 0.5});
  const Request job = Get("/burn?ms=200");
  const Measurement tight = MeasureServiceTime(*service, job, Short());
  ASSERT_TRUE(tight.validity.trusted()) << tight.validity.ToString();
  EXPECT_FALSE(internal::OverlapOf(tight.load).any());
  const ServiceTime slow = ServiceTimeOf(tight).value();
  service->Update({.cpus = 1.0});
  const ServiceTime fast = ServiceTimeOf(MeasureServiceTime(*service, job, Short())).value();
  // 200 ms at half a CPU are four quotas of 50 ms: three or four waits.
  EXPECT_GE(slow.At(Percentile(50)), Latency(300ms));
  EXPECT_GT(slow.At(Percentile(50)).value(), fast.At(Percentile(50)).value() * 3 / 2);
  EXPECT_EQ(slow.limits.cpu.cpus(), 0.5);
}

TEST_F(ServiceTimeTest, OneJobFillsHalfACpuButNotTwo) {
  // Whole periods within a request are what is judged.
  const Request job = Get("/burn?ms=400");
  const Budget filled = Budget::UnusedLimit(kAtMost, 0.05);
  const auto small = StartWorkers(1, {.cpus = 0.5});
  const BudgetResult r = filled.Evaluate(MeasureServiceTime(*small, job, Short()));
  EXPECT_EQ(r.verdict, Verdict::kMet) << r.explanation;
  if (OnlineCpus().count() < 2) GTEST_SKIP() << "two CPUs are needed for a limit of two";
  const auto large = StartWorkers(1, {.quota = 199ms});
  const BudgetResult half = filled.Evaluate(MeasureServiceTime(*large, job, Short()));
  EXPECT_EQ(half.verdict, Verdict::kMissed) << half.explanation;
  EXPECT_NEAR(half.value.value_or(0), 0.5, 0.1);
}

TEST_F(ServiceTimeTest, WorkersShowInTheAnswersToABatch) {
  if (OnlineCpus().count() < 2) GTEST_SKIP() << "two workers work at once on two CPUs";
  for (const int workers : {1, 2}) {
    // A CPU each: a worker that is held back looks like one that waits.
    const auto service = StartWorkers(workers, {.cpus = static_cast<double>(workers)});
    const Measurement m =
        MeasureService(*service, Batches(6).Every(1200ms).For(2400ms).WarmUp(500ms),
                       Get("/burn?ms=80"), Patient());
    const Outcome<WorkerEstimate> estimate = WorkersOf(m);
    ASSERT_TRUE(estimate.has_value()) << estimate.reason();
    EXPECT_EQ(estimate.value().ToString(), std::to_string(workers));
  }
}

TEST_F(ServiceTimeTest, ThreadsAreThoseTheServiceReallyHas) {
  const auto service = Start({.cpus = 1.0});
  const Measurement m = Bursts(*service);
  // A thread for each of 8 connections, and two that rarely run.
  EXPECT_GE(m.threads.value(), 9);
  EXPECT_EQ(Budget::ThreadsOverQuota(kAtMost, 0).Evaluate(m).verdict, Verdict::kMissed);
  EXPECT_EQ(Budget::ThreadsOverQuota(kAtMost, m.threads.value() - 1).Evaluate(m).verdict,
            Verdict::kMet);
}

TEST_F(ServiceTimeTest, WithoutAnAnswerThereIsNoServiceTime) {
  const auto service = StartWorkers(1, {.cpus = 1.0});
  try {
    MeasureServiceTime(*service, Get("/nothing"), Short());
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kLoad);
    EXPECT_THAT(e.what(), HasSubstr("was answered with success (GET /nothing: HTTP 404)"));
  }
}

}  // namespace
}  // namespace throttletest::test

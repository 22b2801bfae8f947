#include "measure/saturation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/measurement_builder.h"
#include "throttletest/measure/budget.h"

namespace throttletest {
namespace {

using internal::SaturationOf;
using testing::AllOf;
using testing::HasSubstr;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

// Three jobs of 2 s, one every 3 s, under a quota of 0.5 CPUs on 8. Each period of 100 ms of a job
// runs on one CPU for `running` and stands still for the rest; the first one of a job as well.
Measurement FillingJobs(nanoseconds running, nanoseconds job = 2s, nanoseconds every = 3s,
                        bool quota = true) {
  MeasurementBuilder b;
  b.Batches(1, 3, every);
  for (std::size_t i = 0; i < 3; ++i) b.Respond(i, job);
  if (quota) {
    b.Quota(50ms);
  } else {
    b.NoQuota();
  }
  Timeline& timeline = b.inputs().timeline;
  timeline.interval = 10ms;
  for (nanoseconds t = -100ms; t <= 3 * every; t += 10ms) {
    nanoseconds used = 0ns;
    for (int i = 0; i < 3; ++i) {
      const nanoseconds worked = std::clamp(t - every * i, nanoseconds(0), job);
      used += running * (worked / 100ms) + std::min<nanoseconds>(worked % 100ms, running);
    }
    timeline.samples.push_back({.time = b.inputs().load.epoch + t, .usage = used, .counters = {}});
  }
  return b.Build();
}

TEST(Saturation, OfAJobThatFillsItsLimit) {
  const Measurement m = FillingJobs(50ms);
  const auto saturation = SaturationOf(m);
  ASSERT_TRUE(saturation.has_value()) << saturation.reason();
  EXPECT_NEAR(saturation.value().used_cpus, 0.5, 1e-9);
  EXPECT_EQ(saturation.value().periods, 3 * 19);  // without the first of each
  const BudgetResult r = Budget::UnusedLimit(Comparison::kAtMost, 0.05).Evaluate(m);
  EXPECT_EQ(r.verdict, Verdict::kMet);
  EXPECT_THAT(r.explanation, HasSubstr("one request alone used 0.500 of 0.5 CPUs, 100.0 %, in 57 "
                                       "whole periods of 3 requests"));
}

// The published job: 3.40 and 3.32 of 3.5 CPUs.
TEST(Saturation, TheBoundIs95Percent) {
  const Budget budget = Budget::UnusedLimit(Comparison::kAtMost, 0.05);
  EXPECT_EQ(budget.Evaluate(FillingJobs(48ms)).verdict, Verdict::kMet);  // 96 %
  const BudgetResult r = budget.Evaluate(FillingJobs(47ms));             // 94 %
  EXPECT_EQ(r.verdict, Verdict::kMissed);
  EXPECT_NEAR(r.value.value(), 0.06, 1e-9);
  EXPECT_THAT(r.explanation,
              AllOf(HasSubstr("unused share of the limit"),
                    HasSubstr("More workers, or more threads for one request, could use what is "
                              "left.")));
}

TEST(Saturation, IsInconclusiveOfShortJobs) {
  // Two whole periods each, after the first.
  const auto saturation = SaturationOf(FillingJobs(50ms, 300ms, 1s));
  EXPECT_EQ(saturation.kind(), OutcomeKind::kInconclusive);
  EXPECT_THAT(saturation.reason(), HasSubstr("takes 10 whole periods of 100 ms within requests, "
                                             "there were 6: send longer ones, or more"));
}

TEST(Saturation, IsInconclusiveOfOverlappingJobs) {
  EXPECT_THAT(SaturationOf(FillingJobs(50ms, 2s, 1s)).reason(),
              HasSubstr("2 of 3 requests were sent before an earlier one was answered"));
}

TEST(Saturation, IsNotAvailableWithoutALimit) {
  const auto saturation = SaturationOf(FillingJobs(50ms, 2s, 3s, false));
  EXPECT_EQ(saturation.kind(), OutcomeKind::kNotAvailable);
  EXPECT_THAT(saturation.reason(), HasSubstr("no CPU limit below the machine's CPUs"));
  const BudgetResult r =
      Budget::UnusedLimit(Comparison::kAtMost, 1).Evaluate(FillingJobs(50ms, 2s, 3s, false));
  EXPECT_EQ(r.verdict, Verdict::kInconclusive);
}

TEST(Saturation, IsInconclusiveWithoutATimeline) {
  MeasurementBuilder b;
  b.Batches(1, 3, 3s).Quota(50ms);
  for (std::size_t i = 0; i < 3; ++i) b.Respond(i, 2s);
  EXPECT_THAT(SaturationOf(b.Build()).reason(), HasSubstr("there were 0"));
}

}  // namespace
}  // namespace throttletest

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "support/failures_of.h"
#include "support/measurement_builder.h"
#include "throttletest/gtest/matchers.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::FailuresOf;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

MeasurementBuilder Quarter() {
  return MeasurementBuilder().Quota(25ms).Throttled(40, 40, 3s).Usage(1s).Job(4s);
}
Measurement Free() {
  return MeasurementBuilder().NoQuota().Throttled(0, 0, 0s).Usage(1s).Job(1s).Build();
}
Measurement Failed() {
  MeasurementBuilder builder = Quarter();
  builder.inputs().job->end.exit_code = 3;
  builder.inputs().job->end.logs = "no such file\n";
  return builder.Build();
}

TEST(JobMatchers, MatchAroundTheBound) {
  const Measurement m = Quarter().Build();
  EXPECT_THAT(m, AllOf(Succeeds(), ElapsedBelow(4001ms), Not(ElapsedBelow(4s))));
  EXPECT_THAT(m, AllOf(ElapsedRatioBelow(Free(), 4.01), Not(ElapsedRatioBelow(Free(), 4))));
  EXPECT_THAT(m, AllOf(CpuUsageBelow(0.26), MemoryPeakBelow(65_MiB), NotOomKilled()));
  EXPECT_THAT(m, Not(ThrottleRatioBelow(0.05)));
  EXPECT_THAT(Failed(), Not(Succeeds()));
}

TEST(JobMatchers, SayHowAJobFailed) {
  const Measurement failed = Failed();
  EXPECT_NONFATAL_FAILURE(EXPECT_THAT(failed, Succeeds()),
                          "exited with status 3; its last lines: no such file");
}

// A job that failed is quick, and one that is not trusted may be anything.
TEST(JobMatchers, NeverPassOnFiguresThatAreNotThoseOfASuccess) {
  const Measurement failed = Failed();
  const Measurement busy = Quarter().Host(0.9).Build();
  for (const Measurement* m : {&failed, &busy}) {
    EXPECT_THAT(FailuresOf([&] { EXPECT_THAT(*m, ElapsedBelow(1h)); }),
                testing::Contains(HasSubstr("INCONCLUSIVE")));
    EXPECT_THAT(FailuresOf([&] { EXPECT_THAT(*m, Not(ElapsedBelow(1h))); }),
                testing::Contains(HasSubstr("INCONCLUSIVE")));
    EXPECT_THAT(FailuresOf([&] { EXPECT_THAT(*m, AnyOf(ElapsedBelow(1h), testing::_)); }),
                testing::Contains(HasSubstr("INCONCLUSIVE")));
    EXPECT_THAT(FailuresOf([&] { EXPECT_THAT(*m, Not(ElapsedRatioBelow(Free(), 100))); }),
                testing::Contains(HasSubstr("INCONCLUSIVE")));
  }
}

}  // namespace
}  // namespace throttletest

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_binary.h"
#include "support/sample_test.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Outcomes : public test::SampleTest {
 protected:
  static test::RunResult Run(const char* binary, const std::string& filter) {
    return test::RunBinary({binary, "--gtest_filter=" + filter, "--throttletest_launcher=cgroup",
                            "--throttletest_retries=0"});
  }
};

TEST_F(Outcomes, PassesAQuotaWithRoom) {
  const auto run = Run(OUTCOMES_SAMPLE, "*PassesWithRoom*");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("[ MEASURED ] cgroup"));
}

TEST_F(Outcomes, TheBoundOfStartLagCanBeGivenToTheProgram) {
  const auto run = [](const char* bound) {
    return test::RunBinary({OUTCOMES_SAMPLE, "--gtest_filter=*PassesWithRoom*",
                            "--throttletest_launcher=cgroup", "--throttletest_retries=0",
                            std::string("--throttletest_max_start_lag=") + bound});
  };
  const auto late = run("1us");
  EXPECT_EQ(late.status, 1) << late.out;
  EXPECT_THAT(late.out, AllOf(HasSubstr("INCONCLUSIVE"), HasSubstr("is above 1 us")));
  const auto bad = run("80");
  EXPECT_EQ(bad.status, 2) << bad.out;
  EXPECT_THAT(bad.err, AllOf(HasSubstr("--throttletest_max_start_lag"), HasSubstr("80ms")));
}

TEST_F(Outcomes, FailsNotOnAMissingQuota) {
  const auto run = Run(OUTCOMES_SAMPLE, "*WithoutQuota");
  EXPECT_EQ(run.status, 1) << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("INCONCLUSIVE"), HasSubstr("no CPU quota in force")));
}

TEST_F(Outcomes, FailsNotOnAnIdleService) {
  const auto run = Run(OUTCOMES_SAMPLE, "*OnIdleService");
  EXPECT_EQ(run.status, 1) << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("INCONCLUSIVE"), HasSubstr("period")));
}

TEST_F(Outcomes, FailsNotOnAServiceKilledMidRun) {
  const auto run = Run(OUTCOMES_SAMPLE, "*KilledMidRun");
  EXPECT_EQ(run.status, 1) << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("INCONCLUSIVE"), HasSubstr("SIGKILL")));
}

TEST_F(Outcomes, SkipsAnInconclusiveRunOnlyWhenAsked) {
  const auto run = test::RunBinary({OUTCOMES_SAMPLE, "--gtest_filter=*KilledMidRun",
                                    "--throttletest_launcher=cgroup", "--throttletest_retries=0",
                                    "--throttletest_skip_inconclusive"});
  EXPECT_EQ(run.status, 0) << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("[  SKIPPED ]"), HasSubstr("INCONCLUSIVE")));
}

TEST_F(Outcomes, FailsAnyOfWithAMissingFigure) {
  const auto run = Run(OUTCOMES_SAMPLE, "*AnyOfWithMissingFigure");
  EXPECT_EQ(run.status, 1) << run.out;
}

TEST_F(Outcomes, FailsOnErrorsOfTheService) {
  const auto run = Run(OUTCOMES_SAMPLE, "*AllRequestsFail");
  EXPECT_EQ(run.status, 1) << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("HTTP 404"), Not(HasSubstr("INCONCLUSIVE"))));
}

TEST_F(Outcomes, AMissThatIsDecidedEarlyFailsWithHowMuchOfThePlanItTook) {
  const auto run = Run(OUTCOMES_SAMPLE, "*DecidedEarlyMiss");
  EXPECT_EQ(run.status, 1) << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("is not below 1 ms"), HasSubstr("of 120 observations")));
  EXPECT_THAT(run.out, Not(HasSubstr("m.load.planned")));
}

TEST_F(Outcomes, SaysThatThereIsNothingToDecide) {
  const auto run = Run(OUTCOMES_SAMPLE, "*DecidedEarlyWithoutABudget");
  EXPECT_EQ(run.status, 1) << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("outcomes_sample.cc:"), HasSubstr("needs a budget")));
}

TEST_F(Outcomes, ReportsABadLimitAtTheCallersLine) {
  const auto run = Run(OUTCOMES_SAMPLE, "*StartWithBadLimit");
  EXPECT_EQ(run.status, 1) << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("outcomes_sample.cc:"), HasSubstr("-1")));
}

TEST_F(Outcomes, ReportsAServiceThatIsNotThereAtTheCallersLine) {
  const auto run = Run(OUTCOMES_SAMPLE, "*AttachToNothing");
  EXPECT_EQ(run.status, 1) << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("outcomes_sample.cc:"),
                             HasSubstr("cannot attach to process 4194305: there is no such")));
}

TEST_F(Outcomes, FailsEveryTestOfASuiteWhoseServiceDoesNotStart) {
  const auto run = Run(SHARED_SAMPLE, "Broken.*");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, AllOf(HasSubstr("2 FAILED TESTS"), HasSubstr("/no/such/program"),
                             Not(HasSubstr("SKIPPED"))));
}

TEST_F(Outcomes, SharesOneServiceInASuite) {
  const auto run = Run(SHARED_SAMPLE, "Shared.*");
  EXPECT_EQ(run.status, 0) << run.out;
}

TEST_F(Outcomes, LeavesNothingAfterSigint) {
  const auto run = test::RunBinary({HANG_SAMPLE, "--throttletest_launcher=cgroup"},
                                   {.signal_on_text = "service is up"});
  EXPECT_EQ(run.status, 128 + SIGINT) << run.out << run.err;
}

TEST_F(Outcomes, LeavesNothingAfterSigkill) {
  const auto run = test::RunBinary({HANG_SAMPLE, "--throttletest_launcher=cgroup"},
                                   {.signal_on_text = "service is up", .signal = SIGKILL});
  EXPECT_EQ(run.status, 128 + SIGKILL) << run.out << run.err;
}

TEST_F(Outcomes, RefusesABadFlagOrEnvironment) {
  EXPECT_EQ(test::RunBinary({HANG_SAMPLE, "--throttletest_launcher=dokcer"}).status, 2);
  EXPECT_EQ(test::RunBinary({HANG_SAMPLE, "--throttletest_nonsense"}).status, 2);
  const auto run = test::RunBinary({HANG_SAMPLE}, {.env = {{"THROTTLETEST_LAUNCHER", "dokcer"}}});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("dokcer"));
}

}  // namespace
}  // namespace throttletest

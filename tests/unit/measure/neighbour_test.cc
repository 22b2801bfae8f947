#include "throttletest/measure/neighbour.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "measure/background_loads.h"
#include "support/measurement_builder.h"
#include "support/untouched_service.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using internal::BackgroundFaults;
using internal::BackgroundLook;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::MeasurementBuilder;
using testing_support::UntouchedService;
using namespace std::chrono_literals;

BackgroundUse Use(double cpus, std::int64_t ok, std::int64_t sent) {
  BackgroundUse use{.service = "heavy", .sent = sent, .ok = ok, .failed = sent - ok};
  use.cgroup.usage_cores = Outcome<double>::Value(cpus);
  use.cgroup.effective.cpus = 1;
  return use;
}

// Four rounds each: before at 30 ms, during at `during`.
NeighbourComparison Compared(std::chrono::nanoseconds during) {
  NeighbourComparison c;
  for (int i = 0; i < 4; ++i) {
    AddRound(c.rounds, kBeforeNeighbour, MeasurementBuilder().Build());
    AddRound(
        c.rounds, kDuringNeighbour,
        MeasurementBuilder().Responses(std::vector<std::chrono::nanoseconds>(20, during)).Build());
    c.loads.push_back(Use(0.9 + 0.01 * i, 12, 12));
  }
  return c;
}

TEST(JudgeNeighbour, TellsWithinTheToleranceFromWorse) {
  const BudgetResult within = JudgeNeighbour(Compared(30ms));
  EXPECT_EQ(within.verdict, Verdict::kMet);
  EXPECT_THAT(within.explanation,
              HasSubstr("P90 of \"during\" 30.0 ms (4 rounds) is no more than 10 % above"));
  EXPECT_THAT(within.explanation, EndsWith("Meanwhile its neighbour \"heavy\" used 0.90..0.93 of 1 "
                                           "CPUs, 48 of 48 requests answered."));
  const BudgetResult worse = JudgeNeighbour(Compared(60ms));
  EXPECT_EQ(worse.verdict, Verdict::kMissed);
  EXPECT_THAT(worse.explanation, HasSubstr("is more than 10 % above"));
  EXPECT_EQ(JudgeNeighbour(Compared(60ms), {.figure = RunFigure::kP50, .tolerance = 2}).verdict,
            Verdict::kMet);
}

TEST(JudgeNeighbour, IsInconclusiveWithoutTrustedRounds) {
  NeighbourComparison c = Compared(30ms);
  c.rounds.inconclusive = "round 2 of \"during\" was beside a neighbour that ended";
  EXPECT_EQ(JudgeNeighbour(c).verdict, Verdict::kInconclusive);
  EXPECT_THAT(JudgeNeighbour(c).explanation, HasSubstr("beside a neighbour that ended"));
  EXPECT_EQ(JudgeNeighbour({}).verdict, Verdict::kInconclusive);
}

std::string RefusalOf(const NeighbourOptions& options, bool itself = false) {
  UntouchedService probed;
  UntouchedService other;
  const Traffic traffic(Batches(1).Every(1s).For(1s), Get("/"));
  try {
    CompareNeighbour(probed, traffic, itself ? probed : other, traffic, options);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    return e.what();
  }
  return "no error";
}

TEST(CompareNeighbour, RefusesWhatCannotBeComparedBeforeAnythingIsMeasured) {
  EXPECT_THAT(RefusalOf({.rounds = 0}), HasSubstr("0 rounds are not possible"));
  EXPECT_THAT(RefusalOf({.rounds = 31}), HasSubstr("1 to 30"));
  EXPECT_THAT(RefusalOf({.measure = {.retries = -1}}), HasSubstr("retries -1"));
  EXPECT_THAT(RefusalOf({}, true), HasSubstr("cannot be its own neighbour"));
}

TEST(BackgroundUse, SaysWhatTheServiceDid) {
  BackgroundUse use = Use(0.98, 11, 12);
  EXPECT_EQ(use.ToString(), "\"heavy\" used 0.98 of 1 CPUs, 11 of 12 requests answered");
  use.cgroup.periods = Outcome<std::int64_t>::Value(50);
  use.cgroup.throttled_periods = Outcome<std::int64_t>::Value(48);
  EXPECT_THAT(use.ToString(), HasSubstr("throttled in 48 of 50 periods"));
  use.cgroup.usage_cores = Outcome<double>::NotAvailable("no counter");
  EXPECT_THAT(use.ToString(), HasSubstr("CPU time that is not known"));
}

const BackgroundLook kLoad{.id = 3, .service = "heavy", .load = "jobs", .trouble = ""};

TEST(BackgroundFaults, AreNoneUnderOneLoadOrNone) {
  EXPECT_THAT(BackgroundFaults({}, {}), IsEmpty());
  EXPECT_THAT(BackgroundFaults({kLoad}, {kLoad}), IsEmpty());
}

TEST(BackgroundFaults, NameALoadThatDidNotLastOrCameLate) {
  EXPECT_THAT(BackgroundFaults({kLoad}, {}),
              ElementsAre("the background load on \"heavy\" was stopped before the end of the "
                          "window"));
  EXPECT_THAT(BackgroundFaults({}, {kLoad}),
              ElementsAre("the background load on \"heavy\" began only after the window had "
                          "begun"));
  BackgroundLook again = kLoad;
  again.id = 4;
  EXPECT_THAT(BackgroundFaults({kLoad}, {again}), testing::SizeIs(2));
  BackgroundLook ended = kLoad;
  ended.trouble = "its service has ended: killed by SIGKILL";
  EXPECT_THAT(BackgroundFaults({kLoad}, {ended}),
              ElementsAre("the background load on \"heavy\" cannot be relied on: its service has "
                          "ended: killed by SIGKILL"));
}

TEST(BackgroundFaults, MakeARunInconclusiveAndAreNotRepeatedAway) {
  MeasurementBuilder lasting;
  lasting.inputs().background_before = lasting.inputs().background_after = {kLoad};
  const Measurement m = lasting.Build();
  EXPECT_TRUE(m.validity.trusted());
  EXPECT_THAT(m.notes, Contains("beside a background load on \"heavy\": jobs"));
  MeasurementBuilder stopped;
  stopped.inputs().background_before = {kLoad};
  const Validity validity = stopped.Build().validity;
  ASSERT_EQ(validity.faults.size(), 1U);
  EXPECT_EQ(validity.faults[0].gate, ValidityGate::kBackgroundLoad);
  EXPECT_STREQ(ValidityGateName(ValidityGate::kBackgroundLoad), "background_load");
  EXPECT_FALSE(internal::WorthRetrying(validity));
}

}  // namespace
}  // namespace throttletest

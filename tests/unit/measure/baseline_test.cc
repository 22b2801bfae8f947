#include "throttletest/measure/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/measurement_builder.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::MeasurementBuilder;
using namespace std::chrono_literals;

// 100 requests that all take this long; never throttled.
MeasurementBuilder Answering(std::chrono::nanoseconds time) {
  return MeasurementBuilder().Responses(std::vector<std::chrono::nanoseconds>(100, time));
}

// Runs with these response times.
BaselineFile Stored(const std::vector<std::chrono::nanoseconds>& times) {
  BaselineFile file{.path = "dir/baselines.json"};
  for (const auto time : times) AddBaselineRun(file, "burst", Answering(time).Build());
  return file;
}

std::string AddError(BaselineFile& file, const std::string& name, const Measurement& m) {
  try {
    AddBaselineRun(file, name, m);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    return e.what();
  }
  return "no error";
}

TEST(Baseline, PassesARunLikeTheOthers) {
  const BudgetResult result =
      JudgeBaseline(Stored({30ms, 31ms, 32ms}), "burst", Answering(32ms).Build());
  EXPECT_EQ(result.verdict, Verdict::kMet) << result.explanation;
  EXPECT_THAT(result.explanation,
              AllOf(HasSubstr("no worse than baseline \"burst\" (3 runs"),
                    HasSubstr("prediction interval"), Not(HasSubstr("limits changed"))));
}

// Mean 31, s = 1, n = 3: 31 + 6.965 x 1 x sqrt(4/3) = 39.04.
TEST(Baseline, AllowsWhatTheSpreadOfTheRunsExplains) {
  const BaselineFile file = Stored({30ms, 31ms, 32ms});
  EXPECT_EQ(JudgeBaseline(file, "burst", Answering(39ms).Build()).verdict, Verdict::kMet);
  const BudgetResult worse = JudgeBaseline(file, "burst", Answering(39100us).Build());
  EXPECT_EQ(worse.verdict, Verdict::kMissed);
  EXPECT_THAT(worse.explanation, AllOf(HasSubstr("P99 old 30.0-32.0 ms, new 39.1 ms, expected at "
                                                 "most 39.0 ms"),
                                       HasSubstr("The limits are those of the stored runs")));
}

TEST(Baseline, NarrowsWithMoreRuns) {
  const BaselineFile file = Stored({30ms, 31ms, 32ms, 30ms, 31ms, 32ms, 30ms, 31ms, 32ms});
  // s = 0.866, t = 2.896: 31 + 2.64.
  EXPECT_EQ(JudgeBaseline(file, "burst", Answering(33600us).Build()).verdict, Verdict::kMet);
  EXPECT_EQ(JudgeBaseline(file, "burst", Answering(33700us).Build()).verdict, Verdict::kMissed);
}

TEST(Baseline, AllowsTheToleranceWhereRunsDoNotSpread) {
  const BaselineFile file = Stored({30ms, 30ms, 30ms});
  EXPECT_EQ(JudgeBaseline(file, "burst", Answering(31500us).Build()).verdict, Verdict::kMet);
  EXPECT_EQ(JudgeBaseline(file, "burst", Answering(31501us).Build()).verdict, Verdict::kMissed);
  EXPECT_EQ(JudgeBaseline(file, "burst", Answering(36ms).Build(), {.tolerance = 0.2}).verdict,
            Verdict::kMet);
}

TEST(Baseline, PassesABetterRun) {
  EXPECT_EQ(JudgeBaseline(Stored({30ms, 31ms, 32ms}), "burst", Answering(3ms).Build()).verdict,
            Verdict::kMet);
}

TEST(Baseline, SeesMoreThrottlingAndMoreErrors) {
  const BaselineFile file = Stored({30ms, 31ms, 32ms});
  const auto throttled = Answering(31ms).Throttled(200, 3, 1s).Build();
  EXPECT_THAT(JudgeBaseline(file, "burst", throttled).explanation,
              HasSubstr("throttle ratio old 0.000, new 0.015, expected at most 0.010"));
  const auto failing =
      Answering(31ms).Fail(0, 500, 1ms, "HTTP 500").Fail(1, 500, 1ms, "HTTP 500").Build();
  EXPECT_THAT(JudgeBaseline(file, "burst", failing).explanation,
              AllOf(HasSubstr("error ratio old 0.000, new 0.020"),
                    HasSubstr("P99 old 30.0-32.0 ms, new no answer")));
}

TEST(Baseline, NamesAChangedLimitAsTheLikelyCause) {
  const auto cut = Answering(300ms).Quota(50ms).Throttled(200, 120, 4s).Build();
  const BudgetResult result = JudgeBaseline(Stored({30ms, 31ms, 32ms}), "burst", cut);
  EXPECT_EQ(result.verdict, Verdict::kMissed);
  EXPECT_THAT(result.explanation, HasSubstr("Likely cause: limit cpus 2 -> 0.5."));
}

TEST(Baseline, PassesAChangedLimitThatDoesNotHurtWithANote) {
  const auto raised = Answering(31ms).Quota(400ms).Build();
  const BudgetResult result = JudgeBaseline(Stored({30ms, 31ms, 32ms}), "burst", raised);
  EXPECT_EQ(result.verdict, Verdict::kMet);
  EXPECT_THAT(result.explanation, HasSubstr("limits changed (cpus 2 -> 4)"));
}

TEST(Baseline, JudgesTheRestWhenTheQuotaIsGone) {
  const BaselineFile file = Stored({30ms, 31ms, 32ms});
  EXPECT_EQ(JudgeBaseline(file, "burst", Answering(31ms).NoQuota().Build()).verdict, Verdict::kMet);
  EXPECT_EQ(JudgeBaseline(file, "burst", Answering(90ms).NoQuota().Build()).verdict,
            Verdict::kMissed);
}

TEST(Baseline, C159IsInconclusiveWithoutEnoughRuns) {
  BaselineBound bound{.hint = "write it with --flag"};
  const auto none = JudgeBaseline(Stored({}), "burst", Answering(1ms).Build(), bound);
  EXPECT_EQ(none.verdict, Verdict::kInconclusive);
  EXPECT_THAT(none.explanation, AllOf(HasSubstr("no baseline \"burst\" in dir/baselines.json"),
                                      HasSubstr("write it with --flag")));
  const auto two = JudgeBaseline(Stored({30ms, 31ms}), "burst", Answering(1ms).Build(), bound);
  EXPECT_EQ(two.verdict, Verdict::kInconclusive);
  EXPECT_THAT(two.explanation,
              AllOf(HasSubstr("has 2 runs"), HasSubstr("1 missing"), HasSubstr("--flag")));
}

struct ConditionCase {
  const char* name;
  void (*change)(Measurement&);
  const char* told;
};

class OtherConditions : public testing::TestWithParam<ConditionCase> {};

TEST_P(OtherConditions, AreInconclusiveWhateverTheFigures) {
  for (const auto time : {1ms, 900ms}) {
    Measurement m = Answering(time).Build();
    GetParam().change(m);
    const auto result = JudgeBaseline(Stored({30ms, 31ms, 32ms}), "burst", m, {.hint = "HINT"});
    EXPECT_EQ(result.verdict, Verdict::kInconclusive);
    EXPECT_THAT(result.explanation, AllOf(HasSubstr(GetParam().told), HasSubstr("HINT")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, OtherConditions,
    testing::Values(ConditionCase{"Kernel", [](Measurement& m) { m.environment.kernel = "6.5.0"; },
                                  R"(kernel "6.1.0-test" -> "6.5.0")"},
                    ConditionCase{"Cpus", [](Measurement& m) { m.environment.online_cpus = 2; },
                                  R"(online_cpus "8" -> "2")"},
                    ConditionCase{"Model", [](Measurement& m) { m.environment.cpu_model = ""; },
                                  R"(cpu_model "Test CPU" -> "unknown")"},
                    ConditionCase{"CgroupMode",
                                  [](Measurement& m) { m.environment.cgroup_mode = "v1"; },
                                  R"(cgroup_mode "v2" -> "v1")"},
                    ConditionCase{"Launcher", [](Measurement& m) { m.launcher = "docker"; },
                                  R"(launcher "cgroup" -> "docker")"},
                    ConditionCase{"Plan", [](Measurement& m) { m.plan = "more"; }, R"(-> "more")"},
                    ConditionCase{"Request", [](Measurement& m) { m.request = "GET /x"; },
                                  R"(request "GET /burn?ms=20" -> "GET /x")"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Baseline, NamesEveryConditionThatDiffers) {
  Measurement m = Answering(1ms).Build();
  m.environment.kernel = "6.5.0";
  m.launcher = "docker";
  EXPECT_THAT(JudgeBaseline(Stored({30ms, 31ms, 32ms}), "burst", m).explanation,
              AllOf(HasSubstr("kernel"), HasSubstr("launcher")));
}

TEST(Baseline, KeepsOneGroupOfRunsForEachEnvironment) {
  BaselineFile file = Stored({30ms, 31ms, 32ms});
  Measurement other = Answering(300ms).Build();
  other.environment.kernel = "6.5.0";
  for (int i = 0; i < 3; ++i) AddBaselineRun(file, "burst", other);
  ASSERT_EQ(file.baselines.at("burst").size(), 2U);
  EXPECT_EQ(JudgeBaseline(file, "burst", other).verdict, Verdict::kMet);
  EXPECT_EQ(JudgeBaseline(file, "burst", Answering(300ms).Build()).verdict, Verdict::kMissed);
}

TEST(Baseline, DoesNotJudgeAnUntrustedRun) {
  Measurement m = Answering(30ms).Build();
  m.validity.faults.push_back({ValidityGate::kNotSent, "5 requests were not sent"});
  BaselineFile file = Stored({30ms, 31ms, 32ms});
  const auto result = JudgeBaseline(file, "burst", m);
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_THAT(result.explanation, HasSubstr("5 requests were not sent"));
  EXPECT_THAT(AddError(file, "burst", m), HasSubstr("5 requests were not sent"));
  EXPECT_EQ(file.baselines.at("burst")[0].runs.size(), 3U);
}

TEST(Baseline, IsInconclusiveWhenTheRunLacksAFigure) {
  const auto m = Answering(30ms).Throttled(9, 0, 0s).Build();
  const auto result = JudgeBaseline(Stored({30ms, 31ms, 32ms}), "burst", m);
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_THAT(result.explanation, AllOf(HasSubstr("throttle ratio"), HasSubstr("10 periods")));
}

TEST(Baseline, AWorseFigureWinsOverAnUnknownOne) {
  const auto m = Answering(300ms).Throttled(9, 0, 0s).Build();
  EXPECT_EQ(JudgeBaseline(Stored({30ms, 31ms, 32ms}), "burst", m).verdict, Verdict::kMissed);
}

TEST(Baseline, RefusesABadTolerance) {
  const auto result =
      JudgeBaseline(Stored({30ms, 31ms, 32ms}), "burst", Answering(1ms).Build(), {.tolerance = -1});
  EXPECT_EQ(result.verdict, Verdict::kInconclusive);
  EXPECT_THAT(result.explanation, HasSubstr("-1"));
}

TEST(AddBaselineRun, CountsAndDropsTheOldest) {
  BaselineFile file = Stored({});
  EXPECT_EQ(
      AddBaselineRun(file, "burst", Answering(1ms).Build()),
      "wrote run 1 of baseline \"burst\" to dir/baselines.json without CPU time of a batch: no "
      "timeline sample near the batch's edges; 2 more needed");
  for (int i = 2; i <= 12; ++i) AddBaselineRun(file, "burst", Answering(i * 1ms).Build());
  const auto& runs = file.baselines.at("burst")[0].runs;
  ASSERT_EQ(runs.size(), kMostBaselineRuns);
  EXPECT_EQ(runs.front().figures.at(RunFigure::kP50).value(), 3);
  EXPECT_EQ(runs.back().figures.at(RunFigure::kP50).value(), 12);
}

EarlyVerdicts EndedEarly() {
  EarlyVerdicts early;
  early.ended_early = true;
  return early;
}

TEST(AddBaselineRun, TakesNoRunThatWasEndedEarly) {
  BaselineFile file = Stored({30ms, 31ms, 32ms});
  Measurement m = Answering(1ms).Build();
  m.early = EndedEarly();
  EXPECT_THROW(AddBaselineRun(file, "burst", m), Error);
  EXPECT_EQ(file.baselines.at("burst")[0].runs.size(), 3U);
  EXPECT_EQ(JudgeBaseline(file, "burst", m).verdict, Verdict::kInconclusive);
}

TEST(Baseline, NamesWhatNoStoredRunHas) {
  BaselineFile file = Stored({30ms, 31ms, 32ms});
  for (BaselineRun& run : file.baselines.at("burst")[0].runs) {
    run.figures.at(RunFigure::kP99) = Outcome<double>::NotAvailable("too few");
  }
  const BudgetResult result = JudgeBaseline(file, "burst", Answering(31ms).Build());
  EXPECT_EQ(result.verdict, Verdict::kMet) << result.explanation;
  EXPECT_THAT(result.explanation, HasSubstr("Not judged, as no stored run has it: P99"));
}

// A limit that was accepted once must not stay an excuse for cutting it again.
TEST(AddBaselineRun, ReplacesRunsOfOtherLimitsOrAnotherLoad) {
  BaselineFile file = Stored({30ms, 31ms, 32ms});
  EXPECT_THAT(AddBaselineRun(file, "burst", Answering(300ms).Quota(50ms).Build()),
              HasSubstr("in place of 3 under other limits (cpus 2 -> 0.5)"));
  Measurement other = Answering(30ms).Quota(50ms).Build();
  other.plan = "another";
  EXPECT_THAT(AddBaselineRun(file, "burst", other), HasSubstr("in place of 1 of another load"));
  ASSERT_EQ(file.baselines.at("burst").size(), 1U);
  EXPECT_EQ(file.baselines.at("burst")[0].runs.size(), 1U);
}

TEST(AddBaselineRun, RefusesRunsThatAreNoModel) {
  BaselineFile file = Stored({});
  EXPECT_THAT(AddError(file, "", Answering(1ms).Build()), HasSubstr("name"));
  MeasurementBuilder builder = Answering(1ms);
  for (std::size_t i = 0; i < 5; ++i) builder.TimeOut(i, 5s);
  EXPECT_THAT(AddError(file, "burst", builder.Build()), HasSubstr("never answered"));
  EXPECT_TRUE(file.baselines.empty());
}

}  // namespace
}  // namespace throttletest

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/failures_of.h"
#include "support/measurement_builder.h"
#include "support/temp_tree.h"
#include "throttletest/gtest/baseline.h"
#include "throttletest/gtest/main.h"
#include "throttletest/measure/baseline.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing_support::FailuresOf;
using testing_support::MeasurementBuilder;
using testing_support::TempTree;
using namespace std::chrono_literals;

void GiveFlag(std::string flag) {
  std::string program = "test";
  std::array<char*, 3> argv = {program.data(), flag.data(), nullptr};
  int argc = 2;
  InitThrottletest(&argc, argv.data());
}

Measurement Answering(std::chrono::nanoseconds time) {
  return MeasurementBuilder().Responses(std::vector<std::chrono::nanoseconds>(100, time)).Build();
}

// A file of our own with a baseline "burst" of 30 to 32 ms.
class NoWorse : public testing::Test {
 protected:
  NoWorse() {
    BaselineFile file;
    for (const auto time : {30ms, 31ms, 32ms}) AddBaselineRun(file, "burst", Answering(time));
    tree_.Write("baselines.json", ToJson(file));
    GiveFlag("--throttletest_baseline_file=" + path());
  }
  std::string path() const { return tree_.Path("baselines.json"); }
  const TempTree& tree() const { return tree_; }

 private:
  TempTree tree_;
};

TEST(BaselineFileName, IsBesideTheSourceWithoutAFlag) {
  if (!GetFlags().baseline_file.empty()) GTEST_SKIP() << "another test gave the flag";
  EXPECT_THAT(Baseline("x").file(), EndsWith("matchers/throttletest_baselines.json"));
}

TEST_F(NoWorse, MatchesAndDoesNot) {
  EXPECT_EQ(Baseline("burst").file(), path());
  EXPECT_THAT(Answering(32ms), NoWorseThan(Baseline("burst")));
  EXPECT_THAT(Answering(300ms), Not(NoWorseThan(Baseline("burst"))));
  EXPECT_THAT(Answering(60ms), NoWorseThan(Baseline("burst").WithTolerance(1)));
}

TEST_F(NoWorse, DescribesItselfAndItsNegation) {
  const MeasurementMatcher matcher = NoWorseThan(Baseline("burst"));
  EXPECT_EQ(testing::DescribeMatcher<const Measurement&>(matcher),
            "is no worse than baseline \"burst\"");
  EXPECT_EQ(testing::DescribeMatcher<const Measurement&>(matcher, true),
            "is worse than baseline \"burst\"");
}

TEST_F(NoWorse, FailsWithOldNewAndIntervalAndTheLimitThatChanged) {
  const Measurement cut = MeasurementBuilder()
                              .Responses(std::vector<std::chrono::nanoseconds>(100, 300ms))
                              .Quota(50ms)
                              .Throttled(200, 120, 4s)
                              .Build();
  const auto failures = FailuresOf([&] { EXPECT_THAT(cut, NoWorseThan(Baseline("burst"))); });
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_THAT(failures[0],
              AllOf(HasSubstr("P99 old 30.0-32.0 ms, new 300.0 ms, expected at most 39.0 ms"),
                    HasSubstr("Likely cause: limit cpus 2 -> 0.5.")));
}

// What cannot be judged passes under no combination, and says how to go on.
void ExpectInconclusive(const Measurement& m, const Baseline& baseline, const std::string& told) {
  const MeasurementMatcher matcher = NoWorseThan(baseline);
  EXPECT_FALSE(FailuresOf([&] { EXPECT_THAT(m, AnyOf(matcher, testing::_)); }).empty());
  EXPECT_FALSE(FailuresOf([&] { EXPECT_FALSE(testing::Value(m, matcher)); }).empty());
  EXPECT_FALSE(FailuresOf([&] { EXPECT_THAT(m, matcher); }).empty());
  const auto under_not = FailuresOf([&] { EXPECT_THAT(m, Not(matcher)); });
  ASSERT_FALSE(under_not.empty());
  EXPECT_THAT(under_not[0], AllOf(HasSubstr("INCONCLUSIVE"), HasSubstr(told)));
}

TEST_F(NoWorse, IsInconclusiveWithoutThatBaseline) {
  ExpectInconclusive(Answering(30ms), Baseline("other"), "--throttletest_update_baselines");
}

TEST_F(NoWorse, IsInconclusiveOnAnotherKernel) {
  Measurement m = Answering(30ms);
  m.environment.kernel = "6.5.0";
  ExpectInconclusive(m, Baseline("burst"), R"(kernel "6.1.0-test" -> "6.5.0")");
}

TEST_F(NoWorse, IsInconclusiveOnABrokenFile) {
  tree().Write("baselines.json", "{\n<<<<<<< ours\n");
  ExpectInconclusive(Answering(30ms), Baseline("burst"), "not JSON at line 2");
}

TEST_F(NoWorse, WritesOnlyWhenAsked) {
  const std::string before = tree().Read("baselines.json");
  EXPECT_THAT(Answering(32ms), NoWorseThan(Baseline("burst")));
  EXPECT_EQ(tree().Read("baselines.json"), before);
}

// Flags cannot be taken back, so what follows runs in a process of its own.
class UpdateBaselines : public NoWorse {};

TEST_F(UpdateBaselines, AddsEachRunOnceAndPasses) {
  EXPECT_EXIT(
      {
        GiveFlag("--throttletest_update_baselines");
        const Measurement m = Answering(300ms);
        const MeasurementMatcher matcher = NoWorseThan(Baseline("burst"));
        EXPECT_THAT(m, matcher);
        EXPECT_THAT(m, AllOf(matcher, matcher));
        EXPECT_THAT(m, NoWorseThan(Baseline("new one")));
        std::_Exit(HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
  const BaselineFile file = ReadBaselines(path());
  EXPECT_EQ(file.baselines.at("burst").at(0).runs.size(), 4U);
  EXPECT_EQ(file.baselines.at("new one").at(0).runs.size(), 1U);
}

TEST_F(UpdateBaselines, LeavesABrokenFileAsItIs) {
  tree().Write("baselines.json", "{ broken");
  EXPECT_EXIT(
      {
        GiveFlag("--throttletest_update_baselines");
        const auto failures =
            FailuresOf([] { EXPECT_THAT(Answering(300ms), NoWorseThan(Baseline("burst"))); });
        std::_Exit(failures.empty() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EQ(tree().Read("baselines.json"), "{ broken");
}

}  // namespace
}  // namespace throttletest

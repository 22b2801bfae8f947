// Writing and judging baselines, and comparing limits, as whole test programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/run_binary.h"
#include "support/sample_test.h"
#include "support/temp_tree.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Baselines : public test::SampleTest {
 protected:
  std::string path() const { return tree_.Path("baselines.json"); }
  const testing_support::TempTree& tree() const { return tree_; }
  test::RunResult Run(const std::string& filter, const std::string& more = "",
                      const std::string& cpus = "8") const {
    std::vector<std::string> command = {BASELINE_SAMPLE, "--gtest_filter=" + filter,
                                        "--throttletest_launcher=cgroup",
                                        "--throttletest_baseline_file=" + path()};
    if (!more.empty()) command.insert(command.end(), {more, "--gtest_repeat=3"});
    return test::RunBinary(command, {.env = {{"SAMPLE_CPUS", cpus}}});
  }

 private:
  testing_support::TempTree tree_;
};

TEST_F(Baselines, AreWrittenOnRequestAndThenJudge) {
  const auto without = Run("*NoWorseThanBefore");
  EXPECT_EQ(without.status, 1) << without.out;
  EXPECT_THAT(without.out, AllOf(HasSubstr("INCONCLUSIVE"), HasSubstr("no baseline \"burst\""),
                                 HasSubstr("--throttletest_update_baselines writes")));
  EXPECT_FALSE(tree().Exists("baselines.json"));

  const auto written = Run("*NoWorseThanBefore", "--throttletest_update_baselines");
  EXPECT_EQ(written.status, 0) << written.out;
  EXPECT_THAT(written.out, HasSubstr("[ BASELINE ] wrote run 3 of baseline \"burst\""));
  const std::string stored = tree().Read("baselines.json");

  const auto same = Run("*NoWorseThanBefore");
  EXPECT_EQ(same.status, 0) << same.out << stored;

  const auto cut = Run("*NoWorseThanBefore", "", "0.05");
  EXPECT_EQ(cut.status, 1) << cut.out;
  EXPECT_THAT(cut.out, AllOf(HasSubstr("Likely cause: limit cpus 8 -> 0.05."),
                             HasSubstr("expected at most"), Not(HasSubstr("INCONCLUSIVE"))));
  EXPECT_EQ(tree().Read("baselines.json"), stored);
}

TEST_F(Baselines, ARoundOfComparisonsFindsTheSmallerLimit) {
  const auto run = Run("*NoSlowerOnAFifthOfTheCpu");
  EXPECT_EQ(run.status, 1) << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("P50 of \"fifth\""), HasSubstr("Mann-Whitney U test"),
                             HasSubstr("cpus 1 -> 0.2"), Not(HasSubstr("INCONCLUSIVE"))));
}

TEST_F(Baselines, AComparisonThatCannotBeFailsAtTheCallersLine) {
  const auto run = Run("*ComparesNothingWithItself");
  EXPECT_EQ(run.status, 1) << run.out;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("baseline_sample.cc:"), HasSubstr("1 setting cannot be compared")));
}

}  // namespace
}  // namespace throttletest

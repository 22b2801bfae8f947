// Jobs in docker and podman: found while they start, read when they end.
#include <csignal>

#include "engine_support.h"
#include "job_support.h"

namespace throttletest::test {
namespace {

using ::testing::HasSubstr;

class EngineJob : public EngineTest {};
INSTANTIATE_TEST_SUITE_P(Engines, EngineJob,
                         ::testing::Values(LauncherKind::kDocker, LauncherKind::kPodman),
                         EngineName);

TEST_P(EngineJob, UsesWhatItWorksUnderItsLimit) {
  const Measurement m =
      RunJob(Program(GetParam(), {"--work=300", "--print=done"}, {.cpus = 0.25}), Patient());
  ASSERT_TRUE(m.validity.trusted()) << m.validity.ToString();
  ASSERT_TRUE(m.job->succeeded()) << m.job->ToString();
  EXPECT_NEAR(Seconds(m.cgroup.usage.value()), 0.3, 0.05);
  EXPECT_GT(m.job->elapsed.value(), 900ms);
  EXPECT_LT(m.job->at_most_before, 1s);
  EXPECT_GE(m.cgroup.throttled_periods.value(), 9);
  EXPECT_GT(m.cgroup.memory_peak.value(), 0);
  EXPECT_THAT(m.job->end.logs, HasSubstr("done"));
}

// The engine takes the cgroup of so short a job away before it says that the job ran.
TEST_P(EngineJob, OfTwentyMillisecondsIsReadBeforeItsCgroupGoes) {
  const Measurement m = RunJob(Program(GetParam(), {"--work=20", "--exit=3"}), Patient());
  ASSERT_TRUE(m.validity.trusted()) << m.validity.ToString();
  EXPECT_EQ(m.job->status().value(), 3);
  EXPECT_GE(m.cgroup.usage.value(), 20ms);
  EXPECT_LT(m.cgroup.usage.value(), 120ms) << "without what the runtime used before";
  EXPECT_LT(m.job->elapsed.value(), 2s) << "without the making of the image";
}

TEST_P(EngineJob, ThatNeedsTooMuchMemoryIsOomKilled) {
  const Measurement m =
      RunJob(Program(GetParam(), {"--allocate=128"},
                     {.memory = ByteSize(32 << 20), .memory_swap = ByteSize(32 << 20)}),
             Patient());
  EXPECT_TRUE(m.validity.trusted()) << m.validity.ToString();
  EXPECT_THAT(m.job->ToString(), HasSubstr("OOM-killed"));
  EXPECT_EQ(ParseBudget("oom_kills<=0").Evaluate(m).verdict, Verdict::kMissed);
}

}  // namespace
}  // namespace throttletest::test

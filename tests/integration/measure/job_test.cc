// Jobs in a cgroup of their own on the real kernel.
#include <csignal>
#include <filesystem>
#include <thread>

#include "job_support.h"
#include "service/instance.h"
#include "service_support.h"
#include "throttletest/base/error.h"

namespace throttletest::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Job : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto lack = internal::CgroupLauncherLack(); !lack.empty()) GTEST_SKIP() << lack;
  }
  void TearDown() override { EXPECT_THAT(CgroupsOf(::getpid()), IsEmpty()); }

  static Measurement Run(const std::vector<std::string>& flags, Limits limits = {},
                         const JobOptions& options = Patient()) {
    return RunJob(Program(LauncherKind::kCgroup, flags, std::move(limits)), options);
  }
  // What it was told to work, and its start: some milliseconds, ten times as many in emulation.
  static void ExpectWork(const Measurement& m, std::chrono::nanoseconds work) {
    EXPECT_GE(m.cgroup.usage.value(), work);
    EXPECT_LT(m.cgroup.usage.value(), work + 120ms);
  }
};

TEST_F(Job, UsesWhatItWorksAndTakesAsLongAsTheQuotaLetsIt) {
  const Measurement m = Run({"--work=400"}, {.quota = 25ms, .period = 100ms});
  ASSERT_TRUE(m.validity.trusted()) << m.validity.ToString();
  ASSERT_TRUE(m.job && m.job->succeeded()) << m.job->ToString();
  ExpectWork(m, 400ms);
  // 16 quotas of 25 ms, the last of which is not followed by a wait.
  EXPECT_GT(m.job->elapsed.value(), 1300ms);
  EXPECT_GE(m.cgroup.throttled_periods.value(), 13);
  EXPECT_LE(m.cgroup.throttled_periods.value(), m.cgroup.periods.value());
  EXPECT_GT(m.cgroup.throttled_time.value(), 900ms);
  EXPECT_EQ(m.cgroup.oom_kills.value(), 0);
  EXPECT_GT(m.cgroup.memory_peak.value(), 0);
  EXPECT_EQ(m.cgroup.wall, m.job->ran);
  EXPECT_FALSE(m.timeline.samples.empty());

  // What the message promises: under that limit the same job keeps to the bound.
  const BudgetResult missed = Budget::Elapsed(Comparison::kBelow, 900ms).Evaluate(m);
  EXPECT_EQ(missed.verdict, Verdict::kMissed);
  EXPECT_THAT(missed.explanation, HasSubstr("would have held"));
}

TEST_F(Job, WithoutLimitsHasElapsedAndNoThrottling) {
  const Measurement m = Run({"--work=200"});
  ASSERT_TRUE(m.validity.trusted()) << m.validity.ToString();
  ExpectWork(m, 200ms);
  EXPECT_GE(m.job->elapsed.value(), 200ms);
  EXPECT_FALSE(m.cgroup.throttle_ratio.has_value());
}

// Nothing is read too late: a job of a millisecond has its CPU time, too.
TEST_F(Job, OfAMillisecondIsMeasuredLikeAnyOther) {
  for (int i = 0; i < 20; ++i) {
    const Measurement m = Run({"--work=1", "--exit=0"}, {.cpus = 1});
    ASSERT_TRUE(m.validity.trusted()) << m.validity.ToString();
    ASSERT_TRUE(m.job->succeeded()) << m.job->ToString();
    ExpectWork(m, 1ms);
  }
}

TEST_F(Job, ThatFailsOrIsKilledSaysHowAndWhatItWrote) {
  const Measurement failed = Run({"--print=no such file", "--exit=3"});
  EXPECT_EQ(failed.job->status().value(), 3);
  EXPECT_TRUE(failed.validity.trusted()) << failed.validity.ToString();
  EXPECT_THAT(ParseBudget("exit_status<=0").Evaluate(failed).explanation,
              HasSubstr("exited with status 3; its last lines: no such file"));
  const Measurement killed = Run({"--print=half way", "--kill=9", "--sleep=5000"});
  EXPECT_EQ(killed.job->status().value(), 128 + SIGKILL);
  EXPECT_EQ(killed.job->ToString(), "was killed by SIGKILL, no OOM recorded");
}

TEST_F(Job, ThatNeedsTooMuchMemoryIsOomKilled) {
  const Measurement m =
      Run({"--allocate=64"}, {.memory = ByteSize(16 << 20), .memory_swap = ByteSize(16 << 20)});
  EXPECT_TRUE(m.validity.trusted()) << m.validity.ToString();
  EXPECT_EQ(m.job->ToString(), "was OOM-killed (1 kill)");
  EXPECT_EQ(m.cgroup.oom_kills.value(), 1);
  EXPECT_GT(m.cgroup.memory_peak.value(), 15 << 20);
  EXPECT_EQ(ParseBudget("oom_kills<=0").Evaluate(m).verdict, Verdict::kMissed);
  EXPECT_EQ(ParseBudget("elapsed<60m").Evaluate(m).verdict, Verdict::kInconclusive);
}

TEST_F(Job, ThatDoesNotEndIsStoppedAtItsTimeout) {
  JobOptions options = Patient();
  options.timeout = 300ms;
  const Measurement m = Run({"--sleep=60000"}, {.cpus = 0.5}, options);
  EXPECT_TRUE(m.validity.trusted()) << m.validity.ToString();
  EXPECT_TRUE(m.job->timed_out);
  EXPECT_FALSE(m.job->elapsed.has_value());
  EXPECT_GE(m.job->ran, 300ms);
  EXPECT_LT(m.job->ran, 2s);
  EXPECT_EQ(m.job->ToString(), "was stopped after its timeout of 300 ms");
}

TEST_F(Job, ThatIsInterruptedIsStoppedAndNotTrusted) {
  std::stop_source source;
  JobOptions options = Patient();
  options.stop = source.get_token();
  std::jthread later([&] {
    std::this_thread::sleep_for(200ms);
    source.request_stop();
  });
  const Measurement m = Run({"--sleep=60000"}, {}, options);
  EXPECT_THAT(m.validity.ToString(), HasSubstr("interrupted when the job had run for"));
  EXPECT_LT(m.job->ran, 5s);
}

TEST_F(Job, LeavesNothingThatItStarted) {
  const Measurement m = Run({"--leave", "--exit=0"});
  EXPECT_TRUE(m.job->succeeded());
  EXPECT_THAT(m.notes, Contains(HasSubstr("1 process of the job still ran")));
}

TEST_F(Job, ThatIsTakenOutOfItsCgroupIsInconclusive) {
  std::jthread mover([](const std::stop_token& done) {
    while (!done.stop_requested()) {
      for (const std::string& folder : CgroupsOf(::getpid())) {
        std::ifstream procs(folder + "/cgroup.procs");
        int pid = 0;
        if (procs >> pid) std::ofstream(folder + "/../cgroup.procs") << pid;
      }
      std::this_thread::sleep_for(20ms);
    }
  });
  const Measurement m = Run({"--sleep=1000"}, {.cpus = 0.5});
  EXPECT_THAT(m.validity.ToString(), HasSubstr("cgroup"));
  EXPECT_FALSE(m.validity.trusted());
}

TEST_F(Job, WhoseLimitIsChangedMeanwhileIsInconclusive) {
  std::jthread changer([] {
    std::this_thread::sleep_for(200ms);
    for (const std::string& folder : CgroupsOf(::getpid())) {
      std::ofstream(folder + "/cpu.cfs_quota_us") << 20000;
      std::ofstream(folder + "/cpu.max") << "20000 100000";
    }
  });
  const Measurement m = Run({"--sleep=600"}, {.cpus = 0.5});
  EXPECT_FALSE(m.validity.trusted());
  EXPECT_EQ(ParseBudget("elapsed<60m").Evaluate(m).verdict, Verdict::kInconclusive);
}

// What RunJob() refuses.
std::string Refusal(const JobSpec& spec, const JobOptions& options = Patient()) {
  try {
    RunJob(spec, options);
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST_F(Job, ThatCannotBeIsRefusedBeforeAnythingStarts) {
  JobSpec unknown{.command = {"no-such-program-here"}, .launcher = LauncherKind::kCgroup};
  EXPECT_THAT(Refusal(unknown), HasSubstr("no-such-program-here"));
  EXPECT_THAT(Refusal(JobSpec{.launcher = LauncherKind::kCgroup}), HasSubstr("command"));
  EXPECT_THAT(Refusal(Program(LauncherKind::kCgroup, {}, {.cpus = -1})), HasSubstr("-1"));
  JobOptions options = Patient();
  options.timeout = 0s;
  EXPECT_THAT(Refusal(Program(LauncherKind::kCgroup, {}), options), HasSubstr("timeout 0 s"));
  options = Patient();
  options.retries = -1;
  EXPECT_THAT(Refusal(Program(LauncherKind::kCgroup, {}), options), HasSubstr("retries -1"));
}

}  // namespace
}  // namespace throttletest::test

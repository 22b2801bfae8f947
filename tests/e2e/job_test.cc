// `throttletest job`, the fixtures' RunJob, and the examples about jobs, run as programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include <nlohmann/json.hpp>

#include "support/run_binary.h"
#include "support/sample_test.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using namespace std::chrono_literals;

class JobCommand : public test::SampleTest {
 protected:
  static test::RunResult Run(std::vector<std::string> options, std::vector<std::string> command) {
    std::vector<std::string> words = {THROTTLETEST, "job", "--launcher", "cgroup",
                                      // Builds that run beside these tests are not what they are
                                      // about.
                                      "--max-others-cpu", "1", "--max-steal", "1"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return test::RunBinary(words);
  }
  static test::RunResult Job(std::vector<std::string> options, std::vector<std::string> flags) {
    flags.insert(flags.begin(), JOB_PROGRAM);
    return Run(std::move(options), std::move(flags));
  }
};

TEST_F(JobCommand, IsInconclusiveWhenItsStartWasSeenTooLate) {
  const auto run =
      Job({"--cpus", "0.5", "--max-start-lag", "0ms", "--retries", "0"}, {"--work=20"});
  EXPECT_EQ(run.status, 3) << run.out << run.err;
  EXPECT_THAT(run.out + run.err, HasSubstr("before it was seen to run, above 0 s"));
}

TEST_F(JobCommand, MeetsItsBudgetsAndWritesJson) {
  const std::string file = (std::filesystem::temp_directory_path() /
                            ("throttletest-job-" + std::to_string(getpid()) + ".json"))
                               .string();
  const auto run = Job({"--cpus", "0.5", "--budget", "elapsed<20s", "--budget", "elapsed_ratio<20",
                        "--compare-unlimited", "--json", file},
                       {"--work=200"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("MET exit_status<=0"), HasSubstr("MET elapsed<20s"),
                    HasSubstr("MET elapsed_ratio<20"), ContainsRegex("\nunlimited +[0-9.]+ +1.00 "),
                    ContainsRegex("\nCPU 50 ms per 100 ms \\(0.5 CPUs\\) +[0-9.]+ +[0-9.]+ ")));
  std::ifstream stream(file);
  const auto json = nlohmann::json::parse(stream);
  std::filesystem::remove(file);
  EXPECT_EQ(json["schema"], "throttletest/run/1");
  EXPECT_GT(json["job"]["elapsed_ns"].get<std::int64_t>(), 200'000'000);
  EXPECT_EQ(json["job"]["exit_code"], 0);
  EXPECT_GT(json["job"]["unlimited"]["elapsed_ns"].get<std::int64_t>(), 0);
  EXPECT_EQ(json["verdicts"].size(), 3u);
  EXPECT_TRUE(json["load"].is_null());
}

TEST_F(JobCommand, SaysWhyAJobTookTooLong) {
  const auto run = Job({"--cpus", "0.25", "--budget", "elapsed<600ms"}, {"--work=300"});
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, ContainsRegex("MISSED elapsed<600ms: elapsed time .* is not below 600 ms"));
  EXPECT_THAT(run.out, ContainsRegex("[0-9]+ of [0-9]+ periods throttled, .* of the elapsed time; "
                                     "it used .* cpus >= 0\\.[5-9]5? would have held"));
}

TEST_F(JobCommand, OfAJobThatFailsIsKilledOrNeverEndsHasStatusOne) {
  const auto failed = Job({"--budget", "elapsed<60m"}, {"--print=no such file", "--exit=3"});
  EXPECT_EQ(failed.status, 1) << failed.out << failed.err;
  EXPECT_THAT(failed.out, AllOf(HasSubstr("MISSED exit_status<=0"),
                                HasSubstr("exited with status 3; its last lines: no such file"),
                                HasSubstr("INCONCLUSIVE elapsed<3600s")));
  EXPECT_THAT(failed.err, HasSubstr("no such file\n"));
  const auto killed = Job({}, {"--kill=9", "--sleep=9000"});
  EXPECT_EQ(killed.status, 1);
  EXPECT_THAT(killed.out, HasSubstr("was killed by SIGKILL, no OOM recorded"));
  const auto endless = Job({"--timeout", "300ms"}, {"--sleep=60000"});
  EXPECT_EQ(endless.status, 1);
  EXPECT_THAT(endless.out, HasSubstr("was stopped after its timeout of 300 ms"));
  const auto hungry = Job({"--memory", "16m", "--memory-swap", "16m"}, {"--allocate=64"});
  EXPECT_EQ(hungry.status, 1);
  EXPECT_THAT(hungry.out, HasSubstr("was OOM-killed (1 kill)"));
  EXPECT_EQ(Job({"--budget", "exit_status<=3"}, {"--exit=3"}).status, 0);
}

TEST_F(JobCommand, RefusesWhatCannotBe) {
  const auto refused = [&](std::vector<std::string> options, std::vector<std::string> command) {
    const auto run = Run(std::move(options), std::move(command));
    EXPECT_EQ(run.status, 2) << run.out << run.err;
    return run.err;
  };
  EXPECT_THAT(refused({}, {}), HasSubstr("put the job's command after --"));
  EXPECT_THAT(refused({"--budget", "p99<1s"}, {"true"}), HasSubstr("a job gets no requests"));
  EXPECT_THAT(refused({"--budget", "elapsed_ratio<2"}, {"true"}),
              HasSubstr("add --compare-unlimited"));
  EXPECT_THAT(refused({"--compare-unlimited"}, {"true"}), HasSubstr("has no limit to compare"));
  EXPECT_THAT(refused({"--timeout", "soon"}, {"true"}), HasSubstr("--timeout soon"));
  EXPECT_THAT(refused({"--timeout", "0s"}, {"true"}), HasSubstr("timeout 0 s"));
  EXPECT_THAT(refused({"--cpus", "much"}, {"true"}), HasSubstr("--cpus \"much\""));
  EXPECT_THAT(refused({"--until-decided"}, {"true"}), HasSubstr("--until-decided"));
  const auto unknown = Run({}, {"no-such-program-here"});
  EXPECT_EQ(unknown.status, 4) << unknown.err;
  EXPECT_THAT(unknown.err, HasSubstr("no-such-program-here"));
  const auto service = test::RunBinary({THROTTLETEST, "run", "--rate", "1", "--duration", "1s",
                                        "--get", "/", "--budget", "elapsed<1s", "--", "true"});
  EXPECT_EQ(service.status, 2);
  EXPECT_THAT(service.err, HasSubstr("`throttletest job` runs a command to its end"));
}

// Sends `signal` to the command once its job runs; returns how the command ended.
test::RunResult SignalWhileTheJobRuns(int signal) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("throttletest-runs-" + std::to_string(getpid()));
  auto run = std::async(std::launch::async, [&] {
    return test::RunBinary({THROTTLETEST, "job", "--launcher", "cgroup", "--", JOB_PROGRAM,
                            "--parent=" + file.string(), "--sleep=60000"},
                           {.timeout = 30s});
  });
  int command = 0;
  int job = 0;
  for (int i = 0; i < 1000 && !(std::ifstream(file) >> command >> job); ++i) {
    std::this_thread::sleep_for(10ms);
  }
  std::filesystem::remove(file);
  EXPECT_GT(command, 1) << "the job does not run";
  if (command > 1) kill(command, signal);
  test::RunResult result = run.get();
  for (int i = 0; i < 300 && job > 1 && kill(job, 0) == 0; ++i) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_NE(kill(job, 0), 0) << "the job still runs";
  return result;
}

TEST_F(JobCommand, InterruptedStopsTheJob) {
  const auto run = SignalWhileTheJobRuns(SIGINT);
  EXPECT_EQ(run.status, 130) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("interrupted when the job had run for"));
}

// The fixture sees that nothing is left.
TEST_F(JobCommand, KilledLeavesNothing) {
  EXPECT_EQ(SignalWhileTheJobRuns(SIGKILL).status, 128 + SIGKILL);
}

class JobSample : public test::SampleTest {
 protected:
  static test::RunResult Run(const std::string& name) {
    return test::RunBinary(
        {JOB_SAMPLE, "--gtest_filter=Batch." + name, "--throttletest_launcher=cgroup"});
  }
};

TEST_F(JobSample, PassesOnAJobThatKeepsToItsBounds) {
  const auto run = Run("Holds");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out,
              ContainsRegex("\\[ MEASURED \\] cgroup \\| CPU 50 ms per 100 ms \\(0.5 CPUs\\) \\| "
                            "exited with status 0, elapsed "));
}

TEST_F(JobSample, FailsWithTheReasonAtItsOwnLine) {
  const auto slow = Run("TakesTooLong");
  EXPECT_EQ(slow.status, 1) << slow.out << slow.err;
  EXPECT_THAT(slow.out, AllOf(HasSubstr("job_sample.cc:"), HasSubstr("is not below 600 ms"),
                              HasSubstr("periods throttled"), HasSubstr("would have held")));
  const auto failed = Run("Fails");
  EXPECT_EQ(failed.status, 1);
  EXPECT_THAT(failed.out, AllOf(HasSubstr("exited with status 3; its last lines: no such file"),
                                HasSubstr("INCONCLUSIVE: budget elapsed<3600s")));
  const auto refused = Run("IsNotThere");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.out, AllOf(HasSubstr("job_sample.cc:"), HasSubstr("-1")));
}

#ifdef BATCH_JOB
class JobExample : public test::SampleTest {};

TEST_F(JobExample, SysbenchTakesFourTimesAndTwice) {
  const auto run = test::RunBinary({BATCH_JOB, "--throttletest_launcher=cgroup"});
  if (run.out.find("no sysbench in PATH") != std::string::npos) {
    GTEST_SKIP() << "no sysbench in PATH";
  }
  if (run.out.find("this machine's pace changed") != std::string::npos) {
    GTEST_SKIP() << "this machine's pace changed during each of three rounds";
  }
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(ContainsRegex("free +[0-9.]+ +1.00 "),
                             ContainsRegex("25 ms per 100 ms +[0-9.]+ +(3\\.[6-9]|4\\.[0-3])"),
                             ContainsRegex("25 ms per 50 ms +[0-9.]+ +(1\\.[89]|2\\.[01])"),
                             HasSubstr("would have held")));
}

TEST_F(JobExample, LoopsAreThrottledOnEachCpu) {
  const auto run = test::RunBinary({SPIN_LOOPS, "--throttletest_launcher=cgroup"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, ContainsRegex("2 threads, one CPU +5\\.[0-9]+ "));
}
#endif

}  // namespace
}  // namespace throttletest

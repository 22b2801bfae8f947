// The examples about queue depths and processors, run as programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/run_binary.h"
#include "support/sample_test.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using namespace std::chrono_literals;

class QueueExample : public test::SampleTest {};
class JvmExample : public test::SampleTest {};

test::RunResult RunExample(const std::string& program, const std::string& launcher = "cgroup") {
  return test::RunBinary({program, "--throttletest_launcher=" + launcher}, {.timeout = 8min});
}

// That the page holds as it is, its own tests show.

// `cpus` in compose.yaml from 2 to 0.5 and nothing else: the message has the sum, the limit, its
// line and the depth that fits.
TEST_F(QueueExample, FailsWhenTheDeployedLimitIsCut) {
  const auto run = RunExample(CUT_QUEUE_SAMPLE);
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(
      run.out,
      AllOf(ContainsRegex("8 x worst service time [0-9.]+ s is above 3.6 s \\(8 x [0-9.]+ ms, the "
                          "worst of 10 requests sent one at a time, under CPU 50 ms per 100 ms "
                          "\\(0.5 CPUs\\)\\)"),
            ContainsRegex("A depth of [1-7] would fit: [1-7] x [0-9.]+ ms = [0-9.]+ s leaves"),
            ContainsRegex("[0-9]+ of [0-9]+ periods throttled: a higher limit would shorten"),
            ContainsRegex("The limit is declared in [^ ]*/cut/compose.yaml:6: "
                          "services.worker.cpus: 0.5"),
            HasSubstr("[  PASSED  ] 1 test.")));
}

TEST_F(QueueExample, TwoLimitsReproduceTheTrap) {
  const auto run = RunExample(QUEUE_DEPTH);
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out,
              AllOf(ContainsRegex("queue depth of 8 +missed"),
                    ContainsRegex("queue depth of 8 +met"), ContainsRegex("workers +1 "),
                    ContainsRegex("one job alone uses +(9[5-9]|100)\\.[0-9] %"),
                    HasSubstr("under other limits than are declared for deployment (CPU 100 ms per "
                              "100 ms (1.0 CPUs) instead of 50 ms per 100 ms (0.5 CPUs))")));
}

TEST_F(JvmExample, RoundsTheLimitUpInACgroup) {
  const auto run = RunExample(JVM_PROCESSORS);
  if (run.out.find("no java in PATH") != std::string::npos) GTEST_SKIP() << "no java in PATH";
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out,
              AllOf(ContainsRegex("  0.5 +1 +1 +serial"), ContainsRegex("  1 +1 +1 +serial"),
                    ContainsRegex("ActiveProcessorCount=2 +2 +2 +G1")));
}

// The image is made from this machine's JVM, with its folder and the libraries of its libraries.
TEST_F(JvmExample, RoundsTheLimitUpInAContainer) {
  const auto run = RunExample(JVM_PROCESSORS, "docker");
  if (run.out.find("no java in PATH") != std::string::npos) GTEST_SKIP() << "no java in PATH";
  if (run.out.find("CANNOT MEASURE HERE") != std::string::npos) {
    GTEST_SKIP() << "no container engine answers";
  }
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("(docker "), ContainsRegex("  0.5 +1 +1 +serial")));
}

}  // namespace
}  // namespace throttletest

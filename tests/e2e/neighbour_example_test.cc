// The example about neighbours, and what a test with several services says when one fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "support/run_binary.h"
#include "support/sample_test.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

class NeighbourExample : public test::SampleTest {};
class ServiceGroup : public test::SampleTest {
 protected:
  static test::RunResult Run(const std::string& test) {
    return test::RunBinary(
        {GROUP_SAMPLE, "--throttletest_launcher=cgroup", "--gtest_filter=" + test},
        {.timeout = 1min});
  }
};

TEST_F(NeighbourExample, IsNoticedOnTheSameCpuOnly) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two CPUs";
  auto run = test::RunBinary({NEIGHBOUR, "--throttletest_launcher=cgroup"}, {.timeout = 2min});
  // A machine too noisy to tell is no answer; it gets one more chance, as a wrong one does not.
  if (run.out.find("INCONCLUSIVE") != std::string::npos) {
    run = test::RunBinary({NEIGHBOUR, "--throttletest_launcher=cgroup"}, {.timeout = 2min});
  }
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(
      run.out,
      AllOf(HasSubstr("[ MEASURED ] \"light\", cgroup | CPU 50 ms"),
            ContainsRegex("P50 +[0-9.]+\\.\\.[0-9.]+ ms +[0-9.]+\\.\\.[0-9.]+ ms +1202 -> "
                          "1186 ms"),
            ContainsRegex("P50 of \"during\" .* is no more than [0-9.]+ % above \"before\""),
            ContainsRegex("P50 of \"during\" .* is more than [0-9.]+ % above \"before\""),
            HasSubstr("Meanwhile its neighbour \"heavy\" used")));
}

TEST_F(ServiceGroup, OneThatNeverBecomesReadyFailsTheTestByName) {
  const auto run = Run("Stuck.*");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("SERVICE NOT STARTED: service \"stuck\": "),
                             Not(HasSubstr("the body ran"))));
}

TEST_F(ServiceGroup, AnUnknownNameFailsTheTestAndListsTheOthers) {
  const auto run = Run("Pair.KnowsItsServicesByName");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("group_sample.cc"),
                             HasSubstr("ERROR: no service named \"nobody\" runs; there are "
                                       "\"light\", \"heavy\"")));
}

TEST_F(ServiceGroup, LosingTheLoadedServiceIsInconclusive) {
  const auto run = Run("Pair.LosesTheLoadedOne");
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("INCONCLUSIVE: the background load on \"heavy\" cannot be "
                                       "relied on: its service has ended: killed by SIGKILL"),
                             Not(HasSubstr("the body went on"))));
}

}  // namespace
}  // namespace throttletest

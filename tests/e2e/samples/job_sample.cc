// Jobs in a test program, one that holds and those that do not; run by job_test.cc.
#include <throttletest/throttletest.h>

using namespace throttletest;
using namespace std::chrono_literals;

namespace {

class Batch : public ThrottleTestBase {
 protected:
  Measurement Work(const std::vector<std::string>& flags, const Limits& limits) {
    JobSpec spec{.command = {JOB_PROGRAM}, .limits = limits};
    spec.command.insert(spec.command.end(), flags.begin(), flags.end());
    // Builds that run beside these tests are not what they are about.
    return RunJob(spec, {.bounds = {.max_steal = 1, .max_others_cpu = 1}, .timeout = 30s});
  }
};

TEST_F(Batch, Holds) {
  const Measurement job = Work({"--work=200"}, {.cpus = 0.5});
  const Measurement free = Work({"--work=200"}, {});
  EXPECT_THAT(job, testing::AllOf(Succeeds(), ElapsedBelow(20s), CpuUsageBelow(0.7)));
  // The other run has the same command only with the same flags.
  EXPECT_THAT(job, ElapsedRatioBelow(free, 20));
}

TEST_F(Batch, TakesTooLong) {
  const Measurement job = Work({"--work=300"}, {.cpus = 0.25});
  EXPECT_THAT(job, ElapsedBelow(600ms));
}

TEST_F(Batch, Fails) {
  const Measurement job = Work({"--print=no such file", "--exit=3"}, {.cpus = 0.5});
  EXPECT_THAT(job, Succeeds());
  EXPECT_THAT(job, ElapsedBelow(1h));
}

TEST_F(Batch, IsNotThere) { Work({}, {.cpus = -1}); }

}  // namespace

// The examples about memory, run as programs.
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

test::RunResult RunExample(const std::string& program, const std::string& launcher) {
  return test::RunBinary({program, "--throttletest_launcher=" + launcher}, {.timeout = 4min});
}

class MemoryExample : public test::SampleTest {};

TEST_F(MemoryExample, PeakIsLowerUnderAHigherCpuLimit) {
  const auto run = RunExample(MEMORY_PEAK, "cgroup");
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(ContainsRegex("  0.5 +[0-9]+ +[0-9.]+ MiB .* 1.75, 5809 MiB"),
                             ContainsRegex("  1.5 +[0-9]+ +[0-9.]+ MiB .* 3.5, 5315 MiB")));
}

class MemoryLimitsExample : public test::SampleTest,
                            public testing::WithParamInterface<const char*> {};

TEST_P(MemoryLimitsExample, MeanTheSameOnEveryLauncher) {
  const auto run = RunExample(MEMORY_LIMITS, GetParam());
  if (run.out.find("CANNOT MEASURE HERE") != std::string::npos) {
    GTEST_SKIP() << GetParam() << " does not work here";
  }
  if (run.out.find("does not account swap") != std::string::npos) {
    GTEST_SKIP() << "no swap accounting here";
  }
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out,
              AllOf(ContainsRegex("--memory-swap 500m +200 MiB +500 MiB +300 MiB +300 MB of swap"),
                    ContainsRegex("-m 200m +200 MiB +400 MiB +200 MiB"),
                    ContainsRegex("--memory-swap 200m +200 MiB +200 MiB +none"),
                    ContainsRegex("--memory-swap -1 +200 MiB +unlimited +unlimited"),
                    HasSubstr("OOM-killed (1 kill) at a memory limit of 64 MiB (64 MiB with swap)"),
                    ContainsRegex("at the end +OOM-killed \\(1 kill\\)")));
}

INSTANTIATE_TEST_SUITE_P(Launchers, MemoryLimitsExample,
                         testing::Values("cgroup", "docker", "podman"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace throttletest

// Suites that run at the same time have the verdicts of a suite that runs alone.
//
// THROTTLETEST_TOGETHER says how many times two whole suites are run at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <sstream>
#include <thread>
#include <utility>

#include "support/run_binary.h"
#include "support/sample_test.h"
#include "support/temp_tree.h"

namespace throttletest {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

struct Suite {
  std::map<std::string, std::string> verdicts;  // "OK" or "FAILED" of each test
  std::vector<std::pair<std::int64_t, std::int64_t>> windows;
};

// From what the sample printed, be it through ctest.
Suite Read(const std::string& out) {
  Suite suite;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    const auto window = line.find("window ");
    std::int64_t begin = 0;
    std::int64_t end = 0;
    if (window != std::string::npos &&
        std::istringstream(line.substr(window + 7)) >> begin >> end) {
      suite.windows.emplace_back(begin, end);
    }
    for (const auto& [mark, verdict] :
         {std::pair("[       OK ] ", "OK"), std::pair("[  FAILED  ] ", "FAILED")}) {
      const auto at = line.find(mark);
      const auto name_end = line.find(" (", at == std::string::npos ? 0 : at);
      if (at == std::string::npos || name_end == std::string::npos) continue;
      const auto name_at = at + std::string(mark).size();
      suite.verdicts[line.substr(name_at, name_end - name_at)] = verdict;
    }
  }
  return suite;
}

// Did any two measure at the same time?
bool Overlap(std::vector<std::pair<std::int64_t, std::int64_t>> windows) {
  std::sort(windows.begin(), windows.end());
  for (std::size_t i = 1; i < windows.size(); ++i) {
    if (windows[i].first < windows[i - 1].second) return true;
  }
  return false;
}

class Together : public test::SampleTest {
 protected:
  static Suite Run(const std::map<std::string, std::string>& env = {}) {
    const auto run =
        test::RunBinary({TOGETHER_SAMPLE, "--throttletest_launcher=cgroup"}, {.env = env});
    return Read(run.out);
  }
  static void ExpectTheVerdictsOfASoloRun(const Suite& suite) {
    EXPECT_THAT(suite.verdicts, UnorderedElementsAre(Pair("Shared.MeetsItsBudget", "OK"),
                                                     Pair("Shared.MissesItsBudget", "FAILED")));
  }
  // Those of several suites in one.
  static Suite Join(Suite one, const Suite& other) {
    one.verdicts.insert(other.verdicts.begin(), other.verdicts.end());
    one.windows.insert(one.windows.end(), other.windows.begin(), other.windows.end());
    return one;
  }
  static int Times() {
    const char* text = std::getenv("THROTTLETEST_TOGETHER");
    return text == nullptr || *text == '\0' ? 1 : std::atoi(text);
  }
};

TEST_F(Together, AloneOneMeetsAndOneMisses) { ExpectTheVerdictsOfASoloRun(Run()); }

TEST_F(Together, TwoSuitesAtOnceHaveTheVerdictsOfOneAlone) {
  for (int i = 0; i < Times(); ++i) {
    auto other = std::async(std::launch::async, [] { return Run(); });
    const Suite one = Run();
    const Suite two = other.get();
    ExpectTheVerdictsOfASoloRun(one);
    ExpectTheVerdictsOfASoloRun(two);
    EXPECT_EQ(Join(one, two).windows.size(), 4U);
    EXPECT_FALSE(Overlap(Join(one, two).windows)) << "run " << i;
  }
}

TEST_F(Together, TwoShardsAtOnceHaveTheVerdictsOfOneRun) {
  const auto shard = [](const char* index) {
    return Run({{"GTEST_TOTAL_SHARDS", "2"}, {"GTEST_SHARD_INDEX", index}});
  };
  auto other = std::async(std::launch::async, shard, "1");
  const Suite first = shard("0");
  const Suite second = other.get();
  EXPECT_EQ(first.verdicts.size(), 1U);
  EXPECT_EQ(second.verdicts.size(), 1U);
  ExpectTheVerdictsOfASoloRun(Join(first, second));
  EXPECT_FALSE(Overlap(Join(first, second).windows));
}

// Registered without RUN_SERIAL, as by a project that does not use throttletest_discover_tests.
TEST_F(Together, C158EightTestsUnderCtestJ8HaveTheVerdictsOfASoloRun) {
  const testing_support::TempTree tree;
  std::string tests;
  for (int i = 0; i < 4; ++i) {
    for (const std::string name : {"Meets", "Misses"}) {
      tests += "add_test(" + name + std::to_string(i) +
               " \"" TOGETHER_SAMPLE "\" --throttletest_launcher=cgroup --gtest_filter=*" + name +
               "*)\n";
    }
  }
  tree.Write("CTestTestfile.cmake", tests);
  const auto run = test::RunBinary({CTEST, "-j8", "--test-dir", tree.root(), "--verbose"});
  EXPECT_THAT(run.out, HasSubstr("50% tests passed, 4 tests failed out of 8")) << run.out;
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(run.out, HasSubstr("- Misses" + std::to_string(i) + " (Failed)"));
  }
  const Suite suite = Read(run.out);
  EXPECT_EQ(suite.windows.size(), 8U) << run.out;
  EXPECT_FALSE(Overlap(suite.windows)) << run.out;
}

TEST_F(Together, AWaitIsToldWithTheHolder) {
  const testing_support::TempTree tree;
  // The first holds the lock while it starts a service that is never ready.
  const std::map<std::string, std::string> env = {{"THROTTLETEST_LOCK", tree.Path("lock")}};
  const std::vector<std::string> holder = {
      THROTTLETEST, "run",   "--launcher", "cgroup", "--ready-timeout", "2s", "--rate",
      "10",         "--get", "/",          "--",     "sleep",           "600"};
  auto first =
      std::async(std::launch::async, [&] { return test::RunBinary(holder, {.env = env}); });
  for (int i = 0; i < 1000 && !tree.Exists("lock"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const std::vector<std::string> waits = {THROTTLETEST,
                                          "run",
                                          "--launcher",
                                          "cgroup",
                                          "--rate",
                                          "50",
                                          "--duration",
                                          "1s",
                                          "--max-others-cpu",
                                          "1",
                                          "--max-steal",
                                          "1",
                                          "--max-start-lag",
                                          "10s",
                                          "--warmup",
                                          "0s",
                                          "--get",
                                          "/healthz",
                                          "--",
                                          BURN_SERVER,
                                          "--port={port}"};
  const auto second = test::RunBinary(waits, {.env = env});
  EXPECT_THAT(second.err, testing::ContainsRegex("waiting for the measurement of process [0-9]+ "
                                                 "\\(throttletest\\)"));
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_EQ(first.get().status, 4);
}

}  // namespace
}  // namespace throttletest

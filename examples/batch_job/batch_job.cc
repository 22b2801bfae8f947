// What quota, period and cpuset make of a batch job: `sysbench cpu run` free, at a quarter of a CPU
// in periods of 100 ms and of half a CPU in periods of 50 ms, and pinned to two CPUs with one and
// with two threads. The table has what was measured here and what is published.
//
// Needs sysbench (a package of Debian's); skipped by name without it.
#include <throttletest/throttletest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

using namespace throttletest;
using namespace std::chrono_literals;

namespace {

bool HasSysbench() {
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    std::error_code ec;
    if (std::filesystem::exists(rest.substr(0, colon) + "/sysbench", ec)) return true;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return false;
}

double Seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

class BatchJob : public ThrottleTestBase {
 protected:
  void SetUp() override {
    if (!HasSysbench()) {
      GTEST_SKIP() << "no sysbench in PATH: install it, for example with ci/setup";
    }
  }

  Measurement Sysbench(int events, int threads, const Limits& limits) {
    Measurement job =
        RunJob({.command = {"sysbench", "cpu", "--time=0", "--events=" + std::to_string(events),
                            "--threads=" + std::to_string(threads), "run"},
                .limits = limits});
    EXPECT_THAT(job, Succeeds());
    return job;
  }

  // The same work costs the same CPU time, unless the machine's own pace has changed: such runs are
  // no comparison.
  static bool SamePace(const Measurement& a, const Measurement& b) {
    const double ratio = Seconds(b.cgroup.usage.value()) / Seconds(a.cgroup.usage.value());
    return ratio > 0.94 && ratio < 1.06;
  }

  // So many events that the free run takes a little more than a second here.
  int Events() {
    constexpr int kProbe = 1500;
    Sysbench(kProbe, 1, {});  // what is cold is slow
    const Measurement probe = Sysbench(kProbe, 1, {});
    const double rate = kProbe / Seconds(probe.job->elapsed.value());
    return std::max(kProbe, static_cast<int>(1.2 * rate) / 100 * 100);
  }
};

TEST_F(BatchJob, TakesAsManyTimesLongerAsItsShareIsSmaller) {
  const int events = Events();
  const Limits quarter{.quota = 25ms, .period = 100ms};
  const Limits half{.quota = 25ms, .period = 50ms};
  const std::string cpus = OnlineCpus().count() > 1 ? "0-1" : "0";
  Measurement free, at_quarter, at_half, pinned;
  bool same_pace = false;
  for (int attempt = 1; attempt <= 3 && !same_pace; ++attempt) {
    free = Sysbench(events, 1, {});
    at_quarter = Sysbench(events, 1, quarter);
    at_half = Sysbench(events, 1, half);
    pinned = Sysbench(events, 1, {.cpuset = cpus});
    same_pace = SamePace(free, at_quarter) && SamePace(free, at_half) && SamePace(free, pinned);
  }
  const Measurement two_threads = Sysbench(events, 2, {.cpuset = cpus});

  JobTable table;
  table.Add("free", free);
  table.Remark("free", "8.23 s");
  table.Add("25 ms per 100 ms", at_quarter);
  table.Remark("25 ms per 100 ms", "32.6 s (x4.0)");
  table.Add("25 ms per 50 ms", at_half);
  table.Remark("25 ms per 50 ms", "16.7 s (x2.0)");
  table.Add("cpuset " + cpus + ", 1 thread", pinned);
  table.Remark("cpuset " + cpus + ", 1 thread", "8.48 s (x1.0)");
  table.Add("cpuset " + cpus + ", 2 threads", two_threads);
  table.Remark("cpuset " + cpus + ", 2 threads", "4.30 s (x0.52)");
  std::cout << "\nsysbench cpu run, " << events << " events (" << free.launcher_version
            << "); last column: published, 10000 events\n\n"
            << table.ToString() << "\n";

  if (!same_pace) GTEST_SKIP() << "this machine's pace changed during each of three rounds";
  EXPECT_THAT(at_quarter, ElapsedRatioBelow(free, 4.4));
  EXPECT_THAT(at_quarter, testing::Not(ElapsedRatioBelow(free, 3.6)));
  EXPECT_THAT(at_half, ElapsedRatioBelow(free, 2.2));
  EXPECT_THAT(at_half, testing::Not(ElapsedRatioBelow(free, 1.8)));
  EXPECT_THAT(pinned, ElapsedRatioBelow(free, 1.15));
  EXPECT_THAT(at_quarter, testing::Not(ThrottleRatioBelow(0.9)));
  if (OnlineCpus().count() > 1) {
    const double ratio = Seconds(two_threads.job->ran) / Seconds(free.job->ran);
    EXPECT_LT(ratio, 0.75) << "two threads on two CPUs";
  }

  // What a missed budget says: why, and what would have held.
  const BudgetResult missed =
      Budget::Elapsed(Comparison::kBelow, 2 * free.job->ran).Evaluate(at_quarter);
  std::cout << "A budget of twice the free run, at 25 ms per 100 ms: " << missed.explanation
            << "\n\n";
  EXPECT_EQ(missed.verdict, Verdict::kMissed);
}

}  // namespace

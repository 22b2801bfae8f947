// What throttled time adds up: endless loops at half a CPU for 5 s.
//
// It is counted once for each CPU that had work to do and was not let, not for each thread: two
// threads on two CPUs wait for more than the time that passes, and on one CPU for half of it.
#include <throttletest/throttletest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

using namespace throttletest;
using namespace std::chrono_literals;

namespace {

constexpr int kMilliseconds = 5000;

struct Setting {
  const char* name;
  int threads;
  const char* cpuset;  // empty: free
  const char* published;
};

const std::vector<Setting> kSettings = {
    {"1 thread, free", 1, "", "52 periods, 2.72 s, 52.2 ms"},
    {"2 threads, free", 2, "", "52 periods, 7.93 s, 152.4 ms"},
    {"2 threads, one CPU", 2, "0", "51 periods, 2.56 s, 50.2 ms"},
    {"4 threads, free", 4, "", "53 periods, 19.53 s, 368.5 ms"},
};

class SpinLoops : public ThrottleTestBase {};

TEST_F(SpinLoops, AreThrottledOnEachCpuThatHasWork) {
  const int online = OnlineCpus().count();
  JobTable table;
  std::vector<Measurement> jobs;
  for (const Setting& setting : kSettings) {
    const Measurement job =
        RunJob({.command = {SPIN, std::to_string(setting.threads), std::to_string(kMilliseconds)},
                .limits = {.cpus = 0.5, .cpuset = setting.cpuset}});
    EXPECT_THAT(job, Succeeds());
    table.Add(setting.name, job);
    table.Remark(setting.name, setting.published);
    jobs.push_back(job);
  }
  std::cout
      << "\nEndless loops at 0.5 CPU for 5 s (" << jobs[0].launcher_version
      << ", this host: " << online << " CPUs); last column: published\n\n"
      << table.ToString()
      << "\nThe quota of 50 ms is used up by n CPUs in 50 / n ms, and each then waits for the "
         "rest of the 100 ms.\n\n";

  for (std::size_t i = 0; i < jobs.size(); ++i) {
    SCOPED_TRACE(kSettings[i].name);
    const CgroupDelta& d = jobs[i].cgroup;
    // 50 periods in 5 s, and those at both ends.
    EXPECT_NEAR(static_cast<double>(d.periods.value()), 51, 3);
    EXPECT_GE(d.throttled_periods.value() + 3, d.periods.value());
    const int busy = *kSettings[i].cpuset != '\0' ? 1 : std::min(kSettings[i].threads, online);
    const double expected = 100.0 * busy - 50;
    const double per_period =
        std::chrono::duration<double, std::milli>(d.throttled_time.value()).count() /
        static_cast<double>(d.throttled_periods.value());
    EXPECT_NEAR(per_period, expected, 0.2 * expected);
    EXPECT_THAT(jobs[i], CpuUsageBelow(0.6));
  }
  if (online > 1) EXPECT_GT(jobs[1].cgroup.throttled_time.value(), jobs[1].job->ran);
  EXPECT_LT(jobs[2].cgroup.throttled_time.value(), jobs[2].job->ran);
}

}  // namespace

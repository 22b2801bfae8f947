// A quota of one CPU is not one pinned CPU.
//
// With a quota, a burst runs on all CPUs until the period's quota is used up, then everything stops
// until the next period. With a cpuset of one CPU it is never stopped and never faster than one
// CPU. The period matters, too: the same share in shorter periods gives shorter stalls.
//
// SWEEP_SECONDS (default 10) and SWEEP_ROUNDS (default 2) in the environment change its length.
#include <throttletest/throttletest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <thread>

using namespace throttletest;
using namespace std::chrono_literals;

namespace {

struct Setting {
  const char* name;
  Limits limits;
  const char* published;
};

const Setting kSettings[] = {
    {"quota 100/100 ms",
     {.quota = 100ms, .period = 100ms},
     "8-CPU host: p50 31-45, p99 142-246, 22-28 %"},
    {"cpuset 1 CPU", {.cpuset = "0"}, "8-CPU host: p50 166, p99 190-273, no quota"},
    {"quota 50/50 ms", {.quota = 50ms, .period = 50ms}, ""},
    {"quota 10/10 ms", {.quota = 10ms, .period = 10ms}, ""},
};

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  const int value = text == nullptr ? otherwise : std::atoi(text);
  return value > 0 ? value : otherwise;
}

// When a burst of `work` ends that starts with a full quota on `cpus` CPUs, by the arithmetic of
// quota and period.
std::chrono::milliseconds BurstEnd(std::chrono::milliseconds work, int cpus,
                                   std::chrono::milliseconds quota,
                                   std::chrono::milliseconds period) {
  std::chrono::milliseconds end{0};
  const auto per_period = std::min(quota, cpus * period);
  for (; work > per_period; work -= per_period) end += period;
  return end + work / cpus;
}

class CpusVsCpuset : public ThrottleTestBase {
 protected:
  Measurement MeasureUnder(const Limits& limits) {
    Service& service = Start({.command = {BURN_SERVER, "--port={port}", "--threads=8"},
                              .limits = limits,
                              .ready = HttpReady("/healthz")});
    const std::chrono::seconds length(FromEnvironment("SWEEP_SECONDS", 10));
    Measurement m =
        MeasureOn(service, Batches(8).Every(1s).For(length).WarmUp(2s), Get("/burn?ms=20"));
    service.Stop();
    return m;
  }
};

TEST_F(CpusVsCpuset, OnlyTheQuotaThrottles) {
  const int cpus = static_cast<int>(std::thread::hardware_concurrency());
  ComparisonTable table;
  std::vector<Measurement> last;
  for (int round = 0; round < FromEnvironment("SWEEP_ROUNDS", 2); ++round) {
    last.clear();
    for (const Setting& setting : kSettings) {
      last.push_back(MeasureUnder(setting.limits));
      table.Add(setting.name, last.back());
      table.Remark(setting.name, setting.published);
    }
  }
  std::cout << "\n8 x /burn?ms=20 every second: one CPU's worth, four ways (this host: " << cpus
            << " CPUs)\n"
            << table.ToString() << "\nMedian of the k-th fastest answer of a batch, ms\n"
            << table.OrderMediansToString() << "\nArithmetic for a burst of 160 ms CPU on " << cpus
            << " CPUs: quota 100/100 ms ends it after "
            << BurstEnd(160ms, cpus, 100ms, 100ms).count() << " ms, quota 10/10 ms after "
            << BurstEnd(160ms, cpus, 10ms, 10ms).count() << " ms, one pinned CPU after 160 ms.\n\n";

  const Measurement &quota = last[0], &pinned = last[1];
  EXPECT_EQ(pinned.cgroup.throttle_ratio.kind(), OutcomeKind::kNotAvailable)
      << "a cpuset has no quota: that is not 0 %";
  EXPECT_DOUBLE_EQ(pinned.cgroup.effective.cpus, 1.0);
  EXPECT_EQ(pinned.cgroup.effective.source, EffectiveCpuLimit::Source::kCpuset);
  if (cpus >= 2) {
    EXPECT_GE(quota.cgroup.throttle_ratio.value(), 0.10);
    // The first answers come while the quota lasts, on all CPUs; pinned they share one.
    EXPECT_LT(quota.load.BatchOrderMedians().front(), pinned.load.BatchOrderMedians().front());
  }
}

}  // namespace

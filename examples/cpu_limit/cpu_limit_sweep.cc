// The same load under five CPU limits, in interleaved rounds, as one table.
//
// Server: 8 threads; /burn?ms=20 does a fixed amount of work, about 20 ms of CPU. Load: 8 requests
// at the same instant every second. Mean CPU use is about 0.2 CPUs under every limit, and says
// nothing: whether the burst's 160 ms fit into one period's quota says everything.
//
// SWEEP_SECONDS (default 20) and SWEEP_ROUNDS (default 1) in the environment change its length.
#include <throttletest/throttletest.h>

#include <cstdlib>
#include <iostream>
#include <thread>

using namespace throttletest;
using namespace std::chrono_literals;

namespace {

struct Setting {
  const char* name;
  Limits limits;
  const char* published;  // on 8 CPUs, cgroup v2: p50, p99, throttled periods
};

const Setting kSettings[] = {
    {"none", {}, "8-CPU host: p50 29-31, p99 47-66, no quota"},
    {"4", {.cpus = 4}, "8-CPU host: p50 29-30, p99 48-137, 0 %"},
    {"2", {.cpus = 2}, "8-CPU host: p50 29-31, p99 44-45, 0-1 %"},
    {"1", {.cpus = 1}, "8-CPU host: p50 52-111, p99 210-285, 28-31 %"},
    {"0.5", {.cpus = 0.5}, "8-CPU host: p50 227-304, p99 394-413, 58-60 %"},
};

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  const int value = text == nullptr ? otherwise : std::atoi(text);
  return value > 0 ? value : otherwise;
}

class CpuLimitSweep : public ThrottleTestBase {
 protected:
  Measurement MeasureUnder(const Limits& limits) {
    ServiceSpec spec{.command = {BURN_SERVER, "--port={port}", "--threads=8"},
                     .limits = limits,
                     .ready = HttpReady("/healthz")};
    Service& service = Start(spec);
    const std::chrono::seconds length(FromEnvironment("SWEEP_SECONDS", 20));
    Measurement m =
        MeasureOn(service, Batches(8).Every(1s).For(length).WarmUp(3s), Get("/burn?ms=20"));
    service.Stop();
    return m;
  }
};

TEST_F(CpuLimitSweep, StallsFollowTheQuotaNotTheMeanUse) {
  ComparisonTable table;
  std::vector<Measurement> last;
  for (int round = 0; round < FromEnvironment("SWEEP_ROUNDS", 1); ++round) {
    last.clear();
    for (const Setting& setting : kSettings) {
      last.push_back(MeasureUnder(setting.limits));
      table.Add(setting.name, last.back());
      table.Remark(setting.name, setting.published);
    }
  }
  std::cout << "\n8 x /burn?ms=20 every second, by CPU limit (this host: "
            << std::thread::hardware_concurrency() << " CPUs)\n"
            << table.ToString() << "\nMedian of the k-th fastest answer of a batch, ms\n"
            << table.OrderMediansToString() << "\n";
  for (const Setting& setting : kSettings) {
    if (setting.limits.cpus.value_or(0) > std::thread::hardware_concurrency()) {
      std::cout << "A limit of " << setting.name << " CPUs is pointless on this host: it has "
                << std::thread::hardware_concurrency() << ", so the quota can never be used up.\n";
    }
  }

  const Measurement &none = last[0], &two = last[2], &one = last[3], &half = last[4];
  EXPECT_EQ(none.cgroup.throttle_ratio.kind(), OutcomeKind::kNotAvailable) << "no limit is not 0 %";
  EXPECT_THAT(two, ThrottleRatioBelow(0.05));
  EXPECT_GE(one.cgroup.throttle_ratio.value(), 0.12);
  EXPECT_LE(one.cgroup.throttle_ratio.value(), 0.45);
  EXPECT_GE(half.cgroup.throttle_ratio.value(), 0.40);
  EXPECT_LE(half.cgroup.throttle_ratio.value(), 0.75);
  EXPECT_GE(half.load.ResponseTimes().At(Percentile(99)),
            Latency(2 * none.load.ResponseTimes().At(Percentile(99)).value()));
}

}  // namespace

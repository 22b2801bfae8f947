// A small suite with known verdicts, run several times at once by together_test.cc. Each test says
// when it measured, on the clock that all processes share.
#include <throttletest/throttletest.h>

#include <cstdio>

using namespace throttletest;
using namespace std::chrono_literals;

namespace {

// 4 x 10 ms at once every 200 ms, under a period of 10 ms.
const LoadPlan kBursts = Batches(4).Every(200ms).For(600ms).WarmUp(0s);

// What else runs on the machine is not what these tests are about.
MeasureOptions Anywhere() {
  MeasureOptions options;
  options.bounds.start_lag_p99 = 10s;
  options.bounds.max_others_cpu = options.bounds.max_steal = 1;
  options.bounds.min_periods = 3;
  return options;
}

ServiceSpec Burn(double cpus) {
  return {.command = {BURN_SERVER, "--port={port}", "--threads=4"},
          .limits = {.cpus = cpus, .period = 10ms},
          .ready = HttpReady("/healthz")};
}

void Tell(const Measurement& m) {
  const auto begin = m.load.epoch.time_since_epoch();
  std::printf("window %lld %lld\n", static_cast<long long>(begin.count()),
              static_cast<long long>((begin + m.cgroup.wall).count()));
  std::fflush(stdout);
}

// Idle while its suite's other tests run, and while other suites measure.
class Shared : public SharedServiceTest<Shared> {
 public:
  static ServiceSpec Service() { return Burn(8); }
};

TEST_F(Shared, MeetsItsBudget) {
  const Measurement m = Measure(kBursts, Get("/burn?ms=10"), Anywhere());
  Tell(m);
  EXPECT_THAT(m, ThrottleRatioBelow(0.05));
}

TEST_F(Shared, MissesItsBudget) {
  UpdateLimits({.cpus = 0.2, .period = 10ms});
  const Measurement m = Measure(kBursts, Get("/burn?ms=10"), Anywhere());
  Tell(m);
  EXPECT_THAT(m, ThrottleRatioBelow(0.2));
}

}  // namespace

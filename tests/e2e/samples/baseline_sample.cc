// One service whose CPU limit comes from the environment, judged against a baseline and against
// itself under another limit.
#include <throttletest/throttletest.h>

#include <cstdlib>

using namespace throttletest;
using namespace std::chrono_literals;

namespace {

class Burn : public ThrottleTest {
 protected:
  ServiceSpec Service() override {
    const char* cpus = std::getenv("SAMPLE_CPUS");
    return {.command = {BURN_SERVER, "--port={port}", "--threads=8"},
            .limits = {.cpus = cpus == nullptr ? 8.0 : std::atof(cpus)},
            .ready = HttpReady("/healthz")};
  }
  // Start lag is the machine's affair; these tests are about everything else.
  static MeasureOptions Patient() { return {.bounds = {.start_lag_p99 = 10s}}; }
};

TEST_F(Burn, NoWorseThanBefore) {
  const Measurement m =
      Measure(Batches(8).Every(100ms).For(1400ms).WarmUp(0s), Get("/burn?ms=5"), Patient());
  // Times of a busy machine are no news here. Throttling is: 8 threads never use up 8 CPUs.
  EXPECT_THAT(m, NoWorseThan(Baseline("burst").WithTolerance(1000)));
}

TEST_F(Burn, NoSlowerOnAFifthOfTheCpu) {
  const Rounds rounds = Compare({{"whole", {.cpus = 1}}, {"fifth", {.cpus = 0.2}}},
                                Batches(8).Every(500ms).For(1s).WarmUp(0s), Get("/burn?ms=10"),
                                {.measure = Patient()});
  EXPECT_THAT(rounds, NoSlower("fifth", "whole", {.figure = RunFigure::kP50}));
}

TEST_F(Burn, ComparesNothingWithItself) {
  Compare({{.name = "alone", .limits = {.cpus = 1.0}}}, Batches(8).Every(1s).For(1s), Get("/"));
}

}  // namespace

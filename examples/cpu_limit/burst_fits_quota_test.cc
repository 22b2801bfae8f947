// A burst that has to fit a CPU quota: the page to copy.
//
// The service needs about 160 ms of CPU for a burst of 8 requests. A limit of 2 CPUs gives it 200
// ms in each period of 100 ms, so no burst is stopped. Set `cpus` to 0.5 and run it again: average
// CPU use stays where it was, and the test fails with the reason.
#include <throttletest/throttletest.h>

using namespace throttletest;
using namespace std::chrono_literals;

class CpuLimit : public ThrottleTest {
 protected:
  ServiceSpec Service() override {
    return {.command = {BURN_SERVER, "--port={port}", "--threads=8"},
            .limits = {.cpus = 2.0},
            .ready = HttpReady("/healthz")};
  }
};

TEST_F(CpuLimit, BurstFitsQuota) {
  const Measurement m = Measure(Batches(8).Every(1s).For(20s).WarmUp(3s), Get("/burn?ms=20"));
  EXPECT_THAT(m, ThrottleRatioBelow(0.05));
  EXPECT_THAT(m, AllOf(P99Below(250ms), NoFailedRequests()));
}

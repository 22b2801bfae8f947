// A queue depth that was derived from a measured service time: the page to copy.
//
// The service works on one job at a time and lets 8 in, the one that is worked on included. Its
// callers give up 3.6 s after they have submitted a job, so 8 x the worst service time must not be
// longer. Under 2 CPUs a job takes 0.3 s; set `cpus` to 0.5 in compose.yaml and nothing else, and
// the depth that was right is wrong.
#include <throttletest/throttletest.h>

using namespace throttletest;
using namespace std::chrono_literals;

namespace {

constexpr int kQueueDepth = 8;
constexpr auto kTimeout = 3600ms;

// What is deployed, from where it is declared.
Limits DeployedLimits() { return LimitsFromCompose(DEPLOYED "/compose.yaml", "worker"); }

class QueueDepth : public ThrottleTest {
 protected:
  ServiceSpec Service() override {
    return {.command = {BURN_SERVER, "--port={port}", "--workers=1",
                        "--queue-depth=" + std::to_string(kQueueDepth - 1)},
            .limits = DeployedLimits(),
            .ready = HttpReady("/healthz")};
  }
};

TEST_F(QueueDepth, IsDoneWithinTheTimeout) {
  const Measurement m = MeasureServiceTime(Get("/burn?ms=300"), {.requests = 10});
  EXPECT_THAT(m, QueueDepthFits(kQueueDepth, kTimeout, DeployedLimits()));
}

// The arithmetic is that of one worker.
TEST_F(QueueDepth, IsServedByOneWorker) {
  EXPECT_THAT(Measure(Batches(5).Every(5s).For(10s).WarmUp(1s), Get("/burn?ms=300")),
              AllOf(ServesSerially(), NoFailedRequests()));
}

}  // namespace

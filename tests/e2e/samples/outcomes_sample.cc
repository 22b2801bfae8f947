// Tests whose right outcome is known, run as a child by outcomes_test.cc. Each must FAIL unless its
// name says Passes.
#include <signal.h>
#include <throttletest/throttletest.h>

#include <thread>

using namespace throttletest;
using namespace std::chrono_literals;
using testing::Not;

namespace {

class Burn : public ThrottleTestBase {
 protected:
  Service& StartBurn(const Limits& limits) {
    return Start({.command = {BURN_SERVER, "--port={port}", "--threads=8"},
                  .limits = limits,
                  .ready = HttpReady("/healthz")});
  }
  // Builds that run beside these tests are not what they are about.
  static MeasureOptions Anywhere() {
    MeasureOptions options;
    options.bounds.max_others_cpu = options.bounds.max_steal = 1;
    return options;
  }
  static LoadPlan Short() { return Batches(8).Every(500ms).For(4s).WarmUp(500ms); }
};

TEST_F(Burn, PassesWithRoomInTheQuota) {
  const Measurement m = MeasureOn(StartBurn({.cpus = 2}), Short(), Get("/burn?ms=2"), Anywhere());
  EXPECT_THAT(m, ErrorRatioBelow(0.01));
  EXPECT_THAT(m, P50Below(2s));
}

TEST_F(Burn, DecidedEarlyMiss) {
  const Budget p99 = ParseBudget("p99<1ms");
  const Measurement m =
      MeasureOn(StartBurn({}), Short().For(60s).UntilDecided(0.01), Get("/burn?ms=2"), {p99});
  EXPECT_LT(m.load.planned, 200);
  EXPECT_THAT(m, MeetsBudget(p99));
}

TEST_F(Burn, DecidedEarlyWithoutABudget) {
  MeasureOn(StartBurn({}), Short().UntilDecided(), Get("/burn?ms=2"), {});
}

TEST_F(Burn, NotThrottleRatioWithoutQuota) {
  const Measurement m = MeasureOn(StartBurn({}), Short(), Get("/burn?ms=2"), Anywhere());
  EXPECT_THAT(m, Not(ThrottleRatioBelow(0.2)));
}

TEST_F(Burn, NotThrottleRatioOnIdleService) {
  // One cheap request in five seconds: fewer periods than a ratio needs.
  const Measurement m = MeasureOn(StartBurn({.cpus = 1}), Batches(1).Every(10s).For(1s).WarmUp(0s),
                                  Get("/healthz"), Anywhere());
  EXPECT_THAT(m, Not(ThrottleRatioBelow(0.2)));
}

TEST_F(Burn, NotThrottleRatioOnServiceKilledMidRun) {
  Service& service = StartBurn({.cpus = 1});
  std::jthread killer([pid = service.pid()] {
    std::this_thread::sleep_for(2s);
    kill(pid, SIGKILL);
  });
  const Measurement m = MeasureOn(service, Short(), Get("/burn?ms=2"), Anywhere());
  EXPECT_THAT(m, Not(ThrottleRatioBelow(0.2)));
}

TEST_F(Burn, AnyOfWithMissingFigure) {
  const Measurement m = MeasureOn(StartBurn({}), Short(), Get("/burn?ms=2"), Anywhere());
  EXPECT_THAT(m, testing::AnyOf(ThrottleRatioBelow(0.2), ErrorRatioBelow(0.01)));
}

TEST_F(Burn, AllRequestsFail) {
  const Measurement m = MeasureOn(StartBurn({}), Short(), Get("/no-such-page"), Anywhere());
  EXPECT_THAT(m, ErrorRatioBelow(0.5));
}

TEST_F(Burn, AttachToNothing) { Attach({.target = RunningProcess(4194305), .port = 80}); }

TEST_F(Burn, StartWithBadLimit) { StartBurn({.cpus = -1}); }

}  // namespace

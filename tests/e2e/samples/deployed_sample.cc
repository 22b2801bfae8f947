// A service under the limits of a Compose file that the test that runs this has written.
#include <throttletest/throttletest.h>

#include <cstdlib>

using namespace throttletest;
using namespace std::chrono_literals;

class Deployed : public ThrottleTest {
 protected:
  ServiceSpec Service() override {
    return {.command = {BURN_SERVER, "--port={port}", "--threads=8"},
            .limits = LimitsFromCompose(std::getenv("DEPLOYED_COMPOSE_FILE"), "web"),
            .ready = HttpReady("/healthz")};
  }
};

TEST_F(Deployed, BurstFitsQuota) {
  EXPECT_THAT(Measure(Batches(8).Every(500ms).For(6s).WarmUp(1s), Get("/burn?ms=20"),
                      // Builds that run beside these tests are not what they are about.
                      {.bounds = {.max_steal = 1, .max_others_cpu = 1}}),
              ThrottleRatioBelow(0.2));
}

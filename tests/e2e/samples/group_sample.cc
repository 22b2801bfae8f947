// A user's test program with several services; run by neighbour_example_test.cc, which filters.
#include <throttletest/throttletest.h>

#include <csignal>
#include <cstring>

using namespace throttletest;
using namespace std::chrono_literals;

namespace {

ServiceSpec Burner(const std::string& name, const Limits& limits) {
  return {.name = name,
          .command = {BURN_SERVER, "--port={port}", "--threads=4"},
          .limits = limits,
          .ready = HttpReady("/healthz")};
}

class Stuck : public ServiceGroupTest {
 protected:
  std::vector<ServiceSpec> Services() override {
    return {Burner("light", {.cpus = 0.5}),
            {.name = "stuck", .command = {"sleep", "60"}, .ready = TcpReady().Within(700ms)}};
  }
};

TEST_F(Stuck, IsNeverRun) { ADD_FAILURE() << "the body ran"; }

class Pair : public ServiceGroupTest {
 protected:
  std::vector<ServiceSpec> Services() override {
    return {Burner("light", {.cpus = 0.5}), Burner("heavy", {.cpus = 0.5})};
  }
  // The machine's noise is not what this is about.
  static MeasureOptions Patient() {
    return {.bounds = {.start_lag_p99 = 10s, .max_steal = 1, .max_others_cpu = 1}};
  }
};

TEST_F(Pair, KnowsItsServicesByName) {
  EXPECT_EQ(service("light").spec().name, "light");
  EXPECT_EQ(service("heavy").spec().name, "heavy");
  service("nobody");
}

TEST_F(Pair, LosesTheLoadedOne) {
  MeasureOptions options = Patient();
  options.progress = [this](const MeasureProgress& p) {
    if (std::strcmp(p.phase, "load") == 0) ::kill(service("heavy").pid(), SIGKILL);
  };
  const BackgroundLoad load =
      LoadInBackground(service("heavy"), Traffic(ConstantRate(20_rps).For(1s), Get("/burn?ms=5")));
  MeasureOn(service("light"), Batches(1).Every(50ms).For(500ms).WarmUp(0s), Get("/burn?ms=1"),
            options);
  ADD_FAILURE() << "the body went on";
}

}  // namespace

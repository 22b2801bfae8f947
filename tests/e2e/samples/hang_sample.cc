// A test that never ends by itself, to be interrupted.
#include <throttletest/throttletest.h>

#include <cstdio>
#include <thread>

using namespace throttletest;
using namespace std::chrono_literals;

namespace {

class Hang : public ThrottleTest {
 protected:
  ServiceSpec Service() override {
    return {.command = {BURN_SERVER, "--port={port}"}, .ready = HttpReady("/healthz")};
  }
};

TEST_F(Hang, UntilSomebodyInterrupts) {
  std::puts("service is up");
  std::fflush(stdout);
  std::this_thread::sleep_for(60s);
}

}  // namespace

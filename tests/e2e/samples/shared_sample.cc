// A suite whose service cannot start: every test has to FAIL, not to be skipped.
#include <throttletest/throttletest.h>

using namespace throttletest;

namespace {

class Broken : public SharedServiceTest<Broken> {
 public:
  static ServiceSpec Service() { return {.command = {"/no/such/program", "--port={port}"}}; }
};
TEST_F(Broken, FirstTestFails) { SUCCEED(); }
TEST_F(Broken, SecondTestFails) { SUCCEED(); }

class Shared : public SharedServiceTest<Shared> {
 public:
  static ServiceSpec Service() {
    return {.command = {BURN_SERVER, "--port={port}"}, .ready = HttpReady("/healthz")};
  }
};
TEST_F(Shared, PassesOnce) { EXPECT_TRUE(service().alive()); }
TEST_F(Shared, PassesAgainWithTheSameService) { EXPECT_TRUE(service().alive()); }

}  // namespace

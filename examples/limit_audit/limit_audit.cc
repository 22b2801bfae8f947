// The limits of all services of a machine, added up.
//
// A server with four cores ran three services whose limits left 1.25 cores to nobody, while one of
// them was throttled in every period. Nothing says so: an engine starts whatever fits by itself.
// Nothing is started or measured here, so this runs anywhere.
#include <throttletest/throttletest.h>

#include <iostream>
#include <string>

using namespace throttletest;

namespace {

// The server of the published experiment.
constexpr AuditHost kServer{.cpus = 4};

DeployedServices Deployed(const std::string& file) {
  return ServicesFromFile(DEPLOYED "/" + file, {.use_environment = false});
}

void PrintAudit(const std::string& file, const char* published) {
  const Audit audit = AuditLimits(Deployed(file), kServer);
  std::cout << "\n== " << file << " on 4 CPUs\n"
            << ToString(audit) << "published: " << published << "\n";
}

// The limits fit, and that is not all there is to say.
TEST(LimitAudit, LimitsLeaveCoresToNobody) {
  PrintAudit("compose.yaml", "0.25 + 0.75 + 1.75 = 2.75 of 4, 1.25 cores given to nobody");
  EXPECT_THAT(Deployed("compose.yaml"), LimitsFitHost(kServer));
  EXPECT_THAT(Deployed("compose.yaml"), testing::Not(LimitsFitHost(kServer, {.max_idle = 1})));
}

TEST(LimitAudit, LiftedLimitIsOvercommitted) {
  PrintAudit("compose.lifted.yaml", "3.5 + 0.75 + 0.25 = 4.5 of 4, overcommitted by 0.5");
  EXPECT_THAT(Deployed("compose.lifted.yaml"), testing::Not(LimitsFitHost(kServer)));
  // Who wants that says how much of it.
  EXPECT_THAT(Deployed("compose.lifted.yaml"), LimitsFitHost(kServer, {.max_overcommit = 1.2}));
}

}  // namespace

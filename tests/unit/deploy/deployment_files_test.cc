// Compose files and manifests as people write them (tests/data/deploy), with the sums that are
// right.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "throttletest/deploy/audit.h"
#include "throttletest/deploy/deployment_file.h"

namespace throttletest {
namespace {

struct Case {
  const char* name;
  const char* file;
  std::size_t services;
  double limits;    // CPUs, of those that have a limit
  int without;      // services that run and have none
  double requests;  // CPUs
};
void PrintTo(const Case& c, std::ostream* os) { *os << c.file; }

class DeploymentFile : public testing::TestWithParam<Case> {};

TEST_P(DeploymentFile, HasTheRightSums) {
  const Case& expected = GetParam();
  const Audit audit =
      AuditLimits(ServicesFromFile(std::string(THROTTLETEST_TEST_DATA "/deploy/") + expected.file,
                                   {.use_environment = false}),
                  {.cpus = 16});
  EXPECT_EQ(audit.services.size(), expected.services);
  EXPECT_NEAR(audit.limited_cpus, expected.limits, 1e-9);
  EXPECT_NEAR(audit.sum_of_requests, expected.requests, 1e-9);
  int without = 0;
  for (const AuditFinding& finding : audit.findings) {
    without += finding.kind == AuditFinding::Kind::kNoLimit ? 1 : 0;
  }
  EXPECT_EQ(without, expected.without);
  EXPECT_EQ(audit.sum_of_limits.has_value(), expected.without == 0);
}

INSTANTIATE_TEST_SUITE_P(
    Files, DeploymentFile,
    testing::ValuesIn(std::vector<Case>{
        {"ThreeServices", "compose-three-services.yaml", 3, 2.75, 0, 0},
        {"ThreeServicesLifted", "compose-three-services-lifted.yaml", 3, 4.5, 0, 0},
        {"QuotaPeriod", "compose-quota-period.yaml", 3, 0.5 + 0.5 + 1.5, 0, 0},
        {"DeploySection", "compose-deploy-section.yaml", 3, 3 * 0.5 + 0.25 + 2, 0, 3 * 0.25 + 1},
        {"Anchors", "compose-anchors.yaml", 5, 0.5 + 1.5 + 0.25 + 0.75 + 0.75, 0, 0},
        {"Extends", "compose-extends/compose.yaml", 4, 0 * 0.5 + 0.5 + 2 + 2 * 0.75, 0, 0},
        {"Environment", "compose-environment/compose.yaml", 3, 1.5 + 3 * 0.5 + 0.25, 0, 0},
        {"Documents", "compose-documents.yaml", 2, 2 + 2 * 1, 0, 0},
        {"Cpuset", "compose-cpuset.yaml", 3, 2 + 0.5 + 2, 0, 0},
        {"Profiles", "compose-profiles.yaml", 3, 1, 0, 0},
        {"Monitoring", "compose-monitoring.yaml", 4, 1.5, 2, 0},
        {"Swarm", "compose-swarm.yaml", 2, 0.1 + 6 * 0.4, 0, 6 * 0.1},
        {"GameServer", "compose-game-server.yaml", 2, 2.5 + 0.25, 0, 0},
        {"Deployment", "manifest-deployment.yaml", 2, 3 * (0.5 + 0.1), 0, 3 * (0.25 + 0.1)},
        {"StatefulSet", "manifest-statefulset.yaml", 2, 2 * (1.75 + 0.05), 0, 2 * (1 + 0.01)},
        {"DaemonSet", "manifest-daemonset.yaml", 1, 0.2, 0, 0.05},
        {"Jobs", "manifest-jobs.yaml", 3, 4 * 0.75 + 1 + 0 * 8, 0, 4 * 0.75 + 1},
        {"List", "manifest-list.yaml", 2, 2 * 0.25 + 1, 0, 2 * 0.25 + 1},
        {"InitContainers", "manifest-init-containers.yaml", 3, 0.2 + 2, 0, 0.2 + 2},
        {"Quantities", "manifest-quantities.yaml", 6, 1.75 + 1.75 + 2 + 0.01 + 0.1 + 0.126, 0,
         1.75 + 1.75 + 2 + 0.001 + 0.1 + 0.126},
        {"PodAsJson", "manifest-pod.json", 1, 0.6, 0, 0.6},
        {"Overcommitted", "manifest-overcommitted.yaml", 1, 5 * 2, 0, 5 * 0.1},
    }),
    [](const auto& row) { return std::string(row.param.name); });

TEST(DeploymentFiles, MemoryIsReadInTheUnitsOfEither) {
  const auto memory = [](const char* file, std::size_t i) {
    return ServicesFromFile(std::string(THROTTLETEST_TEST_DATA "/deploy/") + file,
                            {.use_environment = false})
        .at(i)
        .limits.memory->bytes();
  };
  EXPECT_EQ(memory("compose-deploy-section.yaml", 2), 3LL << 29);
  EXPECT_EQ(memory("compose-extends/compose.yaml", 3), 768LL << 20);
  EXPECT_EQ(memory("compose-environment/compose.yaml", 0), 512LL << 20);
  EXPECT_EQ(memory("manifest-quantities.yaml", 0), 129'000'000);
  EXPECT_EQ(memory("manifest-quantities.yaml", 1), 123LL << 20);
  EXPECT_EQ(memory("manifest-quantities.yaml", 2), 128'974'848);
  EXPECT_EQ(memory("manifest-quantities.yaml", 3), 129'000'000);
}

}  // namespace
}  // namespace throttletest

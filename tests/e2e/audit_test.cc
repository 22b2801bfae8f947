// `throttletest audit`, which needs neither root nor an engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/run_binary.h"
#include "support/temp_tree.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing_support::TempTree;

std::string DataFile(const std::string& name) {
  return std::string(THROTTLETEST_TEST_DATA "/deploy/") + name;
}

test::RunResult RunAudit(std::vector<std::string> words) {
  words.insert(words.begin(), {THROTTLETEST, "audit"});
  return test::RunBinary(words);
}

TEST(AuditCommand, E3TellsIdleCoresWithStatusZero) {
  const auto run = RunAudit({DataFile("compose-three-services.yaml"), "--cpus", "4"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("service   replicas  limit"),
                             HasSubstr("limits add up to 2.75 CPUs of 4: 1.25 CPUs idle"),
                             HasSubstr("compose-three-services.yaml:3")));
}

TEST(AuditCommand, E3TellsOvercommitWithStatusOne) {
  const std::string file = DataFile("compose-three-services-lifted.yaml");
  const auto run = RunAudit({file, "--cpus", "4"});
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("MISSED  overcommit the limits add up to 4.5 CPUs, 0.5 more than "
                                 "the 4 of the machine"));
  EXPECT_EQ(RunAudit({file, "--cpus", "4", "--max-overcommit", "1.2"}).status, 0);
  EXPECT_EQ(RunAudit({file, "--cpus", "6"}).status, 0);
  EXPECT_EQ(RunAudit({file, "--cpus", "6", "--max-idle", "1"}).status, 1);
}

TEST(AuditCommand, AddsUpSeveralFilesOfBothKinds) {
  const auto run = RunAudit({DataFile("compose-three-services.yaml"),
                             DataFile("manifest-deployment.yaml"), "--cpus", "5"});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("limits add up to 4.55 CPUs of 5"));
}

TEST(AuditCommand, IsInconclusiveWithAServiceThatHasNoLimit) {
  const auto run = RunAudit({DataFile("compose-monitoring.yaml"), "--cpus", "4"});
  EXPECT_EQ(run.status, 3) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("node-exporter has no CPU limit and may use all 4 CPUs"));
}

TEST(AuditCommand, StartsTheServicesOfAProfile) {
  const std::string file = DataFile("compose-profiles.yaml");
  EXPECT_THAT(RunAudit({file, "--cpus", "4"}).out, HasSubstr("limits add up to 1 CPUs"));
  EXPECT_THAT(RunAudit({file, "--cpus", "4", "--profile", "test"}).out,
              HasSubstr("limits add up to 3.5 CPUs"));
}

TEST(AuditCommand, RefusesWithStatusTwo) {
  const TempTree tree;
  tree.Write("bad.yaml", "services:\n  web:\n    cpus: fast\n");
  const auto run = RunAudit({tree.Path("bad.yaml")});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, StartsWith("throttletest: " + tree.Path("bad.yaml") +
                                  ":3: services.web.cpus: \"fast\" is not a number of CPUs"));
  EXPECT_EQ(RunAudit({}).status, 2);
  EXPECT_EQ(RunAudit({tree.Path("absent.yaml")}).status, 2);
  EXPECT_EQ(RunAudit({DataFile("compose-anchors.yaml"), "--cpus", "0"}).status, 2);
  EXPECT_EQ(RunAudit({DataFile("compose-anchors.yaml"), "--max-idle", "few"}).status, 2);
}

TEST(AuditCommand, WritesJsonInWhichWhatIsNotKnownIsNull) {
  const auto run = RunAudit({DataFile("compose-monitoring.yaml"), "--cpus", "4", "--json"});
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["schema"], "throttletest/audit/1");
  EXPECT_EQ(json["verdict"], "inconclusive");
  EXPECT_EQ(json["host_cpus"], 4);
  EXPECT_EQ(json["limited_cpus"], 1.5);
  EXPECT_TRUE(json["sum_of_limits"].is_null());
  EXPECT_TRUE(json["idle_cpus"].is_null());
  EXPECT_EQ(json["not_available"]["sum_of_limits"], "2 of 4 services have no CPU limit");
  ASSERT_EQ(json["services"].size(), 4u);
  EXPECT_EQ(json["services"][0]["name"], "prometheus");
  EXPECT_EQ(json["services"][0]["cpu_limit"], 1.0);
  EXPECT_EQ(json["services"][0]["memory_limit_bytes"], 2LL << 30);
  EXPECT_EQ(json["services"][0]["declared"][0]["line"], 4);
  EXPECT_TRUE(json["services"][2]["cpu_limit"].is_null());
  EXPECT_EQ(json["findings"][0]["kind"], "no_limit");

  const auto met = nlohmann::json::parse(
      RunAudit({DataFile("compose-three-services.yaml"), "--cpus", "4", "--json"}).out);
  EXPECT_EQ(met["verdict"], "met");
  EXPECT_EQ(met["idle_cpus"], 1.25);
}

#ifdef LIMIT_AUDIT
// The example prints the published figures beside its own.
TEST(LimitAuditExample, E3HoldsAndPrintsBothTables) {
  const auto run = test::RunBinary({LIMIT_AUDIT});
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_THAT(
      run.out,
      AllOf(HasSubstr("limits add up to 2.75 CPUs of 4: 1.25 CPUs idle"),
            HasSubstr("published: 0.25 + 0.75 + 1.75 = 2.75 of 4, 1.25 cores given to"),
            HasSubstr("limits add up to 4.5 CPUs of 4: 0.5 CPUs overcommitted (1.125 times)"),
            HasSubstr("published: 3.5 + 0.75 + 0.25 = 4.5 of 4")));
}
#endif

}  // namespace
}  // namespace throttletest

#include "throttletest/deploy/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "refusal.h"
#include "throttletest/deploy/deployment_file.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::Refusal;
using Kind = AuditFinding::Kind;

DeployedService Service(const std::string& name, std::optional<double> cpus, int replicas = 1) {
  DeployedService service;
  service.name = name;
  service.file = "compose.yaml";
  service.line = 3;
  service.limits.cpus = cpus;
  if (cpus) service.limits.origins = {{"compose.yaml", 4, "services." + name + ".cpus", "x"}};
  service.replicas = replicas;
  return service;
}

std::vector<std::string> Texts(const Audit& audit, Kind kind) {
  std::vector<std::string> texts;
  for (const AuditFinding& finding : audit.findings) {
    if (finding.kind == kind) texts.push_back((finding.breaks ? "MISSED " : "") + finding.text);
  }
  return texts;
}

// E3: the limits of a server with four cores, before and after one of them was lifted.
TEST(Audit, E3TellsTheCoresThatWereGivenToNobody) {
  const Audit audit = AuditLimits(
      ServicesFromFile(THROTTLETEST_TEST_DATA "/deploy/compose-three-services.yaml"), {.cpus = 4});
  EXPECT_DOUBLE_EQ(audit.sum_of_limits.value(), 2.75);
  EXPECT_DOUBLE_EQ(audit.idle_cpus.value(), 1.25);
  EXPECT_TRUE(audit.fits.value());
  EXPECT_THAT(Texts(audit, Kind::kIdle),
              ElementsAre("the limits add up to 2.75 CPUs of 4: 1.25 CPUs are given to nobody"));
  EXPECT_THAT(Texts(audit, Kind::kOvercommit), IsEmpty());
  EXPECT_EQ(Summary(audit), "limits add up to 2.75 CPUs of 4: 1.25 CPUs idle");
}

TEST(Audit, E3TellsTheOvercommit) {
  const auto services =
      ServicesFromFile(THROTTLETEST_TEST_DATA "/deploy/compose-three-services-lifted.yaml");
  const Audit audit = AuditLimits(services, {.cpus = 4});
  EXPECT_DOUBLE_EQ(audit.sum_of_limits.value(), 4.5);
  EXPECT_EQ(audit.idle_cpus.value(), 0);
  EXPECT_FALSE(audit.fits.value());
  EXPECT_THAT(
      Texts(audit, Kind::kOvercommit),
      ElementsAre("MISSED the limits add up to 4.5 CPUs, 0.5 more than the 4 of the machine: "
                  "1.125 times what there is"));
  EXPECT_EQ(Summary(audit), "limits add up to 4.5 CPUs of 4: 0.5 CPUs overcommitted (1.125 times)");

  const Audit allowed = AuditLimits(services, {.cpus = 4}, {.max_overcommit = 1.125});
  EXPECT_TRUE(allowed.fits.value());
  EXPECT_THAT(Texts(allowed, Kind::kOvercommit), ElementsAre(HasSubstr("within the bound")));
  EXPECT_FALSE(AuditLimits(services, {.cpus = 4}, {.max_overcommit = 1.12}).fits.value());
}

TEST(Audit, JudgesIdleCpusOnlyWhenAskedTo) {
  const DeployedServices services = {Service("web", 1.5)};
  EXPECT_TRUE(AuditLimits(services, {.cpus = 4}).fits.value());
  EXPECT_TRUE(AuditLimits(services, {.cpus = 4}, {.max_idle = 2.5}).fits.value());
  const Audit audit = AuditLimits(services, {.cpus = 4}, {.max_idle = 2});
  EXPECT_FALSE(audit.fits.value());
  EXPECT_THAT(Texts(audit, Kind::kIdle),
              ElementsAre(AllOf(HasSubstr("MISSED"), HasSubstr("more than the bound of 2"))));
}

TEST(Audit, FitsWhenTheSumIsExactlyWhatThereIs) {
  // As doubles they add up to a little more than 1.
  DeployedServices services;
  for (int i = 0; i < 10; ++i) services.push_back(Service("s" + std::to_string(i), 0.1));
  const Audit audit = AuditLimits(services, {.cpus = 1});
  EXPECT_TRUE(audit.fits.value());
  EXPECT_THAT(audit.findings, IsEmpty());
}

TEST(Audit, CountsReplicas) {
  const Audit audit = AuditLimits({Service("web", 0.5, 6), Service("off", 9, 0)}, {.cpus = 4});
  EXPECT_DOUBLE_EQ(audit.sum_of_limits.value(), 3.0);
  EXPECT_TRUE(audit.fits.value()) << "a service that does not run is above nothing";
}

TEST(Audit, ALimitAboveTheMachineIsMissed) {
  const Audit audit = AuditLimits({Service("web", 6)}, {.cpus = 4}, {.max_overcommit = 9});
  EXPECT_FALSE(audit.fits.value());
  EXPECT_THAT(
      Texts(audit, Kind::kAboveHost),
      ElementsAre("MISSED web has a limit of 6 CPUs, more than the 4 of the machine: Docker "
                  "refuses to start it (compose.yaml:4: services.web.cpus: x)"));
  DeployedService pod = Service("Pod/p/web", 6);
  pod.pod = "Pod/p";
  EXPECT_THAT(Texts(AuditLimits({pod}, {.cpus = 4}), Kind::kAboveHost),
              ElementsAre(HasSubstr("it never bites")));
  DeployedService quota = Service("web", std::nullopt);
  quota.limits.quota = std::chrono::milliseconds(500);
  EXPECT_THAT(Texts(AuditLimits({quota}, {.cpus = 4}), Kind::kAboveHost),
              ElementsAre(HasSubstr("web may use 5 CPUs, more than the 4 of the machine")));
}

TEST(Audit, ACpusetOfCpusThatAreNotThereIsMissed) {
  DeployedService service = Service("web", std::nullopt);
  service.limits.cpuset = "3-4";
  const Audit audit = AuditLimits({service}, {.cpus = 4});
  EXPECT_FALSE(audit.fits.value());
  EXPECT_DOUBLE_EQ(audit.sum_of_limits.value(), 2.0);
  EXPECT_THAT(Texts(audit, Kind::kAboveHost),
              ElementsAre(HasSubstr("web is pinned to CPUs 3-4, and the machine has 0-3")));
  EXPECT_TRUE(AuditLimits({service}, {.cpus = 5}).fits.value());
}

TEST(Audit, ARequestAboveItsLimitOrTheMachineIsMissed) {
  DeployedService service = Service("web", 0.5);
  service.cpu_request = 1;
  service.cpu_request_origin = {"m.yaml", 9, "requests.cpu", "1"};
  EXPECT_THAT(Texts(AuditLimits({service}, {.cpus = 4}), Kind::kRequest),
              ElementsAre("MISSED web asks for 1 CPUs, more than its limit of 0.5 (m.yaml:9: "
                          "requests.cpu: 1)"));
  service.limits.cpus = std::nullopt;
  service.cpu_request = 5;
  const Audit audit = AuditLimits({service}, {.cpus = 4});
  EXPECT_THAT(Texts(audit, Kind::kRequest),
              ElementsAre(HasSubstr("it cannot be placed"), HasSubstr("the requests add up to 5")));
  EXPECT_FALSE(audit.fits.value()) << "what is not known cannot make it fit";
}

TEST(Audit, RequestsThatAddUpToMoreAreMissed) {
  DeployedService service = Service("web", 1, 5);
  service.cpu_request = 1;
  EXPECT_THAT(
      Texts(AuditLimits({service}, {.cpus = 4}, {.max_overcommit = 2}), Kind::kRequest),
      ElementsAre("MISSED the requests add up to 5 CPUs, more than the 4 of the machine: not "
                  "all can be placed"));
}

TEST(Audit, IsInconclusiveWithAServiceThatHasNoLimit) {
  const Audit audit = AuditLimits({Service("web", 1), Service("db", std::nullopt)}, {.cpus = 4});
  EXPECT_EQ(audit.fits.kind(), OutcomeKind::kInconclusive);
  EXPECT_EQ(audit.fits.reason(), "1 of 2 services have no CPU limit");
  EXPECT_EQ(audit.sum_of_limits.kind(), OutcomeKind::kInconclusive);
  EXPECT_EQ(audit.idle_cpus.kind(), OutcomeKind::kInconclusive);
  EXPECT_DOUBLE_EQ(audit.limited_cpus, 1.0);
  EXPECT_THAT(Texts(audit, Kind::kNoLimit),
              ElementsAre("db has no CPU limit and may use all 4 CPUs (compose.yaml:3)"));
  EXPECT_THAT(Texts(audit, Kind::kIdle), IsEmpty());
  EXPECT_EQ(Summary(audit),
            "limits that are set add up to 1 CPUs of 4, but 1 of 2 services have no CPU limit");
  // Those that have one are too much already.
  EXPECT_FALSE(
      AuditLimits({Service("web", 5), Service("db", std::nullopt)}, {.cpus = 4}).fits.value());
  // One that does not run takes nothing.
  EXPECT_TRUE(
      AuditLimits({Service("web", 1), Service("db", std::nullopt, 0)}, {.cpus = 4}).fits.value());
}

TEST(Audit, TakesTheLargerOfAPodsStartAndRun) {
  const auto container = [](const char* name, double cpus, DeployedService::Kind kind) {
    DeployedService service = Service(name, cpus, 2);
    service.pod = "Deployment/x";
    service.kind = kind;
    service.cpu_request = cpus;
    return service;
  };
  using ContainerKind = DeployedService::Kind;
  DeployedServices pod = {container("first", 0.5, ContainerKind::kInit),
                          container("mesh", 0.25, ContainerKind::kSidecar),
                          container("migrate", 3, ContainerKind::kInit),
                          container("web", 1, ContainerKind::kContainer),
                          container("log", 0.5, ContainerKind::kContainer)};
  Audit audit = AuditLimits(pod, {.cpus = 8});
  EXPECT_DOUBLE_EQ(audit.sum_of_limits.value(), 2 * 3.25);
  EXPECT_DOUBLE_EQ(audit.sum_of_requests, 2 * 3.25);
  pod[2].limits.cpus = 1;
  pod[2].cpu_request = 1;
  audit = AuditLimits(pod, {.cpus = 8});
  EXPECT_DOUBLE_EQ(audit.sum_of_limits.value(), 2 * 1.75);
  EXPECT_DOUBLE_EQ(audit.sum_of_requests, 2 * 1.75);
}

TEST(Audit, KeepsServicesOfOneNameInTwoFilesApart) {
  DeployedService other = Service("web", 1, 3);
  other.file = "other.yaml";
  EXPECT_DOUBLE_EQ(AuditLimits({Service("web", 1), other}, {.cpus = 8}).sum_of_limits.value(), 4.0);
}

TEST(Audit, UsesTheCpusOfThisMachineByDefault) {
  EXPECT_GE(AuditLimits({Service("web", 0.5)}).host_cpus, 1);
}

TEST(Audit, RefusesWhatCannotBeJudged) {
  EXPECT_EQ(Refusal([] { AuditLimits({}); }), "there is no service to audit");
  const DeployedServices one = {Service("web", 1)};
  EXPECT_THAT(Refusal([&] { AuditLimits(one, {.cpus = 0}); }),
              HasSubstr("0 is not a number of CPUs"));
  EXPECT_THAT(Refusal([&] { AuditLimits(one, {.cpus = 65537}); }), HasSubstr("1..65536"));
  EXPECT_THAT(Refusal([&] { AuditLimits(one, {}, {.max_overcommit = 0}); }),
              HasSubstr("max_overcommit 0"));
  EXPECT_THAT(Refusal([&] { AuditLimits(one, {}, {.max_idle = -1}); }), HasSubstr("max_idle -1"));
}

TEST(Audit, PrintsATableWithTheSumsAndFindings) {
  DeployedService db = Service("db", std::nullopt);
  db.limits.memory = 1_GiB;
  db.notes = {"a note"};
  EXPECT_EQ(ToString(AuditLimits({Service("web", 1.75, 2), db}, {.cpus = 3})),
            "service  replicas     limit  all of it  request  memory  where\n"
            "web             2      1.75        3.5        -       -  compose.yaml:3\n"
            "db              1  no limit          -        -   1 GiB  compose.yaml:3\n"
            "\n"
            "limits that are set add up to 3.5 CPUs of 3, but 1 of 2 services have no CPU limit; "
            "requests add up to 0.\n"
            "        no_limit   db has no CPU limit and may use all 3 CPUs (compose.yaml:3)\n"
            "MISSED  overcommit the limits add up to 3.5 CPUs, 0.5 more than the 3 of the machine: "
            "1.167 times what there is\n"
            "        note       a note\n");
}

TEST(Audit, NamesEveryKindOfFinding) {
  EXPECT_STREQ(AuditFindingName(Kind::kIdle), "idle");
  EXPECT_STREQ(AuditFindingName(Kind::kOvercommit), "overcommit");
  EXPECT_STREQ(AuditFindingName(Kind::kAboveHost), "above_host");
  EXPECT_STREQ(AuditFindingName(Kind::kRequest), "request");
  EXPECT_STREQ(AuditFindingName(Kind::kNoLimit), "no_limit");
  EXPECT_STREQ(AuditFindingName(Kind::kNote), "note");
}

}  // namespace
}  // namespace throttletest

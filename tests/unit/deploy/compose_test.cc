#include "throttletest/deploy/compose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "refusal.h"
#include "support/temp_tree.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::Refusal;
using testing_support::TempTree;
using testing_support::Without;

class Compose : public testing::Test {
 protected:
  Limits Read(const std::string& text, const std::string& service = "web") {
    tree_.Write("compose.yaml", text);
    return LimitsFromCompose(tree_.Path("compose.yaml"), service, options_);
  }
  DeployedServices All(const std::string& text) {
    tree_.Write("compose.yaml", text);
    return ServicesFromCompose(tree_.Path("compose.yaml"), options_);
  }
  std::string Where(const Limits& limits) {
    return Without(ToString(limits.origins), tree_.root() + "/");
  }

  TempTree tree_;
  ComposeOptions options_ = {.use_environment = false};
};

TEST_F(Compose, ReadsTheKeysOfAService) {
  const Limits limits = Read(
      "services:\n"
      "  web:\n"
      "    image: web\n"
      "    cpus: 0.5\n"
      "    cpuset: '0,1'\n"
      "    mem_limit: 64m\n"
      "    memswap_limit: 96m\n");
  EXPECT_EQ(limits,
            (Limits{.cpus = 0.5, .cpuset = "0,1", .memory = 64_MiB, .memory_swap = 96_MiB}));
  EXPECT_EQ(Where(limits),
            "compose.yaml:4: services.web.cpus: 0.5; compose.yaml:5: services.web.cpuset: 0,1; "
            "compose.yaml:6: services.web.mem_limit: 64m; "
            "compose.yaml:7: services.web.memswap_limit: 96m");
}

TEST_F(Compose, ReadsQuotaAndPeriod) {
  EXPECT_EQ(Read("services: {web: {cpu_quota: 50000, cpu_period: 50000}}"),
            (Limits{.quota = 50ms, .period = 50ms}));
  EXPECT_EQ(Read("services: {web: {cpu_quota: 50000}}"), (Limits{.quota = 50ms}));
  EXPECT_EQ(Read("services: {web: {cpu_quota: -1, cpu_period: 0}}"), Limits{});
}

TEST_F(Compose, ReadsTheDeploySection) {
  const Limits limits = Read(
      "services:\n  web:\n    deploy:\n      resources:\n        limits:\n"
      "          cpus: '0.75'\n          memory: 64M\n");
  EXPECT_EQ(limits, (Limits{.cpus = 0.75, .memory = 64_MiB}));
  EXPECT_EQ(Where(limits),
            "compose.yaml:6: services.web.deploy.resources.limits.cpus: 0.75; "
            "compose.yaml:7: services.web.deploy.resources.limits.memory: 64M");
}

TEST_F(Compose, TakesTheSameValueInBothPlacesForOne) {
  EXPECT_EQ(Read("services: {web: {cpus: 0.50, mem_limit: 1g, deploy: {resources: {limits: "
                 "{cpus: '0.5', memory: 1024M}}}}}"),
            (Limits{.cpus = 0.5, .memory = 1_GiB}));
}

TEST_F(Compose, TakesZeroForNoLimitAndSaysSo) {
  const auto services = All("services:\n  web:\n    cpus: 0\n    mem_limit: 0\n");
  EXPECT_EQ(services.at(0).limits, Limits{});
  EXPECT_EQ(services.at(0).notes.size(), 2u);
  EXPECT_THAT(services.at(0).notes.at(0),
              HasSubstr("compose.yaml:3: services.web.cpus: 0 means no limit"));
  // As the deploy section then decides.
  EXPECT_EQ(Read("services: {web: {cpus: 0, deploy: {resources: {limits: {cpus: '2'}}}}}").cpus,
            2.0);
}

TEST_F(Compose, GivesNoLimitsWhereNoneAreSet) {
  EXPECT_EQ(Read("services:\n  web:\n    image: web\n"), Limits{});
  EXPECT_EQ(Read("services:\n  web:\n"), Limits{});
}

TEST_F(Compose, NamesTheLineOfTheAnchor) {
  const Limits limits = Read(
      "x-small: &small\n"
      "  cpus: 0.25\n"
      "services:\n"
      "  web:\n"
      "    <<: *small\n"
      "    mem_limit: 64m\n");
  EXPECT_EQ(Where(limits),
            "compose.yaml:2: services.web.cpus: 0.25; compose.yaml:6: services.web.mem_limit: 64m");
}

TEST_F(Compose, ExtendsServicesOfThisAndOtherFiles) {
  tree_.Write("shared/base.yaml",
              "services:\n"
              "  small:\n    cpus: 0.25\n    mem_limit: 64m\n"
              "  worker:\n    extends: small\n    deploy: {replicas: 3}\n");
  const auto services =
      All("services:\n"
          "  web:\n"
          "    extends: {file: shared/base.yaml, service: worker}\n"
          "    cpus: 1\n"
          "  canary:\n"
          "    extends: web\n"
          "    cpus:\n"
          "    deploy: {replicas: 1}\n");
  EXPECT_EQ(services.at(0).limits, (Limits{.cpus = 1.0, .memory = 64_MiB}));
  EXPECT_EQ(services.at(0).replicas, 3);
  EXPECT_EQ(services.at(0).line, 2);
  EXPECT_EQ(services.at(1).limits, (Limits{.cpus = 1.0, .memory = 64_MiB}));
  EXPECT_EQ(services.at(1).replicas, 1);
  EXPECT_EQ(Where(services.at(0).limits),
            "compose.yaml:4: services.web.cpus: 1; "
            "shared/base.yaml:4: services.web.mem_limit: 64m");
}

TEST_F(Compose, LaysDocumentsOnEachOther) {
  const Limits limits = Read(
      "services: {web: {cpus: 1, mem_limit: 64m, cpuset: '0', deploy: {replicas: 2}}}\n"
      "---\n"
      "services:\n  web:\n    cpus: 2\n    cpuset: !reset null\n    deploy: !override {}\n");
  EXPECT_EQ(limits, (Limits{.cpus = 2.0, .memory = 64_MiB}));
  EXPECT_THAT(Where(limits), HasSubstr("compose.yaml:5: services.web.cpus: 2"));
}

TEST_F(Compose, TakesVariablesFromOptionsThenEnvironmentThenDotEnv) {
  const std::string text = "services: {web: {cpus: '${THROTTLETEST_TEST_CPUS:-4}'}}";
  ::unsetenv("THROTTLETEST_TEST_CPUS");
  EXPECT_EQ(Read(text).cpus, 4.0);
  tree_.Write(".env", "THROTTLETEST_TEST_CPUS=3\n");
  EXPECT_EQ(Read(text).cpus, 3.0);
  ::setenv("THROTTLETEST_TEST_CPUS", "2", 1);
  EXPECT_EQ(Read(text).cpus, 3.0);
  options_.use_environment = true;
  EXPECT_EQ(Read(text).cpus, 2.0);
  options_.env["THROTTLETEST_TEST_CPUS"] = "1";
  EXPECT_EQ(Read(text).cpus, 1.0);
  ::unsetenv("THROTTLETEST_TEST_CPUS");
  EXPECT_EQ(Where(Read(text)), "compose.yaml:1: services.web.cpus: 1");
}

TEST_F(Compose, DoesNotAskForVariablesOfOtherValues) {
  EXPECT_EQ(
      Read("services: {web: {image: '${TAG:?needed}', environment: {PW: '${PW?}'}, cpus: 1}}").cpus,
      1.0);
}

TEST_F(Compose, ReadsReservationsAndScale) {
  const auto services =
      All("services:\n"
          "  web:\n    scale: 2\n    mem_reservation: 1g\n    deploy:\n      resources:\n"
          "        reservations: {cpus: '0.25'}\n"
          "  everywhere:\n    deploy: {mode: global}\n");
  EXPECT_EQ(services.at(0).replicas, 2);
  EXPECT_EQ(services.at(0).cpu_request, 0.25);
  EXPECT_EQ(services.at(0).memory_request, 1_GiB);
  EXPECT_EQ(services.at(0).cpu_request_origin->line, 7);
  EXPECT_FALSE(services.at(0).cpu_limit());
  EXPECT_EQ(services.at(1).replicas, 1);
  EXPECT_THAT(services.at(1).notes.at(0), HasSubstr("runs one on every machine"));
}

TEST_F(Compose, StartsTheServicesOfActiveProfilesOnly) {
  const std::string text =
      "services: {web: {}, debug: {profiles: [debug, test]}, load: {profiles: [load]}}";
  const auto replicas = [&] {
    const auto services = All(text);
    return std::vector<int>{services.at(0).replicas, services.at(1).replicas,
                            services.at(2).replicas};
  };
  EXPECT_THAT(replicas(), ElementsAre(1, 0, 0));
  EXPECT_THAT(All(text).at(2).notes.at(0),
              HasSubstr("load is not started: none of its profiles (load) is active"));
  options_.profiles = {"test"};
  EXPECT_THAT(replicas(), ElementsAre(1, 1, 0));
  options_.env["COMPOSE_PROFILES"] = "x, load";
  EXPECT_THAT(replicas(), ElementsAre(1, 1, 1));
  options_ = {.use_environment = false, .profiles = {"*"}};
  EXPECT_THAT(replicas(), ElementsAre(1, 1, 1));
}

TEST_F(Compose, SaysThatAnOverrideFileIsNotRead) {
  tree_.Write("compose.override.yaml", "services: {web: {cpus: 9}}");
  const auto services = All("services: {web: {cpus: 1}}");
  EXPECT_EQ(services.at(0).limits.cpus, 1.0);
  EXPECT_THAT(services.at(0).notes.at(0), HasSubstr("compose.override.yaml is not read"));
}

TEST_F(Compose, TakesTheSmallerOfQuotaAndCpus) {
  const auto limit = [&](const std::string& body) {
    return All("services: {web: {" + body + "}}").at(0).cpu_limit();
  };
  EXPECT_EQ(limit("cpus: 1.5"), 1.5);
  EXPECT_EQ(limit("cpu_quota: 25000, cpu_period: 50000"), 0.5);
  EXPECT_EQ(limit("cpu_quota: 250000"), 2.5);
  EXPECT_EQ(limit("cpuset: 0-2"), 3.0);
  EXPECT_EQ(limit("cpuset: '1', cpus: 2"), 1.0);
  EXPECT_EQ(limit("mem_limit: 64m"), std::nullopt);
}

}  // namespace
}  // namespace throttletest

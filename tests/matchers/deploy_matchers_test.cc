#include "throttletest/gtest/deploy_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/failures_of.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing_support::FailuresOf;

DeployedService Service(const std::string& name, std::optional<double> cpus, int replicas = 1) {
  DeployedService service;
  service.name = name;
  service.file = "compose.yaml";
  service.line = 3;
  service.limits.cpus = cpus;
  service.replicas = replicas;
  return service;
}

std::string Explain(const DeployedServicesMatcher& matcher, const DeployedServices& services) {
  testing::StringMatchResultListener listener;
  matcher.MatchAndExplain(services, &listener);
  return listener.str();
}

TEST(LimitsFitHost, MatchesUpToAllCpus) {
  EXPECT_THAT((DeployedServices{Service("web", 2), Service("db", 2)}), LimitsFitHost({.cpus = 4}));
  EXPECT_THAT((DeployedServices{Service("web", 2), Service("db", 2.01)}),
              Not(LimitsFitHost({.cpus = 4})));
}

TEST(LimitsFitHost, TakesBounds) {
  const DeployedServices services = {Service("web", 3, 2)};
  EXPECT_THAT(services, LimitsFitHost({.cpus = 4}, {.max_overcommit = 1.5}));
  EXPECT_THAT(services, Not(LimitsFitHost({.cpus = 4}, {.max_overcommit = 1.4})));
  EXPECT_THAT(services, Not(LimitsFitHost({.cpus = 8}, {.max_idle = 1})));
}

TEST(LimitsFitHost, RefusesBoundsWhenItIsMade) {
  EXPECT_THROW(LimitsFitHost({.cpus = 0}), Error);
  EXPECT_THROW(LimitsFitHost({}, {.max_overcommit = 0}), Error);
}

TEST(LimitsFitHost, DescribesItself) {
  EXPECT_EQ(testing::DescribeMatcher<const DeployedServices&>(LimitsFitHost()),
            "has limits that fit this machine");
  EXPECT_EQ(testing::DescribeMatcher<const DeployedServices&>(
                LimitsFitHost({.cpus = 4}, {.max_overcommit = 1.5, .max_idle = 1}), true),
            "has limits that do not fit 4 CPUs 1.5 times and leave 1 CPUs idle at most");
}

TEST(LimitsFitHost, ExplainsBothVerdicts) {
  EXPECT_EQ(Explain(LimitsFitHost({.cpus = 4}), {Service("web", 2.75)}),
            "limits add up to 2.75 CPUs of 4: 1.25 CPUs idle");
  EXPECT_EQ(Explain(LimitsFitHost({.cpus = 4}), {Service("web", 4.5)}),
            "limits add up to 4.5 CPUs of 4: 0.5 CPUs overcommitted (1.125 times). web has a limit "
            "of 4.5 CPUs, more than the 4 of the machine: Docker refuses to start it "
            "(compose.yaml:3). the limits add up to 4.5 CPUs, 0.5 more than the 4 of the machine: "
            "1.125 times what there is");
}

TEST(LimitsFitHost, FailsWithTheServicesInTheMessage) {
  const auto failures = FailuresOf(
      [] { EXPECT_THAT((DeployedServices{Service("web", 3, 2)}), LimitsFitHost({.cpus = 4})); });
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_THAT(failures[0], HasSubstr("web 3 CPUs x 2"));
  EXPECT_THAT(failures[0], HasSubstr("limits add up to 6 CPUs of 4"));
}

// A service without a limit, and no service at all, prove nothing either way.
TEST(LimitsFitHost, NeverPassesOnWhatIsNotKnown) {
  for (const DeployedServices& services :
       {DeployedServices{Service("web", 1), Service("db", std::nullopt)}, DeployedServices{}}) {
    const auto matcher = LimitsFitHost({.cpus = 4});
    EXPECT_THAT(FailuresOf([&] { EXPECT_THAT(services, matcher); }), Not(IsEmpty()));
    const auto under_not = FailuresOf([&] { EXPECT_THAT(services, Not(matcher)); });
    ASSERT_THAT(under_not, Not(IsEmpty()));
    EXPECT_THAT(under_not[0], HasSubstr("INCONCLUSIVE"));
    EXPECT_THAT(FailuresOf([&] { EXPECT_THAT(services, AnyOf(matcher, testing::_)); }),
                Not(IsEmpty()));
  }
}

}  // namespace
}  // namespace throttletest

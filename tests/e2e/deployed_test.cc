// An edit of the file that is deployed, and of nothing else, fails the test and is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_binary.h"
#include "support/sample_test.h"
#include "support/temp_tree.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class DeployedLimits : public test::SampleTest {
 protected:
  test::RunResult RunWith(const std::string& cpus) {
    tree_.Write("compose.yaml", "services:\n  web:\n    image: web\n    cpus: " + cpus + "\n");
    return test::RunBinary({DEPLOYED_SAMPLE, "--throttletest_launcher=cgroup"},
                           {.env = {{"DEPLOYED_COMPOSE_FILE", tree_.Path("compose.yaml")}}});
  }
  testing_support::TempTree tree_;
};

TEST_F(DeployedLimits, FailTheTestWhenTheFileIsEditedAndNameTheLine) {
  const auto good = RunWith("2");
  EXPECT_EQ(good.status, 0) << good.out << good.err;
  const auto cut = RunWith("0.5");
  EXPECT_EQ(cut.status, 1) << cut.out << cut.err;
  EXPECT_THAT(cut.out, AllOf(HasSubstr("is not below 0.2"),
                             HasSubstr("The limit is declared in " + tree_.Path("compose.yaml") +
                                       ":4: services.web.cpus: 0.5.")));
}

TEST_F(DeployedLimits, SayWhereALimitIsThatTheKernelCannotHold) {
  const auto run = RunWith("0.001");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, AllOf(HasSubstr("cpus 0.001 is a quota of 100 us"),
                             HasSubstr("compose.yaml:4: services.web.cpus: 0.001")));
}

}  // namespace
}  // namespace throttletest

// Whatever way a test process dies, nothing of its services is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "owner_process.h"
#include "service/cgroup_sweep.h"
#include "service/watcher.h"
#include "service_support.h"
#include "support/temp_tree.h"

namespace throttletest::test {
namespace {

using ::testing::IsEmpty;

class OwnerDeath : public ::testing::TestWithParam<std::pair<const char*, int>> {
 protected:
  void SetUp() override {
    if (const auto lack = internal::CgroupLauncherLack(); !lack.empty()) GTEST_SKIP() << lack;
  }
};

TEST_P(OwnerDeath, C101LeavesNothing) {
  const auto [way, signal] = GetParam();
  OwnerProcess owner({way});
  const pid_t service = std::atoi(owner.Await("ready").c_str());
  ASSERT_GT(service, 0);
  if (signal != 0) {
    EXPECT_THAT(CgroupsOf(owner.pid()), ::testing::Not(IsEmpty()));
    owner.Signal(signal);
  }
  owner.Collect();
  EXPECT_TRUE(Soon([&] { return !ProcessLives(service); }));
  EXPECT_TRUE(Soon([&] { return CgroupsOf(owner.pid()).empty(); }));
  owner.ReadToEnd();
}

INSTANTIATE_TEST_SUITE_P(Ways, OwnerDeath,
                         ::testing::Values(std::pair("wait", SIGKILL), std::pair("wait", SIGINT),
                                           std::pair("wait", SIGTERM), std::pair("wait", SIGHUP),
                                           std::pair("exit", 0), std::pair("_exit", 0),
                                           std::pair("abort", 0), std::pair("throw", 0)),
                         [](const auto& test) {
                           std::string name = test.param.first;
                           if (test.param.second != 0) name += ::sigabbrev_np(test.param.second);
                           std::erase(name, '_');
                           return name + std::to_string(test.index);
                         });

TEST(Watcher, RunsCommandsOnceTheOwnerIsDead) {
  const testing_support::TempTree tree;
  const pid_t owner = ::fork();
  if (owner == 0) {
    const auto ticket = internal::Watcher::Guard({.commands = {{"touch", tree.Path("cleaned")}}});
    auto released = internal::Watcher::Guard({.commands = {{"touch", tree.Path("released")}}});
    released.Release();
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(owner, nullptr, 0);
  EXPECT_TRUE(Soon([&] { return tree.Exists("cleaned"); }));
  EXPECT_FALSE(tree.Exists("released"));
}

TEST(Watcher, IsReplacedWhenItWasKilled) {
  auto first = internal::Watcher::Guard({.commands = {{"true"}}});
  const pid_t before = internal::Watcher::ProcessId();
  ASSERT_GT(before, 0);
  ASSERT_EQ(::kill(before, SIGKILL), 0);
  EXPECT_TRUE(Soon([&] { return !ProcessLives(before); }));
  const auto second = internal::Watcher::Guard({.commands = {{"true"}}});
  EXPECT_NE(internal::Watcher::ProcessId(), before);
  EXPECT_TRUE(ProcessLives(internal::Watcher::ProcessId()));
}

TEST(Watcher, IsNotAChildOfTheTest) {
  const auto ticket = internal::Watcher::Guard({.commands = {{"true"}}});
  // What an earlier test ended may take a moment to be collected.
  const auto no_child = [] {
    siginfo_t info{};
    return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == -1 && errno == ECHILD;
  };
  EXPECT_TRUE(Soon(no_child));
}

TEST(CgroupSweep, C101RemovesWhatDeadOwnersLeft) {
  if (const auto lack = internal::CgroupLauncherLack(); !lack.empty()) GTEST_SKIP() << lack;
  const auto own = LocateCgroup(::getpid());
  internal::Owner dead = internal::Owner::Self();
  dead.start_ticks -= 1;  // an earlier process with our number
  const std::string parent = own.cpu->directory() + "/throttletest-";
  const std::string left = parent + dead.ToString() + "-1";
  const std::string ours = parent + internal::Owner::Self().ToString() + "-999";
  std::filesystem::create_directory(left);
  std::filesystem::create_directory(left + "/below");
  std::filesystem::create_directory(ours);
  EXPECT_THAT(internal::FindCgroupLeftovers(),
              ::testing::Contains(Leftover{Leftover::Kind::kCgroup, LauncherKind::kCgroup, left}));
  EXPECT_THAT(internal::SweepCgroupLeftovers(), ::testing::Contains(left));
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(ours)) << "the living are left alone";
  ::rmdir(ours.c_str());
}

}  // namespace
}  // namespace throttletest::test

#include "service/systemd_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_tree.h"

namespace throttletest::internal {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_support::TempTree;

constexpr const char* kHome = "cg/user.slice/user-1000.slice/user@1000.service/cgroup.controllers";

ControllerLocation Unified(bool hidden = false) {
  return {.version = CgroupVersion::kV2,
          .mount_point = "/cg",
          .relative_path = "/user.slice/user-1000.slice/session-2.scope",
          .ancestors_hidden = hidden};
}

// A machine that systemd runs, with a user who is logged in.
struct Machine {
  Machine() {
    tree.Mkdir("run/systemd/system");
    tree.Write("run/dbus/system_bus_socket", "");
    tree.Write("run/user/1000/bus", "");
    tree.Write(kHome, "cpu memory pids\n");
    tree.Write("cg/cgroup.controllers", "cpuset cpu io memory pids\n");
  }
  SystemdAnswer Find(uid_t uid, bool hidden = false) const {
    return FindSystemdManager(Unified(hidden), {.fs_root = tree.root(), .uid = uid});
  }
  TempTree tree;
};

TEST(SystemdManager, IsTheUsersOwnForAUser) {
  const Machine machine;
  const SystemdAnswer answer = machine.Find(1000);
  ASSERT_TRUE(answer.manager.has_value()) << answer.lack;
  EXPECT_TRUE(answer.manager->user);
  EXPECT_THAT(answer.manager->controllers, ElementsAre("cpu", "memory", "pids"));
  EXPECT_EQ(answer.manager->slice, "/user.slice/user-1000.slice/user@1000.service/app.slice");
  // Without a login session's environment, as under su or cron.
  EXPECT_EQ(answer.manager->env.at("XDG_RUNTIME_DIR"), "/run/user/1000");
  EXPECT_EQ(answer.manager->env.at("DBUS_SESSION_BUS_ADDRESS"), "unix:path=/run/user/1000/bus");
}

TEST(SystemdManager, IsTheMachinesForRoot) {
  const Machine machine;
  const SystemdAnswer answer = machine.Find(0);
  ASSERT_TRUE(answer.manager.has_value());
  EXPECT_FALSE(answer.manager->user);
  EXPECT_EQ(answer.manager->home.relative_path, "/");
  EXPECT_THAT(answer.manager->controllers, ElementsAre("cpuset", "cpu", "io", "memory", "pids"));
  EXPECT_EQ(StartScopeCall(*answer.manager, "x.scope", 7)[1], "--system");
}

TEST(SystemdManager, IsSaidToBeMissingForAUserWhoIsNotLoggedIn) {
  const Machine machine;
  const SystemdAnswer answer = machine.Find(1001);
  EXPECT_FALSE(answer.manager.has_value());
  EXPECT_THAT(answer.lack, AllOf(HasSubstr("no systemd manager runs for uid 1001"),
                                 HasSubstr("loginctl enable-linger 1001")));
}

TEST(SystemdManager, IsNotLookedForWhereSystemdDoesNotRun) {
  const TempTree empty;
  const SystemdAnswer answer =
      FindSystemdManager(Unified(), {.fs_root = empty.root(), .uid = 1000});
  EXPECT_FALSE(answer.manager.has_value());
  EXPECT_EQ(answer.lack, "");
  // The folder may be mounted into a container, whose cgroups are another machine's units.
  EXPECT_FALSE(Machine().Find(1000, true).manager.has_value());
}

TEST(SystemdManager, IsCalledWithArgumentsThatItsBusUnderstands) {
  const Machine machine;
  const SystemdManager manager = *machine.Find(1000).manager;
  EXPECT_THAT(
      StartScopeCall(manager, "x.scope", 42),
      ElementsAre("busctl", "--user", "--timeout=20", "call", "org.freedesktop.systemd1",
                  "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
                  "StartTransientUnit", "ssa(sv)a(sa(sv))", "x.scope", "fail", "4", "Description",
                  "s", "services under test of throttletest", "Delegate", "b", "true",
                  "CollectMode", "s", "inactive-or-failed", "PIDs", "au", "1", "42", "0"));
  EXPECT_THAT(AttachCall(manager, "x.scope", "/service", 42),
              ElementsAre("busctl", "--user", "--timeout=20", "call", "org.freedesktop.systemd1",
                          "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
                          "AttachProcessesToUnit", "ssau", "x.scope", "/service", "1", "42"));
}

// What is written into a unit's own cgroup systemd writes over; it may not know any limit of ours.
TEST(SystemdManager, C088IsAskedForADelegatedUnitWithoutAnyLimit) {
  const Machine machine;
  const auto call = StartScopeCall(*machine.Find(0).manager, "x.scope", 7);
  EXPECT_THAT(call, Contains("Delegate"));
  for (const std::string& word : call) {
    for (const char* property : {"CPU", "Memory", "Allowed", "Tasks"}) {
      EXPECT_THAT(word, Not(HasSubstr(property)));
    }
  }
}

}  // namespace
}  // namespace throttletest::internal

// Making, emptying and removing cgroups on plain folders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "cgroup/writer.h"
#include "error_text.h"
#include "fake_cgroups.h"

namespace throttletest::internal {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ChildLocation, AddsANameToEveryController) {
  CgroupLocation parent = FakeV2::At("/");
  parent.memory = ControllerLocation{CgroupVersion::kV1, "/sys/fs/cgroup/memory", "/x", false};
  parent.cpuset.reset();
  const CgroupLocation child = ChildLocation(parent, "n");
  EXPECT_EQ(child.cpu->directory(), "/sys/fs/cgroup/n");
  EXPECT_EQ(child.memory->directory(), "/sys/fs/cgroup/memory/x/n");
  EXPECT_FALSE(child.cpuset);
  EXPECT_THAT(Directories(child, "/r"),
              ElementsAre("/r/sys/fs/cgroup/n", "/r/sys/fs/cgroup/memory/x/n"));
  EXPECT_THAT(ProcsFiles(child), ElementsAre("/sys/fs/cgroup/n/cgroup.procs",
                                             "/sys/fs/cgroup/memory/x/n/cgroup.procs"));
}

TEST(MakeCgroup, MakesEveryDirectoryOrNone) {
  const FakeV2 fake;
  CgroupLocation location = FakeV2::At("/n");
  location.memory = ControllerLocation{CgroupVersion::kV1, "/sys/fs/memory", "/n", false};
  EXPECT_THAT(ErrorText(ErrorCode::kCgroup, [&] { MakeCgroup(location, fake.tree.root()); }),
              HasSubstr("/sys/fs/memory/n: No such file"));
  EXPECT_FALSE(fake.tree.Exists("sys/fs/cgroup/n"));
  fake.tree.Mkdir("sys/fs/memory");
  MakeCgroup(location, fake.tree.root());
  EXPECT_TRUE(fake.tree.Exists("sys/fs/cgroup/n"));
  EXPECT_TRUE(fake.tree.Exists("sys/fs/memory/n"));
  EXPECT_THAT(ErrorText(ErrorCode::kCgroup, [&] { MakeCgroup(location, fake.tree.root()); }),
              HasSubstr("File exists"));
}

TEST(InheritCpuset, C173FillsCpusAndMemsOfAFreshV1Cpuset) {
  const FakeV2 fake;
  fake.Set("", "cpuset.cpus", "0-7\n");
  fake.Set("", "cpuset.mems", "0-1\n");
  fake.Set("/a", "cpuset.cpus", "\n");
  fake.Set("/a", "cpuset.mems", "\n");
  InheritCpuset(fake.tree.Path("sys/fs/cgroup/a"));
  EXPECT_EQ(fake.Read("/a", "cpuset.cpus"), "0-7");
  EXPECT_EQ(fake.Read("/a", "cpuset.mems"), "0-1");
  fake.Set("/a", "cpuset.cpus", "3\n");
  InheritCpuset(fake.tree.Path("sys/fs/cgroup/a"));
  EXPECT_EQ(fake.Read("/a", "cpuset.cpus"), "3\n") << "what is set stays";
}

TEST(WriteLimits, C173SetsMemsWithTheCpusetOnV1) {
  const FakeV2 fake;
  fake.Set("", "cpuset.cpus", "0-7\n");
  fake.Set("", "cpuset.mems", "0\n");
  fake.Set("/a", "cpuset.cpus", "\n");
  fake.Set("/a", "cpuset.mems", "\n");
  CgroupLocation location;
  location.cpuset = ControllerLocation{CgroupVersion::kV1, "/sys/fs/cgroup", "/a", false};
  WriteLimits(location, {.cpuset = CpuSet::Parse("1")}, fake.tree.root());
  EXPECT_EQ(fake.Read("/a", "cpuset.cpus"), "1");
  EXPECT_EQ(fake.Read("/a", "cpuset.mems"), "0");
  WriteLimits(location, {}, fake.tree.root());
  EXPECT_EQ(fake.Read("/a", "cpuset.cpus"), "0-7");
}

TEST(EnableControllers, C083SaysWhichControllerIsNotOffered) {
  const FakeV2 fake;
  const std::string root = fake.tree.Path("sys/fs/cgroup");
  fake.Set("", "cgroup.controllers", "memory pids\n");
  fake.Set("", "cgroup.subtree_control", "memory\n");
  const std::string text = ErrorText(ErrorCode::kUnsupported, [&] {
    EnableControllers(root, {"memory", "cpu"});
  });
  EXPECT_THAT(text, HasSubstr("the cpu controller is not offered"));
  EXPECT_THAT(text, HasSubstr("Delegate="));
  EnableControllers(root, {"memory", "pids"});
  EXPECT_EQ(fake.Read("", "cgroup.subtree_control"), "+pids");
}

TEST(RemoveCgroup, C185RemovesDeepestFirst) {
  const FakeV2 fake;
  fake.tree.Mkdir("x/a/b");
  fake.tree.Write("x/a/b/cpu.max", "max 100000\n");
  std::vector<std::string> removed;
  RemoveOptions options;
  options.rmdir = [&](const char* path) {
    removed.emplace_back(path);
    std::filesystem::remove_all(path);  // a kernel's files go with their directory
    return 0;
  };
  const std::string top = fake.tree.Path("x");
  EXPECT_EQ(RemoveCgroup(top, options), "");
  EXPECT_THAT(removed, ElementsAre(top + "/a/b", top + "/a", top));
  EXPECT_EQ(RemoveCgroup(top), "") << "gone is what was wanted";
}

TEST(RemoveCgroup, C186WaitsWhileTheKernelIsBusy) {
  RemoveOptions options;
  std::chrono::nanoseconds waited{0};
  options.wait = [&](std::chrono::nanoseconds time) { waited += time; };
  options.rmdir = [&](const char*) {
    if (waited >= 150ms) return 0;
    errno = EBUSY;
    return -1;
  };
  EXPECT_EQ(RemoveCgroup("/nowhere/x", options), "");
  EXPECT_GE(waited, 150ms);
  EXPECT_LE(waited, 300ms);
}

TEST(RemoveCgroup, GivesUpAfterTheTimeoutAndSaysSo) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  fake.Set("/a", "cgroup.procs", "12\n13\n");
  RemoveOptions options;
  std::chrono::nanoseconds waited{0};
  options.wait = [&](std::chrono::nanoseconds time) { waited += time; };
  options.rmdir = [](const char*) {
    errno = EBUSY;
    return -1;
  };
  EXPECT_THAT(RemoveCgroup(FakeV2::At("/a"), fake.tree.root(), options),
              HasSubstr("/a: Device or resource busy; 2 processes are still in it"));
  EXPECT_EQ(waited, options.timeout);
}

TEST(RemoveCgroup, DoesNotRetryOtherErrors) {
  RemoveOptions options;
  int calls = 0;
  options.wait = [](std::chrono::nanoseconds) { ADD_FAILURE() << "waited"; };
  options.rmdir = [&](const char*) {
    ++calls;
    errno = EPERM;
    return -1;
  };
  EXPECT_THAT(RemoveCgroup("/nowhere/x", options), HasSubstr("not permitted"));
  EXPECT_EQ(calls, 1);
}

TEST(KillAll, IsDoneWhenNothingIsThere) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  EXPECT_TRUE(KillAll(fake.tree.Path("sys/fs/cgroup/a"), 0ns));
  EXPECT_TRUE(KillAll(FakeV2::At("/gone"), fake.tree.root(), 0ns));
}

TEST(KillAll, UsesTheKernelsFileWhereThereIsOne) {
  const FakeV2 fake;
  fake.AddLevel("/a");
  fake.Set("/a", "cgroup.procs", "0\n");  // of a foreign PID namespace; never a target of kill(2)
  fake.Set("/a", "cgroup.kill", "");
  EXPECT_FALSE(KillAll(fake.tree.Path("sys/fs/cgroup/a"), 0ns)) << "plain folders do not empty";
  EXPECT_EQ(fake.Read("/a", "cgroup.kill"), "1");
}

TEST(KillAll, LeavesARootAlone) {
  const FakeV2 fake;
  fake.Set("", "cgroup.procs", "0\n");
  fake.Set("", "cgroup.kill", "");
  EXPECT_FALSE(KillAll(fake.tree.Path("sys/fs/cgroup"), 0ns));
  EXPECT_EQ(fake.Read("", "cgroup.kill"), "");
}

}  // namespace
}  // namespace throttletest::internal

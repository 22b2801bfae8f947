#include "service/engine_cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/engine_oom.h"
#include "support/temp_tree.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using ::testing::HasSubstr;
using testing_support::TempTree;

const std::string kId(64, 'a');

// A machine with one v2 hierarchy and process 7 in `path`.
class EngineCgroup : public ::testing::Test {
 protected:
  void PutProcess(const std::string& path) {
    tree_.Write("proc/7/cgroup", "0::" + path + "\n");
    tree_.Write("proc/self/mountinfo", "30 22 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    tree_.Write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory\n");
    tree_.Mkdir("sys/fs/cgroup" + path);
  }
  void PutLevel(const std::string& path, const std::string& cpu_max) {
    tree_.Write("sys/fs/cgroup" + path + "/cpu.max", cpu_max);
    tree_.Write("sys/fs/cgroup" + path + "/cgroup.controllers", "cpuset cpu memory\n");
    tree_.Write("sys/fs/cgroup" + path + "/memory.events", "oom 0\noom_kill 0\n");
  }
  CgroupLocation Locate(const std::string& id) {
    return LocateContainer(7, id, tree_.Path("proc"), tree_.root());
  }

  TempTree tree_;
};

TEST_F(EngineCgroup, C075IsFoundFromTheProcessWhateverTheDriver) {
  for (const std::string& path : {"/docker/" + kId, "/system.slice/docker-" + kId + ".scope",
                                  "/my.slice/custom/" + kId, "/libpod_parent/libpod-" + kId}) {
    PutProcess(path);
    PutLevel(path, "50000 100000\n");
    EXPECT_EQ(Locate(kId).cpu->relative_path, path);
  }
}

TEST_F(EngineCgroup, C091ClimbsFromTheRuntimesSubgroup) {
  PutProcess("/machine.slice/libpod-" + kId + ".scope/container");
  PutLevel("/machine.slice/libpod-" + kId + ".scope", "50000 100000\n");
  const CgroupLocation location = Locate(kId);
  EXPECT_EQ(location.cpu->relative_path, "/machine.slice/libpod-" + kId + ".scope");
  EXPECT_EQ(location.memory->relative_path, location.cpu->relative_path);
}

TEST_F(EngineCgroup, C091ALimitThatTheRuntimePutOneLevelDownIsFoundThere) {
  const std::string scope = "/user.slice/libpod-" + kId + ".scope";
  PutProcess(scope + "/container");
  PutLevel(scope, "max 100000\n");
  PutLevel(scope + "/container", "50000 100000\n");
  EXPECT_EQ(Locate(kId).cpu->relative_path, scope + "/container");
  PutLevel(scope + "/container", "max 100000\n");
  EXPECT_EQ(Locate(kId).cpu->relative_path, scope) << "no limit anywhere";
}

TEST_F(EngineCgroup, C091ClimbsToTheNearestLevelWithAQuotaFile) {
  PutProcess("/x.scope/container");
  PutLevel("/x.scope", "50000 100000\n");
  const auto location = LocateCgroup(7, tree_.Path("proc"), tree_.root());
  EXPECT_EQ(ClimbToContainer(location, "no such id", tree_.root()).cpu->relative_path, "/x.scope");
}

TEST_F(EngineCgroup, WhatSystemdMadeInsideIsNotTheContainersCgroup) {
  const std::string scope = "/machine.slice/libpod-" + kId + ".scope";
  PutProcess(scope + "/init.scope");
  PutLevel(scope + "/init.scope", "max 100000\n");
  PutLevel(scope, "50000 100000\n");
  EXPECT_EQ(Locate(kId).cpu->relative_path, scope);
}

TEST_F(EngineCgroup, NoQuotaFileAnywhereLeavesTheLeaf) {
  PutProcess("/x/y");
  const auto location = LocateCgroup(7, tree_.Path("proc"), tree_.root());
  EXPECT_EQ(ClimbToContainer(location, "", tree_.root()).unified->relative_path, "/x/y");
}

TEST_F(EngineCgroup, AProcessOfAnotherMachineIsRefused) {
  PutProcess("/user.slice/session-1.scope");
  try {
    Locate(kId);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(e.what(), HasSubstr("does not name the container"));
    EXPECT_THAT(e.what(), HasSubstr("another virtual machine"));
  }
  tree_.Remove("proc/7");
  try {
    Locate(kId);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("/7/cgroup does not exist"));
  }
}

TEST_F(EngineCgroup, OomKillsAreCountedWhileTheCgroupLives) {
  PutProcess("/docker/" + kId);
  PutLevel("/docker/" + kId, "max 100000\n");
  const std::string events = "sys/fs/cgroup/docker/" + kId + "/memory.events";
  OomWatch watch(Locate(kId), tree_.root());
  EXPECT_EQ(watch.Count(std::nullopt), 0);
  tree_.Write(events, "low 0\noom 5\noom_kill 2\noom_group_kill 0\n");
  EXPECT_EQ(watch.Count(false), 2) << "the kernel's counter goes before the engine's flag";
}

class OomWatchAfterRemoval : public EngineCgroup {
 protected:
  // A removed cgroup's open file cannot be read; an emptied one stands for it.
  void RemoveContainer() { tree_.Write("sys/fs/cgroup/docker/" + kId + "/memory.events", ""); }
  OomWatch Watch() {
    PutProcess("/docker/" + kId);
    PutLevel("/docker/" + kId, "max 100000\n");
    PutLevel("/docker", "max 100000\n");
    return OomWatch(Locate(kId), tree_.root());
  }
};

TEST_F(OomWatchAfterRemoval, C098TheEnginesFlagIsEnough) {
  OomWatch watch = Watch();
  RemoveContainer();
  EXPECT_EQ(watch.Count(true), 1);
}

TEST_F(OomWatchAfterRemoval, C098AParentThatCountedNothingMeansNone) {
  OomWatch watch = Watch();
  RemoveContainer();
  EXPECT_EQ(watch.Count(false), 0);
  EXPECT_EQ(watch.Count(std::nullopt), 0);
}

TEST_F(OomWatchAfterRemoval, AKillThatMayBeASiblingsIsNotKnown) {
  OomWatch watch = Watch();
  RemoveContainer();
  tree_.Write("sys/fs/cgroup/docker/memory.events", "oom_kill 1\n");
  EXPECT_EQ(watch.Count(false), std::nullopt);
}

TEST_F(OomWatchAfterRemoval, WhatWasSeenBeforeStays) {
  OomWatch watch = Watch();
  tree_.Write("sys/fs/cgroup/docker/" + kId + "/memory.events", "oom_kill 3\n");
  EXPECT_EQ(watch.Count(std::nullopt), 3);
  RemoveContainer();
  EXPECT_EQ(watch.Count(false), 3);
}

TEST(OomWatchWithoutController, KnowsNothing) {
  EXPECT_EQ(OomWatch(CgroupLocation{}).Count(std::nullopt), std::nullopt);
  EXPECT_EQ(OomWatch(CgroupLocation{}).Count(false), std::nullopt);
}

}  // namespace
}  // namespace throttletest::internal

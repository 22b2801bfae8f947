// Counting the threads of a service.
#include "measure/thread_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_tree.h"
#include "throttletest/cgroup/location.h"

namespace throttletest {
namespace {

using testing::HasSubstr;

Cgroup OpenWith(const testing_support::TempTree& tree, const std::string& processes) {
  tree.Write("sys/devices/system/cpu/online", "0-1\n");
  tree.Write("sys/fs/cgroup/cpu.stat", "usage_usec 9\n");
  tree.Write("sys/fs/cgroup/a/cpu.max", "max 100000\n");
  tree.Write("sys/fs/cgroup/a/cpu.stat", "usage_usec 9\n");
  tree.Write("sys/fs/cgroup/a/cgroup.procs", processes);
  const ControllerLocation place{CgroupVersion::kV2, "/sys/fs/cgroup", "/a", false};
  return Cgroup::Open({.cpu = place, .cpuacct = place, .unified = place}, tree.root());
}

TEST(CountThreads, AddsUpAllProcesses) {
  const testing_support::TempTree tree;
  for (const char* task : {"17/task/17", "17/task/19", "18/task/18"}) tree.Mkdir(task);
  const Cgroup cgroup = OpenWith(tree, "17\n18\n999\n");
  EXPECT_EQ(internal::CountThreads(cgroup, tree.root()).value(), 3);
}

TEST(CountThreads, IsNotAvailableWithoutAVisibleProcess) {
  const testing_support::TempTree tree;
  const Cgroup cgroup = OpenWith(tree, "999\n");
  EXPECT_THAT(internal::CountThreads(cgroup, tree.root()).reason(), HasSubstr("no process"));
}

}  // namespace
}  // namespace throttletest

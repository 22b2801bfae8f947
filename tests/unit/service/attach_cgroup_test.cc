// Finding the cgroup that a path names, and telling whose figures it has.
#include "service/attach_cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "service/attach_process.h"
#include "support/temp_tree.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using testing_support::TempTree;

// "code: message" of what `act` throws.
std::string Refusal(const std::function<void()>& act) {
  try {
    act();
    return "accepted";
  } catch (const Error& error) {
    return std::string(ErrorCodeName(error.code())) + ": " + error.what();
  }
}

constexpr const char* kV2Mount = "30 22 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
constexpr const char* kHybridMounts =
    "30 22 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
    "31 22 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
    "32 22 0:29 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n"
    "33 22 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

// A machine with process 7.
class AttachCgroup : public ::testing::Test {
 protected:
  void PutV2(const std::string& path) {
    tree_.Write("proc/7/cgroup", "0::" + path + "\n");
    tree_.Write("proc/self/mountinfo", kV2Mount);
    tree_.Write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory\n");
    tree_.Write("sys/fs/cgroup" + path + "/cgroup.procs", "7\n");
  }
  void PutHybrid(const std::string& cpu, const std::string& memory) {
    tree_.Write("proc/7/cgroup",
                "4:memory:" + memory + "\n3:cpuacct:" + cpu + "\n2:cpu:" + cpu + "\n0::/\n");
    tree_.Write("proc/self/mountinfo", kHybridMounts);
    for (const char* controller : {"cpu", "cpuacct", "memory"}) {
      const std::string top = std::string("sys/fs/cgroup/") + controller;
      tree_.Write(top + "/release_agent", "");
      tree_.Write(top + "/cgroup.procs", "");
    }
    tree_.Write("sys/fs/cgroup/unified/cgroup.controllers", "");
  }
  CgroupLocation At(const std::string& directory) {
    return LocateAtDirectory(7, directory, tree_.Path("proc"), tree_.root());
  }
  std::string Directory(const std::string& path) { return CgroupDirectory(path, tree_.root()); }
  void PutStat(int pid, const std::string& flags, const std::string& start, char state = 'S') {
    tree_.Write("proc/" + std::to_string(pid) + "/stat",
                std::to_string(pid) + " (x) " + state + " 1 1 1 0 -1 " + flags +
                    " 0 0 0 0 0 0 0 0 20 0 1 0 " + start + " 0 0\n");
  }
  std::optional<pid_t> Oldest(const std::vector<pid_t>& processes) {
    return OldestProcess(processes, tree_.Path("proc"));
  }

  TempTree tree_;
};

TEST_F(AttachCgroup, APathIsTakenWithoutLinksAndFinalSlash) {
  PutV2("/web.service");
  EXPECT_EQ(Directory("/sys/fs/cgroup/./web.service/"), "/sys/fs/cgroup/web.service");
}

TEST_F(AttachCgroup, APathThatIsNoCgroupIsRefused) {
  tree_.Mkdir("etc");
  EXPECT_EQ(Refusal([&] { Directory("/no/such"); }),
            "invalid_argument: /no/such: No such file or directory");
  EXPECT_THAT(Refusal([&] { Directory("/etc"); }),
              HasSubstr("invalid_argument: /etc is not a cgroup, it has no cgroup.procs: give a "
                        "directory below /sys/fs/cgroup"));
}

TEST_F(AttachCgroup, ProcessesOfCgroupsBelowCountAndThoseOfOtherNamespacesDoNot) {
  PutV2("/a/b");
  tree_.Write("sys/fs/cgroup/a/cgroup.procs", "0\n8\n");
  tree_.Write("sys/fs/cgroup/a/c/d/cgroup.procs", "9\n");
  EXPECT_THAT(ProcessesBelow("/sys/fs/cgroup/a", tree_.root()), UnorderedElementsAre(7, 8, 9));
  EXPECT_THAT(ProcessesBelow("/sys/fs/cgroup/gone", tree_.root()), IsEmpty());
}

TEST_F(AttachCgroup, TheOldestProcessIsTheMainOne) {
  PutStat(5, "0", "900");
  PutStat(6, "0", "300");
  PutStat(7, "0", "300");
  PutStat(8, "2129984", "1");  // a kernel thread
  PutStat(9, "0", "2", 'Z');
  EXPECT_EQ(Oldest({5, 7, 6, 8, 9, 10}), 6);
  EXPECT_EQ(Oldest({8, 9, 10}), std::nullopt);
}

TEST_F(AttachCgroup, ThePathIsWhatIsMeasuredAlsoWhenTheProcessIsBelowIt) {
  PutV2("/web.service/workers/1");
  const CgroupLocation location = At("/sys/fs/cgroup/web.service");
  EXPECT_EQ(location.cpu->relative_path, "/web.service");
  EXPECT_EQ(location.memory->relative_path, "/web.service");
  EXPECT_EQ(location.unified->relative_path, "/web.service");
}

TEST_F(AttachCgroup, OnV1TheOtherControllersAreFoundFromTheProcess) {
  PutHybrid("/limited/web", "/web.slice");
  const CgroupLocation location = At("/sys/fs/cgroup/cpu/limited");
  EXPECT_EQ(location.cpu->directory(), "/sys/fs/cgroup/cpu/limited");
  EXPECT_EQ(location.cpuacct->directory(), "/sys/fs/cgroup/cpuacct/limited") << "the same path";
  EXPECT_EQ(location.memory->directory(), "/sys/fs/cgroup/memory/web.slice");
}

TEST_F(AttachCgroup, ADirectoryOfAnotherControllerDoesAsWell) {
  PutHybrid("/limited", "/web.slice");
  const CgroupLocation location = At("/sys/fs/cgroup/memory/web.slice");
  EXPECT_EQ(location.cpu->directory(), "/sys/fs/cgroup/cpu/limited");
}

TEST_F(AttachCgroup, AProcessThatIsNotThereIsRefused) {
  PutV2("/a/bc");
  EXPECT_THAT(Refusal([&] { At("/sys/fs/cgroup/a/b"); }),
              HasSubstr("cgroup: process 7 is not in it"));
}

// Whose figures does a cgroup have?
ControllerLocation V1(const std::string& controller, const std::string& path) {
  return {CgroupVersion::kV1, "/sys/fs/cgroup/" + controller, path, false};
}

TEST(WithoutShared, ACgroupThatHoldsTheTestIsRefusedWithTheWayOut) {
  CgroupLocation service;
  service.cpu = V1("cpu", "/user.slice");
  for (const char* own : {"/user.slice", "/user.slice/session-1.scope"}) {
    EXPECT_THAT(Refusal([&] { WithoutShared(service, {.cpu = V1("cpu", own)}); }),
                AllOf(HasSubstr("unsupported: its cgroup /sys/fs/cgroup/cpu/user.slice also holds "
                                "this process ("),
                      HasSubstr("systemd-run --scope")));
  }
}

TEST(WithoutShared, OthersBesideOrAboveAreNotShared) {
  CgroupLocation service;
  service.cpu = V1("cpu", "/a/web");
  for (const char* own : {"/", "/a", "/a/website", "/b"}) {
    EXPECT_EQ(WithoutShared(service, {.cpu = V1("cpu", own)}), service) << own;
  }
}

TEST(WithoutShared, SharedFiguresOfOtherControllersAreNotRead) {
  CgroupLocation service;
  service.cpu = V1("cpu", "/web");
  service.cpuacct = V1("cpuacct", "/session");
  service.cpuset = V1("cpuset", "/session");
  service.memory = V1("memory", "/session");
  CgroupLocation own = service;
  own.cpu = V1("cpu", "/session");
  const CgroupLocation left = WithoutShared(service, own);
  EXPECT_EQ(left.cpu, service.cpu);
  EXPECT_EQ(left.cpuacct, std::nullopt);
  EXPECT_EQ(left.memory, std::nullopt);
  EXPECT_EQ(left.cpuset, service.cpuset) << "a limit of the service, whoever shares it";
}

TEST(WithoutShared, ARootIsLeftToBeRefusedAsOne) {
  CgroupLocation root;
  root.cpu = V1("cpu", "/");
  EXPECT_EQ(WithoutShared(root, root), root);
  root.cpu->ancestors_hidden = true;  // the root of a container's view is a cgroup like any other
  EXPECT_THAT(Refusal([&] { WithoutShared(root, root); }), HasSubstr("also holds this process"));
}

TEST(WithoutShared, WithoutCpuControllerTheUsageDecides) {
  CgroupLocation service;
  service.cpuacct = V1("cpuacct", "/session");
  EXPECT_THAT(Refusal([&] { WithoutShared(service, service); }), HasSubstr("also holds"));
}

}  // namespace
}  // namespace throttletest::internal

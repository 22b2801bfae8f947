#include "service/cgroup_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cgroup/location_parts.h"
#include "service/cgroup_advice.h"
#include "support/temp_tree.h"

namespace throttletest::internal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing_support::TempTree;

ControllerLocation At(CgroupVersion version, const std::string& mount, const std::string& path) {
  return {.version = version, .mount_point = mount, .relative_path = path};
}

// One v2 level of a fake tree.
struct V2 {
  const char* path;
  const char* controllers;
  const char* enabled;
  bool processes = false;
  bool root = false;
};

void Make(const TempTree& tree, const V2& level) {
  const std::string base = std::string("cg") + level.path + "/";
  tree.Write(base + "cgroup.controllers", std::string(level.controllers) + "\n");
  tree.Write(base + "cgroup.subtree_control", std::string(level.enabled) + "\n");
  tree.Write(base + "cgroup.procs", level.processes ? "1\n2\n" : "");
  if (!level.root) tree.Write(base + "cgroup.type", "domain\n");
}

CgroupLocation AllOnV2(const std::string& path) {
  const auto location = At(CgroupVersion::kV2, "/cg", path);
  return {.cpu = location,
          .cpuacct = location,
          .cpuset = location,
          .memory = location,
          .unified = location};
}

PlaceAnswer Find(const TempTree& tree, const std::string& path, CgroupNeeds needs = {}) {
  return FindCgroupPlace(AllOnV2(path), needs, tree.root());
}

TEST(CgroupPlace, C085OwnCgroupHoldsUsSoTheParentIsTaken) {
  const TempTree tree;
  Make(tree, {"/", "cpu memory cpuset", "cpu memory", true, true});
  Make(tree, {"/user", "cpu memory", "cpu memory"});
  Make(tree, {"/user/session", "cpu memory", "", true});
  const PlaceAnswer answer = Find(tree, "/user/session");
  ASSERT_TRUE(answer.place.has_value()) << answer.lack;
  EXPECT_EQ(answer.place->parent.cpu->relative_path, "/user");
  EXPECT_EQ(answer.place->parent.memory->relative_path, "/user");
  EXPECT_FALSE(answer.place->parent.cpuset.has_value()) << "not offered there, and not needed";
  EXPECT_THAT(answer.place->enable, IsEmpty());
}

TEST(CgroupPlace, TheRealRootMayHoldProcessesAndIsAskedToEnable) {
  const TempTree tree;
  Make(tree, {"/", "cpu memory cpuset", "memory", true, true});
  const PlaceAnswer answer = Find(tree, "/");
  ASSERT_TRUE(answer.place.has_value()) << answer.lack;
  EXPECT_EQ(answer.place->parent.cpu->relative_path, "/");
  EXPECT_THAT(answer.place->enable, ElementsAre("cpu", "cpuset"));
}

TEST(CgroupPlace, ANeededControllerIsLookedForHigherUp) {
  const TempTree tree;
  Make(tree, {"/", "cpu memory cpuset", "cpu memory cpuset", true, true});
  Make(tree, {"/user", "cpu memory", "cpu memory"});
  Make(tree, {"/user/session", "cpu memory", "", true});
  const PlaceAnswer answer = Find(tree, "/user/session", {.memory = true, .cpuset = true});
  ASSERT_TRUE(answer.place.has_value()) << answer.lack;
  EXPECT_EQ(answer.place->parent.cpuset->relative_path, "/");
}

TEST(CgroupPlace, C085AContainersRootThatHoldsProcessesIsExplained) {
  const TempTree tree;
  Make(tree, {"/", "cpu memory cpuset", "", true});
  const PlaceAnswer answer = Find(tree, "/");
  EXPECT_FALSE(answer.place.has_value());
  EXPECT_THAT(answer.lack, AllOf(HasSubstr("holds processes itself"), HasSubstr("/cg"),
                                 HasSubstr("docker or podman")));
}

TEST(CgroupPlace, C083AControllerThatIsNotDelegatedIsNamed) {
  const TempTree tree;
  Make(tree, {"/", "memory pids", "memory pids"});
  Make(tree, {"/mine", "memory pids", "", true});
  const PlaceAnswer answer = Find(tree, "/mine");
  EXPECT_FALSE(answer.place.has_value());
  EXPECT_THAT(answer.lack, AllOf(HasSubstr("does not offer the cpu controller"),
                                 HasSubstr("\"memory pids\""), HasSubstr("Delegate=")));
}

TEST(CgroupPlace, OnV1EachControllerIsUsedWhereWeAre) {
  const TempTree tree;
  tree.Mkdir("v1/cpu/a");
  tree.Mkdir("v1/memory/b");
  CgroupLocation own;
  own.cpu = At(CgroupVersion::kV1, "/v1/cpu", "/a");
  own.memory = At(CgroupVersion::kV1, "/v1/memory", "/b");
  own.unified = At(CgroupVersion::kV2, "/not-there", "/");
  const PlaceAnswer answer = FindCgroupPlace(own, {}, tree.root());
  ASSERT_TRUE(answer.place.has_value()) << answer.lack;
  EXPECT_EQ(answer.place->parent.cpu, own.cpu);
  EXPECT_EQ(answer.place->parent.memory, own.memory);
  EXPECT_FALSE(answer.place->parent.unified.has_value());
}

TEST(CgroupPlace, AMissingControllerIsALackOnlyWhenItIsNeeded) {
  const TempTree tree;
  tree.Mkdir("v1/cpu/a");
  CgroupLocation own;
  own.cpu = At(CgroupVersion::kV1, "/v1/cpu", "/a");
  EXPECT_TRUE(FindCgroupPlace(own, {}, tree.root()).place.has_value());
  const PlaceAnswer answer = FindCgroupPlace(own, {.memory = true}, tree.root());
  EXPECT_FALSE(answer.place.has_value());
  EXPECT_EQ(answer.code, ErrorCode::kUnsupported);
  EXPECT_THAT(answer.lack, HasSubstr("no memory cgroup controller"));
}

TEST(CgroupPlace, AV1DirectoryThatCannotBeWrittenIsALack) {
  const TempTree tree;
  CgroupLocation own;
  own.cpu = At(CgroupVersion::kV1, "/v1/cpu", "/gone");
  const PlaceAnswer answer = FindCgroupPlace(own, {}, tree.root());
  EXPECT_EQ(answer.code, ErrorCode::kPermission);
  EXPECT_THAT(answer.lack, AllOf(HasSubstr("/v1/cpu/gone cannot be used by uid"),
                                 HasSubstr("docker or podman")));
}

// The root of a container's own cgroup namespace.
PlaceAnswer FindInContainer(const TempTree& tree, const std::vector<pid_t>& line) {
  CgroupLocation own = AllOnV2("/");
  for (auto* controller : PartsOf(own)) {
    (*controller)->ancestors_hidden = true;
  }
  return FindCgroupPlace(own, {}, tree.root(), line);
}

TEST(CgroupPlace, C085InAContainerThisProcessAndItsParentsLeaveTheRoot) {
  const TempTree tree;
  Make(tree, {"/", "cpu memory cpuset", "", true});  // processes 1 and 2
  const PlaceAnswer answer = FindInContainer(tree, {2, 1});
  ASSERT_TRUE(answer.place.has_value()) << answer.lack;
  EXPECT_THAT(answer.place->move_to_leaf, ElementsAre(1, 2));
  EXPECT_THAT(answer.place->enable, ElementsAre("cpu", "memory", "cpuset"));
}

TEST(CgroupPlace, C085InAContainerNobodyElseIsMoved) {
  const TempTree tree;
  Make(tree, {"/", "cpu memory cpuset", "", true});
  const PlaceAnswer answer = FindInContainer(tree, {2, 77});
  EXPECT_FALSE(answer.place.has_value());
  EXPECT_THAT(answer.lack, HasSubstr("holds processes itself"));
}

TEST(CgroupPlace, NobodyMovesWhereTheControllersAreEnabledAlready) {
  const TempTree tree;
  Make(tree, {"/", "cpu memory cpuset", "cpu memory cpuset", true});
  const PlaceAnswer answer = FindInContainer(tree, {2, 1});
  ASSERT_TRUE(answer.place.has_value()) << answer.lack;
  EXPECT_THAT(answer.place->move_to_leaf, IsEmpty());
}

TEST(CgroupPlace, C085ProcessesOfOthersInAContainersRootAreMovedByTheLineGiven) {
  const TempTree tree;
  Make(tree, {"/", "cpu memory cpuset", "", true});
  EXPECT_THAT(FindInContainer(tree, {77}).lack,
              HasSubstr("; move them into a leaf with: mkdir -p /cg/init && xargs -rn1 < "
                        "/cg/cgroup.procs > /cg/init/cgroup.procs, or use"));
}

TEST(CgroupPlace, StaysInsideAContainerThatSeesTheWholeTree) {
  const TempTree tree;
  Make(tree, {"/", "cpu memory cpuset", "cpu memory cpuset", true, true});
  Make(tree, {"/docker", "cpu memory cpuset", "cpu memory cpuset"});
  Make(tree, {"/docker/3f2a", "cpu memory cpuset", "", true});  // processes 1 and 2
  const auto parent = [&](const std::vector<pid_t>& line) {
    return FindCgroupPlace(AllOnV2("/docker/3f2a"), {}, tree.root(), line)
        .place.value()
        .parent.cpu->relative_path;
  };
  EXPECT_EQ(parent({2, 1}), "/docker/3f2a") << "its first process is there";
  EXPECT_EQ(parent({2, 77, 1}), "/docker/3f2a");
  EXPECT_EQ(parent({2, 77}), "/docker") << "a session of a machine: nobody has to move";
}

TEST(CgroupAdvice, NamesTheLineThatMakesMountsWritable) {
  EXPECT_EQ(ReadOnlyAdvice({"/sys/fs/cgroup"}, true),
            "make it writable with: mount -o remount,bind,rw /sys/fs/cgroup");
  EXPECT_EQ(ReadOnlyAdvice({"/cg/cpu", "/cg/memory"}, true),
            "make it writable with: mount -o remount,bind,rw /cg/cpu && mount -o remount,bind,rw "
            "/cg/memory");
  EXPECT_THAT(ReadOnlyAdvice({"/sys/fs/cgroup"}, false), HasSubstr("podman run --privileged"));
}

TEST(CgroupAdvice, MayMountIsACapability) {
  const TempTree tree;
  EXPECT_FALSE(MayMount(tree.root()));
  tree.Write("self/status", "Name:\tx\nCapEff:\t00000000a80425fb\n");
  EXPECT_FALSE(MayMount(tree.root())) << "what Docker gives";
  tree.Write("self/status", "Name:\tx\nCapEff:\t00000000a82425fb\n");
  EXPECT_TRUE(MayMount(tree.root()));
}

SystemdManager UsersManager(std::vector<std::string> controllers) {
  return {.user = true,
          .home = At(CgroupVersion::kV2, "/cg", "/user.slice/user-7.slice/user@7.service"),
          .controllers = std::move(controllers)};
}

TEST(ScopePlace, OffersWhatTheUsersManagerWasGiven) {
  const PlaceAnswer answer =
      FindScopePlace(AllOnV2("/user.slice/s"), {.memory = true}, UsersManager({"memory", "cpu"}));
  ASSERT_TRUE(answer.place.has_value()) << answer.lack;
  EXPECT_THAT(answer.place->enable, ElementsAre("cpu", "memory"));
  EXPECT_FALSE(answer.place->parent.cpuset.has_value());
  EXPECT_EQ(answer.place->ToString(), "a scope of the systemd manager of this user");
}

TEST(ScopePlace, C083AControllerThatIsNotDelegatedIsNamedWithTheLineThatFixesIt) {
  const PlaceAnswer answer =
      FindScopePlace(AllOnV2("/user.slice/s"), {}, UsersManager({"memory", "pids"}));
  EXPECT_FALSE(answer.place.has_value());
  EXPECT_EQ(answer.code, ErrorCode::kPermission);
  EXPECT_THAT(answer.lack,
              AllOf(HasSubstr("does not have the cpu controller"),
                    HasSubstr("user@7.service/cgroup.controllers lists \"memory pids\""),
                    HasSubstr("Delegate=cpu cpuset io memory pids"), HasSubstr("tee "),
                    HasSubstr("docker or podman")));
  EXPECT_THAT(FindScopePlace(AllOnV2("/s"), {.cpuset = true}, UsersManager({"cpu"})).lack,
              HasSubstr("does not have the cpuset controller"));
}

}  // namespace
}  // namespace throttletest::internal

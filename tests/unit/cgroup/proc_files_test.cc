#include "cgroup/proc_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_text.h"

namespace throttletest::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ProcCgroupParse, C063ReadsV1AndV2Lines) {
  const auto entries =
      ParseProcCgroup("2:cpu,cpuacct:/\n1:cpuset:/\n0::/user.slice/s.scope\n", "f");
  ASSERT_THAT(entries, SizeIs(3));
  EXPECT_THAT(entries[0].controllers, ElementsAre("cpu", "cpuacct"));
  EXPECT_TRUE(entries[2].unified);
  EXPECT_THAT(entries[2].controllers, IsEmpty());
  EXPECT_EQ(entries[2].path, "/user.slice/s.scope");
}

TEST(ProcCgroupParse, C065ReadsTheV2Line) {
  const auto entries = ParseProcCgroup("0::/a/b\n", "f");
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_TRUE(entries[0].unified);
  EXPECT_EQ(entries[0].path, "/a/b");
}

TEST(ProcCgroupParse, C066KeepsColonsOfThePath) {
  const auto entries = ParseProcCgroup("5:cpu:/system.slice/a:b:c.scope\n", "f");
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0].path, "/system.slice/a:b:c.scope");
  EXPECT_TRUE(entries[0].Has("cpu"));
  EXPECT_FALSE(entries[0].Has("cp"));
}

TEST(ProcCgroupParse, KeepsNamedHierarchiesApart) {
  const auto entries = ParseProcCgroup("9:name=systemd:/x\n", "f");
  EXPECT_THAT(entries[0].controllers, ElementsAre("name=systemd"));
  EXPECT_FALSE(entries[0].unified);
}

TEST(ProcCgroupParse, RefusesMalformedLinesQuotingThem) {
  for (const char* line : {"garbage", "1:cpu", "1:cpu:", "1:cpu:a"}) {
    EXPECT_THAT(ErrorText(ErrorCode::kParse, [&] { ParseProcCgroup(line, "/proc/7/cgroup"); }),
                HasSubstr(std::string("/proc/7/cgroup: line \"") + line + '"'));
  }
}

TEST(MountInfoParse, C068AcceptsOptionalFieldsAndAnySource) {
  for (const char* line : {"31 23 0:27 / /cg rw,nosuid shared:9 master:2 - cgroup2 none rw\n",
                           "31 23 0:27 / /cg rw,nosuid - cgroup2 none rw\n"}) {
    const auto mounts = ParseMountInfo(line, "f");
    ASSERT_THAT(mounts, SizeIs(1)) << line;
    EXPECT_TRUE(mounts[0].unified);
    EXPECT_EQ(mounts[0].mount_point, "/cg");
    EXPECT_EQ(mounts[0].root, "/");
  }
}

TEST(MountInfoParse, C070SkipsNamespaceFilesAndOtherTypes) {
  EXPECT_THAT(ParseMountInfo("50 49 0:4 net:[4026532] /run/netns/a rw - nsfs nsfs rw\n"
                             "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n",
                             "f"),
              IsEmpty());
}

TEST(MountInfoParse, C073ReadsTheControllersOfV1Mounts) {
  const auto mounts =
      ParseMountInfo("36 29 0:33 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpuacct,cpu\n", "f");
  ASSERT_THAT(mounts, SizeIs(1));
  EXPECT_TRUE(mounts[0].Has("cpu"));
  EXPECT_TRUE(mounts[0].Has("cpuacct"));
  EXPECT_FALSE(mounts[0].Has("cpuset"));
}

TEST(MountInfoParse, UndoesOctalEscapes) {
  const auto mounts =
      ParseMountInfo("31 23 0:27 /a\\040b /c\\011\\134d rw - cgroup2 none rw\n", "f");
  EXPECT_EQ(mounts[0].root, "/a b");
  EXPECT_EQ(mounts[0].mount_point, "/c\t\\d");
}

TEST(MountInfoParse, SkipsMountsFromAboveTheNamespace) {
  EXPECT_THAT(ParseMountInfo("31 23 0:27 /../.. /host rw - cgroup2 none rw\n", "f"), IsEmpty());
}

TEST(MountInfoParse, RefusesMalformedLinesQuotingThem) {
  EXPECT_THAT(ErrorText(ErrorCode::kParse, [] { ParseMountInfo("31 23 0:27 / /cg rw\n", "f"); }),
              HasSubstr("\" - \" is missing"));
  EXPECT_THAT(ErrorText(ErrorCode::kParse, [] { ParseMountInfo("31 / - cgroup2 n rw\n", "f"); }),
              HasSubstr("too few fields"));
}

}  // namespace
}  // namespace throttletest::internal

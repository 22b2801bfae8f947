#include "service/engine_start_watch.h"

#include <gtest/gtest.h>

namespace throttletest::internal {
namespace {

TEST(EngineStartWatch, TellsARuntimeFromTheJobsProgram) {
  for (const char* exe : {"/usr/sbin/runc", "/usr/bin/crun", "/usr/local/bin/youki",
                          "/memfd:runc_cloned:/proc/self/exe (deleted)", "/runc (deleted)", "/"}) {
    EXPECT_TRUE(IsRuntimeProgram(exe)) << exe;
  }
  for (const char* exe : {"/usr/bin/sysbench", "/bin/sh", "/opt/runc/bin/app", "/usr/bin/crunch",
                          "/usr/bin/runc-like", "/memfd:app (deleted)"}) {
    EXPECT_FALSE(IsRuntimeProgram(exe)) << exe;
  }
  for (const char* comm : {"runc", "runc:[2:INIT]", "crun"}) EXPECT_TRUE(IsRuntimeComm(comm));
  for (const char* comm : {"crunch", "sh", ""}) EXPECT_FALSE(IsRuntimeComm(comm)) << comm;
}

TEST(EngineStartWatch, ReadsTheInnermostPid) {
  EXPECT_EQ(InnerPid("Name:\trunc\nNStgid:\t4711\t1\nNSpid:\t4711\t1\nNSpgid:\t4711\t1\n"), 1);
  EXPECT_EQ(InnerPid("Name:\tx\nNSpid:\t4711\t12\t3\n"), 3);
  EXPECT_EQ(InnerPid("Name:\tx\nNSpid:\t4711\n"), std::nullopt) << "in no namespace of its own";
  EXPECT_EQ(InnerPid("Name:\tinit\nNSpid:\t1\n"), std::nullopt) << "nor is the machine's first";
  EXPECT_EQ(InnerPid("Name:\told\n"), std::nullopt);
  EXPECT_EQ(InnerPid("Name:\tx\nNSpid:\t4711\tx\n"), std::nullopt);
}

}  // namespace
}  // namespace throttletest::internal

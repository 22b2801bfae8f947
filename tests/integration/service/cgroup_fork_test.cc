// A child that is born in a cgroup, on the v2 tree of the real kernel.
#include "service/cgroup_fork.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "base/unique_fd.h"
#include "service/owner.h"
#include "throttletest/cgroup/location.h"

namespace throttletest::internal {
namespace {

using ::testing::HasSubstr;

// The child tells where it is before it has done anything else.
std::string WhereTheChildIs(int cgroup, bool& entered) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = ForkInto(cgroup, entered);
  if (child == 0) {
    std::array<char, 4096> text{};
    const int file = ::open("/proc/self/cgroup", O_RDONLY);
    const ssize_t size = ::read(file, text.data(), text.size());
    const bool told = size > 0 && ::write(ends[1], text.data(), static_cast<std::size_t>(size)) > 0;
    ::_exit(told ? 0 : 1);
  }
  ::close(ends[1]);
  std::string place(4096, '\0');
  const ssize_t size = ::read(ends[0], place.data(), place.size());
  place.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return place;
}

TEST(CgroupFork, C181TheChildIsBornInTheCgroup) {
  const auto unified = LocateCgroup(::getpid()).unified;
  if (!unified) GTEST_SKIP() << "no cgroup v2 tree on this machine";
  const std::string name = UniqueName();
  const std::string directory = unified->directory() + "/" + name;
  if (::mkdir(directory.c_str(), 0755) != 0) GTEST_SKIP() << "no cgroup can be made in the v2 tree";
  bool entered = false;
  {
    const UniqueFd cgroup(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    EXPECT_THAT(WhereTheChildIs(cgroup.get(), entered), HasSubstr("/" + name + "\n"));
  }
  EXPECT_TRUE(entered);
  EXPECT_EQ(::rmdir(directory.c_str()), 0);
}

TEST(CgroupFork, WhereTheKernelRefusesItIsAnOrdinaryFork) {
  const UniqueFd no_cgroup(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  bool entered = true;
  EXPECT_NE(WhereTheChildIs(no_cgroup.get(), entered), "");
  EXPECT_FALSE(entered);
  EXPECT_NE(WhereTheChildIs(-1, entered), "");
  EXPECT_FALSE(entered);
}

}  // namespace
}  // namespace throttletest::internal

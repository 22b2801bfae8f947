// A Docker engine that is stopped and started again in the middle of a measurement.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "owner_process.h"
#include "service/program.h"
#include "service_support.h"
#include "support/run_binary.h"

namespace throttletest::test {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// A dockerd of this test alone, made and removed with the means of ci/engines.
class EngineRestart : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can start a Docker engine";
    if (!internal::FindProgram("docker")) GTEST_SKIP() << "docker is not installed";
    std::string pattern = "/tmp/throttletest.XXXXXX";  // a short path: the socket is in it
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    if (!Start()) GTEST_SKIP() << "dockerd does not start here: " << Log();
  }
  void TearDown() override {
    if (!folder_.empty()) RunBinary({ENGINES_SCRIPT, "stop", folder_});
    EXPECT_FALSE(std::filesystem::exists(folder_));
  }

  // Without a bridge: another engine may have it. Containers get a second to end.
  bool Start() const {
    return RunBinary({"bash", "-c",
                      ". \"$0\"; engines_launch \"$1\" --bridge=none --shutdown-timeout 1",
                      ENGINES_SCRIPT, folder_})
               .status == 0;
  }
  bool Stop() const {
    const pid_t pid = std::atoi(ReadFile(folder_ + "/dockerd.pid").c_str());
    if (pid <= 1) return false;
    ::kill(pid, SIGTERM);
    return Soon([&] { return !ProcessLives(pid); }, std::chrono::seconds(30));
  }
  std::string Log() const { return ReadFile(folder_ + "/dockerd.log"); }
  std::string Host() const { return "unix://" + folder_ + "/docker.sock"; }
  // Containers and images, one a line.
  std::string Things() const {
    return RunBinary({"docker", "--host", Host(), "ps", "--all", "--quiet"}).out +
           RunBinary({"docker", "--host", Host(), "images", "--quiet"}).out;
  }
  void Live() const {
    OwnerProcess owner({"live", "docker", "next-start", "100"}, {{"DOCKER_HOST", Host()}});
    owner.ReadToEnd();
    EXPECT_EQ(owner.Collect(), 0) << ::testing::PrintToString(owner.lines());
  }

  std::string folder_;
};

TEST_F(EngineRestart, C101InTheMiddleOfARunIsNeverAPassNorAHangAndLeavesNothing) {
  OwnerProcess owner({"live", "docker", "restarted", "20000"}, {{"DOCKER_HOST", Host()}});
  ASSERT_NE(owner.Await("load"), "") << ::testing::PrintToString(owner.lines());
  const auto stopped_at = std::chrono::steady_clock::now();
  ASSERT_TRUE(Stop());
  ASSERT_TRUE(Start()) << Log();
  owner.ReadToEnd();
  owner.Collect();
  EXPECT_LT(std::chrono::steady_clock::now() - stopped_at, std::chrono::seconds(60));
  EXPECT_THAT(owner.lines(), Contains(AnyOf(StartsWith("untrusted"), StartsWith("error"))));
  EXPECT_THAT(CgroupsOf(owner.pid()), IsEmpty());
  if (!Soon([&] { return Things().empty(); }, std::chrono::seconds(3))) Live();
  EXPECT_EQ(Things(), "");
}

}  // namespace
}  // namespace throttletest::test

#include "throttletest/measure/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace throttletest {
namespace {

namespace fs = std::filesystem;
using testing::MatchesRegex;

// A private directory in place of /proc.
class ReadEnvironmentTest : public testing::Test {
 protected:
  ReadEnvironmentTest() {
    std::string name = (fs::temp_directory_path() / "throttletest-env-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~ReadEnvironmentTest() override { fs::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  fs::path root_;
};

TEST_F(ReadEnvironmentTest, ReadsTheFirstModelNameAndTheSlice) {
  Write("cpuinfo", "processor\t: 0\nmodel name\t: Fast CPU: rev 2\nmodel name\t: Other\n");
  Write("sys/kernel/sched_cfs_bandwidth_slice_us", "5000\n");
  const Environment env = ReadEnvironment(root_.string());
  EXPECT_EQ(env.cpu_model, "Fast CPU: rev 2");
  EXPECT_EQ(env.bandwidth_slice_us, 5000);
}

TEST_F(ReadEnvironmentTest, LeavesEmptyWhatTheSystemDoesNotSay) {
  Write("cpuinfo", "processor\t: 0\nBogoMIPS\t: 50\n");
  const Environment env = ReadEnvironment(root_.string());
  EXPECT_EQ(env.cpu_model, "");
  EXPECT_EQ(env.bandwidth_slice_us, 0);
}

TEST_F(ReadEnvironmentTest, StampsVersionKernelAndUtcTime) {
  const Environment env = ReadEnvironment(root_.string());
  EXPECT_THAT(env.throttletest_version, MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_NE(env.kernel, "");
  EXPECT_THAT(env.timestamp,
              MatchesRegex("20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
}

}  // namespace
}  // namespace throttletest

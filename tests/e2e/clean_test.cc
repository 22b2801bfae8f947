// `throttletest clean`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "support/run_binary.h"
#include "support/sample_test.h"

namespace throttletest {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// This process's cgroup of the cpu controller.
std::string OwnCpuCgroup() {
  std::ifstream groups("/proc/self/cgroup");
  std::string v2;
  for (std::string line; std::getline(groups, line);) {
    auto path = line.substr(line.find(':', line.find(':') + 1) + 1);
    if (path == "/") path.clear();
    if (line.find(":cpu,") != std::string::npos || line.find(":cpu:") != std::string::npos) {
      const std::string controllers =
          line.substr(line.find(':') + 1, line.rfind(':') - line.find(':') - 1);
      return "/sys/fs/cgroup/" + controllers + path;
    }
    if (line.starts_with("0::")) v2 = path;
  }
  return "/sys/fs/cgroup" + v2;
}

class Clean : public test::SampleTest {
 protected:
  void SetUp() override {
    SampleTest::SetUp();
    if (IsSkipped()) return;
    left_ = OwnCpuCgroup() + "/throttletest-1.1.00000000.1-1";  // an owner of another boot
    foreign_ = OwnCpuCgroup() + "/throttletest-bystander-" + std::to_string(getpid());
    ASSERT_TRUE(std::filesystem::create_directory(left_));
    ASSERT_TRUE(std::filesystem::create_directory(foreign_));
  }
  void TearDown() override {
    rmdir(left_.c_str());
    rmdir(foreign_.c_str());
    SampleTest::TearDown();
  }

  std::string left_;
  std::string foreign_;
};

TEST_F(Clean, C101ListsAndThenRemovesWhatTheDeadLeftAndNothingElse) {
  const auto dry = test::RunBinary({THROTTLETEST, "clean", "--dry-run"});
  EXPECT_EQ(dry.status, 4) << dry.err;
  EXPECT_THAT(dry.out, AllOf(HasSubstr("would remove cgroup " + left_), Not(HasSubstr(foreign_))));
  EXPECT_TRUE(std::filesystem::exists(left_));

  const auto clean = test::RunBinary({THROTTLETEST, "clean", "--json"});
  EXPECT_EQ(clean.status, 0) << clean.out << clean.err;
  const auto json = nlohmann::json::parse(clean.out);
  EXPECT_EQ(json["schema"], "throttletest/clean/1");
  EXPECT_EQ(json["dry_run"], false);
  EXPECT_TRUE(json["not_asked"].is_array());
  const nlohmann::json wanted = {{"kind", "cgroup"},
                                 {"launcher", "cgroup"},
                                 {"name", left_},
                                 {"removed", true},
                                 {"problem", ""}};
  EXPECT_THAT(json["leftovers"], testing::Contains(wanted));
  EXPECT_FALSE(std::filesystem::exists(left_));
  EXPECT_TRUE(std::filesystem::exists(foreign_));
}

}  // namespace
}  // namespace throttletest

// What the Compose tools of the distribution make of the files in tests/data/deploy. They are older
// than the Compose Specification, so each is given what it understands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cctype>
#include <map>
#include <sstream>
#include <string>

#include "deploy/amounts.h"
#include "support/run_binary.h"
#include "support/temp_tree.h"
#include "throttletest/deploy/compose.h"

namespace throttletest {
namespace {

using testing_support::TempTree;

std::string DataFile(const std::string& name) {
  return std::string(THROTTLETEST_TEST_DATA "/deploy/") + name;
}

std::string FileName(const testing::TestParamInfo<std::string>& info) {
  std::string name;
  for (const char c : info.param) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  }
  return name;
}

DeployedServices Read(const std::string& file) {
  return ServicesFromCompose(file, {.use_environment = false});
}

test::RunResult RunTool(const std::vector<std::string>& command) {
  // A value the files ask for in what is not about limits.
  return test::RunBinary(command, {.env = {{"TAG", "1"}}, .timeout = std::chrono::seconds(60)});
}

class DockerCompose : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (RunTool({"docker-compose", "version"}).status != 0) {
      GTEST_SKIP() << "docker-compose is not installed";
    }
  }
};

// `config` prints the file with everything resolved: read that, and it must say the same.
TEST_P(DockerCompose, ResolvesTheSameLimits) {
  const auto run = RunTool({"docker-compose", "-f", DataFile(GetParam()), "config"});
  ASSERT_EQ(run.status, 0) << run.err;
  const TempTree tree;
  tree.Write("resolved.yaml", run.out);

  std::map<std::string, DeployedService> resolved;
  for (const DeployedService& service : Read(tree.Path("resolved.yaml"))) {
    resolved[service.name] = service;
  }
  const DeployedServices ours = Read(DataFile(GetParam()));
  EXPECT_EQ(ours.size(), resolved.size());
  for (const DeployedService& service : ours) {
    ASSERT_EQ(resolved.count(service.name), 1u) << service.name;
    const DeployedService& theirs = resolved[service.name];
    EXPECT_EQ(service.limits, theirs.limits) << service.name << ": " << ToString(service.limits)
                                             << " against " << ToString(theirs.limits);
    EXPECT_EQ(service.replicas, theirs.replicas) << service.name;
    EXPECT_EQ(service.cpu_request, theirs.cpu_request) << service.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, DockerCompose,
                         testing::Values("compose-three-services.yaml",
                                         "compose-three-services-lifted.yaml",
                                         "compose-quota-period.yaml", "compose-deploy-section.yaml",
                                         "compose-anchors.yaml", "compose-extends/compose.yaml",
                                         "compose-cpuset.yaml", "compose-profiles.yaml",
                                         "compose-monitoring.yaml", "compose-swarm.yaml"),
                         FileName);

class PodmanCompose : public testing::TestWithParam<std::string> {
 protected:
  // Networks and volumes are made even by a dry run.
  void TearDown() override {
    RunTool({"podman", "network", "rm", "--force", project_ + "_default"});
    RunTool({"podman", "volume", "rm", "--force", project_ + "_data"});
  }
  const std::string project_ = "throttletest" + std::to_string(::getpid());

  void SetUp() override {
    if (RunTool({"podman-compose", "--version"}).status != 0) {
      GTEST_SKIP() << "podman-compose is not installed, or podman is not";
    }
  }
};

// What one service is created with.
struct Created {
  int count = 0;
  std::string cpus;
  std::string memory;
};

// The "podman create" lines of a dry run, by service.
std::map<std::string, Created> CreatedBy(const std::string& output) {
  std::map<std::string, Created> created;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("podman create ", 0) != 0) continue;
    std::istringstream words(line);
    std::string service;
    Created one;
    for (std::string word; words >> word;) {
      const std::string label = "com.docker.compose.service=";
      if (word.rfind(label, 0) == 0) service = word.substr(label.size());
      if (word == "--cpus") words >> one.cpus;
      if (word == "-m") words >> one.memory;
    }
    one.count = created[service].count + 1;
    created[service] = one;
  }
  return created;
}

TEST_P(PodmanCompose, CreatesContainersWithTheSameLimits) {
  const auto run = RunTool({"podman-compose", "--dry-run", "-p", project_, "-f",
                            DataFile(GetParam()), "up", "--no-start"});
  // A dry run prints what it calls on one of the two streams, whichever version it is.
  const auto created = CreatedBy(run.out + run.err);
  ASSERT_FALSE(created.empty()) << run.out << run.err;
  for (const DeployedService& service : Read(DataFile(GetParam()))) {
    const auto at = created.find(service.name);
    ASSERT_NE(at, created.end()) << service.name << "\n" << run.out << run.err;
    EXPECT_EQ(at->second.count, service.replicas) << service.name;
    EXPECT_EQ(internal::ParseCpus(at->second.cpus), service.limits.cpus) << service.name;
    EXPECT_EQ(internal::ParseComposeBytes(at->second.memory), service.limits.memory)
        << service.name;
  }
}

// Without compose-environment: it knows no default inside a default, and takes an empty variable
// for one that is set.
INSTANTIATE_TEST_SUITE_P(Files, PodmanCompose,
                         testing::Values("compose-three-services.yaml",
                                         "compose-three-services-lifted.yaml",
                                         "compose-deploy-section.yaml", "compose-anchors.yaml",
                                         "compose-game-server.yaml"),
                         FileName);

}  // namespace
}  // namespace throttletest

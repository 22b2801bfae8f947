// What `podman kube play` gives the containers of a manifest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>
#include <string>

#include "support/run_binary.h"
#include "support/temp_tree.h"
#include "throttletest/cgroup/location.h"
#include "throttletest/deploy/manifest.h"

namespace throttletest {
namespace {

using testing_support::TempTree;

test::RunResult Podman(std::vector<std::string> words) {
  words.insert(words.begin(), "podman");
  return test::RunBinary(words, {.timeout = std::chrono::minutes(1)});
}

// Makes an image with nothing in it, which is enough to create containers, and removes it and the
// pods of the test again.
class KubePlay : public testing::Test {
 protected:
  void SetUp() override {
    if (Podman({"--version"}).status != 0) GTEST_SKIP() << "podman is not installed";
    // Two empty blocks end an archive.
    tree_.Write("empty.tar", std::string(1024, '\0'));
    pause_images_ = PauseImages();
    const auto imported = Podman({"import", "--quiet", tree_.Path("empty.tar"), image_});
    if (imported.status != 0) GTEST_SKIP() << "podman takes no image here: " << imported.err;
  }
  void TearDown() override {
    Podman({"pod", "rm", "--force", pod_});
    Podman({"rmi", "--force", image_});
    EXPECT_NE(Podman({"pod", "exists", pod_}).status, 0);
    // Podman makes one for its first pod.
    if (pause_images_.empty()) {
      std::istringstream made(PauseImages());
      for (std::string image; made >> image;) Podman({"rmi", image});
    }
  }
  static std::string PauseImages() {
    return Podman({"images", "--quiet", "localhost/podman-pause"}).out;
  }

  const std::string pod_ = "throttletest-kube-" + std::to_string(::getpid());
  const std::string image_ = "localhost/" + pod_ + ":1";
  TempTree tree_;
  std::string pause_images_;
};

TEST_F(KubePlay, GivesContainersTheLimitsWeRead) {
  const std::vector<std::string> resources = {
      "{limits: {cpu: 1750m, memory: 64Mi}}", "{limits: {cpu: '0.1255', memory: 100M}}",
      "{limits: {cpu: 2}}", "{limits: {cpu: 1e-1, memory: 128974848}}",
      // Not 0.5Gi, of which podman 4.3 makes a thousand million times as much.
      "{limits: {memory: 512Mi}, requests: {cpu: 10m}}"};
  std::string text =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: " + pod_ + "}\nspec:\n  containers:\n";
  for (std::size_t i = 0; i < resources.size(); ++i) {
    text += "    - {name: c" + std::to_string(i) + ", image: '" + image_ +
            "', imagePullPolicy: Never, command: [/none], resources: " + resources[i] + "}\n";
  }
  tree_.Write("pod.yaml", text);
  const auto played =
      Podman({"kube", "play", "--start=false", "--network=none", tree_.Path("pod.yaml")});
  if (played.err.find("catatonit") != std::string::npos) {
    GTEST_SKIP() << "podman has no pause program for pods here (catatonit)";
  }
  ASSERT_EQ(played.status, 0) << played.err;

  for (std::size_t i = 0; i < resources.size(); ++i) {
    const std::string name = "c" + std::to_string(i);
    const auto inspected =
        Podman({"inspect", pod_ + "-" + name, "--format",
                "{{.HostConfig.CpuQuota}} {{.HostConfig.CpuPeriod}} {{.HostConfig.Memory}}"});
    std::istringstream figures(inspected.out);
    std::int64_t quota = -1;
    std::int64_t period = -1;
    std::int64_t memory = -1;
    ASSERT_TRUE(figures >> quota >> period >> memory) << inspected.out << inspected.err;

    const Limits limits = LimitsFromManifest(tree_.Path("pod.yaml"), name);
    // The ranges are those of any machine.
    const ResolvedLimits ours = ResolveLimits(limits, OnlineCpus());
    EXPECT_EQ(ours.cpu.quota.value_or(std::chrono::microseconds(0)).count(), quota) << name;
    if (quota != 0) {
      EXPECT_EQ(ours.cpu.period.count(), period) << name;
    }
    EXPECT_EQ(ours.memory.value_or(ByteSize(0)).bytes(), memory) << name;
  }
}

}  // namespace
}  // namespace throttletest

// Shared by the integration tests of container engines: one fixture for docker and podman alike.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "service/engine_command.h"
#include "service/engine_spec.h"
#include "service/instance.h"
#include "service_support.h"

namespace throttletest::test {

inline std::string EngineLack(LauncherKind kind) {
  return kind == LauncherKind::kDocker ? internal::DockerLauncherLack()
                                       : internal::PodmanLauncherLack();
}

// Containers and images in `kind` whose owner is process `pid`.
inline std::vector<std::string> ThingsOf(LauncherKind kind, pid_t pid) {
  const internal::Engine engine = internal::OpenEngine(kind);
  std::vector<std::string> found;
  const auto look = [&](std::vector<std::string> call, const char* format) {
    call.insert(call.end(), {"--format", format});
    std::istringstream lines(engine.Call(call).out);
    for (std::string name; std::getline(lines, name);) {
      const std::string local = "localhost/";
      if (name.rfind(local, 0) == 0) name = name.substr(local.size());
      const auto owner = internal::OwnerOfName(name);
      if (owner && owner->pid == pid) found.push_back(call[0] + " " + name);
    }
  };
  look({"ps", "--all"}, "{{.Names}}");
  look({"images"}, "{{.Repository}}");
  return found;
}

// Runs each test in both engines; one that does not work here is skipped by name, and nothing may
// be left in it.
class EngineTest : public ::testing::TestWithParam<LauncherKind> {
 protected:
  void SetUp() override {
    if (const auto lack = EngineLack(GetParam()); !lack.empty()) GTEST_SKIP() << lack;
  }
  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_THAT(ThingsOf(GetParam(), ::getpid()), ::testing::IsEmpty());
  }

  static ServiceSpec Spec(std::vector<std::string> flags, Limits limits = {}) {
    ServiceSpec spec = Toy(std::move(flags), std::move(limits));
    spec.launcher = GetParam();
    return spec;
  }
  static internal::Engine Engine() { return internal::OpenEngine(GetParam()); }

  template <typename Condition>
  static bool Eventually(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }
};

inline std::string EngineName(const ::testing::TestParamInfo<LauncherKind>& row) {
  return LauncherName(row.param);
}

}  // namespace throttletest::test

// Choosing the container that is meant from what the engines say.
#include "service/attach_container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace throttletest::internal {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

EngineAnswer Has(LauncherKind engine, const std::string& status, pid_t pid) {
  ContainerState state;
  state.id = "f00d";
  state.status = status;
  state.running = status == "running" || status == "paused";
  state.pid = pid;
  return {.engine = engine, .state = state};
}
EngineAnswer Knows(LauncherKind engine, std::vector<std::string> running) {
  return {.engine = engine, .running = std::move(running)};
}
EngineAnswer Lacks(LauncherKind engine, const std::string& lack) {
  return {.engine = engine, .lack = lack};
}
const EngineAnswer kDockerRuns = Has(LauncherKind::kDocker, "running", 17);
const EngineAnswer kPodmanHasNone = Knows(LauncherKind::kPodman, {});

std::string Refusal(const std::vector<EngineAnswer>& answers) {
  try {
    ChooseAnswer("web", answers);
    return "accepted";
  } catch (const Error& error) {
    return std::string(ErrorCodeName(error.code())) + ": " + error.what();
  }
}

TEST(ChooseAnswer, TakesTheEngineThatRunsIt) {
  EXPECT_EQ(ChooseAnswer("web", {kDockerRuns, kPodmanHasNone}).state->pid, 17);
  EXPECT_EQ(ChooseAnswer("web", {Lacks(LauncherKind::kDocker, "no daemon"),
                                 Has(LauncherKind::kPodman, "running", 18)})
                .state->pid,
            18);
  EXPECT_EQ(ChooseAnswer("web", {Has(LauncherKind::kDocker, "exited", 0),
                                 Has(LauncherKind::kPodman, "running", 18)})
                .engine,
            LauncherKind::kPodman);
}

TEST(ChooseAnswer, AnUnknownNameIsQuotedWithWhatRuns) {
  EXPECT_EQ(Refusal({Knows(LauncherKind::kDocker, {"api", "db"}), kPodmanHasNone}),
            "not_ready: no container \"web\" runs: docker runs api, db; podman runs none");
  EXPECT_EQ(Refusal({Knows(LauncherKind::kDocker, {"api"}),
                     Lacks(LauncherKind::kPodman, "the command podman is not in PATH")}),
            "not_ready: no container \"web\" runs: docker runs api; podman: the command podman is "
            "not in PATH");
}

TEST(ChooseAnswer, ALongListIsCutShort) {
  EXPECT_THAT(Refusal({Knows(LauncherKind::kDocker, std::vector<std::string>(21, "x"))}),
              EndsWith("x, x, and others"));
}

TEST(ChooseAnswer, AContainerThatDoesNotRunSaysHowItIs) {
  for (const char* status : {"exited", "created", "paused"}) {
    EXPECT_EQ(Refusal({Has(LauncherKind::kDocker, status, 17)}),
              std::string("not_ready: no container \"web\" runs: docker has it, ") + status);
  }
}

TEST(ChooseAnswer, TheSameNameInBothEnginesIsNotGuessed) {
  EXPECT_THAT(Refusal({kDockerRuns, Has(LauncherKind::kPodman, "running", 18)}),
              HasSubstr("invalid_argument: both docker and podman run a container \"web\""));
}

TEST(ChooseAnswer, WithoutAnyEngineItsLackIsTheReason) {
  EngineAnswer docker = Lacks(LauncherKind::kDocker, "this user may not use docker");
  docker.lack_code = ErrorCode::kPermission;
  EXPECT_EQ(Refusal({docker}),
            "permission: docker: this user may not use docker; a process or cgroup path needs no "
            "engine");
}

TEST(PublishedPorts, AreThoseOfIpv4) {
  ContainerState state;
  state.ports = {{8080, "::", 32769}, {8080, "0.0.0.0", 32768}, {9090, "127.0.0.1", 32770}};
  EXPECT_TRUE(PublishesAt(state, 32768));
  EXPECT_FALSE(PublishesAt(state, 32769));
  EXPECT_FALSE(PublishesAt(state, 8080));
  EXPECT_EQ(PublishedPorts(state), "8080 at 32768, 9090 at 32770");
}

}  // namespace
}  // namespace throttletest::internal

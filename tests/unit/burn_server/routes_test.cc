#include "routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "burn.h"

namespace burn_server {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr std::uint64_t kRate = 1000;

TEST(Routes, BurnDoesWorkAndReportsIt) {
  WorkGate gate(1);
  Routes routes(kRate, gate);
  const auto reply = routes.Answer({"/burn", {{"ms", "20"}, {"mb", "1"}}});
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.content_type, "application/json");
  const auto body = json::parse(reply.body);
  EXPECT_EQ(body["iterations"], 20 * kRate);
  EXPECT_EQ(std::stoull(body["checksum"].get<std::string>(), nullptr, 16),
            Mix(kMixSeed, 20 * kRate));
  EXPECT_GE(body["cpu_ms"].get<double>(), 0);
  EXPECT_GE(body["wall_ms"].get<double>(), 0);
  EXPECT_GE(body["queued_ms"].get<double>(), 0);
  EXPECT_EQ(gate.running(), 0U);
}

TEST(Routes, BurnOfZeroIsAnswered) {
  WorkGate gate(1);
  Routes routes(kRate, gate);
  const auto reply = routes.Answer({"/burn", {{"ms", "0"}}});
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(json::parse(reply.body)["iterations"], 0);
}

TEST(Routes, BadParametersAre400AndTakeNoSlot) {
  WorkGate gate(1, 0);
  ASSERT_EQ(gate.Enter(), WorkGate::Outcome::kEntered);
  Routes routes(kRate, gate);
  const auto reply = routes.Answer({"/burn", {{"ms", "x"}}});
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(json::parse(reply.body)["error"].get<std::string>(), HasSubstr("ms=\"x\""));
}

TEST(Routes, FullQueueIs429) {
  WorkGate gate(1, 0);
  ASSERT_EQ(gate.Enter(), WorkGate::Outcome::kEntered);
  Routes routes(kRate, gate);
  const auto reply = routes.Answer({"/burn", {{"ms", "1"}}});
  EXPECT_EQ(reply.status, 429);
  EXPECT_THAT(reply.body, HasSubstr("queue is full"));
}

TEST(Routes, HealthIsAnsweredWhileAllWorkersAreBusy) {
  WorkGate gate(1, 0);
  ASSERT_EQ(gate.Enter(), WorkGate::Outcome::kEntered);
  Routes routes(kRate, gate);
  const auto reply = routes.Answer({"/healthz", {}});
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "ok");
}

TEST(Routes, OtherPathsAre404QuotingThem) {
  WorkGate gate(1);
  Routes routes(kRate, gate);
  for (const char* path : {"/", "/burn/", "/Burn", "/healthz2", ""}) {
    const auto reply = routes.Answer({path, {}});
    EXPECT_EQ(reply.status, 404) << path;
    EXPECT_THAT(reply.body, HasSubstr("no such path")) << path;
  }
}

TEST(Routes, ErrorTextSurvivesBytesThatAreNotUtf8) {
  WorkGate gate(1);
  Routes routes(kRate, gate);
  const auto reply = routes.Answer({"/\xFF\"", {}});
  EXPECT_EQ(reply.status, 404);
  EXPECT_TRUE(json::accept(reply.body)) << reply.body;
}

TEST(Routes, StopEndsARunningBurnAndThoseWhoWait) {
  WorkGate gate(1);
  Routes routes(1000000, gate);
  const HttpRequest hours{"/burn", {{"ms", "600000"}}};
  std::thread burning([&] { EXPECT_EQ(routes.Answer(hours).status, 503); });
  while (gate.running() == 0) std::this_thread::yield();
  std::thread waiting([&] { EXPECT_EQ(routes.Answer(hours).status, 503); });
  while (gate.waiting() == 0) std::this_thread::yield();
  routes.Stop();
  burning.join();
  waiting.join();
  EXPECT_EQ(routes.Answer(hours).status, 503);
}

}  // namespace
}  // namespace burn_server

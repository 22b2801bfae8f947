// The open loop over real sockets: what a slow, frozen or dead service does to the figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "support/script_server.h"
#include "throttletest/load/engine.h"
#include "throttletest/load/plan.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing::ElementsAre;
using testing::Pair;
using testing_support::kEmptyAnswer;
using testing_support::Peer;
using testing_support::ScriptServer;

void AnswerAll(Peer& peer) {
  while (peer.ReadRequest() && peer.Send(kEmptyAnswer)) {
  }
}

void NeverAnswer(Peer& peer) {
  while (peer.ReadRequest()) {
  }
}

// Ten times slower under ThreadSanitizer, and then the figures are its own.
bool TimesMeanNothing() {
#ifdef __SANITIZE_THREAD__
  return true;
#else
  return false;
#endif
}

// The published figures in full: frozen from 2 s to 7 s of 10 s.
TEST(OpenLoop, C123AFreezeOfFiveSecondsGivesThePublishedFigures) {
  if (TimesMeanNothing()) GTEST_SKIP() << "times under ThreadSanitizer are its own";
  std::atomic<steady_clock::time_point> begin{steady_clock::time_point::max()};
  const ScriptServer server([&](Peer& peer) {
    while (peer.ReadRequest()) {
      auto unset = steady_clock::time_point::max();
      begin.compare_exchange_strong(unset, steady_clock::now());
      const auto into = steady_clock::now() - begin.load();
      peer.Wait(into >= 1999ms && into < 7000ms ? 7000ms - into : 1ms);
      if (!peer.Send(kEmptyAnswer)) return;
    }
  });
  LoadEngine engine({.port = server.port()}, Get("/"), {});
  const LoadResult result = engine.Run(ConstantRate(100_rps).For(10s).measured());
  EXPECT_EQ(result.ok, 1000);
  // A generator that waits with the service would see one slow request, and 1 ms for all three.
  const auto seconds = [&](double percent) {
    const auto ns = result.ResponseTimes().At(Percentile(percent)).value();
    return std::chrono::duration<double>(ns).count();
  };
  // 1 ms on a quiet machine.
  EXPECT_LT(seconds(50), 0.025);
  EXPECT_NEAR(seconds(75), 2.5, 0.02 * 2.5);
  EXPECT_NEAR(seconds(99), 4.9, 0.02 * 4.9);
  EXPECT_LT(result.StartLags().At(Percentile(99)), Latency(100ms));
}

TEST(OpenLoop, TwiceTheCapacityIsOverloadAndNotStartLag) {
  if (TimesMeanNothing()) GTEST_SKIP() << "times under ThreadSanitizer are its own";
  std::mutex one_at_a_time;
  const ScriptServer server([&](Peer& peer) {
    while (peer.ReadRequest()) {
      {
        const std::lock_guard lock(one_at_a_time);
        peer.Wait(20ms);
      }
      if (!peer.Send(kEmptyAnswer)) return;
    }
  });
  LoadEngine engine({.port = server.port()}, Get("/"), {});
  const LoadResult result = engine.Run(ConstantRate(100_rps).For(4s).measured());
  EXPECT_EQ(result.ok, 400);
  const auto throughput = result.throughput();
  ASSERT_TRUE(throughput.has_value());
  EXPECT_TRUE(throughput->overloaded());
  EXPECT_NEAR(throughput->offered, 100, 1);
  EXPECT_NEAR(throughput->answered, 50, 10);
  EXPECT_LT(result.StartLags().At(Percentile(99)), Latency(100ms));
  EXPECT_GT(result.ServiceTimes().At(Percentile(99)), Latency(3s));
}

TEST(OpenLoop, C125TimeoutsRankAsTheSlowest) {
  std::atomic<int> served = 0;
  const ScriptServer server([&](Peer& peer) {
    while (peer.ReadRequest()) {
      if (served++ % 33 == 32) continue;
      if (!peer.Send(kEmptyAnswer)) return;
    }
  });
  LoadEngine engine({.port = server.port()}, Get("/").Timeout(500ms), {});
  const LoadResult result = engine.Run(ConstantRate(100_rps).For(1s).measured());
  EXPECT_EQ(result.timed_out, 3);
  EXPECT_EQ(result.ok, 97);
  EXPECT_DOUBLE_EQ(result.error_ratio(), 0.03);
  EXPECT_FALSE(result.ResponseTimes().At(Percentile(95)).infinite());
  EXPECT_TRUE(result.ResponseTimes().At(Percentile(99)).infinite());
}

TEST(OpenLoop, C131RequestsBeyondTheInFlightLimitAreNotSent) {
  const ScriptServer server(NeverAnswer);
  LoadEngine engine({.port = server.port()}, Get("/").Timeout(1s), {.max_in_flight = 50});
  const LoadResult result = engine.Run(ConstantRate(1000_rps).For(500ms).measured());
  EXPECT_EQ(result.planned, 500);
  EXPECT_EQ(result.timed_out, 50);
  EXPECT_EQ(result.not_sent, 450);
  EXPECT_THAT(result.failure_reasons, ElementsAre(Pair("in-flight limit of 50 reached", 450)));
  EXPECT_LE(server.accepted(), 51);
}

TEST(OpenLoop, C138TheDrainEndsWithTheLastTimeout) {
  const ScriptServer server(NeverAnswer);
  LoadEngine engine({.port = server.port()}, Get("/").Timeout(500ms), {.lead = 0ms});
  const auto begin = steady_clock::now();
  const LoadResult result = engine.Run(Batches(2).Every(100ms).For(500ms).measured());
  const auto took = steady_clock::now() - begin;
  EXPECT_EQ(result.timed_out, 10);
  EXPECT_GE(took, 900ms);
  EXPECT_LT(took, 1400ms);
}

TEST(OpenLoop, C139AnAnswerAfterTheTimeoutIsATimeout) {
  std::atomic<int> served = 0;
  const ScriptServer server([&](Peer& peer) {
    while (peer.ReadRequest()) {
      if (served++ < 6 && !peer.Wait(450ms)) return;
      if (!peer.Send(kEmptyAnswer)) return;
    }
  });
  LoadEngine engine({.port = server.port()}, Get("/").Timeout(300ms), {});
  const LoadResult result = engine.Run(Schedule(20, 1, 1s, 1s));
  EXPECT_EQ(result.timed_out, 6);
  EXPECT_EQ(result.ok, 14);
  EXPECT_FALSE(result.ResponseTimes().At(Percentile(70)).infinite());
  EXPECT_TRUE(result.ResponseTimes().At(Percentile(71)).infinite());
}

TEST(OpenLoop, C155AWarmUpIsARunOfItsOwn) {
  std::atomic<int> served = 0;
  const ScriptServer server([&](Peer& peer) {
    while (peer.ReadRequest()) {
      if (served++ < 4 && !peer.Wait(300ms)) return;
      if (!peer.Send(kEmptyAnswer)) return;
    }
  });
  const LoadPlan plan = Batches(4).Every(100ms).For(300ms).WarmUp(100ms);
  LoadEngine engine({.port = server.port()}, Get("/"), {});
  const LoadResult warm = engine.Run(plan.warm_up());
  const LoadResult measured = engine.Run(plan.measured());
  EXPECT_EQ(warm.ok, 4);
  EXPECT_GE(warm.ResponseTimes().max(), Latency(300ms));
  EXPECT_EQ(measured.ok, 12);
  EXPECT_LT(measured.ResponseTimes().max(), Latency(250ms));
  EXPECT_EQ(measured.records.at(0).intended_ns, 0);
}

TEST(OpenLoop, ABatchOfManyIsReleasedTogether) {
  const ScriptServer server(AnswerAll);
  LoadEngine engine({.port = server.port()}, Get("/"), {});
  const LoadResult result = engine.Run(Schedule(64, 1, 1s, 1s));
  EXPECT_EQ(result.ok, 64);
  EXPECT_LT(result.StartLags().At(Percentile(50)), Latency(100ms));
  EXPECT_GT(result.engine_cpu, 0ns);
}

TEST(OpenLoop, AStopRequestEndsTheRunAtOnce) {
  const ScriptServer server(NeverAnswer);
  LoadEngine engine({.port = server.port()}, Get("/"), {.lead = 0ms});
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(150ms);
    source.request_stop();
  });
  const auto begin = steady_clock::now();
  const LoadResult result =
      engine.Run(Batches(2).Every(100ms).For(60s).measured(), source.get_token());
  EXPECT_LT(steady_clock::now() - begin, 5s);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.planned, 1200);
  EXPECT_GT(result.failed, 0);
  EXPECT_EQ(result.failed + result.not_sent, 1200);
  EXPECT_EQ(result.failure_reasons.at("given up: interrupted"), result.failed);
}

TEST(OpenLoop, AStopRequestBeforeTheRunSendsNothing) {
  const ScriptServer server(AnswerAll);
  std::stop_source source;
  source.request_stop();
  LoadEngine engine({.port = server.port()}, Get("/"), {.lead = 0ms});
  const LoadResult result = engine.Run(Schedule(2, 1, 1s, 1s), source.get_token());
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.not_sent, 2);
  EXPECT_EQ(server.accepted(), 0);
}

TEST(OpenLoop, AnEmptyScheduleIsDoneAtOnce) {
  LoadEngine engine({.port = testing_support::ClosedPort()}, Get("/"), {});
  const LoadResult result = engine.Run(Schedule(1, 1, 1s, 0s));
  EXPECT_EQ(result.planned, 0);
  EXPECT_FALSE(result.interrupted);
}

TEST(OpenLoop, ProgressIsReportedToTheEnd) {
  const ScriptServer server(AnswerAll);
  std::int64_t calls = 0;
  std::int64_t last = 0;
  LoadEngine engine({.port = server.port()}, Get("/"),
                    {.progress = [&](std::int64_t done, std::int64_t planned) {
                      ++calls;
                      last = done;
                      EXPECT_EQ(planned, 10);
                    }});
  engine.Run(Batches(2).Every(100ms).For(500ms).measured());
  EXPECT_EQ(last, 10);
  EXPECT_GE(calls, 4);
  EXPECT_LE(calls, 12);
}

TEST(OpenLoop, AnExceptionFromProgressComesOutOfRun) {
  const ScriptServer server(AnswerAll);
  LoadEngine engine({.port = server.port()}, Get("/"),
                    {.progress = [](auto, auto) { throw std::runtime_error("told to stop"); }});
  EXPECT_THROW(engine.Run(Schedule(1, 1, 1s, 1s)), std::runtime_error);
}

}  // namespace
}  // namespace throttletest

// What the dispatcher does about connections, in simulated time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>

#include "load/dispatcher.h"
#include "load/tally.h"
#include "support/milliseconds.h"
#include "support/simulated_service.h"
#include "throttletest/load/plan.h"

namespace throttletest::internal {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Pair;
using testing_support::kMs;
using testing_support::SimulatedService;
using testing_support::Takes;
using Fate = SimulatedService::Fate;
using testing_support::L;

const Fault kClosed{.reason = "connection closed without an answer", .closed = true};

LoadResult Drive(SimulatedService& service, const Request& request, const Schedule& schedule,
                 std::int64_t lead_ns = 200 * kMs) {
  LoadResult result;
  const std::vector<Request> requests = {request};
  Dispatcher dispatcher(requests, {}, service, service);
  service.Set(-lead_ns);
  dispatcher.Begin(schedule, lead_ns, result);
  service.RunToEnd(dispatcher);
  Tally(result);
  return result;
}

// Every connection answers once and is found closed when it is used again.
Fate AnswersOnce(std::int64_t sent, int use) {
  if (use == 0) return {.done_ns = sent + kMs};
  return {.done_ns = sent, .fault = kClosed};
}

TEST(DispatchConnections, AreOpenedBeforeTheBatch) {
  SimulatedService service(Takes(kMs));
  service.connect_ns = 50 * kMs;
  const LoadResult result = Drive(service, Get("/"), Schedule(64, 1, 1s, 1s));
  EXPECT_EQ(result.StartLags().max(), L(0));
  EXPECT_EQ(service.connects(), 64);
}

TEST(DispatchConnections, ARequestWithoutOneWaitsForItAndTheLagSaysSo) {
  SimulatedService service(Takes(kMs));
  service.connect_ns = 500 * kMs;
  const LoadResult result = Drive(service, Get("/"), Schedule(2, 1, 1s, 1s), 0);
  EXPECT_EQ(result.ok, 2);
  EXPECT_EQ(result.StartLags().max(), L(500));
  EXPECT_EQ(result.ServiceTimes().max(), L(1));
  EXPECT_EQ(result.ResponseTimes().max(), L(501));
}

TEST(DispatchConnections, ARequestThatNeverGetsOneTimesOut) {
  SimulatedService service(Takes(kMs));
  service.connect_ns = 5000 * kMs;
  const LoadResult result = Drive(service, Get("/").Timeout(1s), Schedule(3, 1, 1s, 1s));
  EXPECT_EQ(result.timed_out, 3);
  EXPECT_EQ(result.records[0].sent_ns, -1);
  EXPECT_TRUE(result.StartLags().empty());
}

TEST(DispatchConnections, GrowWhenRequestsOverlap) {
  SimulatedService service(Takes(2500 * kMs));
  const LoadResult result = Drive(service, Get("/"), Batches(4).Every(1s).For(20s).measured());
  EXPECT_EQ(result.ok, 80);
  EXPECT_EQ(result.StartLags().max(), L(0));
  EXPECT_EQ(service.connects(), 12);
}

TEST(DispatchConnections, DoNotGrowWhenRequestsDoNotOverlap) {
  SimulatedService service(Takes(400 * kMs));
  Drive(service, Get("/"), Batches(4).Every(1s).For(20s).measured());
  EXPECT_EQ(service.connects(), 4);
}

TEST(DispatchConnections, ClosedWhileIdleAreReplacedBeforeTheNextBatch) {
  SimulatedService service(Takes(kMs));
  LoadResult result;
  const Request request = Get("/");
  const std::vector<Request> requests = {request};
  Dispatcher dispatcher(requests, {}, service, service);
  service.Set(-200 * kMs);
  dispatcher.Begin(Batches(4).Every(1s).For(3s).measured(), 200 * kMs, result);
  service.RunUntil(dispatcher, 500 * kMs);
  service.CloseAll();
  service.RunUntil(dispatcher, 1950 * kMs);
  service.CloseAll();  // within the time in which the next batch is prepared
  service.RunToEnd(dispatcher);
  Tally(result);
  EXPECT_EQ(result.ok, 12);
  EXPECT_EQ(result.retried, 0);
  EXPECT_EQ(result.StartLags().max(), L(0));
  EXPECT_EQ(service.connects(), 12);
}

TEST(DispatchConnections, AServiceThatClosesAtOnceIsNotFloodedWithConnects) {
  SimulatedService service(Takes(kMs));
  LoadResult result;
  const Request request = Post("/", "");
  const std::vector<Request> requests = {request};
  Dispatcher dispatcher(requests, {}, service, service);
  service.Set(-200 * kMs);
  dispatcher.Begin(Schedule(4, 1, 1s, 1s), 200 * kMs, result);
  for (std::int64_t t = -199; t < 0; ++t) {
    service.RunUntil(dispatcher, t * kMs);
    service.CloseAll();
  }
  EXPECT_LE(service.connects(), 8);
}

TEST(DispatchConnections, C116AStaleOneIsRetriedOnceAndTheDelayCounts) {
  SimulatedService service(AnswersOnce);
  service.connect_ns = 30 * kMs;
  const LoadResult result = Drive(service, Get("/"), Schedule(1, 1, 1s, 2s));
  EXPECT_EQ(result.ok, 2);
  EXPECT_EQ(result.retried, 1);
  EXPECT_TRUE(result.records[1].retried);
  EXPECT_EQ(result.records[1].response_time(), 31ms);
  EXPECT_EQ(result.records[1].start_lag(), 0ms);
}

TEST(DispatchConnections, C116ASecondStaleOneIsAFailure) {
  SimulatedService service(
      [](std::int64_t sent, int) { return Fate{.done_ns = sent, .fault = kClosed}; });
  const LoadResult result = Drive(service, Get("/"), Schedule(1, 1, 1s, 1s));
  EXPECT_EQ(result.failed, 1);
  EXPECT_EQ(result.retried, 1);
  EXPECT_EQ(service.sends(), 2);
  EXPECT_THAT(result.failure_reasons, ElementsAre(Pair(kClosed.reason, 1)));
}

TEST(DispatchConnections, C118APostIsNeverSentAgain) {
  SimulatedService service(AnswersOnce);
  const LoadResult result = Drive(service, Post("/", "x"), Schedule(1, 1, 1s, 2s));
  EXPECT_EQ(result.ok, 1);
  EXPECT_EQ(result.failed, 1);
  EXPECT_EQ(result.retried, 0);
  EXPECT_EQ(service.sends(), 2);
}

TEST(DispatchConnections, AnAnswerThatHadBegunIsNotAskedForAgain) {
  SimulatedService service([](std::int64_t sent, int use) -> Fate {
    if (use == 0) return {.done_ns = sent + kMs};
    return {.done_ns = sent, .fault = kClosed, .answer_begun = true};
  });
  const LoadResult result = Drive(service, Get("/"), Schedule(1, 1, 1s, 2s));
  EXPECT_EQ(result.failed, 1);
  EXPECT_EQ(result.retried, 0);
}

TEST(DispatchConnections, ARequestOnABrandNewOneIsNotRetried) {
  SimulatedService service(
      [](std::int64_t sent, int) { return Fate{.done_ns = sent, .fault = kClosed}; });
  service.connect_ns = 10 * kMs;
  const LoadResult result = Drive(service, Get("/"), Schedule(1, 1, 1s, 1s), 0);
  EXPECT_EQ(result.failed, 1);
  EXPECT_EQ(service.sends(), 1);
}

TEST(DispatchConnections, C121NoLocalPortIsNotSentAndNotTheServicesError) {
  SimulatedService service(Takes(5000 * kMs));
  for (int i = 4; i < 100; ++i) service.connect_errors[i] = EADDRNOTAVAIL;
  const LoadResult result = Drive(service, Get("/"), Schedule(10, 1, 1s, 1s));
  EXPECT_EQ(result.ok, 4);
  EXPECT_EQ(result.failed, 0);
  EXPECT_EQ(result.not_sent, 6);
  EXPECT_THAT(result.failure_reasons, ElementsAre(Pair("no free local port", 6)));
  EXPECT_DOUBLE_EQ(result.error_ratio(), 0);
}

TEST(DispatchConnections, C121NoPortForTheRetryIsNotSentEither) {
  SimulatedService service(AnswersOnce);
  service.connect_errors[1] = EADDRNOTAVAIL;
  const LoadResult result = Drive(service, Get("/"), Schedule(1, 1, 1s, 2s));
  EXPECT_EQ(result.not_sent, 1);
  EXPECT_EQ(result.records[1].sent_ns, -1);
}

TEST(DispatchConnections, ARefusedOneIsTheServicesError) {
  SimulatedService service(Takes(kMs));
  for (int i = 0; i < 100; ++i) service.connect_errors[i] = ECONNREFUSED;
  const LoadResult result = Drive(service, Get("/"), Schedule(5, 1, 1s, 2s));
  EXPECT_EQ(result.failed, 10);
  EXPECT_EQ(result.sent, 10);
  EXPECT_THAT(result.failure_reasons, ElementsAre(Pair("connection refused", 10)));
}

TEST(DispatchConnections, OnesThatHaveServedAreUsedBeforeNewOnes) {
  int most_used = 0;
  SimulatedService service([&](std::int64_t sent, int use) {
    most_used = std::max(most_used, use + 1);
    return Fate{.done_ns = sent + (sent == 0 ? 1500 * kMs : kMs)};
  });
  Drive(service, Get("/"), Schedule(1, 1, 1s, 5s));
  // The first is busy for the second request; after that one of the two serves them all.
  EXPECT_EQ(service.connects(), 2);
  EXPECT_GE(most_used, 3);
}

TEST(DispatchConnections, OfTimedOutRequestsAreClosed) {
  SimulatedService service(testing_support::Silent());
  const LoadResult result = Drive(service, Get("/").Timeout(100ms), Schedule(3, 1, 1s, 1s));
  EXPECT_EQ(result.timed_out, 3);
  EXPECT_EQ(service.open_channels(), 0);
}

}  // namespace
}  // namespace throttletest::internal

// The engine with a transport of the user's instead of HTTP: real threads, no socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "throttletest/base/error.h"
#include "throttletest/load/engine.h"
#include "throttletest/load/plan.h"
#include "throttletest/load/traffic.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;

LoadResult Drive(const Request& request, const Schedule& schedule) {
  LoadEngine engine({}, request, {.lead = 5ms});
  return engine.Run(schedule);
}

void ExpectSumsAgree(const LoadResult& result) {
  EXPECT_EQ(result.planned, result.ok + result.failed + result.timed_out + result.not_sent);
}

TEST(EngineTransport, RecordsCallsLikeRequests) {
  const Request request = Custom(
      "instant", [](const TransportCall&, const TransportDone& done) { done({.status = 42}); });
  const LoadResult result = Drive(request, Batches(8).Every(20ms).For(100ms).measured());
  EXPECT_EQ(result.ok, 40);
  EXPECT_EQ(result.records[39].status, 42);
  EXPECT_EQ(result.records[39].batch, 4u);
  EXPECT_GE(result.records[39].start_lag(), 0ns);
  EXPECT_LT(result.ServiceTimes().max(), Latency(1s));
}

TEST(EngineTransport, TakesAnswersFromManyThreads) {
  const Request request = Custom("blocking", Blocking(16, [](const TransportCall& call) {
                                   std::this_thread::sleep_for(1ms);
                                   if (call.number % 10 == 9) {
                                     return TransportResult{.ok = false, .reason = "unlucky"};
                                   }
                                   return TransportResult{};
                                 }));
  const LoadResult result = Drive(request, ConstantRate(1000_rps).For(500ms).measured());
  EXPECT_EQ(result.ok, 450);
  EXPECT_THAT(result.failure_reasons, ElementsAre(Pair("unlucky", 50)));
  EXPECT_GE(result.ServiceTimes().At(Percentile(1)), Latency(1ms));
  ExpectSumsAgree(result);
}

// The progress call is also what notices that the service has died.
TEST(EngineTransport, GoesOnTellingItsProgressAfterAScheduleThatWasEndedEarly) {
  const Request request = Custom("slow", Blocking(8, [](const TransportCall&) {
                                   std::this_thread::sleep_for(700ms);
                                   return TransportResult{};
                                 }));
  int asked = 0;
  int told_since = 0;
  LoadEngine engine({}, request,
                    {.lead = 5ms,
                     .progress = [&](std::int64_t, std::int64_t) { told_since += asked > 0; },
                     .enough =
                         [&](const LoadResult& so_far) {
                           const bool begun = so_far.records[0].sent_ns >= 0;
                           if (begun) ++asked;
                           return begun;
                         }});
  const LoadResult result = engine.Run(Batches(8).Every(1s).For(60s).measured());
  EXPECT_EQ(result.ok, 8);
  EXPECT_EQ(asked, 1);
  EXPECT_GE(told_since, 3);
  ExpectSumsAgree(result);
}

TEST(EngineTransport, GivesUpCallsThatAreNeverAnswered) {
  std::mutex mutex;
  std::vector<TransportDone> kept;
  {
    Request request = Custom("silent", [&](const TransportCall&, const TransportDone& done) {
      const std::lock_guard lock(mutex);
      kept.push_back(done);
    });
    request.timeout = 50ms;
    LoadEngine engine({}, request, {.max_in_flight = 5, .lead = 5ms});
    const LoadResult result = engine.Run(Schedule(8, 1, 1s, 1s));
    EXPECT_EQ(result.timed_out, 5);
    EXPECT_EQ(result.not_sent, 3);
    ExpectSumsAgree(result);
    for (const TransportDone& done : kept) done({});  // too late
    EXPECT_EQ(engine.Run(Schedule(1, 1, 1s, 1s)).timed_out, 1);
  }
  for (const TransportDone& done : kept) done({});  // and after the engine
}

TEST(EngineTransport, MixesCalls) {
  const auto with_status = [](int status) {
    return [status](const TransportCall& call, const TransportDone& done) {
      done({.status = status + call.kind});
    };
  };
  const Traffic traffic(Batches(4).Every(10ms).For(50ms),
                        {{Custom("a", with_status(100)), 1}, {Custom("b", with_status(200)), 1}});
  LoadEngine engine({}, traffic.requests(), {.lead = 5ms});
  const LoadResult result = engine.Run(traffic.measured());
  EXPECT_EQ(result.ok, 20);
  for (const RequestRecord& r : result.records) EXPECT_EQ(r.status, r.kind == 0 ? 100 : 201);
  EXPECT_EQ(result.ResponseTimesOf(1).count(), 10);
}

TEST(EngineTransport, DoesNotMixWithHttp) {
  const Request call = Custom("a", [](const TransportCall&, const TransportDone&) {});
  EXPECT_THAT(
      [&] {
        LoadEngine({.port = 1}, std::vector<Request>{Get("/x"), call}, {});
      },
      ThrowsMessage<Error>(HasSubstr("GET /x is HTTP and a is not")));
  EXPECT_THROW(LoadEngine({.port = 1}, std::vector<Request>{}, {}), Error);
}

TEST(EngineTransport, RefusesAScheduleWithAnUnknownKind) {
  LoadEngine engine({}, Custom("a", [](const TransportCall&, const TransportDone&) {}), {});
  EXPECT_THAT(
      [&] {
        engine.Run(Schedule({{0s, 1}}, {1}));
      },
      ThrowsMessage<Error>(HasSubstr("request 1 of 1")));
}

}  // namespace
}  // namespace throttletest

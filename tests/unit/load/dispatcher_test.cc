// What the dispatcher makes of a schedule, in simulated time.
#include "load/dispatcher.h"
#include "support/milliseconds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "load/tally.h"
#include "support/simulated_service.h"
#include "throttletest/load/plan.h"

namespace throttletest::internal {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing_support::kMs;
using testing_support::L;
using testing_support::Silent;
using testing_support::SimulatedService;
using testing_support::Takes;

// A dispatcher on a simulated service, and what came out.
struct Simulation {
  explicit Simulation(SimulatedService::Serve serve, Request wanted = {}, int max_in_flight = 4096)
      : requests{std::move(wanted)},
        service(std::move(serve)),
        dispatcher(requests, {.max_in_flight = max_in_flight}, service, service) {}

  const LoadResult& Run(const Schedule& schedule, std::int64_t late_ns = 0) {
    Begin(schedule);
    ended_ns = service.RunToEnd(dispatcher, late_ns);
    Tally(result);
    return result;
  }
  void Begin(const Schedule& schedule) {
    service.Set(-200 * kMs);
    dispatcher.Begin(schedule, 200 * kMs, result);
  }

  std::vector<Request> requests;
  SimulatedService service;
  Dispatcher dispatcher;
  LoadResult result;
  std::int64_t ended_ns = 0;
};

TEST(Dispatch, EndsAScheduleEarlyWithoutLosingWhatIsUnderWay) {
  Simulation s(Takes(300 * kMs));
  s.Begin(Batches(8).Every(1s).For(60s).measured());
  s.service.RunUntil(s.dispatcher, 2100 * kMs);
  s.dispatcher.EndSchedule();
  s.service.RunToEnd(s.dispatcher);
  Tally(s.result);
  EXPECT_EQ(s.result.planned, 24);
  EXPECT_EQ(s.result.ok, 24);
  EXPECT_EQ(s.service.sends(), 24);
  EXPECT_TRUE(s.dispatcher.Done());
}

TEST(Dispatch, SendsEveryRequestAtItsInstant) {
  Simulation s(Takes(1 * kMs));
  const LoadResult& result = s.Run(Batches(8).Every(1s).For(3s).measured());
  EXPECT_EQ(result.planned, 24);
  EXPECT_EQ(result.ok, 24);
  EXPECT_EQ(result.StartLags().max(), L(0));
  EXPECT_EQ(result.ResponseTimes().max(), L(1));
  EXPECT_EQ(result.records[23].intended_ns, 2000 * kMs);
  EXPECT_EQ(result.records[23].batch, 2u);
  EXPECT_EQ(s.service.connects(), 8);
}

TEST(Dispatch, C123AFreezeOfFiveSecondsIsNotHidden) {
  Simulation s([](std::int64_t sent, int) {
    const bool frozen = sent >= 2000 * kMs && sent < 7000 * kMs;
    return SimulatedService::Fate{.done_ns = (frozen ? 7000 * kMs : sent) + 1 * kMs};
  });
  const LoadResult& result = s.Run(ConstantRate(100_rps).For(10s).measured());
  EXPECT_EQ(result.planned, 1000);
  EXPECT_EQ(result.StartLags().max(), L(0));
  EXPECT_EQ(result.ResponseTimes().At(Percentile(50)), L(1));
  EXPECT_EQ(result.ResponseTimes().At(Percentile(75)), L(2501));
  EXPECT_EQ(result.ResponseTimes().At(Percentile(99)), L(4901));
}

TEST(Dispatch, C129LateWakeUpsDoNotStretchTheSchedule) {
  Simulation s(Takes(1 * kMs));
  const LoadResult& result = s.Run(ConstantRate(100_rps).For(20s).measured(), 95 * kMs);
  EXPECT_EQ(result.sent, 2000);
  EXPECT_LE(s.ended_ns, 20'100 * kMs);
  EXPECT_GE(result.StartLags().At(Percentile(50)), L(40));
  EXPECT_EQ(result.ServiceTimes().max(), L(1));
}

TEST(Dispatch, C133ASaturatedGeneratorShowsAsLagNotAsASlowService) {
  Simulation s(Takes(100'000));
  s.service.write_ns = 20'000;  // 50000 writes a second
  const LoadResult& result = s.Run(ConstantRate(200000_rps).For(100ms).measured());
  EXPECT_EQ(result.planned, 20000);
  EXPECT_GT(result.StartLags().At(Percentile(99)), L(50));
  EXPECT_EQ(result.planned, result.ok + result.not_sent);
}

TEST(Dispatch, GivesUpRequestsWhoseTimeoutPassedBeforeTheyCouldBeSent) {
  // Each write takes ten times the interval, so the generator falls behind without end.
  Simulation s(Takes(1 * kMs), Get("/").Timeout(100ms));
  s.service.write_ns = 10 * kMs;
  const LoadResult& result = s.Run(ConstantRate(1000_rps).For(2s).measured());
  EXPECT_GT(result.not_sent, 1000);
  EXPECT_EQ(result.planned, result.ok + result.failed + result.timed_out + result.not_sent);
  EXPECT_EQ(result.failure_reasons.count("generator later than the request's timeout"), 1u);
  EXPECT_LE(s.ended_ns, 2000 * kMs + 3 * 256 * 10 * kMs) << "the plan's length bounds the run";
}

TEST(Dispatch, C183AShortfallIsNeverSilent) {
  Simulation s(Takes(1 * kMs));
  s.service.write_ns = 10 * kMs;  // 100 requests a second at most
  const LoadResult& result = s.Run(ConstantRate(200_rps).For(1s).measured());
  EXPECT_EQ(result.planned, 200);
  EXPECT_EQ(result.sent + result.not_sent, 200);
  EXPECT_GT(result.StartLags().max(), L(500));
}

TEST(Dispatch, C125TimeoutsComeFromTheIntendedStart) {
  Simulation s(Silent(), Get("/").Timeout(1s));
  const LoadResult& result = s.Run(ConstantRate(10_rps).For(1s).measured(), 30 * kMs);
  EXPECT_EQ(result.timed_out, 10);
  for (const RequestRecord& r : result.records) {
    EXPECT_GE(r.response_time(), 1s);
    EXPECT_LE(r.response_time(), 1s + 30ms);
  }
  EXPECT_THAT(result.failure_reasons, IsEmpty());
}

TEST(Dispatch, C131TheInFlightLimitBoundsRequestsAndConnections) {
  Simulation s(Silent(), Get("/").Timeout(1s), 100);
  const LoadResult& result = s.Run(ConstantRate(10000_rps).For(500ms).measured());
  EXPECT_EQ(result.timed_out, 100);
  EXPECT_EQ(result.not_sent, 4900);
  EXPECT_LE(s.service.connects(), 100);
  EXPECT_THAT(result.failure_reasons, ElementsAre(Pair("in-flight limit of 100 reached", 4900)));
}

TEST(Dispatch, C138EndsOneTimeoutAfterTheLastStart) {
  Simulation s(Silent(), Get("/").Timeout(1s));
  s.Run(ConstantRate(10_rps).For(5s).measured());
  EXPECT_EQ(s.ended_ns, 5900 * kMs);
}

TEST(Dispatch, C139AnAnswerAfterTheDeadlineIsATimeoutHoweverLateTheEngineIs) {
  Simulation s(Takes(1100 * kMs), Get("/").Timeout(1s));
  const LoadResult& result = s.Run(Schedule(6, 1, 1s, 1s), 500 * kMs);
  EXPECT_EQ(result.timed_out, 6);
  EXPECT_TRUE(result.ResponseTimes().At(Percentile(1)).infinite());
}

TEST(Dispatch, MarksRequestsThatCatchUpAsLate) {
  Simulation s(Takes(1 * kMs));
  const LoadResult& punctual = s.Run(ConstantRate(100_rps).For(1s).measured(), 10 * kMs);
  EXPECT_EQ(punctual.late, 0) << "10 ms is not yet late";
  Simulation t(Takes(1 * kMs));
  const LoadResult& late = t.Run(Batches(1).Every(1s).For(3s).measured(), 11 * kMs);
  EXPECT_EQ(late.late, 3);
  EXPECT_TRUE(late.records[0].late);
}

TEST(Dispatch, KeepsTheTimeoutOfEachKindOfRequest) {
  SimulatedService service(Silent());
  const std::vector<Request> requests = {Get("/a").Timeout(2s), Get("/b").Timeout(500ms)};
  Dispatcher dispatcher(requests, {}, service, service);
  LoadResult result;
  service.Set(-200 * kMs);
  dispatcher.Begin(Schedule({{0s, 2}, {1s, 2}}, {0, 1, 1, 0}), 200 * kMs, result);
  const std::int64_t ended = service.RunToEnd(dispatcher);
  Tally(result);
  EXPECT_EQ(result.timed_out, 4);
  std::vector<std::chrono::nanoseconds> times;
  for (const RequestRecord& r : result.records) times.push_back(r.response_time());
  EXPECT_THAT(times, ElementsAre(2s, 500ms, 500ms, 2s));
  EXPECT_EQ(result.records[1].kind, 1);
  EXPECT_EQ(ended, 3000 * kMs);
}

TEST(Dispatch, TimesOutWhatWaitsBehindALongerTimeout) {
  SimulatedService service(Takes(kMs));
  service.connect_ns = 10'000 * kMs;  // nothing is ever sent
  const std::vector<Request> requests = {Get("/a").Timeout(2s), Get("/b").Timeout(500ms)};
  Dispatcher dispatcher(requests, {}, service, service);
  LoadResult result;
  service.Set(0);
  dispatcher.Begin(Schedule({{0s, 3}}, {0, 1, 0}), 0, result);
  EXPECT_EQ(service.RunToEnd(dispatcher), 2000 * kMs);
  Tally(result);
  EXPECT_EQ(result.timed_out, 3);
  EXPECT_EQ(result.records[1].response_time(), 500ms);
}

TEST(Dispatch, UnexpectedStatusesFailWithTheirReason) {
  Simulation s([](std::int64_t sent, int) {
    return SimulatedService::Fate{.done_ns = sent + kMs, .status = 503};
  });
  const LoadResult& result = s.Run(Schedule(2, 1, 1s, 1s));
  EXPECT_EQ(result.failed, 2);
  EXPECT_EQ(result.records[0].status, 503);
  EXPECT_THAT(result.failure_reasons, ElementsAre(Pair("HTTP 503", 2)));
}

TEST(Dispatch, CatchingUpLeavesRoomForAnswers) {
  Simulation s(Takes(0), {}, 300);
  s.Begin(ConstantRate(1000_rps).For(1s).measured());
  s.service.RunUntil(s.dispatcher, 0);
  s.service.Set(999 * kMs);  // asleep for the whole run
  s.service.RunToEnd(s.dispatcher);
  Tally(s.result);
  EXPECT_EQ(s.result.ok, 1000);
  EXPECT_GE(s.result.StartLags().max(), L(900));
}

TEST(Dispatch, AnInterruptionGivesEveryRequestItsFate) {
  Simulation s(Silent());
  s.Begin(Batches(2).Every(1s).For(10s).measured());
  s.service.RunUntil(s.dispatcher, 2500 * kMs);
  s.dispatcher.Interrupt();
  Tally(s.result);
  EXPECT_TRUE(s.dispatcher.Done());
  EXPECT_EQ(s.dispatcher.NextWake(), kNever);
  EXPECT_EQ(s.result.failed, 6);
  EXPECT_EQ(s.result.not_sent, 14);
  EXPECT_EQ(s.dispatcher.done_count(), 20);
  EXPECT_THAT(s.result.failure_reasons,
              ElementsAre(Pair("given up: interrupted", 6), Pair("interrupted", 14)));
}

TEST(Dispatch, WatchesTheClockOnlyBeforeABatch) {
  Simulation s(Takes(1 * kMs), Get("/").Timeout(300ms));
  s.Begin(Batches(1).Every(1s).For(2s).measured());
  EXPECT_EQ(s.dispatcher.NextWatch(), s.dispatcher.NextWake()) << "a connection is to be opened";
  s.service.RunUntil(s.dispatcher, -100 * kMs);
  EXPECT_EQ(s.dispatcher.NextWake(), 0);
  EXPECT_EQ(s.dispatcher.NextWatch(), -500'000);
  s.service.RunUntil(s.dispatcher, 100 * kMs);
  EXPECT_EQ(s.dispatcher.NextWatch(), 300 * kMs) << "a timeout can wait for the wake-up";
}

TEST(Dispatch, WakesAreFew) {
  Simulation s(Takes(1 * kMs));
  s.Run(Batches(8).Every(1s).For(20s).measured());
  // Two to open the eight connections and one a batch.
  EXPECT_LE(s.service.wake_ups(), 23);
}

TEST(Dispatch, C155RunsAreApartButShareConnections) {
  Simulation s(Takes(1 * kMs));
  EXPECT_EQ(s.Run(Schedule(4, 1, 1s, 1s)).ok, 4);
  LoadResult second;
  s.dispatcher.Begin(Schedule(4, 1, 1s, 1s), 0, second);
  s.service.RunToEnd(s.dispatcher);
  Tally(second);
  EXPECT_EQ(second.ok, 4);
  EXPECT_EQ(second.planned, 4);
  EXPECT_EQ(s.service.connects(), 4);
}

}  // namespace
}  // namespace throttletest::internal

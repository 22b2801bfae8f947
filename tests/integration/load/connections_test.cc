// What the engine does with its connections, over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <string>

#include "support/script_server.h"
#include "throttletest/load/engine.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Pair;
using testing_support::ClosedPort;
using testing_support::kEmptyAnswer;
using testing_support::Peer;
using testing_support::ScriptServer;

// `batches` batches, 50 ms apart.
Schedule Every50Ms(int size, int batches) { return Schedule(size, 20, 1s, batches * 50ms); }

LoadResult Drive(std::uint16_t port, const Schedule& schedule, Request request = {}) {
  LoadEngine engine({.port = port}, std::move(request), {.lead = 50ms});
  return engine.Run(schedule);
}

void AnswerAll(Peer& peer) {
  while (peer.ReadRequest() && peer.Send(kEmptyAnswer)) {
  }
}

// Answers one request, then closes when the next one has come: the stale connection a client meets
// when the service's idle timeout strikes at the same instant.
void AnswerOnceThenCloseOnTheNext(Peer& peer) {
  if (peer.ReadRequest() && peer.Send(kEmptyAnswer)) peer.ReadRequest();
}

TEST(EngineConnections, AreOpenedAheadAndKeptAlive) {
  const ScriptServer server(AnswerAll);
  const LoadResult result = Drive(server.port(), Every50Ms(8, 6));
  EXPECT_EQ(result.ok, 48);
  EXPECT_GE(server.accepted(), 8);
  EXPECT_LE(server.accepted(), 16);
}

TEST(EngineConnections, AreUsedAgainByTheNextRun) {
  const ScriptServer server(AnswerAll);
  LoadEngine engine({.port = server.port()}, Get("/"), {.lead = 50ms});
  engine.Run(Every50Ms(4, 2));
  const int before = server.accepted();
  EXPECT_EQ(engine.Run(Every50Ms(4, 1)).ok, 4);
  EXPECT_EQ(server.accepted(), before);
}

TEST(EngineConnections, C116AStaleConnectionIsRetriedOnceOnAFreshOne) {
  const ScriptServer server(AnswerOnceThenCloseOnTheNext);
  const LoadResult result = Drive(server.port(), Every50Ms(2, 4));
  EXPECT_EQ(result.ok, 8);
  EXPECT_EQ(result.failed, 0);
  EXPECT_GT(result.retried, 0);
  for (const RequestRecord& r : result.records) EXPECT_GE(r.response_time(), r.service_time());
}

TEST(EngineConnections, C116AServiceThatClosesIdleConnectionsAtTheBatchIntervalIsNotBlamed) {
  const ScriptServer server([](Peer& peer) {
    while (peer.ReadRequest() && peer.Send(kEmptyAnswer)) {
      if (peer.index() % 2 == 0 && peer.Wait(50ms)) return;
    }
  });
  const LoadResult result = Drive(server.port(), Every50Ms(4, 8));
  EXPECT_EQ(result.ok, 32);
}

TEST(EngineConnections, AServiceThatAlwaysClosesWithoutAnAnswerFails) {
  const ScriptServer server([](Peer& peer) { peer.ReadRequest(); });
  const LoadResult result = Drive(server.port(), Every50Ms(1, 2));
  EXPECT_EQ(result.failed, 2);
  EXPECT_EQ(server.requests(), 4);
  EXPECT_THAT(result.failure_reasons, ElementsAre(Pair("connection closed without an answer", 2)));
}

TEST(EngineConnections, C118APostIsNeverSentTwice) {
  const ScriptServer server(AnswerOnceThenCloseOnTheNext);
  const LoadResult result = Drive(server.port(), Every50Ms(1, 4), Post("/", "x"));
  EXPECT_EQ(result.retried, 0);
  EXPECT_EQ(server.requests(), 4);
  EXPECT_GT(result.failed, 0);
  EXPECT_EQ(result.failed + result.ok, 4);
  EXPECT_THAT(result.failure_reasons,
              ElementsAre(Pair("connection closed without an answer", result.failed)));
}

TEST(EngineConnections, AResetIsAFailure) {
  const ScriptServer server([](Peer& peer) {
    if (peer.ReadRequest()) peer.Reset();
  });
  const LoadResult result = Drive(server.port(), Every50Ms(1, 1), Post("/", "x"));
  EXPECT_THAT(result.failure_reasons, ElementsAre(Pair("connection reset", 1)));
}

TEST(EngineConnections, ARefusedConnectionIsAFailureOfTheService) {
  const LoadResult result = Drive(ClosedPort(), Every50Ms(3, 2));
  EXPECT_EQ(result.failed, 6);
  EXPECT_EQ(result.not_sent, 0);
  EXPECT_EQ(result.records.at(0).sent_ns, -1);
  EXPECT_THAT(result.failure_reasons, ElementsAre(Pair("connection refused", 6)));
}

TEST(EngineConnections, C119ARequestOfManySegmentsIsNotDelayed) {
  const ScriptServer server(AnswerAll);
  const LoadResult result =
      Drive(server.port(), Every50Ms(1, 10), Post("/", std::string(200'000, 'b')));
  EXPECT_EQ(result.ok, 10);
  // A request held back for an acknowledgement takes 40 ms, each of them.
  EXPECT_LT(result.ServiceTimes().sorted().front(), Latency(35ms));
}

TEST(EngineConnections, C119TheServicesOwnDelayedAcknowledgementsAreItsLatency) {
  const ScriptServer server([](Peer& peer) {
    while (peer.ReadRequest()) {
      peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
      if (!peer.Send("ok")) return;
    }
  });
  const LoadResult result = Drive(server.port(), Schedule(1, 50, 1s, 1s));
  EXPECT_EQ(result.ok, 50);
  EXPECT_GT(result.ServiceTimes().max(), Latency(35ms));
  EXPECT_EQ(result.failed + result.timed_out + result.not_sent, 0);
}

TEST(EngineConnections, ABodyTheServiceIsSlowToReadIsSentWhole) {
  const ScriptServer server([](Peer& peer) {
    if (peer.Wait(100ms)) AnswerAll(peer);
  });
  const LoadResult result =
      Drive(server.port(), Every50Ms(1, 1), Post("/", std::string(20'000'000, 'b')));
  EXPECT_EQ(result.ok, 1);
  EXPECT_GT(result.records.at(0).start_lag(), 10ms);
}

TEST(EngineConnections, ThatAnAnswerClosesAreReplacedAheadOfTheNextBatch) {
  const ScriptServer server([](Peer& peer) {
    if (peer.ReadRequest()) {
      peer.Send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    }
  });
  const LoadResult result = Drive(server.port(), Every50Ms(4, 4));
  EXPECT_EQ(result.ok, 16);
  EXPECT_EQ(result.retried, 0);
  EXPECT_EQ(server.requests(), 16);
  EXPECT_LE(server.accepted(), 24);
}

TEST(EngineConnections, AServiceThatIsSlowToAcceptTakesAllRequestsInTheEnd) {
  const ScriptServer server(AnswerAll, 300ms);
  const LoadResult result = Drive(server.port(), Every50Ms(8, 2));
  EXPECT_EQ(result.ok, 16);
  EXPECT_GT(result.ResponseTimes().max(), Latency(100ms));
}

// The connections a batch has but the service's backlog does not take are the service's delay:
// until they are open nothing is sent, and the start lag says so.
TEST(EngineConnections, RequestsWaitForConnectionsThatAFullBacklogHoldsUp) {
  const ScriptServer server(AnswerAll, 400ms, 1);
  const LoadResult result = Drive(server.port(), Every50Ms(8, 1), Get("/").Timeout(8s));
  EXPECT_EQ(result.ok, 8);
  EXPECT_GT(result.StartLags().max(), Latency(100ms));
}

// Lowers the limit on descriptors for its lifetime.
class FewDescriptors {
 public:
  FewDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = 40;
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(EngineConnections, C121LackOfDescriptorsIsAGeneratorFault) {
  const FewDescriptors few;
  const ScriptServer server([](Peer& peer) {
    while (peer.ReadRequest()) {
    }
  });
  const LoadResult result = Drive(server.port(), Every50Ms(60, 1), Get("/").Timeout(300ms));
  EXPECT_EQ(result.failed, 0);
  EXPECT_GT(result.not_sent, 0);
  EXPECT_THAT(result.failure_reasons,
              ElementsAre(Pair("no free file descriptor (raise ulimit -n)", result.not_sent)));
}

}  // namespace
}  // namespace throttletest

// How the engine reads what a service answers, over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/script_server.h"
#include "throttletest/load/engine.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing_support::kEmptyAnswer;
using testing_support::Peer;
using testing_support::ScriptServer;

Schedule Once(int requests = 1) { return Schedule(requests, 1, 1s, 1s); }

LoadResult Drive(const ScriptServer& server, const Schedule& schedule, Request request = {}) {
  LoadEngine engine({.port = server.port()}, std::move(request), {.lead = 20ms});
  return engine.Run(schedule);
}

// Sends `answer` to every request and keeps the connection.
ScriptServer::Script Always(std::string answer) {
  return [answer = std::move(answer)](Peer& peer) {
    while (peer.ReadRequest() && peer.Send(answer)) {
    }
  };
}

// Sends `answer` to the first request and closes.
ScriptServer::Script OnceThenClose(std::string answer) {
  return [answer = std::move(answer)](Peer& peer) {
    if (peer.ReadRequest()) peer.Send(answer);
  };
}

TEST(EngineAnswers, C120ChunkedWithTrailerLastsUntilTheLastChunk) {
  const ScriptServer server([](Peer& peer) {
    while (peer.ReadRequest()) {
      peer.Send(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n");
      peer.Wait(300ms);
      peer.Send("0\r\nX-Sum: 5\r\n\r\n");
    }
  });
  const LoadResult result = Drive(server, Schedule(1, 2, 1s, 1s));
  EXPECT_EQ(result.ok, 2);
  EXPECT_GE(result.ServiceTimes().sorted().front(), Latency(300ms));
}

TEST(EngineAnswers, C120CloseDelimitedBodyIsOk) {
  const ScriptServer server(OnceThenClose("HTTP/1.1 200 OK\r\n\r\nuntil the end"));
  const LoadResult result = Drive(server, Schedule(1, 20, 1s, 150ms));
  EXPECT_EQ(result.ok, 3);
  EXPECT_EQ(result.retried, 0);
  EXPECT_EQ(server.requests(), 3);
}

TEST(EngineAnswers, C120ShortBodyIsAnErrorAndNotSentAgain) {
  const ScriptServer server(OnceThenClose("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"));
  const LoadResult result = Drive(server, Once());
  EXPECT_EQ(result.failed, 1);
  EXPECT_EQ(server.requests(), 1);
  EXPECT_THAT(result.failure_reasons, ElementsAre(Pair("short body: 5 of 10 bytes", 1)));
}

TEST(EngineAnswers, C120AChunkedBodyThatIsCutIsAnError) {
  const ScriptServer server(
      OnceThenClose("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"));
  const LoadResult result = Drive(server, Once());
  EXPECT_THAT(result.failure_reasons,
              ElementsAre(Pair("short body: closed after 5 bytes, without the last chunk", 1)));
}

TEST(EngineAnswers, C120AnswersWithoutABodyAreNotWaitedFor) {
  const ScriptServer no_content(Always("HTTP/1.1 204 No Content\r\n\r\n"));
  EXPECT_EQ(Drive(no_content, Once(), Get("/").Timeout(5s)).ok, 1);

  const ScriptServer not_modified(Always("HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n"));
  EXPECT_EQ(Drive(not_modified, Once(), Get("/").Timeout(5s).ExpectStatus(304)).ok, 1);

  const ScriptServer head(Always("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"));
  Request request = Get("/").Timeout(5s);
  request.method = "HEAD";
  EXPECT_EQ(Drive(head, Once(), request).ok, 1);
}

TEST(EngineAnswers, AnInterimAnswerIsNotTheAnswer) {
  const ScriptServer server(
      Always("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + std::string(kEmptyAnswer)));
  const LoadResult result = Drive(server, Once());
  EXPECT_EQ(result.ok, 1);
  EXPECT_EQ(result.records.at(0).status, 200);
}

TEST(EngineAnswers, UnexpectedStatusIsAFailureWithItsStatus) {
  const ScriptServer server(Always("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"));
  const LoadResult result = Drive(server, Once(3));
  EXPECT_EQ(result.failed, 3);
  EXPECT_EQ(result.records.at(0).status, 500);
  EXPECT_THAT(result.failure_reasons, ElementsAre(Pair("HTTP 500", 3)));
}

TEST(EngineAnswers, C136AllAnswersOf503AreErrorsUnlessTheyAreAccepted) {
  const ScriptServer server(Always("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"));
  const LoadResult refused = Drive(server, Once(20));
  EXPECT_DOUBLE_EQ(refused.error_ratio(), 1.0);
  EXPECT_EQ(refused.ok, 0);
  EXPECT_TRUE(refused.ResponseTimes().At(Percentile(1)).infinite());

  const LoadResult accepted = Drive(server, Once(20), Get("/").ExpectStatus(503));
  EXPECT_DOUBLE_EQ(accepted.error_ratio(), 0.0);
  EXPECT_FALSE(accepted.ResponseTimes().max().infinite());
}

TEST(EngineAnswers, ABodyWithoutTheExpectedTextIsAFailure) {
  const ScriptServer server(Always("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n\"busy\""));
  EXPECT_EQ(Drive(server, Once(2), Get("/").ExpectBody("busy")).ok, 2);
  const LoadResult result = Drive(server, Once(2), Get("/").ExpectBody("\"ok\""));
  EXPECT_EQ(result.failed, 2);
  EXPECT_EQ(result.records.at(0).status, 200);
  EXPECT_THAT(result.failure_reasons,
              ElementsAre(Pair("body does not contain \"\\\"ok\\\"\": \"\\\"busy\\\"\"", 2)));
  // The connection is as good as before.
  EXPECT_EQ(Drive(server, Schedule(1, 20, 1s, 200ms), Get("/").ExpectBody("ok")).failed, 4);
  EXPECT_LE(server.accepted(), 8);
}

TEST(EngineAnswers, GarbageIsAMalformedAnswer) {
  const ScriptServer server(OnceThenClose("SSH-2.0-OpenSSH_9.2\r\n\r\n"));
  const LoadResult result = Drive(server, Once());
  EXPECT_EQ(result.failed, 1);
  ASSERT_EQ(result.failure_reasons.size(), 1u);
  EXPECT_THAT(result.failure_reasons.begin()->first, testing::StartsWith("malformed answer"));
}

TEST(EngineAnswers, AHeaderWithoutEndIsCutOff) {
  const ScriptServer server([](Peer& peer) {
    if (!peer.ReadRequest()) return;
    peer.Send("HTTP/1.1 200 OK\r\n");
    while (peer.Send("X-Filler: " + std::string(1000, 'x') + "\r\n")) {
    }
  });
  const LoadResult result = Drive(server, Once());
  EXPECT_EQ(result.failed, 1);
  ASSERT_EQ(result.failure_reasons.size(), 1u);
  EXPECT_THAT(result.failure_reasons.begin()->first, testing::StartsWith("malformed answer"));
}

TEST(EngineAnswers, ALargeHeaderWithinTheLimitIsRead) {
  std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n";
  for (int i = 0; i < 40; ++i) answer += "X-Filler: " + std::string(1000, 'x') + "\r\n";
  const ScriptServer server(Always(answer + "\r\nok"));
  EXPECT_EQ(Drive(server, Schedule(2, 20, 1s, 100ms)).ok, 4);
}

TEST(EngineAnswers, ABodyThatNeverEndsIsCutByTheTimeout) {
  const ScriptServer server([](Peer& peer) {
    if (!peer.ReadRequest()) return;
    peer.Send("HTTP/1.1 200 OK\r\n\r\n");
    const std::string block(64 * 1024, 'x');
    while (peer.Send(block)) {
    }
  });
  const LoadResult result = Drive(server, Once(), Get("/").Timeout(300ms));
  EXPECT_EQ(result.timed_out, 1);
  EXPECT_THAT(result.failure_reasons, IsEmpty());
}

TEST(EngineAnswers, BytesAfterTheAnswerSpoilTheConnectionButNotTheAnswer) {
  const ScriptServer server(Always(std::string(kEmptyAnswer).append("more")));
  const LoadResult result = Drive(server, Schedule(1, 20, 1s, 150ms));
  EXPECT_EQ(result.ok, 3);
  EXPECT_EQ(server.accepted(), 3);
}

}  // namespace
}  // namespace throttletest

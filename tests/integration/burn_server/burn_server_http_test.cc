// What burn_server does on real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "running_server.h"

namespace burn_server::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using std::chrono::steady_clock;
using testing::HasSubstr;

using Connections = std::vector<std::unique_ptr<Connection>>;

Connections OpenMany(int port, int count) {
  Connections connections;
  for (int i = 0; i < count; ++i) connections.push_back(std::make_unique<Connection>(port));
  return connections;
}

TEST(BurnServerHttp, KeepsAConnectionForManyRequests) {
  RunningServer server;
  Connection connection(server.port());
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(connection.Get("/healthz").body, "ok") << i;
  }
  const auto reply = connection.Get("/burn?ms=1.5&mb=2");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(json::parse(reply.body)["iterations"], 150000);
}

TEST(BurnServerHttp, SameWorkHasTheSameChecksum) {
  RunningServer server;
  Connection one(server.port());
  Connection other(server.port());
  const auto checksum = json::parse(one.Get("/burn?ms=3").body)["checksum"];
  EXPECT_EQ(json::parse(other.Get("/burn?ms=3").body)["checksum"], checksum);
  EXPECT_NE(json::parse(other.Get("/burn?ms=3.1").body)["checksum"], checksum);
}

TEST(BurnServerHttp, RefusesBadRequestsAndKeepsTheConnection) {
  RunningServer server;
  Connection connection(server.port());
  EXPECT_EQ(connection.Get("/burn").status, 400);
  const auto bad = connection.Get("/burn?ms=-5");
  EXPECT_EQ(bad.status, 400);
  EXPECT_THAT(bad.body, HasSubstr("0..600000"));
  EXPECT_EQ(connection.Get("/burn?ms=1&size=3").status, 400);
  EXPECT_EQ(connection.Get("/").status, 404);
  EXPECT_EQ(connection.Get("/burnt").status, 404);
  EXPECT_EQ(connection.Get("/healthz").status, 200);
}

TEST(BurnServerHttp, OtherMethodsAre405AndTheirBodyIsRead) {
  RunningServer server;
  Connection connection(server.port());
  connection.Send("POST /burn?ms=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(connection.Receive().status, 405);
  EXPECT_EQ(connection.Get("/healthz").status, 200);
}

TEST(BurnServerHttp, ABodyThatAGetBringsIsNotTakenForTheNextRequest) {
  RunningServer server;
  Connection connection(server.port());
  connection.Send(
      "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 24\r\n\r\nGET /nothing "
      "HTTP/1.1\r\n\r\n");
  const auto reply = connection.Receive();
  EXPECT_EQ(reply.status, 200);
  EXPECT_THAT(reply.headers, HasSubstr("Connection: close"));
  EXPECT_TRUE(connection.AtEnd());
}

TEST(BurnServerHttp, ClosesWhenTheClientAsksForIt) {
  RunningServer server;
  Connection connection(server.port());
  connection.Send("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(connection.Receive().status, 200);
  EXPECT_TRUE(connection.AtEnd());
}

TEST(BurnServerHttp, AnswersRequestsThatArriveTogether) {
  RunningServer server;
  Connection connection(server.port());
  const std::string request = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
  connection.Send(request + request + request);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(connection.Receive().body, "ok");
}

TEST(BurnServerHttp, SurvivesNonsense) {
  RunningServer server;
  Connection(server.port()).Send(std::string("\0\xFF\r\n\r\n\r\n", 8));
  Connection(server.port()).Send("GET " + std::string(20000, 'a') + " HTTP/1.1\r\n\r\n");
  Connection(server.port()).Send("GET /heal");
  EXPECT_EQ(Connection(server.port()).Get("/healthz").status, 200);
}

TEST(BurnServerHttp, IdleConnectionsTakeNoPlaceFromOthers) {
  RunningServer server({"--threads=2"});
  auto idle = OpenMany(server.port(), 64);
  for (auto& connection : idle) ASSERT_EQ(connection->Get("/healthz").status, 200);
  EXPECT_EQ(Connection(server.port()).Get("/burn?ms=1").status, 200);
  for (auto& connection : idle) EXPECT_EQ(connection->Get("/burn?ms=0").status, 200);
}

TEST(BurnServerHttp, IdleConnectionsCostNoWakeUps) {
  RunningServer server;
  auto idle = OpenMany(server.port(), 16);
  for (auto& connection : idle) ASSERT_EQ(connection->Get("/healthz").status, 200);
  std::this_thread::sleep_for(50ms);
  const auto before = server.VoluntarySwitches();
  std::this_thread::sleep_for(300ms);
  // A loop that polls every 10 ms would make about 400 of them. A sanitizer's own thread makes a
  // few.
  EXPECT_LE(server.VoluntarySwitches() - before, 20);
}

TEST(BurnServerHttp, WorkersAndQueueDepthTurnTheRestAway) {
  RunningServer server({"--workers=1", "--queue-depth=2"});
  auto connections = OpenMany(server.port(), 6);
  for (auto& connection : connections) connection->SendGet("/burn?ms=600000");
  // One burns and two wait, until the server stops; the other three are told so at once.
  std::vector<int> turned_away;
  const auto deadline = steady_clock::now() + 20s;
  while (turned_away.size() < 3 && steady_clock::now() < deadline) {
    for (auto& connection : connections) {
      if (connection->Readable(10ms)) turned_away.push_back(connection->Receive().status);
    }
  }
  EXPECT_THAT(turned_away, testing::ElementsAre(429, 429, 429));
  for (auto& connection : connections) EXPECT_FALSE(connection->Readable(10ms));
}

TEST(BurnServerHttp, OneWorkerServesOneAfterTheOther) {
  RunningServer server({"--workers=1"});
  auto connections = OpenMany(server.port(), 4);
  for (auto& connection : connections) connection->SendGet("/burn?ms=50");
  double work = 0;
  double longest_wait = 0;
  for (auto& connection : connections) {
    const auto body = json::parse(connection->Receive().body);
    work += body["wall_ms"].get<double>();
    longest_wait = std::max(longest_wait, body["queued_ms"].get<double>());
  }
  // The last one waited for the three before it.
  EXPECT_GT(longest_wait, work / 4);
}

TEST(BurnServerHttp, HealthAnswersWhileAllThreadsBurn) {
  RunningServer server({"--threads=1"});
  Connection busy(server.port());
  busy.SendGet("/burn?ms=600000");
  Connection waiting(server.port());
  waiting.SendGet("/burn?ms=600000");
  EXPECT_EQ(Connection(server.port()).Get("/healthz").status, 200);
}

TEST(BurnServerHttp, MemoryIsReallyHeld) {
  RunningServer server;
  Connection connection(server.port());
  ASSERT_EQ(connection.Get("/burn?ms=0&mb=200").status, 200);
  std::ifstream status("/proc/" + std::to_string(server.pid()) + "/status");
  long peak_kib = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) peak_kib = std::stol(line.substr(6));
  }
  EXPECT_GE(peak_kib, 200 * 1024);
}

TEST(BurnServerHttp, StopsAtOnceWithConnectionsOpenAndWorkRunning) {
  for (const int signal : {SIGTERM, SIGINT}) {
    RunningServer server;
    auto idle = OpenMany(server.port(), 20);
    for (auto& connection : idle) ASSERT_EQ(connection->Get("/healthz").status, 200);
    idle[0]->SendGet("/burn?ms=600000");
    idle[1]->Send("GET /half");
    const auto start = steady_clock::now();
    EXPECT_EQ(server.Stop(signal), 0);
    // Well below a second on an idle machine.
    EXPECT_LT(steady_clock::now() - start, 2s);
    EXPECT_TRUE(idle[2]->AtEnd());
  }
}

TEST(BurnServerHttp, TakesALargeBatchOfNewConnectionsWithoutLosingSyns) {
  RunningServer server({"--threads=1"});
  Connection busy(server.port());
  busy.SendGet("/burn?ms=600000");
  auto batch = OpenMany(server.port(), 300);
  for (auto& connection : batch) connection->SendGet("/healthz");
  for (auto& connection : batch) {
    EXPECT_EQ(connection->Receive().status, 200);
    EXPECT_EQ(connection->Retransmissions(), 0);
  }
}

}  // namespace
}  // namespace burn_server::test

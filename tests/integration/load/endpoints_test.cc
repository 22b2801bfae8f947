// Where a service may listen: IPv4, IPv6, Unix sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "support/script_server.h"
#include "support/temp_tree.h"
#include "support/tls_server.h"
#include "throttletest/base/error.h"
#include "throttletest/load/engine.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;
using testing_support::BoundUnix;
using testing_support::BoundV6;
using testing_support::Identity;
using testing_support::kEmptyAnswer;
using testing_support::Peer;
using testing_support::ScriptServer;
using testing_support::StartTls;
using testing_support::TempTree;

LoadResult Drive(const Endpoint& endpoint, const Schedule& schedule, Request request = {}) {
  LoadEngine engine(endpoint, std::move(request), {.lead = 50ms});
  return engine.Run(schedule);
}

void AnswerAll(Peer& peer) {
  while (peer.ReadRequest() && peer.Send(kEmptyAnswer)) {
  }
}

// Says in the body what Host it was asked for.
void TellHost(Peer& peer) {
  while (const auto request = peer.ReadRequest()) {
    const auto at = request->find("Host: ");
    const std::string host = request->substr(at, request->find("\r\n", at) - at);
    peer.Send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(host.size()) + "\r\n\r\n" +
              host);
  }
}

TEST(EngineEndpoint, AUnixSocketIsDrivenLikeAPort) {
  const TempTree folder;
  const std::string path = folder.Path("service.sock");
  const ScriptServer server(TellHost, BoundUnix(path), 128);
  const LoadResult result = Drive({.unix_path = path}, Schedule(8, 20, 1s, 300ms),
                                  Get("/").ExpectBody("Host: localhost"));
  EXPECT_EQ(result.ok, 48);
  EXPECT_LE(server.accepted(), 16);
}

TEST(EngineEndpoint, AUnixSocketMayHaveAnAbstractName) {
  const std::string name = "@throttletest-" + std::to_string(::getpid());
  const ScriptServer server(AnswerAll, BoundUnix(name), 128);
  EXPECT_EQ(Drive({.unix_path = name}, Schedule(4, 1, 1s, 1s)).ok, 4);
}

// The kernel does not make a connect to a full Unix socket wait, unlike that to a TCP port.
TEST(EngineEndpoint, AFullUnixSocketIsTriedAgainUntilThereIsRoom) {
  const TempTree folder;
  const std::string path = folder.Path("service.sock");
  const ScriptServer server(AnswerAll, BoundUnix(path), 1);
  const LoadResult result = Drive({.unix_path = path}, Schedule(64, 1, 1s, 1s));
  EXPECT_EQ(result.ok, 64) << testing::PrintToString(result.failure_reasons);
}

TEST(EngineEndpoint, ALargeBodyEachWayFitsThroughAUnixSocket) {
  const TempTree folder;
  const std::string path = folder.Path("service.sock");
  const ScriptServer server(
      [](Peer& peer) {
        while (const auto request = peer.ReadRequest()) {
          peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 4000000\r\n\r\n" +
                    std::string(4'000'000, 'x'));
        }
      },
      BoundUnix(path), 128);
  const LoadResult result = Drive({.unix_path = path}, Schedule(2, 20, 1s, 100ms),
                                  Post("/", std::string(3'000'000, 'p')));
  EXPECT_EQ(result.ok, 4) << testing::PrintToString(result.failure_reasons);
}

TEST(EngineEndpoint, TlsGoesThroughAUnixSocketToo) {
  const TempTree folder;
  const Identity identity = Identity::SelfSigned({"localhost"});
  folder.Write("ca.pem", identity.certificate_pem());
  const std::string path = folder.Path("service.sock");
  const ScriptServer server(
      [&](Peer& peer) {
        if (StartTls(peer, identity)) AnswerAll(peer);
      },
      BoundUnix(path), 128);
  const Endpoint endpoint{.unix_path = path, .tls = TlsOptions{.ca_file = folder.Path("ca.pem")}};
  const LoadResult result =
      Drive(endpoint, Schedule(2, 20, 1s, 100ms), Post("/", std::string(1'000'000, 'p')));
  EXPECT_EQ(result.ok, 4) << testing::PrintToString(result.failure_reasons);
}

TEST(EngineEndpoint, AMissingUnixSocketIsAFailureOfTheService) {
  const TempTree folder;
  const LoadResult result = Drive({.unix_path = folder.Path("none.sock")}, Schedule(2, 1, 1s, 1s));
  EXPECT_EQ(result.failed, 2);
  EXPECT_THAT(result.failure_reasons,
              ElementsAre(Pair("connecting failed: No such file or directory", 2)));
}

TEST(EngineEndpoint, Ipv6IsAskedForByItsAddress) {
  const ScriptServer server(TellHost, BoundV6(), 128);
  const std::string host = "Host: [::1]:" + std::to_string(server.port());
  for (const char* text : {"::1", "[::1]"}) {
    const Endpoint endpoint{.host = text, .port = server.port()};
    EXPECT_EQ(Drive(endpoint, Schedule(2, 1, 1s, 1s), Get("/").ExpectBody(host)).ok, 2);
  }
}

TEST(EngineEndpoint, LocalhostIsIpv4AndNothingElse) {
  const ScriptServer four(AnswerAll);
  EXPECT_EQ(Drive({.host = "localhost", .port = four.port()}, Schedule(1, 1, 1s, 1s)).ok, 1);
  EXPECT_EQ(Drive({.host = "127.0.0.2", .port = four.port()}, Schedule(1, 1, 1s, 1s)).failed, 1);

  const ScriptServer six(AnswerAll, BoundV6(), 128);
  const LoadResult result =
      Drive({.host = "localhost", .port = six.port()}, Schedule(1, 1, 1s, 1s));
  EXPECT_THAT(result.failure_reasons, ElementsAre(Pair("connection refused", 1)));
}

TEST(EngineEndpoint, MustBeOnThisMachine) {
  EXPECT_THAT([] { LoadEngine({.host = "192.0.2.1", .port = 80}, Get("/"), {}); },
              ThrowsMessage<Error>(HasSubstr("is not a loopback address")));
}

}  // namespace
}  // namespace throttletest

// burn_server as a command: what it prints and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "running_server.h"
#include "support/run_binary.h"

namespace burn_server::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;
using throttletest::test::RunBinary;

TEST(BurnServerCommand, PrintsTheRateAndWhereItListens) {
  RunningServer server;
  EXPECT_THAT(server.greeting(), MatchesRegex("iterations per ms: 100000 \\(--iters-per-ms\\)\n"
                                              "listening on 127\\.0\\.0\\.1:[0-9]+\n"));
}

TEST(BurnServerCommand, TheBacklogIsDeep) {
  // Connections that nobody accepts stay in the backlog: the server is stopped while they are made.
  RunningServer server;
  ASSERT_EQ(kill(server.pid(), SIGSTOP), 0);
  std::vector<std::unique_ptr<Connection>> waiting;
  for (int i = 0; i < 200; ++i) waiting.push_back(std::make_unique<Connection>(server.port()));
  ASSERT_EQ(kill(server.pid(), SIGCONT), 0);
  for (auto& connection : waiting) EXPECT_EQ(connection->Get("/healthz").status, 200);
}

TEST(BurnServerCommand, SaysWhenThePortIsTaken) {
  RunningServer server;
  const std::string port = std::to_string(server.port());
  const auto second = RunBinary({BURN_SERVER, "--port=" + port});
  EXPECT_EQ(second.status, 1);
  EXPECT_EQ(second.err, "cannot listen on 127.0.0.1:" + port + ": Address already in use\n");
  EXPECT_EQ(second.out, "");
}

TEST(BurnServerCommand, RefusesAHostThatIsNoAddress) {
  const auto run = RunBinary({BURN_SERVER, "--host=example.invalid"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("\"example.invalid\" is not a numeric IP address"));
}

TEST(BurnServerCommand, RefusesBadOptionsInOneLine) {
  const auto run = RunBinary({BURN_SERVER, "--port=http"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, AllOf(StartsWith("burn_server: "), HasSubstr("http")));
  EXPECT_EQ(run.err.find('\n'), run.err.size() - 1);
}

TEST(BurnServerCommand, CalibratePrintsAnAssignment) {
  const auto run = RunBinary({BURN_SERVER, "calibrate"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, MatchesRegex("ITERS_PER_MS=[0-9]+\n"));
}

TEST(BurnServerCommand, CalibratePrintsJson) {
  const auto run = RunBinary({BURN_SERVER, "calibrate", "--json"});
  EXPECT_EQ(run.status, 0) << run.err;
  const auto document = json::parse(run.out);
  EXPECT_GT(document["iters_per_ms"].get<long>(), 1000);
  EXPECT_LE(document["min"].get<long>(), document["iters_per_ms"].get<long>());
  EXPECT_GE(document["max"].get<long>(), document["iters_per_ms"].get<long>());
}

TEST(BurnServerCommand, HelpEndsWithZero) {
  const auto run = RunBinary({BURN_SERVER, "--help"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("--queue-depth"));
}

}  // namespace
}  // namespace burn_server::test

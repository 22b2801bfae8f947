// Services that answer as badly as they can, plain and through TLS: a run ends when it should, its
// sums agree, and the engine's memory stays what it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <random>
#include <string>

#include "support/script_server.h"
#include "support/temp_tree.h"
#include "support/tls_server.h"
#include "throttletest/load/engine.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing_support::Identity;
using testing_support::kEmptyAnswer;
using testing_support::Peer;
using testing_support::ScriptServer;
using testing_support::StartTls;
using testing_support::TempTree;

constexpr auto kTimeout = 250ms;
constexpr std::int64_t kMostGrowth = 64 << 20;

std::int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t all = 0;
  std::int64_t resident = 0;
  statm >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

void ExpectSumsAgree(const LoadResult& result) {
  EXPECT_EQ(result.planned, static_cast<std::int64_t>(result.records.size()));
  EXPECT_EQ(result.planned, result.ok + result.failed + result.timed_out + result.not_sent);
  EXPECT_EQ(result.sent, result.planned - result.not_sent);
  std::int64_t reasons = 0;
  for (const auto& [reason, count] : result.failure_reasons) reasons += count;
  EXPECT_EQ(reasons, result.failed + result.not_sent);
}

// Sends it for as long as the client takes it.
void Endlessly(Peer& peer, const std::string& piece) {
  while (peer.Send(piece)) {
  }
}

void Drip(Peer& peer, const std::string& text) {
  for (const char byte : text) {
    if (!peer.Send({&byte, 1}) || !peer.Wait(10ms)) return;
  }
}

std::string Noise(unsigned seed, std::size_t size) {
  std::mt19937 random(seed);
  std::string noise(size, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  return noise;
}

const std::string kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

// Whether a request to the service can be answered well.
enum class Outcome { kNoneOk, kAny };

struct Case {
  const char* name;
  void (*script)(Peer& peer);
  Outcome outcome = Outcome::kNoneOk;
};

void PrintTo(const Case& row, std::ostream* out) { *out << row.name; }

const Case kCases[] = {
    {"RandomBytes",
     [](Peer& peer) {
       for (unsigned i = 0; peer.ReadRequest() && peer.Send(Noise(i, 3000)); ++i) {
       }
     }},
    {"RandomBytesUnasked", [](Peer& peer) { Endlessly(peer, Noise(7, 3000)); }},
    {"NoiseInTheHeader",
     [](Peer& peer) {
       peer.ReadRequest();
       Endlessly(peer, "HTTP/1.1 200 OK\r\nA: " + Noise(8, 3000));
     }},
    {"EndlessHeaderLines",
     [](Peer& peer) {
       if (peer.ReadRequest() && peer.Send("HTTP/1.1 200 OK\r\n")) Endlessly(peer, "A: b\r\n");
     }},
    {"EndlessHeaderLine",
     [](Peer& peer) {
       if (peer.ReadRequest() && peer.Send("HTTP/1.1 200 OK\r\nA: ")) {
         Endlessly(peer, std::string(1000, 'x'));
       }
     }},
    {"EndlessReasonPhrase",
     [](Peer& peer) {
       if (peer.ReadRequest() && peer.Send("HTTP/1.1 200 "))
         Endlessly(peer, std::string(1000, 'x'));
     }},
    {"EndlessBlankLines",
     [](Peer& peer) {
       if (peer.ReadRequest()) Endlessly(peer, "\r\n\r\n\r\n\r\n");
     }},
    {"EndlessInterimAnswers",
     [](Peer& peer) {
       if (peer.ReadRequest()) Endlessly(peer, "HTTP/1.1 100 Continue\r\n\r\n");
     }},
    {"SlowInterimAnswers",
     [](Peer& peer) {
       if (!peer.ReadRequest()) return;
       while (peer.Send("HTTP/1.1 102 Wait\r\n\r\n") && peer.Wait(10ms)) {
       }
     }},
    {"EndlessChunkExtension",
     [](Peer& peer) {
       if (peer.ReadRequest() && peer.Send(kChunked + "5;a=")) {
         Endlessly(peer, std::string(1000, 'x'));
       }
     }},
    {"EndlessChunkSize",
     [](Peer& peer) {
       if (peer.ReadRequest() && peer.Send(kChunked)) Endlessly(peer, std::string(1000, '0'));
     }},
    {"EndlessTrailer",
     [](Peer& peer) {
       if (peer.ReadRequest() && peer.Send(kChunked + "0\r\n")) Endlessly(peer, "A: b\r\n");
     }},
    {"EndlessSmallChunks",
     [](Peer& peer) {
       if (peer.ReadRequest() && peer.Send(kChunked)) Endlessly(peer, "1;a=b\r\nx\r\n");
     }},
    {"HugeBody",
     [](Peer& peer) {
       if (!peer.ReadRequest()) return;
       peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n");
       Endlessly(peer, std::string(100'000, 'x'));
     }},
    {"HugeBodyUntilTheEnd",
     [](Peer& peer) {
       if (peer.ReadRequest() && peer.Send("HTTP/1.1 200 OK\r\n\r\n")) {
         Endlessly(peer, std::string(100'000, 'x'));
       }
     }},
    {"ImpossibleLengths",
     [](Peer& peer) {
       const char* const kLengths[] = {"99999999999999999999999", "-1", "0x10", "1, 2", "+3", " "};
       if (!peer.ReadRequest()) return;
       peer.Send("HTTP/1.1 200 OK\r\nContent-Length: " + std::string(kLengths[peer.index() % 6]) +
                 "\r\n\r\nabc");
       peer.ReadRequest();
     }},
    {"SlowDripWithoutEnd",
     [](Peer& peer) {
       if (peer.ReadRequest()) Drip(peer, "HTTP/1.1 200 OK\r\nA: " + std::string(1000, 'x'));
     }},
    {"SilenceAfterAccepting", [](Peer& peer) { peer.Wait(10s); }},
    {"NoAnswerButTheEnd",
     [](Peer& peer) {
       peer.ReadRequest();
       peer.EndSending();
       peer.ReadRequest();
     }},
    {"TheEndBeforeTheRequest",
     [](Peer& peer) {
       peer.EndSending();
       peer.Wait(10s);
     }},
    {"AnswersHalfClosed",
     [](Peer& peer) {
       if (peer.ReadRequest() && peer.Send(kEmptyAnswer)) peer.EndSending();
       peer.ReadRequest();
     },
     Outcome::kAny},
    {"ResetsAtEveryStage",
     [](Peer& peer) {
       const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345";
       const std::size_t kStages[] = {0, 0, 1, 12, 20, answer.size() - 1, answer.size()};
       const auto stage = static_cast<std::size_t>(peer.index()) % 7;
       if (stage > 0 && !peer.ReadRequest()) return;
       peer.Send(std::string_view(answer).substr(0, kStages[stage]));
       peer.Wait(std::chrono::milliseconds(peer.index() % 3));
       peer.Reset();
     }},
    {"GarbageBehindTheAnswer",
     [](Peer& peer) {
       while (peer.ReadRequest() && peer.Send(std::string(kEmptyAnswer) + Noise(9, 300))) {
       }
     },
     Outcome::kAny},
    {"GarbageAWhileAfterTheAnswer",
     [](Peer& peer) {
       while (peer.ReadRequest() && peer.Send(kEmptyAnswer) && peer.Wait(5ms)) {
         peer.Send(Noise(10, 300));
       }
     },
     Outcome::kAny},
    {"TwoAnswersForOne",
     [](Peer& peer) {
       while (peer.ReadRequest() && peer.Send(kEmptyAnswer) && peer.Send(kEmptyAnswer)) {
       }
     },
     Outcome::kAny},
    {"AnswersBeforeItIsAsked",
     [](Peer& peer) {
       peer.Send(kEmptyAnswer);
       peer.Wait(10s);
     },
     // Nobody can tell it from the answer to a request that was under way already.
     Outcome::kAny},
    {"AnotherOneEveryTime",
     [](Peer& peer) {
       std::mt19937 random(static_cast<unsigned>(peer.index()));
       while (peer.ReadRequest()) {
         const std::string answer =
             std::string(kEmptyAnswer) + kChunked + "5\r\nhello\r\n0\r\n\r\n";
         peer.Send(std::string_view(answer).substr(random() % 4 ? 0 : random() % answer.size(),
                                                   random() % answer.size()));
         if (random() % 4 == 0) return;
         if (random() % 4 == 0) return peer.Reset();
         if (random() % 4 == 0) peer.EndSending();
       }
     },
     Outcome::kAny},
};

class Hostile : public testing::TestWithParam<std::tuple<Case, bool>> {
 protected:
  // Through TLS if the test is about that.
  Endpoint EndpointOf(const ScriptServer& server) {
    Endpoint endpoint{.port = server.port()};
    if (std::get<1>(GetParam())) {
      files_.Write("ca.pem", identity_.certificate_pem());
      endpoint.tls = TlsOptions{.ca_file = files_.Path("ca.pem")};
    }
    return endpoint;
  }

  const TempTree files_;
  const Identity identity_ = Identity::SelfSigned({"127.0.0.1"});
};

TEST_P(Hostile, NeitherHangsNorBloatsNorConfusesTheEngine) {
  const auto& [row, tls] = GetParam();
  const ScriptServer server([&, script = row.script, tls = tls](Peer& peer) {
    if (!tls || StartTls(peer, identity_)) script(peer);
  });
  LoadEngine engine(EndpointOf(server), Get("/").Timeout(kTimeout), {.lead = 30ms});
  const std::int64_t before = ResidentBytes();
  const auto begin = steady_clock::now();
  const LoadResult result = engine.Run(Schedule(4, 20, 1s, 150ms));
  EXPECT_LT(steady_clock::now() - begin, 10s);
  EXPECT_LT(ResidentBytes() - before, kMostGrowth);
  ExpectSumsAgree(result);
  EXPECT_EQ(result.planned, 12);
  if (row.outcome == Outcome::kNoneOk) {
    EXPECT_EQ(result.ok, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Service, Hostile,
                         testing::Combine(testing::ValuesIn(kCases), testing::Bool()),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) +
                                  (std::get<1>(test.param) ? "Encrypted" : "");
                         });

TEST(HostileService, ThatReadsNothingOfALargeRequestTimesOut) {
  const ScriptServer server([](Peer& peer) { peer.Wait(10s); });
  LoadEngine engine({.port = server.port()},
                    Post("/", std::string(20 << 20, 'x')).Timeout(kTimeout), {.lead = 30ms});
  const LoadResult result = engine.Run(Schedule(2, 1, 1s, 1s));
  ExpectSumsAgree(result);
  EXPECT_EQ(result.timed_out, 2);
  EXPECT_EQ(result.records.at(0).sent_ns, -1);
}

TEST(HostileService, ThatRefusesALargeRequestBeforeItHasReadItIsHeard) {
  const ScriptServer server([](Peer& peer) {
    peer.Send("HTTP/1.1 413 Too large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    peer.Wait(1s);
  });
  LoadEngine engine({.port = server.port()}, Post("/", std::string(20 << 20, 'x')).Timeout(5s),
                    {.lead = 0ms});
  const LoadResult result = engine.Run(Schedule(1, 1, 1s, 1s));
  ExpectSumsAgree(result);
  EXPECT_EQ(result.failed, 1);
}

TEST(HostileService, ThatDripsItsAnswerIsWaitedFor) {
  const ScriptServer server([](Peer& peer) {
    while (peer.ReadRequest()) Drip(peer, "HTTP/1.1 204 \r\n\r\n");
  });
  LoadEngine engine({.port = server.port()}, Get("/"), {.lead = 30ms});
  const LoadResult result = engine.Run(Schedule(4, 1, 1s, 1s));
  EXPECT_EQ(result.ok, 4);
  EXPECT_GE(result.ServiceTimes().sorted().front(), Latency(150ms));
}

TEST(HostileService, ThatNeverAcceptsTimesOut) {
  const ScriptServer server([](Peer&) {}, 1h, 1);
  LoadEngine engine({.port = server.port()}, Get("/").Timeout(kTimeout), {.lead = 30ms});
  const LoadResult result = engine.Run(Schedule(8, 1, 1s, 1s));
  ExpectSumsAgree(result);
  EXPECT_EQ(result.timed_out, 8);
}

// A body that comes as fast as it is read must not take the engine's whole time.
TEST(HostileService, WithAHugeBodyDoesNotDelayTheOthers) {
  const ScriptServer server([](Peer& peer) {
    for (bool first = peer.index() == 0; peer.ReadRequest(); first = false) {
      if (first) {
        peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n");
        Endlessly(peer, std::string(100'000, 'x'));
      }
      if (!peer.Send(kEmptyAnswer)) return;
    }
  });
  LoadEngine engine({.port = server.port()}, Get("/").Timeout(2s), {.lead = 0ms});
  const LoadResult result = engine.Run(Schedule(1, 100, 1s, 800ms));
  ExpectSumsAgree(result);
  EXPECT_EQ(result.timed_out, 1);
  EXPECT_EQ(result.ok, 79);
  EXPECT_LT(result.StartLags().At(Percentile(50)), Latency(200ms));
}

}  // namespace
}  // namespace throttletest

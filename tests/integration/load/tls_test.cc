// HTTPS: whom the engine believes, what it says when it does not, and how an encrypted answer ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using testing::HasSubstr;
using testing::ThrowsMessage;
using testing_support::Identity;
using testing_support::kEmptyAnswer;
using testing_support::Peer;
using testing_support::ScriptServer;
using testing_support::StartTls;
using testing_support::TempTree;
using testing_support::TlsServerOptions;

class EngineTls : public testing::Test {
 protected:
  // A service that answers every request like this once the handshake is over.
  ScriptServer::Script Serve(const Identity& identity, TlsServerOptions options = {},
                             std::string answer = std::string(kEmptyAnswer)) {
    return [=](Peer& peer) {
      if (!StartTls(peer, identity, options)) return;
      while (peer.ReadRequest() && peer.Send(answer)) {
      }
    };
  }
  // Sends `answer` to the first request and closes.
  ScriptServer::Script ServeOnce(std::string answer, TlsServerOptions options = {}) {
    return [=, this](Peer& peer) {
      if (StartTls(peer, local_, options) && peer.ReadRequest()) peer.Send(answer);
    };
  }

  std::string File(const std::string& name, const std::string& text) {
    files_.Write(name, text);
    return files_.Path(name);
  }
  std::string Ca(const Identity& identity) { return File("ca.pem", identity.certificate_pem()); }

  LoadResult Drive(const ScriptServer& server, TlsOptions tls, const Schedule& schedule,
                   Request request = {}) {
    const Endpoint endpoint{.port = server.port(), .tls = std::move(tls)};
    LoadEngine engine(endpoint, std::move(request), {.lead = 50ms});
    return engine.Run(schedule);
  }
  LoadResult Once(const ScriptServer& server, TlsOptions tls, Request request = {}) {
    return Drive(server, std::move(tls), Schedule(1, 1, 1s, 1s), std::move(request));
  }
  // The one reason for which the one request failed.
  std::string FailureOf(const ScriptServer& server, TlsOptions tls) {
    const LoadResult result = Once(server, std::move(tls), Get("/").Timeout(5s));
    EXPECT_EQ(result.failed, 1);
    return result.failure_reasons.empty() ? "" : result.failure_reasons.begin()->first;
  }
  static std::string Address(const ScriptServer& server) {
    return "127.0.0.1:" + std::to_string(server.port());
  }

  TempTree files_;
  const Identity local_ = Identity::SelfSigned({"127.0.0.1", "localhost"});
};

TEST_F(EngineTls, ACertificateOfTheGivenCaIsBelieved) {
  const Identity ca = Identity::SelfSigned({});
  const ScriptServer server(Serve(ca.Issue({"127.0.0.1"})));
  const LoadResult result = Drive(server, {.ca_file = Ca(ca)}, Schedule(8, 10, 1s, 1s));
  EXPECT_EQ(result.ok, 80);
  // Kept alive: slow handshakes, as on a machine under load, lead to spare ones only at first.
  EXPECT_LT(server.accepted(), 80);
}

TEST_F(EngineTls, ASelfSignedCertificateIsItsOwnCa) {
  const ScriptServer server(Serve(local_));
  EXPECT_EQ(Once(server, {.ca_file = Ca(local_)}).ok, 1);
}

TEST_F(EngineTls, ASelfSignedCertificateIsNotTrustedByItself) {
  const ScriptServer server(Serve(local_));
  EXPECT_EQ(FailureOf(server, {}),
            "certificate of " + Address(server) +
                " is not trusted: self-signed certificate; give its CA with ca_file");
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(EngineTls, ACertificateOfAnotherCaIsNotTrusted) {
  const ScriptServer server(Serve(Identity::SelfSigned({}).Issue({"127.0.0.1"})));
  EXPECT_THAT(FailureOf(server, {.ca_file = Ca(local_)}),
              HasSubstr("is not trusted: unable to get local issuer certificate; give its CA"));
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(EngineTls, ACertificateForAnotherHostIsRefusedAndItsNamesAreSaid) {
  const Identity other = Identity::SelfSigned({"example.org", "192.0.2.7", "::1"});
  const ScriptServer server(Serve(other));
  EXPECT_EQ(FailureOf(server, {.ca_file = Ca(other)}),
            "certificate of " + Address(server) +
                " is for example.org, 192.0.2.7, ::1, not for 127.0.0.1; "
                "set server_name to a name in it");
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(EngineTls, TheServerNameSaysWhomTheCertificateMustBeFor) {
  const Identity other = Identity::SelfSigned({"example.org"});
  const ScriptServer server(Serve(other));
  EXPECT_EQ(Once(server, {.ca_file = Ca(other), .server_name = "example.org"}).ok, 1);
  EXPECT_THAT(FailureOf(server, {.ca_file = Ca(other), .server_name = "example.com"}),
              HasSubstr("is for example.org, not for example.com"));
}

TEST_F(EngineTls, ADateThatIsPastOrToComeIsSaid) {
  const Identity old = Identity::SelfSigned({"127.0.0.1"}, {.from_hours = -48, .to_hours = -24});
  const ScriptServer expired(Serve(old));
  EXPECT_THAT(FailureOf(expired, {.ca_file = Ca(old)}), HasSubstr(" has expired; renew it"));

  const Identity next = Identity::SelfSigned({"127.0.0.1"}, {.from_hours = 24, .to_hours = 48});
  const ScriptServer early(Serve(next));
  EXPECT_THAT(FailureOf(early, {.ca_file = Ca(next)}), HasSubstr(" is not valid yet"));
}

TEST_F(EngineTls, WithoutVerificationAnyCertificateWillDo) {
  const ScriptServer server(Serve(Identity::SelfSigned({"example.org"}, {-48, -24})));
  EXPECT_EQ(Once(server, {.verify = false}).ok, 1);
}

TEST_F(EngineTls, AServiceThatSpeaksPlainHttpIsRecognised) {
  const ScriptServer server([](Peer& peer) {
    peer.Send("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    peer.Wait(1s);
  });
  EXPECT_THAT(FailureOf(server, {.verify = false}), HasSubstr("does it speak plain HTTP there?"));
}

TEST_F(EngineTls, AServiceThatClosesInTheHandshakeIsAFailure) {
  const ScriptServer server([](Peer& peer) { peer.Wait(5ms); });
  EXPECT_THAT(FailureOf(server, {.verify = false}),
              testing::AnyOf("connection closed in the TLS handshake", "connection reset"));
}

TEST_F(EngineTls, AServiceThatSaysNothingInTheHandshakeTimesOut) {
  const ScriptServer server([](Peer& peer) { peer.Wait(10s); });
  const LoadResult result = Once(server, {}, Get("/").Timeout(300ms));
  EXPECT_EQ(result.timed_out, 1);
}

TEST_F(EngineTls, AnotherProtocolThanHttp1IsRefused) {
  const ScriptServer server(Serve(local_, {.protocol = "h2"}));
  // OpenSSL refuses what was not offered by itself.
  EXPECT_THAT(FailureOf(server, {.ca_file = Ca(local_)}), HasSubstr("TLS handshake with"));
}

TEST_F(EngineTls, AServiceThatWantsToKnowItsClientsIsShownACertificate) {
  const Identity clients = Identity::SelfSigned({});
  const Identity own = clients.Issue({"client"});
  const ScriptServer server(Serve(local_, {.clients = &clients}));
  const TlsOptions known{.ca_file = Ca(local_),
                         .cert_file = File("cert.pem", own.certificate_pem()),
                         .key_file = File("key.pem", own.key_pem())};
  EXPECT_EQ(Once(server, known).ok, 1);
  // With TLS 1.3 the refusal comes after the client's side of the handshake is over.
  EXPECT_THAT(FailureOf(server, {.ca_file = Ca(local_)}),
              testing::AnyOf(HasSubstr("certificate required"), "connection reset"));
}

TEST_F(EngineTls, ALargeBodyEachWayArrivesWhole) {
  const std::string body(3'000'000, 'b');
  const ScriptServer server(
      Serve(local_, {}, "HTTP/1.1 200 OK\r\nContent-Length: 3000002\r\n\r\n" + body + "ok"));
  const LoadResult result = Once(server, {.ca_file = Ca(local_)},
                                 Post("/", std::string(2'000'000, 'p')).ExpectBody("bok"));
  EXPECT_EQ(result.ok, 1) << testing::PrintToString(result.failure_reasons);
}

TEST_F(EngineTls, ManyAnswersInOneReadAreSeenWhole) {
  // Head and body in records of their own: what OpenSSL has buffered is not reported by the kernel.
  const ScriptServer server([this](Peer& peer) {
    if (!StartTls(peer, local_)) return;
    while (peer.ReadRequest()) {
      peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
      for (const char* byte : {"b", "o", "d", "y"}) peer.Send(byte);
    }
  });
  const LoadResult result = Drive(server, {.ca_file = Ca(local_)}, Schedule(4, 50, 1s, 400ms),
                                  Get("/").ExpectBody("body"));
  EXPECT_EQ(result.ok, 80);
}

TEST_F(EngineTls, ABodyUntilTheEndNeedsTheGoodbye) {
  const std::string answer = "HTTP/1.1 200 OK\r\n\r\nuntil the end";
  const ScriptServer polite(ServeOnce(answer));
  EXPECT_EQ(Once(polite, {.ca_file = Ca(local_)}).ok, 1);

  const ScriptServer rude(ServeOnce(answer, {.goodbye = false}));
  EXPECT_EQ(FailureOf(rude, {.ca_file = Ca(local_)}),
            "short body: cut after 13 bytes, without TLS's goodbye");
}

TEST_F(EngineTls, ABodyWithALengthNeedsNoGoodbye) {
  const ScriptServer rude(ServeOnce(std::string(kEmptyAnswer), {.goodbye = false}));
  const LoadResult result = Drive(rude, {.ca_file = Ca(local_)}, Schedule(1, 10, 1s, 300ms));
  EXPECT_EQ(result.ok, 3) << testing::PrintToString(result.failure_reasons);
}

TEST_F(EngineTls, AResetIsAReset) {
  const ScriptServer server([this](Peer& peer) {
    if (StartTls(peer, local_, {.goodbye = false}) && peer.ReadRequest()) peer.Reset();
  });
  EXPECT_EQ(FailureOf(server, {.ca_file = Ca(local_)}), "connection reset");
}

TEST_F(EngineTls, GarbageInsteadOfARecordIsAnError) {
  const ScriptServer server([this](Peer& peer) {
    if (!StartTls(peer, local_, {.goodbye = false}) || !peer.ReadRequest()) return;
    peer.Use(nullptr);
    peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    peer.Wait(1s);
  });
  EXPECT_THAT(FailureOf(server, {.ca_file = Ca(local_)}), HasSubstr("TLS error while reading: "));
}

TEST_F(EngineTls, AStaleConnectionIsReplaced) {
  const ScriptServer server([this](Peer& peer) {
    if (StartTls(peer, local_) && peer.ReadRequest() && peer.Send(kEmptyAnswer)) {
      peer.ReadRequest();
    }
  });
  const LoadResult result = Drive(server, {.ca_file = Ca(local_)}, Schedule(1, 10, 1s, 400ms));
  EXPECT_EQ(result.ok, 4);
  EXPECT_GT(result.retried, 0);
}

TEST_F(EngineTls, OptionsThatAreOfNoUseAreRefusedAtOnce) {
  const auto engine = [](TlsOptions tls) {
    return [tls] { LoadEngine({.port = 1, .tls = tls}, Get("/"), {}); };
  };
  EXPECT_THAT(engine({.ca_file = "/nowhere/ca.pem"}),
              ThrowsMessage<Error>(HasSubstr("ca_file \"/nowhere/ca.pem\" of the endpoint holds no "
                                             "certificate in PEM form: No such file")));
  const std::string garbage = File("garbage.pem", "not a certificate");
  EXPECT_THAT(engine({.ca_file = garbage}),
              ThrowsMessage<Error>(HasSubstr("holds no certificate")));
  EXPECT_THAT(engine({.cert_file = garbage}), ThrowsMessage<Error>(HasSubstr("needed together")));
  EXPECT_THAT(engine({.cert_file = garbage, .key_file = garbage}),
              ThrowsMessage<Error>(HasSubstr("cert_file")));
  const std::string cert = File("cert.pem", local_.certificate_pem());
  const std::string wrong = File("key.pem", Identity::SelfSigned({}).key_pem());
  EXPECT_THAT(engine({.cert_file = cert, .key_file = wrong}),
              ThrowsMessage<Error>(HasSubstr("is not the key to cert_file")));
  EXPECT_THAT(engine({.server_name = std::string(300, 'a')}),
              ThrowsMessage<Error>(HasSubstr("is not a host name")));
}

}  // namespace
}  // namespace throttletest

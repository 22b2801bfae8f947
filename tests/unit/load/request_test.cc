#include "throttletest/load/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "load/request_text.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;
using internal::IsExpected;
using internal::IsIdempotent;
using internal::RequestText;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

const Endpoint kEndpoint{.port = 8080};

TEST(RequestText, OfAGetIsWholeAndKeepsTheConnection) {
  EXPECT_EQ(RequestText(Get("/burn?ms=20"), kEndpoint),
            "GET /burn?ms=20 HTTP/1.1\r\n"
            "Host: 127.0.0.1:8080\r\n"
            "Connection: keep-alive\r\n"
            "User-Agent: throttletest\r\n"
            "\r\n");
}

TEST(RequestText, OfAPostHasTypeLengthAndBody) {
  const std::string text = RequestText(Post("/", "hello", "text/plain"), kEndpoint);
  EXPECT_THAT(text, HasSubstr("POST / HTTP/1.1\r\n"));
  EXPECT_THAT(text, HasSubstr("Content-Type: text/plain\r\n"));
  EXPECT_THAT(text, HasSubstr("Content-Length: 5\r\n\r\nhello"));
}

TEST(RequestText, OfAnEmptyPostStillHasALength) {
  EXPECT_THAT(RequestText(Post("/", ""), kEndpoint), HasSubstr("Content-Length: 0\r\n\r\n"));
}

TEST(RequestText, TheUsersHeadersTakeThePlaceOfTheEngines) {
  const std::string text = RequestText(
      Get("/").Header("host", "example.test").Header("CONNECTION", "close").Header("X-A", "1"),
      kEndpoint);
  EXPECT_THAT(text, HasSubstr("host: example.test\r\n"));
  EXPECT_THAT(text, HasSubstr("X-A: 1\r\n"));
  EXPECT_THAT(text, Not(HasSubstr("127.0.0.1")));
  EXPECT_THAT(text, Not(HasSubstr("keep-alive")));
}

TEST(RequestText, AnIpv6HostIsInBrackets) {
  EXPECT_THAT(RequestText(Get("/"), {.host = "::1", .port = 80}), HasSubstr("Host: [::1]:80\r\n"));
}

TEST(RequestText, ThroughAUnixSocketTheHostIsLocalhost) {
  EXPECT_THAT(RequestText(Get("/"), {.unix_path = "/run/a.sock"}),
              HasSubstr("Host: localhost\r\n"));
}

TEST(EndpointText, IsWhatPeopleWrite) {
  EXPECT_EQ(kEndpoint.ToString(), "127.0.0.1:8080");
  EXPECT_EQ((Endpoint{.host = "::1", .port = 1}.ToString()), "[::1]:1");
  EXPECT_EQ((Endpoint{.host = "[::1]", .port = 1}.ToString()), "[::1]:1");
  EXPECT_EQ((Endpoint{.unix_path = "@name"}.ToString()), "unix:@name");
}

TEST(RequestRules, AnAnswerToHeadHasNoBodyToLookInto) {
  Request request = Get("/").ExpectBody("ok");
  EXPECT_NO_THROW(Validate(request));
  request.method = "HEAD";
  EXPECT_THAT([&] { Validate(request); },
              ThrowsMessage<Error>(HasSubstr("expected body \"ok\" cannot come")));
}

TEST(RequestRules, IdempotentMethodsAreTheSafeOnesPutAndDelete) {
  for (const char* method : {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"}) {
    EXPECT_TRUE(IsIdempotent({.method = method})) << method;
  }
  for (const char* method : {"POST", "PATCH", "get"}) {
    EXPECT_FALSE(IsIdempotent({.method = method})) << method;
  }
}

TEST(RequestRules, EveryTwoHundredIsExpectedUnlessSaid) {
  EXPECT_TRUE(IsExpected(Get("/"), 204));
  EXPECT_FALSE(IsExpected(Get("/"), 304));
  EXPECT_FALSE(IsExpected(Get("/"), 500));
  const Request either = Get("/").ExpectStatus(429).ExpectStatus(200);
  EXPECT_TRUE(IsExpected(either, 429));
  EXPECT_FALSE(IsExpected(either, 201));
}

TEST(RequestSetters, ChainOnValuesAndOnReferences) {
  Request request = Get("/").Timeout(2s);
  request.Header("A", "b").ExpectStatus(200);
  EXPECT_EQ(request.timeout, 2s);
  EXPECT_EQ(request.headers.size(), 1u);
  EXPECT_EQ(request.expected_statuses.size(), 1u);
}

TEST(RequestValidation, RefusesTargetsThatWouldSplitTheRequest) {
  EXPECT_THAT([] { Get("burn"); }, ThrowsMessage<Error>(HasSubstr("\"burn\" must start with '/'")));
  EXPECT_THROW(Get(""), Error);
  EXPECT_THAT([] { Get("/a b"); }, ThrowsMessage<Error>(HasSubstr("%20")));
  EXPECT_THAT([] { Get("/a\r\nX: y"); }, ThrowsMessage<Error>(HasSubstr("\\r\\n")));
  EXPECT_THROW(Post("x", ""), Error);
  EXPECT_THROW(Validate({.target = std::string("/\0", 2)}), Error);
}

TEST(RequestValidation, RefusesBadMethodsHeadersStatusesAndTimeouts) {
  EXPECT_THAT([] { Validate({.method = "GE T"}); }, ThrowsMessage<Error>(HasSubstr("\"GE T\"")));
  EXPECT_THROW(Validate({.method = ""}), Error);
  EXPECT_THROW(Validate({.method = "CONNECT"}), Error);
  EXPECT_THAT([] { Validate(Get("/").Header("a:", "b")); },
              ThrowsMessage<Error>(HasSubstr("header name \"a:\"")));
  EXPECT_THAT([] { Validate(Get("/").Header("a", "b\nc: d")); },
              ThrowsMessage<Error>(HasSubstr("of header a")));
  EXPECT_THAT([] { Validate(Get("/").Header("Content-Length", "5")); },
              ThrowsMessage<Error>(HasSubstr("engine's own")));
  EXPECT_THAT([] { Validate(Get("/").ExpectStatus(100)); },
              ThrowsMessage<Error>(HasSubstr("200..599")));
  EXPECT_THAT([] { Validate(Get("/").Timeout(0s)); }, ThrowsMessage<Error>(HasSubstr("timeout")));
  EXPECT_NO_THROW(Validate(Get("/").Header("X-Tab", "a\tb").ExpectStatus(503)));
}

}  // namespace
}  // namespace throttletest

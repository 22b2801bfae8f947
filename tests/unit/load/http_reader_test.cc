#include "load/http_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>

namespace throttletest::internal {
namespace {

using Step = HttpReader::Step;
using testing::HasSubstr;
using testing::StartsWith;

// Shared by all readers, as those of an engine's connections share theirs.
std::array<char, 4096> scratch;

// Gives the reader `text`, at most `piece` bytes at a time, and returns the last step.
Step Feed(HttpReader& reader, std::string_view text, std::size_t piece = 1 << 20) {
  Step step = Step::kNeedsMore;
  while (!text.empty() && step == Step::kNeedsMore) {
    const std::size_t n = std::min({piece, text.size(), reader.room_size()});
    std::memcpy(reader.room(), text.data(), n);
    text.remove_prefix(n);
    step = reader.Took(n);
  }
  return step;
}

struct AnswerCase {
  const char* name;
  const char* text;
  int status;
  bool reusable;
};

class WholeAnswer : public testing::TestWithParam<AnswerCase> {};

TEST_P(WholeAnswer, IsReadInOnePieceAndByteByByte) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1} << 20}) {
    HttpReader reader(scratch);
    reader.ExpectAnswer(false);
    EXPECT_EQ(Feed(reader, GetParam().text, piece), Step::kAnswered);
    EXPECT_EQ(reader.status(), GetParam().status);
    EXPECT_EQ(reader.reusable(), GetParam().reusable);
    EXPECT_FALSE(reader.expects_answer());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Http, WholeAnswer,
    testing::Values(
        AnswerCase{"Length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, true},
        AnswerCase{"EmptyBody", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, true},
        AnswerCase{"Chunked",
                   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "5;ext=1\r\nhello\r\n1\r\n!\r\n0\r\n\r\n",
                   200, true},
        AnswerCase{"ChunkedWithTrailer",
                   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n",
                   200, true},
        AnswerCase{"NoContent", "HTTP/1.1 204 No Content\r\n\r\n", 204, true},
        AnswerCase{"NotModified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304,
                   true},
        AnswerCase{"Close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
                   200, false},
        AnswerCase{"OldVersion", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 200, false},
        AnswerCase{"OldVersionKeptAlive",
                   "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", 200,
                   true},
        AnswerCase{"Interim",
                   "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nA: b\r\n\r\n"
                   "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
                   500, true},
        AnswerCase{"NoReason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", 200, true}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(HttpReader, BytesAfterTheAnswerMakeItNotReusable) {
  HttpReader reader(scratch);
  reader.ExpectAnswer(false);
  EXPECT_EQ(Feed(reader, "HTTP/1.1 204 x\r\n\r\nmore"), Step::kAnswered);
  EXPECT_FALSE(reader.reusable());
}

TEST(HttpReader, TheAnswerToHeadHasNoBody) {
  HttpReader reader(scratch);
  reader.ExpectAnswer(true);
  EXPECT_EQ(Feed(reader, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"), Step::kAnswered);
  EXPECT_TRUE(reader.reusable());
}

TEST(HttpReader, ReadsOneAnswerAfterAnother) {
  HttpReader reader(scratch);
  for (const int status : {200, 500, 201}) {
    reader.ExpectAnswer(false);
    EXPECT_FALSE(reader.answer_begun());
    EXPECT_EQ(
        Feed(reader, "HTTP/1.1 " + std::to_string(status) + " x\r\nContent-Length: 2\r\n\r\nab"),
        Step::kAnswered);
    EXPECT_EQ(reader.status(), status);
  }
}

TEST(HttpReader, AfterSwitchingProtocolsTheConnectionIsOfNoUse) {
  HttpReader reader(scratch);
  reader.ExpectAnswer(false);
  EXPECT_EQ(Feed(reader, "HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
            Step::kAnswered);
  EXPECT_EQ(reader.status(), 101);
  EXPECT_FALSE(reader.reusable());
}

TEST(HttpReader, InterimAnswersHaveALimit) {
  const std::string interim = "HTTP/1.1 102 Processing\r\n\r\n";
  std::string many;
  for (int i = 0; i < 100; ++i) many += interim;
  HttpReader patient(scratch);
  patient.ExpectAnswer(false);
  EXPECT_EQ(Feed(patient, many + "HTTP/1.1 204 x\r\n\r\n"), Step::kAnswered);
  // The next answer may have as many again.
  patient.ExpectAnswer(false);
  EXPECT_EQ(Feed(patient, many + "HTTP/1.1 204 x\r\n\r\n"), Step::kAnswered);

  HttpReader reader(scratch);
  reader.ExpectAnswer(false);
  EXPECT_EQ(Feed(reader, many + interim), Step::kBroken);
  EXPECT_EQ(reader.fault().reason, "malformed answer: more than 100 before the final one");
}

TEST(HttpReader, LooksIntoTheBodyHoweverItIsFramed) {
  for (const char* text : {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
                           "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
                           "\r\nhello",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                           "2\r\nhe\r\n3;llo\r\nllo\r\n0\r\n\r\n"}) {
    for (const std::size_t piece : {1U, 3U, 1000U}) {
      HttpReader reader(scratch);
      reader.ExpectAnswer(false, "hello");
      EXPECT_EQ(Feed(reader, text, piece), Step::kAnswered);
      EXPECT_EQ(reader.body_fault(), "");
      reader.ExpectAnswer(false, "hallo");
      EXPECT_EQ(Feed(reader, text, piece), Step::kAnswered);
      EXPECT_EQ(reader.body_fault(), "body does not contain \"hallo\": \"hello\"");
    }
  }
}

TEST(HttpReader, AHeaderIsNotTheBody) {
  HttpReader reader(scratch);
  reader.ExpectAnswer(false, "hello");
  EXPECT_EQ(Feed(reader, "HTTP/1.1 200 hello\r\nA: hello\r\nContent-Length: 0\r\n\r\n"),
            Step::kAnswered);
  EXPECT_EQ(reader.body_fault(), "body does not contain \"hello\": it is empty");
}

TEST(HttpReader, ABodyUntilTheEndIsShortWhenTheEndIsACut) {
  HttpReader reader(scratch);
  reader.ExpectAnswer(false);
  EXPECT_EQ(Feed(reader, "HTTP/1.1 200 OK\r\n\r\nsome"), Step::kNeedsMore);
  EXPECT_EQ(reader.TookEnd(true), Step::kBroken);
  EXPECT_EQ(reader.fault().reason, "short body: cut after 4 bytes, without TLS's goodbye");
}

TEST(HttpReader, ABodyUntilTheEndEndsThere) {
  HttpReader reader(scratch);
  reader.ExpectAnswer(false);
  EXPECT_EQ(Feed(reader, "HTTP/1.1 200 OK\r\n\r\nsome"), Step::kNeedsMore);
  EXPECT_EQ(reader.TookEnd(), Step::kAnswered);
  EXPECT_FALSE(reader.reusable());
}

struct CutCase {
  const char* name;
  const char* text;
  const char* reason;
  bool closed;
};

class CutAnswer : public testing::TestWithParam<CutCase> {};

TEST_P(CutAnswer, SaysWhereItWasCut) {
  HttpReader reader(scratch);
  reader.ExpectAnswer(false);
  EXPECT_EQ(Feed(reader, GetParam().text), Step::kNeedsMore);
  EXPECT_EQ(reader.TookEnd(), Step::kBroken);
  EXPECT_EQ(reader.fault().reason, GetParam().reason);
  EXPECT_EQ(reader.fault().closed, GetParam().closed);
}

INSTANTIATE_TEST_SUITE_P(
    Http, CutAnswer,
    testing::Values(CutCase{"Nothing", "", "connection closed without an answer", true},
                    CutCase{"Header", "HTTP/1.1 200 OK\r\nConte",
                            "malformed answer: closed inside the header", true},
                    CutCase{"Length", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345",
                            "short body: 5 of 10 bytes", false},
                    CutCase{"Chunk",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
                            "short body: closed after 3 bytes, without the last chunk", false},
                    CutCase{"LastChunk",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
                            "short body: closed after 5 bytes, without the last chunk", false}),
    [](const auto& row) { return std::string(row.param.name); });

class MalformedAnswer : public testing::TestWithParam<const char*> {};

TEST_P(MalformedAnswer, IsBroken) {
  HttpReader reader(scratch);
  reader.ExpectAnswer(false);
  EXPECT_EQ(Feed(reader, GetParam()), Step::kBroken);
  EXPECT_THAT(reader.fault().reason, StartsWith("malformed answer: "));
  EXPECT_FALSE(reader.fault().closed);
  EXPECT_TRUE(reader.answer_begun());
}

INSTANTIATE_TEST_SUITE_P(
    Http, MalformedAnswer,
    testing::Values("SSH-2.0-OpenSSH_9.2\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
                    "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"));

TEST(HttpReader, AnEndlessHeaderIsRefusedWithinItsLimit) {
  HttpReader reader(scratch);
  reader.ExpectAnswer(false);
  std::string header = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 200; ++i) header += "X: " + std::string(1000, 'x') + "\r\n";
  EXPECT_EQ(Feed(reader, header), Step::kBroken);
  EXPECT_THAT(reader.fault().reason, HasSubstr("header"));
}

TEST(HttpReader, AnEndlessChunkLineIsRefused) {
  HttpReader reader(scratch);
  reader.ExpectAnswer(false);
  const std::string text =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;" + std::string(200'000, 'x');
  EXPECT_EQ(Feed(reader, text), Step::kBroken);
  EXPECT_THAT(reader.fault().reason, StartsWith("malformed answer"));
}

TEST(HttpReader, ALargeBodyIsCountedAndDropped) {
  HttpReader reader(scratch);
  reader.ExpectAnswer(false);
  const std::string text =
      "HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\n\r\n" + std::string(20'000'000, 'x');
  EXPECT_EQ(Feed(reader, text), Step::kAnswered);
  EXPECT_LT(reader.room_size(), 100'000u);
}

TEST(HttpReader, BytesWithoutARequestBreakTheConnection) {
  HttpReader reader(scratch);
  EXPECT_EQ(Feed(reader, "HTTP/1.1 408 Request Timeout\r\n\r\n"), Step::kBroken);
  EXPECT_TRUE(reader.fault().closed);
}

}  // namespace
}  // namespace throttletest::internal

#include "load/body_check.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace throttletest::internal {
namespace {

// What a check for `text` says of `body` when it comes in pieces of this size.
std::string FaultOf(std::string_view text, std::string_view body, std::size_t piece) {
  BodyCheck check;
  check.Begin(text);
  for (; !body.empty(); body.remove_prefix(std::min(piece, body.size()))) {
    check.Take(body.substr(0, piece));
  }
  return check.Fault();
}

TEST(BodyCheck, FindsTheTextWhereverItIsAndHoweverItIsCut) {
  for (const std::string_view body :
       {"needle", "needle and more", "hay needle", "nneedle", "neneedle", "needlneedle hay",
        "nee needneedl nneeedneedle"}) {
    for (std::size_t piece = 1; piece <= body.size(); ++piece) {
      EXPECT_EQ(FaultOf("needle", body, piece), "") << body << " in pieces of " << piece;
    }
  }
}

TEST(BodyCheck, DoesNotFindWhatIsNotThere) {
  for (const std::string_view body : {"needl", "eedle", "needl e", "nedle", "need le needl"}) {
    for (std::size_t piece = 1; piece <= body.size(); ++piece) {
      EXPECT_NE(FaultOf("needle", body, piece), "") << body << " in pieces of " << piece;
    }
  }
}

TEST(BodyCheck, OneCharacterIsATextToo) {
  EXPECT_EQ(FaultOf("x", "abcx", 1), "");
  EXPECT_EQ(FaultOf("x", "abc", 1), "body does not contain \"x\": \"abc\"");
}

TEST(BodyCheck, NoTextIsAlwaysThere) {
  EXPECT_EQ(FaultOf("", "", 1), "");
  EXPECT_EQ(FaultOf("", "abc", 1), "");
}

TEST(BodyCheck, SaysWhatTheBodyIsInstead) {
  EXPECT_EQ(FaultOf("ok", "", 1), "body does not contain \"ok\": it is empty");
  EXPECT_EQ(FaultOf("ok", "<h1>\"Busy\"</h1>\n\x01\xff", 3),
            "body does not contain \"ok\": \"<h1>\\\"Busy\\\"</h1>\\n\\x01\\xff\"");
  EXPECT_EQ(FaultOf("ok", std::string(80, 'x'), 7),
            "body does not contain \"ok\": \"" + std::string(80, 'x') + "\"");
  EXPECT_EQ(FaultOf("ok", std::string(5000, 'x'), 7),
            "body does not contain \"ok\": \"" + std::string(80, 'x') + "\"... (5000 bytes)");
}

TEST(BodyCheck, BeginsAnewWithEveryBody) {
  BodyCheck check;
  check.Begin("ab");
  check.Take("a");
  check.Begin("ab");
  check.Take("b");
  EXPECT_EQ(check.Fault(), "body does not contain \"ab\": \"b\"");
}

}  // namespace
}  // namespace throttletest::internal

#include "service/log_tail.h"

#include <gtest/gtest.h>

namespace throttletest::internal {
namespace {

TEST(TailBuffer, KeepsEverythingThatFits) {
  TailBuffer tail(16);
  tail.Append("one\n");
  tail.Append("two\n");
  EXPECT_EQ(tail.Text(), "one\ntwo\n");
}

TEST(TailBuffer, DropsFromTheFrontAtALineStart) {
  TailBuffer tail(8);
  tail.Append("aaaa\nbbbb\ncc\n");
  EXPECT_EQ(tail.Text(), "cc\n") << "half of the second line would not fit";
}

TEST(TailBuffer, ALineLongerThanTheBufferIsCut) {
  TailBuffer tail(4);
  tail.Append("0123456789");
  EXPECT_EQ(tail.Text(), "6789");
}

TEST(TailBuffer, StaysBounded) {
  TailBuffer tail(64);
  for (int i = 0; i < 1000; ++i) tail.Append("a line of text\n");
  EXPECT_LE(tail.Text().size(), 64U);
  EXPECT_TRUE(tail.Text().ends_with("a line of text\n"));
}

}  // namespace
}  // namespace throttletest::internal

#include "throttletest/base/duration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using namespace std::chrono_literals;

TEST(Duration, ReadsNumbersWithUnits) {
  EXPECT_EQ(ParseDuration("20s"), 20s);
  EXPECT_EQ(ParseDuration("150ms"), 150ms);
  EXPECT_EQ(ParseDuration("2.5ms"), 2500us);
  EXPECT_EQ(ParseDuration("100us"), 100us);
  EXPECT_EQ(ParseDuration("7ns"), 7ns);
  EXPECT_EQ(ParseDuration("2m"), 120s);
  EXPECT_EQ(ParseDuration(" 3 s "), 3s);
  EXPECT_EQ(ParseDuration("0s"), 0s);
}

TEST(Duration, AsksForAMissingUnit) {
  try {
    ParseDuration("100");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "duration \"100\" has no unit: write 100ms or 100s");
  }
}

TEST(Duration, RefusesOtherTextsQuotingThem) {
  for (const char* text : {"", "s", "abc", "1h", "nans", "-3s", "1e3ms", "99999999999999999s"}) {
    try {
      ParseDuration(text);
      ADD_FAILURE() << "accepted \"" << text << '"';
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr(std::string("\"") + text + '"'));
    }
  }
}

TEST(Duration, PrintsAsciiUnits) {
  EXPECT_EQ(ToString(150ms), "150 ms");
  EXPECT_EQ(ToString(2500ms), "2.5 s");
  EXPECT_EQ(ToString(85us), "85 us");
  EXPECT_EQ(ToString(5ns), "5 ns");
  EXPECT_EQ(ToString(0ns), "0 s");
  EXPECT_EQ(ToMilliseconds(285'400us), "285.4 ms");
}

}  // namespace
}  // namespace throttletest

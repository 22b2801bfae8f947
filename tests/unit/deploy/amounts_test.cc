#include "deploy/amounts.h"

#include <gtest/gtest.h>

namespace throttletest::internal {
namespace {

std::int64_t Milli(std::string_view text) { return Quantity::Parse(text).value().Milli().value(); }
std::int64_t Units(std::string_view text) { return Quantity::Parse(text).value().Units().value(); }
std::int64_t ComposeBytes(std::string_view text) { return ParseComposeBytes(text).value().bytes(); }

TEST(ParseCpus, ReadsNumbersFromZero) {
  EXPECT_EQ(ParseCpus("0.5"), 0.5);
  EXPECT_EQ(ParseCpus(".25"), 0.25);
  EXPECT_EQ(ParseCpus("2"), 2.0);
  EXPECT_EQ(ParseCpus("1e0"), 1.0);
  EXPECT_EQ(ParseCpus("0"), 0.0);
  for (const char* bad :
       {"", "fast", "500m", "-1", "nan", "inf", "0x2", "1 ", " 1", "1,5", "1e7"}) {
    EXPECT_FALSE(ParseCpus(bad)) << bad;
  }
}

TEST(ParseComposeBytes, TakesEveryUnitAsAPowerOf1024) {
  EXPECT_EQ(ComposeBytes("1073741824"), 1 << 30);
  EXPECT_EQ(ComposeBytes("512m"), 512 << 20);
  EXPECT_EQ(ComposeBytes("512M"), 512 << 20);
  EXPECT_EQ(ComposeBytes("512mb"), 512 << 20);
  EXPECT_EQ(ComposeBytes("512MiB"), 512 << 20);
  EXPECT_EQ(ComposeBytes("1.5 GB"), 3LL << 29);
  EXPECT_EQ(ComposeBytes("64k"), 64 << 10);
  EXPECT_EQ(ComposeBytes("2t"), 2LL << 40);
  EXPECT_EQ(ComposeBytes("100b"), 100);
  EXPECT_EQ(ComposeBytes("0"), 0);
  // More than a double holds exactly.
  EXPECT_EQ(ComposeBytes("9007199254740993"), 9007199254740993);
  for (const char* bad : {"", "m", "-1", "1.m", ".5m", "12x", "1 kk", "1e3", "9999999p"}) {
    EXPECT_FALSE(ParseComposeBytes(bad)) << bad;
  }
}

TEST(Quantity, ReadsCpusInThousandths) {
  EXPECT_EQ(Milli("1750m"), 1750);
  EXPECT_EQ(Milli("1.75"), 1750);
  EXPECT_EQ(Milli("2"), 2000);
  EXPECT_EQ(Milli("+2"), 2000);
  EXPECT_EQ(Milli("1e3"), 1'000'000);
  EXPECT_EQ(Milli("1E-1"), 100);
  EXPECT_EQ(Milli("0"), 0);
  EXPECT_EQ(Milli(".5"), 500);
  EXPECT_EQ(Milli("2k"), 2'000'000);
}

TEST(Quantity, RoundsUpWhatIsFiner) {
  EXPECT_EQ(Milli("500u"), 1);
  EXPECT_EQ(Milli("1n"), 1);
  EXPECT_EQ(Milli("0.1255"), 126);
  EXPECT_EQ(Milli("100.0001m"), 101);
  EXPECT_TRUE(Quantity::Parse("0.1255")->FinerThan(3));
  EXPECT_FALSE(Quantity::Parse("0.125")->FinerThan(3));
  EXPECT_FALSE(Quantity::Parse("1000u")->FinerThan(3));
}

TEST(Quantity, ReadsMemoryInBytes) {
  EXPECT_EQ(Units("129M"), 129'000'000);
  EXPECT_EQ(Units("123Mi"), 123 << 20);
  EXPECT_EQ(Units("129e6"), 129'000'000);
  EXPECT_EQ(Units("1Gi"), 1 << 30);
  EXPECT_EQ(Units("1.5Gi"), 3LL << 29);
  EXPECT_EQ(Units("1k"), 1000);
  EXPECT_EQ(Units("128974848000m"), 128'974'848);
  EXPECT_EQ(Units("7Ei"), 7LL << 60);
  EXPECT_EQ(Units("1E"), 1'000'000'000'000'000'000);
}

TEST(Quantity, IsAbsentForWhatIsNone) {
  for (const char* bad : {"", ".", "m", "1.2.3", "500 m", "1K", "1ki", "1mi", "0x10", "1e", "1e99",
                          "half", "1m5", "99999999999999999999"}) {
    EXPECT_FALSE(Quantity::Parse(bad)) << bad;
  }
  EXPECT_TRUE(Quantity::Parse("-1")->negative());
  EXPECT_FALSE(Quantity::Parse("-0")->negative());
  EXPECT_FALSE(Quantity::Parse("9Ei")->Units());
  EXPECT_FALSE(Quantity::Parse("10E")->Units());
}

TEST(QuotaOfMilliCpus, IsThousandthsOf100MillisecondsAndNeverBelowTheKernelsFloor) {
  EXPECT_EQ(QuotaOfMilliCpus(1750), 175'000);
  EXPECT_EQ(QuotaOfMilliCpus(126), 12'600);
  EXPECT_EQ(QuotaOfMilliCpus(10), 1'000);
  EXPECT_EQ(QuotaOfMilliCpus(9), 1'000);
  EXPECT_EQ(QuotaOfMilliCpus(1), 1'000);
}

}  // namespace
}  // namespace throttletest::internal

#include "cgroup/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "error_text.h"

namespace throttletest::internal {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kV1 = CgroupVersion::kV1;
constexpr auto kV2 = CgroupVersion::kV2;

CpuStat Stat(CgroupVersion version, std::string_view text) {
  return ParseCpuStat(version, text, "cpu.stat");
}

std::string StatError(std::string_view text) {
  return ErrorText(ErrorCode::kParse, [&] { Stat(kV2, text); });
}

TEST(CpuStatParse, C059ReadsKeysInAnyOrderAndIgnoresOthers) {
  const std::string text =
      "usage_usec 1\nuser_usec 1\nsystem_usec 0\nnice_usec 0\ncore_sched.force_idle_usec 0\n"
      "nr_periods 5\nnr_throttled 2\nthrottled_usec 900\nnr_bursts 0\nburst_usec 0\n";
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    lines.push_back(text.substr(at, text.find('\n', at) + 1 - at));
  }
  std::string reversed;
  std::for_each(lines.rbegin(), lines.rend(), [&](const auto& line) { reversed += line; });
  for (const std::string& order : {text, reversed}) {
    const CpuStat stat = Stat(kV2, order);
    EXPECT_EQ(stat.usage, 1us);
    ASSERT_TRUE(stat.counters);
    EXPECT_EQ(*stat.counters, (BandwidthCounters{.periods = 5,
                                                 .throttled_periods = 2,
                                                 .throttled_time = 900us,
                                                 .bursts = 0,
                                                 .burst_time = 0ns}));
  }
}

TEST(CpuStatParse, C023ReadsV2UsageInMicroseconds) {
  EXPECT_EQ(Stat(kV2, "usage_usec 5000000\n").usage, 5s);
}

TEST(CpuStatParse, C026KeepsASecondOfUseASecond) {
  EXPECT_EQ(*Stat(kV2, "usage_usec 3000000\n").usage - *Stat(kV2, "usage_usec 2000000\n").usage,
            1s);
}

TEST(CpuStatParse, C025ReadsV2ThrottledTime) {
  const CpuStat stat = Stat(kV2, "nr_periods 9\nnr_throttled 7\nthrottled_usec 91000\n");
  EXPECT_EQ(stat.counters->throttled_time, 91ms);
  EXPECT_FALSE(stat.counters->bursts) << "absent keys are absent, not 0";
  EXPECT_FALSE(stat.counters->burst_time);
}

TEST(CpuStatParse, C028ReadsV1ThrottledTimeInNanoseconds) {
  const CpuStat stat =
      Stat(kV1, "nr_periods 9\nnr_throttled 7\nthrottled_time 2000000000\nwait_sum 5\n");
  EXPECT_EQ(stat.counters->throttled_time, 2s);
  EXPECT_FALSE(stat.usage);
}

TEST(CpuStatParse, C058FindsNoCountersInTheV2Root) {
  const CpuStat stat = Stat(kV2, "usage_usec 3\nuser_usec 2\nsystem_usec 1\n");
  EXPECT_FALSE(stat.counters);
  EXPECT_FALSE(stat.held_time);
  EXPECT_EQ(stat.system, 1us);
}

TEST(CpuStatParse, ReadsTheLocalFileAsTimeHeld) {
  EXPECT_EQ(Stat(kV2, "throttled_usec 250000\n").held_time, 250ms);
  EXPECT_EQ(Stat(kV1, "throttled_time 250000\n").held_time, 250us);
  EXPECT_FALSE(Stat(kV2, "").held_time) << "the controller is off: the file is empty";
}

TEST(CpuStatParse, C060AcceptsCrlfAndAMissingFinalNewline) {
  EXPECT_EQ(Stat(kV2, "usage_usec 1\r\nuser_usec 2\r\n").user, 2us);
  EXPECT_EQ(Stat(kV2, "usage_usec 1\nuser_usec 2").user, 2us);
}

TEST(CpuStatParse, C060RefusesMalformedLinesQuotingThem) {
  EXPECT_EQ(StatError("usage_usec 1\nusage_usec 2\n"),
            "cpu.stat: line \"usage_usec 2\": a duplicate key");
  EXPECT_EQ(StatError("nr_periods\n"), "cpu.stat: line \"nr_periods\": a key without a value");
  EXPECT_EQ(StatError("nr_periods x\n"),
            "cpu.stat: line \"nr_periods x\": \"x\" is not a number in range");
  EXPECT_EQ(StatError("usage_usec 1\nnr_thro"),
            "cpu.stat: line \"nr_thro\": a key without a value");
  EXPECT_THAT(StatError("usage_usec 18446744073709551615\n"),
              HasSubstr("line \"usage_usec 18446744073709551615\": "));
  EXPECT_THAT(StatError("usage_usec 9223372036854775807\n"), HasSubstr("out of range"));
  EXPECT_THAT(StatError("usage_usec -1\n"), HasSubstr("out of range"));
  EXPECT_THAT(StatError("usage_usec 1 2\n"), HasSubstr("\"1 2\" is not a number"));
}

TEST(CpuStatParse, RefusesHalfASetOfCounters) {
  EXPECT_THAT(StatError("nr_periods 1\n"), HasSubstr("nr_throttled is missing"));
  EXPECT_THAT(StatError("nr_throttled 1\n"), HasSubstr("nr_periods is missing"));
  EXPECT_THAT(StatError("nr_periods 1\nnr_throttled 1\n"), HasSubstr("throttled time is missing"));
}

TEST(CpuMaxParse, C033ReadsTheWordMax) {
  const CpuBandwidth bandwidth = ParseCpuMax("max 100000\n", "cpu.max");
  EXPECT_FALSE(bandwidth.limited());
  EXPECT_EQ(bandwidth.period, 100ms);
}

TEST(CpuMaxParse, C035IgnoresFurtherFieldsWithANote) {
  std::vector<std::string> notes;
  EXPECT_FALSE(ParseCpuMax("max 100000 0\n", "/a/cpu.max", &notes).limited());
  EXPECT_EQ(ParseCpuMax("50000 100000 0\n", "/a/cpu.max", &notes).cpus(), 0.5);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("\"max 100000 0\""),
                                 "/a/cpu.max: ignored the fields after the period in "
                                 "\"50000 100000 0\""));
  notes.clear();
  ParseCpuMax("50000 100000\n", "/a/cpu.max", &notes);
  EXPECT_THAT(notes, IsEmpty());
}

TEST(CpuMaxParse, C036RefusesAPeriodOfZero) {
  EXPECT_EQ(ErrorText(ErrorCode::kParse, [] { ParseCpuMax("50000 0", "/a/cpu.max"); }),
            "/a/cpu.max: line \"50000 0\": the period is not above 0");
  EXPECT_EQ(ErrorText(ErrorCode::kParse, [] { ParseCfsPeriod("0\n", "cpu.cfs_period_us"); }),
            "cpu.cfs_period_us: line \"0\": the period is not above 0");
}

TEST(CpuMaxParse, RefusesWhatIsNoLimit) {
  for (const char* text : {"", "\n", "max", "50000", "-1 100000", "0 100000", "x 100000", "5 y",
                           "max -5", "1.5 100000", "Max 100000"}) {
    EXPECT_THAT(ErrorText(ErrorCode::kParse, [&] { ParseCpuMax(text, "cpu.max"); }),
                HasSubstr("cpu.max: "))
        << text;
  }
}

TEST(CfsQuotaParse, C038ReadsNegativeAsUnlimited) {
  EXPECT_EQ(ParseCfsQuota("-1\n", "f"), std::nullopt);
  EXPECT_EQ(ParseCfsQuota("50000\n", "f"), 50ms);
  EXPECT_THAT(ErrorText(ErrorCode::kParse, [] { ParseCfsQuota("7e4\n", "f"); }), HasSubstr("7e4"));
  EXPECT_THAT(ErrorText(ErrorCode::kParse, [] { ParseCfsQuota("\n", "f"); }), HasSubstr("empty"));
  EXPECT_THAT(ErrorText(ErrorCode::kParse, [] { ParseCfsQuota("0\n", "f"); }),
              HasSubstr("not above 0"));
}

TEST(MemoryParse, ReadsEveryWayToSayUnlimited) {
  EXPECT_EQ(ParseMemoryLimit("max\n", "f"), ByteSize::Unlimited());
  EXPECT_EQ(ParseMemoryLimit("9223372036854771712\n", "f"), ByteSize::Unlimited());
  EXPECT_EQ(ParseMemoryLimit("9223372036854710272\n", "f"), ByteSize::Unlimited());  // 64 KiB pages
  EXPECT_EQ(ParseMemoryLimit("18446744073709551615\n", "f"), ByteSize::Unlimited());
  EXPECT_EQ(ParseMemoryLimit("67108864\n", "f"), 64_MiB);
  EXPECT_EQ(ParseMemoryLimit("0\n", "f"), ByteSize(0));
  EXPECT_THAT(ErrorText(ErrorCode::kParse, [] { ParseMemoryLimit("-1\n", "f"); }),
              HasSubstr("line \"-1\""));
}

TEST(MemoryParse, FindsOomKills) {
  EXPECT_EQ(ParseFlatKey("low 0\noom 3\noom_kill 2\noom_group_kill 9\n", "f", "oom_kill"), 2);
  EXPECT_EQ(ParseFlatKey("oom_kill_disable 1\nunder_oom 0\n", "f", "oom_kill"), std::nullopt);
  EXPECT_THAT(ErrorText(ErrorCode::kParse,
                        [] { ParseFlatKey("oom_kill 1\noom_kill 1\n", "f", "oom_kill"); }),
              HasSubstr("duplicate"));
}

TEST(MemoryParse, ReadsCounts) {
  EXPECT_EQ(ParseCount("12582912\n", "f"), 12582912);
  EXPECT_THAT(ErrorText(ErrorCode::kParse, [] { ParseCount("-4\n", "f"); }), HasSubstr("negative"));
  EXPECT_THAT(ErrorText(ErrorCode::kParse, [] { ParseCount("1k\n", "f"); }), HasSubstr("\"1k\""));
}

TEST(PressureParse, ReadsTotalsAndToleratesAMissingFullLine) {
  const Pressure both = ParsePressure(
      "some avg10=1.50 avg60=0.40 avg300=0.10 total=2400000\n"
      "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
      "f");
  EXPECT_EQ(both.some, 2400ms);
  EXPECT_EQ(both.full, 7us);
  const Pressure some = ParsePressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n", "f");
  EXPECT_EQ(some.some, 1us);
  EXPECT_FALSE(some.full);
  EXPECT_FALSE(ParsePressure("", "f").some);
  EXPECT_THAT(ErrorText(ErrorCode::kParse, [] { ParsePressure("some avg10=0.00\n", "f"); }),
              HasSubstr("total= is missing"));
}

}  // namespace
}  // namespace throttletest::internal

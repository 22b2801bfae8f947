#include "cgroup/parse.h"

#include <fmt/format.h>

#include <limits>

#include "base/number.h"
#include "base/text.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

[[noreturn]] void Fail(std::string_view file, std::string_view line, const std::string& why) {
  throw Error(ErrorCode::kParse, fmt::format("{}: line \"{}\": {}", file, line, why));
}

// Calls `on_line` with each line, without its line end.
template <typename OnLine>
void ForEachLine(std::string_view text, OnLine on_line) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (!line.empty()) on_line(line);
  }
}

// Calls `on_key` with key, value text and line of each "key value" line.
template <typename OnKey>
void ForEachKey(std::string_view text, std::string_view file, OnKey on_key) {
  ForEachLine(text, [&](std::string_view line) {
    const auto blank = line.find(' ');
    const std::string_view value =
        blank == std::string_view::npos ? std::string_view{} : Trim(line.substr(blank + 1));
    if (value.empty()) Fail(file, line, "a key without a value");
    on_key(line.substr(0, blank), value, line);
  });
}

std::int64_t Number(std::string_view value, std::string_view file, std::string_view line) {
  const auto number = ParseInteger<std::int64_t>(value);
  if (!number) Fail(file, line, fmt::format("\"{}\" is not a number in range", value));
  return *number;
}

nanoseconds Time(std::int64_t count, std::int64_t ns_each, std::string_view file,
                 std::string_view line) {
  if (count < 0 || count > std::numeric_limits<std::int64_t>::max() / ns_each) {
    Fail(file, line, "the time is out of range");
  }
  return nanoseconds(count * ns_each);
}

template <typename T>
void SetOnce(std::optional<T>& field, T value, std::string_view file, std::string_view line) {
  if (field) Fail(file, line, "a duplicate key");
  field = value;
}

// The keys of cpu.stat as they come, before they are put together.
struct CpuStatFields {
  std::optional<std::int64_t> periods, throttled_periods, bursts;
  std::optional<nanoseconds> throttled_time, burst_time;
};

CpuStat Assemble(CpuStat stat, const CpuStatFields& fields, std::string_view text,
                 std::string_view file) {
  if (!fields.periods) {
    if (fields.throttled_periods) Fail(file, Trim(text), "nr_periods is missing");
    stat.held_time = fields.throttled_time;
    return stat;
  }
  if (!fields.throttled_periods) Fail(file, Trim(text), "nr_throttled is missing");
  if (!fields.throttled_time) Fail(file, Trim(text), "the throttled time is missing");
  stat.counters = BandwidthCounters{.periods = *fields.periods,
                                    .throttled_periods = *fields.throttled_periods,
                                    .throttled_time = *fields.throttled_time,
                                    .bursts = fields.bursts,
                                    .burst_time = fields.burst_time};
  return stat;
}

// A whole file that is one value.
std::string_view Single(std::string_view text, std::string_view file) {
  const std::string_view value = Trim(text);
  if (value.empty()) throw Error(ErrorCode::kParse, fmt::format("{}: the file is empty", file));
  return value;
}

}  // namespace

CpuStat ParseCpuStat(CgroupVersion version, std::string_view text, std::string_view file) {
  CpuStat stat;
  CpuStatFields fields;
  ForEachKey(text, file, [&](std::string_view key, std::string_view value, std::string_view line) {
    const auto set_time = [&](std::optional<nanoseconds>& field, std::int64_t ns_each) {
      SetOnce(field, Time(Number(value, file, line), ns_each, file, line), file, line);
    };
    const auto set_count = [&](std::optional<std::int64_t>& field) {
      SetOnce(field, Number(value, file, line), file, line);
    };
    if (key == "nr_periods") return set_count(fields.periods);
    if (key == "nr_throttled") return set_count(fields.throttled_periods);
    if (key == "nr_bursts") return set_count(fields.bursts);
    if (version == CgroupVersion::kV1) {
      if (key == "throttled_time") return set_time(fields.throttled_time, 1);
      if (key == "burst_time") return set_time(fields.burst_time, 1);
      return;
    }
    if (key == "usage_usec") return set_time(stat.usage, 1000);
    if (key == "user_usec") return set_time(stat.user, 1000);
    if (key == "system_usec") return set_time(stat.system, 1000);
    if (key == "throttled_usec") return set_time(fields.throttled_time, 1000);
    if (key == "burst_usec") return set_time(fields.burst_time, 1000);
  });
  return Assemble(stat, fields, text, file);
}

CpuBandwidth ParseCpuMax(std::string_view text, std::string_view file,
                         std::vector<std::string>* notes) {
  const std::string_view line = Single(text, file);
  const std::vector<std::string> words = ParseWords(line);
  if (words.size() < 2) Fail(file, line, "expected a quota and a period");
  CpuBandwidth bandwidth;
  if (words[0] != "max") {
    const std::int64_t quota = Number(words[0], file, line);
    if (quota <= 0) Fail(file, line, "the quota is not above 0");
    bandwidth.quota = microseconds(quota);
  }
  const std::int64_t period = Number(words[1], file, line);
  if (period <= 0) Fail(file, line, "the period is not above 0");
  bandwidth.period = microseconds(period);
  if (words.size() > 2 && notes != nullptr) {
    notes->push_back(fmt::format("{}: ignored the fields after the period in \"{}\"", file, line));
  }
  return bandwidth;
}

std::optional<microseconds> ParseCfsQuota(std::string_view text, std::string_view file) {
  const std::string_view value = Single(text, file);
  const std::int64_t quota = Number(value, file, value);
  if (quota < 0) return std::nullopt;
  if (quota == 0) Fail(file, value, "the quota is not above 0");
  return microseconds(quota);
}

microseconds ParseCfsPeriod(std::string_view text, std::string_view file) {
  const microseconds period = ParseMicroseconds(text, file);
  if (period.count() == 0) Fail(file, Trim(text), "the period is not above 0");
  return period;
}

microseconds ParseMicroseconds(std::string_view text, std::string_view file) {
  return microseconds(ParseCount(text, file));
}

std::int64_t ParseCount(std::string_view text, std::string_view file) {
  const std::string_view value = Single(text, file);
  const std::int64_t count = Number(value, file, value);
  if (count < 0) Fail(file, value, "the value is negative");
  return count;
}

ByteSize ParseMemoryLimit(std::string_view text, std::string_view file) {
  const std::string_view value = Single(text, file);
  if (value == "max") return ByteSize::Unlimited();
  // 9223372036854771712 with 4 KiB pages; larger pages and old kernels (2^64-1) differ a little.
  constexpr std::uint64_t kNoLimit = (std::uint64_t{1} << 63) - (std::uint64_t{1} << 20);
  const auto bytes = ParseInteger<std::uint64_t>(value);
  if (!bytes) Fail(file, value, "not a number of bytes");
  if (*bytes >= kNoLimit) return ByteSize::Unlimited();
  return ByteSize(static_cast<std::int64_t>(*bytes));
}

std::optional<std::int64_t> ParseFlatKey(std::string_view text, std::string_view file,
                                         std::string_view key) {
  std::optional<std::int64_t> found;
  ForEachKey(text, file, [&](std::string_view k, std::string_view value, std::string_view line) {
    if (k == key) SetOnce(found, Number(value, file, line), file, line);
  });
  return found;
}

Pressure ParsePressure(std::string_view text, std::string_view file) {
  Pressure pressure;
  ForEachLine(text, [&](std::string_view line) {
    constexpr std::string_view kTotal = " total=";
    const bool some = line.rfind("some ", 0) == 0;
    if (!some && line.rfind("full ", 0) != 0) return;
    const auto at = line.find(kTotal);
    if (at == std::string_view::npos) Fail(file, line, "total= is missing");
    const std::string_view rest = line.substr(at + kTotal.size());
    const std::string_view digits = rest.substr(0, rest.find(' '));
    SetOnce(some ? pressure.some : pressure.full,
            Time(Number(digits, file, line), 1000, file, line), file, line);
  });
  return pressure;
}

std::vector<std::string> ParseWords(std::string_view text) {
  std::vector<std::string> words;
  constexpr std::string_view kBlank = " \t\r\n";
  for (auto at = text.find_first_not_of(kBlank); at != std::string_view::npos;) {
    const auto end = text.find_first_of(kBlank, at);
    words.emplace_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBlank, end);
  }
  return words;
}

}  // namespace throttletest::internal

// Control files as values: pure functions from a file's text, normalised to nanoseconds and bytes.
//
// `file` names the file in messages. Unknown keys are ignored; a malformed line is kParse with the
// line quoted; a missing final newline and CRLF are accepted.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "throttletest/base/byte_size.h"
#include "throttletest/cgroup/location.h"
#include "throttletest/cgroup/snapshot.h"

namespace throttletest::internal {

// What one cpu.stat or cpu.stat.local file says.
struct CpuStat {
  std::optional<std::chrono::nanoseconds> usage;   // v2 only
  std::optional<std::chrono::nanoseconds> user;    // v2 only
  std::optional<std::chrono::nanoseconds> system;  // v2 only
  // Absent: the file has no nr_periods (the v2 root, or the cpu controller is off).
  std::optional<BandwidthCounters> counters;
  // cpu.stat.local: the one throttled key without nr_periods.
  std::optional<std::chrono::nanoseconds> held_time;
};
CpuStat ParseCpuStat(CgroupVersion version, std::string_view text, std::string_view file);

// v2 cpu.max, "50000 100000" or "max 100000". A further field is ignored with a note.
// Errors: kParse, also for a period of 0.
CpuBandwidth ParseCpuMax(std::string_view text, std::string_view file,
                         std::vector<std::string>* notes = nullptr);

// v1 cpu.cfs_quota_us. Absent: any negative number, "no quota". Errors: kParse.
std::optional<std::chrono::microseconds> ParseCfsQuota(std::string_view text,
                                                       std::string_view file);

// v1 cpu.cfs_period_us. Errors: kParse, also for 0.
std::chrono::microseconds ParseCfsPeriod(std::string_view text, std::string_view file);

// One time in us, as in cpu.max.burst. Errors: kParse, also for negatives.
std::chrono::microseconds ParseMicroseconds(std::string_view text, std::string_view file);

// One counter >= 0, as in memory.peak. Errors: kParse.
std::int64_t ParseCount(std::string_view text, std::string_view file);

// memory.max, memory.limit_in_bytes and the like: bytes, or "max"; values at the top of the range
// (v1 has no word for it, the limit is the largest whole page) are unlimited. Errors: kParse.
ByteSize ParseMemoryLimit(std::string_view text, std::string_view file);

// One key of a flat keyed file such as memory.events. Absent: the key is not there.
std::optional<std::int64_t> ParseFlatKey(std::string_view text, std::string_view file,
                                         std::string_view key);

// "total=" of the some and full lines of a pressure file.
struct Pressure {
  std::optional<std::chrono::nanoseconds> some;
  std::optional<std::chrono::nanoseconds> full;  // Absent: kernels that print only "some".
};
Pressure ParsePressure(std::string_view text, std::string_view file);

// The words of a control file that is a list, e.g. cgroup.controllers.
std::vector<std::string> ParseWords(std::string_view text);

}  // namespace throttletest::internal

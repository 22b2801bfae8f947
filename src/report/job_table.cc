#include "throttletest/report/job_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/columns.h"

namespace throttletest {
namespace {

double InSeconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::string SecondsOr(const Outcome<std::chrono::nanoseconds>& time, const char* absent) {
  return time.has_value() ? fmt::format("{:.2f}", InSeconds(time.value())) : absent;
}

std::string RatioTo(const Measurement& first, const Measurement& job) {
  if (!first.job->elapsed.has_value() || !job.job->elapsed.has_value()) return "n/a";
  const auto one = static_cast<double>(first.job->elapsed.value().count());
  if (one <= 0) return "n/a";
  return fmt::format("{:.2f}", static_cast<double>(job.job->elapsed.value().count()) / one);
}

std::string PeriodsOf(const CgroupDelta& d) {
  if (!d.periods.has_value() || !d.throttled_periods.has_value()) return "no quota";
  return fmt::format("{} of {}", d.throttled_periods.value(), d.periods.value());
}

std::string PerThrottledPeriod(const CgroupDelta& d) {
  if (!d.throttled_periods.has_value() || !d.throttled_time.has_value()) return "no quota";
  if (d.throttled_periods.value() == 0) return "-";
  return fmt::format("{:.1f}", 1e3 * InSeconds(d.throttled_time.value()) /
                                   static_cast<double>(d.throttled_periods.value()));
}

std::string PeakOf(const CgroupDelta& d) {
  return d.memory_peak.has_value() ? ToString(ByteSize(d.memory_peak.value())) : "n/a";
}

std::string LastCell(const std::string& remark, const Measurement& m) {
  std::string text = remark;
  if (!m.job->succeeded()) text += (text.empty() ? "" : "; ") + m.job->ToString();
  if (!m.validity.trusted()) text += (text.empty() ? "" : "; ") + std::string("inconclusive");
  return text;
}

}  // namespace

void JobTable::Add(const std::string& setting, const Measurement& job) {
  rows_.push_back({setting, "", job});
  if (!rows_.back().job.job) rows_.back().job.job.emplace();
}

void JobTable::Remark(const std::string& setting, const std::string& text) {
  const auto row =
      std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.setting == setting; });
  if (row != rows_.end()) row->remark = text;
}

std::string JobTable::ToString() const {
  std::vector<std::vector<std::string>> lines = {{"setting", "elapsed s", "ratio", "CPU s",
                                                  "mean CPU", "throttled", "throttled s",
                                                  "ms per period", "peak", ""}};
  for (const Row& row : rows_) {
    const Measurement& m = row.job;
    const CgroupDelta& d = m.cgroup;
    lines.push_back({row.setting, SecondsOr(m.job->elapsed, "stopped"),
                     RatioTo(rows_.front().job, m), SecondsOr(d.usage, "n/a"),
                     d.usage_cores.has_value() ? fmt::format("{:.2f}", d.usage_cores.value())
                                               : std::string("n/a"),
                     PeriodsOf(d), SecondsOr(d.throttled_time, "no quota"), PerThrottledPeriod(d),
                     PeakOf(d), LastCell(row.remark, m)});
  }
  return internal::AlignColumns(lines);
}

}  // namespace throttletest

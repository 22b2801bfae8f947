#include "throttletest/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "report/columns.h"

namespace throttletest {
namespace {

// "29.3", "29.3-30.7", or the reason why there is none.
using Figure = std::function<Outcome<double>(const Measurement&)>;

std::string Range(const std::vector<Measurement>& rounds, const Figure& figure, int decimals,
                  const char* absent) {
  std::vector<double> values;
  for (const Measurement& m : rounds) {
    if (const Outcome<double> value = figure(m); value.has_value()) values.push_back(value.value());
  }
  if (values.empty()) return absent;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const std::string low = fmt::format("{:.{}f}", *least, decimals);
  const std::string high = fmt::format("{:.{}f}", *most, decimals);
  return low == high ? low : low + "-" + high;
}

Figure ResponsePercentile(double percent) {
  return [percent](const Measurement& m) {
    const LatencySamples samples = m.load.ResponseTimes();
    if (samples.empty()) return Outcome<double>::NotAvailable("no samples");
    const Latency latency = samples.At(Percentile(percent));
    if (latency.infinite()) return Outcome<double>::NotAvailable("no answer");
    return Outcome<double>::Value(static_cast<double>(latency.value().count()) / 1e6);
  };
}

Outcome<double> ThrottledPercent(const Measurement& m) {
  const Outcome<double>& ratio = m.cgroup.throttle_ratio;
  return ratio.has_value() ? Outcome<double>::Value(100 * ratio.value()) : ratio;
}

Outcome<double> ThrottledSeconds(const Measurement& m) {
  const auto& time = m.cgroup.throttled_time;
  return time.has_value()
             ? Outcome<double>::Value(std::chrono::duration<double>(time.value()).count())
             : time.As<double>();
}

}  // namespace

ComparisonTable::Row& ComparisonTable::Find(const std::string& setting) {
  const auto row =
      std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.setting == setting; });
  if (row != rows_.end()) return *row;
  rows_.push_back({setting, "", {}});
  return rows_.back();
}

void ComparisonTable::Add(const std::string& setting, const Measurement& m) {
  Find(setting).rounds.push_back(m);
}

void ComparisonTable::Remark(const std::string& setting, const std::string& text) {
  Find(setting).remark = text;
}

std::string ComparisonTable::ToString() const {
  std::vector<std::vector<std::string>> lines = {
      {"setting", "p50 ms", "p99 ms", "throttled %", "throttled s", "mean CPU", ""}};
  for (const Row& row : rows_) {
    const auto& rounds = row.rounds;
    const auto cores = [](const Measurement& m) { return m.cgroup.usage_cores; };
    lines.push_back({row.setting, Range(rounds, ResponsePercentile(50), 1, "no answer"),
                     Range(rounds, ResponsePercentile(99), 1, "no answer"),
                     Range(rounds, ThrottledPercent, 1, "no quota"),
                     Range(rounds, ThrottledSeconds, 2, "no quota"), Range(rounds, cores, 2, "n/a"),
                     row.remark});
  }
  return internal::AlignColumns(lines);
}

std::string ComparisonTable::OrderMediansToString() const {
  std::string text;
  for (const Row& row : rows_) {
    if (row.rounds.empty()) continue;
    text += fmt::format("{:<14}", row.setting);
    for (const Latency& latency : row.rounds.back().load.BatchOrderMedians()) {
      text += latency.infinite()
                  ? std::string("   -")
                  : fmt::format(" {:>5.0f}", static_cast<double>(latency.value().count()) / 1e6);
    }
    text += "\n";
  }
  return text;
}

}  // namespace throttletest

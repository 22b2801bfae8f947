#include "measure/saturation.h"

#include <fmt/format.h>

#include <algorithm>

#include "measure/overlap.h"
#include "throttletest/base/duration.h"

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;
using TimePoint = std::chrono::steady_clock::time_point;

// CPU time used until `when`, on the straight line between the samples around it. Absent: there are
// none, or no CPU accounting.
std::optional<double> UsageAt(const Timeline& timeline, TimePoint when) {
  const auto& samples = timeline.samples;
  const auto after =
      std::lower_bound(samples.begin(), samples.end(), when,
                       [](const Cgroup::Quick& sample, TimePoint t) { return sample.time < t; });
  if (after == samples.begin() || after == samples.end()) return std::nullopt;
  const Cgroup::Quick& from = *(after - 1);
  if (!from.usage || !after->usage) return std::nullopt;
  const auto begin = static_cast<double>(from.usage->count());
  const auto gap = static_cast<double>((after->time - from.time).count());
  const auto grown = static_cast<double>((*after->usage - *from.usage).count());
  return begin + grown * static_cast<double>((when - from.time).count()) / gap;
}

std::string Doubt(const Measurement& m) {
  if (!m.validity.trusted()) return "the run cannot be trusted: " + m.validity.ToString();
  const Overlap overlap = OverlapOf(m.load);
  if (overlap.any()) {
    return fmt::format(
        "{} of {} requests were sent before an earlier one was answered: what one "
        "alone uses shows when they are further apart than {}",
        overlap.overlapping, overlap.sent, ToString(overlap.longest));
  }
  return {};
}

}  // namespace

double Saturation::unused() const { return std::clamp(1 - used_cpus / limit_cpus, 0.0, 1.0); }

Outcome<Saturation> SaturationOf(const Measurement& m) {
  using Result = Outcome<Saturation>;
  const std::string doubt = Doubt(m);
  if (!doubt.empty()) return Result::Inconclusive(doubt);
  const EffectiveCpuLimit& limit = m.cgroup.effective;
  if (limit.source == EffectiveCpuLimit::Source::kOnlineCpus || limit.cpus <= 0) {
    return Result::NotAvailable("no CPU limit below the machine's CPUs is in force");
  }
  if (!m.cgroup.usage.has_value()) return m.cgroup.usage.As<Saturation>();

  const bool by_quota = limit.source == EffectiveCpuLimit::Source::kQuota;
  const nanoseconds period =
      by_quota ? nanoseconds(limit.quota->period) : nanoseconds(std::chrono::milliseconds(100));
  Saturation saturation{.limit_cpus = limit.cpus};
  double used = 0;
  for (const RequestRecord& r : m.load.records) {
    if (r.fate != RequestFate::kOk) continue;
    const std::int64_t periods = r.service_time() / period - 1;
    if (periods < 1) continue;
    const TimePoint begin = m.load.epoch + nanoseconds(r.sent_ns) + period;
    const auto from = UsageAt(m.timeline, begin);
    const auto to = UsageAt(m.timeline, begin + periods * period);
    if (!from || !to) continue;
    used += *to - *from;
    saturation.periods += periods;
    ++saturation.requests;
  }
  if (saturation.periods < kFewestPeriods) {
    return Result::Inconclusive(
        fmt::format("what one request alone uses takes {} whole periods of {} within requests, "
                    "there were {}: send longer ones, or more",
                    kFewestPeriods, ToString(period), saturation.periods));
  }
  saturation.used_cpus =
      used / (static_cast<double>(saturation.periods) * static_cast<double>(period.count()));
  return Result::Value(saturation);
}

}  // namespace throttletest::internal

#include "measure/demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "throttletest/base/duration.h"

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;

// Milliseconds without decimals from 10 ms on: a quota is not chosen to the microsecond.
std::string Rounded(nanoseconds duration) {
  if (duration < std::chrono::milliseconds(10)) return ToString(duration);
  return fmt::format("{} ms", (duration.count() + 500'000) / 1'000'000);
}

std::string CpusText(std::int64_t tenths) {
  return tenths % 10 == 0 ? fmt::format("{}", tenths / 10)
                          : fmt::format("{}.{}", tenths / 10, tenths % 10);
}

std::optional<nanoseconds> LargestBatch(const Measurement& m) {
  std::optional<nanoseconds> largest;
  for (const BatchUse& batch : m.batches) {
    if (batch.cpu.has_value())
      largest = std::max(largest.value_or(nanoseconds(0)), batch.cpu.value());
  }
  return largest;
}

// "cpus >= 1.7 would fit it", "cpus >= 2 would fit it, all that 2 CPUs can use".
std::string CpusAdvice(nanoseconds needed, nanoseconds period, int usable,
                       const JudgedQuota& quota) {
  const std::int64_t tenths = TenthsOfCpu(needed, period);
  std::string text = fmt::format("cpus >= {} {}would fit it", CpusText(tenths),
                                 quota.ancestor ? "at " + quota.path + " " : "");
  if (usable > 0 && tenths >= std::int64_t{usable} * 10) {
    text += fmt::format(", which is all that {} can use",
                        usable == 1 ? "1 CPU" : fmt::format("{} CPUs", usable));
  }
  return text;
}

// A burst allowance can stand in for quota when it may be large enough (the kernel's bound is the
// quota itself) and when the time between bursts saves it up again.
std::string BurstAdvice(nanoseconds needed, const JudgedQuota& quota,
                        const std::optional<double>& mean) {
  const nanoseconds given = *quota.bandwidth.quota;
  const nanoseconds missing = needed - given;
  if (quota.ancestor || missing <= nanoseconds(0) || missing > given) return "";
  if (!mean || *mean > 0.8 * *quota.bandwidth.cpus()) return "";
  const std::int64_t ms = (missing.count() + 999'999) / 1'000'000;
  const bool whole = std::chrono::milliseconds(ms) <= given;
  return fmt::format(", and so would a burst of {} on top of this quota",
                     whole ? fmt::format("{} ms", ms) : ToString(missing));
}

std::string QuotaGives(const CpuBandwidth& bandwidth) {
  std::string text =
      fmt::format("the quota gives {} per {} period", ToString(nanoseconds(*bandwidth.quota)),
                  ToString(nanoseconds(bandwidth.period)));
  if (bandwidth.burst.count() > 0) {
    text += fmt::format(" and a burst of {}", ToString(nanoseconds(bandwidth.burst)));
  }
  return text;
}

std::string BurstFit(const Measurement& m, const JudgedQuota& quota, nanoseconds work,
                     const std::optional<double>& mean) {
  const nanoseconds period = quota.bandwidth.period;
  const nanoseconds given = nanoseconds(*quota.bandwidth.quota) + quota.bandwidth.burst;
  const int usable = UsableCpus(m);
  const std::string gives = QuotaGives(quota.bandwidth);
  nanoseconds needed = QuotaToHold(work, period, usable);
  if (needed > given) {
    return fmt::format("One burst needs {} CPU, {}: {}{}.", Rounded(work), gives,
                       CpusAdvice(needed, period, usable, quota), BurstAdvice(needed, quota, mean));
  }
  const nanoseconds largest = LargestBatch(m).value_or(work);
  needed = QuotaToHold(largest, period, usable);
  if (needed > given) {
    return fmt::format("One burst needs {} CPU at the median and up to {}, {}: {}{}.",
                       Rounded(work), Rounded(largest), gives,
                       CpusAdvice(needed, period, usable, quota), BurstAdvice(needed, quota, mean));
  }
  return fmt::format(
      "One burst needs {} CPU and {}, which holds it: what is left comes from "
      "bursts that meet in one period or from the kernel's accounting by tick and "
      "slice, so leave some quota to spare.",
      Rounded(work), gives);
}

std::string MeanFit(const Measurement& m, const JudgedQuota& quota, double mean) {
  const nanoseconds period = quota.bandwidth.period;
  const double given = *quota.bandwidth.cpus();
  if (mean <= given) {
    return fmt::format(
        "The load needs {:.2f} CPUs on average, the quota gives {}: requests meet "
        "in one period, so leave some quota to spare.",
        mean, fmt::format("{:.4g}", given));
  }
  const nanoseconds work(std::llround(mean * static_cast<double>(period.count())));
  const int usable = UsableCpus(m);
  const nanoseconds needed = QuotaToHold(work, period, usable);
  return fmt::format("The load needs {:.2f} CPUs on average, the quota gives {}: {}.", mean,
                     fmt::format("{:.4g}", given), CpusAdvice(needed, period, usable, quota));
}

}  // namespace

std::optional<JudgedQuota> FindJudgedQuota(const Measurement& m) {
  for (const LevelDelta& level : m.cgroup.levels) {
    if (level.path == m.cgroup.judged_path && level.bandwidth.limited()) {
      return JudgedQuota{level.bandwidth, level.path, m.cgroup.judged_is_ancestor};
    }
  }
  const EffectiveCpuLimit& effective = m.cgroup.effective;
  if (!effective.quota || !effective.quota->limited()) return std::nullopt;
  return JudgedQuota{*effective.quota, effective.quota_path, false};
}

int UsableCpus(const Measurement& m) {
  int usable = m.environment.online_cpus;
  const auto restrict_to = [&usable](int cpus) {
    if (cpus > 0 && (usable == 0 || cpus < usable)) usable = cpus;
  };
  if (m.requested.cpuset) restrict_to(m.requested.cpuset->count());
  if (m.cgroup.effective.source != EffectiveCpuLimit::Source::kQuota) {
    restrict_to(static_cast<int>(std::lround(m.cgroup.effective.cpus)));
  }
  return usable;
}

std::optional<double> MeanDemand(const LoadResult& load, const CgroupDelta& delta) {
  if (!delta.usage.has_value() || load.records.empty()) return std::nullopt;
  const std::int64_t last_batch = load.records.back().batch;
  const std::int64_t length = load.records.back().intended_ns - load.records.front().intended_ns;
  if (last_batch < 1 || length <= 0) return std::nullopt;
  // The last batch occupies its share of the schedule like every other.
  const double schedule = static_cast<double>(length) * static_cast<double>(last_batch + 1) /
                          static_cast<double>(last_batch);
  return static_cast<double>(delta.usage.value().count()) / schedule;
}

nanoseconds QuotaToHold(nanoseconds work, nanoseconds period, int cpus) {
  return cpus > 0 ? std::min(work, period * cpus) : work;
}

std::int64_t TenthsOfCpu(nanoseconds quota, nanoseconds period) {
  return (quota.count() * 10 + period.count() - 1) / period.count();
}

std::string FitText(const Measurement& m, const JudgedQuota& quota) {
  const std::optional<double> mean = MeanDemand(m.load, m.cgroup);
  const Outcome<nanoseconds> batch = m.MedianBatchCpu();
  const double period = static_cast<double>(quota.bandwidth.period.count()) * 1e3;
  // Bursts closer together than a period add up: then the mean is the larger need.
  if (m.is_burst_load && batch.has_value() &&
      (!mean || static_cast<double>(batch.value().count()) >= *mean * period)) {
    return BurstFit(m, quota, batch.value(), mean);
  }
  return mean ? MeanFit(m, quota, *mean) : "";
}

}  // namespace throttletest::internal

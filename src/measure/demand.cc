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

// Nearest rank 95 % of the batches' CPU time: one batch in which something else happened, too, must
// not decide. Absent: none is known.
std::optional<nanoseconds> LargeBatch(const Measurement& m) {
  std::vector<nanoseconds> known;
  for (const BatchUse& batch : m.batches) {
    if (batch.cpu.has_value()) known.push_back(batch.cpu.value());
  }
  if (known.empty()) return std::nullopt;
  const auto rank = static_cast<std::ptrdiff_t>((known.size() * 95 + 99) / 100);
  std::nth_element(known.begin(), known.begin() + (rank - 1), known.end());
  return known[static_cast<std::size_t>(rank - 1)];
}

// CPUs the service can use at once: no more than it has threads. Absent: 0, not known.
int CpusInUse(const Measurement& m) {
  const int usable = UsableCpus(m);
  if (!m.threads.has_value()) return usable;
  return usable > 0 ? std::min(usable, m.threads.value()) : m.threads.value();
}

// The CPU time a burst needs to be sure of it.
struct Need {
  nanoseconds burst{0};  // as large as nearly all are
  nanoseconds slice{0};  // of each CPU in use; 0: not known
  int cpus = 0;          // in use
  nanoseconds all() const { return burst + slice * cpus; }
};

Need NeedOf(const Measurement& m, nanoseconds work) {
  return {LargeBatch(m).value_or(work), std::chrono::microseconds(m.environment.bandwidth_slice_us),
          CpusInUse(m)};
}

// "cpus >= 1.8 would fit it".
std::string CpusAdvice(nanoseconds needed, nanoseconds period, int usable,
                       const JudgedQuota& quota) {
  const std::int64_t tenths = TenthsOfCpu(needed, period);
  std::string text = fmt::format("cpus >= {} {}would fit it", CpusText(tenths),
                                 quota.ancestor ? "at " + quota.path + " " : "");
  if (usable > 0 && tenths >= std::int64_t{usable} * 10) {
    text += fmt::format(", which is all that {} can use", CpuCount(usable));
  }
  return text;
}

// The same with the sum it comes from: "cpus >= 1.8 would fit it (164 ms and a slice of 5 ms for
// each of 2 CPUs)".
std::string CpusAdvice(const Need& need, nanoseconds period, int usable, const JudgedQuota& quota) {
  const nanoseconds needed = QuotaToHold(need.all(), period, usable);
  std::string text = CpusAdvice(needed, period, usable, quota);
  if (needed == need.all() && need.slice > nanoseconds(0)) {
    text +=
        fmt::format(" ({} and a slice of {} for {}{})", Rounded(need.burst), ToString(need.slice),
                    need.cpus == 1 ? "" : "each of ", CpuCount(need.cpus));
  }
  return text;
}

// Time between bursts saves up what a burst allowance or a longer period gives out.
bool LeavesRoom(const std::optional<double>& mean, const JudgedQuota& quota) {
  return !quota.ancestor && mean && *mean <= 0.8 * *quota.bandwidth.cpus();
}

// "a burst of 64 ms on top of this quota". The kernel's bound of a burst is the quota itself.
std::string BurstAdvice(nanoseconds needed, const JudgedQuota& quota) {
  const nanoseconds given = *quota.bandwidth.quota;
  const nanoseconds missing = needed - given;
  if (missing <= nanoseconds(0) || missing > given) return "";
  const std::int64_t ms = (missing.count() + 999'999) / 1'000'000;
  const bool whole = std::chrono::milliseconds(ms) <= given;
  return fmt::format("a burst of {} on top of this quota",
                     whole ? fmt::format("{} ms", ms) : ToString(missing));
}

// "a period of 180 ms at the same 1 CPU". The kernel's bound of a period is 1 s.
std::string PeriodAdvice(nanoseconds needed, const JudgedQuota& quota) {
  constexpr std::int64_t kStep = 10;  // ms
  const double cpus = *quota.bandwidth.cpus();
  const double ms = static_cast<double>(needed.count()) / cpus / 1e6;
  const std::int64_t period = std::llround(std::ceil(ms / kStep)) * kStep;
  if (period > 1000 || std::chrono::milliseconds(period) <= quota.bandwidth.period) return "";
  return fmt::format("a period of {} ms at the same {:.4g} CPU{}", period, cpus,
                     cpus == 1 ? "" : "s");
}

// What else than more CPUs would hold a burst. Absent: empty.
std::string OtherAdvice(const Need& need, int usable, const std::optional<double>& mean,
                        const JudgedQuota& quota) {
  if (!LeavesRoom(mean, quota)) return "";
  const std::string burst =
      BurstAdvice(QuotaToHold(need.all(), quota.bandwidth.period, usable), quota);
  const std::string period = PeriodAdvice(need.all(), quota);
  if (burst.empty() && period.empty()) return "";
  return fmt::format(", and so would {}{}{}", burst, burst.empty() || period.empty() ? "" : " or ",
                     period);
}

// More threads than the quota has CPUs use it up early and are all stopped until the period ends.
// Absent: empty, there are not too many.
std::string ThreadsAdvice(const Measurement& m, const JudgedQuota& quota) {
  const int width = CpusInUse(m);
  const double cpus = *quota.bandwidth.cpus();
  if (quota.ancestor || !m.threads.has_value() || width <= cpus) return "";
  const nanoseconds given = nanoseconds(*quota.bandwidth.quota) + quota.bandwidth.burst;
  std::string text =
      fmt::format(" {} threads can use {} at once and use up {} in {}", m.threads.value(),
                  CpuCount(width), ToString(given), ToString(given / width));
  const auto allowed = static_cast<int>(cpus);
  if (allowed >= 1) {
    text += fmt::format("; {} at a time would not be stopped", allowed);
    const Outcome<nanoseconds> burst = m.MedianBatchCpu();
    if (m.is_burst_load && burst.has_value()) {
      text += fmt::format(" and would need {} for a burst", Rounded(burst.value() / allowed));
    }
  }
  return text + ".";
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
  const Need need = NeedOf(m, work);
  if (QuotaToHold(need.all(), period, usable) > given) {
    const bool varies = Rounded(need.burst) != Rounded(work);
    return fmt::format("One burst needs {} CPU{}, {}: {}{}.{}", Rounded(work),
                       varies ? " at the median and " + Rounded(need.burst) + " at P95" : "", gives,
                       CpusAdvice(need, period, usable, quota),
                       OtherAdvice(need, usable, mean, quota), ThreadsAdvice(m, quota));
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
  return fmt::format("The load needs {:.2f} CPUs on average, the quota gives {}: {}.{}", mean,
                     fmt::format("{:.4g}", given), CpusAdvice(needed, period, usable, quota),
                     ThreadsAdvice(m, quota));
}

}  // namespace

std::string ThreadsText(const Measurement& m, const JudgedQuota& quota) {
  const std::string text = ThreadsAdvice(m, quota);
  return text.empty() ? text : text.substr(1);  // without the blank before it
}

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

std::string CpuCount(int cpus) { return cpus == 1 ? "1 CPU" : fmt::format("{} CPUs", cpus); }

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

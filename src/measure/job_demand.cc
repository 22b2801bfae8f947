#include "measure/job_demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/short_time.h"
#include "base/text.h"
#include "measure/demand.h"
#include "measure/slowness.h"
#include "service/subprocess.h"
#include "throttletest/base/duration.h"

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;

constexpr double kStep = 0.05;
constexpr double kToSpare = 1.02;
constexpr int kLogLines = 5;

double Seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// Two digits at most, without zeros at the end: "0.55", "2".
std::string CpusText(double cpus) { return fmt::format("{:.4g}", std::round(cpus * 100) / 100); }

double RoundedUp(double cpus) { return std::ceil(cpus / kStep - 1e-9) * kStep; }

std::string Threads(double at_once) {
  return fmt::format("{:.1f} thread{} at once", at_once, at_once < 1.05 ? "" : "s");
}

std::string UsedText(const JobDemand& demand) {
  return fmt::format("{} CPU in {} = {:.2f} CPUs", ShortTime(demand.cpu), ShortTime(demand.elapsed),
                     Seconds(demand.cpu) / Seconds(demand.elapsed));
}

std::string OfAncestor(const JudgedQuota& quota) {
  return quota.ancestor ? fmt::format(" by ancestor {} ({})", quota.path, ToString(quota.bandwidth))
                        : std::string();
}

std::string Advice(const JobDemand& demand, const JudgedQuota& quota, nanoseconds bound,
                   int usable) {
  const std::optional<double> cpus = CpusToEndWithin(demand, bound);
  if (!cpus || (usable > 0 && *cpus > usable)) {
    return fmt::format(
        "No limit would have held {}: without throttling it would have taken "
        "about {} ({}).",
        ToString(bound), ShortTime(demand.unthrottled), Threads(demand.at_once));
  }
  return fmt::format(
      "cpus >= {} {}would have held ({} CPU in {}); without throttling it would "
      "have taken about {} ({}).",
      CpusText(*cpus), quota.ancestor ? "at " + quota.path + " " : "", ShortTime(demand.cpu),
      ToString(bound), ShortTime(demand.unthrottled), Threads(demand.at_once));
}

std::string ExplainThrottled(const Measurement& m, const JobDemand& demand,
                             const JudgedQuota& quota, nanoseconds bound) {
  const CgroupDelta& d = m.cgroup;
  return fmt::format(
      "{} of {} periods throttled{}, {} in total over all CPUs = {:.0f} % of the "
      "elapsed time; it used {}. {}",
      d.throttled_periods.value(), d.periods.value(), OfAncestor(quota),
      ShortTime(demand.throttled), 100 * Seconds(demand.throttled) / Seconds(demand.elapsed),
      UsedText(demand), Advice(demand, quota, bound, UsableCpus(m)));
}

}  // namespace

std::optional<JobDemand> DemandOf(const Measurement& m) {
  if (!m.job || !m.cgroup.usage.has_value() || m.cgroup.usage.value() <= nanoseconds(0) ||
      m.job->ran <= nanoseconds(0)) {
    return std::nullopt;
  }
  JobDemand demand{.cpu = m.cgroup.usage.value(),
                   .throttled = m.cgroup.throttled_time.optional().value_or(nanoseconds(0)),
                   .elapsed = m.job->ran};
  const double ran = Seconds(demand.cpu);
  const double runnable = ran + Seconds(demand.throttled);
  demand.at_once = runnable / Seconds(demand.elapsed);
  demand.unthrottled =
      nanoseconds(std::llround(static_cast<double>(demand.elapsed.count()) * ran / runnable));
  return demand;
}

std::optional<double> CpusToEndWithin(const JobDemand& demand, nanoseconds bound) {
  if (bound <= demand.unthrottled) return std::nullopt;
  return RoundedUp(Seconds(demand.cpu) / Seconds(bound) * kToSpare);
}

std::string ExplainElapsed(const Measurement& m, nanoseconds bound) {
  const CgroupDelta& d = m.cgroup;
  const std::optional<JobDemand> demand = DemandOf(m);
  std::string text;
  if (m.job && !m.job->succeeded()) text = "The job " + m.job->ToString() + ".";
  const std::optional<JudgedQuota> quota = FindJudgedQuota(m);
  const std::string used = demand ? fmt::format(" It used {}.", UsedText(*demand)) : "";
  if (!quota) {
    AppendItem(text, "No CPU quota is in force: look elsewhere for the cause." + used, " ");
  } else if (!d.throttled_periods.has_value() || !d.periods.has_value()) {
    AppendItem(text, "Throttling is not known: " + d.throttled_periods.reason() + "." + used, " ");
  } else if (d.throttled_periods.value() == 0 || !demand) {
    AppendItem(text,
               fmt::format("{} of {} periods throttled: the quota is not the cause.{}",
                           d.throttled_periods.value(), d.periods.value(), used),
               " ");
  } else {
    AppendItem(text, ExplainThrottled(m, *demand, *quota, bound), " ");
  }
  if (const std::string host = HostText(m); !host.empty()) AppendItem(text, host, " ");
  return text;
}

std::string UnthrottledText(const Measurement& m) {
  const std::optional<JobDemand> demand = DemandOf(m);
  if (!demand || demand->throttled <= nanoseconds(0)) return "";
  const int usable = UsableCpus(m);
  double cpus = RoundedUp(demand->at_once * kToSpare);
  if (usable > 0) cpus = std::min<double>(cpus, usable);
  return fmt::format(
      "The job had {}: cpus >= {} would not have throttled it, and it would have "
      "taken about {} instead of {}.",
      Threads(demand->at_once), CpusText(cpus), ShortTime(demand->unthrottled),
      ShortTime(demand->elapsed));
}

std::string FateText(const Measurement& m) {
  const std::string lines = LastLinesOnOne(m.job->end.logs, kLogLines);
  return fmt::format("the job {}; {}", m.job->ToString(),
                     lines.empty() ? "it wrote nothing" : "its last lines: " + lines);
}

}  // namespace throttletest::internal

#include "measure/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "measure/metric.h"
#include "measure/queue.h"
#include "measure/saturation.h"
#include "throttletest/base/duration.h"
#include "throttletest/cgroup/cpu_count.h"
#include "throttletest/measure/service_time.h"
#include "throttletest/measure/workers.h"

namespace throttletest::internal {
namespace {

// Answers of a batch are read side by side: one unit, three digits.
std::string InSeconds(std::chrono::nanoseconds time) {
  return fmt::format("{:.3f}", std::chrono::duration<double>(time).count());
}

double Number(double value) { return value; }
double Number(std::int64_t value) { return static_cast<double>(value); }
double Number(int value) { return value; }

// A figure that has a value or a reason.
template <typename T>
Reading FromOutcome(const Outcome<T>& outcome, std::string detail = "") {
  Reading reading;
  if (!outcome.has_value()) {
    reading.inconclusive = outcome.reason();
    return reading;
  }
  reading.value = Number(outcome.value());
  reading.detail = std::move(detail);
  return reading;
}

std::string OfPeriods(const CgroupDelta& d) {
  if (!d.periods.has_value()) return "";
  if (!d.throttled_periods.has_value()) return fmt::format("of {} periods", d.periods.value());
  return fmt::format("{} of {} periods", d.throttled_periods.value(), d.periods.value());
}

Reading ReadThrottleRatio(const Measurement& m) {
  const CgroupDelta& d = m.cgroup;
  Reading reading = FromOutcome(d.throttle_ratio, OfPeriods(d));
  if (reading.value && d.periods.has_value() && d.periods.value() < m.bounds.min_periods) {
    reading.inconclusive = fmt::format("a throttle ratio needs at least {} periods, there were {}",
                                       m.bounds.min_periods, d.periods.value());
    reading.too_few = true;
  }
  return reading;
}

Reading ReadThrottling(const Measurement& m, Metric metric) {
  const CgroupDelta& d = m.cgroup;
  Reading reading;
  if (metric == Metric::kThrottledPeriods) {
    reading = FromOutcome(d.throttled_periods, OfPeriods(d));
  } else if (metric == Metric::kThrottledBursts) {
    reading = FromOutcome(m.ThrottledBursts(), fmt::format("of {} bursts", m.batches.size()));
  } else {
    reading = FromOutcome(d.throttled_per_second);
    if (d.throttled_time.has_value()) {
      reading.detail = fmt::format("{} throttled, summed over CPUs, in {}",
                                   ToString(d.throttled_time.value()), ToString(d.wall));
    }
  }
  return reading;
}

Reading ReadCpuUsage(const CgroupDelta& d) {
  Reading reading = FromOutcome(d.usage_cores);
  if (d.usage.has_value()) {
    reading.detail = fmt::format("{} CPU in {}", ToString(d.usage.value()), ToString(d.wall));
  }
  return reading;
}

// The kernel's mark may be older than the window, which then reached at most that.
Reading ReadMemoryPeak(const Measurement& m) {
  Reading reading = FromOutcome(m.cgroup.memory_peak, "the kernel's peak of the window");
  if (!reading.value || m.cgroup.memory_peak_of_window) return reading;
  const std::string life = ToString(ByteSize(m.cgroup.memory_peak.value()));
  if (!m.sampled_memory_peak.has_value()) {
    reading.detail.clear();
    reading.inconclusive = fmt::format(
        "{} is the peak of the cgroup's life and was reached before the window, in which nothing "
        "was sampled: {}",
        life, m.sampled_memory_peak.reason());
    return reading;
  }
  reading.up_to = reading.value;
  reading.value = std::min(*reading.value, Number(m.sampled_memory_peak.value()));
  reading.narrows = "a service of its own, or kernel 6.12, would tell";
  reading.detail = fmt::format(
      "the largest of the samples, {} apart; it is at most {}, the kernel's peak of the cgroup's "
      "life, which was reached before the window",
      ToString(m.timeline.interval), life);
  return reading;
}

LatencySamples SamplesOf(const Measurement& m, Metric metric) {
  if (metric == Metric::kResponseTime) return m.load.ResponseTimes();
  if (metric == Metric::kServiceTime) return m.load.ServiceTimes();
  return m.load.StartLags();
}

Reading ReadPercentile(const Measurement& m, Metric metric, Percentile p) {
  Reading reading;
  const LatencySamples samples = SamplesOf(m, metric);
  if (samples.empty()) {
    reading.inconclusive = "no request was sent";
    return reading;
  }
  const Latency latency = samples.At(p);
  reading.no_answer = latency.infinite();
  if (!reading.no_answer) reading.value = Number(latency.value().count());
  reading.detail = fmt::format("nearest rank, {} requests", samples.count());
  if (metric != Metric::kStartLag && m.load.ok == 0) {
    reading.inconclusive = fmt::format("no request succeeded, {} of {} failed",
                                       m.load.failed + m.load.timed_out, m.load.sent);
  } else if (samples.count() < p.SamplesNeeded()) {
    reading.inconclusive = fmt::format("{} needs n >= {}, there are {}", p.ToString(),
                                       p.SamplesNeeded(), samples.count());
    reading.too_few = true;
  }
  return reading;
}

Reading ReadErrors(const LoadResult& load, Metric metric) {
  Reading reading;
  if (load.planned == load.not_sent) {
    reading.inconclusive = "no request was sent";
    return reading;
  }
  const std::int64_t failed = load.failed + load.timed_out;
  reading.value = metric == Metric::kErrorRatio ? load.error_ratio() : Number(failed);
  reading.detail = fmt::format("{} of {} requests failed, {} of them timed out", failed,
                               load.planned - load.not_sent, load.timed_out);
  return reading;
}

Reading ReadQueue(const Measurement& m, int depth, double bound) {
  Reading reading;
  const Outcome<ServiceTime> time = ServiceTimeOf(m);
  if (!time.has_value()) {
    reading.inconclusive = time.reason();
    return reading;
  }
  const ServiceTime& s = time.value();
  reading.no_answer = s.worst().infinite();
  if (reading.no_answer) {
    reading.detail = fmt::format("{} of {} requests failed, {} of them timed out",
                                 m.load.failed + m.load.timed_out, m.load.sent, m.load.timed_out);
    return reading;
  }
  const std::chrono::nanoseconds worst = s.worst().value();
  reading.value = Number(worst.count()) * depth;
  reading.detail = fmt::format("{} x {}, the worst of {}, under {}", depth, ToString(worst),
                               s.Sample(), s.Under());
  reading.advice = QueueAdvice(depth, worst, std::chrono::nanoseconds(std::llround(bound)));
  return reading;
}

Reading ReadWorkers(const Measurement& m) {
  Reading reading;
  const Outcome<WorkerEstimate> outcome = WorkersOf(m);
  if (!outcome.has_value()) {
    reading.inconclusive = outcome.reason();
    return reading;
  }
  const WorkerEstimate& workers = outcome.value();
  reading.value = workers.fewest;
  if (workers.most != workers.fewest) {
    reading.up_to = workers.most ? *workers.most : std::numeric_limits<double>::infinity();
    reading.narrows = "larger batches would tell";
  }
  std::string answers;
  for (const auto answer : workers.answers) AppendItem(answers, InSeconds(answer), ", ");
  reading.detail = fmt::format(
      "{} at a time: {} requests sent at once were answered after {} s{}, in steps of {} s",
      workers.ToString(), workers.batch_size, answers,
      workers.batches == 1 ? "" : fmt::format(" (medians of {} batches)", workers.batches),
      InSeconds(workers.step));
  return reading;
}

Reading ReadUnusedLimit(const Measurement& m) {
  Reading reading;
  const Outcome<Saturation> outcome = SaturationOf(m);
  if (!outcome.has_value()) {
    reading.inconclusive = outcome.reason();
    return reading;
  }
  const Saturation& saturation = outcome.value();
  reading.value = saturation.unused();
  reading.detail = fmt::format(
      "one request alone used {:.3f} of {:.4g} CPUs, {:.1f} %, in {} whole periods of {} requests",
      saturation.used_cpus, saturation.limit_cpus, 100 * (1 - saturation.unused()),
      saturation.periods, saturation.requests);
  return reading;
}

Reading ReadThreads(const Measurement& m) {
  Reading reading;
  const auto& quota = m.quota();
  const auto fit = quota ? ThreadsOfQuota(*quota) : std::nullopt;
  if (!fit) {
    reading.inconclusive = "no CPU quota in force";
    return reading;
  }
  if (!m.threads.has_value()) {
    reading.inconclusive = "the service's threads are not known: " + m.threads.reason();
    return reading;
  }
  reading.value = std::max(0, m.threads.value() - *fit);
  reading.detail = fmt::format("{} threads, and a quota of {:.4g} CPUs keeps {} busy",
                               m.threads.value(), *quota->cpus(), *fit);
  return reading;
}

// The most that the elapsed time can be. Infinite when nobody knows when the job would have ended.
double LongestElapsed(const JobRun& job) {
  if (!job.elapsed.has_value()) return std::numeric_limits<double>::infinity();
  return Number((job.ran + job.at_most_before).count());
}

Reading ReadElapsed(const Measurement& m) {
  Reading reading;
  reading.value = Number(m.job->ran.count());
  reading.up_to = LongestElapsed(*m.job);
  reading.narrows = "nobody saw its first instruction";
  reading.detail = m.job->ToString();
  return reading;
}

Reading ReadExitStatus(const Measurement& m) {
  if (m.job->timed_out) {
    // It was not a success, whatever it would have been.
    Reading reading;
    reading.no_answer = true;
    reading.detail = m.job->ToString();
    return reading;
  }
  return FromOutcome(m.job->status(), m.job->ToString());
}

// Why the two runs of a job must not be compared. Empty: they may.
std::string NotComparable(const Measurement& m, const JobReference& other) {
  const Environment& a = m.environment;
  const Environment& b = other.environment;
  const auto differ = [](const char* what, const auto& one, const auto& two) {
    return fmt::format("{} is {} here and was {} in the unlimited run", what, one, two);
  };
  if (m.request != other.what) {
    return fmt::format("the unlimited run was of another job, \"{}\"", other.what);
  }
  if (m.launcher != other.launcher) return differ("the launcher", m.launcher, other.launcher);
  if (a.kernel != b.kernel) return differ("the kernel", a.kernel, b.kernel);
  if (a.cpu_model != b.cpu_model) return differ("the CPU", a.cpu_model, b.cpu_model);
  if (a.online_cpus != b.online_cpus) {
    return differ("the number of online CPUs", a.online_cpus, b.online_cpus);
  }
  if (!other.elapsed.has_value()) return "of the unlimited run: " + other.elapsed.reason();
  return other.elapsed.value().count() > 0 ? "" : "the unlimited run took no time";
}

Reading ReadElapsedRatio(const Measurement& m, const std::optional<JobReference>& other) {
  Reading reading;
  reading.inconclusive =
      other ? NotComparable(m, *other) : "there is no unlimited run to compare with: give one";
  if (!reading.inconclusive.empty()) return reading;
  const double one = Number(other->elapsed.value().count());
  reading.value = Number(m.job->ran.count()) / one;
  reading.up_to = LongestElapsed(*m.job) / one;
  reading.narrows = "nobody saw its first instruction";
  reading.detail =
      fmt::format("{} under {}, {} under {}", ToString(m.job->ran), ToString(m.requested),
                  ToString(other->elapsed.value()), other->limits);
  return reading;
}

// Why the kind of run has no such figure. Empty: it has.
std::string WrongKind(const Measurement& m, Metric metric) {
  if (m.job && IsOfRequests(metric)) {
    return "a job ran to its end, and nothing was sent to it: it has no such figure";
  }
  if (!m.job && IsOfAJob(metric)) {
    return "a service was measured, not a job that ends: use RunJob()";
  }
  return "";
}

}  // namespace

Reading ReadMetric(const Measurement& m, const Budget& budget) {
  if (m.job && budget.metric() == Metric::kElapsedRatio) {
    return ReadElapsedRatio(m, budget.reference());
  }
  if (!m.job && budget.metric() == Metric::kQueueDepth)
    return ReadQueue(m, budget.depth(), budget.bound());
  return ReadMetric(m, budget.metric(), budget.percentile());
}

Reading ReadMetric(const Measurement& m, Metric metric,
                   const std::optional<Percentile>& percentile) {
  Reading wrong_kind;
  wrong_kind.inconclusive = WrongKind(m, metric);
  if (!wrong_kind.inconclusive.empty()) return wrong_kind;
  switch (metric) {
    case Metric::kThrottleRatio:
      return ReadThrottleRatio(m);
    case Metric::kThrottledPeriods:
    case Metric::kThrottledBursts:
    case Metric::kThrottledTimePerSecond:
      return ReadThrottling(m, metric);
    case Metric::kCpuUsage:
      return ReadCpuUsage(m.cgroup);
    case Metric::kResponseTime:
    case Metric::kServiceTime:
    case Metric::kStartLag:
      return ReadPercentile(m, metric, percentile.value_or(Percentile(100)));
    case Metric::kErrorRatio:
    case Metric::kFailedRequests:
      return ReadErrors(m.load, metric);
    case Metric::kMemoryPeak:
      return ReadMemoryPeak(m);
    case Metric::kOomKills:
      return FromOutcome(m.cgroup.oom_kills);
    case Metric::kQueueDepth:
      return ReadQueue(m, 1, 0);
    case Metric::kWorkers:
      return ReadWorkers(m);
    case Metric::kUnusedLimit:
      return ReadUnusedLimit(m);
    case Metric::kThreadsOverQuota:
      return ReadThreads(m);
    case Metric::kElapsed:
      return ReadElapsed(m);
    case Metric::kElapsedRatio:
      return ReadElapsedRatio(m, std::nullopt);
    case Metric::kExitStatus:
      return ReadExitStatus(m);
  }
  return {};
}

}  // namespace throttletest::internal

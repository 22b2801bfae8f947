#include "throttletest/report/text.h"

#include <fmt/format.h>

#include <array>

#include "base/short_time.h"
#include "throttletest/base/duration.h"

namespace throttletest {
namespace {

struct NamedPercentile {
  const char* key;
  double percent;
};
constexpr std::array<NamedPercentile, 4> kShown = {
    {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"max", 100}}};

std::string Absent(OutcomeKind kind, const std::string& reason) {
  return fmt::format("{}: {}", kind == OutcomeKind::kInconclusive ? "inconclusive" : "n/a", reason);
}

// The value by `format`, or why there is none.
template <typename T, typename Format>
std::string Show(const Outcome<T>& outcome, Format format) {
  return outcome.has_value() ? format(outcome.value()) : Absent(outcome.kind(), outcome.reason());
}

std::string Two(double value) { return fmt::format("{:.2f}", value); }
std::string Whole(std::int64_t value) { return fmt::format("{}", value); }

// Numbers only: the key carries the unit.
std::string Milliseconds(std::chrono::nanoseconds time) {
  return fmt::format("{:.1f}", static_cast<double>(time.count()) / 1e6);
}

std::string LatencyProperty(const LatencySamples& samples, double percent) {
  if (samples.empty()) return "n/a: no request was sent";
  const Latency latency = samples.At(Percentile(percent));
  return latency.infinite() ? "n/a: no answer" : Milliseconds(latency.value());
}

std::string LatencyLine(const LatencySamples& samples) {
  if (samples.empty()) return "n/a: no request was sent";
  std::string line;
  for (const NamedPercentile& p : kShown) {
    const Percentile percentile(p.percent);
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ",
                        p.percent == 100 ? "max" : percentile.ToString(),
                        ToString(samples.At(percentile)));
  }
  return line + fmt::format(" (nearest rank, {} requests)", samples.count());
}

std::string RatioText(const CgroupDelta& d) {
  if (!d.throttle_ratio.has_value()) {
    return fmt::format("throttle ratio {}",
                       Absent(d.throttle_ratio.kind(), d.throttle_ratio.reason()));
  }
  std::string text = fmt::format("throttle ratio {:.2f}", d.throttle_ratio.value());
  if (d.periods.has_value() && d.throttled_periods.has_value()) {
    text += fmt::format(" ({} of {} periods)", d.throttled_periods.value(), d.periods.value());
  }
  if (d.judged_is_ancestor) text += fmt::format(" by ancestor {}", d.judged_path);
  return text;
}

std::string RequestsText(const LoadResult& load) {
  const std::int64_t failed = load.failed + load.timed_out;
  std::string text = fmt::format("{} requests", load.planned);
  if (failed > 0) text += fmt::format(", {} failed", failed);
  if (load.not_sent > 0) text += fmt::format(", {} not sent", load.not_sent);
  return text;
}

std::string EffectiveText(const EffectiveCpuLimit& limit) {
  const std::string cpus = fmt::format("{:.4g} CPUs", limit.cpus);
  switch (limit.source) {
    case EffectiveCpuLimit::Source::kQuota:
      return fmt::format("{} by the quota of {}", cpus, limit.path);
    case EffectiveCpuLimit::Source::kCpuset:
      return fmt::format("{} by the cpuset of {}", cpus, limit.path);
    case EffectiveCpuLimit::Source::kOnlineCpus:
      break;
  }
  return cpus + ", all that are online";
}

std::string UsageLine(const CgroupDelta& d) {
  std::string text = Show(d.usage_cores, Two);
  if (!d.usage_cores.has_value()) return text;
  text += " CPUs";
  if (d.usage_of_limit.has_value()) {
    text += fmt::format(", {:.1f} % of the limit", d.usage_of_limit.value() * 100);
  }
  if (d.usage_of_host.has_value()) {
    text += fmt::format(", {:.2f} % of the host", d.usage_of_host.value() * 100);
  }
  return text;
}

std::string ThrottlingLine(const CgroupDelta& d) {
  std::string text = RatioText(d);
  if (d.throttled_time.has_value()) {
    text += fmt::format(", {} throttled over all CPUs in {}",
                        throttletest::ToString(d.throttled_time.value()),
                        throttletest::ToString(d.wall));
  }
  return text;
}

std::string HostLine(const HostActivity& host) {
  const auto percent = [](double share) { return fmt::format("{:.1f} %", share * 100); };
  return fmt::format("CPU time of others {}, steal {}", Show(host.others_cpu, percent),
                     Show(host.steal, percent));
}

std::string MemoryLine(const Measurement& m) {
  const CgroupDelta& d = m.cgroup;
  const auto size = [](std::int64_t b) { return ToString(ByteSize(b)); };
  std::string peak = "peak " + Show(d.memory_peak, size);
  if (d.memory_peak.has_value() && !d.memory_peak_of_window) {
    peak = fmt::format("peak at least {}, at most {}", Show(m.sampled_memory_peak, size),
                       size(d.memory_peak.value()));
  }
  return fmt::format("{}, OOM kills {}", peak, Show(d.oom_kills, Whole));
}

void Line(std::string& out, const char* name, const std::string& value) {
  out += fmt::format("{:<12} {}\n", name, value);
}

// "cpus 0.5", or of an attached service "found, not asked for: ...".
std::string LimitsText(const Measurement& m) {
  return m.attached ? "found, not asked for: " + ToString(m.requested) : ToString(m.limits);
}

// "elapsed 4.03 s", or of a job that was stopped "ran for 5.00 s".
std::string ElapsedText(const JobRun& job) {
  return fmt::format("{} {}", job.elapsed.has_value() ? "elapsed" : "ran for",
                     internal::ShortTime(job.ran));
}

std::string JobSummary(const Measurement& m) {
  std::string text =
      fmt::format("{}, {}, {}", m.job->ToString(), ElapsedText(*m.job), RatioText(m.cgroup));
  if (m.cgroup.usage.has_value()) {
    text += fmt::format(", {} CPU", internal::ShortTime(m.cgroup.usage.value()));
  }
  if (m.cgroup.usage_cores.has_value()) {
    text += fmt::format(", {:.2f} CPUs", m.cgroup.usage_cores.value());
  }
  return text;
}

std::string LoadSummary(const Measurement& m) {
  std::string text = RatioText(m.cgroup);
  const LatencySamples samples = m.load.ResponseTimes();
  if (!samples.empty()) {
    text += fmt::format(", P50 {}, P99 {}", ToString(samples.At(Percentile(50))),
                        ToString(samples.At(Percentile(99))));
  }
  text += ", " + RequestsText(m.load);
  if (m.cgroup.usage_cores.has_value()) {
    text += fmt::format(", {:.2f} CPUs", m.cgroup.usage_cores.value());
  }
  return text;
}

void JobLines(std::string& out, const Measurement& m) {
  const JobRun& job = *m.job;
  Line(out, "job", m.request);
  Line(out, "end", job.ToString());
  std::string elapsed =
      (job.elapsed.has_value() ? "" : "stopped after ") + internal::ShortTime(job.ran);
  if (job.at_most_before.count() > 0) {
    elapsed += fmt::format(" (begun at most {} before)", ToString(job.at_most_before));
  }
  Line(out, "elapsed", elapsed);
}

void LoadLines(std::string& out, const Measurement& m) {
  Line(out, "load", fmt::format("{}, {}: {}", m.plan, m.request, RequestsText(m.load)));
  Line(out, "response", LatencyLine(m.load.ResponseTimes()));
  Line(out, "service", LatencyLine(m.load.ServiceTimes()));
  Line(out, "start lag", LatencyLine(m.load.StartLags()));
}

void AddLoadProperties(std::vector<std::pair<std::string, std::string>>& list,
                       const Measurement& m) {
  const LatencySamples response = m.load.ResponseTimes();
  for (const NamedPercentile& p : kShown) {
    list.emplace_back(std::string(p.key) + "_ms", LatencyProperty(response, p.percent));
  }
  list.emplace_back("start_lag_p99_ms", LatencyProperty(m.load.StartLags(), 99));
  list.emplace_back("requests", Whole(m.load.planned));
  list.emplace_back("failed_requests", Whole(m.load.failed + m.load.timed_out));
}

void AddJobProperties(std::vector<std::pair<std::string, std::string>>& list,
                      const Measurement& m) {
  list.emplace_back("elapsed_ms", Show(m.job->elapsed, Milliseconds));
  list.emplace_back("cpu_ms", Show(m.cgroup.usage, Milliseconds));
  list.emplace_back("exit_status", Show(m.job->status(), Whole));
}

}  // namespace

std::string Summary(const Measurement& m) {
  std::string text = m.job ? JobSummary(m) : LoadSummary(m);
  if (!m.validity.trusted()) text += "; inconclusive: " + m.validity.ToString();
  return text;
}

std::string Details(const Measurement& m) {
  std::string out;
  Line(out, "launcher", m.launcher_version.empty() ? m.launcher : m.launcher_version);
  Line(out, "limits",
       fmt::format("{}; in force: {}", LimitsText(m), EffectiveText(m.cgroup.effective)));
  if (m.job) {
    JobLines(out, m);
  } else {
    LoadLines(out, m);
  }
  Line(out, "throttling", ThrottlingLine(m.cgroup));
  Line(out, "CPU use", UsageLine(m.cgroup));
  if (m.is_burst_load && !m.job) {
    Line(out, "CPU a burst", Show(m.MedianBatchCpu(), ToMilliseconds));
  }
  Line(out, "memory", MemoryLine(m));
  Line(out, "host", HostLine(m.host));
  Line(out, "validity",
       m.validity.trusted() ? "trusted" : "inconclusive: " + m.validity.ToString());
  if (m.early) Line(out, "early", m.early->ToString());
  for (const std::string& note : m.notes) Line(out, "note", note);
  return out;
}

std::vector<std::pair<std::string, std::string>> Properties(const Measurement& m) {
  const CgroupDelta& d = m.cgroup;
  std::vector<std::pair<std::string, std::string>> list = {
      {"launcher", m.launcher},
      {"limits", LimitsText(m)},
      {"effective_cpus", fmt::format("{:.4g}", d.effective.cpus)},
      {"throttle_ratio", Show(d.throttle_ratio, Two)},
      {"nr_periods", Show(d.periods, Whole)},
      {"nr_throttled", Show(d.throttled_periods, Whole)},
      {"throttled_ms", Show(d.throttled_time, Milliseconds)},
      {"cpu_usage_cpus", Show(d.usage_cores, Two)},
  };
  if (m.job) {
    AddJobProperties(list, m);
  } else {
    AddLoadProperties(list, m);
  }
  list.emplace_back("memory_peak_bytes", Show(d.memory_peak, Whole));
  list.emplace_back("oom_kills", Show(d.oom_kills, Whole));
  list.emplace_back("validity",
                    m.validity.trusted() ? "trusted" : "inconclusive: " + m.validity.ToString());
  if (m.early) list.emplace_back("early", m.early->ToString());
  list.emplace_back("attempt", Whole(m.attempt));
  list.emplace_back("kernel", m.environment.kernel);
  return list;
}

}  // namespace throttletest

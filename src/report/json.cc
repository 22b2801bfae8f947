#include "throttletest/report/json.h"

#include "report/json_series.h"
#include "report/json_writer.h"

namespace throttletest {
namespace {

using internal::Absences;
using internal::Fields;
using internal::Json;

constexpr const char* kNotRequested = "not requested";
constexpr const char* kNotOurs = "not requested: the service was attached to";

std::optional<std::int64_t> Microseconds(const std::optional<std::chrono::microseconds>& time) {
  if (!time) return std::nullopt;
  return time->count();
}

Json EnvironmentJson(const Environment& env, Absences& absences) {
  Fields f("environment", absences);
  const auto text = [&](const char* key, const std::string& value) {
    if (value.empty()) {
      f.SetAbsent(key, "the system does not say");
    } else {
      f.Set(key, value);
    }
  };
  const auto number = [&](const char* key, int value) {
    if (value == 0) {
      f.SetAbsent(key, "the system does not say");
    } else {
      f.Set(key, value);
    }
  };
  text("throttletest_version", env.throttletest_version);
  text("kernel", env.kernel);
  text("cpu_model", env.cpu_model);
  number("online_cpus", env.online_cpus);
  text("cgroup_mode", env.cgroup_mode);
  number("bandwidth_slice_us", env.bandwidth_slice_us);
  text("timestamp", env.timestamp);
  return f.Take();
}

void SetBytes(Fields& f, const char* key, const std::optional<ByteSize>& size,
              const char* absence) {
  if (!size) {
    f.SetAbsent(key, absence);
  } else if (size->unlimited()) {
    f.Set(key, "unlimited");
  } else {
    f.Set(key, size->bytes());
  }
}

Json RequestedJson(const Measurement& m, Absences& absences) {
  Fields f("limits.requested", absences);
  // What was found is not what was asked for; numbers of it are in limits.effective.
  const ResolvedLimits limits = m.attached ? ResolvedLimits{} : m.requested;
  const auto asked = [&](std::chrono::microseconds time) {
    return m.attached ? std::nullopt : std::optional(time.count());
  };
  const char* absence = m.attached ? kNotOurs : kNotRequested;
  f.Set("text", m.attached ? "found: " + ToString(m.requested) : ToString(m.limits));
  f.Set("cpus", limits.cpu.cpus(), absence);
  f.Set("quota_us", Microseconds(limits.cpu.quota), absence);
  f.Set("period_us", asked(limits.cpu.period), absence);
  f.Set("burst_us", asked(limits.cpu.burst), absence);
  std::optional<std::string> cpuset;
  if (limits.cpuset) cpuset = limits.cpuset->ToString();
  f.Set("cpuset", cpuset, absence);
  SetBytes(f, "memory_bytes", limits.memory, absence);
  SetBytes(f, "memory_and_swap_bytes", limits.memory_and_swap, absence);
  f.Set("declared", internal::OriginsJson(m.limits.origins));
  return f.Take();
}

const char* SourceName(EffectiveCpuLimit::Source source) {
  switch (source) {
    case EffectiveCpuLimit::Source::kQuota:
      return "quota";
    case EffectiveCpuLimit::Source::kCpuset:
      return "cpuset";
    case EffectiveCpuLimit::Source::kOnlineCpus:
      return "online_cpus";
  }
  return "online_cpus";
}

Json EffectiveJson(const EffectiveCpuLimit& limit, const std::string& unseen, Absences& absences) {
  constexpr const char* kNoQuota = "no CPU quota in force";
  Fields f("limits.effective", absences);
  f.Set("cpus", limit.cpus);
  f.Set("source", SourceName(limit.source));
  if (limit.source == EffectiveCpuLimit::Source::kOnlineCpus) {
    f.SetAbsent("path", "the machine's online CPUs are the limit");
  } else {
    f.Set("path", limit.path);
  }
  if (limit.quota) {
    f.Set("quota_us", Microseconds(limit.quota->quota), kNoQuota);
    f.Set("period_us", limit.quota->period.count());
    f.Set("burst_us", limit.quota->burst.count());
    f.Set("quota_path", limit.quota_path);
  } else {
    for (const char* key : {"quota_us", "period_us", "burst_us", "quota_path"}) {
      f.SetAbsent(key, kNoQuota);
    }
  }
  f.Set("ancestors_hidden", limit.ancestors_hidden);
  if (unseen.empty()) {
    f.SetAbsent("unseen", "every level of the cgroup tree is visible");
  } else {
    f.Set("unseen", unseen);
  }
  return f.Take();
}

Json CpuJson(const CgroupDelta& d, Absences& absences) {
  Fields f("cpu", absences);
  f.Set("wall_ns", d.wall.count());
  f.SetOutcome("nr_periods", d.periods);
  f.SetOutcome("nr_throttled", d.throttled_periods);
  f.SetOutcome("throttle_ratio", d.throttle_ratio);
  f.SetOutcome("throttled_ns", d.throttled_time);
  f.SetOutcome("throttled_per_second", d.throttled_per_second);
  f.SetOutcome("nr_bursts", d.bursts);
  f.SetOutcome("burst_ns", d.burst_time);
  f.SetOutcome("held_ns", d.held_time);
  f.SetOutcome("held_by_unseen_ns", d.held_by_unseen);
  f.SetOutcome("usage_ns", d.usage);
  f.SetOutcome("usage_cores", d.usage_cores);
  f.SetOutcome("usage_of_limit", d.usage_of_limit);
  f.SetOutcome("usage_of_host", d.usage_of_host);
  f.SetOutcome("pressure_some_ns", d.cpu_pressure_some);
  if (d.judged_path.empty()) {
    f.SetAbsent("judged_path", "no CPU quota in force");
  } else {
    f.Set("judged_path", d.judged_path);
  }
  f.Set("judged_is_ancestor", d.judged_is_ancestor);
  f.Set("weight", d.cpu_weight, "no cpu controller here");
  f.Set("levels", internal::LevelsJson(d.levels, absences));
  return f.Take();
}

Json MemoryJson(const Measurement& m, Absences& absences) {
  const CgroupDelta& d = m.cgroup;
  Fields f("memory", absences);
  f.SetOutcome("peak_bytes", d.memory_peak);
  f.Set("peak_is_of_window", d.memory_peak_of_window);
  f.SetOutcome("sampled_peak_bytes", m.sampled_memory_peak);
  f.SetOutcome("oom_kills", d.oom_kills);
  f.SetOutcome("pressure_some_ns", d.memory_pressure_some);
  return f.Take();
}

Json HostJson(const HostActivity& host, Absences& absences) {
  Fields f("host", absences);
  f.SetOutcome("steal", host.steal);
  f.SetOutcome("others_cpu", host.others_cpu);
  f.SetOutcome("cpu_pressure", host.cpu_pressure);
  f.SetOutcome("own_throttled_periods", host.own_throttled_periods);
  if (host.own_quota.empty()) {
    f.SetAbsent("own_quota", "no CPU quota is visible above the test process");
  } else {
    f.Set("own_quota", host.own_quota);
  }
  f.SetOutcome("own_held_by_unseen_ns", host.own_held_by_unseen);
  return f.Take();
}

Json ServiceJson(const Measurement& m, Absences& absences) {
  Fields f("service", absences);
  f.Set("name", m.service);
  f.SetOutcome("threads", m.threads);
  return f.Take();
}

Json LoadJson(const Measurement& m, Absences& absences) {
  const LoadResult& load = m.load;
  Fields f("load", absences);
  f.Set("plan", m.plan);
  f.Set("request", m.request);
  f.Set("kinds", Json(m.request_kinds));
  f.Set("planned", load.planned);
  f.Set("sent", load.sent);
  f.Set("ok", load.ok);
  f.Set("failed", load.failed);
  f.Set("timed_out", load.timed_out);
  f.Set("not_sent", load.not_sent);
  f.Set("retried", load.retried);
  f.Set("late", load.late);
  if (load.planned > load.not_sent) {
    f.Set("error_ratio", load.error_ratio());
  } else {
    f.SetAbsent("error_ratio", "no request was sent");
  }
  std::optional<double> offered;
  std::optional<double> answered;
  if (const auto throughput = load.throughput()) {
    offered = throughput->offered;
    answered = throughput->answered;
  }
  f.Set("offered_per_second", offered, "all requests were meant to start at once");
  f.Set("answered_per_second", answered, "all requests were meant to start at once");
  f.Set("failure_reasons", Json(load.failure_reasons));
  f.Set("warm_up_failed", m.warm_up_failed);
  f.Set("engine_cpu_ns", load.engine_cpu.count());
  f.Set("interrupted", load.interrupted);
  return f.Take();
}

Json UnlimitedJson(const Measurement& m, Absences& absences) {
  Fields f("job.unlimited", absences);
  f.SetOutcome("elapsed_ns", m.job->elapsed);
  f.SetOutcome("usage_ns", m.cgroup.usage);
  f.SetOutcome("usage_cores", m.cgroup.usage_cores);
  f.SetOutcome("memory_peak_bytes", m.cgroup.memory_peak);
  f.Set("end", m.job->ToString());
  f.Set("validity", m.validity.trusted() ? "trusted" : "inconclusive: " + m.validity.ToString());
  return f.Take();
}

Json JobJson(const JobRun& job, const Measurement* unlimited, Absences& absences) {
  Fields f("job", absences);
  f.SetOutcome("elapsed_ns", job.elapsed);
  f.Set("ran_ns", job.ran.count());
  f.Set("at_most_before_ns", job.at_most_before.count());
  f.Set("succeeded", job.succeeded());
  f.Set("end", job.ToString());
  f.Set("exit_code", job.end.exit_code, "it ended by a signal, was stopped, or is not known");
  f.Set("signal", job.end.signal, "it ended by itself, was stopped, or is not known");
  f.Set("oom_kills", job.end.oom_kills, "nothing says whether it was OOM-killed");
  f.Set("timed_out", job.timed_out);
  f.Set("timeout_ns", job.timeout.count());
  f.Set("output", job.end.logs);
  if (unlimited != nullptr && unlimited->job) {
    f.Set("unlimited", UnlimitedJson(*unlimited, absences));
  } else {
    f.SetAbsent("unlimited", "the job was not run without limits as well");
  }
  return f.Take();
}

Json ValidityJson(const Measurement& m) {
  Json reasons = Json::array();
  for (const ValidityFault& fault : m.validity.faults) {
    reasons.push_back({{"gate", ValidityGateName(fault.gate)}, {"text", fault.text}});
  }
  return {{"status", m.validity.trusted() ? "trusted" : "inconclusive"},
          {"reasons", reasons},
          {"bounds",
           {{"start_lag_p99_ns", m.bounds.start_lag_p99.value_or(DefaultStartLagBound({})).count()},
            {"min_periods", m.bounds.min_periods},
            {"max_steal", m.bounds.max_steal},
            {"max_others_cpu", m.bounds.max_others_cpu},
            {"max_own_throttled_periods", m.bounds.max_own_throttled_periods}}}};
}

Json EarlyJson(const EarlyVerdicts& early, Absences& absences) {
  Json budgets = Json::array();
  for (const EarlyVerdict& verdict : early.budgets) {
    Fields f("early.budgets[" + std::to_string(budgets.size()) + "]", absences);
    f.Set("budget", verdict.budget);
    f.Set("verdict", VerdictName(verdict.verdict));
    f.Set("observations", verdict.observations);
    f.Set("floor", verdict.floor, "such a budget is only met at the plan's end");
    budgets.push_back(f.Take());
  }
  return {{"error_rate", early.error_rate},
          {"ended_early", early.ended_early},
          {"observations", early.observations},
          {"planned_observations", early.planned_observations},
          {"requests_per_observation", early.requests_per_observation},
          {"duration_ns", early.duration.count()},
          {"budgets", budgets}};
}

Json IntervalJson(const Interval& interval, const std::string& path, Absences& absences) {
  Fields f(path, absences);
  f.Set("low", interval.low);
  f.Set("high", interval.high,
        interval.needed > 0 ? "too few requests beyond the percentile, see needed_requests"
                            : "the end falls on a failed or timed-out request");
  f.Set("confidence", interval.confidence);
  f.Set("method", interval.method);
  f.Set("units", interval.units);
  f.Set("unit_name", interval.unit_name);
  if (interval.needed > 0) {
    f.Set("needed_requests", interval.needed);
  } else {
    f.SetAbsent("needed_requests", "the upper end is not for want of requests");
  }
  return f.Take();
}

Json VerdictsJson(const std::vector<BudgetResult>& verdicts, Absences& absences) {
  Json list = Json::array();
  for (const BudgetResult& verdict : verdicts) {
    const std::string path = "verdicts[" + std::to_string(list.size()) + "]";
    Fields f(path, absences);
    f.Set("budget", verdict.budget);
    f.Set("verdict", VerdictName(verdict.verdict));
    f.Set("value", verdict.value, verdict.explanation);
    f.Set("unit", verdict.unit);
    if (verdict.interval.has_value()) {
      f.Set("interval", IntervalJson(verdict.interval.value(), path + ".interval", absences));
    } else {
      f.SetAbsent("interval", verdict.interval.reason());
    }
    f.Set("explanation", verdict.explanation);
    list.push_back(f.Take());
  }
  return list;
}

}  // namespace

std::string ToJson(const Measurement& m, const std::vector<BudgetResult>& verdicts,
                   const Measurement* unlimited) {
  Absences absences;
  Json doc;
  doc["schema"] = kJsonSchema;
  doc["environment"] = EnvironmentJson(m.environment, absences);
  doc["launcher"] = m.launcher;
  doc["launcher_version"] = m.launcher_version;
  doc["command"] = m.command;
  doc["attempt"] = m.attempt;
  doc["limits"]["requested"] = RequestedJson(m, absences);
  doc["limits"]["effective"] = EffectiveJson(m.cgroup.effective, m.cgroup.unseen, absences);
  doc["validity"] = ValidityJson(m);
  doc["verdicts"] = VerdictsJson(verdicts, absences);
  if (m.early) {
    doc["early"] = EarlyJson(*m.early, absences);
  } else {
    doc["early"] = nullptr;
    absences.Add("early", "the measurement was to run its whole plan");
  }
  doc["notes"] = m.notes;
  doc["cpu"] = CpuJson(m.cgroup, absences);
  doc["memory"] = MemoryJson(m, absences);
  doc["host"] = HostJson(m.host, absences);
  doc["service"] = ServiceJson(m, absences);
  if (m.job) {
    doc["job"] = JobJson(*m.job, unlimited, absences);
    doc["load"] = nullptr;
    absences.Add("load", "a job was run: nothing was sent to it");
  } else {
    doc["job"] = nullptr;
    absences.Add("job", "a service was measured under load");
    doc["load"] = LoadJson(m, absences);
  }
  doc["response_ms"] = internal::LatencyJson("response_ms", m.load.ResponseTimes(), absences);
  doc["service_ms"] = internal::LatencyJson("service_ms", m.load.ServiceTimes(), absences);
  doc["start_lag_ms"] = internal::LatencyJson("start_lag_ms", m.load.StartLags(), absences);
  doc["batch_spread_ms"] =
      internal::LatencyJson("batch_spread_ms", m.load.BatchSpreads(), absences,
                            "no batch of two or more requests was wholly sent");
  doc["batch_order_median_ms"] = internal::OrderMediansJson(m.load, absences);
  doc["median_batch_cpu_ns"] = internal::MedianBatchCpuJson(m, absences);
  doc["batches"] = internal::BatchesJson(m.batches, absences);
  doc["throttled_windows"] = internal::WindowsJson(m);
  doc["timeline"] = internal::TimelineJson(m, absences);
  doc["requests"] = internal::RequestsJson(m.load);
  doc["not_available"] = absences.reasons();
  return internal::Print(doc);
}

}  // namespace throttletest

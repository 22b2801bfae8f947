#include "report/json_series.h"

#include <array>

namespace throttletest::internal {
namespace {

struct NamedPercentile {
  const char* key;
  double percent;
};
constexpr std::array<NamedPercentile, 6> kPercentiles = {
    {{"p50", 50}, {"p90", 90}, {"p95", 95}, {"p99", 99}, {"p999", 99.9}, {"max", 100}}};

double Milliseconds(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) / 1e6;
}

template <typename T>
Json NumberOrNull(const Outcome<T>& outcome) {
  if (!outcome.has_value()) return nullptr;
  if constexpr (requires { outcome.value().count(); }) {
    return outcome.value().count();
  } else {
    return outcome.value();
  }
}

Json InstantOrNull(std::int64_t ns) {
  if (ns < 0) return nullptr;
  return ns;
}

const char* FateName(RequestFate fate) {
  switch (fate) {
    case RequestFate::kOk:
      return "ok";
    case RequestFate::kFailed:
      return "failed";
    case RequestFate::kTimedOut:
      return "timed_out";
    case RequestFate::kNotSent:
      return "not_sent";
  }
  return "not_sent";
}

Json Table(const std::vector<std::string>& columns) {
  Json table;
  table["columns"] = columns;
  table["rows"] = Json::array();
  return table;
}

}  // namespace

Json LatencyJson(const std::string& path, const LatencySamples& samples, Absences& absences,
                 const char* none) {
  Fields f(path, absences);
  f.Set("samples", samples.count());
  Json too_few = Json::array();
  for (const NamedPercentile& p : kPercentiles) {
    if (samples.empty()) {
      f.SetAbsent(p.key, none);
      continue;
    }
    const Percentile percentile(p.percent);
    if (samples.count() < percentile.SamplesNeeded()) too_few.push_back(p.key);
    const Latency latency = samples.At(percentile);
    if (latency.infinite()) {
      f.SetAbsent(p.key, "no answer: the percentile falls on a failed or timed-out request");
    } else {
      f.Set(p.key, Milliseconds(latency.value()));
    }
  }
  f.Set("too_few_samples_for", too_few);
  return f.Take();
}

Json OrderMediansJson(const LoadResult& load, Absences& absences) {
  const std::vector<Latency> medians = load.BatchOrderMedians();
  if (medians.empty()) {
    absences.Add("batch_order_median_ms", "no whole batch was sent");
    return nullptr;
  }
  Json list = Json::array();
  for (std::size_t i = 0; i < medians.size(); ++i) {
    if (!medians[i].infinite()) {
      list.push_back(Milliseconds(medians[i].value()));
      continue;
    }
    list.push_back(nullptr);
    absences.Add("batch_order_median_ms[" + std::to_string(i) + "]",
                 "no answer in half of the batches or more");
  }
  return list;
}

Json OriginsJson(const std::vector<LimitOrigin>& origins) {
  Json lines = Json::array();
  for (const LimitOrigin& origin : origins) {
    lines.push_back({{"file", origin.file},
                     {"line", origin.line},
                     {"key", origin.key},
                     {"value", origin.value}});
  }
  return lines;
}

Json LevelsJson(const std::vector<LevelDelta>& levels, Absences& absences) {
  Json list = Json::array();
  for (const LevelDelta& level : levels) {
    Fields f("cpu.levels[" + std::to_string(list.size()) + "]", absences);
    f.Set("path", level.path);
    std::optional<std::int64_t> quota;
    if (level.bandwidth.quota) quota = level.bandwidth.quota->count();
    f.Set("quota_us", quota, "no quota at this level");
    f.Set("period_us", level.bandwidth.period.count());
    f.Set("burst_us", level.bandwidth.burst.count());
    f.Set("nr_periods", level.periods);
    f.Set("nr_throttled", level.throttled_periods);
    f.Set("throttled_ns", level.throttled_time.count());
    f.SetOutcome("throttle_ratio", level.throttle_ratio);
    list.push_back(f.Take());
  }
  return list;
}

Json MedianBatchCpuJson(const Measurement& m, Absences& absences) {
  const Outcome<std::chrono::nanoseconds> median = m.MedianBatchCpu();
  if (!median.has_value()) absences.Add("median_batch_cpu_ns", median.reason());
  return NumberOrNull(median);
}

Json BatchesJson(const std::vector<BatchUse>& batches, Absences& absences) {
  Json table = Table({"batch", "cpu_ns", "nr_periods", "nr_throttled", "throttled_ns"});
  for (const BatchUse& use : batches) {
    if (!use.cpu.has_value()) absences.Add("batches.rows[].cpu_ns", use.cpu.reason());
    if (!use.periods.has_value()) absences.Add("batches.rows[].nr_periods", use.periods.reason());
    if (!use.throttled_periods.has_value()) {
      absences.Add("batches.rows[].nr_throttled", use.throttled_periods.reason());
    }
    if (!use.throttled_time.has_value()) {
      absences.Add("batches.rows[].throttled_ns", use.throttled_time.reason());
    }
    table["rows"].push_back({use.batch, NumberOrNull(use.cpu), NumberOrNull(use.periods),
                             NumberOrNull(use.throttled_periods),
                             NumberOrNull(use.throttled_time)});
  }
  return table;
}

Json WindowsJson(const Measurement& m) {
  Json table = Table({"begin_ns", "end_ns"});
  for (const ThrottledWindow& window : m.throttled_windows) {
    const std::chrono::nanoseconds begin = window.begin - m.load.epoch;
    const std::chrono::nanoseconds end = window.end - m.load.epoch;
    table["rows"].push_back({begin.count(), end.count()});
  }
  return table;
}

Json TimelineJson(const Measurement& m, Absences& absences) {
  const Timeline& timeline = m.timeline;
  Json table = Table({"t_ns", "usage_ns", "nr_periods", "nr_throttled", "throttled_ns"});
  Json& rows = table["rows"];
  // Counters since the first sample: the service's earlier life is no part of the window.
  for (const Cgroup::Quick& sample : timeline.samples) {
    const Cgroup::Quick& first = timeline.samples.front();
    const std::chrono::nanoseconds t = sample.time - m.load.epoch;
    Json row = {t.count(), nullptr, nullptr, nullptr, nullptr};
    if (sample.usage && first.usage) {
      row[1] = (*sample.usage - *first.usage).count();
    } else {
      absences.Add("timeline.rows[].usage_ns", "no CPU accounting for this cgroup");
    }
    if (sample.counters && first.counters) {
      row[2] = sample.counters->periods - first.counters->periods;
      row[3] = sample.counters->throttled_periods - first.counters->throttled_periods;
      row[4] = (sample.counters->throttled_time - first.counters->throttled_time).count();
    } else {
      for (const char* column : {"nr_periods", "nr_throttled", "throttled_ns"}) {
        absences.Add(std::string("timeline.rows[].") + column, "no CPU quota in force");
      }
    }
    rows.push_back(std::move(row));
  }
  table["interval_ns"] = timeline.interval.count();
  table["sampler_cpu_ns"] = timeline.own_cpu.count();
  table["stopped_because"] = timeline.stopped_because;
  return table;
}

Json RequestsJson(const LoadResult& load) {
  Json table = Table(
      {"intended_ns", "sent_ns", "done_ns", "batch", "kind", "status", "fate", "late", "retried"});
  Json& rows = table["rows"];
  for (const RequestRecord& r : load.records) {
    rows.push_back({r.intended_ns, InstantOrNull(r.sent_ns), InstantOrNull(r.done_ns), r.batch,
                    r.kind, r.status == 0 ? Json(nullptr) : Json(r.status), FateName(r.fate),
                    r.late, r.retried});
  }
  return table;
}

}  // namespace throttletest::internal

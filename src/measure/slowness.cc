#include "measure/slowness.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "measure/demand.h"
#include "measure/metric.h"
#include "throttletest/base/duration.h"

namespace throttletest::internal {
namespace {

using std::chrono::nanoseconds;
using TimePoint = std::chrono::steady_clock::time_point;

// Worth telling: a tenth of the CPUs is more than an idle machine uses, and steal of one in fifty
// milliseconds already shows in a 99th percentile.
constexpr double kBusy = 0.10;
constexpr double kStolen = 0.02;
constexpr nanoseconds kLate = std::chrono::milliseconds(10);
// Up to here the time taken is explained by the CPU time needed.
constexpr double kExplained = 1.5;
constexpr double kSaturated = 0.85;

Span SpanOf(const LoadResult& load, const RequestRecord& r, bool from_intended) {
  const std::int64_t begin = from_intended || r.sent_ns < 0 ? r.intended_ns : r.sent_ns;
  return {load.epoch + nanoseconds(begin),
          r.done_ns < 0 ? TimePoint::max() : load.epoch + nanoseconds(r.done_ns)};
}

bool Overlaps(const std::vector<ThrottledWindow>& windows, const Span& span) {
  // Windows are sorted and do not overlap: the first that ends after the start decides.
  const auto window = std::partition_point(
      windows.begin(), windows.end(), [&](const ThrottledWindow& w) { return w.end < span.begin; });
  return window != windows.end() && window->begin <= span.end;
}

bool HostWasBusy(const Measurement& m) {
  return m.host.others_cpu.optional().value_or(0) >= kBusy ||
         m.host.steal.optional().value_or(0) >= kStolen;
}

// The nearest-rank median. Absent: none.
std::optional<nanoseconds> Median(std::vector<nanoseconds> times) {
  if (times.empty()) return std::nullopt;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// How long the slow requests took, those of one burst together if `by_batch`.
std::optional<nanoseconds> TimeTaken(const std::vector<SlowRequest>& slow, bool by_batch) {
  std::vector<nanoseconds> times;
  std::map<std::uint32_t, Span> bursts;
  for (const SlowRequest& request : slow) {
    if (request.span.end == TimePoint::max()) continue;
    if (!by_batch) times.push_back(request.span.end - request.span.begin);
    Span& burst = bursts.try_emplace(request.batch, request.span).first->second;
    burst.begin = std::min(burst.begin, request.span.begin);
    burst.end = std::max(burst.end, request.span.end);
  }
  if (by_batch) {
    for (const auto& [batch, span] : bursts) times.push_back(span.end - span.begin);
  }
  return Median(std::move(times));
}

// What one burst, or without bursts one request, needs.
struct Work {
  std::string text;
  nanoseconds least{0};  // no CPUs of this machine do it faster
  bool is_burst = false;
};

std::optional<Work> FindWork(const Measurement& m, int usable) {
  const Outcome<nanoseconds> batch = m.MedianBatchCpu();
  if (m.is_burst_load && batch.has_value()) {
    const nanoseconds least = batch.value() / usable;
    return Work{fmt::format("One burst needs {} CPU, which takes at least {} on the {} the service "
                            "may use",
                            ToMilliseconds(batch.value()), ToMilliseconds(least), CpuCount(usable)),
                least, true};
  }
  if (!m.cgroup.usage.has_value() || m.load.sent <= 0) return std::nullopt;
  const nanoseconds each = m.cgroup.usage.value() / m.load.sent;
  return Work{fmt::format("A request needs {} CPU on average", ToMilliseconds(each)), each, false};
}

std::string Conclusion(const Measurement& m, const Work& work, nanoseconds taken, int usable) {
  const auto least = static_cast<double>(work.least.count());
  if (static_cast<double>(taken.count()) <= kExplained * least) {
    return ": the service itself is slow.";
  }
  const double used = m.cgroup.usage_cores.optional().value_or(0);
  if (used >= kSaturated * usable) {
    return fmt::format(": the service itself is slow, it used {:.2f} of the {} it may use.", used,
                       CpuCount(usable));
  }
  if (HostWasBusy(m)) return ".";
  return ": the service itself is slow. It waits, or works on fewer threads than there are CPUs, "
         "and no CPU limit changes that.";
}

}  // namespace

std::vector<SlowRequest> FindSlow(const Measurement& m, const MissedBudget& missed) {
  const bool response = missed.metric == Metric::kResponseTime;
  std::vector<SlowRequest> slow;
  for (const RequestRecord& r : m.load.records) {
    if (r.fate == RequestFate::kNotSent) continue;
    const Span span = SpanOf(m.load, r, response);
    const auto ns = static_cast<double>(nanoseconds(span.end - span.begin).count());
    const bool within = Holds(missed.comparison, ns, missed.bound);
    if (!within || r.fate != RequestFate::kOk) slow.push_back({span, r.batch});
  }
  return slow;
}

std::int64_t CountHeld(const std::vector<SlowRequest>& slow,
                       const std::vector<ThrottledWindow>& windows) {
  return std::count_if(slow.begin(), slow.end(),
                       [&](const SlowRequest& r) { return Overlaps(windows, r.span); });
}

std::string ServiceText(const Measurement& m, const std::vector<SlowRequest>& slow) {
  const int usable = UsableCpus(m);
  if (usable == 0) return "";
  const std::optional<Work> work = FindWork(m, usable);
  if (!work) return "";
  const std::optional<nanoseconds> taken = TimeTaken(slow, work->is_burst);
  if (!taken) return work->text + ".";
  return fmt::format("{}, and the slow ones take {} at the median{}", work->text,
                     ToMilliseconds(*taken), Conclusion(m, *work, *taken, usable));
}

std::string HostText(const Measurement& m) {
  if (!HostWasBusy(m)) return "";
  std::string text;
  const double others = m.host.others_cpu.optional().value_or(0);
  if (others >= kBusy) {
    text = fmt::format("other processes used {:.0f} % of its CPU time", others * 100);
  }
  const double steal = m.host.steal.optional().value_or(0);
  if (steal >= kStolen) {
    text += fmt::format("{}its hypervisor took {:.0f} % of its CPU time", text.empty() ? "" : ", ",
                        steal * 100);
  }
  const LatencySamples lags = m.load.StartLags();
  if (!lags.empty() && lags.At(Percentile(99)) > Latency(kLate)) {
    text += fmt::format(", start lag P99 {}", ToString(lags.At(Percentile(99))));
  }
  return fmt::format("The host was busy: {}.", text);
}

}  // namespace throttletest::internal

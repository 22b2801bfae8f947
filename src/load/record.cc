#include "throttletest/load/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "load/tally.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

constexpr std::size_t kMaxReasons = 100;

std::chrono::nanoseconds Between(std::int64_t from, std::int64_t to, const char* what) {
  if (from < 0 || to < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a request that was never sent has no {}", what));
  }
  return std::chrono::nanoseconds(to - from);
}

// Sorted response times of the records [first, last) of one batch. Absent: empty when one of them
// was not sent.
std::vector<Latency> BatchResponses(const RequestRecord* first, const RequestRecord* last) {
  std::vector<Latency> responses;
  for (const RequestRecord* r = first; r != last; ++r) {
    if (r->fate == RequestFate::kNotSent) return {};
    responses.push_back(r->fate == RequestFate::kOk ? Latency(r->response_time())
                                                    : Latency::Infinite());
  }
  std::sort(responses.begin(), responses.end());
  return responses;
}

// One of the two times of all requests that were sent, of one kind or of all.
LatencySamples SamplesOf(const std::vector<RequestRecord>& records, std::optional<int> kind,
                         std::chrono::nanoseconds (RequestRecord::*time)() const) {
  std::vector<Latency> samples;
  samples.reserve(records.size());
  for (const RequestRecord& r : records) {
    if (r.fate == RequestFate::kNotSent || (kind && r.kind != *kind)) continue;
    samples.push_back(r.fate == RequestFate::kOk ? Latency((r.*time)()) : Latency::Infinite());
  }
  return LatencySamples(std::move(samples));
}

const RequestRecord* EndOfBatch(const RequestRecord* first, const RequestRecord* end) {
  return std::find_if(first, end, [&](const RequestRecord& r) { return r.batch != first->batch; });
}

}  // namespace

std::chrono::nanoseconds RequestRecord::start_lag() const {
  // intended_ns may be 0 but never negative, so only sent_ns tells.
  return Between(intended_ns, sent_ns, "start lag");
}

std::chrono::nanoseconds RequestRecord::service_time() const {
  return Between(sent_ns, done_ns, "service time");
}

std::chrono::nanoseconds RequestRecord::response_time() const {
  return Between(intended_ns, done_ns, "response time");
}

LatencySamples LoadResult::ResponseTimes() const {
  return SamplesOf(records, std::nullopt, &RequestRecord::response_time);
}

LatencySamples LoadResult::ServiceTimes() const {
  return SamplesOf(records, std::nullopt, &RequestRecord::service_time);
}

LatencySamples LoadResult::ResponseTimesOf(int kind) const {
  return SamplesOf(records, kind, &RequestRecord::response_time);
}

LatencySamples LoadResult::ServiceTimesOf(int kind) const {
  return SamplesOf(records, kind, &RequestRecord::service_time);
}

LatencySamples LoadResult::StartLags() const {
  std::vector<Latency> samples;
  samples.reserve(records.size());
  for (const RequestRecord& r : records) {
    if (r.fate != RequestFate::kNotSent && r.sent_ns >= 0) samples.emplace_back(r.start_lag());
  }
  return LatencySamples(std::move(samples));
}

LatencySamples LoadResult::BatchSpreads() const {
  std::vector<Latency> spreads;
  const RequestRecord* const end = records.data() + records.size();
  for (const RequestRecord* first = records.data(); first != end;) {
    const RequestRecord* last = EndOfBatch(first, end);
    const auto [earliest, latest] = std::minmax_element(
        first, last,
        [](const RequestRecord& a, const RequestRecord& b) { return a.sent_ns < b.sent_ns; });
    // An absent time is -1, the earliest of all.
    if (last - first > 1 && earliest->sent_ns >= 0) {
      spreads.emplace_back(std::chrono::nanoseconds(latest->sent_ns - earliest->sent_ns));
    }
    first = last;
  }
  return LatencySamples(std::move(spreads));
}

double LoadResult::error_ratio() const {
  const std::int64_t tried = planned - not_sent;
  if (tried <= 0) return 0;
  return static_cast<double>(failed + timed_out) / static_cast<double>(tried);
}

std::optional<LoadResult::Throughput> LoadResult::throughput() const {
  if (records.empty()) return std::nullopt;
  const std::int64_t first = records.front().intended_ns;
  const std::int64_t last = records.back().intended_ns;
  if (last == first) return std::nullopt;
  std::int64_t offered = 0;
  std::int64_t answered = 0;
  for (const RequestRecord& r : records) {
    if (r.intended_ns == last) break;
    if (r.fate == RequestFate::kNotSent) continue;
    ++offered;
    if (r.fate != RequestFate::kTimedOut && r.done_ns <= last) ++answered;
  }
  const double seconds = static_cast<double>(last - first) / 1e9;
  return Throughput{.offered = static_cast<double>(offered) / seconds,
                    .answered = static_cast<double>(answered) / seconds};
}

std::vector<Latency> LoadResult::BatchOrderMedians() const {
  std::vector<std::vector<Latency>> by_order;  // [k] holds the k-th fastest of every whole batch
  const RequestRecord* const end = records.data() + records.size();
  for (const RequestRecord* first = records.data(); first != end;) {
    const RequestRecord* last = EndOfBatch(first, end);
    const std::vector<Latency> responses = BatchResponses(first, last);
    by_order.resize(std::max(by_order.size(), responses.size()));
    for (std::size_t k = 0; k < responses.size(); ++k) by_order[k].push_back(responses[k]);
    first = last;
  }
  std::vector<Latency> medians;
  medians.reserve(by_order.size());
  for (std::vector<Latency>& samples : by_order) {
    medians.push_back(LatencySamples(std::move(samples)).At(Percentile(50)));
  }
  return medians;
}

namespace internal {

std::vector<RequestRecord> RecordsOf(const Schedule& schedule) {
  std::vector<RequestRecord> records;
  records.reserve(static_cast<std::size_t>(schedule.request_count()));
  std::uint32_t number = 0;
  for (const Schedule::Batch& batch : schedule.batches()) {
    for (int i = 0; i < batch.size; ++i) {
      const auto request = static_cast<std::int64_t>(records.size());
      records.push_back(
          {.intended_ns = batch.start.count(), .batch = number, .kind = schedule.KindOf(request)});
    }
    ++number;
  }
  return records;
}

void Tally(LoadResult& result) {
  result.planned = static_cast<std::int64_t>(result.records.size());
  result.ok = result.failed = result.timed_out = result.not_sent = result.retried = result.late = 0;
  for (const RequestRecord& r : result.records) {
    switch (r.fate) {
      case RequestFate::kOk:
        ++result.ok;
        break;
      case RequestFate::kFailed:
        ++result.failed;
        break;
      case RequestFate::kTimedOut:
        ++result.timed_out;
        break;
      case RequestFate::kNotSent:
        ++result.not_sent;
        break;
    }
    if (r.retried) ++result.retried;
    if (r.late) ++result.late;
  }
  result.sent = result.planned - result.not_sent;
}

void CountReason(LoadResult& result, const std::string& reason) {
  const bool full = result.failure_reasons.size() >= kMaxReasons;
  const bool known = result.failure_reasons.contains(reason);
  ++result.failure_reasons[known || !full ? reason : "other reasons"];
}

}  // namespace internal
}  // namespace throttletest

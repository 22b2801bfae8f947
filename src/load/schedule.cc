#include "throttletest/load/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/refuse.h"
#include "load/arrivals.h"
#include "load/bounds.h"
#include "throttletest/base/error.h"

namespace throttletest {
namespace {

using internal::Refuse;

std::vector<Schedule::Batch> EvenBatches(int batch_size, std::int64_t batches,
                                         std::chrono::nanoseconds per,
                                         std::chrono::nanoseconds duration) {
  if (batch_size < 1) Refuse(fmt::format("batch size {} is out of range: at least 1", batch_size));
  return internal::BatchesAt(internal::EvenArrivals(batches, per.count(), duration.count(),
                                                    internal::kMaxRequests / batch_size),
                             batch_size);
}

}  // namespace

Schedule::Schedule(int batch_size, std::int64_t batches, std::chrono::nanoseconds per,
                   std::chrono::nanoseconds duration)
    : Schedule(EvenBatches(batch_size, batches, per, duration)) {}

Schedule::Schedule(std::vector<Batch> batches, std::vector<std::uint16_t> kinds)
    : batches_(std::move(batches)), kinds_(std::move(kinds)) {
  std::chrono::nanoseconds before{0};
  for (const Batch& batch : batches_) {
    if (batch.start < before) {
      Refuse(
          fmt::format("a batch at {} ns comes after one at {} ns: starts must be in order and not "
                      "negative",
                      batch.start.count(), before.count()));
    }
    if (batch.size < 1)
      Refuse(fmt::format("batch size {} is out of range: at least 1", batch.size));
    before = batch.start;
    request_count_ += batch.size;
    largest_batch_ = std::max(largest_batch_, batch.size);
  }
  if (request_count_ > internal::kMaxRequests) {
    Refuse(fmt::format("a schedule of {} requests has more than {}; shorten it or lower its rate",
                       request_count_, internal::kMaxRequests));
  }
  if (!kinds_.empty() && static_cast<std::int64_t>(kinds_.size()) != request_count_) {
    Refuse(fmt::format("{} kinds for {} requests: there must be one each", kinds_.size(),
                       request_count_));
  }
}

Schedule Merge(const std::vector<Schedule>& schedules) {
  struct Entry {
    Schedule::Batch batch;
    const Schedule* of;
    std::int64_t first_request;
  };
  std::vector<Entry> entries;
  for (const Schedule& schedule : schedules) {
    std::int64_t request = 0;
    for (const Schedule::Batch& batch : schedule.batches()) {
      entries.push_back({batch, &schedule, request});
      request += batch.size;
    }
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.batch.start < b.batch.start; });
  std::vector<Schedule::Batch> batches;
  std::vector<std::uint16_t> kinds;
  batches.reserve(entries.size());
  for (const Entry& entry : entries) {
    batches.push_back(entry.batch);
    for (int i = 0; i < entry.batch.size; ++i) {
      kinds.push_back(entry.of->KindOf(entry.first_request + i));
    }
  }
  return Schedule(std::move(batches), std::move(kinds));
}

}  // namespace throttletest

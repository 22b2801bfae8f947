// Schedule: every instant at which requests are meant to start, and how many at each.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace throttletest {

// Batches in order of their start, counted from the schedule's own zero. No answer can move them. A
// value; usually made by LoadPlan or Traffic.
class Schedule {
 public:
  // Requests whose intended start is the same instant.
  struct Batch {
    std::chrono::nanoseconds start{0};
    int size = 1;
    friend bool operator==(const Batch&, const Batch&) = default;
  };

  Schedule() = default;  // nothing at all
  // Batch b starts at b x per / batches and exists while that is < duration, so 7 per second for
  // 1.5 s is 11. Units: an exact fraction, so that 3 per second does not drift; batch_size >= 1.
  // Errors: kInvalidArgument, also for more than 20 million requests.
  Schedule(int batch_size, std::int64_t batches, std::chrono::nanoseconds per,
           std::chrono::nanoseconds duration);
  // Any batches, and which of the engine's requests each of their requests is
  // (RequestRecord::kind). Absent: no kinds, all are the first one. Errors: kInvalidArgument when
  // the starts are negative or not in order, a size is below 1, or the kinds are not one per
  // request.
  explicit Schedule(std::vector<Batch> batches, std::vector<std::uint16_t> kinds = {});

  const std::vector<Batch>& batches() const { return batches_; }
  std::int64_t batch_count() const { return static_cast<std::int64_t>(batches_.size()); }
  std::int64_t request_count() const { return request_count_; }
  // Intended start of batch b. Units: ns, rounded to nearest; 0 <= b < batch_count().
  std::chrono::nanoseconds StartOf(std::int64_t batch) const {
    return batches_[static_cast<std::size_t>(batch)].start;
  }
  // Units: requests; 0 when there are none.
  int largest_batch() const { return largest_batch_; }
  // 0 <= request < request_count().
  std::uint16_t KindOf(std::int64_t request) const {
    return kinds_.empty() ? std::uint16_t{0} : kinds_[static_cast<std::size_t>(request)];
  }

 private:
  std::vector<Batch> batches_;
  std::vector<std::uint16_t> kinds_;
  std::int64_t request_count_ = 0;
  int largest_batch_ = 0;
};

// All of them on one clock: batches in order of their start, at equal starts in the order given.
// Errors: kInvalidArgument for more than 20 million requests.
Schedule Merge(const std::vector<Schedule>& schedules);

}  // namespace throttletest

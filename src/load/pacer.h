// Pacer: which batch is next, when it starts, and from when its connections should be opened. Pure
// arithmetic on the records of a schedule; nothing that happens in between can change what it says.
#pragma once

#include <cstdint>
#include <vector>

#include "load/clock.h"
#include "throttletest/load/record.h"

namespace throttletest::internal {

class Pacer {
 public:
  // The records, in order of intended start, must outlive it and stay where they are. Units:
  // lead_ns: how long before the schedule's zero connections may be opened.
  Pacer(const std::vector<RequestRecord>& records, std::int64_t lead_ns);

  bool finished() const { return size_ == 0; }
  // The first request of the next batch, and its size. Units: size 0 when finished.
  std::int64_t first_request() const { return first_request_; }
  std::int64_t size() const { return size_; }
  // Its intended start. Absent: kNever when finished.
  std::int64_t start_ns() const { return start_ns_; }
  // From when its connections should be opened: half the gap before it, but at most 200 ms. Batches
  // less than 4 ms apart are prepared as soon as the one before is released, because a wake-up of
  // its own between them costs more than connections that turn out not to be needed.
  std::int64_t prepare_ns() const { return prepare_ns_; }
  // How long before its start the thread should be awake: waking up takes some 100 us, sometimes a
  // millisecond, on a CPU that went idle. Units: 500 us for batches at least 100 ms after the one
  // before, so that no more than 0.5 % of a CPU goes into it; else 0.
  std::int64_t watch_ns() const { return watch_ns_; }
  // On to the batch after.
  void Advance();
  // No batch comes after this.
  void End();

 private:
  void Load(std::int64_t before_ns);

  const std::vector<RequestRecord>& records_;
  std::int64_t first_request_ = 0;
  std::int64_t size_ = 0;
  std::int64_t start_ns_ = kNever;
  std::int64_t prepare_ns_ = kNever;
  std::int64_t watch_ns_ = 0;
};

}  // namespace throttletest::internal

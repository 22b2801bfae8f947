// Pacer: which batch is next, when it starts, and from when its connections should be opened. Pure
// arithmetic on a Schedule; nothing that happens in between can change what it says.
#pragma once

#include <cstdint>

#include "load/clock.h"
#include "throttletest/load/plan.h"

namespace throttletest::internal {

class Pacer {
 public:
  // Units: lead_ns: how long before its start the first batch is prepared.
  Pacer(const Schedule& schedule, std::int64_t lead_ns);

  bool finished() const { return batch_ >= count_; }
  // The next batch's number. Only unless finished().
  std::int64_t batch() const { return batch_; }
  // Its intended start. Absent: kNever when finished.
  std::int64_t start_ns() const { return start_ns_; }
  // From when its connections should be opened: half the gap before it, but at most 200 ms. Batches
  // less than 4 ms apart are prepared as soon as the one before is released, because a wake-up of
  // its own between them costs more than connections that turn out not to be needed.
  std::int64_t prepare_ns() const { return prepare_ns_; }
  // On to the batch after.
  void Advance();

 private:
  Schedule schedule_;
  std::int64_t count_;
  std::int64_t batch_ = 0;
  std::int64_t start_ns_;
  std::int64_t prepare_ns_;
};

}  // namespace throttletest::internal

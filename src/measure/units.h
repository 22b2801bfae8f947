// The parts of a run that are taken to be independent of each other.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "throttletest/measure/measurement.h"

namespace throttletest::internal {

struct Units {
  std::string name;                              // "batches", "stretches of time"
  std::vector<std::chrono::nanoseconds> begins;  // from the load's epoch, ascending
  std::vector<std::uint32_t> of_batch;           // the unit of each batch
  std::chrono::nanoseconds end{0};               // of the last unit

  std::int64_t count() const { return static_cast<std::int64_t>(begins.size()); }
  bool are_batches() const { return begins.size() == of_batch.size(); }
  // Units: ns, > 0.
  double LengthOf(std::size_t unit) const;
};

// Each batch, when batches are on average two enforcement periods or more apart. Closer ones can
// meet the same throttled period, and then a unit is one of up to 30 equal stretches of the load's
// time, each two periods or longer. Absent: no unit, the load has no length. Errors: none.
Units UnitsOf(const Measurement& m);

// What each unit cost the service, as BatchUses() tells it for batches. Absent: as there.
std::vector<BatchUse> UsesOf(const Measurement& m, const Units& units);

}  // namespace throttletest::internal
